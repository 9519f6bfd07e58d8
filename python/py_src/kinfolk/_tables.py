"""Tables of any library by the names of their columns: pandas, polars, pyarrow, and whatever speaks Arrow.

Only pandas has names of rows. Tables of the others are read through their own methods or the Arrow PyCapsule interface
(`__arrow_c_stream__`), so that none of these libraries is needed for another.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _arrays


def is_pandas(x: Any) -> bool:
    return hasattr(x, "iloc") and hasattr(x, "columns")


def _is_polars(x: Any) -> bool:
    return type(x).__module__.partition(".")[0] == "polars"


def is_frame(x: Any) -> bool:
    """Whether it is a table with named columns."""
    return isinstance(x, Table) or hasattr(x, "columns") or hasattr(x, "column_names") or _only_arrow(x)


def _only_arrow(x: Any) -> bool:
    """Whether it can be read by the Arrow interface alone. Columns of polars and pyarrow speak Arrow too, but they are
    arrays."""
    speaks = hasattr(x, "__arrow_c_stream__") or hasattr(x, "__arrow_c_array__")
    return speaks and not (hasattr(x, "__array__") or hasattr(x, "columns") or hasattr(x, "column_names"))


def foreign(x: Any) -> Any:
    """Tables that scikit-learn does not read by itself as a `Table`, arrays of other libraries as arrays of numpy, and
    everything else as it is. Streams can be read once only: call it once, and go on with what it returns."""
    x = _arrays.on_host(x)
    if _is_polars(x) and hasattr(x, "collect"):  # a LazyFrame
        x = x.collect()
    if _only_arrow(x):
        x = _arrow(x)
    return read(x) if is_frame(x) and not (is_pandas(x) or _is_polars(x)) else x


def _arrow(x: Any) -> Any:
    """A table that only speaks Arrow as one of pyarrow or polars, whichever is installed; a column as an array."""
    for name, read_arrow in (("pyarrow", _by_pyarrow), ("polars", _by_polars)):
        try:
            library = importlib.import_module(name)
        except ImportError:
            continue
        return read_arrow(library, x)
    raise ImportError(f"a table of type {type(x).__name__} is read with pyarrow or polars: install one of them")


def _by_pyarrow(library: Any, x: Any) -> Any:
    is_stream = hasattr(x, "__arrow_c_stream__")
    found = library.chunked_array(x) if is_stream else library.chunked_array([library.array(x)])
    return library.Table.from_struct_array(found) if library.types.is_struct(found.type) else _array(found)


def _by_polars(library: Any, x: Any) -> Any:
    found = library.Series(x)
    return found.struct.unnest() if found.dtype == library.Struct else np.asarray(found.to_numpy())


@dataclass
class Table:
    """Named columns as arrays."""

    names: list[Any]
    columns: list[np.ndarray]
    rows: list[Any] | None = None
    """Names of the rows, if there are any."""

    @property
    def shape(self) -> tuple[int, int]:
        return (len(self.columns[0]) if self.columns else 0, len(self.columns))

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        if not self.columns:
            return np.empty((0, 0))
        kinds = {column.dtype.kind for column in self.columns}
        columns = self.columns if kinds <= set("biuf") else [column.astype(object) for column in self.columns]
        return np.column_stack(columns).astype(dtype) if dtype is not None else np.column_stack(columns)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> Table:
        """Some of the rows, as scikit-learn asks for them."""
        rows = rows[0] if isinstance(rows, tuple) else rows
        named = None if self.rows is None else np.asarray(self.rows, dtype=object)[rows].tolist()
        return Table(self.names, [column[rows] for column in self.columns], named)

    def column(self, name: Any) -> np.ndarray:
        return self.columns[self.names.index(name)]

    def without(self, name: Any) -> Table:
        keep = [i for i, own in enumerate(self.names) if own != name]
        return Table([self.names[i] for i in keep], [self.columns[i] for i in keep], self.rows)


def read(x: Any) -> Table:
    """A table of any library."""
    if is_pandas(x):
        rows = None if type(x.index).__name__ == "RangeIndex" else list(x.index)
        return Table(list(x.columns), [_pandas_array(x.iloc[:, i]) for i in range(x.shape[1])], rows)
    if isinstance(x, Table):
        return x
    if not (_is_polars(x) or hasattr(x, "itercolumns")):
        x = _arrow(x)
        if isinstance(x, np.ndarray):
            raise ValueError("a table with named columns is expected here, and not a column")
    if not _is_polars(x):
        return Table(list(x.schema.names), [_array(column) for column in x.itercolumns()])
    names = list(x.columns)
    return Table(names, [_in_rows(np.asarray(x[name].to_numpy())) for name in names])


def _in_rows(column: np.ndarray) -> np.ndarray:
    """Lists of one length, which polars has as a matrix, as a column of lists."""
    if column.ndim == 1:
        return column
    rows = np.empty(len(column), dtype=object)
    rows[:] = list(column)
    return rows


def _pandas_array(column: Any) -> np.ndarray:
    """A column of pandas. Nullable numbers are floats with NaN; times are in UTC."""
    kind = getattr(column.dtype, "kind", "O")
    if kind in "iuf" and not isinstance(column.dtype, np.dtype):
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    return np.asarray(column)


def is_missing(value: Any) -> bool:
    """None, NaN, or a missing value of pandas."""
    if value is None or (isinstance(value, float) and value != value):
        return True
    return type(value).__name__ in ("NAType", "NaTType")


def holds_lists(column: np.ndarray) -> bool:
    """Whether its cells are lists of numbers, such as embeddings."""
    if column.dtype.kind != "O":
        return False
    first = next((cell for cell in column if isinstance(cell, np.ndarray) or not is_missing(cell)), None)
    return isinstance(first, (list, tuple, np.ndarray))


def spread(table: Table) -> Table:
    """The same with a column for each number of a list, as files are read: emb_0, emb_1, ..."""
    names: list[Any] = []
    columns: list[np.ndarray] = []
    for name, column in zip(table.names, table.columns, strict=True):
        if not holds_lists(column):
            names.append(name)
            columns.append(column)
            continue
        numbers = np.asarray([np.asarray(cell, dtype=float) for cell in column], dtype=float)
        names.extend(f"{name}_{k}" for k in range(numbers.shape[1]))
        columns.extend(numbers.T)
    return Table(names, columns, table.rows)


def _array(column: Any) -> np.ndarray:
    """A column of pyarrow. Words with few values are words."""
    if hasattr(column.type, "value_type") and hasattr(column.type, "index_type"):
        column = column.cast(column.type.value_type)
    if column.null_count and str(column.type) not in ("double", "float", "halffloat"):
        return np.asarray(column.to_pylist(), dtype=object)
    plain = column.to_numpy(zero_copy_only=False) if hasattr(column, "offset") else column.to_numpy()
    return np.asarray(plain)


def text(name: Any) -> str:
    """The name of a task as text: whole numbers without a point."""
    if isinstance(name, np.generic):
        name = name.item()
    return str(int(name)) if isinstance(name, float) and name.is_integer() else str(name)


def aligned_matrix(what: str, value: Any, tasks: list[Any]) -> np.ndarray:
    """A task matrix in the order of the tasks: by its names if it has any, else as it is."""
    if not is_frame(value):
        return numbers(what, value)
    table = read(value)
    rows, names = table.rows, [text(name) for name in table.names]
    words = [name for name, column in zip(table.names, table.columns, strict=True) if column.dtype.kind in "OUT"]
    if rows is None and len(words) == 1:  # a column with the names of the rows, as `kinfolk theta -o` writes it
        rows = table.column(words[0]).tolist()
        table = table.without(words[0])
        names = [text(name) for name in table.names]
    own = names if rows is None else [text(name) for name in rows]
    wanted = [text(task) for task in tasks]
    check_names(what, "columns", names, wanted)
    check_names(what, "rows", own, wanted)
    values = np.column_stack([numbers(what, column) for column in table.columns])
    return values[np.ix_([own.index(task) for task in wanted], [names.index(task) for task in wanted])]


def numbers(what: str, values: Any) -> np.ndarray:
    """As floats; an error names what is not one."""
    try:
        return np.asarray(values, dtype=float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{what}: it must hold numbers: {error}") from None


def check_names(what: str, side: str, given: list[str], wanted: list[str]) -> None:
    """Raises an error unless the names are those of the tasks, in any order."""
    repeated = next((name for i, name in enumerate(given) if name in given[:i]), None)
    if repeated is not None:
        raise ValueError(f"{what}: {repeated!r} is there twice among its {side}")
    missing = [task for task in wanted if task not in given]
    if missing:
        raise ValueError(f"{what}: there is no task {missing[0]!r} among its {side}, {_listed(given)}")
    unknown = [name for name in given if name not in wanted]
    if unknown:
        raise ValueError(f"{what}: {unknown[0]!r} of its {side} is not a task; the tasks are {_listed(wanted)}")


def in_order(what: str, value: Any, names: Sequence[Any]) -> Any:
    """A table of labels or weights with its columns in the order of these tasks: by name, if both have names. An array
    has none, a frame whose columns are only numbered neither, and a single column needs none."""
    value = foreign(value)
    if not is_frame(value):
        return value
    table = read(value)
    own, wanted = [text(name) for name in table.names], [text(name) for name in names]
    if own == wanted or len(own) < 2:
        return value
    is_numbered = [str(i) for i in range(len(own))] in (own, wanted)
    if is_numbered and not set(own) & set(wanted):
        return value
    check_names(what, "columns", own, wanted)
    return Table(list(names), [table.columns[own.index(name)] for name in wanted], table.rows)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
