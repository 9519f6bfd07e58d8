"""Choice of C and other parameters by cross-validation, in the engine."""

from __future__ import annotations

import copy
import functools
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import FitFailedWarning, UndefinedMetricWarning
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import check_is_fitted

from . import _checks, _inputs, _native
from ._base import TrainingData
from ._compat import Method, available_if
from ._method import method_text, settings_of
from ._regressor import MultiTaskRegressor


_Split = tuple[np.ndarray, np.ndarray]
"""Rows to train on, and rows to test on."""


@dataclass
class _SettingResult:
    """What cross-validation found for one setting of the other parameters, at each C."""

    params: list[dict[str, Any]]
    score: list[float]
    """What it is chosen by, at each C."""
    scores: np.ndarray
    """(values of C, folds)"""
    rel_gap: list[float | None]
    seconds: list[float]
    """Of all folds together."""
    undefined: list[str]
    """What is to be said about scores that are undefined."""
    chosen: int | None
    """The C that the search of the engine ended with, if it did with this setting."""


class _FoldScorer:
    """Scores models of folds with the estimator's own score or a scorer of scikit-learn. The engine calls it."""

    def __init__(
        self, estimator: Any, data: TrainingData, splits: list[_Split], raw: Any, scoring: Any, error_score: Any
    ) -> None:
        self.error_score = error_score
        self.estimator, self.data, self.splits, self.scoring = estimator, data, splits, scoring
        self.X, self.y, self.task = raw

    def __call__(self, fold: int, model: Any) -> float:
        train, test = self.splits[fold]
        fitted = copy.copy(self.estimator)
        fitted._store_fit(model)
        # A task may have all its rows in the test part.
        if hasattr(fitted, "unknown_task") and fitted._targets.one_output_each:
            fitted.unknown_task = "mean"
        if getattr(fitted, "calibrate", None) is not None:
            fitted._after_fit(self.data.select(train))
        X, y = _safe_split(fitted, self.X, self.y, test, train)
        task = None if self.task is None else _safe_indexing(np.asarray(self.task), test)
        try:
            return _score(fitted, self.scoring, X, y, task)
        except Exception as error:
            if self.error_score == "raise":
                raise
            text = f"the score of a fold is {self.error_score}: {type(error).__name__}: {error}"
            warnings.warn(text, FitFailedWarning, stacklevel=2)
            return float(self.error_score)


class _WithTask:
    """An estimator that adds the tasks of the rows to predictions, for scorers that do not know about tasks."""

    def __init__(self, estimator: Any, task: Any) -> None:
        self._estimator, self._task = estimator, task

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._estimator, name)
        if name not in ("predict", "decision_function", "predict_proba", "predict_log_proba", "score"):
            return value

        @functools.wraps(value)  # scorers use its name
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
    """Chooses C and other parameters by cross-validation, and fits the best setting to all rows.

    Settings, folds, scores and choice are those of the command `kinfolk select` with the same seed. With `scoring=None`
    the scores are those of `GridSearchCV` on the same folds, up to the tolerance of the fits. It is much faster than
    `GridSearchCV`: each fit along C starts from the previous one, and everything that does not depend on C is computed
    once.

    Parameters
    ----------
    estimator : estimator of this package, default=MultiTaskRegressor()
    Cs : list of float, default=None
        Values of C to try. None is the grid of the command, which covers the useful range for any data and grows if
        the best value is at its edge; in each fold its values are relative to the training rows of the fold.
    param_grid : dict or list of dict, default=None
        Other parameters to try, as for `GridSearchCV`. None is what the command tries: k = 1, 2, 4 for fmtl, and for
        kin its weights, k and kernels, one after another. Parameters that the estimator sets are kept. {} tries values
        of C only.
    cv : int, splitter or iterable, default=5
        A number means the folds of the command: each task, and each class of it, is spread evenly over them. The seed
        is the estimator's `random_state`.
    scoring : str, callable or None, default="select"
        "select" is the metric that the command takes for these labels, and "select:NAME" one of its metrics, such as
        "select:auc" (the mean over tasks) or "select:pooled-auc" (all rows together). Settings are chosen by the
        held-out rows of all folds together, as in the command. If a metric is undefined for tasks, or another one has
        to be taken, an `UndefinedMetricWarning` says so. None is the estimator's own score, as in `GridSearchCV`, and
        anything else is a scorer of scikit-learn: then settings are chosen by the mean over folds.
    refit : bool, default=True
        Whether to fit the best setting to all rows.
    n_jobs : int, default=None
        Number of fits at a time, as in scikit-learn: None is 1, or what `joblib.parallel_config` says; -1 is one per
        core.
    error_score : float or "raise", default=nan
        The score of a fold whose scorer raises an exception, with a warning; settings with NaN are not chosen.

    Attributes
    ----------
    best_C_, best_params_, best_score_, best_index_ : the best setting
    best_estimator_ : the best setting, fitted to all rows
    cv_results_ : columns as in `GridSearchCV`, with the largest relative gap and the seconds of the fits

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
        scoring: Any = "select",
        refit: bool = True,
        n_jobs: int | None = None,
        error_score: float | str = np.nan,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.error_score = error_score

    def fit(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
    ) -> Self:
        """Fits all settings on all folds, and the best one to all rows. Arguments are those of the estimator's fit;
        `groups` are for splitters such as `GroupKFold`."""
        X = X.tocsr() if sp.issparse(X) else X  # others cannot be split by rows
        if groups is not None and isinstance(self.cv, (int, np.integer)):
            raise ValueError("groups: give a splitter that keeps them together, such as cv=GroupKFold(5)")
        estimator = MultiTaskRegressor() if self.estimator is None else self.estimator
        if offset is not None and _metric(self.scoring) is None:
            raise ValueError(f"scoring = {self.scoring!r} does not know offsets: a metric such as 'select' does")
        settings = list(ParameterGrid(self.param_grid or {}))
        if any("C" in setting for setting in settings):
            raise ValueError("param_grid: values of C are given as Cs")
        splits: list[_Split] = []
        results: list[_SettingResult] = []
        for setting in settings:
            one = clone(estimator).set_params(**setting)
            data = one._add_offset(one._prepare(X, y, task, sample_weight), offset)
            splits = splits or self._splits(one, data, X, y, groups)
            # A prior goes with a single k.
            search = self.param_grid is None and estimator.prior is None
            results += self._cross_validate(setting, one, data, splits, (X, y, task), search)
        self._store_results(results, len(splits))
        if self.refit:
            best = clone(estimator).set_params(**self.best_params_)
            given = {"task": task, "sample_weight": sample_weight, "offset": offset}
            self.best_estimator_ = best.fit(X, y, **{name: part for name, part in given.items() if part is not None})
            for name in ("n_features_in_", "feature_names_in_", "classes_", "tasks_"):
                if hasattr(self.best_estimator_, name):
                    setattr(self, name, getattr(self.best_estimator_, name))
        return self

    def _splits(self, estimator: Any, data: TrainingData, X: Any, y: Any, groups: Any) -> list[_Split]:
        """Rows to train on and rows to test on, for each fold."""
        if not isinstance(self.cv, (int, np.integer)):
            labels = _inputs.table(y)
            folds = check_cv(self.cv, labels, classifier=is_classifier(estimator)).split(X, labels, groups)
            return [(np.asarray(train, np.uint32), np.asarray(test, np.uint32)) for train, test in folds]
        n_folds, n = _checks.whole("cv", self.cv, 2), data.x.shape[0]
        if n < n_folds:
            raise ValueError(f"cv = {n_folds}: there cannot be more folds than rows, n_samples = {n}")
        fold = _native.folds(data.observations, n_folds, _checks.seed(estimator.random_state))
        parts = [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(n_folds)]
        return [(train.astype(np.uint32), test.astype(np.uint32)) for train, test in parts]

    def _weights(self) -> list[str] | None:
        """Weights of the losses to try, as the engine reads them; None is the grid of the command."""
        if self.Cs is None:
            return None
        values = sorted(_checks.number("C", c) for c in self.Cs)
        if not values:
            raise ValueError("Cs is empty")
        return list(map(str, values))

    def _cross_validate(
        self,
        setting: Mapping[str, Any],
        estimator: Any,
        data: TrainingData,
        splits: list[_Split],
        raw: Any,
        search: bool,
    ) -> list[_SettingResult]:
        """Fits one setting, or those that the command would try, along the weights on all folds, in the engine."""
        inputs, weights = estimator._native_inputs(data.x, training=True), self._weights()
        threads = _checks.threads(self.n_jobs)
        # The default kernel is open to the search.
        is_open = search and estimator.kernel == "linear"
        spec = estimator._specification(data, threads=threads, **({"kernel": None} if is_open else {}))
        metric = _metric(self.scoring)
        by_fold = _FoldScorer(estimator, data, splits, raw, self.scoring, self.error_score)
        scoring = by_fold if metric is None else metric
        method = method_text(estimator, "method", data.outputs) if search else None
        found = _native.cross_validate(inputs, data.observations, spec, weights, splits, scoring, method)
        scores = np.asarray(found["scores"])
        score = scores.mean(axis=1).tolist() if metric is None else found["score"]
        tried = list(dict.fromkeys(zip(found["methods"], found["kernels"], strict=True)))
        settings = settings_of(estimator, tried) if search else [dict(setting)]
        results = []
        for pair, own in zip(tried, settings, strict=True):
            rows = [i for i, row in enumerate(zip(found["methods"], found["kernels"], strict=True)) if row == pair]
            one = clone(estimator).set_params(**own)
            one_spec = one._specification(data, threads=threads)
            at = [found["weights"][i] for i in rows]
            params = []
            for c, lam in _native.resolve_weights(inputs, data.observations, one_spec, at):
                chosen = self.Cs is None and estimator.lam is None and lam != 1.0
                params.append({**own, "C": c} | ({"lam": lam} if chosen else {}))
            results.append(
                _SettingResult(
                    params,
                    [score[i] for i in rows],
                    scores[rows],
                    [found["rel_gap"][i] for i in rows],
                    [found["seconds"][i] for i in rows],
                    found["undefined"],
                    rows.index(found["best"]) if found["best"] in rows and search else None,
                )
            )
        return results

    def _store_results(self, settings: list[_SettingResult], n_splits: int) -> None:
        params = [row for setting in settings for row in setting.params]
        scores = np.concatenate([setting.scores for setting in settings])
        results: dict[str, Any] = {"params": params}
        for name in dict.fromkeys(name for row in params for name in row):
            results[f"param_{name}"] = np.ma.MaskedArray(
                np.asarray([row.get(name) for row in params], dtype=object),
                mask=[name not in row for row in params],
            )
        for f in range(n_splits):
            results[f"split{f}_test_score"] = scores[:, f]
        defined = np.ma.masked_invalid(scores)
        results["mean_test_score"] = defined.mean(axis=1).filled(np.nan)
        results["std_test_score"] = defined.std(axis=1).filled(np.nan)
        score = np.asarray([each for setting in settings for each in setting.score])
        for note in dict.fromkeys(note for setting in settings for note in setting.undefined):
            warnings.warn(note, UndefinedMetricWarning, stacklevel=3)
        if np.isnan(score).all():
            raise ValueError("the score of every setting is undefined (NaN): nothing can be chosen by it")
        order = np.nan_to_num(score, nan=-np.inf)
        results["rank_test_score"] = np.asarray([1 + int((order > own).sum()) for own in order], dtype=np.int32)
        results["max_rel_gap"] = np.asarray([gap for setting in settings for gap in setting.rel_gap], dtype=float)
        seconds = np.asarray([each for setting in settings for each in setting.seconds])
        results["mean_fit_time"] = seconds / n_splits
        self.cv_results_, self.n_splits_ = results, n_splits
        # Of equal scores the first, which has the smallest C, as in the command select.
        self.best_index_ = int(order.argmax())
        before = 0
        for setting in settings:
            if setting.chosen is not None:  # a search keeps to what is simple unless something is better beyond noise
                self.best_index_ = before + setting.chosen
            before += len(setting.params)
        self.best_params_, self.best_score_ = params[self.best_index_], float(score[self.best_index_])
        self.best_C_ = self.best_params_["C"]

    def _best(self) -> Any:
        check_is_fitted(self, "best_estimator_")
        return self.best_estimator_

    @_has("predict")
    def predict(self, X: Any, **more: Any) -> Any:
        """Prediction of the best estimator."""
        return self._best().predict(X, **more)

    @_has("decision_function")
    def decision_function(self, X: Any, **more: Any) -> Any:
        """Prediction of the best estimator."""
        return self._best().decision_function(X, **more)

    @_has("predict_proba")
    def predict_proba(self, X: Any, **more: Any) -> Any:
        """Prediction of the best estimator."""
        return self._best().predict_proba(X, **more)

    @_has("predict_log_proba")
    def predict_log_proba(self, X: Any, **more: Any) -> Any:
        """Prediction of the best estimator."""
        return self._best().predict_log_proba(X, **more)

    def score(self, X: Any, y: Any, task: Any = None) -> float:
        """The score of the best estimator: its own, or that of the scikit-learn scorer that chose it."""
        return _score(self._best(), self.scoring if _metric(self.scoring) is None else None, X, y, task)

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


def _metric(scoring: Any) -> str | None:
    """The metric of the command that `scoring` names, "" for the one that suits the labels; None if it names none."""
    if not isinstance(scoring, str):
        return None
    select, _, name = scoring.partition(":")
    return name if select == "select" else None


def _score(fitted: Any, scoring: Any, X: Any, y: Any, task: Any) -> float:
    bound = fitted if task is None else _WithTask(fitted, task)
    return float(bound.score(X, y) if scoring is None else check_scoring(fitted, scoring=scoring)(bound, X, y))
