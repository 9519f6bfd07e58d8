"""Inputs in any form as arrays that the engine reads without a copy, and the tasks of their rows."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from . import _arrays, _names, _recipe, _tables
from ._tables import Table, is_missing

Native = Any
"""A dense array in C order, or (indptr, indices, values, number of columns)."""


frame = _tables.foreign
is_table = _tables.is_frame

_Method = TypeVar("_Method", bound=Callable[..., Any])


def returns_like_x(method: _Method) -> _Method:
    """A method of X, which may be a table or array of any library. Arrays that it returns are of the library and on the
    device of X."""

    @functools.wraps(method)
    def wrapped(self: Any, X: Any, *args: Any, **more: Any) -> Any:
        return _arrays.like(X, method(self, frame(X), *args, **more))

    return wrapped  # type: ignore[return-value]


def column_names(x: Any) -> list[Any]:
    x = frame(x)
    return x.names if isinstance(x, Table) else list(x.columns)


def known(labels: np.ndarray) -> np.ndarray:
    """Which labels are not missing."""
    if labels.dtype.kind == "f":
        return np.asarray(~np.isnan(labels))
    if labels.dtype.kind != "O":
        return np.ones(labels.shape, dtype=bool)
    return np.asarray([not is_missing(value) for value in labels.ravel().tolist()], dtype=bool).reshape(labels.shape)


def table(y: Any) -> np.ndarray:
    """Labels as an array. Missing values of pandas become None, which numpy converts to NaN in arrays of numbers."""
    values = np.asarray(y.toarray() if sp.issparse(y) else frame(y))
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


def has_column(x: Any, column: Any, width: int) -> bool:
    """Whether the task column is in these rows, of which there were `width` columns with it in training."""
    if isinstance(column, str) and _tables.is_frame(x):
        return column in column_names(x)
    return len(getattr(x, "shape", ())) == 2 and x.shape[1] == width


def split(x: Any, column: Any) -> tuple[Any, np.ndarray]:
    """X without its task column, and that column."""
    x = frame(x)
    if not hasattr(x, "shape"):
        x = np.asarray(x)
    if len(x.shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(x.shape)}D array instead: with task_column, X is a table")
    at = _position(x, column)
    keep = [i for i in range(x.shape[1]) if i != at]
    if isinstance(x, Table):
        name = x.names[at]
        return x.without(name), x.column(name)
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
    x = x if reset else _chosen(estimator, x, getattr(estimator, "feature_names_in_", None))
    rest, task = (x, None) if column is None else split(x, column)
    if column is not None and rest.shape[1] == 0:
        raise ValueError("X has 0 feature(s) beside the task column, while a minimum of 1 is required")
    if reset:
        estimator._recipe = None
        if _recipe.is_needed(estimator, rest):
            _validated(estimator, x, reset, skip_check_array=True)
            return _recipe.fit(estimator, rest), task
    if column is None and not _has_recipe(estimator):
        return _validated(estimator, x, reset), None
    if not _has_recipe(estimator):
        _validated(estimator, x, reset, skip_check_array=True)
    return features(estimator, rest), task


def _has_recipe(estimator: Any) -> bool:
    """Whether columns become features by a recipe, which finds them by name."""
    return getattr(estimator, "_recipe", None) is not None


def without_task(estimator: Any, x: Any) -> Any:
    """Features of rows whose tasks are not in a column. Columns of a frame are those of the fit without its tasks."""
    x, wanted = frame(x), _names.of_features(estimator)
    x = _chosen(estimator, x, wanted)
    if is_table(x) and wanted is not None and not _has_recipe(estimator):
        _check_names(wanted, column_names(x))
    return features(estimator, x)


def _chosen(estimator: Any, x: Any, wanted: Sequence[Any] | None) -> Any:
    """For a model of the command, whose files may have more columns: those that are wanted by name, in their order."""
    by_name = getattr(estimator, "_by_name", False) and is_table(x) and not _has_recipe(estimator)
    if not by_name or wanted is None:
        return x
    names = [str(name) for name in column_names(x)]
    missing = [name for name in wanted if name not in names]
    table = _tables.read(x)
    if missing and any(map(_tables.holds_lists, table.columns)):
        table = _tables.spread(table)
        names = [str(name) for name in table.names]
        missing = [name for name in wanted if name not in names]
    if missing:
        has = ", ".join(names[:10])
        raise ValueError(f"X has no column {missing[0]!r}, which the model was fitted with; it has {has}")
    return Table(list(wanted), [table.columns[names.index(name)] for name in wanted])


def _check_names(own: Sequence[Any], given: Sequence[Any]) -> None:
    """Raises an error unless the columns are those of the fit, in their order."""
    if list(own) != list(given):
        fitted, found = (", ".join(map(str, names[:10])) for names in (own, given))
        raise ValueError(f"The feature names should match those that were passed during fit: {fitted}, not {found}")


def _validated(estimator: Any, x: Any, reset: bool, **more: Any) -> Any:
    """As an array. The names of the columns are kept at a fit, and compared later."""
    if not isinstance(x, Table):
        read = functools.partial(validate_data, estimator, x, reset=reset, **(more or _FORM))
        return read() if more else _named_errors(x, read)
    names = np.asarray(x.names, dtype=object)
    if reset:
        read = functools.partial(validate_data, estimator, np.asarray(x), reset=True, **(more or _FORM))
        found = read() if more else _named_errors(x, read)
        if all(isinstance(name, str) for name in x.names):
            estimator.feature_names_in_ = names
        return found
    own = getattr(estimator, "feature_names_in_", None)
    if own is not None:
        _check_names(own, x.names)
    if x.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has {x.shape[1]} features, but {type(estimator).__name__} is expecting {estimator.n_features_in_} "
            "features as input"
        )
    return np.asarray(x) if more else features(estimator, x)


def features(estimator: Any, x: Any) -> Any:
    """Rows without a task column as floats."""
    x = frame(x)
    if _has_recipe(estimator) or (_recipe.known(estimator) is not None and _recipe.is_needed(estimator, x)):
        return _recipe.encode(estimator, x)
    table = np.asarray(x) if isinstance(x, Table) else x
    return _named_errors(x, lambda: check_array(table, estimator=estimator, input_name="X", **_FORM))


def _named_errors(x: Any, convert: Callable[[], Any]) -> Any:
    """Features as floats. For frames, an error about a value names its column."""
    if not is_table(x):
        return convert()
    _check_kinds(_tables.read(x))
    try:
        found = convert()
    except (TypeError, ValueError):
        _check_numbers(_tables.read(x))
        raise
    # For arrays the engine does it, without another pass over the values.
    wrong = None if sp.issparse(found) or np.isfinite(found).all() else np.argwhere(~np.isfinite(found))[0]
    if wrong is not None:
        row, at = wrong.tolist()
        name, value = column_names(x)[at], found[row, at]
        what = "infinite" if np.isinf(value) else "missing (NaN), and in training there was always one"
        raise ValueError(f"X: row {row}, column {name!r}: the value is {what}: {value} is not a finite number")
    return found


def _check_kinds(x: Table) -> None:
    """Raises an error for dates and durations: numpy would make numbers of them, in units of its own."""
    for name, column in zip(x.names, x.columns, strict=True):
        if column.dtype.kind in "mM":
            what = "dates" if column.dtype.kind == "M" else "durations"
            raise ValueError(f"X: column {name!r} holds {what}, and in training it held numbers")


def _check_numbers(x: Table) -> None:
    """Raises an error that names the first value that is not a number."""
    for name, column in zip(x.names, x.columns, strict=True):
        for row, value in enumerate([] if column.dtype.kind in "biuf" else column.tolist()):
            try:
                float(value)
            except (TypeError, ValueError):
                raise ValueError(f"X: row {row}, column {name!r}: {value!r} is not a number") from None


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


def of_labels(what: str, value: Any, n_rows: int, names: Sequence[Any] | None) -> np.ndarray:
    """Numbers of rows, one for all or one for each; or of rows and labels, if labels have these names."""
    table = value if names is None else _tables.in_order(what, value, names)
    found = np.ascontiguousarray(_tables.numbers(what, frame(table)), dtype=np.float64)
    if found.ndim == 0:
        found = np.full(n_rows, float(found))
    if found.ndim == 2 and found.shape[1] == 1:
        found = found.ravel()
    shapes = [(n_rows,)] if names is None else [(n_rows,), (n_rows, len(names))]
    if found.shape not in shapes:
        raise ValueError(f"{what} has shape {found.shape}, expected {' or '.join(map(str, shapes))}")
    return found


def weights(
    weight: Any, n_rows: int, names: Sequence[Any] | None = None, known: Callable[[], np.ndarray] | None = None
) -> np.ndarray:
    """Weights of rows; or of rows and labels, if labels are a table with these names. Then those of labels that are not
    `known` do not count."""
    found = of_labels("sample_weight", weight, n_rows, names)
    if found.ndim == 2 and known is not None:
        found = np.where(known(), found, 0.0)
    wrong = np.argwhere(~((found >= 0) & np.isfinite(found)))
    if len(wrong):
        place = tuple(wrong[0].tolist())
        raise ValueError(f"sample_weight: row {place[0]} has {found[place]}; weights are finite and not negative")
    return found


def checksum(*values: Any) -> int:
    """Tells whether arrays were changed in place. None has no contents."""
    total = 0
    for value in values:
        if value is None:
            continue
        parts = [value.data, value.indices, value.indptr] if sp.issparse(value) else [table(value)]
        for part in parts:
            part = part if part.dtype.kind in "biufUS" else np.asarray(part.tolist(), dtype=str)
            if part.size:
                bytes_of: Any = np.ascontiguousarray(part).reshape(-1).view(np.uint8)
                total = zlib.crc32(bytes_of, total)
    return total


def as_gram(x: Any) -> np.ndarray:
    """Kernel values between all pairs."""
    if sp.issparse(x):
        raise ValueError("a precomputed kernel must be dense, not a sparse matrix")
    return np.ascontiguousarray(x, dtype=np.float64)
