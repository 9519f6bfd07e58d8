"""Scores of cross-validation: metrics of the command, or one or several scorers of scikit-learn."""

from __future__ import annotations

import copy
import functools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import check_scoring, get_scorer
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from . import _warnings

Split = tuple[np.ndarray, np.ndarray]
"""Rows to train on, and rows to test on."""
SINGLE = "score"
"""The name of the only score, as in `GridSearchCV`."""


def metric_of_command(scoring: Any) -> str | None:
    """The metric of the command that `scoring` names, "" for the one that suits the labels; None if it names none."""
    if not isinstance(scoring, str):
        return None
    select, _, name = scoring.partition(":")
    return name if select == "select" else None


@dataclass
class FoldScores:
    """What is known about a fit on a fold."""

    test: dict[str, float]
    train: dict[str, float]
    """Empty if they are not asked for."""
    seconds: float
    """For the scores of the test rows."""


@dataclass
class Scoring:
    """Scorers by name; None is the estimator's own score."""

    scorers: dict[str, Any]
    is_multimetric: bool
    """Also after a function has returned a dictionary."""
    error_score: float | str
    with_train: bool
    refit: Any

    @classmethod
    def read(cls, scoring: Any, error_score: float | str, with_train: bool, refit: Any = True) -> Scoring:
        if error_score != "raise" and not isinstance(error_score, (int, float, np.number)):
            raise ValueError(f"error_score = {error_score!r}: it must be a number or 'raise'")
        if isinstance(scoring, Mapping):
            scorers, many = dict(scoring), True
        elif isinstance(scoring, (list, tuple, set)):
            scorers, many = {name: name for name in scoring}, True
            if len(scorers) != len(scoring) or not all(isinstance(name, str) for name in scorers):
                raise ValueError(f"scoring = {scoring!r}: a list holds different names of scorers")
        else:
            scorers, many = {SINGLE: scoring}, False
        if not scorers:
            raise ValueError("scoring is empty")
        if many and any(metric_of_command(each) is not None for each in scorers.values()):
            raise ValueError("scoring: metrics of the command ('select') cannot be among several scorers")
        for each in scorers.values():
            _check_scorer(each)
        return cls(scorers, many, error_score, with_train, refit)

    def primary(self) -> str:
        """The score that the choice is made by. A function may still turn out to return several."""
        if self.is_multimetric:
            return self._named(self.scorers)
        named = isinstance(self.refit, str) and callable(self.scorers[SINGLE])
        return str(self.refit) if named else SINGLE

    def _named(self, names: Mapping[str, Any]) -> str:
        """Of several scores the one that `refit` names; the first, if it names none."""
        if callable(self.refit) or self.refit is False:
            return next(iter(names))
        if not isinstance(self.refit, str) or self.refit not in names:
            known = ", ".join(map(str, names))
            why = f"with several scorers it must be one of {known}, a function or False"
            raise ValueError(f"refit = {self.refit!r}: {why}")
        return self.refit

    def chosen(self, scores: Mapping[str, float]) -> float:
        """Of the scores of a fold the one that the choice is made by."""
        return scores[self._named(scores) if self.is_multimetric else SINGLE]

    def of(self, fitted: Any, X: Any, y: Any, task: Any) -> dict[str, float]:
        """The scores of a fitted estimator. One that raises an exception is `error_score`, with a warning."""
        scores: dict[str, float] = {}
        for name, scorer in self.scorers.items():
            try:
                found = score(fitted, scorer, X, y, task)
                if isinstance(found, Mapping):
                    self.is_multimetric = True
                    scores |= {str(own): float(value) for own, value in found.items()}
                else:
                    scores[name] = float(found)
            except Exception as error:
                if self.error_score == "raise":
                    raise
                text = f"the score of a fold is {self.error_score}: {type(error).__name__}: {error}"
                _warnings.warn(text, FitFailedWarning)
                scores[name] = float(self.error_score)
        return scores

    def of_fold(self, fitted: Any, split: Split, data: tuple[Any, Any, Any]) -> FoldScores:
        """Scores of the test rows and, where they are asked for, of the training rows."""
        # A task may have all its rows in the test part.
        last = fitted.steps[-1][1] if isinstance(fitted, Pipeline) else fitted
        if hasattr(last, "unknown_task") and last._targets.one_output_each:
            last.unknown_task = "mean"
        train, test = split
        began = time.perf_counter()
        own = self.of(fitted, *rows_of(fitted, data, test, train))
        seconds = time.perf_counter() - began
        again = self.of(fitted, *rows_of(fitted, data, train, train)) if self.with_train else {}
        return FoldScores(own, again, seconds)

    def failed(self) -> FoldScores:
        """The scores of a fit that failed."""
        scores = dict.fromkeys(self.scorers, float(self.error_score))
        return FoldScores(scores, dict(scores) if self.with_train else {}, 0.0)


def _check_scorer(scorer: Any) -> None:
    """Raises an error unless it is a scorer, before anything is fitted."""
    if scorer is None or callable(scorer) or metric_of_command(scorer) is not None:
        return
    wanted = "'select', 'select:NAME', None, a function, or the name of a scorer of scikit-learn"
    if not isinstance(scorer, str):
        raise TypeError(f"scoring = {scorer!r}: it must be {wanted}")
    try:
        get_scorer(scorer)
    except ValueError:
        names = "sklearn.metrics.get_scorer_names() lists these"
        raise ValueError(f"scoring = {scorer!r}: it must be {wanted}; {names}") from None


def tables(cells: list[list[FoldScores]], part: str, missing: Any) -> dict[str, np.ndarray]:
    """Scores of test or training rows by name: (settings, folds). A function may have failed before it could name
    them."""
    every = [getattr(cell, part) for row in cells for cell in row]
    names = list(dict.fromkeys(name for own in every for name in own))
    if len(names) > 1 and SINGLE in names and any(SINGLE not in own for own in every):
        names.remove(SINGLE)
    rows = [[getattr(cell, part) for cell in row] for row in cells]
    return {name: np.asarray([[own.get(name, missing) for own in row] for row in rows], dtype=float) for name in names}


def rows_of(fitted: Any, data: tuple[Any, Any, Any], rows: np.ndarray, train: np.ndarray) -> tuple[Any, Any, Any]:
    """Some rows of X, y and the tasks; of a precomputed kernel those columns that the model was trained with."""
    X, y, task = data
    own, labels = _safe_split(fitted, X, y, rows, train)
    return own, labels, None if task is None else _safe_indexing(np.asarray(task), rows)


def score(fitted: Any, scorer: Any, X: Any, y: Any, task: Any, weight: Any = None) -> Any:
    """The estimator's own score (scorer None), or that of a scorer of scikit-learn: a function may return several."""
    more = {} if weight is None else {"sample_weight": weight}
    if scorer is not None:
        bound = fitted if task is None else _WithTask(fitted, task)
        return check_scoring(fitted, scoring=scorer)(bound, X, y, **more)
    if task is None:
        return float(fitted.score(X, y, **more))
    if isinstance(fitted, Pipeline):  # its own score does not hand the tasks on
        for _, step in fitted.steps[:-1]:
            X = X if step is None or step == "passthrough" else step.transform(X)
        fitted = fitted.steps[-1][1]
    return float(fitted.score(X, y, task=task, **more))


@dataclass
class FoldScorer:
    """Scores models of folds. The engine calls it, and chooses by what it returns."""

    estimator: Any
    data: Any
    splits: list[Split]
    raw: tuple[Any, Any, Any]
    """X, y and the tasks."""
    scoring: Scoring
    found: dict[tuple[Any, ...], FoldScores] = field(default_factory=dict)
    """By fold, method, kernel and weight."""

    def __call__(self, fold: int, model: Any) -> float:
        fitted = copy.copy(self.estimator)
        fitted._store_fit(model)
        if getattr(fitted, "calibrate", None) is not None:
            fitted._after_fit(self.data.select(self.splits[fold][0]))
        scores = self.scoring.of_fold(fitted, self.splits[fold], self.raw)
        spec = json.loads(model.spec)
        self.found[fold, spec["method"], spec.get("kernel"), weight(spec["c"])] = scores
        return self.scoring.chosen(scores.test)


def weight(text: Any) -> tuple[str, float]:
    """A weight of the losses: C, or a strength, as words and a number."""
    kind, _, value = str(text).rpartition(":")
    return kind, float(value)


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
