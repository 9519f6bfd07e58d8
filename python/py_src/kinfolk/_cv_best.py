"""What a search does by its best estimator."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _plain
from ._compat import Method, available_if
from ._cv_pipeline import unrouted
from ._regressor import MultiTaskRegressor


ESTIMATORS = ("estimator", "best_estimator_")


def _has(name: str) -> Callable[[Method], Method]:
    def check(search: Any) -> bool:
        inner = search.best_estimator_ if hasattr(search, "best_estimator_") else search.estimator
        getattr(MultiTaskRegressor() if inner is None else inner, name)
        return True

    return available_if(check)


class BestEstimatorMixin:
    """Methods of the best estimator, as far as it has them."""

    if TYPE_CHECKING:
        best_estimator_: Any
        _selection: str | None

    def __getstate__(self) -> Any:
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        return state | {name: _plain.pack(state[name]) for name in ESTIMATORS if name in state}

    def __setstate__(self, state: Any) -> None:
        state = state | {name: _plain.unpack(state[name]) for name in ESTIMATORS if name in state}
        super().__setstate__(state)  # type: ignore[misc]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """A copy whose best estimator can be updated: pickles would not contain its training data."""
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        new.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return new

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    def _copy_names(self) -> None:
        """Attributes that describe the data."""
        for name in ("n_features_in_", "feature_names_in_", "classes_", "tasks_"):
            if hasattr(self.best_estimator_, name):
                setattr(self, name, getattr(self.best_estimator_, name))

    # --- predictions ---

    @_has("predict")
    def predict(self, X: Any, task: Any = None, **more: Any) -> np.ndarray:
        """Prediction of the best estimator."""
        found: np.ndarray = self._ask("predict", X, task, more)
        return found

    @_has("decision_function")
    def decision_function(self, X: Any, task: Any = None, **more: Any) -> Any:
        """Prediction of the best estimator."""
        return self._ask("decision_function", X, task, more)

    @_has("predict_proba")
    def predict_proba(self, X: Any, task: Any = None, **more: Any) -> Any:
        """Prediction of the best estimator."""
        return self._ask("predict_proba", X, task, more)

    @_has("predict_log_proba")
    def predict_log_proba(self, X: Any, task: Any = None, **more: Any) -> Any:
        """Prediction of the best estimator."""
        return self._ask("predict_log_proba", X, task, more)

    def _ask(self, method: str, X: Any, task: Any, more: dict[str, Any]) -> Any:
        """The answer of the best estimator; tasks are for the last step of a pipeline."""
        given = more if task is None else {"task": task, **more}
        with unrouted():
            return getattr(self._best(), method)(X, **given)

    @_has("predict_interval")
    def predict_interval(self, X: Any, task: Any = None, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Intervals of the best estimator."""
        low, high = self._ask("predict_interval", X, task, {"coverage": coverage})
        return low, high

    @_has("score_per_task")
    def score_per_task(self, X: Any, y: Any, task: Any = None) -> dict[Any, float]:
        """The score of each task, by the best estimator."""
        scores: dict[Any, float] = self._best().score_per_task(X, y, task=task)
        return scores

    # --- more data ---

    @_has("update")
    def update(
        self, X: Any, y: Any, task: Any = None, sample_weight: Any = None, groups: Any = None, times: Any = None
    ) -> Self:
        """Adds rows to the best estimator, with the setting that was chosen; `cv_results_` stay those of the search."""
        self._best().update(X, y, task, sample_weight, groups, times)
        return self

    @_has("add_task")
    def add_task(
        self, X: Any, y: Any, name: Any, sample_weight: Any = None, groups: Any = None, times: Any = None
    ) -> Self:
        """Adds a task to the best estimator, with the setting that was chosen."""
        self._best().add_task(X, y, name, sample_weight, groups, times)
        self._copy_names()
        self._selection = None  # it is about other tasks
        return self

    @_has("remove_task")
    def remove_task(self, name: Any) -> Self:
        """Removes a task from the best estimator, with the setting that was chosen."""
        self._best().remove_task(name)
        self._copy_names()
        self._selection = None  # it is about other tasks
        return self

    # --- files and pictures ---

    @_has("save")
    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the best estimator as a model file, which `kinfolk.load` and the command read."""
        self._best().save(path)

    @_has("to_onnx")
    def to_onnx(self, path: str | os.PathLike[str] | None = None, dtype: str = "float32") -> Any:
        """The best estimator as an ONNX graph, in which numbers come in and go out as `dtype`."""
        return self._best().to_onnx(path, dtype)

    @_has("report")
    def report(
        self, path: str | os.PathLike[str], X: Any = None, y: Any = None, task: Any = None, *, sample_weight: Any = None
    ) -> None:
        """Writes the HTML page of the best estimator, with the path along C and, with `compare=True`, the comparison
        with independent tasks. These two are there for metrics of the command and a single dictionary of parameters."""
        self._best()._write_report(path, X, y, task, sample_weight, self._selection)

    @_has("plot_theta")
    def plot_theta(self, *, correlation: bool = True, cluster: bool = True, ax: Any = None) -> Any:
        """The task matrix of the best estimator as a heat map. Returns matplotlib axes."""
        return self._best().plot_theta(correlation=correlation, cluster=cluster, ax=ax)
