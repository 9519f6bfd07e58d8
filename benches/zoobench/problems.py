"""A problem of the zoo: everything about it is drawn from one seed."""

import dataclasses

import numpy as np
import scipy.sparse

# Rows x features or tasks x rank of the largest problems.
MOST_CELLS, MOST_UNKNOWNS = 400_000, 100_000
NUMBER_LOSSES = ["squared", "epsilon", "huber", "absolute", "quantile"]
CLASS_LOSSES = ["logistic", "hinge", "squared_hinge", "smoothed_hinge"]


@dataclasses.dataclass
class Problem:
    """Data and settings of a fit."""

    x: object
    y: np.ndarray
    task: np.ndarray | None
    weight: np.ndarray | None
    settings: dict
    words: dict
    """What was drawn, for the record."""

    @property
    def is_classification(self):
        return self.words["labels"] != "numbers"


def between(rng, low, high):
    """A whole number; its logarithm is uniform."""
    return int(round(np.exp(rng.uniform(np.log(low), np.log(high)))))


def features(rng, rows, columns, kind):
    """A matrix of this kind of features."""
    if kind == "counts":
        return rng.poisson(np.exp(rng.normal(-1, 1, columns)), (rows, columns)).astype(float)
    if kind == "bits":
        return (rng.random((rows, columns)) < rng.uniform(0.01, 0.5, columns)).astype(float)
    if kind == "dummies":
        # Groups of columns that sum to one, as words become.
        parts, left = [], columns
        while left > 0:
            levels = min(left, int(rng.integers(2, 9)))
            parts.append(np.eye(levels)[rng.integers(levels, size=rows)])
            left -= levels
        return np.hstack(parts)
    x = rng.normal(size=(rows, columns))
    if kind == "heavy":
        return rng.standard_t(1.5, (rows, columns))
    if kind == "scales":
        return x * 10.0 ** rng.uniform(-6, 6, columns)
    if kind == "low-rank":
        rank = max(1, columns // 4)
        return rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, columns))
    if kind == "near-duplicates":
        half = (columns + 1) // 2
        return np.hstack([x[:, :half], x[:, : columns - half] + 1e-6 * x[:, half:]])
    if kind == "repeated-rows":
        return x[rng.integers(max(1, rows // 3), size=rows)]
    if kind == "shifted":
        return x + 1e3 * rng.normal(size=columns)
    return x


KINDS = ["normal", "counts", "bits", "dummies", "heavy", "scales"]
KINDS += ["low-rank", "near-duplicates", "repeated-rows", "shifted"]


def truth(rng, columns, tasks):
    """Weights: some in common, some of few directions, some of each task's own."""
    share = rng.dirichlet([1, 1, 1])
    few = rng.normal(size=(columns, 3)) @ rng.normal(size=(3, tasks)) / np.sqrt(3)
    own = rng.normal(size=(columns, tasks))
    return np.sqrt(share[0]) * rng.normal(size=(columns, 1)) + np.sqrt(share[1]) * few + np.sqrt(share[2]) * own


def labels(rng, signal, kind):
    """Numbers, or classes of two values: noisy, separable, or with few positive ones."""
    spread = np.nanstd(signal) or 1.0
    if kind == "numbers":
        noise = rng.standard_t(2, signal.shape) if rng.random() < 0.3 else rng.normal(size=signal.shape)
        return (signal + spread * rng.uniform(0.1, 2) * noise) * 10.0 ** rng.uniform(-3, 3) + rng.normal() * 10
    noise = 0.0 if kind == "separable" else spread * rng.uniform(0.3, 2)
    score = signal + noise * rng.normal(size=signal.shape)
    cut = np.quantile(score, 0.95 if kind == "rare" else rng.uniform(0.3, 0.7))
    return np.where(score > cut, 1.0, -1.0)


def draw(seed):
    """The problem of a seed."""
    rng = np.random.default_rng([22, seed])
    form = str(rng.choice(["own", "table", "holes", "classes"], p=[0.4, 0.25, 0.2, 0.15]))
    tasks = between(rng, 1, 200) if rng.random() < 0.9 else between(rng, 200, 2000)
    columns = between(rng, 1, 300)
    rows = between(rng, max(10, tasks if form == "own" else 10), 4000)
    if form == "classes":
        tasks = max(3, min(tasks, rows // 3, 100))
    if form in ("table", "holes"):
        tasks = max(2 if form == "holes" else 1, min(tasks, 60_000 // rows))
    columns = max(1, min(columns, MOST_CELLS // rows, MOST_UNKNOWNS // max(tasks, 1)))
    kernel = str(rng.choice(["linear", "rbf", "laplacian", "polynomial", "cosine"], p=[0.6, 0.25, 0.05, 0.05, 0.05]))
    if kernel != "linear":
        rows = min(rows, 1500)
        tasks = min(tasks, rows) if form == "own" else tasks
    kind = str(rng.choice(KINDS))
    x = features(rng, rows, columns, kind)
    task = None
    kinds = ["numbers"] if form == "classes" else ["numbers", "noisy", "separable", "rare"]
    label = str(rng.choice(kinds, p=None if form == "classes" else [0.5, 0.25, 0.15, 0.1]))
    unit = x / np.maximum(x.std(axis=0), 1e-12)
    w = truth(rng, x.shape[1], tasks)
    if form == "own":
        share = rng.dirichlet(np.full(tasks, float(rng.choice([0.5, 5, 100]))))
        task = np.concatenate([np.arange(tasks), rng.choice(tasks, max(0, rows - tasks), p=share)])[:rows]
        y = labels(rng, np.einsum("ij,ji->i", unit, w[:, task]), label)
    elif form == "classes":
        y, label = np.argmax(unit @ w + rng.normal(size=(rows, tasks)), axis=1).astype(float), "classes"
    else:
        y = labels(rng, unit @ w, label)
        if form == "holes":
            y[rng.random(y.shape) < rng.uniform(0.1, 0.9)] = np.nan
    weight = None
    if form != "classes" and rng.random() < 0.25:
        weight = rng.gamma(1.0, 1.0, rows) * (rng.random(rows) < 0.9)
    losses = NUMBER_LOSSES if label == "numbers" else CLASS_LOSSES
    settings = {
        "loss": str(rng.choice(losses)),
        "method": str(rng.choice(["kin", "fmtl:k=1", "fmtl:k=2", "fmtl:k=4"], p=[0.5, 0.2, 0.2, 0.1])),
        "kernel": kernel,
        "intercept": "free" if rng.random() < 0.85 else "none",
        "scale": "auto" if rng.random() < 0.8 else "none",
    }
    if kernel in ("rbf", "laplacian"):
        settings["gamma"] = float(10.0 ** rng.uniform(-3, 1) / x.shape[1])
    words = {"seed": seed, "form": form, "rows": rows, "features": x.shape[1], "tasks": tasks, "kind": kind}
    words |= {"labels": label, "weights": weight is not None, **settings}
    if kernel == "linear" and kind in ("counts", "bits", "dummies") and rng.random() < 0.5:
        x, words["kind"] = scipy.sparse.csr_matrix(x), f"{kind}, sparse"
    return Problem(x, y, task, weight, settings, words)
