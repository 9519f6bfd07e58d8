"""Objects as dictionaries of plain values, so that tools such as skops need to trust one class of this package only."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Mapping
from typing import Any

from . import _tables
from ._atoms import Atom

KIND = "kinfolk"
"""The key that says what a dictionary stands for."""


def _package() -> Any:
    return importlib.import_module(__package__)


def pack(value: Any) -> Any:
    """Estimators, atoms and frames of pandas as dictionaries, also where they are values of a dictionary."""
    if isinstance(value, Atom):
        return {KIND: "Atom", **{field.name: pack(getattr(value, field.name)) for field in dataclasses.fields(value)}}
    # A class of the user's has to be trusted by itself, and is found by its own module.
    if hasattr(value, "__kinfolk_state__") and getattr(_package(), type(value).__name__, None) is type(value):
        return {KIND: type(value).__name__, "state": value.__getstate__()}
    if _tables.is_pandas(value):
        columns = [[str(dtype), value.iloc[:, i].tolist()] for i, dtype in enumerate(value.dtypes)]
        return {KIND: "frame", "names": list(value.columns), "rows": list(value.index), "columns": columns}
    if hasattr(value, "iloc"):
        rows, dtype = list(value.index), str(value.dtype)
        return {KIND: "series", "name": value.name, "rows": rows, "dtype": dtype, "values": value.tolist()}
    if isinstance(value, Mapping):  # a task may have any name, also that of `KIND`
        return {KIND: "dict", "keys": list(value), "values": [pack(item) for item in value.values()]}
    return value


def unpack(value: Any) -> Any:
    """What `pack` made a dictionary of."""
    if not isinstance(value, dict):
        return value
    kind = value[KIND]
    if kind == "dict":
        return dict(zip(value["keys"], map(unpack, value["values"]), strict=True))
    if kind == "Atom":
        return Atom(**{key: unpack(item) for key, item in value.items() if key != KIND})
    if kind not in ("frame", "series"):
        cls = getattr(_package(), kind)
        estimator = cls.__new__(cls)
        estimator.__setstate__(value["state"])
        return estimator
    pandas = importlib.import_module("pandas")
    if kind == "series":
        return pandas.Series(value["values"], index=value["rows"], name=value["name"], dtype=value["dtype"])
    columns = [pandas.Series(values, index=value["rows"], dtype=dtype) for dtype, values in value["columns"]]
    table = pandas.concat(columns, axis=1) if columns else pandas.DataFrame(index=value["rows"])
    table.columns = value["names"]
    return table
