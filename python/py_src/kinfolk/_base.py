"""What all estimators share: parameters, the call of the engine, and what is known after it."""

from __future__ import annotations

import copy
import json
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from . import _inputs, _native, _setup
from ._compat import HAS_CALLBACKS, Callbacks
from ._targets import Triples


@dataclass
class Prepared:
    """Data that were read and checked."""

    x: Any
    observations: Any
    losses: list[str]
    names: list[Any]
    """Of the questions."""
    weight: np.ndarray | None
    """One for each row."""
    triples: Triples | None = None
    start: np.ndarray | None = None


class Kinfolk(Callbacks, BaseEstimator):  # type: ignore[misc]
    """Parameters and results of every estimator.

    After fitting there are

    - `theta_`: the task matrix, `task_correlation_`: the same as correlations, `theta_names_`: what their rows are;
    - `primal_`, `dual_`, `dual_gap_`, `rel_gap_`, `status_`: the certificate, and why the solver ended;
    - `C_`, `lam_`, `n_passes_`, `seconds_`, `solver_`, `reason_`, `trace_`: how it went;
    - `dual_coef_`, and for linear kernels `coef_` and `intercept_`.
    """

    model_: Any

    # --- what the engine found ---

    @property
    def theta_(self) -> np.ndarray:
        """The task matrix, positive semidefinite."""
        theta: np.ndarray = self.model_.theta
        return theta

    @property
    def task_correlation_(self) -> np.ndarray:
        """The task matrix as correlations."""
        correlation: np.ndarray = self.model_.correlation
        return correlation

    @property
    def theta_names_(self) -> list[Any]:
        """What the rows of `theta_` are: tasks, or classes, or classes of tasks."""
        names: list[Any] = self.model_.tasks
        return names

    @property
    def dual_coef_(self) -> np.ndarray:
        """The duals: inputs x tasks where every input has every task, else one for each label in the order of the engine."""
        alpha: np.ndarray = self.model_.alpha
        about = json.loads(self.model_.about)
        return alpha.reshape(about["n_inputs"], -1) if about["complete"] else alpha

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        weights = self.model_.weights
        if weights is None:
            raise AttributeError("coef_ and intercept_ are of linear kernels only")
        coef, bias = weights.T, np.zeros(weights.shape[1])
        about = json.loads(self.model_.about)
        if about["bias"] > 0:
            coef, bias = coef[:, :-1], coef[:, -1] * about["bias"]
        if self.model_.scaling is not None:
            mean, factor = self.model_.scaling
            coef = coef * factor
            bias = bias - coef @ mean
        return np.ascontiguousarray(coef), bias

    @property
    def coef_(self) -> np.ndarray:
        """Weights (tasks x features) of inputs as given; with the cosine kernel or unit scaling, of inputs of unit length."""
        return self._linear()[0]

    @property
    def intercept_(self) -> np.ndarray:
        """What is added for each task: the share of the constant feature."""
        return self._linear()[1]

    # --- the engine ---

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _setup(self, loss: Sequence[str], lam: float | None = None) -> str:
        return _setup.setup(self, loss, lam)

    def _native_inputs(self, x: Any, *, training: bool = False) -> Any:
        return _inputs.as_gram(x) if training and self.kernel == "precomputed" else _inputs.native(x)

    def _run(self, work: Prepared) -> None:
        """Fits, and keeps what there is to know, even if it is interrupted."""
        inputs, setup, weight = self._native_inputs(work.x, training=True), self._setup(work.losses), _setup.weight(self.C)
        with _Progress(self) as listener:
            fits = _native.fit_path(inputs, work.observations, setup, [weight], work.start, listener)
        model, said, raised = fits[-1]
        self._adopt(model, said)
        if raised is not None and not isinstance(raised, _Enough):
            raise raised
        self._warn(said)
        self._finish(work)

    def _finish(self, work: Prepared) -> None:
        """After the fit."""

    def _path(self, work: Prepared, weights: Sequence[float], tick: Callable[[], None] | None) -> list[Any]:
        """Estimators fitted to the same data at several C, each from the duals of the one before."""
        inputs, setup = self._native_inputs(work.x, training=True), self._setup(work.losses)
        fitted: list[Any] = []
        for c, (model, said, raised) in zip(
            weights, _native.fit_path(inputs, work.observations, setup, list(weights), None, None, tick), strict=False
        ):
            if raised is not None:
                raise raised
            one = copy.copy(self)
            one.C = c
            one._adopt(model, said)
            one._finish(work)
            fitted.append(one)
        return fitted

    def _adopt(self, model: Any, said: dict[str, Any]) -> None:
        self.model_ = model
        self.__dict__.pop("calibration_", None)  # that of another model
        self.primal_, self.dual_ = said["primal"], said["dual"]
        self.dual_gap_, self.rel_gap_ = said["gap"], said["rel_gap"]
        self.task_gaps_ = np.asarray(said["task_gaps"])
        self.status_, self.solver_, self.reason_ = said["status"], said["solver"], said["reason"]
        self.n_passes_, self.seconds_ = said["passes"], said["seconds"]
        self.C_, self.lam_ = said["c"], said["lambda"]
        fields = ("passes", "seconds", "primal", "dual", "gap")
        columns = list(zip(*said["trace"], strict=True)) or [()] * len(fields)
        self.trace_ = {name: np.asarray(column) for name, column in zip(fields, columns, strict=True)}

    def _warn(self, said: dict[str, Any]) -> None:
        if said["status"] == "certified" or said["given"] is not None:
            return
        limit = {"pass-limit": "max_passes", "time-limit": "max_seconds"}.get(said["status"])
        if limit is not None:
            advice = f"raise {limit} (now {getattr(self, limit)}), take a smaller C, scale the features, or accept a larger tol"
        elif said["status"] == "stopped":
            advice = "a callback ended the fit"
        else:
            advice = "double precision gives no more here: accept a larger tol, scale the features, or take a smaller C"
        warnings.warn(
            f"the relative duality gap is {said['rel_gap']:.2e} after {said['passes']} passes, above tol = {self.tol:g} "
            f"({said['status']}): the model may be that far from optimal; {advice}",
            ConvergenceWarning,
            stacklevel=5 if HAS_CALLBACKS else 4,
        )

    def _start(self, observations: Any) -> np.ndarray | None:
        """Duals to start from."""
        if not (self.warm_start and hasattr(self, "model_")):
            return None
        alpha: np.ndarray | None = self.model_.alpha
        return alpha if alpha is not None and len(alpha) == len(observations) else None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


class _Enough(Exception):
    """A callback asked to stop."""


class _Progress:
    """Tells whoever listens: callbacks of scikit-learn, or a reader of the standard error stream. Is None where nobody does."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.context: Any = None

    def __enter__(self) -> Callable[..., None] | None:
        estimator = self.estimator
        if getattr(estimator, "_skl_callbacks", None):
            self.context = estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=estimator)
        return self._tell if self.context is not None or estimator.verbose else None

    def _tell(self, solver: str, passes: int, seconds: float, primal: float, dual: float, gap: float) -> None:
        if self.estimator.verbose:
            text = f"[kinfolk] {solver}: {passes} passes, {seconds:.2f} s, primal {primal:.6g}, dual {dual:.6g}, relative gap {gap:.2e}"
            print(text, file=sys.stderr, flush=True)
        if self.context is not None:
            step = self.context.subcontext(task_name="certificate")
            step.call_on_fit_task_begin(estimator=self.estimator)
            if step.call_on_fit_task_end(estimator=self.estimator):
                raise _Enough("a callback ended the fit before there was a model")

    def __exit__(self, kind: object, *_: object) -> None:
        if self.context is not None and kind is None:
            self.context.call_on_fit_task_end(estimator=self.estimator)
