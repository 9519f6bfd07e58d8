"""Regression of many tasks."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from . import _native, _targets
from ._docs import documented
from ._multitask import MultiTask
from ._targets import Questions


@documented
class MultiTaskRegressor(RegressorMixin, MultiTask):  # type: ignore[misc]
    """Regression of many related tasks, learned together with how they are related.

    Parameters
    ----------
    {parameters}

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
    >>> bool(model.task_correlation_.min() > 0.8)
    True
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
        task_column: Any = None,
        keep_data: bool = True,
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
        self.task_column = task_column
        self.keep_data = keep_data

    def _encode(self, y: Any, task: np.ndarray | None) -> Questions:
        return _targets.numbers(y, task)

    def _loss(self, text: str) -> str:
        text = "squared" if text == "auto" else text
        if _native.is_classification(text):
            raise ValueError(f"loss = {text!r}: it is for classes; numbers have squared, epsilon, huber, absolute or quantile")
        return text

    def predict(self, X: Any, task: Any = None) -> np.ndarray:
        """Predictions: of the task of each row, or (rows, tasks) where the labels were a table."""
        x, index = self._asked(X, task)
        if self._questions.form == "wide":
            return self._answers(x, None)
        return self._answers(x, np.zeros(x.shape[0], np.uint32) if index is None else index)

    def score(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> float:
        """Explained variance (R2) of all rows; of a table, the mean over its columns."""
        return self._mean_score(X, y, task, sample_weight)

    def _score(self, truth: np.ndarray, guess: np.ndarray, weight: np.ndarray | None) -> float:
        return float(r2_score(truth.astype(float), guess, sample_weight=weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
