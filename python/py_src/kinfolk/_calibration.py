"""Probabilities from scores: a sigmoid for each output, drawn to one for all, fitted to scores of rows that were not
used for training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logit, softmax

from . import _checks, _distinct, _inputs, _native

MAX_NEWTON_STEPS = 100
N_FOLDS = 5


SHRINKAGE = 10.0
"""Precision of the prior of a sigmoid around the one it is drawn to: as much as ten certain rows. Deviations of about
1 / sqrt(10) in log-odds are usual."""


Sigmoid = tuple[float, float]
"""a and b of p = 1 / (1 + exp(-(a score + b)))."""


def sigmoid(score: np.ndarray, positive: np.ndarray, weight: np.ndarray, towards: Sigmoid | None = None) -> Sigmoid:
    """a and b with the largest likelihood, by Newton's method with halved steps.

    With `towards`, deviations from that sigmoid cost (SHRINKAGE / 2) ((a - a0)^2 s^2 + (b - b0)^2), where s is the
    typical size of a score: few rows stay near it. Without, the target probabilities are slightly inside of 0 and 1, as
    in Platt's method, so that a maximum exists even if the classes are separable."""
    yes, no = float(weight[positive].sum()), float(weight[~positive].sum())
    if not yes + no > 0:
        return towards or (0.0, 0.0)
    smooth = np.where(positive, (yes + 1) / (yes + 2), 1 / (no + 2))
    target = smooth if towards is None else positive.astype(float)
    # Scores of size one make the tolerances below independent of units. Weights are counts of rows.
    size = max(float(np.sqrt(np.average(score**2, weights=weight))), float(np.finfo(float).tiny))
    features = np.stack([score / size, np.ones_like(score)], axis=1)
    flat = float(logit(np.average(smooth, weights=weight)))
    centre = np.array([0.0, flat]) if towards is None else np.array([towards[0] * size, towards[1]])
    pull = 0.0 if towards is None else SHRINKAGE
    point = centre.copy()

    def cost(point: np.ndarray) -> float:
        z = features @ point
        return float(weight @ (np.logaddexp(0, z) - target * z) + 0.5 * pull * np.sum((point - centre) ** 2))

    total = float(weight.sum())
    for _ in range(MAX_NEWTON_STEPS):
        p = expit(features @ point)
        slope = features.T @ (weight * (p - target)) + pull * (point - centre)
        curve = (features * (weight * p * (1 - p))[:, None]).T @ features + (pull + 1e-12 * total) * np.eye(2)
        step = np.linalg.solve(curve, slope)
        decrease = float(slope @ step)
        if decrease <= 1e-14 * total:
            break
        length, now = 1.0, cost(point)
        while length > 1e-10 and cost(point - length * step) > now - 1e-4 * length * decrease:
            length *= 0.5
        point = point - length * step
    # A negative slope, by chance, must not reverse predictions: the probability is then constant.
    a, b = float(point[0]) / size, float(point[1])
    return (a, b) if a > 0 else (0.0, flat)


def held_out_scores(estimator: Any, data: Any) -> np.ndarray:
    """The score of each observation by a model that was fitted without its row, at the C of the estimator."""
    if estimator.kernel == "precomputed":
        raise ValueError("held-out rows of a precomputed kernel are not supported")
    x, triples, n = data.x, data.triples, data.x.shape[0]
    fold = _distinct.folds(data, N_FOLDS, _checks.seed(estimator.random_state))
    score = np.zeros(len(triples.label))
    for number in np.unique(fold) if fold.any() else ():
        inside = fold != number
        model = _fitted(estimator, data.select(np.flatnonzero(inside)))
        rows, held = np.flatnonzero(~inside), ~inside[triples.input]
        place = np.zeros(n, np.int64)
        place[rows] = np.arange(len(rows))
        scores = model.predict_all(_inputs.native(x[rows]))
        score[held] = scores[place[triples.input[held]], triples.output[held]]
    return score


def cross_fitted(estimator: Any, data: Any) -> np.ndarray:
    """a and b of each output, from scores of held-out rows."""
    score, triples = held_out_scores(estimator, data), data.triples
    if data.offset is not None:
        score = score + data.offset
    weight = np.ones(data.x.shape[0]) if data.weight is None else data.weight
    each = weight[triples.input] if weight.ndim == 1 else weight[triples.input, triples.output]
    positive = triples.label > 0
    if isinstance(estimator.class_weight, str):
        each = each * _balance(positive, triples.output, len(data.outputs))
    # Of all tasks together. Scores of the logistic loss are log-odds already: few rows change little of that.
    logistic = all(loss == "logistic" for loss in data.losses)
    shared = sigmoid(score, positive, each, (1.0, 0.0) if logistic else None)
    found = []
    for output in range(len(data.outputs)):
        own = triples.output == output
        found.append(sigmoid(score[own], positive[own], each[own], shared))
    return np.asarray(found)


def _balance(positive: np.ndarray, output: np.ndarray, n_outputs: int) -> np.ndarray:
    """The weights that the engine gives to balanced classes. Probabilities are those of rows with these weights, as
    scores are."""
    n = np.bincount(output, minlength=n_outputs)
    yes = np.bincount(output[positive], minlength=n_outputs)
    both = (yes > 0) & (yes < n)
    of_yes = np.where(both, n / np.maximum(2 * yes, 1), 1.0)
    of_no = np.where(both, n / np.maximum(2 * (n - yes), 1), 1.0)
    return np.asarray(np.where(positive, of_yes[output], of_no[output]))


def _fitted(estimator: Any, data: Any) -> Any:
    """A model of some of the rows, with the C and lambda of the estimator."""
    spec = estimator._specification(data, **{"lambda": estimator.lam_, "interval_new_tasks": False})
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
    """Probabilities of classes that exclude each other, from those of each class against the others."""
    total = yes.sum(axis=1, keepdims=True)
    return np.where(total > 0, yes / np.where(total > 0, total, 1.0), 1 / yes.shape[1])


def of_classes(scores: np.ndarray, exponent: float) -> np.ndarray:
    """The same from scores, with the probabilities of each class against the others to this power."""
    return np.asarray(softmax(exponent * log_expit(scores), axis=1))


def class_exponent(estimator: Any) -> float:
    """That of the fit, from held-out rows; 1 if sigmoids are calibrated instead."""
    return 1.0 if hasattr(estimator, "calibration_") else float(estimator.model_.class_exponent)


def has_probabilities(estimator: Any) -> bool:
    """Whether the scores are log-odds: of the logistic loss, or calibrated."""
    loss = estimator.loss
    losses = loss.values() if isinstance(loss, Mapping) else [loss] if isinstance(loss, str) else loss
    auto = type(estimator).AUTO_LOSS
    if estimator.calibrate is None and any((auto if text == "auto" else text) != "logistic" for text in losses):
        raise AttributeError("probabilities are available for loss='logistic', or with calibrate='sigmoid'")
    return True
