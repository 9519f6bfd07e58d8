"""Estimators of many tasks, given as a table of labels, a task column, or a task for each row."""

from __future__ import annotations

import copy
import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _checks, _far_off, _inputs, _leaks, _names, _scores, _tables, _targets
from ._base import BaseKinfolkEstimator, TrainingData, each_weight, weighted
from ._compat import with_callbacks
from ._files import SaveMixin
from ._folds import FoldKeys
from ._more_data import Kept, MoreDataMixin
from ._onnx import OnnxMixin
from ._parameters import UNKNOWN_TASK, TaskParameters
from ._report import GIVEN, TRAINING, Data, TaskReportMixin
from ._targets import Targets


_UNKNOWN = -1
"""The output of a row whose task had no labels in training."""
_NO_LABELS = "had no labels in training; unknown_task='mean' predicts what all tasks have in common"


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


class MultiTask(MoreDataMixin, SaveMixin, OnnxMixin, TaskReportMixin, TaskParameters, BaseKinfolkEstimator):
    """The part that the classifier and the regressor share."""

    _targets: Targets

    # --- reading ---

    def _read(self, X: Any, task: Any, *, reset: bool) -> tuple[Any, np.ndarray | None]:
        """Features, and the task of each row if rows have tasks."""
        if self.task_column is not None and task is not None:
            if reset or _inputs.has_column(X, self.task_column, self.n_features_in_):
                raise ValueError("task and task_column say the same thing: give one of them")
            x = self._features_only(X)
            return x, _names.task_names(task, x.shape[0])
        x, column = _inputs.checked(self, X, reset=reset, column=self.task_column)
        if column is None:
            column = task
        return x, None if column is None else _names.task_names(column, x.shape[0])

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
        X, y = _inputs.frame(X), _inputs.frame(y)
        x, names = self._read(X, task, reset=True)
        check_consistent_length(x, y)
        _leaks.warn(X, y, self.task_column)
        return self._prepare_checked(x, y, names, sample_weight)

    def _prepare_checked(self, x: Any, y: Any, task: np.ndarray | None, sample_weight: Any) -> TrainingData:
        targets = self._encode(y, task)
        losses = self._losses(targets)
        given = self._given_weights(x.shape[0], y, sample_weight)
        weight = self._output_weights(y, given, targets)
        observations = self._observations(x, targets, weight)
        triples = targets.triples
        self._targets = targets if self.keep_data else dataclasses.replace(targets, triples=None)
        self.tasks_ = targets.tasks
        self._data = Kept(x, y, task, given) if self.keep_data else None
        self._checksum = None if self._data is None else self._data.checksums()
        return TrainingData(x, observations, losses, targets.outputs, weight, triples, self._start(observations))

    def _with_keys(self, data: TrainingData, keys: FoldKeys | None) -> TrainingData:
        if self._data is not None:
            self._data = dataclasses.replace(self._data, keys=keys)
        return super()._with_keys(data, keys)

    def _observations(self, x: Any, targets: Targets, weight: np.ndarray | None) -> Any:
        observations = _targets.observations(x.shape[0], targets)
        if weight is not None:
            assert targets.triples is not None
            observations = weighted(observations, each_weight(weight, targets.triples, (0, 0)))
        return observations

    def _output_weights(self, y: Any, weight: np.ndarray | None, targets: Targets) -> np.ndarray | None:
        """One for each row, or for each row and output: a task with more classes has several outputs."""
        weight = self._weights(y, weight)
        if weight is not None and weight.ndim == 2:
            weight = np.repeat(weight, np.diff(targets.first_output), axis=1)
        return weight

    def _given_weights(self, n_rows: int, y: Any, weight: Any) -> np.ndarray | None:
        """Weights that the caller gives: one for each row, or for each label of a table."""
        if weight is None:
            return None
        labels = _inputs.table(y)
        names = _targets.columns(y, labels.shape[1]).tolist() if labels.ndim == 2 else None
        return _inputs.weights(weight, n_rows, names, lambda: _inputs.known(labels))

    def _weights(self, y: Any, weight: np.ndarray | None) -> np.ndarray | None:
        """The caller's weights, times those of classes if there are any."""
        return weight

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
        if _checks.choice("unknown_task", self.unknown_task, UNKNOWN_TASK) == "error":
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

    @property
    def _alike(self) -> bool:
        """Whether all tasks have numbers, or the same two classes: then there can be unknown ones."""
        return self._targets.one_output_each and not isinstance(getattr(self, "classes_", None), list)

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
        form = self._targets.form
        if names is None:
            return Rows(x, self._task_of_rows(x, None)) if form == "rows" else Rows(x)
        if form == "single":
            self._targets.find(names, cure="; the model was fitted without task=...")
            return Rows(x)
        if form == "wide" and not self._alike:
            return Rows(x, self._targets.find(names), names)
        return Rows(x, self._task_of_rows(x, names), names)

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
        y = _tables.in_order("y", y, self._targets.tasks.tolist()) if self._targets.form == "wide" else y
        weight = self._output_weights(y, self._given_weights(x.shape[0], y, sample_weight), targets)
        observations = self._observations(x, targets, weight)
        before = self._checksum[0] if self._has_kept_data() and self._checksum is not None else None
        is_training = before is not None and Kept(x, y, None, None).checksums()[0] == before
        return [(TRAINING if is_training else GIVEN, self._native_inputs(x), observations)]

    def _kept_data(self, given: list[Data]) -> list[Data]:
        if not self._has_kept_data() or any(name == TRAINING for name, _, _ in given):
            return []
        data = copy.copy(self)._prepare_kept(self._kept("report"))
        return [(TRAINING, self._native_inputs(data.x, training=True), data.observations)]

    def _has_kept_data(self) -> bool:
        return getattr(self, "_data", None) is not None and not getattr(self, "_has_offset", False)

    @_inputs.returns_like_x
    def score_per_task(self, X: Any, y: Any, task: Any = None) -> dict[Any, float]:
        """The score of each task, NaN if it has fewer than two labels."""
        index = self._validated(X, task).output
        prediction, truth = np.asarray(self.predict(X, task)), self._truth(y)
        if self._targets.form == "wide" and truth.ndim == 2:
            found = _scores.of_columns(self._score, truth, prediction)
            return dict(zip(self.tasks_.tolist(), found, strict=True))
        truth, scores = np.ravel(truth), dict[Any, float]()
        for t, name in enumerate(self.tasks_.tolist()):
            own = np.ones(len(truth), dtype=bool) if index is None else index == t
            scores[name] = self._score(truth[own], prediction[own], None) if own.sum() > 1 else float("nan")
        return scores

    def _truth(self, y: Any) -> np.ndarray:
        """Labels as an array; columns of a table in the order of the tasks."""
        return _scores.truth_of(y, self.tasks_) if self._targets.form == "wide" else _inputs.table(y)

    def _score(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
        raise NotImplementedError

    def _mean_score(self, X: Any, y: Any, task: Any, sample_weight: Any) -> float:
        """The score over all tasks; the mixins of scikit-learn do not know about tasks."""
        prediction, truth = np.asarray(self.predict(X, task)), self._truth(y)
        weight = _scores.weights_of(sample_weight, truth, self.tasks_)
        if self._targets.form != "wide" or prediction.ndim == 1:
            return self._score(np.ravel(truth), prediction, weight)
        return _scores.mean(_scores.of_columns(self._score, truth, prediction, weight))

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
