"""Data that several tests use."""

import os
import pathlib
import shutil

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Tasks:
    """Kindred tasks with rows of their own."""

    def __init__(self, n_tasks=5, rows=20, features=6, seed=0, binary=False, names=None):
        rng = np.random.default_rng(seed)
        self.names = names or [f"task {t}" for t in range(n_tasks)]
        self.X = rng.normal(size=(n_tasks * rows, features))
        index = rng.permutation(np.repeat(np.arange(n_tasks), rows))
        self.task = np.asarray(self.names)[index]
        weights = rng.normal(size=features) + 0.3 * rng.normal(size=(n_tasks, features))
        score = (self.X * weights[index]).sum(axis=1) + 0.2 * rng.normal(size=len(self.X))
        self.y = np.where(score > 0, "yes", "no") if binary else score


@pytest.fixture
def regression():
    return Tasks()


@pytest.fixture
def binary():
    return Tasks(binary=True)


def skipped(why):
    """Skips a test, and notes it in the file that ./test prints at its end."""
    if path := os.environ.get("KINFOLK_SKIPS"):
        with open(path, "a") as file:
            file.write(f"SKIPPED: Python tests: {why}\n")
    pytest.skip(f"SKIPPED: {why}")


@pytest.fixture(scope="session")
def command():
    """The command line program, for tests that both give the same."""
    found = os.environ.get("KINFOLK_COMMAND") or shutil.which("kinfolk")
    if not found:
        skipped("no kinfolk command; set KINFOLK_COMMAND to its path")
    return found


@pytest.fixture(scope="session")
def data_folder():
    """Real data sets."""
    folder = pathlib.Path(os.environ.get("KINFOLK_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        skipped(f"no data sets: {folder} is no folder; set KINFOLK_DATA")
    return folder
