"""Rows as they come, in arrays or in frames, as features and observations of the engine."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.validation import check_consistent_length

from . import _inputs, _names, _tables, _targets
from ._base import each_weight
from ._targets import Targets


@dataclass
class RowReader:
    """Which columns of frames are labels, tasks and weights, and what labels mean."""

    target: str | list[str] | None = None
    task: str | None = None
    weight: str | None = None
    classes: Targets | None = None
    """Tasks and their classes; None if labels are numbers."""

    def columns(self) -> dict[str, Any]:
        """The arguments of another reader of numbers."""
        return {name: value for name, value in asdict(self).items() if name != "classes"}

    def used_columns(self) -> list[str]:
        """The columns of frames that are no features."""
        labels = [self.target] if isinstance(self.target, str) else list(self.target or [])
        return list(dict.fromkeys([*labels, *(own for own in (self.task, self.weight) if own is not None)]))

    def read(self, X: Any, y: Any = None, task: Any = None, weight: Any = None, offset: Any = None) -> ReadRows:
        """Some rows. The arguments are those of `Statistics.update`."""
        X, y, column, weight = self.parts(X, y, task, weight)
        names = [str(name) for name in _inputs.column_names(X)] if _inputs.is_table(X) else None
        x = check_array(np.asarray(X) if isinstance(X, _tables.Table) else X, input_name="X", **_inputs._FORM)
        check_consistent_length(x, y)
        if self.classes is None:
            targets = _targets.numbers(y, column)
        else:
            targets = self.classes.with_triples(_targets.of_model(self.classes, y, column))
        labels = _inputs.table(y)
        wide = labels.ndim == 2 and labels.shape[1] > 1
        tasks = _targets.columns(y, labels.shape[1]).tolist() if wide else None
        each = None if weight is None else _inputs.weights(weight, len(labels), tasks, lambda: _inputs.known(labels))
        return ReadRows(x, names, targets, each, offset)

    def parts(
        self, X: Any, y: Any = None, task: Any = None, weight: Any = None
    ) -> tuple[Any, Any, np.ndarray | None, Any]:
        """Features, labels, the task of each row, and weights."""
        X = _inputs.frame(_as_table(X))
        if self.target is not None:
            if y is not None:
                raise ValueError("y: the labels are in the columns that target names")
            X, y, task, weight = self._split(X, task, weight)
        if y is None:
            raise ValueError("a batch of rows requires y, or target, the column of X with the labels")
        y = _inputs.frame(y)
        return X, y, None if task is None else _names.task_names(task, len(_inputs.table(y))), weight

    def _split(self, X: Any, task: Any, weight: Any) -> tuple[Any, Any, Any, Any]:
        """A frame without the columns of labels, tasks and weights, and these."""
        if not _inputs.is_table(X):
            raise ValueError("X: with target, rows come in frames with named columns")
        table = _tables.read(X)
        for name in self.used_columns():
            if name not in table.names:
                raise ValueError(f"X has no column {name!r}, but {', '.join(map(str, table.names[:10]))}")
        if isinstance(self.target, str):
            y: Any = table.column(self.target)
        else:
            y = _tables.Table(list(self.target or []), [table.column(name) for name in self.target or []])
        task = table.column(self.task) if self.task is not None else task
        weight = table.column(self.weight) if self.weight is not None else weight
        for used in self.used_columns():
            table = table.without(used)
        return table, y, task, weight


@dataclass
class ReadRows:
    """Rows that were read."""

    x: Any
    names: list[str] | None
    """Names of the features, if they have any."""
    targets: Targets
    weight: np.ndarray | None
    offset: Any

    def inputs(self) -> Any:
        """Features as the engine takes them."""
        return _inputs.native(self.x)

    def observations(self) -> Any:
        """Labels as the engine takes them."""
        observations, triples = _targets.observations(self.x.shape[0], self.targets), self.targets.triples
        assert triples is not None
        if self.weight is not None:
            observations = observations.weighted(each_weight(self.weight, triples, (0, 0)))
        if self.offset is not None:
            each = np.asarray(self.offset, dtype=np.float64)
            if each.shape != (self.x.shape[0],):
                raise ValueError(f"offset has shape {each.shape}, expected {(self.x.shape[0],)}")
            observations = observations.with_offsets(np.ascontiguousarray(each[triples.input]))
        return observations


def _as_table(x: Any) -> Any:
    """Record batches of pyarrow as tables."""
    if type(x).__name__ == "RecordBatch" and type(x).__module__.startswith("pyarrow"):
        import pyarrow as pa

        return pa.Table.from_batches([x])
    return x
