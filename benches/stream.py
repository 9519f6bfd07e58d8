"""Files larger than memory: `kinfolk fit --stream` beside merely reading the same parquet files with pyarrow.

    python benches/stream.py --command kinfolk --gigabytes 20 --folder DIR --out DIR
    python benches/stream.py --command kinfolk --gigabytes 4 --folder DIR --out DIR --losses logistic,hinge --tol 1e-3

Writes parquet files of single-precision features, a task and a label, reads them once with pyarrow (file by file, and
as a data set), then fits with --stream. Says rows per second of each pass, peak memory, passes and the gap.

With --losses, labels are -1 and +1, tasks are fitted by themselves (`--method stl`), and scikit-learn's SGDClassifier
makes as many passes with `partial_fit`, one for each task, with the same weight of the losses: alpha = 1 / (C rows).
Both objectives are computed on the same rows, the first files, as are the shares of right signs on a file that nobody
was fitted to. Needs numpy and pyarrow, and scikit-learn for --losses.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq

FEATURES, TASKS, ROWS_PER_FILE = 128, 50, 250_000
# Files on which objectives are compared.
SCORED_FILES = 2


def write(job: tuple[str, int, bool]) -> int:
    folder, number, signs = job
    random = np.random.default_rng(number)
    truth = np.random.default_rng(12345).standard_normal((TASKS, FEATURES)) * 0.3 + 0.2
    x = random.standard_normal((ROWS_PER_FILE, FEATURES), dtype=np.float32)
    task = random.integers(0, TASKS, ROWS_PER_FILE)
    y = np.einsum("ij,ij->i", x, truth[task]) + random.standard_normal(ROWS_PER_FILE) + task
    if signs:
        y = np.where(y - task + random.logistic(size=ROWS_PER_FILE) > 0.5, 1.0, -1.0)
    columns = {"task": pa.array([f"t{t:02}" for t in range(TASKS)]).take(pa.array(task)), "y": pa.array(y)}
    columns |= {f"x{j}": pa.array(x[:, j]) for j in range(FEATURES)}
    path = pathlib.Path(folder) / f"part-{number:05}.parquet"
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=["task"])
    return path.stat().st_size


def write_all(args: argparse.Namespace, n_files: int) -> int:
    """Bytes of all files. Those after the first ones are copies of them: to read them takes as long."""
    there = sorted(args.folder.glob("part-*.parquet"))
    if args.keep and len(there) == n_files:
        return sum(path.stat().st_size for path in there)
    signs, distinct = bool(args.losses), min(n_files, args.distinct)
    with ProcessPoolExecutor() as pool:
        size = sum(pool.map(write, [(str(args.folder), number, signs) for number in range(distinct)]))
    for number in range(distinct, n_files):
        of = args.folder / f"part-{number % distinct:05}.parquet"
        size += shutil.copyfile(of, args.folder / f"part-{number:05}.parquet").stat().st_size
    return size


def read_with_pyarrow(files: list[pathlib.Path]) -> dict[str, dict[str, float]]:
    """Seconds and seconds of processors for one pass over all columns, in the two usual ways."""

    def file_by_file():
        for path in files:
            yield from pq.ParquetFile(path).iter_batches(65_536)

    found = {}
    def as_data_set():
        return pyarrow.dataset.dataset([str(path) for path in files]).to_batches(batch_size=65_536)

    for name, all_batches in {"file by file": file_by_file, "as a data set": as_data_set}.items():
        start, before = time.perf_counter(), os.times()
        for batch in all_batches():
            batch.num_rows
        after = os.times()
        processors = after.user + after.system - before.user - before.system
        found[name] = {"seconds": time.perf_counter() - start, "processor_seconds": processors}
    return found


def fit(args: argparse.Namespace, options: list[str], name: str) -> dict:
    """What a fit says, with its time, peak memory, and rows per second of its passes."""
    model = args.out / f"{name}.safetensors"
    command = [args.command, "fit", str(args.folder / "part-*.parquet"), "--task", "task", "--target", "y", "--stream"]
    command += [*options, "--memory", "2GB", "--tol", str(args.tol), "-o", str(model), "--force", "--json"]
    start = time.perf_counter()
    with open(args.out / "said.json", "w+") as said_there, open(args.out / f"{name}.txt", "w+") as notes:
        process = subprocess.Popen(command, stdout=said_there, stderr=notes)
        _, code, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    notes = (args.out / f"{name}.txt").read_text()
    said = json.loads((args.out / "said.json").read_text()) if code == 0 else {"error": code, "notes": notes[-2000:]}
    passes = re.findall(r"(pass .*?): \d+ rows in .*?, (\d+) a second", notes)
    more = re.search(r"(\d+) more passes over the rows", notes)
    keep = ["status", "claim", "primal", "dual", "gap", "rel_gap", "passes", "c", "n_inputs", "error", "notes"]
    return {
        "seconds": seconds,
        "processor_seconds": usage.ru_utime + usage.ru_stime,
        "peak_bytes": usage.ru_maxrss * 1024,
        "rows_per_second_of_passes": {name: int(speed) for name, speed in passes},
        "more_passes": int(more[1]) if more else 0,
        "said": {key: said[key] for key in keep if key in said},
    }


def batches(files: list[pathlib.Path]):
    """Features in double precision, tasks by number and labels, 65,536 rows at a time."""
    for path in files:
        for batch in pq.ParquetFile(path).iter_batches(65_536):
            columns = [batch.column(f"x{j}").to_numpy() for j in range(FEATURES)]
            names = batch.column("task").to_pylist()
            yield np.stack(columns, 1).astype(float), np.array([int(name[1:]) for name in names]), batch.column(
                "y"
            ).to_numpy()


def scores(files: list[pathlib.Path], weights: np.ndarray, intercept: np.ndarray, loss: str) -> tuple[float, float]:
    """The mean loss, and the share of right signs."""
    total = right = rows = 0.0
    for x, task, y in batches(files):
        margin = y * (np.einsum("ij,ij->i", x, weights[task]) + intercept[task])
        each = np.logaddexp(0, -margin) if loss == "logistic" else np.maximum(0, 1 - margin)
        total, right, rows = total + each.sum(), right + (margin > 0).sum(), rows + len(y)
    return total / rows, right / rows


def coefficients(args: argparse.Namespace, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Weights and intercepts of a model, from its predictions at zero and at the axes."""
    rows = np.vstack([np.zeros(FEATURES), np.eye(FEATURES)]).astype(np.float32)
    columns = {"task": pa.array(np.repeat([f"t{t:02}" for t in range(TASKS)], len(rows)))}
    columns |= {f"x{j}": pa.array(np.tile(rows[:, j], TASKS)) for j in range(FEATURES)}
    pq.write_table(pa.table(columns), args.out / "axes.parquet")
    command = [args.command, "predict", str(args.out / f"{name}.safetensors"), str(args.out / "axes.parquet")]
    subprocess.run([*command, "-o", str(args.out / "axes-scores.parquet"), "--force", "--quiet"], check=True)
    table = pq.read_table(args.out / "axes-scores.parquet")
    values = table.column("score").to_numpy().reshape(TASKS, FEATURES + 1)
    return values[:, 1:] - values[:, :1], values[:, 0]


def beside_sgd(args: argparse.Namespace, loss: str, files: list[pathlib.Path], held_out: pathlib.Path) -> dict:
    """A fit of tasks by themselves, and as many passes of SGDClassifier."""
    from sklearn.linear_model import SGDClassifier

    rows_of_task = len(files) * ROWS_PER_FILE / TASKS
    c = args.strength / rows_of_task
    options = ["--method", "stl", "--loss", loss, "--c", repr(c), "--scale", "none"]
    own = fit(args, options, f"stl-{loss}")
    passes = 1 + own["more_passes"]
    alpha = 1.0 / (c * rows_of_task)
    kind = "log_loss" if loss == "logistic" else loss
    models = [SGDClassifier(loss=kind, alpha=alpha, random_state=t) for t in range(TASKS)]
    start = time.perf_counter()
    for _ in range(passes):
        for x, task, y in batches(files):
            for t in range(TASKS):
                models[t].partial_fit(x[task == t], y[task == t], classes=[-1.0, 1.0])
    seconds = time.perf_counter() - start
    sgd = np.vstack([model.coef_[0] for model in models]), np.array([model.intercept_[0] for model in models])
    found = {}
    for name, (weights, intercept) in {"kinfolk": coefficients(args, f"stl-{loss}"), "sgd": sgd}.items():
        train, _ = scores(files[:SCORED_FILES], weights, intercept, loss)
        test_loss, test_right = scores([held_out], weights, intercept, loss)
        penalty = 0.5 * alpha * (weights**2).sum() / TASKS
        found[name] = {"objective": train + penalty, "test_loss": test_loss, "test_right": test_right}
    joint = fit(args, ["--loss", loss], f"joint-{loss}")
    said = {"c": c, "alpha": alpha, "passes": passes, "kinfolk": own, "sgd_seconds": seconds}
    return said | {"scores": found, "joint": joint}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="kinfolk")
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    parser.add_argument("--keep", action="store_true", help="use the files of the folder, if there are as many")
    parser.add_argument("--distinct", type=int, default=10**6, help="files that are drawn; others are copies of them")
    parser.add_argument("--losses", type=lambda text: text.split(","), default=[])
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--strength", type=float, default=1000.0, help="C times the rows of a task, for --losses")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    n_files = max(1, round(args.gigabytes * 1e9 / (ROWS_PER_FILE * FEATURES * 4)))
    size = write_all(args, n_files)
    files = sorted(args.folder.glob("part-*.parquet"))
    print(f"{len(files)} files, {size} bytes", flush=True)
    rows = n_files * ROWS_PER_FILE
    reading = read_with_pyarrow(files)
    record = {"rows": rows, "features": FEATURES, "tasks": TASKS, "files": n_files, "bytes": size}
    print(reading, flush=True)
    record["pyarrow"] = {name: own | {"rows_per_second": rows / own["seconds"]} for name, own in reading.items()}
    if args.losses:
        write((str(args.folder), 1_000_000, True))
        held_out = (args.folder / "part-1000000.parquet").rename(args.folder / "held-out.parquet")
        record["losses"] = {loss: beside_sgd(args, loss, files, held_out) for loss in args.losses}
    else:
        record["squared"] = fit(args, [], "squared")
        # Statistics, fit and certificate together.
        for measure in ["seconds", "processor_seconds"]:
            least = min(own[measure] for own in reading.values())
            record[f"pyarrow_{measure}_over_ours_in_a_pass"] = 2 * least / record["squared"][measure]
    (args.out / "stream.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
