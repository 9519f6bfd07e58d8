"""Classification in many tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from . import _calibration, _checks, _inputs, _native, _targets
from ._base import TrainingData
from ._compat import available_if
from ._multitask import MultiTask, Rows
from ._parameters import ClassParameters, documented
from ._targets import Targets


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class MultiTaskClassifier(ClassifierMixin, ClassParameters, MultiTask):  # type: ignore[misc]
    """Classification in many related tasks, learned together with the relations between them.

    A task with two classes is one row of `theta_`; a task with more classes has a row for each class.

    Examples
    --------
    >>> import numpy as np
    >>> from kinfolk import MultiTaskClassifier
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(80, 5)), np.repeat([3, 8], 40)
    >>> y = np.where(X @ [1.0, 2.0, 0.0, 0.0, 1.0] > 0, "yes", "no")
    >>> model = MultiTaskClassifier().fit(X, y, task=task)
    >>> model.predict(X[:2], task=[3, 8]).tolist() == y[:2].tolist()
    True
    """

    AUTO_LOSS = "logistic"

    def _declare(self, classes: Any) -> None:
        self._to_declare = None if classes is None else np.unique(np.asarray(classes))

    def _prepare(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> TrainingData:
        # All classes that labels may have, if `partial_fit` was told; another fit knows nothing of them.
        self._declared: np.ndarray | None = self.__dict__.pop("_to_declare", None)
        return super()._prepare(X, y, task, sample_weight)

    def _encode(self, y: Any, task: np.ndarray | None) -> Targets:
        return _targets.classes(y, task, getattr(self, "_declared", None))

    def _loss(self, text: str) -> str:
        text = self.AUTO_LOSS if text == "auto" else text
        _native.is_classification(text)  # raises an error if there is no such loss
        return text

    def _prepare_checked(self, x: Any, y: Any, task: np.ndarray | None, sample_weight: Any) -> TrainingData:
        data = super()._prepare_checked(x, y, task, sample_weight)
        self._store_classes()
        return data

    def _store_classes(self) -> None:
        classes = self._targets.classes
        assert classes is not None
        # One array of classes for a table too, if its columns have the same classes.
        same = all(np.array_equal(own, classes[0]) for own in classes)
        by_column = self._targets.form == "wide" and not same
        declared = getattr(self, "_declared", None)
        found = np.unique(np.concatenate(classes)) if declared is None else declared
        self.classes_: Any = classes if by_column else found

    def _label_targets(self, y: Any, task: np.ndarray | None) -> Targets:
        """Tasks and classes, from labels among which all of them are."""
        self._declared = None
        return _targets.classes(y, task)

    def _store_targets(self, targets: Targets) -> list[str]:
        self._targets, self.tasks_ = targets.with_triples(None), targets.tasks
        self._store_classes()
        return self._losses(targets)

    def _weights(self, y: Any, weight: np.ndarray | None) -> np.ndarray | None:
        if not isinstance(self.class_weight, Mapping):
            return weight
        labels = _inputs.table(y)
        if labels.ndim == 2 and labels.shape[1] > 1:
            raise ValueError("class_weight: a dictionary needs one class per row; for a table of labels use 'balanced'")
        own = np.asarray([float(self.class_weight.get(label, 1.0)) for label in labels.ravel().tolist()])
        return own if weight is None else own * weight

    # --- probabilities ---

    def _after_fit(self, data: TrainingData) -> None:
        if self.calibrate is not None:
            _checks.choice("calibrate", self.calibrate, ("sigmoid",))
            assert data.triples is not None
            self.calibration_ = _calibration.cross_fitted(self, data)

    @available_if(_calibration.has_probabilities)
    @_inputs.returns_like_x
    def predict_proba(self, X: Any, task: Any = None) -> Any:
        """Probabilities of `classes_`, for the logistic loss or with `calibrate`.

        If the labels were a table and no task is given: an array (rows, tasks) with the probability of the second class
        if all tasks have the same two classes, else a list with an array for each task. With more than two classes,
        probabilities of each class against the others are divided by their sum."""
        rows = self._validated(X, task)
        wide, targets = self._targets.form == "wide", self._targets
        same = isinstance(self.classes_, np.ndarray)
        if same and len(self.classes_) == 2:
            yes = expit(self._scores(rows, all_outputs=wide and rows.output is None))
            return yes if yes.ndim == 2 else np.column_stack([1 - yes, yes])
        scores = expit(self._scores(rows, all_outputs=True))
        tables = [self._probabilities(scores, t) for t in range(len(self.tasks_))]
        if not wide:
            return self._spread(tables, rows.output, 0.0)
        if rows.output is None:
            return tables
        return tables[self._one_task(rows, targets)]

    @available_if(_calibration.has_probabilities)
    @_inputs.returns_like_x
    def predict_log_proba(self, X: Any, task: Any = None) -> Any:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            found = self.predict_proba(X, task)
            return [np.log(own) for own in found] if isinstance(found, list) else np.log(found)

    def _one_task(self, rows: Rows, targets: Targets) -> int:
        """The task of all rows, where tasks have different classes."""
        assert rows.output is not None
        if len(set(rows.output.tolist())) != 1:
            raise ValueError("task: the tasks have different classes; ask for one of them at a time")
        return int(rows.output[0])

    def _probabilities(self, yes: np.ndarray, task: int) -> np.ndarray:
        """Probabilities of the classes of a task."""
        assert self._targets.classes is not None
        first, last = self._targets.first_output[task : task + 2]
        own, count = yes[:, first:last], len(self._targets.classes[task])
        if count == 1:
            return np.ones((len(yes), 1))
        if last - first == 1:
            return np.column_stack([1 - own[:, 0], own[:, 0]])
        return _calibration.normalised(own)

    @property
    def _sign(self) -> float:
        return self._targets.sign

    # --- predicting ---

    def _spread(self, tables: list[np.ndarray], index: np.ndarray | None, empty: float) -> np.ndarray:
        """From columns of each task's classes to columns of all classes."""
        assert self._targets.classes is not None
        out = np.full((len(tables[0]), len(self.classes_)), empty)
        for t, table in enumerate(tables):
            rows = np.arange(len(table)) if index is None else np.flatnonzero(index == t)
            columns = np.searchsorted(self.classes_, self._targets.classes[t])
            out[np.ix_(rows, columns)] = table[rows]
        return out

    def _scores(self, rows: Rows, *, all_outputs: bool) -> np.ndarray:
        """Scores; log-odds if the model is calibrated, so that scores and probabilities choose the same class."""
        scores = self._targets.sign * self._decision_matrix(rows, all_outputs=all_outputs)
        sigmoids = getattr(self, "calibration_", None)
        if sigmoids is None:
            return scores
        return _calibration.log_odds(sigmoids if all_outputs else sigmoids[rows.first_output()], scores)

    def _class_scores(self, scores: np.ndarray, task: int) -> np.ndarray:
        """A score for each class of a task."""
        assert self._targets.classes is not None
        first, last = self._targets.first_output[task : task + 2]
        own, count = scores[:, first:last], len(self._targets.classes[task])
        return np.column_stack([-own[:, 0], own[:, 0]]) if last - first == 1 and count == 2 else own

    @_inputs.returns_like_x
    def decision_function(self, X: Any, task: Any = None) -> Any:
        """Scores; log-odds with `calibrate`.

        With two classes one score for each row, positive for the second class. With more classes an array with a column
        for each of `classes_`, -inf for classes that the task of the row does not have. If the labels were a table, an
        array with a column for each task, or a list of such arrays if some tasks have more classes."""
        rows, targets = self._validated(X, task), self._targets
        if targets.form == "wide" and not (targets.one_output_each and rows.output is not None):
            scores = self._scores(rows, all_outputs=True)
            if targets.one_output_each:
                return scores
            bounds = zip(targets.first_output, targets.first_output[1:], strict=False)
            found = [scores[:, a] if b - a == 1 else scores[:, a:b] for a, b in bounds]
            return found if rows.output is None else found[self._one_task(rows, targets)]
        if targets.form == "wide" or len(self.classes_) <= 2:
            return self._scores(rows, all_outputs=False)
        scores = self._scores(rows, all_outputs=True)
        own = [self._class_scores(scores, t) for t in range(len(targets.tasks))]
        return self._spread(own, rows.output, -np.inf)

    @_inputs.returns_like_x
    def predict(self, X: Any, task: Any = None) -> np.ndarray:
        """Classes for the task of each row. `task` is one task for all rows, or one for each. Without it, a model whose
        labels were a table predicts all of them: (rows, tasks)."""
        check_is_fitted(self)
        targets = self._targets
        if targets.form == "wide" and (task is None or not self._alike):
            rows = self._validated(X, task)
            scores = self._scores(rows, all_outputs=True)
            assert targets.classes is not None
            columns = [own[self._best(scores, t)] for t, own in enumerate(targets.classes)]
            if rows.output is not None and len(set(rows.output.tolist())) == 1:
                return np.asarray(columns[int(rows.output[0])])
            table = np.column_stack(columns) if len({c.dtype.kind for c in columns}) == 1 else _mixed(columns)
            return table if rows.output is None else np.asarray(table[np.arange(len(table)), rows.output])
        scores = self.decision_function(X, task)
        if len(self.classes_) == 1:
            return np.full(len(scores), self.classes_[0])
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _best(self, scores: np.ndarray, task: int) -> np.ndarray:
        assert self._targets.classes is not None
        if len(self._targets.classes[task]) == 1:
            return np.zeros(len(scores), int)
        best: np.ndarray = self._class_scores(scores, task).argmax(axis=1)
        return best

    @_inputs.returns_like_x
    def score(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> float:
        """Accuracy over all rows; for a table, the mean over its columns."""
        return self._mean_score(X, y, task, sample_weight)

    def _score(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
        # As lists, columns of a table of objects have their own type again.
        return float(accuracy_score(truth.tolist(), guess.tolist(), sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        return tags


def _mixed(columns: list[np.ndarray]) -> np.ndarray:
    table = np.empty((len(columns[0]), len(columns)), dtype=object)
    for t, column in enumerate(columns):
        table[:, t] = column
    return table
