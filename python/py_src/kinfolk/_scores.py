"""Scores of tables of labels: by the names of the tasks, without missing labels, with weights of rows or of labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import _inputs, _targets

Score = Callable[[np.ndarray, np.ndarray, np.ndarray | None], float]
"""Of truth, prediction and weights of one column."""


def truth_of(y: Any, tasks: np.ndarray) -> np.ndarray:
    """Labels as an array; those of a table in the order of the tasks."""
    return _targets.in_order("y", y, tasks)


def weights_of(weight: Any, truth: np.ndarray, tasks: np.ndarray) -> np.ndarray | None:
    """Weights of rows, or of the labels of a table."""
    if weight is None:
        return None
    names = tasks.tolist() if truth.ndim == 2 and truth.shape[1] == len(tasks) else None
    return _inputs.weights(weight, len(truth), names, lambda: _inputs.known(truth))


def of_columns(score: Score, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None = None) -> list[float]:
    """The score of each column, NaN if it has fewer than two labels, or no prediction."""
    if truth.shape != guess.shape:
        raise ValueError(f"y has shape {truth.shape}, the predictions have {guess.shape}")
    scores = []
    for t in range(truth.shape[1]):
        own = np.flatnonzero(_inputs.known(truth[:, t]) & _inputs.known(guess[:, t]))
        part = None if weight is None else weight[own] if weight.ndim == 1 else weight[own, t]
        if part is not None and not part.any():
            own = own[:0]
        scores.append(score(truth[own, t], guess[own, t], part) if len(own) > 1 else float("nan"))
    return scores


def mean(scores: list[float]) -> float:
    """The mean of those that are there."""
    known = [score for score in scores if np.isfinite(score)]
    return float(np.mean(known)) if known else float("nan")


def of_sets(truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
    """Share of rows whose known labels are all predicted; rows without labels do not count. With a weight for each
    label, those of weight zero count as missing, and the weight of a row is the mean of the others."""
    known = _inputs.known(truth)
    if weight is not None and weight.ndim == 2:
        known &= weight > 0
        weight = np.where(known, weight, 0.0).sum(axis=1) / np.maximum(known.sum(axis=1), 1)
    right = ((truth == guess) | ~known).all(axis=1)
    rows = known.any(axis=1)
    each = None if weight is None else weight[rows]
    if not rows.any() or (each is not None and not each.any()):
        return float("nan")
    return float(np.average(right[rows], weights=each))
