"""One task with a free intercept is what scikit-learn solves.

With one task Theta is a number theta, and for a given theta the problem is

    min over w, b of  |w|^2 / (2 theta) + C sum_i L(y_i, w'x_i + b).

So a model of this package equals scikit-learn's with strength C theta.
"""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, SVR

from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelRegressor

AS_GIVEN = {"scale": "none", "tol": 1e-12}
NUMBERS = AS_GIVEN | {"target_scale": "none"}
CLOSE = {"rtol": 1e-6, "atol": 1e-6}
# C from strong to weak regularisation, and a seed for the data of each.
STRENGTHS = [(0.05, 1), (1.0, 2), (20.0, 3)]


def rows(seed, n=60, features=4):
    """Labels that are numbers and have a mean; labels of two classes that overlap; weights; new rows.

    libsvm keeps kernel values in single precision. Features are multiples of 1/64, so that their products are exact
    there, too.
    """
    rng = np.random.default_rng(seed)
    x, new = np.round(64 * (rng.normal(size=(2, n, features)) + 3.0)) / 64
    y = x @ rng.normal(size=features) + rng.normal(size=n) + 10.0
    return x, y, np.where(y > np.median(y), 1, -1), rng.uniform(0.5, 2.0, size=n), new


def fitted(estimator, x, y, weight):
    """A model of one task, and the strength for scikit-learn."""
    model = estimator.fit(x, y, task=np.zeros(len(y), int), sample_weight=weight)
    return model, estimator.C * model.theta_[0, 0]


@pytest.mark.parametrize(("c", "seed"), STRENGTHS)
@pytest.mark.parametrize("weighted", [False, True])
def test_squared_loss_is_ridge(c, seed, weighted):
    x, y, _, weight, new = rows(seed)
    weight = weight if weighted else np.ones(len(y))
    model, strength = fitted(MultiTaskRegressor(C=c, **NUMBERS), x, y, weight)
    peer = Ridge(alpha=1 / strength).fit(x, y, sample_weight=weight)
    np.testing.assert_allclose(model.coef_[0], peer.coef_, **CLOSE)
    np.testing.assert_allclose(model.intercept_[0], peer.intercept_, **CLOSE)
    np.testing.assert_allclose(model.predict(new, task=np.zeros(len(new), int)), peer.predict(new), **CLOSE)
    table = OutputKernelRegressor(C=c, **NUMBERS).fit(x, y[:, None], sample_weight=weight)
    np.testing.assert_allclose(table.predict(new).ravel(), peer.predict(new), **CLOSE)


@pytest.mark.parametrize(("c", "seed"), STRENGTHS)
@pytest.mark.parametrize("weighted", [False, True])
def test_logistic_loss_is_logistic_regression(c, seed, weighted):
    x, _, label, weight, new = rows(seed)
    weight = weight if weighted else np.ones(len(label))
    model, strength = fitted(MultiTaskClassifier(loss="logistic", C=c, **AS_GIVEN), x, label, weight)
    peer = LogisticRegression(C=strength, tol=1e-12, solver="newton-cholesky", max_iter=1000)
    peer.fit(x, label, sample_weight=weight)
    np.testing.assert_allclose(model.coef_[0], peer.coef_[0], **CLOSE)
    np.testing.assert_allclose(model.intercept_[0], peer.intercept_[0], **CLOSE)
    own = model.decision_function(new, task=np.zeros(len(new), int))
    np.testing.assert_allclose(own, peer.decision_function(new), **CLOSE)


# With C = 20, rounding of RBF kernels to single precision in libsvm is an error of 2e-5.
KERNELS = [({"kernel": "linear"}, *own) for own in STRENGTHS]
KERNELS += [({"kernel": "rbf", "gamma": 0.2}, *own) for own in STRENGTHS[:2]]


@pytest.mark.parametrize(("kernel", "c", "seed"), KERNELS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("estimator", "peer", "decide"),
    [
        (MultiTaskClassifier(loss="hinge", **AS_GIVEN), SVC(tol=1e-10), "decision_function"),
        (MultiTaskRegressor(loss="epsilon:0.3", **NUMBERS), SVR(epsilon=0.3, tol=1e-10), "predict"),
    ],
    ids=["hinge is SVC", "epsilon is SVR"],
)
def test_losses_of_support_vectors(estimator, peer, decide, kernel, c, seed, weighted):
    x, y, label, weight, new = rows(seed)
    target = label if isinstance(peer, SVC) else y
    weight = weight if weighted else np.ones(len(target))
    model, strength = fitted(clone(estimator).set_params(C=c, **kernel), x, target, weight)
    peer = clone(peer).set_params(C=strength, **kernel).fit(x, target, sample_weight=weight)
    own = getattr(model, decide)(new, task=np.zeros(len(new), int))
    np.testing.assert_allclose(own, getattr(peer, decide)(new), **CLOSE)
