"""Squared loss with 77 classes on real sentence embeddings, beside scikit-learn's Ridge, in one run.

    python benches/banking77.py --out benches/runs/NAME

Needs the packages of benches/requirements.txt, cargo, and `banking77.npz` (arrays X, label, split) in $KINFOLK_DATA or
../shared/data. Times interleave: some fits of ours, some of Ridge, and again, so that a noisy moment hurts both.
Writes raw.jsonl (every measurement) and summary.md (the claims) into the folder given.
"""

import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import sklearn
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_info, threadpool_limits

ROOT = pathlib.Path(__file__).resolve().parent.parent
C_GRID = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3]
ROUNDS = 3


def data_folder():
    """Where the data sets are, or an honest exit."""
    for folder in (os.environ.get("KINFOLK_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (pathlib.Path(folder) / "banking77.npz").exists():
            return pathlib.Path(folder)
    sys.exit("skipped: banking77.npz is neither in $KINFOLK_DATA nor in ../shared/data")


def load():
    """Training rows, one-vs-all labels."""
    with np.load(data_folder() / "banking77.npz") as file:
        train = file["split"] == 0
        return file["X"][train], file["label"][train]


def build():
    """The bench executable."""
    command = ["cargo", "bench", "--bench", "banking77", "--no-run", "--message-format=json"]
    out = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["target"]["name"] == "banking77":
            return message["executable"]
    sys.exit("cargo built no bench named banking77")


class Bench:
    """Runs the executable on the prepared data and collects what it prints."""

    def __init__(self, executable, folder, shape, record):
        self.executable, self.folder, self.shape, self.record = executable, folder, shape, record

    def run(self, mode, threads, dtype, *rest):
        command = [self.executable, mode, self.folder, *self.shape, threads, dtype, *rest]
        out = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout
        rows = [json.loads(line) for line in out.splitlines()]
        for row in rows:
            self.record({"mode": mode, **row})
        return rows


def ridge_seconds(x, y, alpha, threads, repetitions=3):
    """Seconds of Ridge().fit, several times."""
    seconds = []
    with threadpool_limits(threads):
        for _ in range(repetitions):
            start = time.perf_counter()
            Ridge(alpha=alpha).fit(x, y)
            seconds.append(time.perf_counter() - start)
    return seconds


def compare_with_ridge(bench, x, labels, record, lines):
    """Claim (a): time of a certified joint fit over the time of Ridge."""
    lines += ["## Spectral against Ridge", ""]
    lines += [
        "Seconds to relative gap 1e-6 (data set, eigenbasis, solve, certificate and model included) over seconds of"
    ]
    lines += ["`Ridge().fit` on the same X and one-vs-all Y; medians. Ratio per value of C.", ""]
    lines += ["| threads | X | k | " + " | ".join(f"C = {c:g}" for c in C_GRID) + " | worst | worst gap | Ridge, ms |"]
    lines += ["|" + "---|" * (len(C_GRID) + 6)]
    for threads in (1, 2):
        for dtype, kind in (("f64", np.float64), ("f32", np.float32)):
            xs = x.astype(kind)
            ys = np.where(labels[:, None] == np.arange(77), 1.0, -1.0).astype(kind)
            ridge, ours = [], {(k, c): [] for k in (1, 2, 4) for c in C_GRID}
            gaps = dict.fromkeys(ours, 0.0)
            for _ in range(ROUNDS):
                for k in (1, 2, 4):
                    ridge += ridge_seconds(xs, ys, 1.0, threads)
                    for row in bench.run("spectral", threads, dtype, k, 3, *C_GRID):
                        ours[k, row["c"]] += row["seconds"]
                        gaps[k, row["c"]] = max(gaps[k, row["c"]], row["rel_gap"])
            base = statistics.median(ridge)
            record({"mode": "ridge", "threads": threads, "dtype": dtype, "seconds": ridge})
            for k in (1, 2, 4):
                ratios = [statistics.median(ours[k, c]) / base for c in C_GRID]
                gap = max(gaps[k, c] for c in C_GRID)
                cells = " | ".join(f"{r:.2f}" for r in ratios)
                lines += [
                    f"| {threads} | {dtype} | {k} | {cells} | **{max(ratios):.2f}** | {gap:.0e} | {1e3 * base:.0f} |"
                ]
    lines += [""]


def coordinate_ascent(bench, lines):
    """Claim (b): arithmetic rate of a blocked epoch, and blocked against one at a time."""
    lines += ["## Blocked coordinate ascent", ""]
    lines += ["One thread, squared loss, k = 1. Rate of one epoch (products and sums of the steps, counted as in"]
    lines += [
        "`crates/core/benches/banking77.rs`) over the rate of faer's product (rows x features) (features x classes)."
    ]
    lines += ["Medians of nine runs; the range in brackets. `Blocked(1)` takes one input at a time.", ""]
    lines += ["| order | C | seconds per epoch | GFLOP/s | over faer's product |", "|---|---|---|---|---|"]
    runs = {}
    for c in (0.1, 1.0, 10.0):
        for _ in range(9):
            product, *orders = bench.run("sdca", 1, "f64", "squared", 1, c, 10, 64, 1)
            for row in orders:
                runs.setdefault((row["order"], c), []).append((row, row["gflops"] / product["product_gflops"]))
    sequential = bench.run("sdca", 1, "f64", "squared", 1, 1.0, 1, "sequential")[1]
    for (order, c), rows in sorted(runs.items()):
        ratios = sorted(ratio for _, ratio in rows)
        seconds = statistics.median(row["epoch_seconds"] for row, _ in rows)
        rate = statistics.median(row["gflops"] for row, _ in rows)
        spread = f"{ratios[0]:.2f}-{ratios[-1]:.2f}"
        lines += [f"| {order} | {c:g} | {seconds:.3f} | {rate:.1f} | **{statistics.median(ratios):.2f}** ({spread}) |"]
    lines += [f"| Sequential | 1 | {sequential['epoch_seconds']:.2f} | {sequential['gflops']:.1f} | |", ""]
    blocked = statistics.median(row["epoch_seconds"] for row, _ in runs["Blocked(64)", 1.0])
    factor = sequential["epoch_seconds"] / blocked
    lines += [
        f"Blocked over sequential (a random permutation of all observations, as printed in the paper): "
        f"**{factor:.0f}x**.",
        "",
    ]


def memory(bench, lines):
    """Claim (c): peak memory of a fit."""
    lines += ["## Peak memory", ""]
    lines += [
        "Peak resident memory of the whole process over the arrays that go in and come out (X, labels, duals, "
        "weights, Theta).",
        "",
    ]
    lines += ["| solver | X | peak, MB | arrays, MB | ratio | over X and labels alone |", "|---|---|---|---|---|---|"]
    for solver in ("spectral", "sdca"):
        for dtype in ("f64", "f32"):
            row = bench.run("peak", 2, dtype, solver)[0]
            ratio, narrow = row["peak"] / row["arrays"], row["peak"] / (row["x"] + row["y"])
            lines += [
                f"| {row['solver']} | {dtype} | {row['peak'] / 1e6:.0f} | {row['arrays'] / 1e6:.0f} | "
                f"**{ratio:.2f}** | {narrow:.2f} |"
            ]
    lines += [""]


def head():
    """What ran where."""
    git = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
    ).stdout.strip()
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    blas = ", ".join(
        sorted({f"{i['internal_api']} {i['version']}" for i in threadpool_info() if i["user_api"] == "blas"})
    )
    return [
        "# banking77: 10,003 sentence embeddings of 384 numbers, 77 classes",
        "",
        f"Commit {git}; {rust}; {cpu[0]}, {len(cpu)} cores; Python {platform.python_version()}, numpy "
        f"{np.__version__},",
        f"scikit-learn {sklearn.__version__}, {blas}. Command: `python benches/banking77.py --out ...`.",
        "",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder for raw.jsonl and summary.md")
    out = parser.parse_args().out
    x, labels = load()
    executable = build()
    out.mkdir(parents=True, exist_ok=True)
    lines = head()
    with tempfile.TemporaryDirectory() as folder, open(out / "raw.jsonl", "w") as raw:

        def record(row):
            raw.write(json.dumps(row) + "\n")
            raw.flush()

        x.astype("<f4").tofile(f"{folder}/x.f32")
        x.astype("<f8").tofile(f"{folder}/x.f64")
        labels.astype("<u4").tofile(f"{folder}/label.u32")
        bench = Bench(executable, folder, (*x.shape, 77), record)
        compare_with_ridge(bench, x.astype(np.float64), labels, record, lines)
        coordinate_ascent(bench, lines)
        memory(bench, lines)
    (out / "summary.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
