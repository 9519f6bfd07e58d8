"""scikit-learn's own checks, all of them."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import scipy.sparse as sp
import sklearn
from sklearn.base import clone
from sklearn.model_selection import LeaveOneGroupOut
from sklearn.utils.estimator_checks import check_estimator

from kinfolk import (
    MultiTaskClassifier,
    MultiTaskCV,
    MultiTaskRegressor,
    OutputKernelClassifier,
    OutputKernelRegressor,
    _distinct,
)

ESTIMATORS = [
    MultiTaskClassifier(),
    MultiTaskRegressor(),
    OutputKernelClassifier(),
    OutputKernelRegressor(),
    MultiTaskClassifier(calibrate="sigmoid"),
    OutputKernelClassifier(calibrate="sigmoid"),
    MultiTaskRegressor(kernel="rbf", output="exp"),
    MultiTaskCV(),
    MultiTaskCV(MultiTaskClassifier()),
]

# Two checks compare scores to seven digits, but ours are as accurate as `tol`. Tests below show with the data of these
# checks that the difference goes to zero with it, all else as by default. scikit-learn leaves out both checks for its
# LogisticRegression, SVC and SVR (sklearn.utils._test_common.instance_generator, PER_ESTIMATOR_XFAIL_CHECKS), see its
# issue 16298; pull request 30143 lowers the tolerance of lsqr and sparse-cg for them. The rule gamma="scale" is that of
# SVC, X.var() of all rows: it knows no weights.
TOO_EXACT = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "fits end at the tolerance",
)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: repr(e).replace("\n", ""))
def test_scikit_learn_checks(estimator, capsys):
    results = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=TOO_EXACT)
    failed = [f"{r['check_name']}: {r['exception']!r}" for r in results if r["status"] == "failed"]
    left_out = [
        f"{r['check_name']} ({r['status']}): {r['exception']!r:.120}"
        for r in results
        if r["status"] in ("skipped", "xfail")
    ]
    passed = sum(r["status"] == "passed" for r in results)
    with capsys.disabled():
        print(
            f"\n{estimator!r}: {passed} of {len(results)} checks of scikit-learn {sklearn.__version__} passed",
            *left_out,
            sep="\n  ",
        )
    assert not failed, "\n".join(failed)
    assert passed >= 55


def weighted_and_repeated(estimator):
    """Two fits on the data of scikit-learn's check, with weights and with repeated and removed rows, and the largest
    difference of their scores."""
    rng = np.random.RandomState(42)
    X, y, times = rng.rand(15, 30), rng.randint(0, 3, size=15), rng.randint(0, 5, size=15)
    fits, scores = [], []
    for rows, weight in [(rng.permutation(15), times), (np.arange(15).repeat(times), np.ones(15))]:
        fitted, weight = clone(estimator), weight[rows]
        if isinstance(estimator, MultiTaskCV):  # the first of three given folds has the weights
            group = np.repeat([0, 1, 2], [len(rows), 15, 15])
            rows, weight = np.concatenate([rows, *2 * [np.arange(15)]]), np.append(weight, np.ones(30))
            fitted.set_params(cv=list(LeaveOneGroupOut().split(group, groups=group)))
        fits.append(fitted.fit(X[rows], y[rows], sample_weight=weight))
        scores.append(getattr(fitted, "decision_function", fitted.predict)(X))
    return *fits, float(np.abs(scores[0] - scores[1]).max())


TIGHT = {"tol": 1e-12, "max_passes": 100_000}


@pytest.mark.parametrize(
    "estimator",
    [
        MultiTaskClassifier(**TIGHT),
        MultiTaskRegressor(**TIGHT),
        OutputKernelClassifier(**TIGHT),
        OutputKernelRegressor(**TIGHT),
        MultiTaskClassifier(calibrate="sigmoid", **TIGHT),
        OutputKernelClassifier(calibrate="sigmoid", **TIGHT),
        MultiTaskRegressor(kernel="rbf", gamma=0.1, output="exp", **TIGHT),
        MultiTaskCV(MultiTaskRegressor(**TIGHT)),
        MultiTaskCV(MultiTaskClassifier(**TIGHT)),
    ],
    ids=lambda estimator: " ".join(repr(estimator).split()),
)
def test_weights_are_repetitions(estimator):
    weighted, repeated, difference = weighted_and_repeated(estimator)
    # Settings of a search may be equally good, and then last digits decide which is the best.
    for name in ("C_", "best_score_"):
        if hasattr(weighted, name):
            assert getattr(weighted, name) == pytest.approx(getattr(repeated, name), rel=1e-9)
    # Scores are of size one.
    assert difference < 1e-5


@pytest.mark.parametrize(
    "kind",
    [MultiTaskClassifier, OutputKernelClassifier, MultiTaskRegressor, OutputKernelRegressor],
    ids=lambda kind: kind.__name__,
)
def test_the_difference_of_weights_and_repetitions_is_that_of_the_tolerance(kind):
    """An objective within tol of the optimum means scores within some multiple of sqrt(tol)."""
    for tol in (1e-3, 1e-6, 1e-9, 1e-12):
        weighted, repeated, difference = weighted_and_repeated(kind(tol=tol, max_passes=100_000))
        assert max(weighted.rel_gap_, repeated.rel_gap_) <= tol and difference < 10 * np.sqrt(tol)


def test_equal_rows_are_in_the_same_fold():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(12, 2)), rng.integers(0, 2, size=12)
    twice, label = np.concatenate([X, X, X[:3]]), np.concatenate([y, y, 1 - y[:3]])
    for rows in (twice, sp.csr_matrix(twice), twice.astype(np.float32)):
        data = MultiTaskClassifier()._prepare(rows, label, sample_weight=np.r_[np.ones(26), 0.0])
        fold = _distinct.folds(data, 5, 0)
        np.testing.assert_array_equal(fold[:12], fold[12:24])
        assert set(fold[:24]) == set(range(5)) and fold[26] == 0
    alike = MultiTaskClassifier()._prepare(np.ones((4, 2)), np.ones(4))
    assert not _distinct.folds(alike, 5, 0).any()


def test_the_check_of_the_array_api_is_not_skipped():
    """It needs a variable of the environment before scipy is imported."""
    script = """
        from sklearn.utils.estimator_checks import check_estimator
        from kinfolk import MultiTaskRegressor

        results = check_estimator(MultiTaskRegressor(), on_skip=None, on_fail=None)
        exact = "check_sample_weight_equivalence"  # see TOO_EXACT
        results = [r for r in results if not r["check_name"].startswith(exact)]
        left_out = [(r["check_name"], r["exception"]) for r in results if r["status"] != "passed"]
        assert not left_out, left_out
    """
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, env=environment)
