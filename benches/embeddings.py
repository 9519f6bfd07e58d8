"""Rows of length one: should the default scaling standardise their features, or leave them alone?

    python benches/embeddings.py --out benches/runs/NAME [--quick] [--sets]

Embeddings are dense rows of length one whose axes mean nothing by themselves. Three candidates: leave them as they are
(none), mean 0 and variance 1 for each feature (standard), or mean 0 and one common spread for all features (common).
Fresh random problems: class means and noise on the sphere, with a common mean, as sentence embeddings have, and
variances that fall with the number of the direction. The directions are random (rotated), or the axes themselves
(axes), or random with three more axes of large variance that say nothing about the class (outliers), as some language
models have. Each scaling chooses C by three folds on the training rows, and is scored on 2,000 fresh rows: accuracy in
percent, differences from none on the same rows with their standard errors over ten seeds.

With --sets, also sets of embeddings of ../shared/data or $KINFOLK_DATA, as a check of the decision: five training rows
of each class, the rest for the test. Needs the Python package and the packages of benches/requirements.txt. What is in
raw.jsonl is not measured again.
"""

import argparse
import functools
import itertools
import json
import os
import pathlib
import warnings

import numpy as np

from kinfolk import MultiTaskCV, OutputKernelClassifier

SCALINGS = ["none", "standard", "common"]
SHAPES = ["rotated", "axes", "outliers"]
FEATURES, TEST = 64, 2000
CLASSES, ROWS_PER_CLASS = [5, 20], [4, 16]
SETS = ["banking77", "caltech101", "flowers102"]


def problem(shape, classes, rows, seed):
    """Training rows and labels, test rows and labels: class means plus noise, brought to length one."""
    rng = np.random.default_rng([seed, classes, rows, SHAPES.index(shape)])
    deviation = np.arange(1, FEATURES + 1) ** -0.7
    turn = np.eye(FEATURES) if shape == "axes" else np.linalg.qr(rng.normal(size=(FEATURES, FEATURES)))[0]
    centre = rng.normal(size=FEATURES) * 0.3
    means = rng.normal(size=(classes, FEATURES)) * deviation
    large = rng.choice(FEATURES, 3, replace=False)

    def draw(label):
        x = (means[label] + 1.2 * rng.normal(size=(len(label), FEATURES)) * deviation) @ turn + centre
        if shape == "outliers":
            x[:, large] += 2.0 * rng.normal(size=(len(label), 3))
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    train, test = np.repeat(np.arange(classes), rows), rng.integers(classes, size=TEST)
    return draw(train), train, draw(test), test


def of_set(path, seed):
    """Five training rows of each class of a set, and the others."""
    with np.load(path) as file:
        x, y = np.asarray(file["X"], dtype=float), file["label"]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    order = np.random.default_rng(seed).permutation(len(y))
    train = np.concatenate([order[y[order] == label][:5] for label in np.unique(y)])
    test = np.setdiff1d(order, train)[:5000]
    return x[train], y[train], x[test], y[test]


def accuracy(scaling, x, y, x_test, y_test):
    estimator = OutputKernelClassifier(scale="standard" if scaling == "standard" else "none")
    if scaling == "common":
        mean, spread = x.mean(axis=0), x.std(axis=0).mean()
        x, x_test = (x - mean) / spread, (x_test - mean) / spread
    search = MultiTaskCV(estimator, cv=3, param_grid={}, scoring="select").fit(x, y)
    return 100 * float((search.predict(x_test) == y_test).mean())


def measure(out, cases):
    """One line for each case and scaling, unless it is there."""
    raw = out / "raw.jsonl"
    done = [json.loads(line) for line in raw.read_text().splitlines()] if raw.exists() else []
    known = {(row["case"], row["seed"]) for row in done}
    with raw.open("a") as file:
        for case, seed, make in cases:
            if (case, seed) in known:
                continue
            data = make()
            row = {"case": case, "seed": seed} | {scaling: accuracy(scaling, *data) for scaling in SCALINGS}
            done.append(row)
            print(json.dumps(row), file=file, flush=True)
    return done


def summary(rows):
    lines = ["# Scaling of rows of length one", ""]
    lines += ["Accuracy in percent; differences from none, with standard errors.", ""]
    lines += ["| problem | none | standard - none | common - none |", "|---|---|---|---|"]
    for case in dict.fromkeys(row["case"] for row in rows):
        own = [row for row in rows if row["case"] == case]
        cells = [f"{np.mean([row['none'] for row in own]):.1f}"]
        for scaling in SCALINGS[1:]:
            gain = np.asarray([row[scaling] - row["none"] for row in own])
            error = gain.std(ddof=1) / np.sqrt(len(gain)) if len(gain) > 1 else float("nan")
            cells.append(f"{gain.mean():+.2f} +- {error:.2f}")
        lines.append(f"| {case} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true", help="two seeds")
    parser.add_argument("--sets", action="store_true", help="also sets of embeddings")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    seeds = range(2 if args.quick else 10)
    cases = []
    for shape, classes, rows, seed in itertools.product(SHAPES, CLASSES, ROWS_PER_CLASS, seeds):
        name = f"{shape}, {classes} classes of {rows} rows"
        cases.append((name, seed, functools.partial(problem, shape, classes, rows, seed)))
    if args.sets:
        folder = pathlib.Path(os.environ.get("KINFOLK_DATA", "../shared/data"))
        for name, seed in itertools.product(SETS, range(3)):
            make = functools.partial(of_set, folder / f"{name}.npz", seed)
            cases.append((f"{name}, 5 rows of each class", seed, make))
    rows = measure(args.out, cases)
    (args.out / "summary.md").write_text(summary(rows))
    print(summary(rows))


if __name__ == "__main__":
    main()
