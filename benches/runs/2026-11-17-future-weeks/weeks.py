"""Shops with 12 to 72 weeks of sales: R^2 of all rows together on the next eight weeks.

    python weeks.py COMMAND > results.txt

y = b_s + x'w_s + what changes with the week + 0.8 normal, three features, a word and the date; 20 shops. Weeks do not
matter (still), add a line of each shop (trend), a year's wave (season) or a random walk (walk).
"""

import csv
import datetime
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

SHOPS, WEEKS, NEXT = 20, 72, 8
RUNS = [["fit"], ["select"], ["fit", "--folds-by", "time:week"], ["select", "--folds-by", "time:week"]]


def sales(rng, kind):
    for shop in range(SHOPS):
        weeks = rng.integers(12, WEEKS + 1)
        weights, level = np.array([-1.0, 0.8, 0.5]) + 0.4 * rng.normal(size=3), 10 + 2 * rng.normal()
        line = 0.0 if kind == "still" else 0.03 * rng.normal()
        wave = 0.8 * rng.normal() if kind == "season" else 0.0
        walk = np.cumsum(rng.normal(size=100)) * (0.15 if kind == "walk" else 0.0)
        for week in range(WEEKS - weeks, WEEKS + NEXT):
            x = rng.normal(size=3)
            change = line * week + wave * np.sin(2 * np.pi * week / 52) + walk[week]
            y = level + x @ weights + change + 0.8 * rng.normal()
            day = datetime.date(2024, 1, 1) + datetime.timedelta(weeks=int(week))
            sky = ["rain", "sun", "snow"][rng.integers(3)]
            yield week >= WEEKS, [f"s{shop}", day.isoformat(), *(f"{v:.4f}" for v in x), sky, f"{y:.4f}"]


def scores(seed, kind):
    rows = list(sales(np.random.default_rng(seed), kind))
    with tempfile.TemporaryDirectory() as folder:
        for name, part in [("train.csv", False), ("new.csv", True)]:
            with open(pathlib.Path(folder) / name, "w", newline="") as file:
                out = csv.writer(file)
                out.writerow(["shop", "week", "price", "promo", "temp", "sky", "sales"])
                out.writerows(row for later, row in rows if later == part)
        for name, *options in RUNS:
            words = [name, "train.csv", "--task", "shop", "--target", "sales", *options, "-o", "m", "--force", "-q"]
            subprocess.run([sys.argv[1], *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
            said = subprocess.run([sys.argv[1], "evaluate", "m", "new.csv", "--json"], cwd=folder, capture_output=True)
            yield json.loads(said.stdout)["metrics"]["r2"]["pooled"]


print("world, draw: " + ", ".join(" ".join(run) for run in RUNS))
found = []
for kind in ["still", "trend", "season", "walk"]:
    for draw in range(3):
        found.append(list(scores(100 + draw, kind)))
        print(f"{kind:6} {draw}  " + "  ".join(f"{score:.3f}" for score in found[-1]), flush=True)
print("mean      " + "  ".join(f"{score:.3f}" for score in np.mean(found, axis=0)))
