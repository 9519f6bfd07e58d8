"""Warns if the labels were left among the features: then every score is too good, and the model is of no use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _inputs, _tables, _warnings

MIN_ROWS = 10
"""Fewer rows may be equal by chance."""
SAMPLE = 200
"""Rows that are looked at first."""
UNITS = 1e-12
"""Correlations that are closer to 1 are those of the same numbers in other units."""


def warn(X: Any, y: Any, task_column: Any = None) -> None:
    """For frames, whose columns have names: a column that equals the labels, or is the labels in other units."""
    if not _tables.is_frame(X):
        return
    with np.errstate(all="ignore"):  # huge numbers may overflow: then nothing is said
        for text in _found(X, y, task_column):
            _warnings.warn(text)


def _found(X: Any, y: Any, task_column: Any) -> Iterator[str]:
    labels, table = _inputs.table(y), _tables.read(X)
    names = [name for name in table.names if name != task_column]
    columns = [np.asarray(table.column(name)) for name in names]
    names = [name for name, column in zip(names, columns, strict=True) if not _tables.holds_lists(column)]
    columns = [column for column in columns if not _tables.holds_lists(column)]
    some = np.unique(np.linspace(0, len(labels) - 1, SAMPLE).astype(int))
    sample = _Sample([column[some] for column in columns])
    for label in labels.reshape(len(labels), -1).T:
        known = np.flatnonzero(_inputs.known(label))
        if len(known) < MIN_ROWS or bool((label[known] == label[known[0]]).all()):
            continue
        for at in sample.like(label[some]):
            what = _relation(columns[at][known], label[known])
            if what is not None:
                yield f"column {names[at]!r} of X is {what}: is it the target, left among the features?"


class _Sample:
    """Some rows of all columns: most columns need no more to be told from labels."""

    def __init__(self, columns: list[np.ndarray]) -> None:
        numbers = [_numbers(column) for column in columns]
        self.numeric = [at for at, own in enumerate(numbers) if own is not None]
        self.words = [at for at, own in enumerate(numbers) if own is None]
        self.values = np.asarray([own for own in numbers if own is not None])
        self.columns = columns

    def like(self, label: np.ndarray) -> list[int]:
        """Columns that may be the labels."""
        known = _inputs.known(label)
        own = _numbers(label[known])
        if own is None:
            return [at for at in self.words if _relation(self.columns[at][known], label[known]) is not None]
        if not self.numeric or len(own) < 2:
            return self.numeric
        x, y = self.values[:, known], own - own.mean()
        x = x - x.mean(axis=1, keepdims=True)
        # Rounding must not rule out a column, and labels that do not differ here rule out none.
        gap = (x * x).sum(axis=1) * (y @ y) - (x @ y) ** 2
        near = gap <= 1e-6 * (x * x).sum(axis=1) * (y @ y)
        return [at for at, fits in zip(self.numeric, near.tolist(), strict=True) if fits]


def _relation(column: np.ndarray, label: np.ndarray) -> str | None:
    """What a column is of the labels, if that cannot be chance."""
    a, b = _numbers(column), _numbers(label)
    if a is None and b is None:
        return "equal to y" if column.astype(str).tolist() == label.astype(str).tolist() else None
    if a is None or b is None:
        return None
    if np.array_equal(a, b):
        return "equal to y"
    # Two values are linear functions of any other two: only more say something.
    if not np.isfinite(a).all() or len(np.unique(b)) < 3:
        return None
    a, b = a - a.mean(), b - b.mean()
    size = float(np.sqrt((a @ a) * (b @ b)))
    return "y in other units" if size > 0 and abs(float(a @ b)) >= (1 - UNITS) * size else None


def _numbers(values: np.ndarray) -> np.ndarray | None:
    """As numbers, if they are."""
    is_number = values.dtype.kind in "biuf" or (
        values.dtype.kind == "O" and all(isinstance(value, (int, float)) for value in values.tolist())
    )
    return values.astype(np.float64) if is_number else None
