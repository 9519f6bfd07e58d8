"""scikit-learn's own checks, all of them."""

import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest
import sklearn
from sklearn.utils.estimator_checks import check_estimator

from kinfolk import (
    MultiTaskClassifier,
    MultiTaskCV,
    MultiTaskRegressor,
    OutputKernelClassifier,
    OutputKernelRegressor,
)

ESTIMATORS = [
    MultiTaskClassifier(),
    MultiTaskRegressor(),
    OutputKernelClassifier(),
    OutputKernelRegressor(),
    MultiTaskClassifier(calibrate="sigmoid"),
    OutputKernelClassifier(calibrate="sigmoid"),
    MultiTaskRegressor(kernel="rbf", output="exp"),
    MultiTaskCV(cv=2, param_grid={}),  # at its defaults the checks take minutes
]

# They compare predictions to seven digits, but ours are as accurate as `tol`. The test below has a smaller one, and all
# else as by default; scikit-learn too runs them with smaller tolerances for its own iterative estimators
# (sklearn.utils._test_common.instance_generator, PER_ESTIMATOR_CHECK_PARAMS), see scikit-learn issue 16298 and pull
# request 30143, which lowers the tolerance of lsqr and sparse-cg for it. In MultiTaskCV a repeated row may be in
# two folds, where a row with a weight cannot.
TOO_EXACT = dict.fromkeys(
    ["check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"],
    "fits end at the tolerance",
)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: repr(e).replace("\n", ""))
def test_scikit_learn_checks(estimator, capsys):
    # Regressors at their defaults pass all of them.
    expected = {} if repr(estimator) in ("MultiTaskRegressor()", "OutputKernelRegressor()") else TOO_EXACT
    results = check_estimator(estimator, on_skip=None, on_fail=None, expected_failed_checks=expected)
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


@pytest.mark.parametrize(
    "kind",
    [MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor],
    ids=lambda kind: kind.__name__,
)
def test_weights_are_repetitions(kind):
    rng = np.random.default_rng(0)
    X, y, weight = rng.random((15, 8)), rng.integers(3, size=15), rng.integers(5, size=15)
    tight = {"tol": 1e-12, "max_passes": 100_000}
    weighted = kind(**tight).fit(X, y, sample_weight=weight)
    repeated = kind(**tight).fit(X.repeat(weight, axis=0), y.repeat(weight))
    assert weighted.C_ == pytest.approx(repeated.C_, rel=1e-9)
    scores = [getattr(model, "decision_function", model.predict)(X) for model in (weighted, repeated)]
    np.testing.assert_allclose(*scores, rtol=1e-5, atol=1e-5)


def test_the_check_of_the_array_api_is_not_skipped():
    """It needs a variable of the environment before scipy is imported."""
    script = """
        from sklearn.utils.estimator_checks import check_estimator
        from kinfolk import MultiTaskRegressor

        results = check_estimator(MultiTaskRegressor(), on_skip=None)
        left_out = [(r["check_name"], r["exception"]) for r in results if r["status"] != "passed"]
        assert not left_out, left_out
    """
    environment = os.environ | {"SCIPY_ARRAY_API": "1"}
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True, env=environment)
