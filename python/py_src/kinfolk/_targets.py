"""Labels in any form as outputs of the engine: its binary or numeric problems, the rows of Theta.

A task with numbers or with two classes is one output; a task with more classes has one output for each class. Labels
come in three forms: `single`, one task; `wide`, a table with a column for each task; `rows`, a task for each row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from . import _inputs, _native, _tables

Form = Literal["single", "wide", "rows"]


@dataclass
class Triples:
    """Input, output and label of each observation, in order."""

    input: np.ndarray
    output: np.ndarray
    label: np.ndarray

    def select(self, rows: np.ndarray) -> Triples:
        """Those of some inputs, which are numbered in the order of `rows`."""
        place = np.full(int(max(self.input.max(), rows.max())) + 1, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        input = place[self.input]
        own = np.flatnonzero(input >= 0)
        own = own[np.argsort(input[own], kind="stable")]
        return Triples(input[own].astype(np.uint32), self.output[own], self.label[own])


@dataclass
class Targets:
    """Tasks, their classes, and the outputs that they are for the engine."""

    form: Form
    tasks: np.ndarray
    """Names of the tasks, sorted, or in the order of the columns."""
    outputs: list[Any]
    """Names of the outputs: integers or strings."""
    first_output: np.ndarray
    """The first output of each task, and then the number of outputs."""
    classes: list[np.ndarray] | None = None
    """The classes of each task; None if labels are numbers."""
    triples: Triples | None = field(default=None, repr=False)
    positive_first: bool = False
    """Whether +1 is the first of two classes and not the second: in models of the command, where a word that says yes
    may be the first in the alphabet."""

    @property
    def sign(self) -> float:
        """What scores of the engine are multiplied with to be positive for the second class."""
        return -1.0 if self.positive_first else 1.0

    @property
    def one_output_each(self) -> bool:
        """Whether every task is one output."""
        return len(self.outputs) == len(self.tasks)

    def with_triples(self, triples: Triples | None) -> Targets:
        """The same tasks and classes for other labels."""
        return replace(self, triples=triples)

    def find(self, task: np.ndarray, rows: np.ndarray | None = None, cure: str = "") -> np.ndarray:
        """Positions of tasks by name. `rows` are the numbers of the rows, if they are some of many; `cure` ends the
        message if a task is not known."""
        found, known = self.places(task)
        if not known.all():
            row = int(np.flatnonzero(~known)[0])
            shown = ", ".join(map(str, self.tasks[:10])) + (", ..." if len(self.tasks) > 10 else "")
            number = row if rows is None else int(rows[row])
            raise ValueError(f"row {number}: task {task.tolist()[row]!r} is unknown; the tasks are {shown}{cure}")
        return found

    def places(self, task: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions of tasks by name, and whether there is such a task."""
        known = self.tasks
        if task.dtype.kind != known.dtype.kind:
            task, known = task.astype(str), known.astype(str)
        order = np.argsort(known)
        at = np.minimum(np.searchsorted(known, task, sorter=order), len(known) - 1)
        found: np.ndarray = order[at]
        return found.astype(np.uint32), known[found] == task


def plain(names: Iterable[Any]) -> list[Any]:
    """Names in the form that the engine takes: all integers, or all strings."""
    values = [value.item() if isinstance(value, np.generic) else value for value in names]
    if all(isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63 for value in values):
        return values
    return [str(value) for value in values]


def form_of(labels: np.ndarray, task: np.ndarray | None) -> Form:
    is_wide = labels.ndim == 2 and labels.shape[1] > 1
    if task is not None and is_wide:
        raise ValueError("task and a table y say the same thing: give one task for each row, or a column for each task")
    return "rows" if task is not None else "wide" if is_wide else "single"


def observations(n_inputs: int, targets: Targets) -> Any:
    triples = targets.triples
    assert triples is not None
    return _native.Observations.triples(n_inputs, targets.outputs, triples.input, triples.output, triples.label)


def _rows(y: Any, task: np.ndarray | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The tasks, and the position among them of the task of each row. A single task has the name of its column."""
    if task is None:
        return columns(y, 1), np.zeros(n, np.uint32)
    tasks, index = np.unique(task, return_inverse=True)
    return tasks, index.astype(np.uint32)


def columns(y: Any, width: int) -> np.ndarray:
    """Names of the columns of a table, or their numbers."""
    return np.asarray(plain(_inputs.column_names(y))) if _inputs.is_table(y) else np.arange(width)


def in_order(what: str, y: Any, tasks: np.ndarray) -> np.ndarray:
    """A table of labels as an array, with columns in the order of the tasks: by name, if they have names."""
    return _inputs.table(_tables.in_order(what, y, tasks.tolist()))


def one_column(y: Any, labels: np.ndarray) -> np.ndarray:
    """Labels of one task. A table may have one column; with an array it is a matter of a warning."""
    flat = labels.ndim == 2 and labels.shape[1] == 1 and _inputs.is_table(y)
    return labels.ravel() if flat else np.asarray(column_or_1d(labels, warn=True))


def finite(label: np.ndarray) -> np.ndarray:
    wrong = ~np.isfinite(label)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        what = "NaN" if np.isnan(label[row]) else "infinity"
        raise ValueError(f"Input y contains {what}: the label of row {row} is {label[row]}")
    return label


def present(label: np.ndarray) -> Triples:
    """The labels of a table that are not missing."""
    known = ~np.isnan(label)
    input, output = np.nonzero(known)
    return Triples(input.astype(np.uint32), output.astype(np.uint32), label[known])


def as_numbers(y: np.ndarray) -> np.ndarray:
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: labels are real numbers")
    try:
        return np.ascontiguousarray(y, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"labels must be numbers: {error}") from error


def numbers(y: Any, task: np.ndarray | None) -> Targets:
    """Targets from numbers. In a table of several tasks NaN is a missing label."""
    label = _inputs.table(y)
    form = form_of(label, task)
    if form == "wide":
        tasks, label = columns(y, label.shape[1]), as_numbers(label)
        if np.isinf(label).any():
            row, column = np.argwhere(np.isinf(label))[0]
            raise ValueError(f"Input y contains infinity: row {row}, task {tasks[column]}")
        if np.isnan(label).all():
            raise ValueError("Input y contains NaN: all labels are missing")
        return Targets(form, tasks, plain(tasks), np.arange(len(tasks) + 1), None, present(label))
    label = finite(as_numbers(one_column(y, label)))
    tasks, index = _rows(y, task, len(label))
    triples = Triples(np.arange(len(label), dtype=np.uint32), index, label)
    return Targets(form, tasks, plain(tasks), np.arange(len(tasks) + 1), None, triples)


def one_class_each(labels: np.ndarray) -> np.ndarray:
    """Labels, if each row has one class."""
    labels = np.asarray(column_or_1d(labels, warn=True))
    if labels.dtype.kind == "f":
        finite(labels)
    if labels.dtype.kind == "O":
        missing = [row for row, label in enumerate(labels) if label is None or label != label]
        if missing:
            raise ValueError(f"Input y contains NaN: the label of row {missing[0]} is {labels[missing[0]]}")
    check_classification_targets(labels)
    return labels


def classes(y: Any, task: np.ndarray | None, declared: np.ndarray | None = None) -> Targets:
    """Targets from classes. In a table of several tasks NaN and None are missing labels. `declared` are all classes
    that labels may have, if they are known beforehand."""
    labels = _inputs.table(y)
    form = form_of(labels, task)
    if form == "wide":
        if declared is not None:
            raise ValueError("classes: they are for one label in each row; for a table leave them out")
        return _wide_classes(columns(y, labels.shape[1]), labels)
    found = one_class_each(one_column(y, labels))
    if declared is None:
        everything, code = np.unique(found, return_inverse=True)
    else:
        everything, code = declared, positions(declared, found)
    tasks, index = _rows(y, task, len(code))
    if len(everything) <= 2:
        label = np.where(code == len(everything) - 1, 1.0, -1.0)
        triples = Triples(np.arange(len(code), dtype=np.uint32), index, label)
        both = [everything] * len(tasks)
        return Targets(form, tasks, plain(tasks), np.arange(len(tasks) + 1), both, triples)
    parts = []
    for t in range(len(tasks)):
        rows = np.flatnonzero(index == t)
        own, position = np.unique(code[rows], return_inverse=True)
        parts.append((rows, everything[own], position))
    return _from_parts(form, tasks, parts)


def of_model(fitted: Targets, y: Any, task: np.ndarray | None) -> Triples:
    """Labels of other rows, for the outputs of a model: a task or a class that it does not have is an error."""
    labels = _inputs.table(y)
    if fitted.form != form_of(labels, task):
        what = {"single": "one label for each row", "wide": "a table of labels", "rows": "a task for each row"}
        raise ValueError(f"y: the model was fitted with {what[fitted.form]}")
    if fitted.form == "wide":
        labels = in_order("y", y, fitted.tasks)
        check_width("y", labels, fitted.tasks)
        row, at = np.nonzero(_inputs.known(labels))
        label = labels[row, at]
    else:
        label = one_column(y, labels)
        row = np.arange(len(label))
        at = np.zeros(len(label), np.uint32) if task is None else fitted.find(task)
    if fitted.classes is None:
        number = finite(as_numbers(label))
        return Triples(row.astype(np.uint32), at.astype(np.uint32), number)
    return _of_classes(fitted, row, at, label)


def check_width(what: str, labels: np.ndarray, tasks: np.ndarray) -> None:
    """Raises an error unless a table has a column for each task."""
    if labels.ndim != 2 or labels.shape[1] != len(tasks):
        raise ValueError(f"{what} has shape {labels.shape}, expected a column for each of {len(tasks)} tasks")


def positions(classes: np.ndarray, labels: np.ndarray, rows: np.ndarray | None = None) -> np.ndarray:
    """The position of each label among the classes of a model; `rows` are the numbers of the rows, if they are some of
    many."""
    place = {value: position for position, value in enumerate(classes.tolist())}
    values = labels.tolist()
    strange = next((i for i, value in enumerate(values) if value not in place), None)
    if strange is not None:
        known = ", ".join(map(str, list(place)[:10]))
        row = strange if rows is None else rows[strange]
        raise ValueError(f"y: row {row} has the class {values[strange]!r}; those of the model are {known}")
    return np.asarray([place[value] for value in values], dtype=np.int64)


def _of_classes(fitted: Targets, row: np.ndarray, at: np.ndarray, label: np.ndarray) -> Triples:
    """Each label as signs of the outputs of its task."""
    assert fitted.classes is not None
    found = []
    for t, own in enumerate(fitted.classes):
        mine = np.flatnonzero(at == t)
        position = positions(own, label[mine], row[mine])
        first, last = fitted.first_output[t : t + 2]
        for output in range(first, last):
            positive = len(own) - 1 if last - first == 1 else output - first
            sign = fitted.sign * np.where(position == positive, 1.0, -1.0)
            found.append((row[mine].astype(np.uint32), np.full(len(mine), output, np.uint32), sign))
    return _sorted(found)


def _wide_classes(tasks: np.ndarray, table: np.ndarray) -> Targets:
    rows = [np.flatnonzero(_inputs.known(column)) for column in table.T]
    found = {}
    for t, at in enumerate(rows):
        own = table[at, t]
        if len(at):
            found[t] = one_class_each(np.asarray(own.tolist()) if own.dtype.kind == "O" else own)
    known = list(found.values())
    if not known:
        raise ValueError("Input y contains NaN: all labels are missing")
    both = _pair(known)
    # Nothing is known about a task without labels; it gets the classes of another one.
    labels = [found.get(t, known[0][:0]) for t in range(len(rows))]
    if both is not None:
        parts = [(at, both, np.searchsorted(both, own)) for at, own in zip(rows, labels, strict=True)]
    else:
        parts = [(at, *_coded(own, known[0])) for at, own in zip(rows, labels, strict=True)]
    return _from_parts("wide", tasks, parts)


def _coded(own: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The classes of a column, and which of them each row has. A column without labels has two classes of another."""
    if len(own):
        found, position = np.unique(own, return_inverse=True)
        return found, position
    return np.unique(other)[:2], np.zeros(0, np.int64)


def _pair(labels: list[np.ndarray]) -> np.ndarray | None:
    """The classes of all columns together, if they are at most two. A column in which only one of them occurs is then
    still coded like the others."""
    if len({own.dtype.kind for own in labels}) > 1:
        return None
    both = np.unique(np.concatenate(labels))
    return both if len(both) <= 2 else None


def _from_parts(form: Form, tasks: np.ndarray, parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Targets:
    """Targets from the rows of each task, its classes, and the position of each row's class."""
    names: list[Any] = []
    first, found = [0], []
    for task, (rows, own, position) in zip(tasks, parts, strict=True):
        count = len(own) if len(own) > 2 else 1
        for c in range(count):
            positive = position == (c if count > 1 else len(own) - 1)
            label = np.where(positive, 1.0, -1.0)
            found.append((rows.astype(np.uint32), np.full(len(rows), len(names), np.uint32), label))
            names.append(task if count == 1 else own[c] if form == "single" else f"{task}={own[c]}")
        first.append(len(names))
    return Targets(form, tasks, plain(names), np.asarray(first), [own for _, own, _ in parts], _sorted(found))


def _sorted(parts: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> Triples:
    """Inputs, outputs and labels of all parts, by input, so that the engine recognises a complete table."""
    input, output, label = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((output, input))
    return Triples(input[order], output[order], label[order])
