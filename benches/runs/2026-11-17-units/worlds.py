"""Units of labels where tasks have few rows: R^2 on 20 new rows of each task, in true units of the tasks.

    python worlds.py BEFORE AFTER > results.txt

BEFORE and AFTER are commands: `auto` of both, and of AFTER also `task` and `common`. Worlds, with y = scale_t (x'w_t +
b_t + noise_t e), five features, w_t = w + 0.5 normal, x and e normal:

    equal      all scales and noises are 1                  scaled N   ln scale_t normal, deviation N
    noise      ln noise_t normal, deviation 0.5             signal     w_t times exp(0.7 normal)
    low rank   w_t = w + two common directions              heavy      e has Student's t distribution, 3 degrees
"""

import csv
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import numpy as np

FEATURES = 5
WORLDS = ["equal", "scaled 0.3", "scaled 0.6", "scaled 1.2", "noise", "signal", "low rank", "heavy"]
SHAPES = [(120, 3, 3), (80, 4, 4), (60, 5, 5), (50, 3, 8), (25, 12, 72)]
DRAWS = 3


def draw(world, tasks, least, most, rng):
    rows = rng.integers(least, most + 1, size=tasks)
    weights = 0.6 * rng.normal(size=FEATURES) + 0.5 * rng.normal(size=(tasks, FEATURES))
    scale, noise, intercept = np.ones(tasks), np.ones(tasks), rng.normal(size=tasks)
    if world.startswith("scaled"):
        scale = np.exp(float(world.split()[1]) * rng.normal(size=tasks))
    elif world == "noise":
        noise = np.exp(0.5 * rng.normal(size=tasks))
    elif world == "signal":
        weights = weights * np.exp(0.7 * rng.normal(size=(tasks, 1)))
    elif world == "low rank":
        weights = 0.6 * rng.normal(size=FEATURES) + 0.6 * rng.normal(size=(tasks, 2)) @ rng.normal(size=(2, FEATURES))

    def part(counts):
        task = np.repeat(np.arange(tasks), counts)
        x = rng.normal(size=(len(task), FEATURES))
        e = rng.standard_t(3, size=len(task)) if world == "heavy" else rng.normal(size=len(task))
        return task, x, scale[task] * ((x * weights[task]).sum(1) + intercept[task] + noise[task] * e)

    return part(rows), part(np.full(tasks, 20))


def write(path, task, x, y):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow(["shop", *"abcde", "y"])
        out.writerows([f"s{t}", *row, label] for t, row, label in zip(task, x, y))


def score(command, folder, scale, task, y, centre, unit):
    model, found = folder / "model", folder / "predictions.csv"
    quiet = dict(check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    options = ["--task", "shop", "--target", "y", "--target-scale", scale, "--threads", "1", "--force"]
    subprocess.run([command, "fit", folder / "train.csv", *options, "-o", model], **quiet)
    subprocess.run([command, "predict", model, folder / "new.csv", "-o", found, "--force"], **quiet)
    with open(found) as file:
        predicted = np.array([float(row[-1]) for row in list(csv.reader(file))[1:]])
    square = lambda z: (((y - z) / unit[task]) ** 2).sum()
    return 1 - square(predicted) / square(centre[task])


def one(case):
    seed, world, (tasks, least, most) = case
    (t, x, y), new = draw(world, tasks, least, most, np.random.default_rng(seed))
    centre = np.bincount(t, y) / np.bincount(t)
    unit = np.array([new[2][new[0] == i].std() for i in range(tasks)])
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        write(folder / "train.csv", t, x, y)
        write(folder / "new.csv", *new)
        runs = [(sys.argv[1], "auto"), (sys.argv[2], "auto"), (sys.argv[2], "task"), (sys.argv[2], "common")]
        return [score(command, folder, scale, new[0], new[2], centre, unit) for command, scale in runs]


grid = ((world, shape) for shape in SHAPES for world in WORLDS for _ in range(DRAWS))
cases = [(seed, *case) for seed, case in enumerate(grid, 7000)]
print("tasks x rows, world; mean over draws: before auto, after auto, task, common; draws in which after > before")
sums, better, worse = np.zeros(4), 0, 0
with ThreadPoolExecutor(2) as pool:
    found = np.array(list(pool.map(one, cases)))
for i in range(0, len(cases), DRAWS):
    own, (_, world, (tasks, least, most)) = found[i : i + DRAWS], cases[i]
    more = (own[:, 1] > own[:, 0] + 1e-4).sum()
    means = "  ".join(f"{v:7.3f}" for v in own.mean(0))
    print(f"{tasks:4} x {least}-{most}  {world:10}  {means}   {more}/{DRAWS}")
few = np.array([most < 12 for _, _, (_, _, most) in cases])
print("all with few rows  " + "  ".join(f"{v:7.3f}" for v in found[few].mean(0)))
gain = found[few, 1] - found[few, 0]
print(f"after - before: mean {gain.mean():.4f}, standard error {gain.std() / len(gain) ** 0.5:.4f}, "
      f"better {int((gain > 1e-4).sum())}, worse {int((gain < -1e-4).sum())}, of {len(gain)}")
