"""The fitted attributes of all estimators, each described once: the section "Attributes" of their documentation."""

from __future__ import annotations

import textwrap
from typing import Any

from sklearn.exceptions import NotFittedError

_ALL = {
    "theta_": ("array of shape (tasks, tasks)", "The task matrix, positive semidefinite, about scaled labels."),
    "task_correlation_": ("array of shape (tasks, tasks)", "The task matrix as correlations."),
    "function_correlation_": (
        "array of shape (tasks, tasks)",
        "Correlations of the fitted functions: which tasks turned out alike, or opposite.",
    ),
    "theta_names_": ("list", "Names of the rows of `theta_`: tasks, or classes, or classes of tasks."),
    "theta_frame_": ("DataFrame", "`theta_` with names, for pandas."),
    "task_correlation_frame_": ("DataFrame", "`task_correlation_` with names, for pandas."),
    "function_correlation_frame_": ("DataFrame", "`function_correlation_` with names, for pandas."),
    "task_tree_": ("dict", "The tasks as a tree: its `linkage` in the format of scipy, and its `leaves` in order."),
    "coef_": ("array of shape (tasks, features)", "Weights in the units of X and y, for linear kernels."),
    "intercept_": ("array of shape (tasks,)", "The constant term of each task, for linear kernels."),
    "coef_frame_": ("DataFrame", "`coef_` with the names of tasks and features, for pandas."),
    "intercept_frame_": ("Series", "`intercept_` with the names of the tasks, for pandas."),
    "feature_importances_": (
        "array of shape (tasks, features)",
        "Share of each feature in the predictions of each task, for linear kernels.",
    ),
    "dual_coef_": ("array", "The dual variables: (inputs, tasks) if no label is missing, else one for each label."),
    "primal_": ("float", "The objective of the model."),
    "dual_": ("float", "No model has a smaller objective than this."),
    "dual_gap_": ("float", "The difference of the two."),
    "rel_gap_": ("float", "The gap relative to the objective: how far from optimal the model is at most."),
    "task_gaps_": ("array of shape (tasks,)", "The part of each task in the gap."),
    "status_": ("str", '"certified", or why the solver stopped.'),
    "claim_": ("str or None", 'What the certificate is about: "optimal", or what the method takes as given.'),
    "remark_": ("str or None", "What the method says of its search."),
    "solver_": ("str", "The solver that was used."),
    "reason_": ("str or None", "Why it was chosen."),
    "n_passes_": ("int or None", "Passes over the data."),
    "seconds_": ("float", "Time of the fit."),
    "trace_": ("dict of arrays", "Passes, seconds, primal, dual and gap of each certificate of the fit."),
    "C_": ("float", "The weight of the losses that was used."),
    "lam_": ("float", "The weight of the regulariser that was used."),
    "auto_C_": ("dict or None", 'How C="auto" was chosen: all values with their scores, and simpler predictions.'),
    "cv_score_": ("float or None", 'Score of held-out rows, from the folds by which C="auto" was chosen.'),
    "baselines_": (
        "dict",
        "The model and simpler predictions (each task's mean or majority, tasks alone, one model for all) on the same "
        "held-out rows, those of `auto_C_`: their `score`, and whether one `is_better` beyond noise.",
    ),
    "baselines_frame_": ("DataFrame", "`baselines_` for pandas."),
    "scale_": ("str", "What was done to the features."),
    "notes_": ("list of str", "What became of the columns of a frame, and what to know about tasks with few labels."),
    "atom_shares_": ("dict", "The share of each known relation in the model; the rest was found in the data."),
    "tasks_": ("array", "The tasks: sorted, or in the order of the columns of y."),
    "model_": ("object", "The model of the engine."),
    "n_features_in_": ("int", "Number of columns of X, the task column included."),
    "feature_names_in_": ("array of str", "Their names, if X is a frame."),
}
_CLASSES = {
    "classes_": ("array, or list of arrays", "The classes; one array for each task if columns of y differ in them."),
    "calibration_": ("array of shape (tasks, 2)", "Slope and constant of each sigmoid, with `calibrate`."),
}


def section(*, classes: bool) -> str:
    """The section "Attributes", in the layout of numpydoc."""
    lines = ["Attributes", "----------"]
    for name, (kind, text) in (_ALL | (_CLASSES if classes else {})).items():
        lines += [f"{name} : {kind}", *textwrap.wrap(text, 100, initial_indent="    ", subsequent_indent="    ")]
    return "\n".join(lines)


class _Fitted:
    """An attribute that is there after a fit. Instances have their own; before, it says that there was no fit."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, estimator: Any, owner: Any = None) -> Any:
        if estimator is None:
            return self
        text = f"This {type(estimator).__name__} instance is not fitted yet: {self.name} is there after 'fit'."
        raise NotFittedError(text)


def before_fits(cls: type[Any]) -> None:
    """Attributes of `cls` that a fit sets raise `NotFittedError` before it. Properties are made of others."""
    for name in _ALL:
        if not hasattr(cls, name) and name not in ("n_features_in_", "feature_names_in_"):  # those are scikit-learn's
            setattr(cls, name, _Fitted(name))
