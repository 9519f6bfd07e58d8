"""Default fits of two builds on random tasks with rows of their own, on the same rows.

    python compare.py OLD NEW --seeds 500 620 > raw.jsonl
    python compare.py --table raw.jsonl

Tasks share a function and differ from it by `delta`, from nothing to as much as the function itself. OLD and NEW are
two builds of the command. Scores are means over tasks on 3,000 new rows: R^2, or AUC for two classes.
"""

import argparse
import json
import resource
import subprocess
import tempfile

import numpy as np
import pandas as pd


def problem(seed):
    """What was drawn, training rows and new rows."""
    draw = np.random.default_rng([77, seed])
    tasks, features = int(draw.integers(4, 31)), int(draw.integers(3, 21))
    rows = int(draw.choice([4, 8, 15, 30, 60]))
    delta = float(draw.choice([0, 0.1, 0.3, 0.6, 1.0]))
    bent, classes, noise = bool(draw.integers(2)), bool(draw.integers(2)), float(draw.choice([0.3, 1.0]))
    n = tasks * rows
    x = draw.normal(size=(n + 3000, features))
    task = np.r_[np.repeat(np.arange(tasks), rows), draw.integers(0, tasks, 3000)]
    common = draw.normal(size=features) / np.sqrt(features)
    own = common + delta * draw.normal(size=(tasks, features)) / np.sqrt(features)
    f = (x * own[task]).sum(1)
    if bent:
        f = np.sin(1.5 * f) + 0.7 * np.abs(x[:, 0]) * (1 + delta * draw.normal(size=tasks))[task]
    f = f / f[:n].std() + (0.5 * draw.normal(size=tasks))[task]
    y = f + noise * draw.normal(size=n + 3000)
    if classes:
        y = np.where(y > np.median(y), "yes", "no")
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(features)])
    frame["task"], frame["y"] = [f"t{k}" for k in task], y
    drawn = {"seed": seed, "tasks": tasks, "features": features, "rows": rows, "delta": delta, "bent": bent}
    return {**drawn, "classes": classes, "noise": noise}, frame[:n], frame[n:]


def seconds():
    """Processor time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def score(command, folder):
    """The score of a default fit on the new rows, its method, and the processor's seconds."""
    files = [f"{folder}/train.csv", f"{folder}/model.safetensors", f"{folder}/new.csv"]
    fit = [command, "fit", files[0], "--task", "task", "--target", "y", "-o", files[1], "--force"]
    before = seconds()
    fitted = subprocess.run([*fit, "--threads", "1", "--json", "-q"], capture_output=True, text=True, check=True)
    took = seconds() - before
    evaluate = [command, "evaluate", files[1], files[2], "--json", "-q"]
    metrics = json.loads(subprocess.run(evaluate, capture_output=True, text=True, check=True).stdout)["metrics"]
    note = (json.loads(fitted.stdout).get("auto_c") or {}).get("note")
    return {"score": metrics["r2" if "r2" in metrics else "auc"]["mean"], "seconds": took, "note": note}


def table(rows):
    """Differences, new less old, in points."""
    print("| labels | delta | problems | difference | error | worse | better |\n|---|---|---|---|---|---|---|")
    for name, wanted in [("numbers", [False]), ("classes", [True]), ("all", [False, True])]:
        for delta in [None, 0, 0.1, 0.3, 0.6, 1.0] if name != "all" else [None]:
            own = [r for r in rows if r["classes"] in wanted and delta in (None, r["delta"])]
            gain = np.array([100 * (r["new"]["score"] - r["old"]["score"]) for r in own])
            error = gain.std(ddof=1) / len(gain) ** 0.5
            counts = f"{(gain < -0.3).sum()} | {(gain > 0.3).sum()}"
            label = "all" if delta is None else delta
            print(f"| {name} | {label} | {len(gain)} | {gain.mean():+.3f} | {error:.3f} | {counts} |")
    old, new = (sum(r[which]["seconds"] for r in rows) for which in ("old", "new"))
    print(f"\nWorse and better: by more than 0.3 points. Seconds of the processor: {old:.1f} before, {new:.1f} after.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*")
    parser.add_argument("--seeds", type=int, nargs=2, default=[500, 620])
    parser.add_argument("--table")
    arguments = parser.parse_args()
    if arguments.table:
        with open(arguments.table, encoding="utf-8") as lines:
            table([json.loads(line) for line in lines])
    else:
        for seed in range(*arguments.seeds):
            drawn, train, new = problem(seed)
            with tempfile.TemporaryDirectory() as folder:
                train.to_csv(f"{folder}/train.csv", index=False)
                new.to_csv(f"{folder}/new.csv", index=False)
                try:
                    both = {name: score(build, folder) for name, build in zip(("old", "new"), arguments.builds)}
                except subprocess.CalledProcessError:
                    continue  # a task of one class among the new rows, say
            print(json.dumps({**drawn, **both}), flush=True)
