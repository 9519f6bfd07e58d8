"""New rows that are far from the training rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from kinfolk import FarOffWarning, MultiTaskRegressor, OutputKernelRegressor


def test_far_off_values_are_warned_about_once_for_each_call() -> None:
    rng = np.random.default_rng(0)
    X, task = rng.uniform(0, 10, size=(60, 2)), np.repeat(["a", "b", "c"], 20)
    y = X @ [1.0, 2.0]
    frame = pd.DataFrame(X, columns=["age", "size"])
    model = MultiTaskRegressor(C=1.0).fit(frame, y, task=task)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame, task=task)
    new = frame.iloc[:3].copy()
    new.loc[new.index[1], "size"] = 500.0
    for predict in (model.predict, model.predict_interval):
        with pytest.warns(FarOffWarning, match=r'"size" \(1 row, such as 500; in training') as caught:
            predict(new, task="a")
        assert sum(issubclass(each.category, FarOffWarning) for each in caught) == 1
    three = np.column_stack([X[:, 0], np.repeat([1, 2, 3], 20), X[:, 1]])
    for column in (1, -2):
        numbered = pd.DataFrame(three, columns=["age", "task", "size"])
        model = MultiTaskRegressor(C=1.0, task_column=column).fit(numbered, y)
        with pytest.warns(FarOffWarning, match='"size" '):
            model.predict(numbered.assign(size=500.0))
    words = frame.assign(colour=["red", "blue"] * 30)
    model = MultiTaskRegressor(C=1.0).fit(words, y, task=task)
    with pytest.warns(FarOffWarning, match='"age"'):
        model.predict(words.assign(age=-90.0), task=task)
    wide = OutputKernelRegressor(C=1.0).fit(X, np.column_stack([y, -y]))
    with pytest.warns(FarOffWarning, match="feature 0"):
        wide.predict(X * [30, 1])


def test_one_model_has_intervals_for_known_and_for_new_tasks() -> None:
    rng = np.random.default_rng(1)
    X, task = rng.normal(size=(240, 3)), np.repeat([f"t{i:02}" for i in range(12)], 20)
    level = np.repeat(rng.normal(size=12), 20)
    y = X @ [1.0, 2.0, 0.0] + 3 * level + 0.1 * rng.normal(size=240)
    # A task with three rows, whose labels are far apart.
    few = np.append(task, ["few"] * 3), np.vstack([X, X[:3]]), np.append(y, [-90.0, 0.0, 90.0])
    model = MultiTaskRegressor(interval_new_tasks=True, unknown_task="mean").fit(few[1], few[2], task=few[0])
    low, high = model.predict_interval(X[:2], task=["new", "t03"])
    assert (low < high).all() and high[0] - low[0] > high[1] - low[1]
    few_low, few_high = model.predict_interval(X[:1], task="few")
    assert few_high[0] - few_low[0] <= (high[0] - low[0]) * (1 + 1e-9)
    plain = MultiTaskRegressor(unknown_task="mean").fit(X, y, task=task)
    assert np.isnan(plain.predict_interval(X[:1], task="new")[0]).all()
    by_group = MultiTaskRegressor(unknown_task="mean").fit(X, y, task=task, groups=task)
    low, high = by_group.predict_interval(X[:1], task="new")
    assert low[0] < high[0]
    with pytest.raises(ValueError, match="errors for new tasks cannot be measured"):
        MultiTaskRegressor(interval_new_tasks=True).fit(X, y)
