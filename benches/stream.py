"""Files larger than memory: `kinfolk fit --stream` beside merely reading the same parquet files with pyarrow.

    python benches/stream.py --command kinfolk --gigabytes 8 --folder DIR --out DIR

Writes parquet files of single-precision features, a task and a label, reads them once with pyarrow, then
fits with --stream: statistics in one pass, the certificate in another. Says rows per second, peak memory and the gap.
Needs numpy and pyarrow.
"""

import argparse
import json
import os
import pathlib
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FEATURES, TASKS, ROWS_PER_FILE = 128, 50, 250_000


def write(job: tuple[str, int]) -> int:
    folder, number = job
    random = np.random.default_rng(number)
    truth = np.random.default_rng(12345).standard_normal((TASKS, FEATURES)) * 0.3 + 0.2
    x = random.standard_normal((ROWS_PER_FILE, FEATURES), dtype=np.float32)
    task = random.integers(0, TASKS, ROWS_PER_FILE)
    y = np.einsum("ij,ij->i", x, truth[task]) + random.standard_normal(ROWS_PER_FILE) + task
    columns = {"task": pa.array([f"t{t:02}" for t in range(TASKS)]).take(pa.array(task)), "y": pa.array(y)}
    columns |= {f"x{j}": pa.array(x[:, j]) for j in range(FEATURES)}
    path = pathlib.Path(folder) / f"part-{number:05}.parquet"
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=["task"])
    return path.stat().st_size


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--command", default="kinfolk")
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--folder", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    files = max(1, round(args.gigabytes * 1e9 / (ROWS_PER_FILE * FEATURES * 4)))
    with ProcessPoolExecutor() as pool:
        size = sum(pool.map(write, [(str(args.folder), number) for number in range(files)]))
    rows = files * ROWS_PER_FILE
    start = time.perf_counter()
    for path in sorted(args.folder.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(65_536):
            batch.num_rows
    reading = time.perf_counter() - start
    pattern = str(args.folder / "*.parquet")
    command = [args.command, "fit", pattern, "--task", "task", "--target", "y", "--stream", "--memory", "2GB"]
    command += ["--tol", "1e-6", "-o", str(args.out / "model.safetensors"), "--force", "--json"]
    start = time.perf_counter()
    with open(args.out / "said.json", "w+") as said_there, open(args.out / "notes.txt", "w+") as notes:
        process = subprocess.Popen(command, stdout=said_there, stderr=notes)
        _, code, usage = os.wait4(process.pid, 0)
    fitting = time.perf_counter() - start
    peak = usage.ru_maxrss * 1024
    print((args.out / "notes.txt").read_text()[-2000:])
    said = json.loads((args.out / "said.json").read_text()) if code == 0 else {"error": code}
    record = {
        "rows": rows,
        "features": FEATURES,
        "tasks": TASKS,
        "files": files,
        "bytes": size,
        "pyarrow_read_seconds": reading,
        "fit_seconds": fitting,
        "peak_bytes": peak,
        "rows_per_second_of_a_pass_over_those_of_pyarrow": 2 * reading / fitting,
        "status": said.get("status"),
        "certificate": said.get("certificate") or said,
    }
    (args.out / "stream.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record, indent=1)[:3000])


if __name__ == "__main__":
    main()
