"""Known relations between tasks: from what users have to the atoms of a specification, by the names of tasks."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _checks, _tables
from ._tables import text

KINDS = ("auto", "groups", "tree", "graph", "distance", "matrix", "features", "common", "own")
BUILT_IN = ("common", "own")


@dataclass
class Atom:
    """A known relation between tasks, whose part in Theta is learned.

    Parameters
    ----------
    data : mapping, Series, data frame, text or None
        By the names of tasks, never by their position:

        - a mapping or Series from tasks to words or whole numbers: the group of each task;
        - a frame of numbers whose rows are tasks (the index, or a column "task"): features of the tasks;
        - a square frame whose rows and columns are the same tasks: a similarity;
        - a mapping from pairs of tasks to numbers: a graph with weights;
        - a text as for the option `--atom` of the command, such as "groups=regions.csv:region".
    kind : {"auto", "groups", "tree", "graph", "distance", "matrix", "features", "common", "own"}, default="auto"
        What the data mean, if it is not the above: "tree" for paths such as "animal/cat", "distance" for a square frame
        or pairs of distances. "common" (all tasks are alike) and "own" (each is on its own) take no data.
    weight : float, default=None
        The larger, the more of Theta is put into this relation; 0 switches it off. None is 10 in a fit, and in
        `MultiTaskCV` weights are tried.
    kernel : {"rbf", "linear"}, default=None
        For features: how rows of numbers become a similarity.
    """

    data: Any = None
    kind: str = "auto"
    weight: float | None = None
    kernel: str | None = None


def tables(atoms: Any) -> list[Any]:
    """Atoms as a specification has them."""
    if atoms is None:
        return []
    if not isinstance(atoms, Mapping):
        raise TypeError(f"atoms = {atoms!r:.80}: it must be a dictionary from names to relations")
    return [_table(str(name), value) for name, value in atoms.items()]


def to_json(atoms: Any) -> str:
    return json.dumps(tables(atoms))


def _table(name: str, value: Any) -> dict[str, Any]:
    where = f"atoms[{name!r}]"
    if isinstance(value, Mapping) and isinstance(value.get("kind"), str):  # as in a specification
        return {"name": name, **value}
    if isinstance(value, (int, float)) and not isinstance(value, bool) and name in BUILT_IN:
        value = Atom(kind=name, weight=float(value))
    atom = value if isinstance(value, Atom) else Atom(value)
    kind = _checks.choice(f"{where}.kind", atom.kind, KINDS)
    data = atom.data
    if data is None and kind == "auto" and name in BUILT_IN:
        kind = name
    if isinstance(data, str):
        if data in BUILT_IN:
            kind, data = data, None
        else:
            return _of_text(where, name, data, atom)
    table: dict[str, Any] = {"name": name}
    if data is not None:
        kind, table["data"] = _relation(where, kind, data)
    elif kind not in BUILT_IN:
        raise ValueError(f"{where}: it has no data; only common and own need none")
    table["kind"] = kind
    if atom.weight is not None:
        table["weight"] = _checks.number(f"{where}.weight", atom.weight, zero=True)
    if atom.kernel is not None:
        table["kernel"] = _checks.choice(f"{where}.kernel", atom.kernel, ("rbf", "linear"))
    return table


def _of_text(where: str, name: str, data: str, atom: Atom) -> dict[str, Any]:
    """A file, as the option --atom names it."""
    kind, equals, place = data.partition("=")
    if not equals or kind not in KINDS:
        example = "KIND=FILE or KIND=FILE:COLUMN, such as groups=regions.csv:region"
        raise ValueError(f"{where} = {data!r}: expected {example}")
    table: dict[str, Any] = {"name": name, "kind": kind, "file": place}
    file, colon, column = place.rpartition(":")
    if kind in ("groups", "tree") and colon and file and column and "/" not in column and "\\" not in column:
        table |= {"file": file, "column": column}
    if not os.path.exists(table["file"]):
        raise FileNotFoundError(errno.ENOENT, f"{where}: {os.strerror(errno.ENOENT)}", table["file"])
    options = {"weight": atom.weight, "kernel": atom.kernel}
    return table | {key: value for key, value in options.items() if value is not None}


def _relation(where: str, kind: str, data: Any) -> tuple[str, dict[str, Any]]:
    """The kind of a relation, and its data by the names of tasks."""
    if _tables.is_frame(data):
        return _of_frame(where, kind, _tables.read(data))
    if hasattr(data, "items"):  # a mapping, or a Series
        return _of_pairs(where, kind, list(data.items()))
    raise TypeError(
        f"{where}: relations are given by the names of tasks, as a dictionary, Series or data frame, not as "
        f"{type(data).__name__}"
    )


def _of_pairs(where: str, kind: str, pairs: list[tuple[Any, Any]]) -> tuple[str, dict[str, Any]]:
    if not pairs:
        raise ValueError(f"{where}: it is empty")
    values = [value.item() if isinstance(value, np.generic) else value for _, value in pairs]
    if all(isinstance(key, tuple) and len(key) == 2 for key, _ in pairs):
        kind = "graph" if kind == "auto" else kind
        from_, to = [text(key[0]) for key, _ in pairs], [text(key[1]) for key, _ in pairs]
        return kind, {"from": from_, "to": to, "values": [_number(where, value) for value in values]}
    tasks = [text(key) for key, _ in pairs]
    numbers = all(isinstance(value, float) and not value.is_integer() for value in values)
    if kind == "features" or (kind == "auto" and numbers):
        return "features", {"tasks": tasks, "rows": [[_number(where, value)] for value in values]}
    if any(_tables.is_missing(value) for value in values):
        task = next(task for task, value in zip(tasks, values, strict=True) if _tables.is_missing(value))
        raise ValueError(f"{where}: the label of task {task!r} is missing; leave the task out")
    return "groups" if kind == "auto" else kind, {"tasks": tasks, "labels": [text(value) for value in values]}


def _of_frame(where: str, kind: str, table: _tables.Table) -> tuple[str, dict[str, Any]]:
    if "task" in table.names:
        tasks = [text(name) for name in table.column("task").tolist()]
        table = table.without("task")
    elif table.rows is not None:
        tasks = [text(name) for name in table.rows]
    elif kind in ("auto", "matrix", "distance") and table.shape[0] == table.shape[1]:
        tasks = [text(name) for name in table.names]
    else:
        raise ValueError(f"{where}: the rows have no names of tasks; give them as index, or as a column named task")
    names = [text(name) for name in table.names]
    if kind == "auto":
        square = sorted(names) == sorted(tasks)
        words = len(names) == 1 and table.columns[0].dtype.kind not in "f"
        kind = "matrix" if square else "groups" if words else "features"
    if kind in ("groups", "tree"):
        if len(names) != 1:
            raise ValueError(f"{where}: {kind} need one column beside the task, not {len(names)}")
        return _of_pairs(where, kind, list(zip(tasks, table.columns[0].tolist(), strict=True)))
    rows = [[_number(where, value) for value in column.tolist()] for column in table.columns]
    matrix = np.asarray(rows, dtype=float).T
    if kind in ("matrix", "distance"):
        if sorted(names) != sorted(tasks):
            raise ValueError(f"{where}: rows and columns of a {kind} are the same tasks, these are not")
        matrix = matrix[:, [names.index(task) for task in tasks]]
    return kind, {"tasks": tasks, "rows": matrix.tolist()}


def _number(where: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{where}: {value!r} is not a number") from None


def from_tables(stored: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The parameter `atoms` for the atoms of a specification."""
    return {atom["name"]: {key: value for key, value in atom.items() if key != "name"} for atom in stored} or None


def shares(model: Any) -> dict[str, float]:
    """The share of each atom in a model; what is left was found in the data."""
    return {name: share for name, _, _, share in model.atoms}
