"""C by cross-validation: warm-started paths in the engine, one for each fold and setting."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _num_samples, check_is_fitted

from . import _checks, _folds, _inputs, _native
from ._compat import Method, available_if
from ._regressor import MultiTaskRegressor


class _Stop(Exception):
    """Another fold failed, or the caller pressed Ctrl-C."""


class _Bound:
    """An estimator that knows the tasks of the rows it is asked about, for scorers that know nothing of tasks."""

    def __init__(self, estimator: Any, task: Any) -> None:
        self._estimator, self._task = estimator, task

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._estimator, name)
        if name not in ("predict", "decision_function", "predict_proba", "score"):
            return value

        @functools.wraps(value)  # scorers look at the name
        def bound(*data: Any, **more: Any) -> Any:
            return value(*data, task=self._task, **more)

        return bound

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()


def _has(name: str) -> Callable[[Method], Method]:
    def check(search: Any) -> bool:
        inner = search.best_estimator_ if hasattr(search, "best_estimator_") else search.estimator
        getattr(MultiTaskRegressor() if inner is None else inner, name)
        return True

    return available_if(check)


class MultiTaskCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Chooses C, and other parameters, by cross-validation; fits the winner to all rows.

    The same scores as `GridSearchCV` on the same folds, up to the tolerance of the fits, in a fraction of the time: fits along C start from
    each other, and share what does not depend on C.

    Parameters
    ----------
    estimator : estimator of this package, default=MultiTaskRegressor()
    Cs : list of float, default=None
        Values of C to try, increasing. None is a grid that covers the useful range for the data at hand.
    param_grid : dict or list of dict, default=None
        Other parameters to try, as for `GridSearchCV`.
    cv : int, splitter or iterable, default=5
        A number means folds in which each task, and each class of it, is spread evenly; the row of a task that has only one is never
        held out.
    scoring : str or callable, default=None
        None is the estimator's own score.
    refit : bool, default=True
        Whether to fit the winner to all rows.
    n_jobs : int, default=None
        Folds at a time. None and -1 are one for each core.

    Attributes
    ----------
    best_C_, best_params_, best_score_, best_index_ : what won
    best_estimator_ : the winner, fitted to all rows
    cv_results_ : dict of columns, as of `GridSearchCV`, with the largest relative gap and the seconds of the fits

    Examples
    --------
    >>> import numpy as np
    >>> from kinfolk import MultiTaskCV, MultiTaskRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(60, 5)), np.repeat([0, 1, 2], 20)
    >>> y = X @ [1.0, 2.0, 0.0, 0.0, 1.0] + 0.1 * rng.normal(size=60)
    >>> search = MultiTaskCV(MultiTaskRegressor(), cv=3).fit(X, y, task=task)
    >>> bool(search.best_score_ > 0.9)
    True
    """

    def __init__(
        self,
        estimator: Any = None,
        *,
        Cs: Sequence[float] | None = None,
        param_grid: Any = None,
        cv: Any = 5,
        scoring: Any = None,
        refit: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> Self:
        """Tries all settings on all folds; arguments as for the estimator."""
        estimator = MultiTaskRegressor() if self.estimator is None else self.estimator
        settings = list(ParameterGrid(self.param_grid or {}))
        if any("C" in setting for setting in settings):
            raise ValueError("param_grid: values of C are given as Cs")
        splits = self._splits(estimator, X, y, task)
        grids = [self._grid(estimator, setting, X, y, task, sample_weight) for setting in settings]
        found = self._scores(estimator, settings, grids, splits, (X, y, task, sample_weight))
        self._tell(settings, grids, found, len(splits))
        if self.refit:
            best = clone(estimator).set_params(**self.best_params_)
            more = {
                name: value for name, value in (("task", task), ("sample_weight", sample_weight)) if value is not None
            }
            self.best_estimator_ = best.fit(X, y, **more)
            for name in ("n_features_in_", "feature_names_in_", "classes_", "tasks_"):
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _splits(self, estimator: Any, X: Any, y: Any, task: Any) -> list[tuple[np.ndarray, np.ndarray]]:
        if not isinstance(self.cv, (int, np.integer)):
            return list(check_cv(self.cv, np.asarray(y), classifier=is_classifier(estimator)).split(X, y))
        n_folds = _checks.whole("cv", self.cv, 2)
        column = getattr(estimator, "task_column", None)
        if task is None and column is not None:
            task = _inputs.split(X, column)[1]
        n = int(_num_samples(y))
        names = None if task is None else _inputs.task_names(task, n)
        if n_folds > n:
            raise ValueError(f"cv = {n_folds}: there are {n} rows")
        group = _folds.groups(y, names, by_class=is_classifier(estimator))
        fold = _folds.folds(group, n_folds, _checks.seed(getattr(estimator, "random_state", None)))
        fold[_folds.lonely(names, n)] = -1
        splits = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]
        if any(len(test) == 0 for _, test in splits):
            raise ValueError(f"cv = {n_folds}: too few rows of tasks that have more than one")
        return splits

    def _grid(self, estimator: Any, setting: Mapping[str, Any], *data: Any) -> list[tuple[float, float | None]]:
        """Values of C, each with a lambda where that is chosen too."""
        one = clone(estimator).set_params(**setting)
        if self.Cs is not None:
            values = sorted(_checks.number("C", c) for c in self.Cs)
            if not values:
                raise ValueError("Cs is empty")
            return [(c, one.lam) for c in values]
        work = one._prepare(*data)
        inputs = one._native_inputs(work.x, training=True)
        grid = _native.strengths(inputs, work.observations, one._specification(work.losses))
        moved = one.lam is None and any(lam != 1.0 for _, lam in grid)
        return [(c, lam if moved else one.lam) for c, lam in grid]

    def _scores(
        self, estimator: Any, settings: list[Any], grids: list[Any], splits: list[Any], data: Any
    ) -> dict[Any, Any]:
        """Score, gap and seconds by setting, C and fold."""
        X, y, task, weight = data
        threads = _checks.threads(self.n_jobs) or _checks.cores()
        stop = threading.Event()

        def tick() -> None:
            if stop.is_set():
                raise _Stop

        def run(job: tuple[int, int]) -> list[tuple[float, float, float]]:
            s, f = job
            train, test = splits[f]
            one = clone(estimator).set_params(**settings[s])
            if threads > 1 and one.n_jobs is None:
                one.set_params(n_jobs=1)
            known_X, known_y = _safe_split(one, X, y, train)
            new_X, new_y = _safe_split(one, X, y, test, train)
            parts = [None if part is None else _safe_indexing(np.asarray(part), train) for part in (task, weight)]
            new_task = None if task is None else _safe_indexing(np.asarray(task), test)
            out = []
            for fitted in _along(one, grids[s], tick, known_X, known_y, *parts):
                score = _score(fitted, self.scoring, new_X, new_y, new_task)
                out.append((score, fitted.rel_gap_, fitted.seconds_))
            return out

        jobs = [(s, f) for s in range(len(settings)) for f in range(len(splits))]
        if threads == 1 or len(jobs) == 1:
            return {job: run(job) for job in jobs}
        with ThreadPoolExecutor(min(threads, len(jobs))) as pool:
            futures = {job: pool.submit(run, job) for job in jobs}
            try:
                return {job: future.result() for job, future in futures.items()}
            except BaseException:
                stop.set()
                for future in futures.values():
                    future.cancel()
                raise

    def _tell(self, settings: list[Any], grids: list[Any], found: dict[Any, Any], n_splits: int) -> None:
        rows = [(s, p) for s in range(len(settings)) for p in range(len(grids[s]))]
        table = np.asarray([[found[s, f][p] for f in range(n_splits)] for s, p in rows])
        scores = table[:, :, 0]
        params = []
        for s, p in rows:
            c, lam = grids[s][p]
            params.append({**settings[s], "C": c} | ({} if lam is None else {"lam": lam}))
        results: dict[str, Any] = {"params": params}
        for name in dict.fromkeys(name for setting in params for name in setting):
            results[f"param_{name}"] = np.ma.MaskedArray(
                np.asarray([setting.get(name) for setting in params], dtype=object),
                mask=[name not in setting for setting in params],
            )
        for f in range(n_splits):
            results[f"split{f}_test_score"] = scores[:, f]
        results["mean_test_score"], results["std_test_score"] = scores.mean(axis=1), scores.std(axis=1)
        order = np.nan_to_num(results["mean_test_score"], nan=-np.inf)
        results["rank_test_score"] = np.asarray([1 + int((order > own).sum()) for own in order], dtype=np.int32)
        results["max_rel_gap"], results["mean_fit_time"] = table[:, :, 1].max(axis=1), table[:, :, 2].mean(axis=1)
        self.cv_results_, self.n_splits_ = results, n_splits
        self.best_index_ = int(order.argmax())
        self.best_params_, self.best_score_ = params[self.best_index_], float(scores.mean(axis=1)[self.best_index_])
        self.best_C_ = self.best_params_["C"]

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @_has("predict")
    def predict(self, X: Any, **more: Any) -> Any:
        """Of the winner."""
        return self._best().predict(X, **more)

    @_has("decision_function")
    def decision_function(self, X: Any, **more: Any) -> Any:
        """Of the winner."""
        return self._best().decision_function(X, **more)

    @_has("predict_proba")
    def predict_proba(self, X: Any, **more: Any) -> Any:
        """Of the winner."""
        return self._best().predict_proba(X, **more)

    def score(self, X: Any, y: Any, task: Any = None) -> float:
        """Of the winner, by the score that chose it."""
        return _score(self._best(), self.scoring, X, y, task)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = (MultiTaskRegressor() if self.estimator is None else self.estimator).__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = inner.estimator_type, inner.classifier_tags
        tags.regressor_tags, tags.target_tags, tags.input_tags = (
            inner.regressor_tags,
            inner.target_tags,
            inner.input_tags,
        )
        return tags


def _score(fitted: Any, scoring: Any, X: Any, y: Any, task: Any) -> float:
    asked = fitted if task is None else _Bound(fitted, task)
    return float(asked.score(X, y) if scoring is None else check_scoring(fitted, scoring=scoring)(asked, X, y))


def _along(estimator: Any, grid: list[tuple[float, float | None]], tick: Any, *data: Any) -> list[Any]:
    """Fitted estimators along a grid; where lambda changes with C, each by itself."""
    if len({lam for _, lam in grid}) == 1:
        one = estimator.set_params(lam=grid[0][1])
        fitted: list[Any] = one._fit_path(one._prepare(*data), [c for c, _ in grid], tick)
        return fitted
    out = []
    for c, lam in grid:
        one = clone(estimator).set_params(lam=lam)
        out += one._fit_path(one._prepare(*data), [c], tick)
    return out
