"""Default fits of many small tasks: R^2 on four new rows of each task, against each task's training mean.

    python small_tasks.py COMMAND-BEFORE COMMAND-AFTER

y = x'w_t + b_t + noise, w_t = w + spread * normal, w = size * normal, five features. "ideal": w and the spread known,
free intercepts.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

import numpy as np


def write(path, task, x, y):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["patient", "a", "b", "c", "d", "e", "y"])
        out.writerows([f"p{t}", *row, label] for t, row, label in zip(task, x, y))


print("seed tasks rows spread size   ideal  " + "  ".join(f"command {i + 1}" for i in range(len(sys.argv) - 1)))
SHAPES = [(300, 4, 0.5), (60, 6, 0.5), (200, 3, 0.3), (40, 20, 0.5), (100, 5, 1.0), (150, 4, 0.2)]
for seed, ((tasks, rows, spread), size) in enumerate(((s, size) for s in SHAPES for size in (1.0, 0.5, 0.25)), 11):
    rng = np.random.default_rng(seed)
    mean = size * rng.normal(size=5)
    weights, intercept = mean + spread * rng.normal(size=(tasks, 5)), rng.normal(size=tasks)

    def draw(n):
        task, x = np.repeat(np.arange(tasks), n), rng.normal(size=(tasks * n, 5))
        return task, x, (x * weights[task]).sum(1) + intercept[task] + rng.normal(size=tasks * n)

    (t, x, y), (new_t, new_x, new_y) = draw(rows), draw(4)
    centre = np.bincount(t, y) / rows
    total = ((new_y - centre[new_t]) ** 2).sum()
    ideal = np.empty(len(new_y))
    for i in range(tasks):
        own, new = t == i, new_t == i
        a, rest = x[own] - x[own].mean(0), y[own] - x[own] @ mean
        slopes = spread**2 * a.T @ np.linalg.solve(spread**2 * a @ a.T + np.eye(rows), rest - rest.mean())
        ideal[new] = new_x[new] @ mean + rest.mean() + (new_x[new] - x[own].mean(0)) @ slopes
    scores = [1 - ((new_y - ideal) ** 2).sum() / total]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write(folder / "train.csv", t, x, y)
        write(folder / "new.csv", new_t, new_x, new_y)
        for command in sys.argv[1:]:
            quiet = dict(check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
            options = ["--task", "patient", "--target", "y", "-o", "model", "--force"]
            subprocess.run([command, "fit", "train.csv", *options], **quiet)
            subprocess.run([command, "predict", "model", "new.csv", "-o", "predictions.csv", "--force"], **quiet)
            with open(folder / "predictions.csv") as file:
                found = np.array([float(row[-1]) for row in list(csv.reader(file))[1:]])
            scores.append(1 - ((new_y - found) ** 2).sum() / total)
    found = "  ".join(f"{score:.3f}" for score in scores)
    print(f"{seed:4} {tasks:5} {rows:4} {spread:6} {size:4}   {found}", flush=True)
