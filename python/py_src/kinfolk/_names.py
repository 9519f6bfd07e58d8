"""Names of tasks and groups, as integers or strings, and those of features."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _recipe, _tables
from ._tables import is_missing

EXACT_FLOATS = 2**53
"""Larger whole numbers cannot be told from their neighbours as floats."""


def task_names(column: Any, n_rows: int) -> np.ndarray:
    """The task of each row, as integers or strings. None may be missing."""
    return row_names(column, n_rows, "task")


def row_names(column: Any, n_rows: int, what: str) -> np.ndarray:
    """The task or group of each row, as integers or strings. None may be missing."""
    task = _as_they_are(_tables.foreign(column))
    if task.ndim == 0:  # one task for all rows
        task = np.full(n_rows, task[()])
    if task.ndim == 2 and task.shape[1] == 1:
        task = task.ravel()
    if task.ndim != 1 or len(task) != n_rows:
        raise ValueError(f"{what} has shape {task.shape}, expected one for each of {n_rows} rows")
    if task.dtype.kind in "biu":
        fits = task.dtype.kind != "u" or not len(task) or int(task.max()) < 2**63
        return task.astype(np.int64) if fits else task.astype(str)
    if task.dtype.kind == "f":
        wrong = ~(np.isfinite(task) & (task == np.round(task)) & (np.abs(task) <= EXACT_FLOATS))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ValueError(f"row {row}: {what} {task[row]}; {what}s are named by whole numbers or by strings")
        return task.astype(np.int64)
    if task.dtype.kind == "U":
        return task
    return _names_of_objects(task.tolist(), what)


def _as_they_are(column: Any) -> np.ndarray:
    """As an array. Lists of numbers and words stay what they are: numpy would make words of all."""
    if isinstance(column, (list, tuple)) and len({isinstance(value, (str, bytes)) for value in column}) == 2:
        return np.asarray(column, dtype=object)
    return np.asarray(column)


def _names_of_objects(values: list[Any], what: str) -> np.ndarray:
    """Integers if all are, else strings: bytes are read as UTF-8, and whole numbers have no point."""
    for row, value in enumerate(values):
        if is_missing(value):
            raise ValueError(f"row {row}: its {what} is missing")
    whole = all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values)
    if whole and all(abs(int(value)) < 2**63 for value in values):
        return np.asarray(values, dtype=np.int64)
    names = [_text(value, row, what) for row, value in enumerate(values)]
    kinds: dict[str, bool] = {}
    for row, (name, value) in enumerate(zip(names, values, strict=True)):
        is_text = isinstance(value, (str, bytes))
        if kinds.setdefault(name, is_text) != is_text:
            both = f"the number {name} and the text {name!r} are both there, and would be one {what}"
            raise ValueError(f"{what}, row {row}: {both}; make texts or numbers of all")
    return np.asarray(names)


def _text(value: Any, row: int, what: str) -> str:
    if not isinstance(value, bytes):
        return _tables.text(value)
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise ValueError(f"row {row}: {what} {value!r}: these bytes are not UTF-8 text") from None


def of_features(estimator: Any) -> list[str] | None:
    """Names of the features: those of the recipe, or of the columns of the fit without the task column. None if they
    have none."""
    recipe = getattr(estimator, "_recipe", None)
    if recipe is not None:
        return _recipe.feature_names(recipe)
    names, column = getattr(estimator, "feature_names_in_", None), getattr(estimator, "task_column", None)
    if names is None:
        return None
    own = [str(name) for name in names]
    if column is not None:
        own.pop(own.index(column) if isinstance(column, str) else int(column))
    return own
