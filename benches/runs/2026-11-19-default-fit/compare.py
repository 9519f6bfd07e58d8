"""Default fits of two builds on random problems that are hard to choose for, on the same rows.

    python compare.py OLD NEW --seeds 700 900 > raw.jsonl
    python compare.py --table raw.jsonl

OLD and NEW are two builds of the command. Kinds of problems:

- table: rows with labels of all tasks, some of them missing, whose functions are in groups or have a part in common
- outlier: tasks with rows of their own and two classes; one value of one row is far off
- tiny: tasks with 30 rows and as many with 2 to 5; numbers in one unit
- classes: 8 to 40 classes that exclude each other

Scores are means over tasks on new rows: R^2 (tiny: of the small tasks, in units of all), AUC, or minus the log loss of
classes and of two classes, times 100.
"""

import argparse
import json
import resource
import subprocess
import tempfile

import numpy as np
import pandas as pd

KINDS = ["table", "outlier", "tiny", "classes"]
NEW_ROWS = 2000


def functions(draw, tasks, features):
    """Weights of all tasks: a common part, groups, and what is left to each."""
    shares = draw.dirichlet([1.0, 1.0, 1.0])
    groups = draw.integers(0, 4, tasks)
    parts = [np.ones((tasks, 1)) * draw.normal(size=features), draw.normal(size=(4, features))[groups]]
    parts.append(draw.normal(size=(tasks, features)))
    return sum(np.sqrt(share / features) * part for share, part in zip(shares, parts)), shares.round(2).tolist()


def table(draw):
    tasks, features = int(draw.integers(5, 41)), int(draw.integers(5, 41))
    rows, missing = int(draw.choice([40, 80, 160])), float(draw.choice([0, 0.4, 0.8]))
    noise = float(draw.uniform(0.3, 2))
    w, shares = functions(draw, tasks, features)
    x = draw.normal(size=(rows + NEW_ROWS, features))
    y = x @ w.T + noise * draw.normal(size=(rows + NEW_ROWS, tasks))
    y[:rows][draw.random((rows, tasks)) < missing] = np.nan
    names = [f"x{i}" for i in range(features)] + [f"y{t}" for t in range(tasks)]
    frame = pd.DataFrame(np.hstack([x, y]), columns=names)
    drawn = {"tasks": tasks, "features": features, "rows": rows, "missing": missing, "noise": noise, "shares": shares}
    return drawn, frame[:rows], frame[rows:], ["--target", "y*"]


def long(draw, counts, features, noise, w):
    """Rows of tasks with so many rows each, and new rows."""
    tasks = len(counts)
    task = np.r_[np.repeat(np.arange(tasks), counts), draw.integers(0, tasks, NEW_ROWS)]
    x = draw.normal(size=(len(task), features))
    y = (x * w[task]).sum(1) + draw.normal(size=tasks)[task] + noise * draw.normal(size=len(task))
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(features)])
    frame["task"], frame["y"] = [f"t{k}" for k in task], y
    return frame, int(np.sum(counts))


def outlier(draw):
    tasks, features, rows = int(draw.integers(4, 21)), int(draw.integers(4, 16)), int(draw.choice([30, 60, 120]))
    w, shares = functions(draw, tasks, features)
    frame, n = long(draw, [rows] * tasks, features, 1.0, w)
    frame["y"] = np.where(frame["y"] > frame["y"].median(), "yes", "no")
    size = float(draw.choice([10, 40, 200]))
    frame.loc[int(draw.integers(n)), "x0"] = size
    drawn = {"tasks": tasks, "features": features, "rows": rows, "size": size, "shares": shares}
    return drawn, frame[:n], frame[n:], None


def tiny(draw):
    tasks, features, noise = int(draw.integers(4, 16)), int(draw.integers(2, 9)), float(draw.uniform(0.2, 1))
    w, shares = functions(draw, 2 * tasks, features)
    counts = [30] * tasks + draw.integers(2, 6, tasks).tolist()
    frame, n = long(draw, counts, features, noise, w)
    new = frame[n:]
    small = new["task"].isin([f"t{t}" for t in range(tasks, 2 * tasks)])
    return {"tasks": 2 * tasks, "features": features, "noise": noise, "shares": shares}, frame[:n], new[small], None


def classes(draw):
    n, features, rows = int(draw.integers(8, 41)), int(draw.integers(10, 61)), int(draw.choice([6, 15, 40]))
    size = float(draw.choice([0.5, 1.0, 2.0]))
    centres = size * draw.normal(size=(n, features)) / np.sqrt(features) * 3
    label = np.r_[np.repeat(np.arange(n), rows), draw.integers(0, n, NEW_ROWS)]
    x = centres[label] + draw.normal(size=(len(label), features))
    frame = pd.DataFrame(x, columns=[f"x{i}" for i in range(features)])
    frame["y"] = [f"c{k}" for k in label]
    drawn = {"classes": n, "features": features, "rows": rows, "size": size}
    return drawn, frame[: n * rows], frame[n * rows :], ["--target", "y"]


def problem(seed):
    draw = np.random.default_rng([79, seed])
    kind = KINDS[seed % len(KINDS)]
    drawn, train, new, options = globals()[kind](draw)
    return {"seed": seed, "kind": kind, **drawn}, train, new, options or ["--task", "task", "--target", "y"]


def seconds():
    """Processor time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def score(command, folder, kind, options):
    """Scores of a default fit on the new rows, what it chose, and the processor's seconds."""
    files = [f"{folder}/train.csv", f"{folder}/model.safetensors", f"{folder}/new.csv"]

    def run(*words):
        done = subprocess.run([command, *words, "--json", "-q"], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)

    before = seconds()
    fitted = run("fit", files[0], *options, "-o", files[1], "--force", "--threads", "1")
    found = {"seconds": seconds() - before, "note": (fitted.get("auto_c") or {}).get("note")}
    asked = {"classes": ["pooled-log-loss"], "outlier": ["auc", "log-loss"]}.get(kind, ["rmse"])
    for metric in asked:
        found[metric] = run("evaluate", files[1], files[2], "--metric", metric)["metrics"]
    return found


def table_of(rows):
    """Differences, new less old; smaller is better but for AUC."""
    print("| kind | score | problems | old | new | difference | error | worse | better |")
    print("|---|---|---|---|---|---|---|---|---|")
    for kind in KINDS:
        own = [row for row in rows if row["kind"] == kind]
        for metric in [key for key in (own[0]["old"] if own else {}) if key not in ("seconds", "note")]:
            name = metric.removeprefix("pooled-").replace("-", "_")
            which = "pooled" if metric.startswith("pooled") else "mean"
            old, new = (np.array([row[build][metric][name][which] for row in own]) for build in ("old", "new"))
            gain = new - old
            worse = (gain > 0.01 * old) if metric != "auc" else (gain < -0.01)
            better = (gain < -0.01 * old) if metric != "auc" else (gain > 0.01)
            cells = [f"{old.mean():.4f}", f"{new.mean():.4f}", f"{gain.mean():+.4f}"]
            cells += [f"{gain.std(ddof=1) / len(gain) ** 0.5:.4f}", str(worse.sum()), str(better.sum())]
            print("| " + " | ".join([kind, metric, str(len(own)), *cells]) + " |")
    old, new = (sum(r[which]["seconds"] for r in rows) for which in ("old", "new"))
    print("\nWorse and better: by more than 1 % (AUC: 0.01).")
    print(f"Seconds of the processor: {old:.1f} before, {new:.1f} after.")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("builds", nargs="*")
    parser.add_argument("--seeds", type=int, nargs=2, default=[700, 900])
    parser.add_argument("--table")
    arguments = parser.parse_args()
    if arguments.table:
        with open(arguments.table, encoding="utf-8") as lines:
            table_of([json.loads(line) for line in lines])
    else:
        for seed in range(*arguments.seeds):
            drawn, train, new, options = problem(seed)
            with tempfile.TemporaryDirectory() as folder:
                train.to_csv(f"{folder}/train.csv", index=False)
                new.to_csv(f"{folder}/new.csv", index=False)
                builds = zip(("old", "new"), arguments.builds)
                try:
                    both = {name: score(build, folder, drawn["kind"], options) for name, build in builds}
                except subprocess.CalledProcessError as error:
                    print(json.dumps({**drawn, "error": error.stderr[-300:]}), flush=True)
                    continue
            print(json.dumps({**drawn, **both}), flush=True)
