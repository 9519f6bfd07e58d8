"""A first use of an installed package: fit, certificate, prediction, file. Prints how long the import took."""

import sys
import tempfile
import time

before = time.perf_counter()
# What kinfolk uses of scikit-learn and scipy: their import is theirs.
import scipy.cluster.hierarchy  # noqa: E402
import scipy.spatial.distance  # noqa: E402
import sklearn.base  # noqa: E402
import sklearn.metrics  # noqa: E402
import sklearn.model_selection  # noqa: E402
import sklearn.pipeline  # noqa: E402

sklearn_seconds = time.perf_counter() - before
before = time.perf_counter()
import kinfolk  # noqa: E402

own_seconds = time.perf_counter() - before

import numpy as np  # noqa: E402

LONGEST_IMPORT = 0.3
"""Seconds, without scikit-learn and scipy."""


def main() -> None:
    rng = np.random.default_rng(0)
    task = np.repeat(["ann", "bob", "cid"], 30)
    X = rng.normal(size=(90, 4))
    y = X @ [1.0, 2.0, -1.0, 0.0] + 0.1 * rng.normal(size=90)
    model = kinfolk.MultiTaskRegressor(tol=1e-6).fit(X, y, task=task)
    assert model.status_ == "certified" and model.rel_gap_ <= 1e-6, model.status_
    assert model.score(X, y, task=task) > 0.95
    classifier = kinfolk.MultiTaskClassifier(kernel="rbf").fit(X, y > 0, task=task)
    assert classifier.predict_proba(X, task="ann").shape == (90, 2)
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/m.safetensors")
        loaded = kinfolk.load(f"{folder}/m.safetensors")
        model.report(f"{folder}/m.html")
    np.testing.assert_array_equal(loaded.predict(X, task=task), model.predict(X, task=task))
    places = f"import {own_seconds:.2f} s, scikit-learn {sklearn_seconds:.2f} s"
    assert own_seconds < LONGEST_IMPORT, places
    print(f"kinfolk {kinfolk.__version__} on Python {sys.version.split()[0]}, {sys.platform}: fine; {places}")


main()
