"""Choice of C and other parameters by cross-validation, in the engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.pipeline import Pipeline

from . import _checks, _cv_compare, _cv_pipeline, _cv_scoring, _folds, _inputs, _native, _warnings
from ._base import BaseKinfolkEstimator, TrainingData
from ._cv_best import BestEstimatorMixin
from ._cv_compare import Comparisons
from ._cv_results import Results, Scores, SettingResult
from ._cv_scoring import FoldScorer, Scoring, Split, metric_of_command
from ._engine import ENGINE
from ._html import CertificateHtml
from ._method import method_text, settings_of
from ._pictures import SearchPlotMixin
from ._regressor import MultiTaskRegressor


class MultiTaskCV(
    CertificateHtml,
    BestEstimatorMixin,
    Comparisons,
    SearchPlotMixin,
    MetaEstimatorMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Chooses C and other parameters by cross-validation, and fits the best setting to all rows.

    Settings, folds, scores and choice are those of the command `kinfolk select` with the same seed. With `scoring=None`
    the scores are those of `GridSearchCV` on the same folds, up to the tolerance of the fits. It is much faster than
    `GridSearchCV`: each fit along C starts from the previous one, and everything that does not depend on C is computed
    once.

    Parameters
    ----------
    estimator : estimator of this package or Pipeline that ends in one, default=MultiTaskRegressor()
        A pipeline is fitted as a whole on every fold, as `GridSearchCV` does: without the speed of paths along C, with
        the estimator's own score where `scoring` is "select", and with "strength:NUMBER" for values of C.
    Cs : list of float, default=None
        Values of C to try. None is the grid of the command, which covers the useful range for any data and grows if
        the best value is at its edge; in each fold its values are relative to the training rows of the fold.
    param_grid : dict or list of dict, default=None
        Other parameters to try, as for `GridSearchCV`. None is what the command tries: k = 1, 2, 4 for fmtl, and for
        kin its weights, k and kernels, one after another. Parameters that the estimator sets are kept. {} tries values
        of C only. Parameters of a pipeline have the names of its steps in front, as in `multitaskregressor__k`.
    cv : int, splitter or iterable, default=5
        A number means the folds of the command: each task, and each class of all rows, is spread evenly over them,
        unless `groups` or `times` are given to `fit`. The seed is the estimator's `random_state`.
    scoring : str, callable, list, dict or None, default="select"
        "select" is the metric that the command takes for these labels, and "select:NAME" one of its metrics, such as
        "select:auc" (the mean over tasks) or "select:pooled-auc" (all rows together). Settings are chosen by the
        held-out rows of all folds together, as in the command. If a metric is undefined for tasks, or another one has
        to be taken, an `UndefinedMetricWarning` says so. None is the estimator's own score, as in `GridSearchCV`, and
        anything else is a scorer of scikit-learn: then settings are chosen by the mean over folds. A list of names or
        a dictionary gives several scorers, each with its own columns in `cv_results_`.
    refit : bool, str or callable, default=True
        Whether to fit the best setting to all rows. With several scorers, the name of the one to choose by. A function
        gets `cv_results_` and returns the number of the setting.
    n_jobs : int, default=None
        Number of fits at a time, as in scikit-learn: None is 1, or what `joblib.parallel_config` says; -1 is one per
        core.
    error_score : float or "raise", default=nan
        The score of a fold whose scorer raises an exception, and of settings that cannot be fitted, with a
        `FitFailedWarning`; settings with NaN are not chosen. If no setting can be fitted, the error is raised.
    return_train_score : bool, default=False
        Whether `cv_results_` has the scores of training rows too. With metrics of the command it takes twice the time.
    compare : bool, default=False
        Whether to compare the best setting with independent tasks and with one model for all, on the same folds, as
        the option `--compare` of the command does: see `comparison_`. For metrics of the command, without a pipeline,
        and with single values only in `param_grid`.

    Attributes
    ----------
    cv_results_ : dict of arrays
        One entry for each setting, in the columns of `GridSearchCV`: `params`, `param_NAME`, `splitI_test_score`,
        `mean_test_score`, `std_test_score`, `rank_test_score`, `mean_fit_time`, the same for training rows
        (`mean_train_score`...), and with several scorers their names for `score`. `max_rel_gap` is the largest
        relative gap of the fits.
    best_index_ : int
        The setting that was chosen. It and the other `best_` attributes do not exist if several scorers are given with
        `refit=False`.
    best_params_ : dict
        Its parameters.
    best_C_ : float or str
        Its C.
    best_score_ : float
        Its score, by which it was chosen. Not there if `refit` is a function.
    best_estimator_ : estimator
        The best setting, fitted to all rows. Not there if `refit=False`.
    refit_time_ : float
        Seconds of that fit.
    multimetric_ : bool
        Whether there are several scorers.
    n_splits_ : int
        Number of folds.
    comparison_ : dict
        With `compare=True`, for each of "stl" (independent tasks) and "pooled" (one model for all): the `gain` in score
        on the same folds, its `standard_error`, gain and standard error of each task (`per_task`,
        `per_task_standard_error`), the tasks that were `helped` or `hurt` beyond noise, and all of it in `words`.
    comparison_frame_ : DataFrame
        With `compare=True`, the gain of each task and its standard error, for pandas.
    n_features_in_ : int
        Number of columns of X, from the best estimator.
    feature_names_in_ : array of str
        Their names, if X is a frame.
    classes_ : array
        Classes of the best estimator, if it is a classifier.
    tasks_ : array
        Tasks of the best estimator, if it has tasks.

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

    if TYPE_CHECKING:
        n_features_in_: int
        feature_names_in_: np.ndarray
        classes_: Any
        tasks_: np.ndarray

    def __init__(
        self,
        estimator: Any = None,
        *,
        Cs: Sequence[float] | None = None,
        param_grid: Any = None,
        cv: Any = 5,
        scoring: Any = "select",
        refit: bool | str | Callable[[Mapping[str, Any]], int] = True,
        n_jobs: int | None = None,
        error_score: float | str = np.nan,
        return_train_score: bool = False,
        compare: bool = False,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.param_grid = param_grid
        self.cv = cv
        self.scoring = scoring
        self.refit = refit
        self.n_jobs = n_jobs
        self.error_score = error_score
        self.return_train_score = return_train_score
        self.compare = compare

    def fit(
        self,
        X: Any,
        y: Any,
        task: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
        times: Any = None,
    ) -> Self:
        """Fits all settings on all folds, and the best one to all rows. Arguments are those of the estimator's fit.

        With a number as `cv`, `groups` and `times` give the folds of the command with `--folds-by group:COLUMN` and
        `--folds-by time:COLUMN`: rows of a group are in one fold, or rows are tested that are later than all rows of
        training. With a splitter of scikit-learn, such as `GroupKFold`, `groups` are for it."""
        self._weights()  # raises an error if Cs are not such
        for name in ("compare", "return_train_score"):
            _checks.flag(name, getattr(self, name))
        # Others cannot be split by rows.
        X = X.tocsr() if sp.issparse(X) else X if isinstance(self.estimator, Pipeline) else _inputs.frame(X)
        y, task, sample_weight, offset = map(_inputs.frame, (y, task, sample_weight, offset))
        if times is not None and not isinstance(self.cv, (int, np.integer)):
            raise ValueError("times: they are for a number of folds, such as cv=5; the splitter has its own folds")
        estimator = MultiTaskRegressor() if self.estimator is None else self.estimator
        given = {"task": task, "sample_weight": sample_weight, "offset": offset}
        self._selection: str | None = None
        self.__dict__.pop("comparison_", None)
        if isinstance(estimator, Pipeline):
            results, primary = self._search_pipeline(estimator, X, y, given, (groups, times))
            given = _cv_pipeline.fit_params(estimator, given)
        else:
            results, primary = self._search(estimator, X, y, given, (groups, times))
        self._store_results(results, primary)
        self._selection = self._selection or None
        if self.refit:
            best = clone(estimator).set_params(**clone(self.best_params_, safe=False))
            began = time.perf_counter()
            with _cv_pipeline.unrouted():
                parts = {name: part for name, part in given.items() if part is not None}
                self.best_estimator_ = best.fit(X, y, **parts)
            self.refit_time_ = time.perf_counter() - began
            self._copy_names()
        return self

    def _scoring(self, scoring: Any) -> tuple[Scoring, str]:
        """The scorers, and the name of the one to choose by."""
        read = Scoring.read(scoring, self.error_score, self.return_train_score, self.refit)
        return read, read.primary()

    # --- pipelines ---

    def _search_pipeline(
        self, pipeline: Any, X: Any, y: Any, given: dict[str, Any], keys: tuple[Any, Any]
    ) -> tuple[Results, str]:
        name, last = pipeline.steps[-1]
        if not isinstance(last, BaseKinfolkEstimator):
            raise TypeError(f"estimator: the last step of the pipeline must be one of this package, not {last!r}")
        if given["offset"] is not None:
            raise ValueError("offset: pipelines have none; give the estimator without one")
        metric = metric_of_command(self.scoring)
        if metric:
            raise ValueError(f"scoring = {self.scoring!r}: for a pipeline, give a scorer of scikit-learn")
        if self.compare:
            raise ValueError("compare: it is not for pipelines; give the estimator without one")
        scoring, primary = self._scoring(None if metric == "" else self.scoring)
        values = self.Cs if self.Cs is not None else [f"strength:{strength}" for strength in ENGINE["strengths"]]
        candidates = []
        for setting in ParameterGrid(self.param_grid or {}):
            own = [setting] if f"{name}__C" in setting else [{**setting, f"{name}__C": c} for c in values]
            candidates += own
        # To cut the folds, tasks and classes are read as the last step sees them.
        table = _cv_pipeline.transformed(pipeline, X, y)
        one = clone(last)
        splits = self._splits(one, one._prepare(table, y, given["task"], given["sample_weight"]), X, y, keys)
        data = (X, y, given["task"])
        found = _cv_pipeline.cross_validate(pipeline, candidates, splits, data, given, scoring, self.n_jobs)
        self.multimetric_ = scoring.is_multimetric
        return Results(found, len(splits), of_command=False), primary

    # --- estimators of this package ---

    def _search(
        self, estimator: Any, X: Any, y: Any, given: dict[str, Any], keys: tuple[Any, Any]
    ) -> tuple[Results, str]:
        if not isinstance(estimator, BaseKinfolkEstimator):
            raise TypeError(f"estimator: it must be one of this package, or a pipeline, not {estimator!r}")
        task, sample_weight, offset = given["task"], given["sample_weight"], given["offset"]
        metric = metric_of_command(self.scoring)
        if offset is not None and metric is None:
            raise ValueError(f"scoring = {self.scoring!r} does not know offsets: a metric such as 'select' does")
        scoring, primary = self._scoring(self.scoring)
        settings = list(ParameterGrid(self.param_grid or {}))
        if self.compare and (metric is None or len(settings) > 1):
            raise ValueError("compare: it is for scoring='select' or 'select:NAME', and param_grid with single values")
        if any("C" in setting for setting in settings):
            raise ValueError("param_grid: values of C are given as Cs")
        # A prior goes with a single k.
        search = self.param_grid is None and estimator.prior is None
        splits: list[Split] = []
        results: list[SettingResult] = []
        failed: list[tuple[int, dict[str, Any], Exception]] = []
        levels: dict[str, Any] | None = None
        for setting in settings:
            one = clone(estimator).set_params(**clone(setting, safe=False))
            try:
                data = one._add_offset(one._prepare(X, y, task, sample_weight), offset)
                if metric is not None and one.intercept == "auto":
                    levels = self._levels(one, data, keys) if levels is None else levels
                    setting = {**setting, **levels}
                    one.set_params(**levels)
                splits = splits or self._splits(one, data, X, y, keys)
                scorer = FoldScorer(one, data, splits, (X, y, task), scoring)
                results += self._cross_validate(setting, data, scorer, search, metric)
            except Exception as error:
                if self.error_score == "raise":
                    raise
                failed.append((len(results), setting, error))
        if failed and not results:
            raise failed[0][2]
        for at, setting, why in reversed(failed):
            results.insert(at, self._failed(setting, why, results[0]))
        self.multimetric_ = scoring.is_multimetric
        return Results(results, len(splits), of_command=metric is not None), primary

    def _failed(self, setting: Mapping[str, Any], error: Exception, other: SettingResult) -> SettingResult:
        """The result of a setting that cannot be fitted, in the shape of another one."""
        text = f"{dict(setting)} cannot be fitted, its score is {self.error_score}: {type(error).__name__}: {error}"
        _warnings.warn(text, FitFailedWarning)
        values: list[float | str] = list(self.Cs) if self.Cs is not None else ["auto"]
        n, nothing = len(values), float(self.error_score)

        def like(scores: Scores) -> Scores:
            return {name: np.full((n, own.shape[1]), nothing) for name, own in scores.items()}

        seconds = None if other.score_seconds is None else np.zeros((n, other.score_seconds.shape[1]))
        params = [{**setting, "C": c} for c in values]
        gaps: list[float | None] = [None] * n
        return SettingResult(params, [nothing] * n, like(other.test), like(other.train), gaps, [0.0] * n, seconds)

    def _levels(self, estimator: Any, data: TrainingData, keys: tuple[Any, Any]) -> dict[str, Any]:
        """The intercepts of all settings, as the command select has them."""
        spec = estimator._specification(data, threads=_checks.threads(self.n_jobs))
        by = _folds.keys(*keys, data.x.shape[0]) if isinstance(self.cv, (int, np.integer)) else None
        found = _native.drawn_levels(estimator._native_inputs(data.x, training=True), data.observations, spec, by)
        return {} if found is None else {"intercept": found}

    def _splits(
        self, estimator: Any, data: TrainingData, X: Any, y: Any, keys: tuple[Any, Any]
    ) -> list[Split]:
        """Rows to train on and rows to test on, for each fold; `keys` are groups and times."""
        if not isinstance(self.cv, (int, np.integer)):
            labels = _inputs.table(y)
            folds = check_cv(self.cv, labels, classifier=is_classifier(estimator)).split(X, labels, keys[0])
            return [(np.asarray(train, np.uint32), np.asarray(test, np.uint32)) for train, test in folds]
        n_folds, n = _checks.whole("cv", self.cv, 2), data.x.shape[0]
        if n < n_folds:
            raise ValueError(f"cv = {n_folds}: there cannot be more folds than rows, n_samples = {n}")
        seed = _checks.seed(estimator.random_state)
        return _folds.splits(data.observations, n_folds, seed, _folds.keys(*keys, n))

    def _weights(self) -> list[str] | None:
        """Weights of the losses to try, as the engine reads them; None is the grid of the command."""
        if self.Cs is None:
            return None
        if isinstance(self.Cs, str) or not np.iterable(self.Cs):
            raise TypeError(f"Cs = {self.Cs!r}: it must be a list of numbers")
        values = sorted((_checks.weight(c, "Cs") for c in self.Cs), key=lambda c: (isinstance(c, str), c))
        if not values:
            raise ValueError("Cs is empty")
        return list(map(str, values))

    def _cross_validate(
        self, setting: Mapping[str, Any], data: TrainingData, scorer: FoldScorer, search: bool, metric: str | None
    ) -> list[SettingResult]:
        """Fits one setting, or those that the command would try, along the weights on all folds, in the engine."""
        estimator, splits = scorer.estimator, scorer.splits
        inputs = estimator._native_inputs(data.x, training=True)
        threads = _checks.threads(self.n_jobs)
        spec = estimator._specification(data, threads=threads)
        method = method_text(estimator, "method", data.outputs) if search else None
        by = scorer if metric is None else metric
        weights = self._weights()
        found = _native.cross_validate(inputs, data.observations, spec, weights, splits, by, method, self.compare)
        # Of several settings, each has its own results.
        self._selection = found["results"] if self._selection is None else ""
        if self.compare:
            self.comparison_ = _cv_compare.read(found["results"], data.outputs)
        scores = np.asarray(found["scores"])
        score = scores.mean(axis=1).tolist() if metric is None else found["score"]
        tried = list(dict.fromkeys(zip(found["methods"], found["kernels"], strict=True)))
        drawn = {name: value for name, value in setting.items() if name == "intercept"} if search else {}
        settings = [{**own, **drawn} for own in settings_of(estimator, tried)] if search else [dict(setting)]
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
            test: Scores = {_cv_scoring.SINGLE: scores[rows]}
            train: Scores = {}
            seconds: np.ndarray | None = None
            if metric is None:
                test, train, seconds = _tables_of(scorer, pair, at)
            elif self.return_train_score:  # the same fits, with the training rows as test rows
                same = [(own_rows, own_rows) for own_rows, _ in splits]
                again = _native.cross_validate(inputs, data.observations, one_spec, at, same, metric)
                train = {_cv_scoring.SINGLE: np.asarray(again["scores"])}
            results.append(
                SettingResult(
                    params,
                    [score[i] for i in rows],
                    test,
                    train,
                    [found["rel_gap"][i] for i in rows],
                    [found["seconds"][i] for i in rows],
                    seconds,
                    found["undefined"],
                    rows.index(found["best"]) if found["best"] in rows and search else None,
                )
            )
        return results

    def _store_results(self, results: Results, primary: str) -> None:
        self.cv_results_, self.n_splits_ = results.columns(primary), results.n_splits
        for name in ("best_index_", "best_params_", "best_C_", "best_score_", "best_estimator_", "refit_time_"):
            self.__dict__.pop(name, None)
        if self.multimetric_ and self.refit is False:
            return
        if callable(self.refit):
            index = self.refit(self.cv_results_)
            if not isinstance(index, (int, np.integer)):
                raise TypeError(f"refit: the function returned {index!r}, and not the number of a setting")
            if not 0 <= index < len(results.params()):
                raise IndexError(f"refit: there is no setting {index}, but {len(results.params())} of them")
            self.best_index_ = int(index)
        else:
            self.best_index_ = results.best()
            self.best_score_ = float(results.scores()[self.best_index_])
        self.best_params_ = self.cv_results_["params"][self.best_index_]
        self.best_C_ = next(value for name, value in self.best_params_.items() if name.split("__")[-1] == "C")

    def score(self, X: Any, y: Any, task: Any = None, sample_weight: Any = None) -> float:
        """The score of the best estimator: its own, or that of the scikit-learn scorer that chose it."""
        scorer = self.scoring if metric_of_command(self.scoring) is None else None
        if self.multimetric_:
            if not isinstance(self.refit, str):
                raise ValueError("score: with several scorers, refit says by name which one it is")
            if not callable(self.scoring):
                scorer = Scoring.read(self.scoring, "raise", False).scorers[self.refit]
        with _cv_pipeline.unrouted():
            found = _cv_scoring.score(self._best(), scorer, X, y, task, sample_weight)
        return float(found[self.refit] if isinstance(found, Mapping) else found)

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


def _tables_of(
    scorer: FoldScorer, pair: tuple[Any, Any], weights: list[str]
) -> tuple[Scores, Scores, np.ndarray]:
    """Scores of test and training rows by name, and seconds: (weights, folds)."""
    kernels = {key[2] for key in scorer.found}
    if pair[1] is not None or None in kernels:  # else the kernel is given, and the same for all fits
        kernels = {pair[1]}
    own = {key: scores for key, scores in scorer.found.items() if key[1] == pair[0] and key[2] in kernels}
    found = {(fold, weight): scores for (fold, _, _, weight), scores in own.items()}
    cells = [[found[fold, _cv_scoring.weight(text)] for fold in range(len(scorer.splits))] for text in weights]
    missing = scorer.scoring.error_score
    test, train = (_cv_scoring.tables(cells, part, missing) for part in ("test", "train"))
    return test, train, np.asarray([[cell.seconds for cell in row] for row in cells])
