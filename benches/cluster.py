"""Statistics on shards: the same bits with any number of workers, the same certificate as in memory, and what the
engine costs. Rows of parquet are generated into a temporary folder.

    python benches/cluster.py --rows 200000 -o benches/runs/DATE-cluster/results.json
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kinfolk import MultiTaskRegressor
from kinfolk.cluster import fit, parquet

FEATURES, TASKS, FILES, SHARDS = 64, 20, 8, 16
SETTINGS = {"C": 1.0, "tol": 1e-6}


def generate(folder: pathlib.Path, rows: int) -> pa.Table:
    rng = np.random.default_rng(0)
    common, own = rng.normal(size=FEATURES), 0.3 * rng.normal(size=(TASKS, FEATURES))
    tables = []
    for file in range(FILES):
        n = rows // FILES
        X, task = rng.normal(size=(n, FEATURES)), rng.integers(TASKS, size=n)
        y = np.einsum("ij,ij->i", X, common + own[task]) + rng.normal(size=n)
        columns = {f"x{j}": X[:, j].astype(np.float32) for j in range(FEATURES)}
        tables.append(pa.table({**columns, "task": task, "y": y}))
        pq.write_table(tables[-1], folder / f"part-{file}.parquet", row_group_size=n // 4)
    return pa.concat_tables(tables)


def timed(**options):
    began = time.perf_counter()
    lines: list[str] = []
    model = fit(MultiTaskRegressor(**SETTINGS), options.pop("source"), listener=lines.append, **options)
    found = {"seconds": round(time.perf_counter() - began, 2), "rel_gap": model.rel_gap_, "status": model.status_}
    return model, found | {"lines": lines}


def children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True)
    return [int(word) for word in listed.stdout.split()]


def kill_workers(stop: threading.Event, killed: list[int], every: float) -> None:
    """Kills a worker now and then. Workers are children of a server that is a child of this process."""
    rng = np.random.default_rng(1)
    while not stop.wait(every * rng.uniform(0.5, 1.5)):
        workers = [worker for server in children(os.getpid()) for worker in children(server)]
        if workers:
            try:
                os.kill(int(rng.choice(workers)), signal.SIGKILL)
                killed.append(1)
            except ProcessLookupError:
                pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--kills", type=float, default=0.0, help="seconds between two kills of a worker, 0 for none")
    parser.add_argument("--no-ray", dest="ray", action="store_false")
    parser.add_argument("-o", type=pathlib.Path, required=True)
    args = parser.parse_args()
    results: dict[str, object] = {"rows": args.rows, "features": FEATURES, "tasks": TASKS, "shards": SHARDS}
    with tempfile.TemporaryDirectory() as folder:
        table = generate(pathlib.Path(folder), args.rows)
        source = parquet(folder, target="y", task="task", shards=SHARDS)
        X = np.column_stack([table[f"x{j}"].to_numpy() for j in range(FEATURES)])
        began = time.perf_counter()
        whole = MultiTaskRegressor(**SETTINGS).fit(X, table["y"].to_numpy(), task=table["task"].to_numpy())
        results["in memory"] = {"seconds": round(time.perf_counter() - began, 2), "rel_gap": whole.rel_gap_}
        first, results["local, 1 worker"] = timed(source=source)
        results["primal differs by"] = abs(first.primal_ - whole.primal_) / whole.primal_
        for workers in (2, 4):
            model, found = timed(source=source, workers=workers)
            results[f"local, {workers} workers"] = found | {"same bits": bool(np.array_equal(model.coef_, first.coef_))}
        import ray

        for workers in (1, 2, 4) if args.ray else ():
            ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False)
            model, found = timed(source=source, engine="ray")
            results[f"ray, {workers} workers"] = found | {"same bits": bool(np.array_equal(model.coef_, first.coef_))}
            ray.shutdown()
        program = pathlib.Path(folder) / "program.py"
        program.write_text(
            "import sys, time; from kinfolk import MultiTaskRegressor; from kinfolk.cluster import fit, parquet\n"
            f"source = parquet(sys.argv[1], target='y', task='task', shards={SHARDS}); began = time.perf_counter()\n"
            f"model = fit(MultiTaskRegressor(**{SETTINGS!r}), source, engine='mpi')\n"
            "print('rank', model.coef_.tobytes().hex(), model.rel_gap_, time.perf_counter() - began, flush=True)\n"
        )
        mpirun = shutil.which("mpirun", path=os.path.dirname(sys.executable)) or "mpirun"
        words = [mpirun, "--oversubscribe", "--allow-run-as-root", "-n", "4", sys.executable, str(program), folder]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(done.stderr)
        said = [line.split() for line in done.stdout.splitlines()]
        ranks = [line for line in said if line and line[0] == "rank"]
        results["mpirun -n 4"] = {
            "ranks": len(ranks),
            "same bits": all(line[1] == first.coef_.tobytes().hex() for line in ranks),
            "rel_gap": float(ranks[0][2]),
            "seconds": round(float(ranks[0][3]), 2),
        }
        if args.kills:
            stop, killed, same = threading.Event(), list[int](), []
            killer = threading.Thread(target=kill_workers, args=(stop, killed, args.kills))
            killer.start()
            began = time.perf_counter()
            while len(killed) < 50 and time.perf_counter() - began < 60:
                model, found = timed(source=source, workers=4, timeout=60, retries=20)
                same.append(bool(np.array_equal(model.coef_, first.coef_)) and found["status"] == "certified")
            stop.set()
            killer.join()
            results["kills"] = {"workers killed": len(killed), "fits": len(same), "all certified, same bits": all(same)}
    args.o.parent.mkdir(parents=True, exist_ok=True)
    args.o.write_text(json.dumps(results, indent=1) + "\n")
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
