"""Tasks that join, rows that come later."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

from conftest import Tasks
from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelRegressor


def test_a_task_joins(regression):
    d, new = regression, Tasks(n_tasks=1, seed=5, names=["zebra"])
    model = MultiTaskRegressor(C=0.1, tol=1e-9, max_passes=100_000).fit(d.X, d.y, task=d.task)
    model.add_task(new.X, new.y, "zebra")
    X, y, task = np.vstack([d.X, new.X]), np.concatenate([d.y, new.y]), np.concatenate([d.task, new.task])
    whole = MultiTaskRegressor(C=0.1, tol=1e-9, max_passes=100_000).fit(X, y, task=task)
    np.testing.assert_allclose(model.theta_, whole.theta_, rtol=1e-3)
    assert model.tasks_.tolist()[-1] == "zebra"
    with pytest.raises(ValueError, match="there is a task 'zebra' already"):
        model.add_task(new.X, new.y, "zebra")


def test_rows_come_later(binary):
    d = binary
    model = MultiTaskClassifier(C=0.1, tol=1e-9, max_passes=100_000).fit(d.X[:80], d.y[:80], task=d.task[:80])
    model.update(d.X[80:], d.y[80:], task=d.task[80:])
    whole = MultiTaskClassifier(C=0.1, tol=1e-9, max_passes=100_000).fit(d.X, d.y, task=d.task)
    np.testing.assert_allclose(model.theta_, whole.theta_, rtol=1e-3)
    with pytest.raises(ValueError, match="task 'nobody' is unknown"):
        model.update(d.X[:1], d.y[:1], task=["nobody"])


def test_tables_grow_both_ways():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(40, 2))
    model = MultiTaskRegressor().fit(X[:30], Y[:30])
    assert model.update(X[30:], Y[30:]).dual_coef_.shape == (40, 2)
    model.add_task(X[:10], X[:10, 0], name=2)
    assert model.tasks_.tolist() == [0, 1, 2] and model.predict(X).shape == (40, 3)


def test_tables_of_words_grow_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    Y = np.where(X[:, :2] > 0, "on", "off")
    model = MultiTaskClassifier().fit(X[:30], Y[:30]).update(X[30:], Y[30:])
    model.add_task(X[:20], np.where(X[:20, 2] > 0, "on", "off"), name="third")
    assert model.tasks_.tolist() == ["0", "1", "third"] and set(np.unique(model.predict(X))) == {"on", "off"}


def test_what_fails_leaves_the_model_as_it_was(regression):
    d = regression
    model = MultiTaskRegressor().fit(d.X, d.y, task=d.task)
    before = model.predict(d.X, task=d.task)
    with pytest.raises(ValueError, match="NaN"):
        model.add_task(np.full((2, d.X.shape[1]), np.nan), [1.0, 2.0], "new")
    assert "new" not in model.tasks_
    np.testing.assert_array_equal(model.predict(d.X, task=d.task), before)


def test_without_data_it_says_so(regression):
    d = regression
    model = MultiTaskRegressor(keep_data=False).fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="the training data are not here"):
        model.update(d.X, d.y, task=d.task)


def test_changed_tasks_and_weights_are_noticed(regression):
    d = regression
    task, weight = d.task.copy(), np.ones(100)
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=task, sample_weight=weight)
    for values, other in [(task, task[1]), (weight, 3.0)]:
        before = values[0]
        values[0] = other if other != before else d.task[d.task != before][0]
        with pytest.raises(ValueError, match="update: task or sample_weight was changed after the fit, in place"):
            model.update(d.X[:5], d.y[:5], task=d.task[:5])
        values[0] = before
    model.update(d.X[:5], d.y[:5], task=d.task[:5])


def test_groups_and_times_are_kept(regression):
    d = regression
    groups, times = np.arange(100) // 10, np.arange(100.0)
    for key, values in (("groups", groups), ("times", times)):
        part = MultiTaskRegressor().fit(d.X[:80], d.y[:80], task=d.task[:80], **{key: values[:80]})
        with pytest.raises(ValueError, match=f"update: the fit had {key}; give {key}=... for the new rows"):
            part.update(d.X[80:], d.y[80:], task=d.task[80:])
        part.update(d.X[80:], d.y[80:], task=d.task[80:], **{key: values[80:]})
        whole = MultiTaskRegressor().fit(d.X, d.y, task=d.task, **{key: values})
        assert part.C_ == pytest.approx(whole.C_) and part.cv_score_ == pytest.approx(whole.cv_score_, abs=1e-6)
        keep = d.task != d.task[0]
        fewer = MultiTaskRegressor().fit(d.X[keep], d.y[keep], task=d.task[keep], **{key: values[keep]})
        assert whole.remove_task(d.task[0]).C_ == pytest.approx(fewer.C_)
    plain = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="update: the fit had no groups; for groups call fit with all rows"):
        plain.update(d.X, d.y, task=d.task, groups=groups)


TIGHT = {"C": 1.0, "tol": 1e-9, "target_scale": None, "scale": None}


def test_weights_of_labels_in_all_ways_to_add_data(regression):
    d = regression
    table = pd.DataFrame({"p": d.y, "q": -d.y, "r": d.X[:, 0]})
    weight = np.random.default_rng(3).random(table.shape) + 0.1
    whole = MultiTaskRegressor(**TIGHT).fit(d.X, table, sample_weight=weight)

    def agrees(model, other=whole):
        np.testing.assert_allclose(model.predict(d.X), other.predict(d.X), atol=1e-3)

    first, rest = slice(0, 80), slice(80, 100)
    for add in ("update", "partial_fit"):
        part = MultiTaskRegressor(**TIGHT).fit(d.X[first], table[first], sample_weight=weight[first])
        agrees(getattr(part, add)(d.X[rest], table[rest][["r", "p", "q"]], sample_weight=weight[rest]))
    ones = np.vstack([np.ones((80, 3)), weight[rest]])
    mixed = MultiTaskRegressor(**TIGHT).fit(d.X[first], table[first])
    mixed.update(d.X[rest], table[rest], sample_weight=weight[rest])
    agrees(mixed, MultiTaskRegressor(**TIGHT).fit(d.X, table, sample_weight=ones))
    # Without a column, and with another one whose rows are new.
    two = MultiTaskRegressor(**TIGHT).fit(d.X, table[["p", "r"]], sample_weight=weight[:, [0, 2]])
    agrees(whole.remove_task("q"), two)
    added = two.add_task(d.X[:30], d.y[:30], "new", sample_weight=weight[:30, 1])
    rows = pd.concat([table[["p", "r"]], pd.DataFrame({"new": d.y[:30]})], ignore_index=True)
    each = np.vstack([np.column_stack([weight[:, [0, 2]], np.ones(100)]), np.repeat(weight[:30, 1:2], 3, axis=1)])
    agrees(added, MultiTaskRegressor(**TIGHT).fit(np.vstack([d.X, d.X[:30]]), rows, sample_weight=each))
    signs = (table > 0).astype(int)
    model = MultiTaskClassifier(C=1.0, calibrate="sigmoid").fit(d.X, signs, sample_weight=weight)
    assert model.update(d.X, signs, sample_weight=weight).predict_proba(d.X).shape == (100, 3)
    search = MultiTaskCV(MultiTaskClassifier(), Cs=[1.0], param_grid={}, cv=3).fit(d.X, signs, sample_weight=weight)
    assert search.predict(d.X).shape == (100, 3)


def test_partial_fit_takes_new_tasks_classes_and_weights(regression):
    d = regression
    names = np.unique(d.task)
    old = np.isin(d.task, names[:3])
    weight = np.linspace(0.5, 1.5, 100)
    model = MultiTaskRegressor(**TIGHT).partial_fit(d.X[old], d.y[old], task=d.task[old], sample_weight=weight[old])
    model.partial_fit(d.X[~old], d.y[~old], task=d.task[~old], sample_weight=weight[~old])
    whole = MultiTaskRegressor(**TIGHT).fit(d.X, d.y, task=d.task, sample_weight=weight)
    np.testing.assert_allclose(model.predict(d.X, task=d.task), whole.predict(d.X, task=d.task), atol=1e-3)
    with pytest.raises(ValueError, match="is unknown; .*add_task and partial_fit take new ones"):
        model.update(d.X[:2], d.y[:2], task="stranger")
    # Rows of weight zero change nothing.
    before = model.predict(d.X, task=d.task)
    model.partial_fit(d.X[:5], 1e6 + d.y[:5], task=d.task[:5], sample_weight=np.zeros(5))
    np.testing.assert_allclose(model.predict(d.X, task=d.task), before, atol=1e-3)
    sums = MultiTaskRegressor(C=1.0, keep_data=False).partial_fit(d.X, d.y, task=d.task)
    before = sums.predict(d.X, task=d.task)
    sums.partial_fit(d.X[:5], 1e6 + d.y[:5], task=d.task[:5], sample_weight=np.zeros(5))
    np.testing.assert_allclose(sums.predict(d.X, task=d.task), before, atol=1e-3)
    with pytest.raises(ValueError, match="sample_weight: all weights of labels are zero"):
        MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task, sample_weight=np.zeros(100))


def test_declared_classes(regression):
    d = regression
    model = MultiTaskClassifier(C=1.0).partial_fit(d.X, np.zeros(100, int), task=d.task, classes=[2, 0, 1])
    assert model.classes_.tolist() == [0, 1, 2] and model.predict_proba(d.X, task=d.task).shape == (100, 3)
    model.partial_fit(d.X, (d.y > 0).astype(int), task=d.task)
    assert model.classes_.tolist() == [0, 1, 2] and set(model.predict(d.X, task=d.task)) == {0, 1}
    with pytest.raises(ValueError, match="has the class 7; those of the model are 0, 1, 2"):
        model.partial_fit(d.X, np.full(100, 7), task=d.task)
    model.fit(d.X, np.where(d.y > 0, "a", "b"), task=d.task)
    assert model.classes_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="classes: they are for one label in each row"):
        MultiTaskClassifier(C=1.0).partial_fit(d.X, np.eye(2)[(d.y > 0).astype(int)], classes=[0, 1])


def test_copies_can_be_updated(regression):
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    before = model.predict(d.X, task=d.task)
    for twin in (copy.copy(model), copy.deepcopy(model)):
        twin.update(d.X[:9], d.y[:9] + 9, task=d.task[:9])
        np.testing.assert_array_equal(model.predict(d.X, task=d.task), before)
        assert not np.array_equal(twin.predict(d.X, task=d.task), before)
    search = MultiTaskCV(Cs=[1.0], param_grid={}, cv=3).fit(d.X, d.y, task=d.task)
    first = search.predict(d.X, task=d.task)
    copy.deepcopy(search).update(d.X[:9], d.y[:9] + 9, task=d.task[:9])
    np.testing.assert_array_equal(search.predict(d.X, task=d.task), first)


def test_intervals_after_pickling(regression):
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="fit with C='auto', or call it once before the model is pickled"):
        pickle.loads(pickle.dumps(model)).predict_interval(d.X, task=d.task)
    low, _ = model.predict_interval(d.X, task=d.task)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_interval(d.X, task=d.task)[0], low)
    model.update(d.X[:5], d.y[:5] + 100, task=d.task[:5])
    assert not np.array_equal(model.predict_interval(d.X, task=d.task)[0], low)
    table = np.column_stack([d.y, -d.y])
    chosen = OutputKernelRegressor().fit(d.X, table)
    low, high = pickle.loads(pickle.dumps(chosen)).predict_interval(d.X, coverage=0.8)
    assert 0.6 < np.mean((low <= table) & (table <= high)) <= 1.0
    with pytest.raises(ValueError, match="the model has no errors of held-out rows; fit with C='auto'"):
        OutputKernelRegressor(C=1.0).fit(d.X, table).predict_interval(d.X)
