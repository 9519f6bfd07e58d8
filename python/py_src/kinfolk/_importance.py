"""What drives the predictions of any model: how much its score falls when a column is shuffled."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _checks, _inputs, _tables


class ImportanceMixin:
    """Permutation importance, as `kinfolk evaluate --importance`."""

    def permutation_importance(
        self, X: Any, y: Any, task: Any = None, *, n_repeats: int = 5, random_state: Any = None
    ) -> dict[Any, dict[str, float]]:
        """By how much `score` falls when a column of X is shuffled over all rows, the most important column first.

        For any kernel. A column of a frame is shuffled before it becomes features, so all of its features are shuffled
        together. Rows that were not learned from give honest numbers. Columns that say the same can stand in for each
        other: then both look unimportant.

        Parameters
        ----------
        X, y, task
            As in `score`. The task column of X is left as it is.
        n_repeats : int, default=5
            How often each column is shuffled.
        random_state : int, RandomState or None
            Seed of the orders. None is 0.

        Returns
        -------
        dict
            For each column, by name or number, `mean` and `sd` over the shuffles."""
        repeats = _checks.whole("n_repeats", n_repeats, 1)
        rng = np.random.default_rng(_checks.seed(random_state))
        if getattr(self, "kernel", None) == "precomputed":
            raise ValueError("kernel values have no columns that could be shuffled")
        rows, column = _Rows(X), getattr(self, "task_column", None)
        more = {} if task is None else {"task": task}
        score: Any = getattr(self, "score")  # noqa: B009 - of the estimator
        whole = score(X, y, **more)
        orders = [rng.permutation(rows.n) for _ in range(repeats)]
        found = {}
        for at, name in enumerate(rows.names):
            if column is not None and (name == column or (isinstance(column, int) and column % len(rows.names) == at)):
                continue
            falls = [whole - score(rows.shuffled(at, order), y, **more) for order in orders]
            found[name] = {"mean": float(np.mean(falls)), "sd": float(np.std(falls, ddof=1)) if repeats > 1 else 0.0}
        return dict(sorted(found.items(), key=lambda item: -item[1]["mean"]))


class _Rows:
    """Rows whose columns can be shuffled one by one."""

    def __init__(self, X: Any) -> None:
        self.named = _tables.is_frame(X)
        self.x: Any = X.tocsc() if sp.issparse(X) else _inputs.frame(X) if self.named else np.asarray(X)
        self.n, n_columns = int(self.x.shape[0]), int(self.x.shape[1])
        self.names: list[Any] = _inputs.column_names(X) if self.named else list(range(n_columns))

    def shuffled(self, at: int, order: np.ndarray) -> Any:
        """The same rows, with one column in another order."""
        if sp.issparse(self.x):
            parts = [self.x[:, :at], self.x[order][:, [at]], self.x[:, at + 1 :]]
            return sp.hstack([part for part in parts if part.shape[1]], format="csr")
        if not self.named:
            x = self.x.copy()
            x[:, at] = x[order, at]
            return x
        if hasattr(self.x, "iloc"):  # pandas
            x = self.x.copy()
            x.isetitem(at, self.x.iloc[:, at].array.take(order))
            return x
        if isinstance(self.x, _tables.Table):
            columns = [own[order] if i == at else own for i, own in enumerate(self.x.columns)]
            return _tables.Table(self.x.names, columns, self.x.rows)
        return self.x.with_columns(self.x[self.names[at]].gather(order))  # polars
