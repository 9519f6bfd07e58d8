"""More and fewer data for a fitted estimator: the training data are kept, and all of them are fitted again."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _folds, _inputs, _names, _targets
from ._base import TrainingData
from ._compat import with_callbacks
from ._folds import FoldKeys
from ._tables import Table
from ._targets import Targets


@dataclass(frozen=True)
class Kept:
    """Training data, as they were checked."""

    x: Any
    y: Any
    task: np.ndarray | None
    weight: np.ndarray | None
    """One for each row, or for each row and label."""
    keys: FoldKeys | None = None

    def checksums(self) -> tuple[int, int]:
        """Of what the labels are about, and of the rest."""
        return _inputs.checksum(self.x, self.y), _inputs.checksum(self.task, self.weight)


class MoreDataMixin:
    """Adds `update`, `partial_fit`, `add_task` and `remove_task` to an estimator of many tasks."""

    if TYPE_CHECKING:
        kernel: str
        model_: Any
        _targets: Targets
        _data: Kept | None
        _checksum: tuple[int, int] | None

        fit: Any
        def _read(self, X: Any, task: Any, *, reset: bool) -> tuple[Any, np.ndarray | None]: ...
        def _given_weights(self, n_rows: int, y: Any, weight: Any) -> np.ndarray | None: ...
        def _prepare_checked(self, x: Any, y: Any, task: Any, sample_weight: Any) -> TrainingData: ...
        def _with_keys(self, data: TrainingData, keys: FoldKeys | None) -> TrainingData: ...
        def _fit_engine(self, data: TrainingData) -> None: ...

    @with_callbacks
    def update(
        self, X: Any, y: Any, task: Any = None, sample_weight: Any = None, groups: Any = None, times: Any = None
    ) -> Self:
        """Adds rows of known tasks: fits all rows again, starting from the dual variables of the previous fit. The
        arguments are as for `fit`; rows without weights have the weight one, and if the fit had `groups` or `times`,
        new rows have them too."""
        return self._add_rows("update", X, y, task, sample_weight, groups, times)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        classes: Any = None,
        groups: Any = None,
        times: Any = None,
    ) -> Self:
        """The first call is `fit`, each later one `update`, in which tasks may be new: all rows so far are kept and
        fitted again, starting from the previous fit. `classes` of the first call are all that labels may have; without
        them, classes need not be known before they occur."""
        if not hasattr(self, "model_"):
            self._declare(classes)
            self.fit(X, y, task, sample_weight, groups=groups, times=times)
            return self
        return self._add_rows("partial_fit", X, y, task, sample_weight, groups, times)

    def _declare(self, classes: Any) -> None:
        """Takes note of all classes that labels may have."""

    @with_callbacks
    def add_task(
        self, X: Any, y: Any, name: Any, sample_weight: Any = None, groups: Any = None, times: Any = None
    ) -> Self:
        """Adds a task: fits all tasks again, starting from the dual variables of the previous fit.

        Parameters
        ----------
        X : array of shape (rows, features)
            Rows of the new task, without a task column.
        y : array of shape (rows,)
        name : int or str
            Name of the new task.
        sample_weight : array of shape (rows,), default=None
            Weights of the new rows; None is one for each.
        groups, times : arrays of shape (rows,), default=None
            Those of the new rows, if the fit had them.
        """
        kept = self._kept("add_task")
        form = self._targets.form
        if form == "single" and not _inputs.is_table(kept.y):
            raise ValueError("add_task: the model has one task without a name; fit with task=... or task_column=...")
        if str(name) in map(str, self._targets.tasks):
            raise ValueError(f"add_task: there is a task {name!r} already; update adds rows to it")
        new, y = self._features_only(X), _inputs.table(y)
        check_consistent_length(new, y)
        n_new = new.shape[0]
        weight = None if sample_weight is None else _inputs.weights(sample_weight, n_new)
        if form == "rows":
            labels: Any = np.concatenate([np.ravel(_inputs.table(kept.y)), np.ravel(y)])
            names = _both_names(kept.task, _names.task_names([name] * n_new, n_new))
            return self._refit("add_task", kept, new, labels, names, weight, groups, times)
        above, below = self._stackable(kept.y), self._stackable(y.reshape(-1, 1))
        fill = None if above.dtype.kind == "O" else np.nan
        above = np.column_stack([above, np.full(len(above), fill, dtype=above.dtype)])
        below = np.column_stack([np.full((len(below), above.shape[1] - 1), fill, dtype=below.dtype), below])
        if kept.weight is not None and kept.weight.ndim == 2:  # weights of missing labels do not count
            kept = dataclasses.replace(kept, weight=np.pad(kept.weight, ((0, 0), (0, 1)), constant_values=1.0))
        labels = _named(np.vstack([above, below]), [*self._targets.tasks.tolist(), name])
        return self._refit("add_task", kept, new, labels, None, weight, groups, times)

    @with_callbacks
    def remove_task(self, name: Any) -> Self:
        """Removes a task with its rows, and fits the others again."""
        kept = self._kept("remove_task")
        names = [str(own) for own in self._targets.tasks.tolist()]
        if str(name) not in names:
            raise ValueError(f"remove_task: there is no task {name!r}; the tasks are {', '.join(names[:10])}")
        if len(names) == 1:
            raise ValueError("remove_task: it is the only task")
        weight = kept.weight
        if self._targets.form == "wide":
            keep = [t for t, own in enumerate(names) if own != str(name)]
            labels: Any = _named(self._stackable(kept.y)[:, keep], self._targets.tasks[keep].tolist())
            x, keys = kept.x, kept.keys
            weight = weight[:, keep] if weight is not None and weight.ndim == 2 else weight
            if len(keep) == 1:  # a single task has no missing labels
                rows = np.flatnonzero(_inputs.known(labels.columns[0]))
                x, labels, keys = x[rows], labels[rows], _folds.of_rows(keys, rows)
                weight = None if weight is None else weight[rows]
            return self._fit_again(Kept(x, labels, None, weight, keys), carry=False)
        assert kept.task is not None
        rows = np.flatnonzero(kept.task.astype(str) != str(name))
        labels = np.ravel(_inputs.table(kept.y))[rows]
        weight = None if weight is None else weight[rows]
        keys = _folds.of_rows(kept.keys, rows)
        return self._fit_again(Kept(kept.x[rows], labels, kept.task[rows], weight, keys), carry=False)

    # --- helpers ---

    def _add_rows(
        self, what: str, X: Any, y: Any, task: Any, sample_weight: Any, groups: Any, times: Any
    ) -> Self:
        kept, y = self._kept(what), _inputs.frame(y)
        new, names = self._read(_inputs.frame(X), task, reset=False)
        check_consistent_length(new, y)
        if (names is None) != (kept.task is None):
            raise ValueError(f"{what}: the fit had a task for each row; give task=... or the task column")
        if names is not None and what == "update":
            self._targets.find(names, cure="; add_task and partial_fit take new ones")
        weight = self._given_weights(new.shape[0], y, sample_weight)
        if self._targets.form == "wide":
            below = _targets.in_order("y", y, self._targets.tasks)
            _targets.check_width("y", below, self._targets.tasks)
            both = np.vstack([self._stackable(kept.y), self._stackable(below)])
            labels: Any = _named(both, self._targets.tasks.tolist())
            return self._refit(what, kept, new, labels, None, weight, groups, times)
        labels = np.concatenate([np.ravel(_inputs.table(kept.y)), np.ravel(_inputs.table(y))])
        if _inputs.is_table(kept.y):
            labels = _named(labels.reshape(-1, 1), self._targets.tasks.tolist())
        both_names = None if names is None else _both_names(kept.task, names)
        return self._refit(what, kept, new, labels, both_names, weight, groups, times)

    def _refit(
        self,
        what: str,
        kept: Kept,
        new: Any,
        labels: Any,
        names: np.ndarray | None,
        weight: np.ndarray | None,
        groups: Any,
        times: Any,
    ) -> Self:
        """Fits the old rows and the new ones below them; labels and names are those of both."""
        if self.kernel == "precomputed":
            raise ValueError("more data need a new matrix of precomputed kernel values: call fit with it")
        n_old, n_new = kept.x.shape[0], new.shape[0]
        keys = _folds.joined(what, kept.keys, _folds.keys(groups, times, n_new))
        both = _both_weights(kept.weight, n_old, weight, n_new)
        return self._fit_again(Kept(_stacked(kept.x, new), labels, names, both, keys), carry=True)

    def _stackable(self, y: Any) -> np.ndarray:
        """Labels of a table, of a type that can hold missing ones."""
        table = _inputs.table(y)
        return _targets.as_numbers(table) if self._targets.classes is None else table.astype(object)

    def _kept(self, what: str) -> Kept:
        """The training data, if they are here and as they were."""
        check_is_fitted(self)
        if getattr(self, "_has_offset", False):
            raise ValueError(f"{what}: the fit had offsets, and the new rows have none; call fit with all rows")
        data: Kept | None = getattr(self, "_data", None)
        if data is None:
            raise ValueError(
                f"{what}: the training data are not here (keep_data=False, or a loaded model); call fit with all rows"
            )
        assert self._checksum is not None
        now = data.checksums()
        for at, names in enumerate(("X or y", "task or sample_weight")):
            if self._checksum[at] != now[at]:
                raise ValueError(f"{what}: {names} was changed after the fit, in place; call fit with all rows")
        return data

    def _features_only(self, X: Any) -> Any:
        """Rows without a task column."""
        x = _inputs.without_task(self, X)
        width = json.loads(self.model_.about)["n_features"]
        if x.shape[1] != width:
            name = type(self).__name__
            raise ValueError(f"X has {x.shape[1]} features, but {name} is expecting {width} features as input")
        return x

    def _fit_again(self, kept: Kept, *, carry: bool) -> Self:
        """Another fit, with the duals of the previous one where its rows are the first of these. If it fails, the old
        model stays."""
        old, model, before = self._targets, self.model_, dict(self.__dict__)
        try:
            data = self._prepare_kept(kept)
            data.start = _carried_over(old, model.alpha, self._targets) if carry else None
            self._fit_engine(data)
        except BaseException:
            if self.model_ is model:  # there is no new model: restore the old state
                self.__dict__.update(before)
            raise
        return self

    def _prepare_kept(self, kept: Kept) -> TrainingData:
        return self._with_keys(self._prepare_checked(kept.x, kept.y, kept.task, kept.weight), kept.keys)


def _named(table: np.ndarray, names: list[Any]) -> Table:
    return Table(names, list(table.T))


def _both_names(old: np.ndarray | None, new: np.ndarray) -> np.ndarray:
    """Tasks of old and new rows: integers if both are, else strings."""
    assert old is not None
    same = old.dtype.kind == new.dtype.kind
    return np.concatenate([old, new] if same else [old.astype(str), new.astype(str)])


def _both_weights(old: np.ndarray | None, n_old: int, new: np.ndarray | None, n_new: int) -> np.ndarray | None:
    """Weights of old and new rows, one for those without: of rows, or of rows and labels if one of them has these."""
    if old is None and new is None:
        return None
    parts = [np.ones(n) if own is None else own for own, n in ((old, n_old), (new, n_new))]
    width = max((own.shape[1] for own in parts if own.ndim == 2), default=0)
    if width:
        parts = [own if own.ndim == 2 else np.repeat(own[:, None], width, axis=1) for own in parts]
    return np.concatenate(parts)


def _stacked(x: Any, new: Any) -> Any:
    """Old rows above new ones, in the format of the old."""
    if sp.issparse(x):
        return sp.vstack([x, sp.csr_matrix(new)]).tocsr()
    return np.vstack([x, np.asarray(new.toarray() if sp.issparse(new) else new, dtype=x.dtype)])


def _carried_over(old: Targets, alpha: np.ndarray | None, new: Targets) -> np.ndarray | None:
    """Dual variables for new observations: those of the old fit where the observation was part of it, else zero.

    The old inputs are the first of the new ones."""
    if alpha is None or old.triples is None or new.triples is None:
        return None
    place = {str(name): at for at, name in enumerate(old.outputs)}
    output = np.asarray([place.get(str(name), -1) for name in new.outputs])[new.triples.output]
    old_key = old.triples.input.astype(np.int64) * len(old.outputs) + old.triples.output
    new_key = new.triples.input.astype(np.int64) * len(old.outputs) + output
    order = np.argsort(old_key)
    found = order[np.minimum(np.searchsorted(old_key, new_key, sorter=order), len(old_key) - 1)]
    return np.where((output >= 0) & (old_key[found] == new_key), alpha[found], 0.0)
