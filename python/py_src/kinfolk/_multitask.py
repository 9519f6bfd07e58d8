"""Estimators of many tasks, given as a table of labels, a task column, or a task for each row."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _arrays, _checks, _far_off, _inputs, _leaks, _targets
from ._base import BaseKinfolkEstimator, TrainingData, each_weight
from ._compat import with_callbacks
from ._files import SaveMixin
from ._onnx import OnnxMixin
from ._parameters import TaskParameters
from ._report import GIVEN, TRAINING, Data, TaskReportMixin
from ._targets import Targets


_UNKNOWN = -1
"""The output of a row whose task had no labels in training."""
_NO_LABELS = "had no labels in training; unknown_task='mean' predicts the mean of the other tasks"


@dataclass
class Rows:
    """Rows to predict for."""

    x: Any
    output: np.ndarray | None = None
    """Position of the task of each row, or `_UNKNOWN`; None if rows have no tasks."""
    names: np.ndarray | None = None
    """The task of each row by name."""

    def first_output(self) -> np.ndarray:
        """The task of each row, where there may be only one."""
        return np.zeros(self.x.shape[0], np.uint32) if self.output is None else self.output


class MultiTask(SaveMixin, OnnxMixin, TaskReportMixin, TaskParameters, BaseKinfolkEstimator):
    """The part that the classifier and the regressor share."""

    _targets: Targets

    # --- reading ---

    def _read(self, X: Any, task: Any, *, reset: bool) -> tuple[Any, np.ndarray | None]:
        """Features, and the task of each row if rows have tasks."""
        if self.task_column is not None and task is not None:
            if reset or _inputs.has_column(X, self.task_column, self.n_features_in_):
                raise ValueError("task and task_column say the same thing: give one of them")
            x = self._features_only(X)
            return x, _inputs.task_names(task, x.shape[0])
        x, column = _inputs.checked(self, X, reset=reset, column=self.task_column)
        if column is None:
            column = task
        return x, None if column is None else _inputs.task_names(column, x.shape[0])

    def _encode(self, y: Any, task: np.ndarray | None) -> Targets:
        raise NotImplementedError

    def _losses(self, targets: Targets) -> list[str]:
        """One loss, or one for each row of Theta."""
        loss, tasks = self.loss, [str(name) for name in targets.tasks]
        if isinstance(loss, str):
            return [self._loss(loss)]
        if isinstance(loss, Mapping):
            known = {str(name): text for name, text in loss.items()}
            unknown = sorted(set(known) - set(tasks))
            if unknown:
                raise ValueError(f"loss: there is no task {unknown[0]!r}; the tasks are {', '.join(tasks[:10])}")
            of_task = [known.get(name, "auto") for name in tasks]
        elif isinstance(loss, Sequence) and all(isinstance(text, str) for text in loss):
            of_task = list(loss)
            if len(of_task) != len(tasks):
                raise ValueError(f"loss has length {len(of_task)}, expected one for each of {len(tasks)} tasks")
        else:
            raise TypeError(f"loss = {loss!r}: it must be a name, or a dictionary or list of names")
        each = [self._loss(text) for text in of_task]
        counts = np.diff(targets.first_output)
        return [text for text, count in zip(each, counts, strict=True) for _ in range(count)]

    def _loss(self, text: str) -> str:
        raise NotImplementedError

    # --- fitting ---

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
        times: Any = None,
    ) -> Self:
        """Learns all tasks together, and the relations between them.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (rows, features)
            With `task_column`, one of its columns is the task.
        y : array of shape (rows,) or (rows, tasks)
            Labels. A table has one column for each task, with NaN where a label is missing; all tasks then share the
            inputs.
        task : array of shape (rows,), default=None
            The task of each row, an integer or a string. Without it, and without a table, there is one task.
        sample_weight : array of shape (rows,), or (rows, tasks) for a table of labels, default=None
        offset : array of shape (rows,) or (rows, outputs), default=None
            A known part of each prediction, such as the prediction of another model or the logarithm of an exposure:
            the model learns the rest. Predictions and scores do not include it.
        groups : array of shape (rows,), default=None
            Groups of rows, such as patients, for `C="auto"`: rows of a group are held out together.
        times : array of shape (rows,), default=None
            Times of rows, numbers or dates, for `C="auto"`: rows are predicted from earlier ones only.
        """
        data = self._add_offset(self._prepare(X, y, task, sample_weight), offset)
        self._fit_engine(self._add_folds(data, groups, times))
        return self

    def _prepare(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> TrainingData:
        self._require_labels(y)
        y = _inputs.frame(y)
        x, names = self._read(X, task, reset=True)
        check_consistent_length(x, y)
        _leaks.warn(X, y, self.task_column)
        return self._prepare_checked(x, y, names, sample_weight)

    def _prepare_checked(self, x: Any, y: Any, task: np.ndarray | None, sample_weight: Any) -> TrainingData:
        targets = self._encode(y, task)
        losses = self._losses(targets)
        weight = self._output_weights(x, y, sample_weight, targets)
        observations = self._observations(x, targets, weight)
        triples = targets.triples
        self._targets = targets if self.keep_data else dataclasses.replace(targets, triples=None)
        self.tasks_ = targets.tasks
        self._data = (x, y, task, sample_weight) if self.keep_data else None
        self._checksum = _inputs.checksum(x, y) if self.keep_data else None
        return TrainingData(x, observations, losses, targets.outputs, weight, triples, self._start(observations))

    def _observations(self, x: Any, targets: Targets, weight: np.ndarray | None) -> Any:
        observations = _targets.observations(x.shape[0], targets)
        if weight is not None:
            assert targets.triples is not None
            observations = observations.weighted(each_weight(weight, targets.triples, (0, 0)))
        return observations

    def _output_weights(self, x: Any, y: Any, sample_weight: Any, targets: Targets) -> np.ndarray | None:
        """One for each row, or for each row and output: a task with more classes has several outputs."""
        weight = self._weights(x, y, sample_weight)
        if weight is not None and weight.ndim == 2:
            weight = np.repeat(weight, np.diff(targets.first_output), axis=1)
        return weight

    def _weights(self, x: Any, y: Any, weight: Any) -> np.ndarray | None:
        """One for each row, or for each label of a table."""
        if weight is None:
            return None
        labels = _inputs.table(y)
        return _inputs.weights(weight, x, labels.shape[1] if labels.ndim == 2 and labels.shape[1] > 1 else None)

    # --- more data ---

    @with_callbacks
    def add_task(self, X: Any, y: Any, name: Any, sample_weight: Any = None) -> Self:
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
        """
        x, y0, task, weight = self._kept("add_task")
        form = self._targets.form
        if form == "single":
            raise ValueError("add_task: the model has one task without a name; fit with task=... or task_column=...")
        if str(name) in map(str, self._targets.tasks):
            raise ValueError(f"add_task: there is a task {name!r} already; update adds rows to it")
        new, y = self._features_only(X), _inputs.table(y)
        check_consistent_length(new, y)
        weight = self._both_weights("add_task", x, weight, new, sample_weight)
        if form == "rows":
            assert task is not None
            names = _inputs.task_names([name] * new.shape[0], new.shape[0])
            if names.dtype.kind != task.dtype.kind:
                names, task = names.astype(str), task.astype(str)
            labels = np.concatenate([np.ravel(_inputs.table(y0)), np.ravel(y)])
            return self._refit(x, new, labels, np.concatenate([task, names]), weight)
        above, below = self._stackable(y0), self._stackable(y.reshape(-1, 1))
        fill = None if above.dtype.kind == "O" else np.nan
        above = np.column_stack([above, np.full(len(above), fill, dtype=above.dtype)])
        below = np.column_stack([np.full((len(below), above.shape[1] - 1), fill, dtype=below.dtype), below])
        columns = [*self._targets.tasks.tolist(), name]
        return self._refit(x, new, _NamedTable(np.vstack([above, below]), columns), None, weight)

    @with_callbacks
    def update(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> Self:
        """Adds rows of known tasks: fits all rows again, starting from the dual variables of the previous fit. The
        arguments are as for `fit`; rows without weights have the weight one."""
        x, y0, old, weight = self._kept("update")
        new, names = self._read(X, task, reset=False)
        check_consistent_length(new, y)
        weight = self._both_weights("update", x, weight, new, sample_weight)
        if (names is None) != (old is None):
            raise ValueError("update: the fit had a task for each row; give task=... or the task column")
        if names is not None:
            assert old is not None
            self._targets.find(names)
            names = np.concatenate([old, names.astype(old.dtype) if old.dtype.kind != "U" else names.astype(str)])
        if self._targets.form == "wide":
            tasks = self._targets.tasks
            if list(map(str, _targets.columns(y, len(tasks)))) != list(map(str, tasks)):
                raise ValueError("update: the columns of y are not those of the fit")
            both = np.vstack([self._stackable(y0), self._stackable(y)])
            return self._refit(x, new, _NamedTable(both, tasks.tolist()), None, weight)
        labels = np.concatenate([np.ravel(_inputs.table(y0)), np.ravel(_inputs.table(y))])
        return self._refit(x, new, labels, names, weight)

    def partial_fit(
        self, X: Any, y: Any, task: Any = None, sample_weight: Any = None, classes: Any = None
    ) -> Self:
        """The first call is `fit`, each later one `update`: all rows so far are kept and fitted again, starting from
        the previous fit. Classes need not be known before they occur: `classes` is for scikit-learn."""
        if not hasattr(self, "model_"):
            return self.fit(X, y, task, sample_weight)
        return self.update(X, y, task, sample_weight)

    @with_callbacks
    def remove_task(self, name: Any) -> Self:
        """Removes a task with its rows, and fits the others again."""
        x, y0, task, weight = self._kept("remove_task")
        names = [str(own) for own in self._targets.tasks.tolist()]
        if str(name) not in names:
            raise ValueError(f"remove_task: there is no task {name!r}; the tasks are {', '.join(names[:10])}")
        if len(names) == 1:
            raise ValueError("remove_task: it is the only task")
        at, table, each = names.index(str(name)), _inputs.table(y0), self._row_weights(weight)
        if self._targets.form == "wide":
            keep = [t for t in range(len(names)) if t != at]
            labels: Any = _NamedTable(self._stackable(y0)[:, keep], self._targets.tasks[keep].tolist())
            each = each[:, keep] if each is not None and each.ndim == 2 else each
            return self._fit_again(x, labels, None, each, carry=False)
        rows = np.flatnonzero(task.astype(str) != str(name))
        each = None if each is None else each[rows]
        return self._fit_again(x[rows], np.ravel(table)[rows], task[rows], each, carry=False)

    @staticmethod
    def _row_weights(weight: Any) -> np.ndarray | None:
        return None if weight is None else np.asarray(weight, dtype=np.float64)

    def _both_weights(self, what: str, x: Any, weight: Any, new: Any, more: Any) -> np.ndarray | None:
        """Weights of old and new rows."""
        if weight is None and more is None:
            return None
        old = np.ones(x.shape[0]) if weight is None else np.asarray(weight, dtype=np.float64)
        if old.ndim == 0:
            old = np.full(x.shape[0], float(old))
        if old.ndim == 2:
            raise ValueError(f"{what}: the fit had a weight for each label; call fit with all rows")
        return np.concatenate([old, _inputs.weights(1.0 if more is None else more, new, None)])

    def _stackable(self, y: Any) -> np.ndarray:
        """Labels of a table, of a type that can hold missing ones."""
        table = _inputs.table(y)
        return _targets.as_numbers(table) if self._targets.classes is None else table.astype(object)

    def _kept(self, what: str) -> Any:
        check_is_fitted(self)
        if getattr(self, "_has_offset", False):
            raise ValueError(f"{what}: the fit had offsets, and the new rows have none; call fit with all rows")
        data = getattr(self, "_data", None)
        if data is None:
            raise ValueError(
                f"{what}: the training data are not here (keep_data=False, or a loaded model); call fit with all rows"
            )
        if self._checksum != _inputs.checksum(data[0], data[1]):
            raise ValueError(f"{what}: X or y was changed after the fit, in place; call fit with all rows")
        return data

    def _features_only(self, X: Any) -> Any:
        """Rows without a task column."""
        x = _inputs.features(self, X)
        width = json.loads(self.model_.about)["n_features"]
        if x.shape[1] != width:
            name = type(self).__name__
            raise ValueError(f"X has {x.shape[1]} features, but {name} is expecting {width} features as input")
        return x

    def _refit(self, x: Any, new: Any, y: Any, task: np.ndarray | None, weight: np.ndarray | None) -> Self:
        if self.kernel == "precomputed":
            raise ValueError("more data need a new matrix of precomputed kernel values: call fit with it")
        return self._fit_again(_stacked(x, new), y, task, weight, carry=True)

    def _fit_again(self, rows: Any, y: Any, task: Any, weight: np.ndarray | None, *, carry: bool) -> Self:
        """Another fit, with the duals of the previous one where its rows are the first of these. If it fails, the old
        model stays."""
        old, model, before = self._targets, self.model_, dict(self.__dict__)
        try:
            data = self._prepare_checked(rows, y, task, weight)
            data.start = _carried_over(old, model.alpha, self._targets) if carry else None
            self._fit_engine(data)
        except BaseException:
            if self.model_ is model:  # there is no new model: restore the old state
                self.__dict__.update(before)
            raise
        return self

    # --- predicting ---

    def _task_of_rows(self, x: Any, task: np.ndarray | None) -> np.ndarray:
        if task is None:
            raise ValueError(
                "the model has several tasks: say which one each row belongs to, with task=... or in the task column"
            )
        empty = self._empty_outputs()
        found, known = self._targets.places(task)
        learned = known & ~np.isin(found, empty)
        strangers = dict.fromkeys(task[~learned].tolist())
        if _checks.choice("unknown_task", self.unknown_task, ("error", "mean")) == "error":
            for name in strangers:  # atoms of the model may relate it to others
                if self._borrowed(x[:1], name) is None:
                    own = task == name
                    cure = '; unknown_task="mean" predicts what all tasks have in common'
                    self._targets.find(task[own], np.flatnonzero(own), cure)
                    row = int(np.flatnonzero(own)[0])
                    raise ValueError(f"row {row}: task {name!r} {_NO_LABELS}")
        if strangers and not (self._targets.one_output_each and getattr(self, "calibrate", None) is None):
            raise ValueError("tasks without labels are predicted for numbers and for two classes, without calibrate")
        return np.where(learned, found.astype(np.int64), _UNKNOWN)

    def _borrowed(self, x: Any, name: Any) -> np.ndarray | None:
        """Scores of a task without labels, from the tasks that known relations (`atoms`) say are like it."""
        if not self.model_.atoms or not self._targets.one_output_each:
            return None
        scores: np.ndarray | None = self.model_.predict_new(self._native_inputs(x), str(name))
        return scores

    def _stranger_scores(self, x: Any, names: np.ndarray | None, scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The scores with those of rows whose tasks had no labels."""
        scores = np.array(scores)
        for name in dict.fromkeys([] if names is None else names[rows].tolist()):
            own = rows[names[rows] == name] if names is not None else rows
            found = self._borrowed(x[own], name)
            scores[own] = self.model_.predict_mean(self._native_inputs(x[own])) if found is None else found
        return scores

    def _empty_outputs(self) -> list[int]:
        """Outputs without training labels. Tasks of several outputs have labels for all of them, or none."""
        empty: list[int] = json.loads(self.model_.about).get("empty_tasks") or []
        return empty if self._targets.one_output_each or self._targets.form == "wide" else []

    def _validated(self, X: Any, task: Any) -> Rows:
        """Features, and the task of each row if the model needs one. For a model of a table, a task of each row is the
        column that is asked for."""
        check_is_fitted(self)
        x, names = self._read(X, task, reset=False)
        if self._targets.form == "rows":
            return Rows(x, self._task_of_rows(x, names), names)
        if names is None:
            return Rows(x)
        if self._targets.form == "single":
            raise ValueError("task: the model has one task without a name")
        return Rows(x, self._targets.find(names), names)

    def _decision_matrix(self, rows: Rows, *, all_outputs: bool) -> np.ndarray:
        """Scores of the task of each row, or of all outputs: (rows, outputs)."""
        native = self._native_inputs(rows.x)
        _far_off.warn(self, native)
        scores: np.ndarray
        if all_outputs:
            scores = self.model_.predict_all(native)
            for t in self._empty_outputs():
                own = self._borrowed(rows.x, self._targets.outputs[t])
                task = int(np.searchsorted(self._targets.first_output, t, side="right")) - 1
                is_asked = rows.output is None or task in rows.output
                if own is None and is_asked and self.unknown_task == "error":
                    raise ValueError(f"task {self.tasks_.tolist()[task]!r} {_NO_LABELS}")
                scores[:, t] = self.model_.predict_mean(native) if own is None else own
            return scores
        output = rows.first_output()
        unknown = np.flatnonzero(output == _UNKNOWN)
        scores = self.model_.predict(native, np.where(output == _UNKNOWN, 0, output).astype(np.uint32))
        return self._stranger_scores(rows.x, rows.names, scores, unknown) if len(unknown) else scores

    # --- results ---

    def _report_data(self, X: Any, y: Any, task: Any, sample_weight: Any) -> list[Data]:
        x, names = self._read(X, task, reset=False)
        y = _inputs.frame(y)
        check_consistent_length(x, y)
        triples = _targets.of_model(self._targets, y, names)
        targets = dataclasses.replace(self._targets, triples=triples)
        observations = self._observations(x, targets, self._output_weights(x, y, sample_weight, targets))
        is_training = self._has_kept_data() and _inputs.checksum(x, y) == self._checksum
        return [(TRAINING if is_training else GIVEN, self._native_inputs(x), observations)]

    def _kept_data(self, given: list[Data]) -> list[Data]:
        if not self._has_kept_data() or any(name == TRAINING for name, _, _ in given):
            return []
        data = copy.copy(self)._prepare_checked(*self._kept("report"))
        return [(TRAINING, self._native_inputs(data.x, training=True), data.observations)]

    def _has_kept_data(self) -> bool:
        return getattr(self, "_data", None) is not None and not getattr(self, "_has_offset", False)

    @_arrays.returns_like_x
    def score_per_task(self, X: Any, y: Any, task: Any = None) -> dict[Any, float]:
        """The score of each task, NaN if it has fewer than two labels."""
        index = self._validated(X, task).output
        prediction, truth = np.asarray(self.predict(X, task)), _inputs.table(y)
        if self._targets.form == "wide" and truth.ndim == 2:
            return dict(zip(self.tasks_.tolist(), self._column_scores(truth, prediction, None), strict=True))
        truth, scores = np.ravel(truth), dict[Any, float]()
        for t, name in enumerate(self.tasks_.tolist()):
            own = np.ones(len(truth), dtype=bool) if index is None else index == t
            scores[name] = self._score(truth[own], prediction[own], None) if own.sum() > 1 else float("nan")
        return scores

    def _column_scores(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> list[float]:
        scores = []
        for t in range(truth.shape[1]):
            own = _inputs.known(truth[:, t])
            part = None if weight is None else weight[own]
            scores.append(self._score(truth[own, t], guess[own, t], part) if own.sum() > 1 else float("nan"))
        return scores

    def _score(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
        raise NotImplementedError

    def _mean_score(self, X: Any, y: Any, task: Any, sample_weight: Any) -> float:
        """The score over all tasks; the mixins of scikit-learn do not know about tasks."""
        prediction, truth = np.asarray(self.predict(X, task)), _inputs.table(y)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if self._targets.form != "wide" or prediction.ndim == 1:
            return self._score(np.ravel(truth), prediction, weight)
        scores = [score for score in self._column_scores(truth, prediction, weight) if np.isfinite(score)]
        return float(np.mean(scores)) if scores else float("nan")

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy that can be updated: it shares the training data and the model, which are never changed."""
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        for name, value in self.__dict__.items():
            new.__dict__[name] = value if name in ("_data", "model_") else copy.deepcopy(value, memo)
        return new

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_data", None)
        state.pop("_held_out", None)
        targets = state.get("_targets")
        if targets is not None:
            names = [field.name for field in dataclasses.fields(targets) if field.name != "triples"]
            state["_targets"] = {name: getattr(targets, name) for name in names}
        return state

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        targets: Any = self.__dict__.get("_targets")
        if isinstance(targets, dict):
            self._targets = Targets(**targets)


class _NamedTable(np.ndarray):
    """A table with column names."""

    columns: list[Any]

    def __new__(cls, table: np.ndarray, columns: list[Any]) -> _NamedTable:
        named = table.view(cls)
        named.columns = columns
        return named


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
