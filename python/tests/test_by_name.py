"""Tables of labels and weights are read by the names of their columns, and tasks by their names."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import get_scorer

from kinfolk import (
    MultiTaskClassifier,
    MultiTaskCV,
    MultiTaskRegressor,
    OutputKernelClassifier,
    OutputKernelRegressor,
    load,
)

ALL = [MultiTaskRegressor, OutputKernelRegressor, MultiTaskClassifier, OutputKernelClassifier]


def labels(d, kind, missing=False):
    """A table that suits the estimator, whose columns differ."""
    table = pd.DataFrame({"p": d.y, "q": 3 + d.y**2, "r": -d.y})
    if "Classifier" in kind.__name__:
        table = (table > 1).astype(float)
    if missing:
        table.loc[::4, "q"] = np.nan
    return table


@pytest.mark.parametrize("kind", ALL)
def test_labels_in_another_order(regression, kind):
    d = regression
    table = labels(d, kind, missing=True)
    other = table[["r", "p", "q"]]
    model = kind(C=1.0).fit(d.X, table)
    assert model.score(d.X, other) == model.score(d.X, table) == model.score(d.X, table.to_numpy())
    assert model.permutation_importance(d.X, other, n_repeats=1) == model.permutation_importance(
        d.X, table, n_repeats=1
    )
    if hasattr(model, "score_per_task"):
        assert model.score_per_task(d.X, other) == model.score_per_task(d.X, table)
    renamed = table.rename(columns={"p": "z"})
    for wrong, why in [(renamed, "there is no task 'p'"), (table.assign(z=1), "is not a task")]:
        with pytest.raises(ValueError, match=f"y: .*{why}"):
            model.score(d.X, wrong)
    # A fit without names has none to compare.
    numbered = kind(C=1.0).fit(d.X, table.to_numpy())
    assert numbered.score(d.X, table) == numbered.score(d.X, table.to_numpy())


@pytest.mark.parametrize("kind", ALL)
def test_weights_in_another_order(regression, kind):
    d = regression
    table = labels(d, kind)
    weight = pd.DataFrame(np.random.default_rng(0).random(table.shape), columns=list("pqr"))
    model = kind(C=1.0).fit(d.X, table, sample_weight=weight)
    same = kind(C=1.0).fit(d.X, table, sample_weight=weight[["q", "r", "p"]])
    by_array = kind(C=1.0).fit(d.X, table, sample_weight=weight.to_numpy())
    np.testing.assert_array_equal(model.theta_, same.theta_)
    np.testing.assert_array_equal(model.theta_, by_array.theta_)
    score = model.score(d.X, table, sample_weight=weight)
    assert score == model.score(d.X, table, sample_weight=weight[["r", "q", "p"]])
    assert score == pytest.approx(model.score(d.X, table, sample_weight=2 * weight.to_numpy()))
    with pytest.raises(ValueError, match="sample_weight: there is no task 'p'"):
        kind(C=1.0).fit(d.X, table, sample_weight=weight.rename(columns={"p": "z"}))


@pytest.mark.parametrize("kind", ALL)
def test_weights_of_missing_labels_do_not_count(regression, kind):
    d = regression
    table = labels(d, kind, missing=True)
    weight = table.notna().astype(float).where(table.notna())
    assert weight.isna().any().any()
    model = kind(C=1.0).fit(d.X, table, sample_weight=weight)
    np.testing.assert_array_equal(model.theta_, kind(C=1.0).fit(d.X, table, sample_weight=weight.fillna(7)).theta_)
    assert np.isfinite(model.score(d.X, table, sample_weight=weight))


def test_sets_of_labels_are_scored_without_missing_ones():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 3))
    table = (X[:, :2] + 0.5 * rng.normal(size=(60, 2)) > 0).astype(float)
    model = OutputKernelClassifier(C=1.0).fit(X, table)
    right = model.predict(X) == table
    assert model.score(X, table) == pytest.approx(right.all(axis=1).mean())
    holes = table.copy()
    holes[::3, 0], holes[5] = np.nan, np.nan
    known = ~np.isnan(holes)
    rows = known.any(axis=1)
    assert model.score(X, holes) == pytest.approx((right | ~known).all(axis=1)[rows].mean())
    search = MultiTaskCV(OutputKernelClassifier(), Cs=[0.1, 1.0], param_grid={}, cv=3, scoring=None).fit(X, holes)
    assert 0.3 < search.best_score_ <= 1.0 and 0.3 < search.score(X, holes) <= 1.0
    assert list(model.permutation_importance(X, holes, n_repeats=2))[-1] == 2


PAIRS = [("died", "survived"), ("normal", "abnormal"), ("yes", "no"), ("1", "0")]


@pytest.mark.parametrize("positive, negative", PAIRS)
def test_classes_of_the_command_are_sorted(regression, command, tmp_path, positive, negative):
    d = regression
    frame = pd.DataFrame(d.X, columns=[f"x{i}" for i in range(d.X.shape[1])]).assign(where=d.task)
    frame["state"] = np.where(d.y > 0, positive, negative)
    frame.to_csv(tmp_path / "d.csv", index=False)
    words = ["--task", "where", "--target", "state", "--kernel", "linear", "-o", "m", "--quiet"]
    subprocess.run([command, "fit", "d.csv", *words], cwd=tmp_path, check=True)
    rows = pd.read_csv(tmp_path / "d.csv")
    model = load(tmp_path / "m")
    assert model.classes_.tolist() == sorted(rows["state"].unique().tolist())
    for path in (tmp_path / "m", tmp_path / "again"):
        model = load(path)
        truth = rows["state"]
        assert get_scorer("roc_auc")(model, rows, truth) > 0.95
        assert get_scorer("accuracy")(model, rows, truth) > 0.85
        assert get_scorer("neg_log_loss")(model, rows, truth) > -0.5
        score = model.decision_function(rows)
        np.testing.assert_array_equal(score > 0, model.predict(rows) == model.classes_[1])
        at = np.searchsorted(model.tasks_, d.task)
        direct = (d.X * model.coef_[at]).sum(axis=1) + model.intercept_[at]
        np.testing.assert_allclose(score, direct, atol=1e-8)
        model.save(tmp_path / "again")
    model.report(tmp_path / "r.html", rows, truth)
    # The command reads what Python wrote; its scores are positive for the same word as before.
    subprocess.run([command, "predict", "again", "d.csv", "-o", "p.csv", "--quiet"], cwd=tmp_path, check=True)
    scores = pd.read_csv(tmp_path / "p.csv")["score"]
    engine = load(tmp_path / "m")
    np.testing.assert_allclose(scores, engine._targets.sign * engine.decision_function(rows), atol=1e-8)


def test_a_single_column_keeps_its_name(regression):
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, pd.DataFrame({"ann": d.y}))
    assert model.tasks_.tolist() == model.theta_names_ == ["ann"]
    np.testing.assert_array_equal(model.predict(d.X, task="ann"), model.predict(d.X))
    with pytest.raises(ValueError, match="task 'bob' is unknown"):
        model.predict(d.X, task="bob")
    model.update(d.X[:5], d.y[:5])
    assert model.tasks_.tolist() == ["ann"]
    assert model.add_task(d.X, -d.y, "bob").tasks_.tolist() == ["ann", "bob"]
    model.remove_task("ann")
    assert model.tasks_.tolist() == ["bob"] and model.predict(d.X, task="bob").shape == (100,)
    numbered = MultiTaskRegressor(C=1.0).fit(d.X, np.column_stack([d.y, -d.y])).remove_task(0)
    assert numbered.tasks_.tolist() == [1] and numbered.predict(d.X, task=1).shape == (100,)
    classes = MultiTaskClassifier(C=1.0).fit(d.X, pd.DataFrame({"sign": np.sign(d.y)}))
    assert classes.tasks_.tolist() == ["sign"]
    with pytest.raises(ValueError, match="task 'east' is unknown.*fitted without task="):
        MultiTaskRegressor(C=1.0).fit(d.X, d.y).predict(d.X, task="east")


def test_names_of_tasks_are_what_they_look_like(regression):
    d = regression
    half = np.arange(100) % 2
    large = np.asarray([2**63 + 1, 2**63 + 5], dtype=np.uint64)[half]
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=large)
    assert model.tasks_.tolist() == ["9223372036854775809", "9223372036854775813"]
    assert model.predict(d.X, task=large).shape == (100,)
    for names in (np.asarray([b"a", b"b"])[half], np.asarray([b"a", b"b"], dtype=object)[half]):
        assert MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=names).tasks_.tolist() == ["a", "b"]
    assert MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=[1.0, "x"] * 50).tasks_.tolist() == ["1", "x"]
    for both in ([1, "1"] * 50, np.asarray([1, "1"] * 50, dtype=object)):
        with pytest.raises(ValueError, match="task, row 1: the number 1 and the text '1' are both there"):
            MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=both)
    with pytest.raises(ValueError, match="row 0: task .*these bytes are not UTF-8"):
        MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=np.asarray([b"\xff", b"b"])[half])
    with pytest.raises(ValueError, match="tasks are named by whole numbers"):
        MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=half * 1e17)


def test_a_column_without_labels_has_no_predictions(regression):
    d = regression
    table = pd.DataFrame({"p": d.y, "q": np.nan, "r": -d.y})
    model = OutputKernelRegressor().fit(d.X, table)
    with pytest.warns(UserWarning, match="without labels in training, their scores are NaN: q"):
        found = model.predict(d.X)
    assert np.isnan(found[:, 1]).all() and np.isfinite(found[:, [0, 2]]).all()
    with pytest.warns(UserWarning, match="NaN: q"):
        assert model.score(d.X, table) > 0.5
        low, high = model.predict_interval(d.X)
    assert np.isnan(low[:, 1]).all() and (low < high)[:, [0, 2]].all()
    signs = (table > 0).astype(float).where(table.notna())
    with pytest.warns(UserWarning, match="NaN: q"):
        assert np.isnan(OutputKernelClassifier(C=1.0).fit(d.X, signs).predict_proba(d.X)[:, 1]).all()
