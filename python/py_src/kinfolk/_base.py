"""What all estimators share: the call of the engine, and what is known after a fit."""

from __future__ import annotations

import dataclasses
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning

from . import _atoms, _attributes, _checks, _folds, _inputs, _native, _plain, _recipe, _warnings
from ._compat import Callbacks
from ._folds import FoldKeys
from ._html import CertificateHtml
from ._importance import ImportanceMixin
from ._labelled import LabelledResults
from ._parameters import EngineParameters, specification
from ._pictures import PlotMixin
from ._targets import Triples


TABLES = ("atoms", "theta", "prior")
"""Parameters that may hold frames."""


@dataclass
class TrainingData:
    """Checked data of a fit."""

    x: Any
    observations: Any
    losses: list[str]
    outputs: list[Any]
    """Names of the rows of Theta."""
    weight: np.ndarray | None
    """One for each row, or for each row and output."""
    triples: Triples | None = None
    start: np.ndarray | None = None
    """Dual variables to start from."""
    offset: np.ndarray | None = None
    """The known part of each prediction, one for each observation."""
    fold_keys: FoldKeys | None = None
    """Groups or times of the rows, where C is chosen by held-out rows."""

    def select(self, rows: np.ndarray) -> TrainingData:
        """Some of the rows."""
        rows = np.asarray(rows, dtype=np.uint32)
        weight = None if self.weight is None else self.weight[rows]
        triples = None if self.triples is None else self.triples.select(rows)
        x = self.x[rows]
        return TrainingData(x, self.observations.select(rows), self.losses, self.outputs, weight, triples)


def each_weight(weight: np.ndarray, triples: Triples | None, shape: tuple[int, int]) -> np.ndarray:
    """Weights of observations, from those of rows, or of rows and outputs. Without triples, rows have all outputs."""
    if triples is not None:
        each = weight[triples.input] if weight.ndim == 1 else weight[triples.input, triples.output]
    else:
        each = np.broadcast_to(weight if weight.ndim == 2 else weight[:, None], shape).ravel()
    return np.ascontiguousarray(each)


def weighted(observations: Any, each: np.ndarray) -> Any:
    """Observations with weights, of which some must be positive."""
    if not each.any():
        raise ValueError("sample_weight: all weights of labels are zero, so that there is nothing to learn from")
    return observations.weighted(each)


class BaseKinfolkEstimator(
    EngineParameters,
    CertificateHtml,
    LabelledResults,
    ImportanceMixin,
    PlotMixin,
    Callbacks,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """The fit and the fitted attributes of every estimator, which `_attributes` describes."""

    if TYPE_CHECKING:
        model_: Any
        primal_: float
        dual_: float
        dual_gap_: float
        rel_gap_: float
        status_: str
        claim_: str | None
        remark_: str | None
        task_gaps_: np.ndarray
        solver_: str
        reason_: str | None
        n_passes_: int | None
        seconds_: float
        C_: float
        lam_: float
        auto_C_: dict[str, Any] | None
        cv_score_: float | None
        scale_: str
        notes_: list[str]
        trace_: dict[str, np.ndarray]
        n_features_in_: int

    # --- results ---

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
    def function_correlation_(self) -> np.ndarray:
        """Correlations of the fitted functions, in the kernel's space: at 1 two tasks are predicted alike up to scale
        and intercept, below 0 they are opposite. `theta_` is about what tasks lend each other, which is another
        question. Models of precomputed kernels have none, since they do not keep kernel values."""
        correlation: np.ndarray | None = self.model_.function_correlation
        if correlation is None:
            raise AttributeError("a model of a precomputed kernel keeps no kernel values to compare functions by")
        return correlation

    @property
    def theta_names_(self) -> list[Any]:
        """Names of the rows of `theta_`: tasks, or classes, or classes of tasks."""
        names: list[Any] = self.model_.tasks
        return names

    @property
    def dual_coef_(self) -> np.ndarray:
        """The dual variables: (inputs, tasks) if every input has a label for every task, else one for each label."""
        alpha: np.ndarray | None = self.model_.alpha
        if alpha is None:
            raise AttributeError("a model from statistics, or one without its dual variables, has no dual_coef_")
        about, alpha = json.loads(self.model_.about), self._sign * alpha
        return alpha.reshape(about["n_inputs"], -1) if about["complete"] else alpha

    def _linear(self) -> tuple[np.ndarray, np.ndarray]:
        linear = self.model_.linear
        if linear is None:
            chosen = ', and this one was chosen on held-out rows; kernel="linear" has them'
            why = "coef_ and intercept_ exist for linear kernels only"
            raise AttributeError(why + chosen if self.kernel == "auto" else why)
        weights, intercept = linear
        return np.ascontiguousarray(self._sign * weights.T), self._sign * intercept

    @property
    def _sign(self) -> float:
        """What scores of the engine are multiplied with to be those of the estimator."""
        return 1.0

    @property
    def coef_(self) -> np.ndarray:
        """Weights (tasks, features) in the units of X and y; with the cosine kernel or unit scaling, of inputs of
        length one. `theta_` and `dual_coef_` are about scaled labels, in which tasks can be compared."""
        return self._linear()[0]

    @property
    def intercept_(self) -> np.ndarray:
        """The constant term of each task, in the units of y."""
        return self._linear()[1]

    @property
    def atom_shares_(self) -> dict[str, float]:
        """The share of each known relation in the model; what is left was found in the data. For the method kin these
        are also "common" and "own"."""
        return _atoms.shares(self.model_)

    # --- the engine ---

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _specification(self, data: TrainingData, **changes: Any) -> str:
        return specification(self, data.losses, data.outputs, **changes)

    def _native_inputs(self, x: Any, *, training: bool = False) -> Any:
        return _inputs.as_gram(x) if training and self.kernel == "precomputed" else _inputs.native(x)

    def _require_labels(self, y: Any) -> None:
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")

    def _fit_engine(self, data: TrainingData) -> None:
        """Fits, and stores the result even if the fit is interrupted."""
        inputs = self._native_inputs(data.x, training=True)
        spec, weight = self._specification(data), str(_checks.weight(self.C))
        with _Progress(self) as listener:
            fits = _native.fit_path(
                inputs, data.observations, spec, [weight], data.start, listener, data.fold_keys
            )
        model, raised = fits[-1]
        self.__dict__.pop("_statistics", None)  # of other rows
        self._store_fit(model)
        if raised is not None and not isinstance(raised, _StopRequested):
            raise raised
        self._warn(model.summary)
        self._after_fit(data)

    def _fit_native_statistics(
        self, statistics: Any, losses: list[str], outputs: list[Any], ask: Callable[..., Any] | None = None
    ) -> None:
        """Fits statistics of the engine, and stores the result even if the fit is interrupted. `ask` answers questions
        about the rows behind them."""
        spec, weight = specification(self, losses, outputs), str(_checks.weight(self.C))
        with _Progress(self) as listener:
            model, raised = _native.fit_statistics(statistics, spec, weight, listener, ask)
        self._store_fit(model)
        if raised is not None and not isinstance(raised, _StopRequested):
            raise raised
        self._warn(model.summary)

    def _add_offset(self, data: TrainingData, offset: Any) -> TrainingData:
        """Adds a known part of the predictions: one number for each row, or for each row and output."""
        self._has_offset = offset is not None
        if offset is None:
            return data
        shape = (data.x.shape[0], len(data.outputs))
        values = _inputs.of_labels("offset", offset, shape[0], data.outputs)
        every = np.broadcast_to(values if values.ndim == 2 else values[:, None], shape)
        each = every.ravel() if data.triples is None else every[data.triples.input, data.triples.output]
        return dataclasses.replace(data, observations=data.observations.with_offsets(each), offset=each)

    def _add_folds(self, data: TrainingData, groups: Any, times: Any) -> TrainingData:
        """Adds what decides about the folds by which C is chosen."""
        return self._with_keys(data, _folds.keys(groups, times, data.x.shape[0]))

    def _with_keys(self, data: TrainingData, keys: FoldKeys | None) -> TrainingData:
        return dataclasses.replace(data, fold_keys=keys)

    def _after_fit(self, data: TrainingData) -> None:
        """What an estimator computes from a fitted model, such as its calibration."""

    def _store_fit(self, model: Any) -> None:
        self.model_, summary = model, model.summary
        for name in ("calibration_", "_held_out"):  # they belong to the previous model
            self.__dict__.pop(name, None)
        self.primal_, self.dual_ = summary["primal"], summary["dual"]
        self.dual_gap_, self.rel_gap_ = summary["gap"], summary["rel_gap"]
        self.claim_, self.remark_ = summary["claim"], summary["remark"]
        self.task_gaps_ = np.asarray(summary["task_gaps"])
        # Models of version 0.1 have no status.
        self.status_ = summary["status"] or ("certified" if self.rel_gap_ <= self.tol else "unknown")
        self.solver_, self.reason_ = summary["solver"], summary["reason"]
        self.n_passes_, self.seconds_ = summary["passes"], summary["seconds"]
        self.C_, self.lam_ = summary["c"], summary["lambda"]
        self.auto_C_ = json.loads(summary["auto_c"] or "null")
        self.cv_score_ = self.auto_C_["score"] if self.auto_C_ else None
        recipe = getattr(self, "_recipe", None)
        self.notes_ = [*([] if recipe is None else _recipe.notes(recipe)), *summary["notes"]]
        self.scale_ = json.loads(model.about)["scaling"]
        fields = ("passes", "seconds", "primal", "dual", "gap")
        columns = list(zip(*summary["trace"], strict=True)) or [()] * len(fields)
        self.trace_ = {name: np.asarray(column) for name, column in zip(fields, columns, strict=True)}

    def _warn(self, summary: dict[str, Any]) -> None:
        """Warns of a fit that ended above its tolerance."""
        status = summary["status"]
        if status == "certified":
            return
        limit = {"pass-limit": "max_passes", "time-limit": "max_seconds"}.get(status)
        if limit is not None:
            now = getattr(self, limit)
            advice = f"raise {limit} (now {now}), use a smaller C, scale the features, or accept a larger tol"
        elif status == "stopped":
            advice = "a callback ended the fit"
        else:
            advice = (
                "double precision does not allow a smaller gap here: accept a larger tol, scale the features, "
                "or use a smaller C"
            )
        found = f"the relative duality gap is {summary['rel_gap']:.2e} after {summary['passes']} passes"
        if status == "imprecise":
            found += f", but rounding may change the objective by {summary['rel_error']:.2e}"
        text = f"{found}, above tol = {self.tol:g} ({status}): the model may be that far from optimal; {advice}"
        _warnings.warn(text, ConvergenceWarning)

    def _start(self, observations: Any) -> np.ndarray | None:
        """Dual variables of the previous fit, if a warm start is possible."""
        if not (self.warm_start and hasattr(self, "model_")):
            return None
        alpha: np.ndarray | None = self.model_.alpha
        return alpha if alpha is not None and len(alpha) == len(observations) else None

    def __copy__(self) -> Self:
        """Another estimator with the same parameters, model and training data, none of which is ever changed."""
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    __kinfolk_state__ = True
    """`__getstate__` gives plain values."""

    def __getstate__(self) -> Any:
        """Plain arrays and bytes, so that tools such as skops need to trust this class and no other."""
        state = dict(super().__getstate__())
        model = state.pop("model_", None)
        if model is not None:
            state["_model_bytes"] = model.to_bytes()
        statistics = state.pop("_statistics", None)
        if statistics is not None:
            state["_statistics_bytes"] = statistics.to_bytes()
        return state | {name: _plain.pack(state[name]) for name in TABLES if name in state}

    def __setstate__(self, state: Any) -> None:
        state = dict(state)
        data, statistics = state.pop("_model_bytes", None), state.pop("_statistics_bytes", None)
        state |= {name: _plain.unpack(state[name]) for name in TABLES if name in state}
        super().__setstate__(state)
        if statistics is not None:
            from ._statistics import Statistics

            self._statistics = Statistics.from_bytes(statistics)
        if data is not None:
            self.model_ = _native.Model.from_bytes(data)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags


_attributes.before_fits(BaseKinfolkEstimator)


class _StopRequested(Exception):
    """A callback asked to stop."""


class _Progress:
    """Reports the progress of a fit to the callbacks of scikit-learn, and to the standard error stream if `verbose`.

    As a context manager it gives the function to call, or None if there is nothing to report to."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self.context: Any = None

    def __enter__(self) -> Callable[..., None] | None:
        estimator = self.estimator
        if getattr(estimator, "_skl_callbacks", None):
            self.context = estimator._init_callback_context(max_subtasks=None)
            self.context.call_on_fit_task_begin(estimator=estimator)
        return self._report if self.context is not None or estimator.verbose else None

    def _report(self, solver: str, passes: int, seconds: float, primal: float, dual: float, gap: float) -> None:
        if self.estimator.verbose:
            objective = f"primal {primal:.6g}, dual {dual:.6g}, relative gap {gap:.2e}"
            print(f"[kinfolk] {solver}: {passes} passes, {seconds:.2f} s, {objective}", file=sys.stderr, flush=True)
        if self.context is not None:
            step = self.context.subcontext(task_name="certificate")
            step.call_on_fit_task_begin(estimator=self.estimator)
            if step.call_on_fit_task_end(estimator=self.estimator):
                raise _StopRequested("a callback ended the fit before there was a model")

    def __exit__(self, kind: object, *_: object) -> None:
        if self.context is not None and kind is None:
            self.context.call_on_fit_task_end(estimator=self.estimator)
