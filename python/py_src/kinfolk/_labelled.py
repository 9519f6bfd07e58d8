"""Results with names: frames of pandas, clusters of tasks, and a summary in HTML."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import cut_tree, leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform

from . import _checks, _names

if TYPE_CHECKING:
    import pandas


def pandas_module() -> Any:
    try:
        return importlib.import_module("pandas")
    except ImportError as error:
        why = "labelled results are frames of pandas, which is not installed; the arrays need nothing"
        raise AttributeError(why) from error  # so that hasattr and dir know that there are none


def tree(correlation: np.ndarray) -> np.ndarray:
    """Average linkage of 1 - |correlation|, with the order of leaves that puts similar tasks side by side."""
    distance = 1 - np.abs(correlation)
    distance = np.maximum((distance + distance.T) / 2, 0)
    np.fill_diagonal(distance, 0)
    condensed = squareform(distance, checks=False)
    found: np.ndarray = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
    return found


class LabelledResults:
    """Results of a fitted estimator with the names of tasks and features."""

    if TYPE_CHECKING:
        model_: Any
        auto_C_: dict[str, Any] | None

        @property
        def theta_(self) -> np.ndarray: ...
        @property
        def task_correlation_(self) -> np.ndarray: ...
        @property
        def function_correlation_(self) -> np.ndarray: ...
        @property
        def theta_names_(self) -> list[Any]: ...
        @property
        def coef_(self) -> np.ndarray: ...
        @property
        def intercept_(self) -> np.ndarray: ...

    @property
    def _feature_labels(self) -> list[str]:
        """Names of the features, without the task column; x0, x1, ... if they have none."""
        names = _names.of_features(self)
        return [f"x{i}" for i in range(self.coef_.shape[1])] if names is None else names

    @property
    def theta_frame_(self) -> pandas.DataFrame:
        """`theta_` as a frame, with the tasks as rows and columns."""
        names = self.theta_names_
        return pandas_module().DataFrame(self.theta_, index=names, columns=names)

    @property
    def task_correlation_frame_(self) -> pandas.DataFrame:
        """`task_correlation_` as a frame, with the tasks as rows and columns."""
        names = self.theta_names_
        return pandas_module().DataFrame(self.task_correlation_, index=names, columns=names)

    @property
    def function_correlation_frame_(self) -> pandas.DataFrame:
        """`function_correlation_` as a frame, with the tasks as rows and columns."""
        names = self.theta_names_
        return pandas_module().DataFrame(self.function_correlation_, index=names, columns=names)

    @property
    def coef_frame_(self) -> pandas.DataFrame:
        """`coef_` as a frame: tasks as rows, features as columns."""
        return pandas_module().DataFrame(self.coef_, index=self.theta_names_, columns=self._feature_labels)

    @property
    def intercept_frame_(self) -> pandas.Series:
        """`intercept_` as a series, by the names of the tasks."""
        return pandas_module().Series(self.intercept_, index=self.theta_names_, name="intercept")

    @property
    def baselines_(self) -> dict[str, dict[str, Any]]:
        """How good the model and simpler predictions are on the same held-out rows, those by which C="auto" was chosen:
        the `score` of each (what `auto_C_["metric"]` says), and whether it `is_better` than the model beyond noise.
        Empty if C was given."""
        return baselines(self.auto_C_)

    @property
    def baselines_frame_(self) -> pandas.DataFrame:
        """`baselines_` as a frame, a row for each prediction."""
        rows = {"score": float, "is_better": bool}
        return pandas_module().DataFrame.from_dict(self.baselines_, orient="index", columns=list(rows)).astype(rows)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Share of each feature in the predictions of each task, (tasks, features), for linear kernels: the size of its
        coefficient in units of the scaled feature, divided by the sum over features."""
        n_features = self.coef_.shape[1]
        size = np.abs(self.model_.weights[:n_features].T)
        total = size.sum(axis=1, keepdims=True)
        return np.asarray(np.divide(size, total, out=np.zeros_like(size), where=total > 0))

    @property
    def task_tree_(self) -> dict[str, Any]:
        """The tasks as a tree: `linkage` in the format of scipy (average linkage of 1 - |correlation|), and the
        `leaves` in an order that puts similar tasks side by side."""
        names = self.theta_names_
        if len(names) < 2:
            return {"linkage": np.empty((0, 4)), "leaves": list(names)}
        found = tree(self.task_correlation_)
        return {"linkage": found, "leaves": [names[i] for i in leaves_list(found)]}

    def task_clusters(self, n_clusters: int) -> dict[Any, int]:
        """The cluster of each task, from 0, if the tree of the tasks is cut into so many. Of joins at the same height
        the later ones are cut."""
        names = self.theta_names_
        if not 1 <= _checks.whole("n_clusters", n_clusters, 1) <= len(names):
            raise ValueError(f"n_clusters = {n_clusters}: it must be from 1 to {len(names)}, the number of tasks")
        if len(names) == 1:
            return {names[0]: 0}
        found = cut_tree(self.task_tree_["linkage"], n_clusters).ravel()
        return dict(zip(names, found.tolist(), strict=True))


def baselines(auto_c: dict[str, Any] | None) -> dict[str, dict[str, Any]]:
    """The model and simpler predictions on the same held-out rows, by name."""
    if auto_c is None or auto_c["metric"] is None:
        return {}
    found = {"this model": {"score": number(auto_c["score"]), "is_better": False}}
    for each in auto_c["baselines"]:
        name = _BASELINES.get(each["baseline"], each["baseline"])
        found[name] = {"score": number(each["score"]), "is_better": bool(each["is_better"])}
    return found


def number(value: float | None) -> float:
    """NaN where the engine has none."""
    return float("nan") if value is None else float(value)


_BASELINES = {
    "task-mean": "each task's mean",
    "majority": "majority",
    "tasks-alone": "tasks alone",
    "one-for-all": "one model for all",
}
"""In the words of the command."""
