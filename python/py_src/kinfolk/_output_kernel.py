"""Estimators whose tasks are classes, or outputs: every input has a label for every task."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _calibration, _checks, _far_off, _inputs, _leaks, _native, _scores, _tables, _targets, _warnings
from ._base import BaseKinfolkEstimator, TrainingData, each_weight, weighted
from ._compat import available_if, with_callbacks
from ._engine import numeric_loss
from ._files import SaveMixin
from ._intervals import IntervalMixin
from ._onnx import OnnxMixin
from ._parameters import ClassParameters, NumberParameters, documented
from ._report import GIVEN, Data, ReportMixin
from ._statistics import Statistics, StatisticsMixin


class OutputKernel(SaveMixin, OnnxMixin, ReportMixin, BaseKinfolkEstimator):
    """The part that both estimators share."""

    tasks_: np.ndarray

    def _loss(self) -> str:
        if not isinstance(self.loss, str):
            raise TypeError(f"loss = {self.loss!r}: it must be the name of a loss")
        return self.AUTO_LOSS if self.loss == "auto" else self.loss

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
        times: Any = None,
    ) -> Self:
        """Learns all outputs, y of shape (rows, outputs), or (rows,) for one; or all classes, y of shape (rows,).

        `offset`, of shape (rows,) or (rows, outputs or classes), is a known part of each prediction: the model learns
        the rest. Predictions and scores do not include it.

        `groups` and `times` of rows are for `C="auto"`: rows of a group are held out together, or rows are predicted
        from earlier ones only."""
        data = self._add_offset(self._prepare(X, y, None, sample_weight), offset)
        self._fit_engine(self._add_folds(data, groups, times))
        return self

    def _prepare(self, X: Any, y: Any, task: None = None, sample_weight: Any = None) -> TrainingData:
        self._require_labels(y)
        X, y = _inputs.frame(X), _inputs.frame(y)
        x, _ = _inputs.checked(self, X, reset=True)
        check_consistent_length(x, y)
        _leaks.warn(X, y)
        observations, weight, triples = self._encode(y)
        names = _targets.plain(self.tasks_)
        weight = self._row_weights(y, weight, sample_weight)
        if weight is not None:
            observations = weighted(observations, each_weight(weight, triples, (x.shape[0], len(names))))
        return TrainingData(x, observations, [self._loss()], names, weight, triples, self._start(observations))

    def _row_weights(self, y: Any, weight: np.ndarray | None, sample_weight: Any) -> np.ndarray | None:
        """The caller's weights times those of classes."""
        if sample_weight is None:
            return weight
        labels = _inputs.table(y)
        names = self.tasks_.tolist() if self._takes_tables() else None
        given = _inputs.weights(sample_weight, len(labels), names, lambda: _inputs.known(labels))
        return given if weight is None else (weight if given.ndim == 1 else weight[:, None]) * given

    def _report_data(self, X: Any, y: Any, task: Any, sample_weight: Any) -> list[Data]:
        if task is not None:
            raise ValueError("task: rows of this estimator have no tasks")
        y = _inputs.frame(y)
        if self._takes_tables():
            y = _tables.in_order("y", y, self.tasks_.tolist())
        x, _ = _inputs.checked(self, X, reset=False)
        check_consistent_length(x, y)
        other = copy.copy(self)  # it reads the labels, and the model stays as it is
        observations, weight, triples = other._encode(y, fitted=True)
        if len(other.tasks_) != len(self.tasks_):
            raise ValueError(f"y has {len(other.tasks_)} columns, the model has {len(self.tasks_)}")
        weight = self._row_weights(y, weight, sample_weight)
        if weight is not None:
            observations = weighted(observations, each_weight(weight, triples, (x.shape[0], len(self.tasks_))))
        return [(GIVEN, self._native_inputs(x), observations)]

    def _takes_tables(self) -> bool:
        """Whether each label may have its own weight."""
        raise NotImplementedError

    def _encode(self, y: Any, *, fitted: bool = False) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        """Observations, weights of rows, and the observations as arrays where calibration needs them. `fitted`: the
        classes are those of the model."""
        raise NotImplementedError

    def _decision_matrix(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        x, _ = _inputs.checked(self, X, reset=False)
        native = self._native_inputs(x)
        _far_off.warn(self, native)
        scores: np.ndarray = self.model_.predict_all(native)
        empty = json.loads(self.model_.about).get("empty_tasks") or []
        if empty:
            names = ", ".join(str(self.tasks_[t]) for t in empty[:10])
            text = f"nothing is known about columns of y without labels in training, their scores are NaN: {names}"
            _warnings.warn(text)
            scores[:, empty] = np.nan
        return scores


def _r2(truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
    return float(r2_score(truth, guess, sample_weight=weight))


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class OutputKernelRegressor(
    RegressorMixin,  # type: ignore[misc]
    NumberParameters,
    StatisticsMixin,
    IntervalMixin,
    OutputKernel,
):
    """Regression of several outputs, learned together with the relations between them.

    Labels of a table may be missing (NaN).

    Examples
    --------
    >>> import numpy as np
    >>> from kinfolk import OutputKernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(50, 4))
    >>> Y = X @ rng.normal(size=(4, 3))
    >>> OutputKernelRegressor(C=1e4).fit(X, Y).predict(X).shape
    (50, 3)
    """

    AUTO_LOSS = "squared"

    def _loss(self) -> str:
        return numeric_loss(super()._loss())

    def _encode(self, y: Any, *, fitted: bool = False) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        table = _inputs.table(y)
        names = _targets.columns(y, table.shape[1]) if table.ndim == 2 else np.asarray([0])
        label = _targets.as_numbers(table)
        if label.ndim > 2 or label.ndim == 0:
            raise ValueError(f"y should be a 1d array or a 2d table, got an array of shape {label.shape} instead.")
        self._flat = label.ndim == 1
        if label.ndim == 1 or label.shape[1] == 1:
            _targets.finite(label.ravel())
        elif np.isinf(label).any():
            row, column = np.argwhere(np.isinf(label))[0]
            raise ValueError(f"Input y contains infinity: row {row}, column {names[column]}")
        elif np.isnan(label).all():
            raise ValueError("Input y contains NaN: all labels are missing")
        self.tasks_ = names
        triples = _targets.present(label) if np.isnan(label).any() else None
        return _native.Observations.table(_targets.plain(names), label.reshape(len(label), -1)), None, triples

    def _takes_tables(self) -> bool:
        return not self._flat

    def _store_targets(self, targets: _targets.Targets) -> list[str]:
        if targets.form == "rows":
            raise ValueError("fit_statistics: these statistics have a task for each row; use MultiTaskRegressor")
        self.tasks_, self._flat = targets.tasks, targets.form == "single"
        return [self._loss()]

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Adds rows to statistics and fits all rows so far again: exact, in constant memory. For the squared loss and
        the linear kernel."""
        self._require_labels(y)
        first = not hasattr(self, "_statistics")
        statistics = Statistics(memory=self.memory, n_jobs=self.n_jobs) if first else self._statistics.copy()
        x, _ = _inputs.checked(self, X, reset=first)
        statistics.update(x, y, sample_weight=sample_weight)
        losses = self._store_targets(statistics._targets())
        self._fit_native_statistics(statistics._native, losses, statistics.tasks)
        self._statistics = statistics
        return self

    @_inputs.returns_like_x
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Explained variance (R2), the mean over the columns of a table; missing labels do not count."""
        if self._flat:
            return float(super().score(X, _inputs.table(y), sample_weight))
        truth, guess = _targets.as_numbers(_scores.truth_of(y, self.tasks_)), self.predict(X)
        weight = _scores.weights_of(sample_weight, truth, self.tasks_)
        return _scores.mean(_scores.of_columns(_r2, truth, guess, weight))

    @_inputs.returns_like_x
    def predict(self, X: Any) -> np.ndarray:
        """Predictions, in the shape of the labels. A column that had no labels in training is NaN, with a warning."""
        values = self._decision_matrix(X)
        return values[:, 0] if self._flat else values

    @_inputs.returns_like_x
    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals that contain new labels with about this probability, in the shape of
        `predict`. They come from the errors of the held-out rows by which `C="auto"` was chosen; a model with another C
        has none."""
        check_is_fitted(self)
        half, values = self._half_widths(coverage)[0], self._decision_matrix(X)
        low, high = values - half, values + half
        return (low[:, 0], high[:, 0]) if self._flat else (low, high)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class OutputKernelClassifier(ClassifierMixin, ClassParameters, OutputKernel):  # type: ignore[misc]
    """Classification into many related classes, learned together with the relations between them: `theta_` says which
    classes are similar. y may also be a table of 0 and 1 with a column for each label (multilabel), NaN where a label
    is missing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kinfolk import OutputKernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputKernelClassifier(scale="standard").fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.theta_.shape
    (True, (3, 3))
    """

    AUTO_LOSS = "logistic"
    _multilabel = False

    def _after_fit(self, data: TrainingData) -> None:
        if self.calibrate is not None:
            self.calibration_ = _calibration.cross_fitted(self, data)

    def _encode(self, y: Any, *, fitted: bool = False) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        labels = _inputs.table(y)
        self._multilabel = labels.ndim == 2 and labels.shape[1] > 1
        if self._multilabel:
            return self._encode_table(y, labels)
        labels = _targets.one_class_each(labels)
        if fitted:
            code = _targets.positions(self.tasks_, labels)
        else:
            self.tasks_, code = np.unique(labels, return_inverse=True)
        self.classes_ = self.tasks_
        rows: np.ndarray | None = None
        triples: _targets.Triples | None = None
        if isinstance(self.class_weight, Mapping):
            rows = np.asarray([float(self.class_weight.get(label, 1.0)) for label in self.classes_.tolist()])[code]
        if self.calibrate is not None:
            _checks.choice("calibrate", self.calibrate, ("sigmoid",))
            n, t = len(code), len(self.classes_)
            row, output = np.repeat(np.arange(n, dtype=np.uint32), t), np.tile(np.arange(t, dtype=np.uint32), n)
            triples = _targets.Triples(row, output, np.where(code[row] == output, 1.0, -1.0))
        return _native.Observations.classes(_targets.plain(self.classes_), code.astype(np.uint32)), rows, triples

    def _encode_table(self, y: Any, table: np.ndarray) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        """Labels that do not exclude each other."""
        if isinstance(self.class_weight, Mapping):
            raise ValueError("class_weight: a dictionary needs one class per row; for a table of labels use 'balanced'")
        label = _targets.as_numbers(table)
        known = ~np.isnan(label)
        if not np.isin(label[known], (0.0, 1.0)).all():
            raise ValueError("Unknown label type: a table of labels has the values 0 and 1, NaN where one is missing")
        if not known.any():
            raise ValueError("Input y contains NaN: all labels are missing")
        self.tasks_ = self.classes_ = _targets.columns(y, label.shape[1])
        signs = np.where(known, 2.0 * label - 1.0, np.nan)
        return _native.Observations.table(_targets.plain(self.classes_), signs), None, _targets.present(signs)

    def _label_targets(self, y: Any, task: np.ndarray | None) -> _targets.Targets:
        """Tasks and classes, from labels among which all of them are."""
        if task is not None:
            raise ValueError("rows of this estimator have no tasks; use MultiTaskClassifier")
        self._encode(y)
        names, count = _targets.plain(self.classes_), len(self.classes_)
        if self._multilabel:
            both = [np.asarray([0, 1])] * count
            return _targets.Targets("wide", self.classes_, names, np.arange(count + 1), both)
        return _targets.Targets("single", np.asarray([0]), names, np.asarray([0, count]), [self.classes_])

    def _store_targets(self, targets: _targets.Targets) -> list[str]:
        return [self._loss()]  # `_label_targets` kept the classes

    def _takes_tables(self) -> bool:
        return self._multilabel

    def _scores(self, X: Any) -> np.ndarray:
        """Scores; log-odds if the model is calibrated, so that scores and probabilities choose the same class."""
        scores, sigmoids = self._decision_matrix(X), getattr(self, "calibration_", None)
        return scores if sigmoids is None else _calibration.log_odds(sigmoids, scores)

    @_inputs.returns_like_x
    def decision_function(self, X: Any) -> np.ndarray:
        """A score for each class; with two classes one score, positive for the second. With `calibrate`, log-odds."""
        scores = self._scores(X)
        if self._multilabel:
            return scores
        return np.asarray(0.5 * (scores[:, 1] - scores[:, 0])) if len(self.classes_) == 2 else scores

    @_inputs.returns_like_x
    def predict(self, X: Any) -> np.ndarray:
        """The class of highest score; for a table of labels, 0 or 1 for each of them."""
        scores = self.decision_function(X)
        if self._multilabel:
            return (scores > 0).astype(int)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    @_inputs.returns_like_x
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy. For a table of labels, the share of rows whose labels are all predicted; missing ones do not
        count."""
        if not self._multilabel:
            return float(super().score(X, _inputs.table(y), sample_weight))
        truth, guess = _targets.as_numbers(_scores.truth_of(y, self.tasks_)), self.predict(X)
        _targets.check_width("y", truth, self.tasks_)
        return _scores.of_sets(truth, guess, _scores.weights_of(sample_weight, truth, self.tasks_))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    @available_if(_calibration.has_probabilities)
    @_inputs.returns_like_x
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of `classes_`, for the logistic loss or with `calibrate`: those of each class against the
        others, divided by their sum; where C was chosen on held-out rows, after they are raised to the power that is
        best there. For a table of labels, the probability of each."""
        scores = self.decision_function(X)
        if scores.ndim > 1 and not self._multilabel:
            return _calibration.of_classes(scores, _calibration.class_exponent(self))
        yes: np.ndarray = expit(scores)
        return yes if self._multilabel else np.column_stack([1 - yes, yes])

    @available_if(_calibration.has_probabilities)
    @_inputs.returns_like_x
    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))
