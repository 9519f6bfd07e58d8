"""Estimators whose tasks are classes, or outputs: every input has a label for every task."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted

from . import _calibration, _checks, _inputs, _native, _targets
from ._base import BaseKinfolkEstimator, TrainingData
from ._compat import available_if, with_callbacks
from ._engine import numeric_loss
from ._files import SaveMixin
from ._parameters import ClassParameters, NumberParameters, documented


class OutputKernel(SaveMixin, BaseKinfolkEstimator):
    """The part that both estimators share."""

    def _loss(self) -> str:
        if not isinstance(self.loss, str):
            raise TypeError(f"loss = {self.loss!r}: it must be the name of a loss")
        return self.AUTO_LOSS if self.loss == "auto" else self.loss

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> Self:
        """Learns all outputs, y of shape (rows, outputs), or (rows,) for one; or all classes, y of shape (rows,).

        `offset`, of shape (rows,) or (rows, outputs or classes), is a known part of each prediction: the model learns
        the rest. Predictions and scores do not include it."""
        self._fit_engine(self._add_offset(self._prepare(X, y, None, sample_weight), offset))
        return self

    def _prepare(self, X: Any, y: Any, task: None = None, sample_weight: Any = None) -> TrainingData:
        self._require_labels(y)
        x, _ = _inputs.checked(self, X, reset=True)
        check_consistent_length(x, y)
        observations, weight, triples = self._encode(y)
        if sample_weight is not None:
            given = _check_sample_weight(sample_weight, x, dtype=np.float64)
            weight = given if weight is None else weight * given
        if weight is not None:
            observations = observations.weighted(np.repeat(weight, len(observations) // x.shape[0]))
        names = _targets.plain(self.tasks_)
        return TrainingData(x, observations, [self._loss()], names, weight, triples, self._start(observations))

    def _encode(self, y: Any) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        """Observations, weights of rows, and the observations as arrays where calibration needs them."""
        raise NotImplementedError

    def _decision_matrix(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        x, _ = _inputs.checked(self, X, reset=False)
        scores: np.ndarray = self.model_.predict_all(self._native_inputs(x))
        return scores


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class OutputKernelRegressor(RegressorMixin, NumberParameters, OutputKernel):  # type: ignore[misc]
    """Regression of several outputs, learned together with the relations between them.

    For tables with missing labels use `MultiTaskRegressor`.

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

    def _encode(self, y: Any) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        table = _inputs.table(y)
        names = _targets.columns(y, table.shape[1]) if table.ndim == 2 else np.asarray([0])
        label = _targets.as_numbers(table)
        if label.ndim > 2 or label.ndim == 0:
            raise ValueError(f"y should be a 1d array or a 2d table, got an array of shape {label.shape} instead.")
        self._flat = label.ndim == 1
        wrong = np.argwhere(~np.isfinite(label))
        if len(wrong):
            row, value = wrong[0][0], label[tuple(wrong[0])]
            what = "NaN" if np.isnan(value) else "infinity"
            raise ValueError(
                f"Input y contains {what}: the label of row {row} is {value}; MultiTaskRegressor takes missing labels"
            )
        self.tasks_ = names
        return _native.Observations.table(_targets.plain(names), label.reshape(len(label), -1)), None, None

    def predict(self, X: Any) -> np.ndarray:
        """Predictions, in the shape of the labels."""
        values = self._decision_matrix(X)
        return values[:, 0] if self._flat else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class OutputKernelClassifier(ClassifierMixin, ClassParameters, OutputKernel):  # type: ignore[misc]
    """Classification into many related classes, learned together with the relations between them: `theta_` says which
    classes are similar.

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

    def _after_fit(self, data: TrainingData) -> None:
        if self.calibrate is not None:
            self.calibration_ = _calibration.cross_fitted(self, data)

    def _encode(self, y: Any) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        self.classes_, code = np.unique(_targets.one_class_each(_inputs.table(y)), return_inverse=True)
        self.tasks_ = self.classes_
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

    def _scores(self, X: Any) -> np.ndarray:
        """Scores; log-odds if the model is calibrated, so that scores and probabilities choose the same class."""
        scores, sigmoids = self._decision_matrix(X), getattr(self, "calibration_", None)
        return scores if sigmoids is None else _calibration.log_odds(sigmoids, scores)

    def decision_function(self, X: Any) -> np.ndarray:
        """A score for each class; with two classes one score, positive for the second. With `calibrate`, log-odds."""
        scores = self._scores(X)
        return np.asarray(0.5 * (scores[:, 1] - scores[:, 0])) if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of highest score."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[best])

    @available_if(_calibration.is_wanted)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of `classes_`."""
        check_is_fitted(self, "calibration_")
        yes: np.ndarray = expit(self.decision_function(X))
        return np.column_stack([1 - yes, yes]) if yes.ndim == 1 else _calibration.normalised(yes)
