"""Columns of a frame that are no plain numbers, as features: words, dates, decimals, booleans and gaps.

The engine makes the recipe (what each column becomes) and applies it, as the command does with files. It is kept as
JSON in the fitted estimator and in the model file. This module only hands over the columns.
"""

from __future__ import annotations

import datetime
import json
from decimal import Decimal
from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _checks, _native, _tables, _warnings

Cells = Any
"""The cells of a column as the engine takes them."""

MISSING = 2**32 - 1
"""The place of no value at all."""
FILLS = ("mean", "median", "zero", "error")
"""What missing values become."""
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def is_needed(estimator: Any, x: Any) -> bool:
    """Whether X is a frame that is not all numbers."""
    if not _tables.is_frame(x) or getattr(estimator, "kernel", None) == "precomputed":
        return False
    return not all(_is_plain(column) for column in _tables.read(x).columns)


def _is_plain(column: np.ndarray) -> bool:
    return column.dtype.kind in "biu" or (column.dtype.kind == "f" and not np.isnan(column).any())


def fit(estimator: Any, x: Any) -> Any:
    """The features of the frame, by a recipe that is made from it and kept in the estimator."""
    missing = _checks.choice("missing", estimator.missing, FILLS)
    found, estimator._recipe, _ = _native.encode_frame(_columns(x), missing)
    for left in json.loads(estimator._recipe).get("left_out", []):
        _warnings.warn(f"column {left['column']!r} of X is left out: {left['why']}")
    return _features(found)


def known(estimator: Any) -> str | None:
    """What is known about the columns. A file of the command may have units and durations where the model of the
    command has numbers."""
    recipe: str | None = getattr(estimator, "_recipe", None)
    by_name = recipe is None and getattr(estimator, "_by_name", False)
    return str(estimator.model_.schema) if by_name else recipe


def encode(estimator: Any, x: Any) -> Any:
    """The features of new rows, by the recipe of the fit: columns are found by name, others are ignored."""
    recipe = known(estimator)
    assert recipe is not None
    if not _tables.is_frame(x):
        columns = ", ".join(columns_of(recipe)[:10])
        raise ValueError(f"X: the model was fitted to a frame and finds its columns by name: give one with {columns}")
    found, _, remarks = _native.encode_frame(_columns(x, columns_of(recipe)), "mean", recipe)
    for remark in remarks:
        _warnings.warn(f"X: {remark}")
    return _features(found)


def of_schema(schema: str) -> str | None:
    """The recipe of a model file; None if its features are numbers as they are, or have no names."""
    features = json.loads(schema)["features"]
    return schema if features and not all("number" in feature for feature in features) else None


def columns_of(recipe: str) -> list[str]:
    """The columns that it needs, in order."""
    features = [next(iter(feature.values())) for feature in json.loads(recipe)["features"]]
    return [feature if isinstance(feature, str) else feature["column"] for feature in features]


def not_numbers(recipe: str) -> list[str]:
    """The columns that are not numbers as they are."""
    plain = ["number" in feature for feature in json.loads(recipe)["features"]]
    return [name for name, is_plain in zip(columns_of(recipe), plain, strict=True) if not is_plain]


def feature_names(recipe: str) -> list[str]:
    """What the features are called: age, plan=basic, plan=pro."""
    return _native.describe_recipe(recipe)[0]


def notes(recipe: str) -> list[str]:
    """What became of the columns, in words."""
    return _native.describe_recipe(recipe)[1]


def _features(found: Any) -> Any:
    if not isinstance(found, tuple):
        return found
    indptr, indices, values, width = found
    # Indices of scipy are signed.
    signed = np.int32 if max(width, len(values)) < 2**31 else np.int64
    shape = (len(indptr) - 1, width)
    return sp.csr_matrix((values, indices.astype(signed), indptr.astype(signed)), shape=shape)


def _columns(x: Any, wanted: list[str] | None = None) -> list[tuple[str, Cells]]:
    table = _tables.read(x)
    pairs = [(_tables.text(name), column) for name, column in zip(table.names, table.columns, strict=True)]
    # Other columns may hold anything.
    # The numbers of a list are called emb_0, emb_1, ...
    chosen = [name for name, _ in pairs if wanted is None or name in wanted or f"{name}_0" in wanted]
    return [(name, _cells(column)) for name, column in pairs if name in chosen]


def _cells(column: np.ndarray) -> Cells:
    """A column in one of the forms that the engine takes."""
    kind = column.dtype.kind
    if _tables.holds_lists(column):
        return _lists(list(column))
    if kind == "b":
        return np.ascontiguousarray(column)
    if kind in "iu":
        whole = kind == "i" or not len(column) or int(column.max()) < 2**63
        return np.ascontiguousarray(column, dtype=np.int64 if whole else np.float64)
    if kind == "f":
        single = column.dtype.itemsize <= 4
        return np.ascontiguousarray(column, dtype=np.float32 if single else np.float64)
    if kind == "M":
        return _times(column)
    if kind == "m":
        return _seconds(column)
    if kind in "OUT":
        return _objects(column.tolist())
    return len(column), f"it holds values of type {column.dtype}, which are neither numbers, dates nor text"


def _lists(cells: list[Any]) -> Cells:
    """Lists of numbers, such as embeddings: the engine makes a feature of each number."""
    lists: list[list[float] | None] = []
    single = True
    for row, cell in enumerate(cells):
        if not isinstance(cell, np.ndarray) and _tables.is_missing(cell):
            lists.append(None)
            continue
        try:
            numbers = np.asarray(cell)
            # Lists of Python hold doubles, as those of files do.
            single &= numbers.dtype == np.float32 or numbers.size == 0
            lists.append(np.asarray(numbers, dtype=np.float64).reshape(-1).tolist())
        except (TypeError, ValueError):
            return len(cells), f"row {row} holds a {type(cell).__name__} that is not a list of numbers"
    return lists, single


def _times(column: np.ndarray) -> Cells:
    unit = np.datetime_data(column.dtype)[0]
    if unit not in PER_SECOND or np.datetime_data(column.dtype)[1] != 1:
        column, unit = column.astype("datetime64[s]"), "s"
    return np.ascontiguousarray(column).view(np.int64), PER_SECOND[unit]


def _seconds(column: np.ndarray) -> Cells:
    """Durations in seconds, as files have them; the division of Python's integers is rounded once."""
    unit, size = np.datetime_data(column.dtype)
    if unit not in PER_SECOND or size != 1:
        column, unit = column.astype("timedelta64[ns]"), "ns"
    ticks, per_second = np.ascontiguousarray(column).view(np.int64), PER_SECOND[unit]
    missing = np.iinfo(np.int64).min
    return np.array([np.nan if tick == missing else tick / per_second for tick in ticks.tolist()])


def _objects(cells: list[Any]) -> Cells:
    """Values of any type. Dates of all rows are times; else each different value is handed over once."""
    dates = [_in_utc(cell) for cell in cells]
    if any(date is not None for date in dates) and all(
        date is not None or _tables.is_missing(cell) for date, cell in zip(dates, cells, strict=True)
    ):
        return _times(np.asarray([np.datetime64("NaT") if date is None else date for date in dates], "datetime64[us]"))
    values: dict[Any, int] = {}
    index = np.full(len(cells), MISSING, dtype=np.uint32)
    for row, cell in enumerate(cells):
        if not _tables.is_missing(cell):
            value = _value(cell)
            if value is None:
                kind = type(cell).__name__
                return len(cells), f"row {row} holds a {kind}, which is neither a number, a date nor text"
            index[row] = values.setdefault((type(value), value), len(values))
    return index, [value for _, value in values]


def _in_utc(cell: Any) -> datetime.date | None:
    """A date or time without its zone, which numpy does not know; None for anything else."""
    if not isinstance(cell, datetime.date) or _tables.is_missing(cell):
        return None
    zone = getattr(cell, "tzinfo", None)
    return cell if zone is None else cell.astimezone(datetime.UTC).replace(tzinfo=None)  # type: ignore[attr-defined]


def _value(cell: Any) -> Any:
    """A boolean, a number with its text, or text."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if isinstance(cell, (bool, str)):
        return cell
    if isinstance(cell, (int, Decimal)):
        return float(cell), format(cell, "f") if isinstance(cell, Decimal) else str(cell)
    if isinstance(cell, float):
        return cell, repr(cell)
    if isinstance(cell, datetime.timedelta):  # seconds, as files have it
        seconds = (cell // datetime.timedelta(microseconds=1)) / 10**6
        return seconds, repr(seconds)
    if isinstance(cell, datetime.time):  # the share of the day, as files have it
        micros = ((cell.hour * 60 + cell.minute) * 60 + cell.second) * 10**6 + cell.microsecond
        share = micros / 1e6 / 86_400
        return share, repr(share)
    if isinstance(cell, datetime.date):
        return cell.isoformat()
    return None
