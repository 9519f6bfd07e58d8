"""Do intervals of tasks with few rows hold as many new labels as those of others?

    python benches/intervals_small.py --out benches/runs/NAME [--worlds 40] [--jobs 2]

Generated worlds of 40 tasks that share a part of their coefficients: most have 40 rows, and some have 2, 3, 4, 6 or 10.
Tasks differ in their units by factors of up to 100, and in how much of a label is noise. `MultiTaskRegressor()` with no
option; intervals of 0.8, 0.9 and 0.95 on 200 new rows of each task. Writes raw.jsonl and summary.md. Needs the Python
package.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import warnings

import numpy as np

from solverbench import files

LEVELS = [0.8, 0.9, 0.95]
FEW = [2, 3, 4, 6, 10]
MANY = 40
N_TASKS = 40
N_FEATURES = 5
NEW_ROWS = 200
# Standard deviation of the noise, where that of what inputs explain is about 1.
NOISE = {"weak noise": 0.3, "strong noise": 2.0}


def world(seed, noise):
    """Training and test rows: inputs, tasks, labels, and the number of training rows of each task."""
    random = np.random.default_rng(seed)
    rows = [FEW[t] if t < len(FEW) else FEW[t - len(FEW)] if t < 2 * len(FEW) else MANY for t in range(N_TASKS)]
    common = random.normal(size=N_FEATURES) / N_FEATURES**0.5
    parts = {"train": [], "test": []}
    for t, n in enumerate(rows):
        weights = common + 0.4 * random.normal(size=N_FEATURES) / N_FEATURES**0.5
        level, unit = random.normal(), 10 ** random.uniform(-1, 1)
        for part, count in (("train", n), ("test", NEW_ROWS)):
            x = random.normal(size=(count, N_FEATURES))
            y = unit * (level + x @ weights + noise * random.normal(size=count))
            parts[part].append((x, np.full(count, t), y))
    joined = {part: [np.concatenate(each) for each in zip(*lists, strict=True)] for part, lists in parts.items()}
    return joined["train"], joined["test"], rows


def coverage(job):
    """For each number of rows and level, the share of new labels inside."""
    import kinfolk

    name, seed = job
    (x, task, y), (new_x, new_task, new_y), rows = world(seed, NOISE[name])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kinfolk.MultiTaskRegressor(n_jobs=1).fit(x, y, task=task)
    row = {"world": name, "seed": seed}
    for level in LEVELS:
        low, high = model.predict_interval(new_x, task=new_task, coverage=level)
        inside = (new_y >= low) & (new_y <= high)
        for n in [*FEW, MANY]:
            own = np.isin(new_task, [t for t in range(N_TASKS) if rows[t] == n])
            row[f"{n} rows, {level}"] = float(np.mean(inside[own]))
        row[f"all, {level}"] = float(np.mean(inside))
    return row


def summary(rows):
    """Mean coverage by the number of rows of a task."""
    lines = []
    worlds = collections.defaultdict(list)
    for row in rows:
        worlds[row["world"]].append(row)
    for name, own in worlds.items():
        head = ["rows of a task", *(str(level) for level in LEVELS)]
        lines += [f"## {name}, {len(own)} worlds", "", "| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
        for which in [*(f"{n} rows" for n in [*FEW, MANY]), "all"]:
            shown = []
            for level in LEVELS:
                values = [row[f"{which}, {level}"] for row in own]
                shown.append(f"{np.mean(values):.3f} ± {np.std(values) / max(1, len(values) - 1) ** 0.5:.3f}")
            lines.append("| " + " | ".join([which, *shown]) + " |")
        lines.append("")
    about = "Means over worlds with their standard errors: the share of new labels inside the interval of their task."
    return "\n".join(["# Intervals by the number of rows of a task", "", f"{about} {files.commit()}.", "", *lines])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--worlds", type=int, default=40)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    raw = arguments.out / "raw.jsonl"
    done = {(row["world"], row["seed"]) for row in files.read(raw)}
    jobs = [(name, seed) for name in NOISE for seed in range(arguments.worlds)]
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(coverage, [job for job in jobs if job not in done]):
            files.append(raw, row)
    files.replace(arguments.out / "summary.md", summary(files.read(raw)) + "\n")


if __name__ == "__main__":
    main()
