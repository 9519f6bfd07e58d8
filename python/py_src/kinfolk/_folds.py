"""Rows into folds, those of each group spread evenly."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _inputs


def folds(group: np.ndarray, n_folds: int, seed: int) -> np.ndarray:
    """A fold for each row."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(group))
    order = order[np.argsort(group[order], kind="stable")]
    fold = np.empty(len(group), dtype=np.int64)
    fold[order] = np.arange(len(group)) % n_folds
    return fold


def groups(y: Any, task: np.ndarray | None, *, by_class: bool) -> np.ndarray:
    """Rows that belong together: of one task, and of one class."""
    labels = _inputs.table(y)
    out = np.zeros(len(labels), np.int64)
    if task is not None:
        out = np.unique(task, return_inverse=True)[1].astype(np.int64)
    if by_class and labels.ndim == 1:
        code = np.unique(labels, return_inverse=True)[1]
        out = out * (int(code.max(initial=0)) + 1) + code
    return out


def lonely(task: np.ndarray | None, n: int) -> np.ndarray:
    """Rows that are the only ones of their task: held out, nothing would be known of it."""
    if task is None:
        return np.zeros(n, dtype=bool)
    index, count = np.unique(task, return_inverse=True, return_counts=True)[1:]
    return np.asarray(count[index] < 2)
