"""What Python costs: fits of banking77 from numpy against the same fits in Rust, in turns.

    pip install ./python            # a release build of this very code
    python benches/python.py --out benches/runs/NAME [--work FOLDER]

Same inputs (double precision), labels, C, threads and tolerance. Rust's clock runs from arrays to fit; Python's
from `fit(X, y)` to its return, with all checks. Memory: of the first fit of a process, the peak less what was
resident before, plus the arrays that were: what a fit needs in all. Needs the packages of
benches/requirements.txt, cargo, and the data sets in $KINFOLK_DATA or ../shared/data.
"""

import argparse
import json
import pathlib
import statistics
import sys
import time

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy as np

from solverbench import files, sets
from solverbench.worker import Worker, build

NAME, ROUNDS, THREADS = "banking77-all", 15, 2
CELLS = [("squared", 1, 1.0, 1e-6), ("squared", 4, 1.0, 1e-6), ("hinge", 1, 1.0, 1e-3), ("logistic", 1, 1.0, 1e-3)]


def memory(key):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key))


def serve(folder):
    """Answers requests for fits, one for each line."""
    from kinfolk import OutputKernelClassifier

    _, x, label, _ = sets.load(folder)
    x = np.ascontiguousarray(x)
    for line in sys.stdin:
        r = json.loads(line)
        if r == "hello":
            print("{}", flush=True)
            continue
        model = OutputKernelClassifier(
            r["c"],
            k=r["output"]["k"],
            loss=r["loss"],
            bias=0.0,
            tol=r["tolerance"],
            max_passes=10**9,
            n_jobs=r["threads"],
            lam=r["lambda"],
        )
        pathlib.Path("/proc/self/clear_refs").write_text("5")
        resident, start = memory("VmRSS"), time.perf_counter()
        model.fit(x, label)
        seconds = time.perf_counter() - start
        said = {
            "seconds": seconds,
            "peak": memory("VmHWM"),
            "resident": resident,
            "rel_gap": model.rel_gap_,
            "passes": model.n_passes_,
        }
        print(json.dumps(said), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--serve", type=pathlib.Path, help=argparse.SUPPRESS)
    parser.add_argument("--work", type=pathlib.Path, default=sets.ROOT / "target" / "solver-data")
    args = parser.parse_args()
    if args.serve:
        return serve(args.serve)
    args.out.mkdir(parents=True, exist_ok=True)
    folder, meta = sets.prepare(args.work, NAME)
    executable = build(sets.ROOT)
    rust = lambda: Worker([executable, folder])
    python = lambda: Worker([sys.executable, __file__, "--serve", folder], hello="hello")
    rows = []
    for loss, k, strength, tolerance in CELLS:
        pair = {"loss": loss, "output": {"kind": "power", "k": k}, "threads": THREADS}
        with rust() as worker:
            weights = worker.ask({"mode": "weights", "strength": strength, **pair}, 600)
        cell = {
            **pair,
            "c": weights["c"],
            "lambda": weights["lambda"],
            "solver": "auto",
            "tolerance": tolerance,
            "cap_seconds": 60,
        }
        about = {"loss": loss, "k": k, "tolerance": tolerance, "commit": files.commit()}
        with rust() as ours, python() as theirs:
            for number in range(ROUNDS):
                said = {"rust": ours.ask({"mode": "fit", **cell}, 300), "python": theirs.ask(cell, 300)}
                rows.append({**about, "first": number == 0, **said})
    x = 8 * meta["rows"] * meta["features"]
    # The labels of all classes are there before Rust's clock starts, and made within Python's.
    arrays = {"rust": x + 8 * meta["rows"] * meta["tasks"], "python": x + 8 * meta["rows"]}
    for row in rows:
        row["arrays"] = arrays
    (args.out / "raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = summary(rows)
    files.replace(args.out / "summary.md", text)
    print(text)


def summary(rows):
    lines = ["# What Python costs", "", " ".join(__doc__.strip().split("\n\n")[2].split()), ""]
    lines += [f"Commit {rows[0]['commit']}; {NAME}, {THREADS} threads, medians of {ROUNDS - 1} rounds.", ""]
    lines += [
        "| loss | k | gap | Rust, s | Python, s | ratio | Rust, MB | Python, MB | ratio |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for loss, k, _, tolerance in CELLS:
        every = [row for row in rows if (row["loss"], row["k"]) == (loss, k)]
        own = [row for row in every if not row["first"]]
        seconds = {who: statistics.median(row[who]["seconds"] for row in own) for who in ("rust", "python")}
        need = {
            who: every[0][who]["peak"] - every[0][who]["resident"] + every[0]["arrays"][who]
            for who in ("rust", "python")
        }
        ratio = statistics.median(row["python"]["seconds"] / row["rust"]["seconds"] for row in own)
        lines += [
            f"| {loss} | {k} | {tolerance:g} | {seconds['rust']:.4f} | {seconds['python']:.4f} | {ratio:.3f} "
            f"| {need['rust'] / 1e6:.0f} | {need['python'] / 1e6:.0f} | {need['python'] / need['rust']:.2f} |"
        ]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    main()
