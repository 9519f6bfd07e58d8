"""Scaling of features and labels, tasks without labels, and tasks that a model does not know."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GroupKFold, cross_val_score

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelRegressor

TOL = 1e-10


def test_units_of_features_and_labels_do_not_matter(regression):
    d = regression
    factor = np.asarray([1e-6, 1.0, 1e6, 3.0, 1e3, 1e-3])
    unit = {name: scale for name, scale in zip(np.unique(d.task), [1e-6, 1.0, 1e6, 10.0, 5.0], strict=False)}
    scale = np.asarray([unit[name] for name in d.task])
    for loss in ("squared", "epsilon:0.1"):
        plain = MultiTaskRegressor(C=1.0, loss=loss, tol=TOL).fit(d.X, d.y, task=d.task)
        other = MultiTaskRegressor(C=1.0, loss=loss, tol=TOL).fit(d.X * factor + 7, scale * (d.y + 3), task=d.task)
        np.testing.assert_allclose(other.theta_, plain.theta_, rtol=1e-4, atol=1e-6)
        expected = scale * (plain.predict(d.X, task=d.task) + 3)
        np.testing.assert_allclose(other.predict(d.X * factor + 7, task=d.task) / scale, expected / scale, atol=1e-4)


def test_coefficients_are_in_the_units_of_the_data(regression):
    d = regression
    y = 1000 * d.y + 5
    for model in (MultiTaskRegressor(), MultiTaskRegressor(scale="spread"), MultiTaskRegressor(target_scale="common")):
        model.fit(d.X, y, task=d.task)
        index = np.searchsorted(model.tasks_, d.task)
        by_hand = (d.X * model.coef_[index]).sum(axis=1) + model.intercept_[index]
        np.testing.assert_allclose(by_hand, model.predict(d.X, task=d.task), rtol=1e-9)
        assert model.model_.target_scaling is not None
    assert MultiTaskRegressor(target_scale=None).fit(d.X, y, task=d.task).model_.target_scaling is None


def test_what_was_done_is_known(regression, binary):
    d = regression
    assert MultiTaskRegressor().fit(d.X, d.y, task=d.task).scale_ == "mixed"
    assert MultiTaskRegressor().fit(sp.csr_matrix(d.X), d.y, task=d.task).scale_ == "mixed"
    assert MultiTaskRegressor(kernel="precomputed").fit(d.X @ d.X.T, d.y, task=d.task).scale_ == "none"
    classes = MultiTaskClassifier(loss="squared").fit(binary.X, binary.y, task=binary.task)
    assert classes.model_.target_scaling is None
    with pytest.raises(ValueError, match="target_scale"):
        MultiTaskRegressor(target_scale="class").fit(d.X, d.y, task=d.task)


def test_tasks_that_say_little_are_fitted_and_named():
    rng = np.random.default_rng(0)
    X, task = rng.normal(size=(20, 3)), np.asarray(["a"] * 9 + ["b"] * 8 + ["one"] + ["same"] * 2)
    y = X @ [1.0, 2.0, 3.0] + 50
    y[-2:] = 7.0
    model = MultiTaskRegressor().fit(X, y, task=task)
    assert model.notes_[:2] == ["1 task has one label only: one", "1 task has equal labels: same"]
    assert np.isfinite(model.predict(X, task=task)).all() and np.isfinite(model.theta_).all()
    assert abs(model.predict(X[-1:], task=["same"])[0] - 7) < 20
    classes = MultiTaskClassifier().fit(X, np.where(task == "same", "yes", np.where(y > 50, "yes", "no")), task=task)
    assert classes.notes_ and "one class only" in classes.notes_[0] and "same" in classes.notes_[0]
    assert np.isfinite(classes.decision_function(X, task=task)).all()


def test_a_column_without_labels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    table = np.column_stack([X @ [1.0, 2.0, 3.0] + 50, X @ [1.0, 2.0, 2.0], np.full(20, np.nan)])
    model = MultiTaskRegressor(method="fmtl").fit(X, table)
    assert model.notes_[:1] == ["1 task has no labels: nothing is learned about 2"]
    with pytest.raises(ValueError, match="task 2 had no labels in training; unknown_task='mean'"):
        model.predict(X)
    known = model.set_params(unknown_task="mean").predict(X)
    np.testing.assert_allclose(known[:, 2], known[:, :2].mean(axis=1))


def test_unknown_tasks(regression):
    d = regression
    # With kin it is the common part.
    model = MultiTaskRegressor(method="fmtl").fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="row 1: task 'new' is unknown"):
        model.predict(d.X[:2], task=[d.task[0], "new"])
    model.set_params(unknown_task="mean")
    guess = model.predict(d.X[:2], task=[d.task[0], "new"])
    assert guess[0] == model.predict(d.X[:1], task=d.task[:1])[0]
    every = [model.predict(d.X[1:2], task=[name])[0] for name in model.tasks_]
    np.testing.assert_allclose(guess[1], np.mean(every))
    with pytest.raises(ValueError, match="unknown_task"):
        model.set_params(unknown_task="zero").predict(d.X, task=d.task)


def test_unknown_tasks_of_a_table(regression):
    d = regression
    Y = pd.DataFrame({"ann": d.y, "bob": -d.y, "cid": d.y + d.X[:, 0]})
    # Without a common part it is the mean.
    model = MultiTaskRegressor(method="fmtl", unknown_task="mean").fit(d.X, Y)
    guess, every = model.predict(d.X[:3], task=["bob", "new", "ann"]), model.predict(d.X[:3])
    np.testing.assert_allclose(guess, [every[0, 1], every[1].mean(), every[2, 0]])
    classes = MultiTaskClassifier(unknown_task="mean").fit(d.X, np.where(Y > 0, "yes", "no"))
    p, names = classes.predict_proba(d.X, task="new"), classes.predict(d.X, task="new")
    assert p.shape == (100, 2) and names.tolist() == np.where(p[:, 1] > 0.5, "yes", "no").tolist()
    mixed = classes.predict(d.X, task=np.where(np.arange(100) < 50, "new", "1"))
    np.testing.assert_array_equal(mixed, np.append(names[:50], classes.predict(d.X)[50:, 1]))
    with pytest.raises(ValueError, match="task 'new' is unknown.*unknown_task="):
        model.set_params(unknown_task="error").predict(d.X, task="new")
    related = MultiTaskRegressor(atoms={"region": {"ann": "a", "bob": "b", "cid": "a", "isle": "a"}}).fit(d.X, Y)
    assert related.predict(d.X, task="isle").shape == (100,)


def test_leave_one_task_out(regression):
    """Other tasks say something about a task that has no rows, if they are kin."""
    rng = np.random.default_rng(1)
    X, task = rng.normal(size=(120, 4)), np.repeat(np.arange(6), 20)
    y = X @ [1.0, -2.0, 0.5, 3.0] + 0.1 * rng.normal(size=120)
    table = np.column_stack([X, task])
    model = MultiTaskRegressor(task_column=4, unknown_task="mean")
    scores = cross_val_score(model, table, y, groups=task, cv=GroupKFold(6))
    assert scores.min() > 0.9
    splits = list(GroupKFold(6).split(X, y, groups=task))
    for scoring in (None, "select"):
        search = MultiTaskCV(MultiTaskRegressor(), cv=splits, scoring=scoring).fit(X, y, task=task)
        assert search.best_score_ > 0.9


def test_output_kernel_regressor_is_invariant_too(regression):
    d = regression
    table = np.column_stack([d.y, 1e6 * d.y + 1])
    model = OutputKernelRegressor(tol=TOL).fit(d.X, table)
    np.testing.assert_allclose(model.predict(d.X)[:, 1], 1e6 * model.predict(d.X)[:, 0] + 1, rtol=1e-5)
