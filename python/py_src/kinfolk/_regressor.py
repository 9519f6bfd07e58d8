"""Regression of many tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from . import _inputs, _targets
from ._engine import numeric_loss
from ._intervals import KeptIntervalMixin
from ._multitask import MultiTask
from ._parameters import IntervalParameters, NumberParameters, documented
from ._statistics import Statistics, StatisticsMixin
from ._targets import Targets


@documented
@dataclass(eq=False, repr=False, kw_only=True)
class MultiTaskRegressor(
    RegressorMixin,  # type: ignore[misc]
    IntervalParameters,
    NumberParameters,
    StatisticsMixin,
    KeptIntervalMixin,
    MultiTask,
):
    """Regression of many related tasks, learned together with the relations between them.

    Examples
    --------
    >>> import numpy as np
    >>> from kinfolk import MultiTaskRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(60, 5)), np.repeat(["attic", "cellar", "porch"], 20)
    >>> y = X @ [1.0, 2.0, 0.0, 0.0, 1.0] + 0.1 * rng.normal(size=60)
    >>> model = MultiTaskRegressor(tol=1e-6).fit(X, y, task=task)
    >>> bool(model.rel_gap_ <= 1e-6), model.tasks_.tolist()
    (True, ['attic', 'cellar', 'porch'])
    >>> bool(model.task_correlation_.min() > 0.7)
    True
    """

    AUTO_LOSS = "squared"

    def _encode(self, y: Any, task: np.ndarray | None) -> Targets:
        return _targets.numbers(y, task)

    def _loss(self, text: str) -> str:
        return numeric_loss(self.AUTO_LOSS if text == "auto" else text)

    def _store_targets(self, targets: Targets) -> list[str]:
        self._targets, self.tasks_ = targets, targets.tasks
        return self._losses(targets)

    def partial_fit(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        classes: Any = None,
        groups: Any = None,
        times: Any = None,
    ) -> Self:
        """With `keep_data=False` (squared loss, linear kernel), rows are added to statistics and all rows so far are
        fitted again: exact, in constant memory. Otherwise the first call is `fit`, each later one `update`, which keep
        the rows; tasks may be new. `classes` is for scikit-learn."""
        if self.keep_data or (hasattr(self, "model_") and not hasattr(self, "_statistics")):
            return super().partial_fit(X, y, task, sample_weight, None, groups, times)
        if groups is not None or times is not None:
            raise ValueError("groups and times: statistics keep none; use keep_data=True")
        self._require_labels(y)
        first = not hasattr(self, "_statistics")
        statistics = Statistics(memory=self.memory, n_jobs=self.n_jobs) if first else self._statistics.copy()
        x, names = self._read(X, task, reset=first)
        statistics.update(x, y, task=names, sample_weight=sample_weight)
        self._data, self._checksum, self._has_offset = None, None, False
        losses = self._store_targets(statistics._targets())
        self._fit_native_statistics(statistics._native, losses, self._targets.outputs)
        self._statistics = statistics
        return self

    @_inputs.returns_like_x
    def predict(self, X: Any, task: Any = None) -> np.ndarray:
        """Predictions for the task of each row. `task` is one task for all rows, or one for each. Without it, a model
        whose labels were a table predicts all of them: (rows, tasks)."""
        rows = self._validated(X, task)
        return self._decision_matrix(rows, all_outputs=self._targets.form == "wide" and rows.output is None)

    @_inputs.returns_like_x
    def predict_interval(self, X: Any, task: Any = None, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of intervals that contain new labels with about this probability, in the shape of
        `predict`.

        They come from the errors of held-out rows: those by which C was chosen, or five folds of the training data that
        are fitted on the first call. Errors are in units of the typical error of each task, which is drawn to that of
        all tasks where rows are few. Rows must be exchangeable: for data that drift nothing is promised. For tasks
        without training rows the ends are NaN, unless the model was fitted with `interval_new_tasks=True` or with
        groups that hold whole tasks: then they come from the errors for whole tasks that were held out."""
        rows = self._validated(X, task)
        wide = self._targets.form == "wide" and rows.output is None
        half, new = self._half_widths(coverage)
        guess = self._decision_matrix(rows, all_outputs=wide)
        half = half[None, :] if wide else np.append(half, new)[rows.first_output()]
        return guess - half, guess + half

    @_inputs.returns_like_x
    def score(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> float:
        """Explained variance (R2) over all rows; for a table, the mean over its columns."""
        return self._mean_score(X, y, task, sample_weight)

    def _score(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
        return float(r2_score(truth.astype(float), guess, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
