"""Fits of shards for several losses: the same bits with any number of workers and any engine, the objective of the fit
in memory, exchanges, what the engine costs, and what becomes of a fit whose workers or driver are killed. Rows of
parquet are generated into a temporary folder.

    python benches/cluster.py --rows 160000 --kills 50 --driver-kills 10 -o benches/runs/DATE-cluster/results.json
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
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier
from kinfolk.cluster import Team, fit, parquet
from kinfolk.cluster._engines import named

FEATURES, TASKS, CLASSES, FILES, SHARDS = 64, 20, 8, 8, 16
TIGHT = {"C": 1.0, "tol": 1e-6}
FITS = {
    "squared, own rows": (MultiTaskRegressor(**TIGHT), "y", "task"),
    "epsilon, own rows": (MultiTaskRegressor(loss="epsilon:0.1", **TIGHT), "y", "task"),
    "logistic, own rows": (MultiTaskClassifier(**TIGHT), "sign", "task"),
    "hinge, own rows": (MultiTaskClassifier(loss="hinge", **TIGHT), "sign", "task"),
    "logistic, classes": (OutputKernelClassifier(**TIGHT), "kind", None),
    "hinge, classes": (OutputKernelClassifier(loss="hinge", **TIGHT), "kind", None),
}


def generate(folder: pathlib.Path, rows: int) -> None:
    rng = np.random.default_rng(0)
    common, own = rng.normal(size=FEATURES), 0.3 * rng.normal(size=(TASKS, FEATURES))
    kinds = rng.normal(size=(FEATURES, CLASSES))
    for file in range(FILES):
        n = rows // FILES
        X, task = rng.normal(size=(n, FEATURES)), rng.integers(TASKS, size=n)
        y = np.einsum("ij,ij->i", X, common + own[task]) + 4.0 * rng.normal(size=n)
        kind = np.argmax(X @ kinds + 8.0 * rng.normal(size=(n, CLASSES)), axis=1)
        columns = {f"x{j}": X[:, j].astype(np.float32) for j in range(FEATURES)}
        labels = {"y": y, "sign": np.where(y > 0, "up", "down"), "kind": kind}
        table = pa.table({**columns, "task": task, **labels})
        pq.write_table(table, folder / f"part-{file}.parquet", row_group_size=n // 4)


def source_of(folder: str, target: str, task: str | None, shards: int):
    """Rows without the labels of the other fits."""
    source = parquet(folder, target=target, task=task, shards=shards)
    used = [f"x{j}" for j in range(FEATURES)] + [target] + ([task] if task else [])
    source.recipes = [Columns(recipe, used) for recipe in source.recipes]
    return source


class Columns:
    """Some columns of a recipe. Counts how often it is read in a file, if the environment names one."""

    def __init__(self, recipe, used):
        self.recipe, self.used = recipe, used

    def batches(self, columns=None):
        log = os.environ.get("KINFOLK_BENCH_READS")
        if log:
            with open(log, "a") as file:
                file.write("read\n")
        return self.recipe.batches(columns or self.used)

    def fingerprint(self):
        return self.recipe.fingerprint()


class Timed:
    """An engine that notes how long each worker was at work."""

    def __init__(self, name: str, workers: int, retries: int = 3) -> None:
        self.engine, self.workers = named(name, workers, retries), workers
        self.busy: dict[int, float] = defaultdict(float)
        self.exchanges, self.asking = 0, 0.0

    def start(self, make, n_shards, timeout):
        return TimedTeam(self, self.engine.start(make, n_shards, timeout))


class TimedTeam(Team):
    def __init__(self, timed: Timed, team: Team) -> None:
        self.timed, self.team = timed, team

    def ask(self, question, shards):
        began, timed = time.perf_counter(), self.timed
        timed.exchanges += 1
        for shard, answer in zip(shards, self.team.ask(question, shards), strict=True):
            timed.busy[shard % timed.workers] += answer.seconds
            yield answer
        timed.asking += time.perf_counter() - began

    def close(self):
        self.team.close()


def run(kind: str, folder: str, engine: Timed, shards: int = SHARDS, **options):
    estimator, target, task = FITS[kind]
    began = time.perf_counter()
    model = fit(estimator, source_of(folder, target, task, shards), engine=engine, **options)
    seconds = time.perf_counter() - began
    found = {"status": model.status_, "rel_gap": model.rel_gap_, "primal": model.primal_, "exchanges": engine.exchanges}
    waiting = engine.asking - max(engine.busy.values())
    return model, found | {"seconds": round(seconds, 2), "share of engine": round(waiting / seconds, 3)}


def in_memory(kind: str, folder: str):
    estimator, target, task = FITS[kind]
    table = pq.read_table(folder)
    X = np.column_stack([table[f"x{j}"].to_numpy() for j in range(FEATURES)])
    more = {} if task is None else {"task": table[task].to_numpy()}
    began = time.perf_counter()
    model = type(estimator)(**estimator.get_params()).fit(X, np.asarray(table[target].to_pylist()), **more)
    found = {"status": model.status_, "rel_gap": model.rel_gap_, "primal": model.primal_}
    return model, found | {"seconds": round(time.perf_counter() - began, 2)}


def bits(model) -> str:
    return model.coef_.tobytes().hex()


def by_mpi(kind: str, folder: str) -> dict[str, object]:
    """The same fit by a program of four ranks."""
    program = [sys.executable, __file__, "--rank", kind, "--folder", folder]
    mpirun = shutil.which("mpirun", path=os.path.dirname(sys.executable)) or "mpirun"
    words = [mpirun, "--oversubscribe", "--allow-run-as-root", "-n", "4", *program]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    ranks = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("rank ")]
    return {"ranks": len(ranks), **ranks[0], "bits": {rank["bits"] for rank in ranks}}


def rank(kind: str, folder: str) -> None:
    estimator, target, task = FITS[kind]
    began = time.perf_counter()
    model = fit(estimator, source_of(folder, target, task, SHARDS), engine="mpi")
    seconds = round(time.perf_counter() - began, 2)
    about = {"status": model.status_, "rel_gap": model.rel_gap_, "seconds": seconds, "bits": bits(model)}
    print("rank " + json.dumps(about), flush=True)


def compare(folder: str, ray_too: bool) -> dict[str, object]:
    """Every fit with every engine."""
    results: dict[str, object] = {}
    for kind in FITS:
        own: dict[str, object] = {}
        _, own["in memory"] = in_memory(kind, folder)
        _, own["1 shard"] = run(kind, folder, Timed("local", 1), 1)
        first, own["local, 1 worker"] = run(kind, folder, Timed("local", 1))
        for workers in (2, 4):
            model, found = run(kind, folder, Timed("local", workers))
            own[f"local, {workers} workers"] = found | {"same bits": bits(model) == bits(first)}
        if ray_too:
            model, found = run(kind, folder, Timed("ray", 4))
            own["ray, 4 workers"] = found | {"same bits": bits(model) == bits(first)}
        found = by_mpi(kind, folder)
        own["mpirun -n 4"] = found | {"bits": None, "same bits": found["bits"] == {bits(first)}}
        own["primal differs by"] = abs(first.primal_ - own["in memory"]["primal"]) / first.primal_
        print(kind, json.dumps(own, indent=1), flush=True)
        results[kind] = own
    return results


def children(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(pid)], capture_output=True, text=True, check=False)
    return [int(word) for word in listed.stdout.split()]


def local_workers() -> list[int]:
    """Workers are children of a server that is a child of this process."""
    return [worker for server in children(os.getpid()) for worker in children(server)]


def ray_workers() -> list[int]:
    listed = subprocess.run(["ps", "-eo", "pid=,args="], capture_output=True, text=True, check=False)
    lines = [line.split(None, 1) for line in listed.stdout.splitlines()]
    return [int(pid) for pid, command in lines if command.startswith("ray::_Actor")]


def kill_workers(engine: str, folder: str, kind: str, wanted: int) -> dict[str, object]:
    """Kills workers at random moments of fits, one after another, until there were enough kills."""
    rng, stop, killed = np.random.default_rng(1), threading.Event(), list[int]()
    workers = local_workers if engine == "local" else ray_workers
    reads = pathlib.Path(os.environ["KINFOLK_BENCH_READS"])
    first, undisturbed = run(kind, folder, Timed(engine, 4))
    pace = max(0.05, 0.3 * float(undisturbed["seconds"]))

    def killer() -> None:
        while not stop.wait(pace * rng.uniform(0.2, 1.8)):
            found = workers()
            if found and len(killed) < wanted:
                try:
                    os.kill(int(rng.choice(found)), signal.SIGKILL)
                    killed.append(1)
                except ProcessLookupError:
                    pass

    thread, fits, good, exchanges = threading.Thread(target=killer), 0, 0, set[int]()
    reads.unlink(missing_ok=True)
    thread.start()
    while len(killed) < wanted:
        timed = Timed(engine, 4, retries=20)
        model, found = run(kind, folder, timed, timeout=120)
        fits, good = fits + 1, good + (bits(model) == bits(first) and found["status"] == "certified")
        exchanges.add(timed.exchanges)
    stop.set()
    thread.join()
    passes = 2 if kind.startswith("squared") else 3
    extra = len(reads.read_text().splitlines()) - fits * passes * SHARDS
    return {
        "workers killed": len(killed),
        "fits": fits,
        "certified, with the same bits": good,
        "exchanges of each fit": sorted(exchanges),
        "shards read again": extra,
    }


def kill_driver(folder: str, kind: str, wanted: int) -> dict[str, object]:
    """Kills the driver at random moments, and starts it again, until it ends; again and again."""
    rng, killed, fits, good = np.random.default_rng(2), 0, 0, 0
    first, found = run(kind, folder, Timed("local", 2))
    while killed < wanted:
        with tempfile.TemporaryDirectory() as checkpoint:
            while True:
                words = [sys.executable, __file__, "--drive", kind, "--folder", folder, "--checkpoint", checkpoint]
                with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
                    try:
                        # The interpreter needs about two seconds before it begins.
                        limit = 2.0 + rng.uniform(0.0, 1.2) * float(found["seconds"]) if killed < wanted else None
                        said, _ = process.communicate(timeout=limit)
                    except subprocess.TimeoutExpired:
                        process.kill()
                        killed += 1
                        continue
                    about = json.loads(said)
                    fits, good = fits + 1, good + (about["bits"] == bits(first) and about["status"] == "certified")
                    break
    return {"drivers killed": killed, "fits": fits, "certified, with the same bits": good}


def drive(kind: str, folder: str, checkpoint: str) -> None:
    estimator, target, task = FITS[kind]
    model = fit(estimator, source_of(folder, target, task, SHARDS), workers=2, checkpoint=checkpoint)
    print(json.dumps({"status": model.status_, "bits": bits(model)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=160_000)
    parser.add_argument("--overhead-rows", type=int, default=0, help="of one more fit, for the share of the engine")
    parser.add_argument("--kills", type=int, default=0, help="workers to kill, with each engine")
    parser.add_argument("--driver-kills", type=int, default=0)
    parser.add_argument("--no-compare", dest="compare", action="store_false", help="kills only")
    parser.add_argument("--no-ray", dest="ray", action="store_false")
    parser.add_argument("-o", type=pathlib.Path)
    for name in ("--rank", "--drive", "--folder", "--checkpoint"):  # for processes that this program starts
        parser.add_argument(name, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.rank:
        return rank(args.rank, args.folder)
    if args.drive:
        return drive(args.drive, args.folder, args.checkpoint)
    top = tempfile.mkdtemp()
    os.environ["KINFOLK_BENCH_READS"] = os.path.join(top, "reads")  # before any process starts
    results: dict[str, object] = {"rows": args.rows, "features": FEATURES, "tasks": TASKS, "shards": SHARDS}
    if args.ray:
        import ray

        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    try:
        folder = os.path.join(top, "rows")
        os.mkdir(folder)
        generate(pathlib.Path(folder), args.rows)
        if args.compare:
            results["fits"] = compare(folder, args.ray)
        if args.kills:
            for engine in ("local", "ray") if args.ray else ("local",):
                results[f"{engine}: workers killed"] = kill_workers(engine, folder, "hinge, own rows", args.kills)
                print(engine, results[f"{engine}: workers killed"], flush=True)
        if args.driver_kills:
            results["driver killed"] = kill_driver(folder, "hinge, own rows", args.driver_kills)
            print(results["driver killed"], flush=True)
        if args.overhead_rows:
            shutil.rmtree(folder)
            os.mkdir(folder)
            generate(pathlib.Path(folder), args.overhead_rows)
            more = {engine: run("logistic, own rows", folder, Timed(engine, 2))[1] for engine in ("local", "ray")}
            results[f"{args.overhead_rows} rows"] = more
    finally:
        shutil.rmtree(top, ignore_errors=True)
    print(json.dumps(results, indent=1))
    if args.o:
        args.o.parent.mkdir(parents=True, exist_ok=True)
        args.o.write_text(json.dumps(results, indent=1) + "\n")
    return None


if __name__ == "__main__":
    main()
