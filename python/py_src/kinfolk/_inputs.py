"""Inputs in any form as arrays that the engine reads without a copy, and the tasks of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

Native = Any
"""A dense array in C order, or (indptr, indices, values, number of columns)."""


def frame(x: Any) -> Any:
    """Tables of pyarrow as those of pandas: older versions of scikit-learn do not read their column names."""
    return x.to_pandas() if hasattr(x, "column_names") and hasattr(x, "to_pandas") else x


def is_table(x: Any) -> bool:
    """Whether it has named columns."""
    return hasattr(x, "columns")


def column_names(x: Any) -> list[Any]:
    return list(frame(x).columns)


def is_missing(value: Any) -> bool:
    """None, NaN, or a missing value of pandas."""
    if value is None or (isinstance(value, float) and value != value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")


def known(labels: np.ndarray) -> np.ndarray:
    """Which labels are not missing."""
    if labels.dtype.kind == "f":
        return np.asarray(~np.isnan(labels))
    if labels.dtype.kind != "O":
        return np.ones(labels.shape, dtype=bool)
    return np.asarray([not is_missing(value) for value in labels.ravel().tolist()], dtype=bool).reshape(labels.shape)


def table(y: Any) -> np.ndarray:
    """Labels as an array. Missing values of pandas become None, which numpy converts to NaN in arrays of numbers."""
    values = np.asarray(frame(y))
    if values.dtype.kind != "O":
        return values
    plain = [None if type(value).__name__ == "NAType" else value for value in values.ravel().tolist()]
    return np.asarray(plain, dtype=object).reshape(values.shape)


def _position(x: Any, column: Any) -> int:
    if isinstance(column, str):
        if not is_table(x):
            raise ValueError(f"task_column = {column!r}: X has no names of columns; give the number of the column")
        names = column_names(x)
        if column not in names:
            raise ValueError(f"task_column = {column!r}: X has no such column, but {', '.join(map(str, names[:10]))}")
        return names.index(column)
    width: int = x.shape[1]
    if isinstance(column, (bool, float)) or not -width <= int(column) < width:
        raise ValueError(f"task_column = {column!r}: X has {width} columns")
    return int(column) % width


def split(x: Any, column: Any) -> tuple[Any, np.ndarray]:
    """X without its task column, and that column."""
    x = frame(x)
    if not hasattr(x, "shape"):
        x = np.asarray(x)
    if len(x.shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(x.shape)}D array instead: with task_column, X is a table")
    at = _position(x, column)
    keep = [i for i in range(x.shape[1]) if i != at]
    if hasattr(x, "iloc"):  # pandas
        return x.iloc[:, keep], np.asarray(x.iloc[:, at].to_numpy())
    if hasattr(x, "columns"):  # polars
        name = x.columns[at]
        return x.drop(name), np.asarray(x[name].to_numpy())
    if sp.issparse(x):
        x = x.tocsc()
        return x[:, keep].tocsr(), np.asarray(x[:, [at]].todense()).ravel()
    x = np.asarray(x)
    return x[:, keep], x[:, at]


def checked(estimator: Any, x: Any, *, reset: bool, column: Any = None) -> tuple[Any, np.ndarray | None]:
    """Features as an array or sparse matrix of floats, and the task column if there is one. The estimator stores the
    names and the number of columns of X with its task column."""
    x = frame(x)
    if column is None:
        return validate_data(estimator, x, reset=reset, **_FORM), None
    rest, task = split(x, column)
    validate_data(estimator, x, reset=reset, skip_check_array=True)
    return features(estimator, rest), task


def features(estimator: Any, x: Any) -> Any:
    """Rows without a task column as floats."""
    return check_array(frame(x), estimator=estimator, input_name="X", **_FORM)


# The engine checks that values are finite: its message names row, column and value.
_FORM: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "order": "C",
    "ensure_all_finite": False,
}


def native(x: Any) -> Native:
    """Inputs in the form that the engine takes, without a copy of dense arrays or of the values of sparse ones."""
    if not sp.issparse(x):
        return x
    if x.shape[1] > 2**32:
        raise ValueError(f"X has {x.shape[1]} columns: sparse rows can have 2^32 of them")
    if not x.has_canonical_format:
        x = x.copy()
        x.sum_duplicates()
    return x.indptr.astype(np.uintp), x.indices.astype(np.uint32), np.ascontiguousarray(x.data), int(x.shape[1])


def as_gram(x: Any) -> np.ndarray:
    """Kernel values between all pairs."""
    if sp.issparse(x):
        raise ValueError("a precomputed kernel must be dense, not a sparse matrix")
    return np.ascontiguousarray(x, dtype=np.float64)


def task_names(column: Any, n_rows: int) -> np.ndarray:
    """The task of each row, as integers or strings. None may be missing."""
    task = np.asarray(frame(column))
    if task.ndim == 2 and task.shape[1] == 1:
        task = task.ravel()
    if task.ndim != 1 or len(task) != n_rows:
        raise ValueError(f"task has shape {task.shape}, expected one for each of {n_rows} rows")
    if task.dtype.kind in "biu":
        return task.astype(np.int64)
    if task.dtype.kind == "f":
        wrong = ~(np.isfinite(task) & (task == np.round(task)))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise ValueError(f"row {row}: task {task[row]}; tasks are named by whole numbers or by strings")
        return task.astype(np.int64)
    if task.dtype.kind == "U":
        return task
    values = task.tolist()
    for row, value in enumerate(values):
        if is_missing(value):
            raise ValueError(f"row {row}: its task is missing")
    if all(isinstance(value, (int, np.integer)) and not isinstance(value, bool) for value in values):
        return task.astype(np.int64)
    return np.asarray([str(value) for value in values])
