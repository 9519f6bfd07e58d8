"""Data sets as users have them, nothing scaled, and random splits into training and test rows."""

import dataclasses

import numpy as np

from . import sets

# Test rows of a task, and of all tasks or classes together.
MOST_TEST_PER_TASK, MOST_TEST = 200, 3000


@dataclasses.dataclass
class Data:
    """`task` is given where each task has its own rows; labels are numbers, a table of numbers, or classes."""

    x: np.ndarray
    y: np.ndarray
    task: np.ndarray | None = None
    classes: bool = False

    @property
    def form(self):
        if self.task is not None:
            return "tasks, classes" if self.classes else "tasks, numbers"
        return "classes" if self.classes else "table, numbers"

    def take(self, rows):
        return Data(self.x[rows], self.y[rows], None if self.task is None else self.task[rows], self.classes)

    def draw(self, train, seed):
        """Rows to learn from and rows to score on. `train` is a share (below 1) or a number of rows, of each task
        or class."""
        rng = np.random.default_rng(seed)
        group = self.task if self.task is not None else self.y if self.classes else np.zeros(len(self.x), int)
        most = MOST_TEST_PER_TASK if self.task is not None else MOST_TEST
        parts = ([], [])
        for own in np.unique(group):
            rows = rng.permutation(np.flatnonzero(group == own))
            count = max(2, round(train * len(rows))) if train < 1 else train
            parts[0].append(rows[:count])
            parts[1].append(rows[count : count + most])
        return np.concatenate(parts[0]), rng.permutation(np.concatenate(parts[1]))[:MOST_TEST]


def own(name):
    """A file of the data folder."""
    f = sets.read(name)
    x = f["X"].astype(float)
    if "label" in f:
        return Data(x, f["label"], classes=True)
    if "Y" in f:
        return Data(x, f["Y"])
    return Data(x, f["y"], f["task"], classes=f["y"].dtype.kind == "i")


def sklearn_set(name, classes):
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return Data(x, y, classes=classes)


def diabetes_by_age():
    """Five tasks: the patients in five groups of age, equally large."""
    whole = sklearn_set("diabetes", False)
    age = whole.x[:, 0]
    task = np.searchsorted(np.quantile(age, [0.2, 0.4, 0.6, 0.8]), age)
    return Data(whole.x, whole.y, task)


@dataclasses.dataclass
class Set:
    train: float
    """Share, or number of rows of each task or class, to learn from."""
    select: bool = False
    """Small enough for `select` on every split."""
    load: object = None
    """None: a file of the data folder."""


def toy(name, classes):
    return lambda: sklearn_set(name, classes)


SETS = {
    "iris": Set(0.5, True, toy("iris", True)),
    "wine": Set(0.5, True, toy("wine", True)),
    "breast_cancer": Set(0.5, True, toy("breast_cancer", True)),
    "digits": Set(0.2, True, toy("digits", True)),
    "diabetes-by-age": Set(0.5, True, diabetes_by_age),
    "linnerud": Set(0.5, True, toy("linnerud", False)),
    "mtr_slump": Set(0.4, True),
    "mtr_jura": Set(0.3, True),
    "mtr_atp1d": Set(0.3, True),
    "mtr_wq": Set(0.2, True),
    "mtr_rf1": Set(0.02, True),
    "sarcos": Set(0.02, True),
    "parkinson": Set(0.2, True),
    "isolet": Set(0.05, True),
    "yale": Set(0.5, True),
    "landmine": Set(0.2, True),
    "mhci": Set(0.05, True),
    "letter": Set(60, True),
    "usps_lapin14": Set(50, True),
    "mnist_lapin14": Set(50, True),
    "usps": Set(20, True),
    "mnist": Set(20, True),
    "banking77": Set(5),
    "flowers102": Set(5),
    "caltech101": Set(5),
    "miniplaces100": Set(5),
}


def load(name):
    """A set, or None if its file is not there."""
    if SETS[name].load is not None:
        return SETS[name].load()
    folder = sets.found_folder()
    return own(name) if folder and (folder / f"{name}.npz").exists() else None
