"""Do intervals hold as many new labels as they promise, on random problems of many kinds?

    python benches/intervals_random.py --out benches/runs/NAME [--draws 8] [--jobs 2] [--first 0]

Problems of every combination of: tasks with rows of their own or columns of one table; straight or curved functions;
few, some or many rows; weak, middle or strong noise. Features, tasks, their kinship and the functions are drawn again
for each. `MultiTaskRegressor()` with no option; intervals of 0.8, 0.9 and 0.95 on new rows. Writes raw.jsonl and
summary.md. Needs the Python package.
"""

import argparse
import collections
import concurrent.futures
import itertools
import pathlib
import warnings

import numpy as np

from solverbench import files

LEVELS = [0.8, 0.9, 0.95]
FORMS = ["own rows", "table"]
SHAPES = ["straight", "curved"]
# Of each task; of a table, in all.
ROWS = {"own rows": {"few": 12, "some": 40, "many": 120}, "table": {"few": 30, "some": 120, "many": 500}}
# Standard deviation of the noise, where that of what inputs explain is 1.
NOISE = {"weak": 0.1, "middle": 0.5, "strong": 1.5}
NEW_ROWS = 2000
CELLS = list(itertools.product(FORMS, SHAPES, ["few", "some", "many"], NOISE))


def function(random, shape, n_features, share):
    """A function of inputs with a part of each task: `share` of its variance is common."""

    def part():
        if shape == "straight":
            weights = random.normal(size=n_features)
            return lambda x: x @ weights
        ridges = random.normal(size=(n_features, 4)) * random.uniform(0.5, 1.2) / n_features**0.25
        phases, heights = random.uniform(0, 2 * np.pi, 4), random.normal(size=4)
        return lambda x: np.sin(x @ ridges + phases) @ heights

    def scaled(f, probe):
        values = f(probe)
        level, spread = values.mean(), max(values.std(), 1e-9)
        return lambda x: (f(x) - level) / spread

    probe = random.normal(size=(4000, n_features))
    common = scaled(part(), probe)

    def of_task():
        own = scaled(part(), probe)
        return scaled(lambda x: share**0.5 * common(x) + (1 - share) ** 0.5 * own(x), probe)

    return of_task


def problem(cell, draw):
    """Training rows and new rows: inputs, labels, tasks (None for a table)."""
    form, shape, size, noise = cell
    random = np.random.default_rng([26, CELLS.index(cell), draw])
    n_features, n_tasks = int(random.integers(2, 13)), int(random.integers(3, 11))
    of_task = function(random, shape, n_features, random.choice([0.0, 0.5, 0.9]))
    functions = [of_task() for _ in range(n_tasks)]
    units = 10 ** random.uniform(-1, 1, n_tasks)

    def rows(count):
        x = random.normal(size=(count, n_features))
        y = np.stack([f(x) for f in functions], axis=1)
        return x, units * (y + NOISE[noise] * random.normal(size=y.shape))

    def drawn(count):
        if form == "table":
            return *rows(count), None
        parts = [rows(count) for _ in range(n_tasks)]
        task = np.repeat(np.arange(n_tasks), count)
        return np.concatenate([x for x, _ in parts]), np.concatenate([y[:, t] for t, (_, y) in enumerate(parts)]), task

    new = NEW_ROWS if form == "table" else NEW_ROWS // n_tasks
    return drawn(ROWS[form][size]), drawn(new), units


def coverage(job):
    """The share of new labels inside, for each level, and the width in units of the signal."""
    import kinfolk

    cell, draw = job
    (x, y, task), (new_x, new_y, new_task), units = problem(cell, draw)
    unit = units if task is None else units[new_task]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kinfolk.MultiTaskRegressor(n_jobs=1).fit(x, y, task=task)
        intervals = {level: model.predict_interval(new_x, task=new_task, coverage=level) for level in LEVELS}
    row = {"cell": list(cell), "draw": draw, "rows": len(x)}
    for level, (low, high) in intervals.items():
        row[f"inside {level}"] = float(np.mean((new_y >= low) & (new_y <= high)))
        row[f"width {level}"] = float(np.mean((high - low) / unit))
    return row


def table(rows, names, of_row):
    """Means of coverage of rows that have the same words."""
    cells = collections.defaultdict(list)
    for row in rows:
        cells[of_row(row)].append(row)
    head = [*names, "problems", *map(str, LEVELS), "width of 0.9"]
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    for words, own in cells.items():
        values = {level: [row[f"inside {level}"] for row in own] for level in LEVELS}
        shown = [f"{np.mean(v):.3f} ± {np.std(v) / max(1, len(v) - 1) ** 0.5:.3f}" for v in values.values()]
        width = np.mean([row["width 0.9"] for row in own])
        lines.append("| " + " | ".join([*words, str(len(own)), *shown, f"{width:.2f}"]) + " |")
    return lines


def summary(rows):
    """All together, by each property, and each cell."""
    names = ["form", "shape", "rows", "noise"]
    lines = ["# Intervals on random problems", "", "Means over problems with their standard errors; widths in standard"]
    lines += [f"deviations of what inputs explain. {files.commit()}.", ""]
    lines += [*table(rows, ["all"], lambda _: ("all",)), ""]
    for i, name in enumerate(names):
        lines += [*table(rows, [name], lambda row, i=i: (row["cell"][i],)), ""]
    return "\n".join([*lines, *table(rows, names, lambda row: tuple(row["cell"]))]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    raw = arguments.out / "raw.jsonl"
    done = {(tuple(row["cell"]), row["draw"]) for row in files.read(raw)}
    draws = range(arguments.first, arguments.first + arguments.draws)
    jobs = [(cell, draw) for draw in draws for cell in CELLS]
    with concurrent.futures.ProcessPoolExecutor(arguments.jobs) as pool:
        for row in pool.map(coverage, [job for job in jobs if job not in done]):
            files.append(raw, row)
    files.replace(arguments.out / "summary.md", summary(files.read(raw)))


if __name__ == "__main__":
    main()
