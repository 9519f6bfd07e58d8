"""Do intervals hold as many new labels as they promise?

    python benches/intervals.py --out benches/runs/NAME [--splits 20] [--jobs 2]

`MultiTaskRegressor()` with no option on every set of numbers of the evidence and on its generated worlds, at three
training sizes; intervals of 0.8, 0.9 and 0.95 on rows that were not learned from. Writes raw.jsonl and summary.md.
Needs the Python package.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import warnings

import numpy as np

from evidencebench import problems
from solverbench import files

LEVELS = [0.8, 0.9, 0.95]
# Difference of coverage and level that counts as kept.
KEPT = 0.02


def has_numbers(name):
    data = problems.of_split(name, 0)
    return data is not None and not data.classes


def coverage(job):
    """The share of new labels inside, for each level, and the width in standard deviations of the labels."""
    import kinfolk

    name, size, split = job
    train, test = problems.drawn(name, size, split)
    tasks = {} if train.task is None else {"task": train.task}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kinfolk.MultiTaskRegressor(n_jobs=1).fit(train.x, train.y, **tasks)
    row = {"set": name, "size": size, "split": split, "rows": len(train.x)}
    for level in LEVELS:
        low, high = model.predict_interval(test.x, task=test.task, coverage=level)
        known = np.isfinite(test.y)
        row[f"inside {level}"] = float(np.mean(((test.y >= low) & (test.y <= high))[known]))
        row[f"width {level}"] = float(np.mean((high - low) / np.nanstd(test.y, axis=0)))
    return row


def summary(rows):
    """Mean coverage of each set and size."""
    cells = collections.defaultdict(list)
    for row in rows:
        cells[row["set"], row["size"]].append(row)
    head = ["set", "size", "rows", *(f"{level}" for level in LEVELS), "width of 0.9"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    kept = 0
    for (name, size), own in cells.items():
        means = [np.mean([row[f"inside {level}"] for row in own]) for level in LEVELS]
        errors = [np.std([row[f"inside {level}"] for row in own]) / max(1, len(own) - 1) ** 0.5 for level in LEVELS]
        kept += abs(means[1] - 0.9) <= KEPT
        shown = [f"{mean:.3f} ± {error:.3f}" for mean, error in zip(means, errors)]
        width = np.mean([row["width 0.9"] for row in own])
        lines.append("| " + " | ".join([name, size, str(own[0]["rows"]), *shown, f"{width:.2f}"]) + " |")
    title = f"# Intervals of 0.9: within {100 * KEPT:g} points in {kept} of {len(cells)} cells"
    about = "Means over splits with their standard errors; widths in standard deviations of the labels."
    return "\n".join([title, "", f"{about} {files.commit()}.", "", *lines]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    raw = arguments.out / "raw.jsonl"
    done = {(row["set"], row["size"], row["split"]) for row in files.read(raw)}
    names = [name for name in problems.NAMES if has_numbers(name)]
    jobs = [(name, size, split) for name in names for size in problems.SIZES for split in range(arguments.splits)]
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(coverage, [job for job in jobs if job not in done]):
            files.append(raw, row)
    files.replace(arguments.out / "summary.md", summary(files.read(raw)))


if __name__ == "__main__":
    main()
