"""Default fits of two programs on problems drawn at random.

    python compare.py OLD NEW --seeds 100 115 > raw.jsonl
    python compare.py --table raw.jsonl

Each line has the kind of problem (benches/solverbench/drawn.py), whether features were bent (arctan, then the third
power), and for both programs the score on 1,500 new rows (R^2 of all rows, AUC or accuracy) and processor seconds.
"""

import argparse
import collections
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from solverbench import drawn  # noqa: E402

# Kinds that are drawn with bent features, too.
BENT = ("table", "tasks", "tasks-classes", "classes")


def write(path, data):
    y = data.y if data.y.ndim == 2 else data.y[:, None]
    label = "c%d" if data.classes and data.task is None else "%d" if data.classes else "%.7g"
    task = [] if data.task is None else [data.task[:, None]]
    n, m = data.x.shape[1], y.shape[1]
    names = [f"x{i}" for i in range(n)] + ["t"] * len(task) + [f"y{i}" for i in range(m)]
    formats = ["%.7g"] * n + ["g%d"] * len(task) + [label] * m
    np.savetxt(path, np.hstack([data.x, *task, y]), fmt=formats, delimiter=",", header=",".join(names), comments="")


def measured(program, data, test, folder):
    write(folder / "train.csv", data)
    write(folder / "test.csv", test)
    task = [] if data.task is None else ["--task", "t"]
    target = "y*" if data.y.ndim == 2 else "y0"
    model = folder / "model.st"
    fit = [program, "fit", folder / "train.csv", "--target", target, *task, "--threads", "1", "-o", model, "--force"]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    subprocess.run(fit, check=True, capture_output=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    evaluate = [program, "evaluate", model, folder / "test.csv", "--json"]
    found = json.loads(subprocess.run(evaluate, check=True, capture_output=True).stdout)
    if "metrics" not in found:
        return found["accuracy"], seconds
    metrics = found["metrics"]
    return (metrics["r2"]["pooled"] if "r2" in metrics else metrics["auc"]["mean"]), seconds


def compare(old, new, seeds):
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            for kind in drawn.KINDS:
                data, test = drawn.draw(kind, seed)
                for bent in [False, True] if kind in BENT else [False]:
                    if bent:
                        mean, spread = data.x.mean(0), data.x.std(0) + 1e-9
                        for part in (data, test):
                            part.x = np.arctan(2 * (part.x - mean) / spread) ** 3
                    both = [measured(program, data, test, pathlib.Path(folder)) for program in (old, new)]
                    scores, seconds = zip(*both, strict=True)
                    line = {"kind": kind, "seed": seed, "bent": bent, "scores": scores, "seconds": seconds}
                    print(json.dumps(line), flush=True)


def table(path):
    kinds = collections.defaultdict(list)
    for line in map(json.loads, open(path)):
        kinds[line["kind"], line["bent"]].append(line)
    print("| kind | bent | problems | difference | error | seconds before | after |\n|---|---|---|---|---|---|---|")
    for (kind, bent), lines in [*kinds.items(), (("all", ""), sum(kinds.values(), []))]:
        gains = np.array([line["scores"][1] - line["scores"][0] for line in lines])
        error = gains.std(ddof=1) / len(gains) ** 0.5
        before, after = (sum(line["seconds"][i] for line in lines) for i in (0, 1))
        print(f"| {kind} | {bent} | {len(gains)} | {gains.mean():+.4f} | {error:.4f} | {before:.1f} | {after:.1f} |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    parser.add_argument("--seeds", nargs=2, type=int, default=[100, 115])
    parser.add_argument("--table")
    given = parser.parse_args()
    if given.table:
        table(given.table)
    else:
        compare(*given.programs, range(*given.seeds))
