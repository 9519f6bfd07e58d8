"""Tasks that join, rows that come later."""

import numpy as np
import pytest

from conftest import Tasks
from kinfolk import MultiTaskClassifier, MultiTaskRegressor


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
