"""Cross-validation of pipelines that end in an estimator of this package: every fold fits the whole pipeline."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import _safe_indexing

from . import _tables, _warnings
from ._cv_results import SettingResult
from ._cv_scoring import FoldScores, Scoring, Split, rows_of, tables

Given = dict[str, Any]
"""Arguments of the fit of the last step: task, sample_weight."""


def unrouted() -> Any:
    """In it, arguments are not routed by the requests of steps: here they are always for the last step."""
    return config_context(enable_metadata_routing=False)


@dataclass
class _Fit:
    scores: FoldScores
    rel_gap: float
    seconds: float


def transformed(pipeline: Any, X: Any, y: Any) -> Any:
    """What the last step gets, if the others are fitted to all rows."""
    for _, step in pipeline.steps[:-1]:
        if step is not None and step != "passthrough":
            X = clone(step).fit_transform(X, y)
    return X


def fit_params(pipeline: Any, given: Given, rows: np.ndarray | None = None) -> Given:
    """Arguments of the last step, as the pipeline takes them."""
    last = pipeline.steps[-1][0]
    parts = {name: part for name, part in given.items() if part is not None}
    if rows is not None:
        tables = {name: part if _tables.is_frame(part) else np.asarray(part) for name, part in parts.items()}
        parts = {name: _safe_indexing(part, rows) for name, part in tables.items()}
    return {f"{last}__{name}": part for name, part in parts.items()}


def cross_validate(
    pipeline: Any,
    candidates: list[dict[str, Any]],
    splits: list[Split],
    data: tuple[Any, Any, Any],
    given: Given,
    scoring: Scoring,
    n_jobs: int | None,
) -> list[SettingResult]:
    """All candidates on all folds."""
    work = [(params, split) for params in candidates for split in splits]
    run = joblib.delayed(_fit_and_score)
    # Fits leave Python's lock, so that threads are enough.
    parallel = joblib.Parallel(n_jobs=n_jobs, prefer="threads")
    fits = list(parallel(run(pipeline, params, split, data, given, scoring) for params, split in work))
    by_candidate = [fits[i * len(splits) : (i + 1) * len(splits)] for i in range(len(candidates))]
    return [_result(params, own, scoring) for params, own in zip(candidates, by_candidate, strict=True)]


def _result(params: dict[str, Any], fits: list[_Fit], scoring: Scoring) -> SettingResult:
    cells, missing = [[fit.scores for fit in fits]], scoring.error_score
    test = tables(cells, "test", missing)
    return SettingResult(
        params=[params],
        score=[scoring.chosen({name: float(np.mean(own)) for name, own in test.items()})],
        test=test,
        train=tables(cells, "train", missing),
        rel_gap=[max(fit.rel_gap for fit in fits)],
        seconds=[sum(fit.seconds for fit in fits)],
        score_seconds=np.asarray([[fit.scores.seconds for fit in fits]]),
    )


def _fit_and_score(
    pipeline: Any, params: dict[str, Any], split: Split, data: tuple[Any, Any, Any], given: Given, scoring: Scoring
) -> _Fit:
    with unrouted():
        return _fold(pipeline, params, split, data, given, scoring)


def _fold(
    pipeline: Any, params: dict[str, Any], split: Split, data: tuple[Any, Any, Any], given: Given, scoring: Scoring
) -> _Fit:
    fitted = clone(pipeline).set_params(**clone(params, safe=False))
    X, y, _ = rows_of(fitted, data, split[0], split[0])
    began = time.perf_counter()
    try:
        fitted.fit(X, y, **fit_params(fitted, given, split[0]))
    except Exception as error:
        if scoring.error_score == "raise":
            raise
        text = f"a fit failed, its score is {scoring.error_score}: {type(error).__name__}: {error}"
        _warnings.warn(text, FitFailedWarning)
        return _Fit(scoring.failed(), float("nan"), time.perf_counter() - began)
    seconds = time.perf_counter() - began
    return _Fit(scoring.of_fold(fitted, split, data), fitted.steps[-1][1].rel_gap_, seconds)
