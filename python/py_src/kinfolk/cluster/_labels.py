"""Which tasks and classes there are, found shard by shard."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _inputs, _tables, _targets
from .._targets import Form


@dataclass
class SeenLabels:
    """The classes of each task that were seen."""

    form: Form | None = None
    classes: dict[Any, set[Any]] = field(default_factory=dict)
    """By task, in the order of columns if labels are a table."""
    named: bool = False
    """Whether tasks are columns with names."""

    def add(self, y: Any, task: np.ndarray | None) -> int:
        """Adds labels, and says of how many rows."""
        labels = _inputs.table(y)
        form = _targets.form_of(labels, task)
        self._check(form)
        if form == "wide":
            self.named = _inputs.is_table(y)
            known = _inputs.known(labels)
            for t, name in enumerate(_targets.columns(y, labels.shape[1]).tolist()):
                self.classes.setdefault(name, set()).update(labels[known[:, t], t].tolist())
            return len(labels)
        found = _targets.one_class_each(_targets.one_column(y, labels))
        if task is None:
            self.classes.setdefault(0, set()).update(np.unique(found).tolist())
            return len(found)
        for name in np.unique(task).tolist():
            self.classes.setdefault(name, set()).update(np.unique(found[task == name]).tolist())
        return len(found)

    def _check(self, form: Form) -> None:
        if self.form not in (None, form):
            raise ValueError("some rows have a table of labels or a task each, and others do not")
        self.form = form

    def merge(self, other: SeenLabels) -> None:
        """Adds what another shard saw."""
        if other.form is None:
            return
        self._check(other.form)
        self.named = other.named
        for name, own in other.classes.items():
            self.classes.setdefault(name, set()).update(own)

    def example(self) -> tuple[Any, np.ndarray | None]:
        """A few labels among which all are, and their tasks: they give the tasks and classes of all rows."""
        if self.form == "wide":
            longest = max((len(own) for own in self.classes.values()), default=0)
            columns = []
            for own in self.classes.values():
                values = [*_in_order(own), *[None] * (longest - len(own))]
                columns.append(np.asarray(values, dtype=object))
            return (_tables.Table(list(self.classes), columns) if self.named else np.column_stack(columns)), None
        pairs = [(name, label) for name, own in self.classes.items() for label in _in_order(own)]
        y = np.asarray([label for _, label in pairs])
        return y, np.asarray([name for name, _ in pairs]) if self.form == "rows" else None

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "form": self.form,
            "named": self.named,
            "classes": [[name, _in_order(own)] for name, own in self.classes.items()],
        }

    @staticmethod
    def of_plain(plain: dict[str, Any]) -> SeenLabels:
        return SeenLabels(plain["form"], {name: set(own) for name, own in plain["classes"]}, plain["named"])


def _in_order(classes: set[Any]) -> list[Any]:
    return sorted(classes, key=lambda value: (str(type(value)), value))
