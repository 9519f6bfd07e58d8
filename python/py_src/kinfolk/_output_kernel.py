"""Classes as tasks, outputs as tasks: every input has a label for every task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_consistent_length, check_is_fitted

from . import _calibration, _inputs, _native, _setup, _targets
from ._base import Kinfolk, Prepared
from ._compat import available_if, with_callbacks
from ._docs import documented
from ._files import Saved


class OutputKernel(Saved, Kinfolk):
    """What both share."""

    def _loss(self) -> str:
        if not isinstance(self.loss, str):
            raise TypeError(f"loss = {self.loss!r}: it must be the name of a loss")
        return "squared" if self.loss == "auto" else self.loss

    def _prepare(self, X: Any, y: Any, task: None = None, sample_weight: Any = None) -> Prepared:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        x, _ = _inputs.checked(self, X, reset=True)
        check_consistent_length(x, y)
        observations, weight, triples = self._encode(y)
        if sample_weight is not None:
            given = _check_sample_weight(sample_weight, x, dtype=np.float64)
            weight = given if weight is None else weight * given
        if weight is not None:
            observations = observations.weighted(np.repeat(weight, len(observations) // x.shape[0]))
        names = _targets.plain(self.tasks_)
        return Prepared(x, observations, [self._loss()], names, weight, triples, self._start(observations))

    def _encode(self, y: Any) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        """Observations, weights of rows, and the observations again where they are needed here."""
        raise NotImplementedError

    def _answers(self, X: Any) -> np.ndarray:
        check_is_fitted(self)
        x, _ = _inputs.checked(self, X, reset=False)
        scores: np.ndarray = self.model_.predict_all(self._native_inputs(x))
        return scores


@documented
class OutputKernelRegressor(RegressorMixin, OutputKernel):  # type: ignore[misc]
    """Regression of several outputs, learned together with how they are related. For tables with missing labels there is
    `MultiTaskRegressor`.

    Parameters
    ----------
    {parameters}

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

    def __init__(
        self,
        C: Any = "auto",
        *,
        output: str = "power",
        k: int = 1,
        loss: Any = "auto",
        kernel: str = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: float = 1.0,
        scale: str = "none",
        method: str = "fmtl",
        method_params: Any = None,
        theta: Any = None,
        prior: Any = None,
        lam: float | None = None,
        solver: str = "auto",
        tol: float = 1e-3,
        max_passes: int = 1000,
        max_seconds: float | None = None,
        memory: Any = "4GB",
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.output = output
        self.k = k
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.scale = scale
        self.method = method
        self.method_params = method_params
        self.theta = theta
        self.prior = prior
        self.lam = lam
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.max_seconds = max_seconds
        self.memory = memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns all outputs: y is (rows, outputs), or (rows,) for one."""
        self._run(self._prepare(X, y, None, sample_weight))
        return self

    def _loss(self) -> str:
        text = super()._loss()
        if _native.is_classification(text):
            raise ValueError(f"loss = {text!r}: it is for classes; numbers have squared, epsilon, huber, absolute or quantile")
        return text

    def _encode(self, y: Any) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        table = _inputs.table(y)
        names = _targets.columns(y, table.shape[1]) if table.ndim == 2 else np.asarray([0])
        label = _targets.as_numbers(table)
        if label.ndim > 2 or label.ndim == 0:
            raise ValueError(f"y should be a 1d array or a 2d table, got an array of shape {label.shape} instead.")
        self._flat = label.ndim == 1
        wrong = np.argwhere(~np.isfinite(label))
        if len(wrong):
            value = label[tuple(wrong[0])]
            what = "NaN" if np.isnan(value) else "infinity"
            raise ValueError(
                f"Input y contains {what}: the label of row {wrong[0][0]} is {value}; MultiTaskRegressor takes missing labels"
            )
        self.tasks_ = names
        return _native.Observations.table(_targets.plain(names), label.reshape(len(label), -1)), None, None

    def predict(self, X: Any) -> np.ndarray:
        """Predictions, of the shape of the labels."""
        answers = self._answers(X)
        return answers[:, 0] if self._flat else answers

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


@documented
class OutputKernelClassifier(ClassifierMixin, OutputKernel):  # type: ignore[misc]
    """Classification into many related classes, learned together with how they are related: `theta_` says which classes are kin.

    Parameters
    ----------
    {parameters}

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from kinfolk import OutputKernelClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = OutputKernelClassifier(scale="standard").fit(X, y)
    >>> bool(model.score(X, y) > 0.7), model.theta_.shape
    (True, (3, 3))
    """

    def __init__(
        self,
        C: Any = "auto",
        *,
        output: str = "power",
        k: int = 1,
        loss: Any = "auto",
        kernel: str = "linear",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: float = 1.0,
        scale: str = "none",
        method: str = "fmtl",
        method_params: Any = None,
        theta: Any = None,
        prior: Any = None,
        lam: float | None = None,
        solver: str = "auto",
        tol: float = 1e-3,
        max_passes: int = 1000,
        max_seconds: float | None = None,
        memory: Any = "4GB",
        class_weight: Any = None,
        calibrate: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.output = output
        self.k = k
        self.loss = loss
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.scale = scale
        self.method = method
        self.method_params = method_params
        self.theta = theta
        self.prior = prior
        self.lam = lam
        self.solver = solver
        self.tol = tol
        self.max_passes = max_passes
        self.max_seconds = max_seconds
        self.memory = memory
        self.class_weight = class_weight
        self.calibrate = calibrate
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.verbose = verbose

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learns all classes: y is (rows,)."""
        self._run(self._prepare(X, y, None, sample_weight))
        return self

    def _prepare(self, X: Any, y: Any, task: None = None, sample_weight: Any = None) -> Prepared:
        work = super()._prepare(X, y, task, sample_weight)
        if isinstance(self.class_weight, str):
            _setup.choice("class_weight", self.class_weight, ("balanced",))
            work.observations = work.observations.balanced()
        return work

    def _finish(self, work: Prepared) -> None:
        if self.calibrate is not None:
            self.calibration_ = _calibration.cross_fitted(self, work)

    def _encode(self, y: Any) -> tuple[Any, np.ndarray | None, _targets.Triples | None]:
        self.classes_, code = np.unique(_targets.one_class_each(_inputs.table(y)), return_inverse=True)
        self.tasks_ = self.classes_
        rows: np.ndarray | None = None
        triples: _targets.Triples | None = None
        if isinstance(self.class_weight, Mapping):
            rows = np.asarray([float(self.class_weight.get(label, 1.0)) for label in self.classes_.tolist()])[code]
        elif self.class_weight is not None and not isinstance(self.class_weight, str):
            raise TypeError(f"class_weight = {self.class_weight!r}: it must be a dictionary, 'balanced' or None")
        if self.calibrate is not None:
            _setup.choice("calibrate", self.calibrate, ("sigmoid",))
            n, t = len(code), len(self.classes_)
            row, question = np.repeat(np.arange(n, dtype=np.uint32), t), np.tile(np.arange(t, dtype=np.uint32), n)
            triples = _targets.Triples(row, question, np.where(code[row] == question, 1.0, -1.0))
        return _native.Observations.classes(_targets.plain(self.classes_), code.astype(np.uint32)), rows, triples

    def _scores(self, X: Any) -> np.ndarray:
        """Answers, as log-odds where there are probabilities: then both choose the same class."""
        answers, pairs = self._answers(X), getattr(self, "calibration_", None)
        return answers if pairs is None else _calibration.log_odds(pairs, answers)

    def decision_function(self, X: Any) -> np.ndarray:
        """A score for each class; for two classes one, positive for the second. With `calibrate`, log-odds."""
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
