"""Probabilities from scores: a sigmoid for each question, fitted to scores of rows that the scoring model has not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from . import _inputs, _native, _setup
from ._folds import folds
from ._targets import Triples

ROUNDS = 100
FOLDS = 5


def sigmoid(score: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """a and b of p = 1 / (1 + exp(-(a score + b))) of largest likelihood, after Platt: targets are a little inside of 0 and 1, so that
    there is a maximum even where the classes are apart. Newton's method with halved steps."""
    yes, no = float(weight[positive].sum()), float(weight[~positive].sum())
    if not yes + no > 0:
        return 0.0, 0.0
    target = np.where(positive, (yes + 1) / (yes + 2), 1 / (no + 2))
    # Of mean one, and scores of size one: then the numbers below mean the same whatever the units.
    weight = weight / weight.mean()
    size = max(float(np.abs(score).max(initial=0.0)), float(np.finfo(float).tiny))
    features = np.stack([score / size, np.ones_like(score)], axis=1)
    flat = float(logit(np.average(target, weights=weight)))
    point = np.array([0.0, flat])

    def cost(point: np.ndarray) -> float:
        z = features @ point
        return float(weight @ (np.logaddexp(0, z) - target * z))

    for _ in range(ROUNDS):
        p = expit(features @ point)
        slope = features.T @ (weight * (p - target))
        curve = (features * (weight * p * (1 - p))[:, None]).T @ features + 1e-12 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        decrease = float(slope @ step)
        if decrease <= 1e-14 * len(score):
            break
        length, now = 1.0, cost(point)
        while length > 1e-10 and cost(point - length * step) > now - 1e-4 * length * decrease:
            length *= 0.5
        point = point - length * step
    # Scores that rank the wrong way round, by chance, must not turn predictions over: then they say nothing.
    a, b = float(point[0]) / size, float(point[1])
    return (a, b) if a > 0 else (0.0, flat)


def cross_fitted(estimator: Any, work: Any) -> np.ndarray:
    """a and b of each question."""
    if estimator.kernel == "precomputed":
        raise ValueError("calibrate: held-out rows of a precomputed kernel are not supported")
    x, triples = work.x, work.triples
    fold = folds(_alike(x.shape[0], triples), FOLDS, _setup.seed(estimator.random_state))
    score = np.zeros(len(triples.label))
    for number in np.unique(fold):
        inside = fold != number
        if not inside.any():
            continue
        model = _fitted(estimator, work, inside)
        rows, held = np.flatnonzero(~inside), ~inside[triples.input]
        place = np.zeros(len(fold), np.int64)
        place[rows] = np.arange(len(rows))
        answers = model.predict_all(_inputs.native(x[rows]))
        score[held] = answers[place[triples.input[held]], triples.question[held]]
    weight = np.ones(len(fold)) if work.weight is None else work.weight
    pairs = []
    for question in range(len(work.names)):
        own = triples.question == question
        positive, each = triples.label[own] > 0, weight[triples.input[own]]
        if isinstance(estimator.class_weight, str):
            each = each * _balance(positive)
        pairs.append(sigmoid(score[own], positive, each))
    return np.asarray(pairs)


def _balance(positive: np.ndarray) -> np.ndarray:
    """The weights that the engine gives to balanced classes: probabilities are those of rows so weighted, as scores are."""
    n, yes = len(positive), int(positive.sum())
    return np.where(positive, n / (2 * yes), n / (2 * (n - yes))) if 0 < yes < n else np.ones(n)


def _alike(n: int, triples: Triples) -> np.ndarray:
    """A number for each row, the same for rows with the same answers to the same questions."""
    answers = np.zeros((n, 2), np.int64)
    np.add.at(answers[:, 0], triples.input, triples.question)
    np.add.at(answers[:, 1], triples.input, (triples.question.astype(np.int64) + 1) * (triples.label > 0))
    return np.unique(answers, axis=0, return_inverse=True)[1].ravel()


def _fitted(estimator: Any, work: Any, inside: np.ndarray) -> Any:
    """A model of some of the rows, of the same C and lambda."""
    triples = work.triples
    seen = inside[triples.input]
    place = (np.cumsum(inside) - 1).astype(np.uint32)
    part = _native.Observations.triples(
        int(inside.sum()), work.names, place[triples.input[seen]], triples.question[seen], triples.label[seen]
    )
    if work.weight is not None:
        part = part.weighted(np.ascontiguousarray(work.weight[triples.input[seen]]))
    if isinstance(estimator.class_weight, str):
        part = part.balanced()
    # Where C was chosen for the data, so was lambda.
    setup = estimator._setup(work.losses, estimator.lam_ if isinstance(estimator.C, str) else None)
    fits = _native.fit_path(_inputs.native(work.x[np.flatnonzero(inside)]), part, setup, [estimator.C_])
    model, _, raised = fits[-1]
    if raised is not None:
        raise raised
    return model


def log_odds(pairs: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Of yes, from answers to each question, or to one question for each row."""
    a, b = pairs.T
    return np.asarray(a * answers + b)


def normalised(yes: np.ndarray) -> np.ndarray:
    """Of classes, one of which it must be."""
    total = yes.sum(axis=1, keepdims=True)
    return np.where(total > 0, yes / np.where(total > 0, total, 1.0), 1 / yes.shape[1])


def is_wanted(estimator: Any) -> bool:
    """Whether probabilities were asked for."""
    if estimator.calibrate is None:
        raise AttributeError("predict_proba is there with calibrate='sigmoid'")
    return True
