"""Default fits of two builds where tasks have levels of their own: means of numbers, or log-odds of classes.

    python compare.py OLD NEW --seeds 0 200 [--kind classes] > raw.jsonl
    python compare.py --table raw.jsonl

OLD and NEW are two builds of the command. Levels of tasks are normal around a common one, with a deviation of 0 to 10
times that of the part that features explain; a task has 1 to about 100 rows. Kinds of problems:

- numbers: in one unit; `rmse` over all new rows and as a mean over tasks
- units: as numbers, but each task has a unit and a zero of its own, as different sensors have
- classes: two of them, of which one is rare or not
"""

import argparse
import json
import resource
import subprocess
import tempfile

import numpy as np
import pandas as pd

KINDS = ["numbers", "units", "classes"]
NEW_ROWS = 3000


def problem(seed):
    draw = np.random.default_rng([83, seed])
    kind = KINDS[seed % len(KINDS)]
    tasks, features = int(draw.choice([4, 10, 30, 100])), int(draw.integers(1, 11))
    usual = float(draw.choice([2, 5, 12, 40]))
    rows = np.maximum(1, draw.poisson(usual * draw.choice([0.3, 1, 2], tasks)))
    level, noise = float(draw.choice([0, 0.3, 1, 3, 10])), float(draw.uniform(0.3, 2))
    common, own = draw.normal(size=features), draw.normal(size=(tasks, features))
    share = float(draw.choice([0, 0.1, 0.5, 1]))
    w = (np.sqrt(1 - share) * common + np.sqrt(share) * own) / np.sqrt(features)
    task = np.r_[np.repeat(np.arange(tasks), rows), draw.integers(0, tasks, NEW_ROWS)]
    x = draw.normal(size=(len(task), features)) + float(draw.choice([0, 1])) * draw.normal(size=(tasks, features))[task]
    score = (x * w[task]).sum(1) + (min(level, 3) if kind == "classes" else level) * draw.normal(size=tasks)[task]
    drawn = {"seed": seed, "kind": kind, "tasks": tasks, "features": features}
    drawn |= {"rows": usual, "level": level, "share": share}
    if kind == "classes":
        drawn["shift"] = float(draw.choice([0, -1.5, -3]))
        odds = 2 * score / np.sqrt(1 + noise) + drawn["shift"]
        y = np.where(draw.random(len(task)) < 1 / (1 + np.exp(-odds)), "yes", "no")
    else:
        y = score + noise * draw.normal(size=len(task))
        drawn["noise"] = noise
        if kind == "units":
            y = y * np.exp(draw.normal(size=tasks))[task] + 20 * draw.normal(size=tasks)[task]
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(features)])
    frame["task"], frame["y"] = [f"t{k}" for k in task], y
    return drawn, frame[: rows.sum()], frame[rows.sum() :]


def seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def score(command, folder, kind):
    """Scores of a default fit on the new rows, its intercepts, and the processor's seconds."""
    files = [f"{folder}/train.csv", f"{folder}/model.safetensors", f"{folder}/new.csv"]

    def run(*words):
        done = subprocess.run([command, *words, "--json", "-q"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    before = seconds()
    names = ["--task", "task", "--target", "y"]
    fitted = run("fit", files[0], *names, "-o", files[1], "--force", "--threads", "1")
    spec = subprocess.run([command, "model", "show", files[1], "--spec"], capture_output=True, text=True, check=True)
    intercept = [line for line in spec.stdout.splitlines() if line.startswith("intercept")]
    found = {"seconds": seconds() - before, "status": fitted.get("status"), "intercept": intercept[:1]}
    metric = "log-loss" if kind == "classes" else "rmse"
    found[metric] = run("evaluate", files[1], files[2], "--metric", metric)["metrics"][metric.replace("-", "_")]
    return found


def table_of(rows):
    """Ratios of the pooled scores, new by old; smaller is better."""
    print("| kind | level | problems | ratio (geometric mean) | error | drawn together | worse | better | worst |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        for level in ["all", 0, 0.3, 1, 3, 10]:
            own = [row for row in rows if row["kind"] == kind and level in ("all", row["level"]) and "error" not in row]
            if len(own) < 2:
                continue
            metric = "log-loss" if kind == "classes" else "rmse"
            ratio = np.log([row["new"][metric]["pooled"] / row["old"][metric]["pooled"] for row in own])
            drawn = sum("shrunk" in "".join(row["new"]["intercept"]) for row in own)
            cells = [f"{np.exp(ratio.mean()):.4f}", f"{ratio.std(ddof=1) / len(own) ** 0.5:.4f}", str(drawn)]
            cells += [str((ratio > 0.01).sum()), str((ratio < -0.01).sum()), f"{np.exp(ratio.max()):.3f}"]
            print("| " + " | ".join([kind, str(level), str(len(own)), *cells]) + " |")
    old, new = (sum(r[which]["seconds"] for r in rows if "error" not in r) for which in ("old", "new"))
    print("\nWorse and better: by more than 1 %.")
    print(f"Seconds of the processor: {old:.1f} before, {new:.1f} after.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*")
    parser.add_argument("--seeds", type=int, nargs=2, default=[0, 200])
    parser.add_argument("--kind", choices=KINDS)
    parser.add_argument("--table")
    arguments = parser.parse_args()
    if arguments.table:
        with open(arguments.table, encoding="utf-8") as lines:
            table_of([json.loads(line) for line in lines])
    else:
        for seed in range(*arguments.seeds):
            drawn, train, new = problem(seed)
            if arguments.kind not in (None, drawn["kind"]):
                continue
            with tempfile.TemporaryDirectory() as folder:
                train.to_csv(f"{folder}/train.csv", index=False)
                new[new["task"].isin(set(train["task"]))].to_csv(f"{folder}/new.csv", index=False)
                builds = zip(("old", "new"), arguments.builds)
                try:
                    both = {name: score(build, folder, drawn["kind"]) for name, build in builds}
                except subprocess.CalledProcessError as error:
                    print(json.dumps({**drawn, "error": error.stderr[-300:]}), flush=True)
                    continue
            print(json.dumps({**drawn, **both}), flush=True)
