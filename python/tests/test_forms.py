"""The three ways to say which label belongs to which task give the same model."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge

from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor

TOL = 1e-9


def test_rows_and_column_are_the_same(regression):
    d = regression
    given = MultiTaskRegressor(tol=TOL).fit(d.X, d.y, task=d.task)
    frame = pd.DataFrame(d.X, columns=list("abcdef")).assign(where=d.task)
    by_name = MultiTaskRegressor(tol=TOL, task_column="where").fit(frame, d.y)
    number = np.column_stack([np.unique(d.task, return_inverse=True)[1], d.X])
    by_number = MultiTaskRegressor(tol=TOL, task_column=0).fit(number, d.y)
    for other in (by_name, by_number):
        np.testing.assert_array_equal(other.theta_, given.theta_)
    np.testing.assert_array_equal(by_name.predict(frame), given.predict(d.X, task=d.task))
    assert by_name.tasks_.tolist() == sorted(set(d.task))
    assert by_name.feature_names_in_.tolist() == [*"abcdef", "where"]
    assert by_number.tasks_.tolist() == [0, 1, 2, 3, 4]
    assert given.status_ == "certified" and given.rel_gap_ <= TOL


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_tables_of_all_kinds(regression, kind):
    d = regression
    frame = pd.DataFrame(d.X, columns=list("abcdef")).assign(where=d.task)
    table = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "pyarrow": lambda: pa.Table.from_pandas(frame),
    }[kind]()
    model = MultiTaskRegressor(task_column="where").fit(table, d.y)
    plain = MultiTaskRegressor().fit(d.X, d.y, task=d.task)
    np.testing.assert_array_equal(model.predict(table), plain.predict(d.X, task=d.task))
    assert model.feature_names_in_.tolist() == [*"abcdef", "where"]


def test_a_table_with_missing_labels_is_the_same_as_rows():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 4)), rng.normal(size=(30, 3))
    Y[rng.random(Y.shape) < 0.4] = np.nan
    # By default, the common part and the own one of columns of a table are not those of tasks with rows of their own.
    same = {"method": "kin:common=100,own=10", "tol": 1e-10}
    wide = MultiTaskRegressor(**same).fit(X, pd.DataFrame(Y, columns=["u", "v", "w"]))
    row, column = np.nonzero(~np.isnan(Y))
    names = np.asarray(["u", "v", "w"])[column]
    rows = MultiTaskRegressor(C=wide.C_, **same).fit(X[row], Y[row, column], task=names)
    np.testing.assert_allclose(rows.theta_, wide.theta_, rtol=1e-4, atol=1e-5 * wide.theta_.max())
    assert wide.predict(X).shape == (30, 3) and wide.tasks_.tolist() == ["u", "v", "w"]
    np.testing.assert_allclose(rows.predict(X, task=["v"] * 30), wide.predict(X)[:, 1], rtol=1e-4, atol=1e-5)


def test_independent_tasks_are_ridge_regression(regression):
    d = regression
    as_given = {"scale": "none", "target_scale": "none"}
    model = MultiTaskRegressor(C=2.0, method="stl", tol=1e-12, **as_given).fit(d.X, d.y, task=d.task)
    for t, name in enumerate(model.tasks_):
        own = d.task == name
        ridge = Ridge(alpha=0.5).fit(d.X[own], d.y[own])
        np.testing.assert_allclose(model.coef_[t], ridge.coef_, rtol=1e-5, atol=1e-7)
        np.testing.assert_allclose(model.intercept_[t], ridge.intercept_, rtol=1e-5, atol=1e-7)


def test_sparse_and_single_precision(regression):
    d = regression
    x = np.where(np.abs(d.X) > 1, d.X, 0)
    same = MultiTaskRegressor(tol=TOL, scale="spread")  # by default dense features are centred, too
    dense = same.fit(x, d.y, task=d.task)
    for kind in (sp.csr_matrix, sp.csr_array, sp.csc_array, sp.coo_matrix):
        sparse = MultiTaskRegressor(tol=TOL).fit(kind(x), d.y, task=d.task)
        np.testing.assert_allclose(
            sparse.predict(kind(x), task=d.task), dense.predict(x, task=d.task), rtol=1e-4, atol=1e-5
        )
    single = MultiTaskRegressor(tol=TOL, scale="spread").fit(x.astype(np.float32), d.y, task=d.task)
    np.testing.assert_allclose(single.theta_, dense.theta_, rtol=1e-4, atol=1e-5 * dense.theta_.max())


def test_precomputed_kernels(regression):
    d = regression
    linear = MultiTaskRegressor(tol=1e-10, C=1.0, bias=0.0, scale="none").fit(d.X, d.y, task=d.task)
    gram = MultiTaskRegressor(tol=1e-10, C=1.0, bias=0.0, kernel="precomputed").fit(d.X @ d.X.T, d.y, task=d.task)
    np.testing.assert_allclose(gram.theta_, linear.theta_, rtol=1e-4, atol=1e-5 * linear.theta_.max())
    new = np.random.default_rng(1).normal(size=(7, d.X.shape[1]))
    np.testing.assert_allclose(
        gram.predict(new @ d.X.T, task=d.task[:7]), linear.predict(new, task=d.task[:7]), rtol=1e-4, atol=1e-5
    )


def test_two_classes(binary):
    d = binary
    model = MultiTaskClassifier(loss="logistic").fit(d.X, d.y, task=d.task)
    score = model.decision_function(d.X, task=d.task)
    assert model.classes_.tolist() == ["no", "yes"] and score.shape == (100,)
    np.testing.assert_array_equal(model.predict(d.X, task=d.task), np.where(score > 0, "yes", "no"))
    assert model.score(d.X, d.y, task=d.task) > 0.9
    assert set(model.score_per_task(d.X, d.y, task=d.task)) == set(d.names)


def test_more_classes_in_some_tasks():
    rng = np.random.default_rng(2)
    X, task = rng.normal(size=(120, 4)), np.repeat(["two", "three", "one"], 40)
    y = np.where(X[:, 0] > 0, "a", "b")
    y[(task == "three") & (X[:, 1] > 0.5)] = "c"
    y[task == "one"] = "b"
    model = MultiTaskClassifier(C=10.0, calibrate="sigmoid").fit(X, y, task=task)
    assert model.theta_names_ == ["one", "three=a", "three=b", "three=c", "two"]
    guess, score, sure = (f(X, task=task) for f in (model.predict, model.decision_function, model.predict_proba))
    assert set(guess[task == "two"]) <= {"a", "b"} and set(guess[task == "one"]) == {"b"}
    assert np.isneginf(score[task == "two"][:, 2]).all() and (sure[task == "two"][:, 2] == 0).all()
    np.testing.assert_allclose(sure.sum(axis=1), 1)
    assert model.score(X, y, task=task) > 0.8


def test_a_table_of_classes():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    Y = np.column_stack([X[:, 0] > 0, X[:, 0] + X[:, 1] > 0, X[:, 1] > 0]).astype(float)
    Y[rng.random(Y.shape) < 0.3] = np.nan
    model = MultiTaskClassifier(C=10.0).fit(X, Y)
    assert model.predict(X).shape == (60, 3) and model.classes_.tolist() == [0.0, 1.0]
    assert list(model.score_per_task(X, Y)) == [0, 1, 2]
    assert model.score(X, Y) > 0.85
    words = np.where(np.isnan(Y), None, np.where(Y > 0, "on", "off")).astype(object)
    named = MultiTaskClassifier(C=10.0).fit(X, words)
    assert set(np.unique(named.predict(X))) == {"on", "off"}
    np.testing.assert_array_equal(named.predict(X) == "on", model.predict(X) == 1)


def test_a_table_of_different_classes():
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 3))
    Y = pd.DataFrame({"size": np.digitize(X[:, 0], [-0.5, 0.5]), "colour": np.where(X[:, 1] > 0, "red", "blue")})
    Y.loc[::7, "colour"] = None
    model = MultiTaskClassifier(C=10.0, calibrate="sigmoid").fit(X, Y)
    assert model.theta_names_ == ["size=0", "size=1", "size=2", "colour"] and [len(own) for own in model.classes_] == [
        3,
        2,
    ]
    guess, sure = model.predict(X), model.predict_proba(X)
    assert guess.shape == (80, 2) and [p.shape for p in sure] == [(80, 3), (80, 2)]
    for t, own in enumerate(model.classes_):
        np.testing.assert_array_equal(own[sure[t].argmax(axis=1)].astype(object), guess[:, t])


def test_a_column_that_has_seen_one_class_knows_which():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 3))
    Y = np.column_stack([X[:, 0] > 0, np.zeros(40), X[:, 0] > 0.1]).astype(int)
    model = MultiTaskClassifier(C=1.0).fit(X, Y)
    assert model.classes_.tolist() == [0, 1] and model.decision_function(X)[:, 1].mean() < 0


def test_probabilities_choose_as_predictions_do(binary):
    d = binary
    for weight in (None, "balanced", {"yes": 5.0}):
        model = MultiTaskClassifier(calibrate="sigmoid", class_weight=weight).fit(d.X, d.y, task=d.task)
        sure = model.predict_proba(d.X, task=d.task)
        np.testing.assert_array_equal(model.classes_[sure.argmax(axis=1)], model.predict(d.X, task=d.task))
        assert np.corrcoef(sure[:, 1], d.y == "yes")[0, 1] > 0.5


def test_losses_per_task(regression):
    d = regression
    model = MultiTaskRegressor(loss={"task 1": "huber:0.5", "task 3": "epsilon:0.1"}, tol=1e-6).fit(
        d.X, d.y, task=d.task
    )
    assert model.status_ == "certified"
    with pytest.raises(ValueError, match="there is no task 'task 9'"):
        MultiTaskRegressor(loss={"task 9": "huber"}).fit(d.X, d.y, task=d.task)


def test_classes_as_tasks_and_outputs_as_tasks():
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    model = OutputKernelClassifier(scale="unit", loss="squared", kernel="linear").fit(X[:800], y[:800])
    assert model.score(X[800:], y[800:]) > 0.85 and model.theta_.shape == (10, 10)
    assert model.dual_coef_.shape == (800, 10) and model.coef_.shape == (10, 64)
    sure = OutputKernelClassifier(scale="unit", calibrate="sigmoid").fit(X[:800], y[:800])
    np.testing.assert_allclose(sure.predict_proba(X[800:]).sum(axis=1), 1)
    np.testing.assert_array_equal(sure.predict_proba(X[800:]).argmax(axis=1), sure.predict(X[800:]))
    outputs = np.eye(10)[y] * 2 - 1
    regressor = OutputKernelRegressor(scale="unit", C=model.C_).fit(X[:800], outputs[:800])
    np.testing.assert_allclose(regressor.predict(X[800:]), model.decision_function(X[800:]), rtol=1e-9, atol=1e-12)


def test_coefficients_are_those_of_inputs_as_given(regression):
    d = regression
    x = d.X * 3 + 5
    for scale in ("none", "standard"):
        model = MultiTaskRegressor(scale=scale).fit(x, d.y, task=d.task)
        index = np.searchsorted(model.tasks_, d.task)
        by_hand = (x * model.coef_[index]).sum(axis=1) + model.intercept_[index]
        np.testing.assert_allclose(by_hand, model.predict(x, task=d.task), rtol=1e-8, atol=1e-8)


def test_other_methods_and_given_matrices(regression):
    d = regression
    for method, params in [
        ("stl", None),
        ("pooled", None),
        ("mtl", {"mu": 0.1}),
        ("cmtl", {"clusters": 2}),
        ("gmtl", None),
    ]:
        model = MultiTaskRegressor(method=method, method_params=params).fit(d.X, d.y, task=d.task)
        assert model.score(d.X, d.y, task=d.task) > 0.5
        given = {"gmtl": "optimal given the groups", "mtfl": "optimal given the groups and their weights"}
        assert model.claim_ == given.get(method, "optimal") and model.rel_gap_ <= model.tol
    alone = MultiTaskRegressor(C=1.0, output="fixed", theta=np.eye(5), tol=TOL).fit(d.X, d.y, task=d.task)
    stl = MultiTaskRegressor(C=1.0, method="stl", tol=TOL).fit(d.X, d.y, task=d.task)
    np.testing.assert_allclose(alone.predict(d.X, task=d.task), stl.predict(d.X, task=d.task), rtol=1e-4, atol=1e-5)


def test_every_regulariser_of_the_engine_is_reachable(regression):
    d = regression
    fit = lambda **params: MultiTaskRegressor(C=1.0, tol=TOL, **params).fit(d.X, d.y, task=d.task)
    np.testing.assert_array_equal(fit(k=2).theta_, fit(method="kin:k=2").theta_)
    by_name, by_text = fit(method="fmtl", k=2), fit(method="fmtl:k=2")
    np.testing.assert_array_equal(by_name.theta_, by_text.theta_)
    np.testing.assert_array_equal(by_name.theta_, fit(method="fmtl", method_params={"k": 2}).theta_)
    # z^2 / 2 is the power family with k = 1.
    series = fit(output="series", method_params={"coefficients": [0.0, 0.5]})
    np.testing.assert_array_equal(series.theta_, fit(method="fmtl:output=series,coefficients=[0,0.5]").theta_)
    np.testing.assert_allclose(series.theta_, fit(method="fmtl").theta_, rtol=1e-4, atol=1e-6)
    with pytest.raises(ValueError, match="k is given twice"):
        fit(k=2, method="fmtl:k=3")
    prior = np.eye(5) + 0.1
    assert fit(output="exp", prior=prior).status_ == "certified" and fit(prior=prior).status_ == "certified"
    relative = MultiTaskRegressor(C="strength:0.5").fit(d.X, d.y, task=d.task)
    assert relative.C_ > 0 and relative.C_ != MultiTaskRegressor().fit(d.X, d.y, task=d.task).C_
    np.testing.assert_array_equal(fit(kernel="rbf:0.5").theta_, fit(kernel="rbf", gamma=0.5).theta_)
