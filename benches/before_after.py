"""Two source trees against each other: the same fits in turns, and the median ratio of their seconds.

    git worktree add ../before COMMIT
    python benches/before_after.py ../before . --out benches/runs/$(date +%F)-before-after

Builds the benches of both trees and runs the same cells with both, one right after the other: all of
banking77.py's own fits, and a tenth of the cells that solvers.py recorded as solved. Which tree goes first
changes from round to round, so that a noisy moment hurts both. Needs numpy, cargo, and the data sets in
$KINFOLK_DATA or ../shared/data. Writes raw.csv, summary.md and README.md into the folder given. A cell's ratio
is the median of its seconds after over the median before.
"""

import argparse
import csv
import datetime
import json
import os
import pathlib
import platform
import re
import shlex
import statistics
import subprocess
import sys
import tempfile

import numpy as np
from solverbench import files, sets
from solverbench.worker import Worker, build

TREES = ("before", "after")
C_GRID = (1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3)
RECORDED = sets.ROOT / "benches" / "runs" / "2026-11-15-solvers"
# Fits of a cell in one call of the bench; their median is one measurement.
REPEATS = 3


class Banking77:
    """The fits of banking77.py without its peers: the spectral solver for every C, and epochs of coordinate ascent."""

    def __init__(self, executables, folder):
        data = sets.read("banking77")
        train = data["split"] == 0
        x, label = data["X"][train], data["label"][train]
        x.astype("<f8").tofile(f"{folder}/x.f64")
        label.astype("<u4").tofile(f"{folder}/label.u32")
        self.executables, self.folder, self.shape = executables, folder, (*x.shape, 77)

    def cells(self):
        for threads in (1, 2):
            for k in (1, 2, 4):
                yield f"banking77/spectral/threads={threads}/k={k}", ("spectral", threads, (k, REPEATS, *C_GRID))
        for c in (0.1, 1.0, 10.0):
            yield f"banking77/sdca/C={c:g}", ("sdca", 1, ("squared", 1, c, 10, 64))

    def measure(self, tree, request):
        """Seconds by name: the spectral solver has one for each C."""
        mode, threads, rest = request
        command = [self.executables[tree], mode, self.folder, *self.shape, threads, "f64", *rest]
        out = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
        rows = [json.loads(line) for line in out.splitlines()]
        if mode == "spectral":
            return {f"/C={row['c']:g}": statistics.median(row["seconds"]) for row in rows}
        return {"": next(row["epoch_seconds"] for row in rows if "epoch_seconds" in row)}


class Solvers:
    """Every so many of the cells that solvers.py recorded as solved to 1e-6, at the C of that run."""

    def __init__(self, executables, work, args):
        self.work, self.args, self.workers = work, args, {}
        self.executables = executables
        self.outputs = {f"k{k}": {"kind": "power", "k": k} for k in (1, 2, 4)}
        self.outputs |= {name: {"kind": name} for name in ("exp", "cosh")}

    def cells(self):
        chosen = json.loads((RECORDED / "cstar.json").read_text())
        last = {row["key"]: row for row in files.read(RECORDED / "raw.jsonl")}
        solved = [row for _, row in sorted(last.items()) if row.get("solver") == "auto" and row.get("seconds_6")]
        for row in solved[:: self.args.every]:
            weights = chosen[f"{row['set']}/{row['loss']}/{row['output']}"]
            request = {"mode": "fit", "loss": row["loss"], "output": self.outputs[row["output"]], "c": row["c"]}
            request |= {"lambda": weights["lambda"], "solver": "auto", "tolerance": 1e-6}
            request |= {"threads": getattr(self.args, "threads", 2)}
            request |= {"cap_seconds": self.args.cap, "repeats": REPEATS}
            yield f"solvers/{row['key'].removeprefix('auto/')}", (row["set"], request)

    def ask(self, tree, request):
        """What the bench answers."""
        name, cell = request
        if (tree, name) not in self.workers:
            self.close(tree)
            folder, _ = sets.prepare(self.work, name)
            self.workers[tree, name] = Worker([self.executables[tree], folder])
        return self.workers[tree, name].ask(cell, 10 * self.args.cap + 120)

    def measure(self, tree, request):
        return {"": self.ask(tree, request).get("seconds_6")}

    def close(self, tree):
        for key in [key for key in self.workers if key[0] == tree]:
            self.workers.pop(key).close()


def compare(suites, args, record):
    """Every cell with both trees in turns; seconds by cell and tree."""
    seconds = {}
    for suite in suites:
        for cell, request in suite.cells():
            if not re.search(args.only, cell):
                continue
            for number in range(args.rounds):
                for tree in TREES if number % 2 == 0 else TREES[::-1]:
                    for name, value in suite.measure(tree, request).items():
                        record([cell + name, number, tree, "" if value is None else f"{value:.6g}"])
                        seconds.setdefault(cell + name, {t: [] for t in TREES})[tree].append(value)
            print(cell, flush=True)
    return seconds


def summary(seconds, args):
    ratios, unsolved = {}, []
    for cell, of in seconds.items():
        if None in of["before"] + of["after"]:
            unsolved.append(cell)
        else:
            ratios[cell] = statistics.median(of["after"]) / statistics.median(of["before"])
    lines = ["# Before and after", "", *about(args), "| cells | number | median ratio | quartiles | least | largest |"]
    lines += ["|---|---|---|---|---|---|"]
    for part in ("", "banking77/spectral", "banking77/sdca", "solvers"):
        own = sorted(r for cell, r in ratios.items() if cell.startswith(part))
        if own:
            low, high = np.quantile(own, [0.25, 0.75])
            spread = f"{low:.3f} to {high:.3f} | {own[0]:.3f} | {own[-1]:.3f}"
            lines += [f"| {part or 'all'} | {len(own)} | **{statistics.median(own):.3f}** | {spread} |"]
    lines += ["", "Largest ratios:", ""]
    for cell, ratio in sorted(ratios.items(), key=lambda item: -item[1])[:10]:
        times = ", ".join(f"{tree} {statistics.median(seconds[cell][tree]):.4g} s" for tree in TREES)
        lines += [f"- {ratio:.3f}: {cell} ({times})"]
    lines += ["", f"Not solved to 1e-6 within the cap by one of them: {len(unsolved)} cells."]
    lines += [f"- {cell}" for cell in unsolved]
    return "\n".join(lines) + "\n"


def about(args):
    describe = ["git", "describe", "--always", "--dirty"]
    git = lambda tree: subprocess.run(describe, cwd=tree, capture_output=True, text=True).stdout.strip()
    commits = ", ".join(f"{name} {git(getattr(args, name))}" for name in TREES)
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return [
        f"Commits: {commits}; {rust}; {cpu[0]}, {len(cpu)} cores; Python {platform.python_version()}.",
        f"{args.rounds} rounds, the trees in turns; load average at the end {os.getloadavg()[0]:.1f}. The "
        f"ratio of a cell",
        "is the median of its seconds after over the median before; below 1 is faster after.",
        "",
    ]


def readme(args):
    words = shlex.join(["python", "benches/before_after.py", "BEFORE", "AFTER", *sys.argv[3:]])
    return f"""# Run of {datetime.date.today()}: before and after

```sh
{words}
```

`summary.md` has the ratios with commits and processor; `raw.csv` every measurement: cell, round, tree, seconds.
"""


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("before", type=pathlib.Path, help="a source tree")
    parser.add_argument("after", type=pathlib.Path, help="the other one")
    out = sets.ROOT / "benches" / "runs" / f"{datetime.date.today()}-before-after"
    parser.add_argument("--out", type=pathlib.Path, default=out, help="folder of the run")
    parser.add_argument("--only", default="", help="regular expression on cells, such as banking77/sdca")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=10, help="take one of so many cells of solvers.py")
    parser.add_argument("--cap", type=float, default=10.0, help="seconds of a fit at most")
    return parser.parse_args()


def main():
    args = arguments()
    # Each tree has its own target folder.
    os.environ.pop("CARGO_TARGET_DIR", None)
    built = {name: {tree: build(getattr(args, tree), name) for tree in TREES} for name in ("banking77", "solvers")}
    args.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, open(args.out / "raw.csv", "w", newline="") as raw:
        writer = csv.writer(raw)
        writer.writerow(["cell", "round", "tree", "seconds"])

        def record(row):
            writer.writerow(row)
            raw.flush()

        solvers = Solvers(built["solvers"], sets.ROOT / "target" / "solver-data", args)
        seconds = compare([Banking77(built["banking77"], folder), solvers], args, record)
        for tree in TREES:
            solvers.close(tree)
    text = summary(seconds, args)
    (args.out / "summary.md").write_text(text)
    (args.out / "README.md").write_text(readme(args))
    print(text)


if __name__ == "__main__":
    main()
