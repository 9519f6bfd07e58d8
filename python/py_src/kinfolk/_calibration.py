"""Probabilities from scores: a sigmoid for each output, fitted to scores of rows that were not used for training."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, logit

from . import _checks, _inputs, _native

MAX_NEWTON_STEPS = 100
N_FOLDS = 5


def sigmoid(score: np.ndarray, positive: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """a and b of p = 1 / (1 + exp(-(a score + b))) with the largest likelihood, by Newton's method with halved steps.

    As in Platt's method the target probabilities are slightly inside of 0 and 1, so that a maximum exists even if the
    classes are separable."""
    yes, no = float(weight[positive].sum()), float(weight[~positive].sum())
    if not yes + no > 0:
        return 0.0, 0.0
    target = np.where(positive, (yes + 1) / (yes + 2), 1 / (no + 2))
    # Weights of mean one and scores of size one make the tolerances below independent of units.
    weight = weight / weight.mean()
    size = max(float(np.abs(score).max(initial=0.0)), float(np.finfo(float).tiny))
    features = np.stack([score / size, np.ones_like(score)], axis=1)
    flat = float(logit(np.average(target, weights=weight)))
    point = np.array([0.0, flat])

    def cost(point: np.ndarray) -> float:
        z = features @ point
        return float(weight @ (np.logaddexp(0, z) - target * z))

    for _ in range(MAX_NEWTON_STEPS):
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
    # A negative slope, by chance, must not reverse predictions: the probability is then constant.
    a, b = float(point[0]) / size, float(point[1])
    return (a, b) if a > 0 else (0.0, flat)


def cross_fitted(estimator: Any, data: Any) -> np.ndarray:
    """a and b of each output, from scores of held-out rows."""
    if estimator.kernel == "precomputed":
        raise ValueError("calibrate: held-out rows of a precomputed kernel are not supported")
    x, triples, n = data.x, data.triples, data.x.shape[0]
    seed = _checks.seed(estimator.random_state)
    fold = _native.folds(data.observations, min(N_FOLDS, n), seed) if n > 1 else np.zeros(n)
    score = np.zeros(len(triples.label))
    for number in np.unique(fold) if n > 1 else ():
        inside = fold != number
        model = _fitted(estimator, data.select(np.flatnonzero(inside)))
        rows, held = np.flatnonzero(~inside), ~inside[triples.input]
        place = np.zeros(n, np.int64)
        place[rows] = np.arange(len(rows))
        scores = model.predict_all(_inputs.native(x[rows]))
        score[held] = scores[place[triples.input[held]], triples.output[held]]
    if data.offset is not None:
        score += data.offset
    weight = np.ones(len(fold)) if data.weight is None else data.weight
    sigmoids = []
    for output in range(len(data.outputs)):
        own = triples.output == output
        positive, each = triples.label[own] > 0, weight[triples.input[own]]
        if isinstance(estimator.class_weight, str):
            each = each * _balance(positive)
        sigmoids.append(sigmoid(score[own], positive, each))
    return np.asarray(sigmoids)


def _balance(positive: np.ndarray) -> np.ndarray:
    """The weights that the engine gives to balanced classes. Probabilities are those of rows with these weights, as
    scores are."""
    n, yes = len(positive), int(positive.sum())
    return np.where(positive, n / (2 * yes), n / (2 * (n - yes))) if 0 < yes < n else np.ones(n)


def _fitted(estimator: Any, data: Any) -> Any:
    """A model of some of the rows, with the C and lambda of the estimator."""
    spec = estimator._specification(data.losses, **{"lambda": estimator.lam_})
    fits = _native.fit_path(_inputs.native(data.x), data.observations, spec, [str(estimator.C_)])
    model, raised = fits[-1]
    if raised is not None:
        raise raised
    return model


def log_odds(sigmoids: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Log-odds from scores of each output, or of one output for each row."""
    a, b = sigmoids.T
    return np.asarray(a * scores + b)


def normalised(yes: np.ndarray) -> np.ndarray:
    """Probabilities of classes that exclude each other."""
    total = yes.sum(axis=1, keepdims=True)
    return np.where(total > 0, yes / np.where(total > 0, total, 1.0), 1 / yes.shape[1])


def is_wanted(estimator: Any) -> bool:
    """Whether probabilities were asked for."""
    if estimator.calibrate is None:
        raise AttributeError("predict_proba is available with calibrate='sigmoid'")
    return True
