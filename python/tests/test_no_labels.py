"""A column of labels that are all missing: the other tasks are learned, and a note names it."""

import numpy as np
import pandas as pd
import pytest

from kinfolk import MultiTaskClassifier, MultiTaskRegressor


def frame(d, *columns):
    """The labels in each column, of which some are missing, and one column without labels."""
    table = pd.DataFrame({f"t{i}": labels for i, labels in enumerate(columns)}, dtype=object)
    table.loc[::7, "t0"] = None
    return table.assign(nothing=None)


def test_classifiers_learn_the_others(binary):
    d = binary
    sure = np.where(d.y == d.y[0], "yes", "no")
    three = np.asarray(["a", "b", "c"])[np.arange(100) % 3]
    for table in (frame(d, sure, sure[::-1]), frame(d, sure, d.X[:, 0] > 0), frame(d, sure, three)):
        model = MultiTaskClassifier(C=1.0).fit(d.X, table)
        assert "1 task has no labels: nothing is learned about nothing" in model.notes_
        known = model.predict(d.X, task="t0")
        assert set(known) <= {"yes", "no"} and len(known) == 100
        with pytest.raises(ValueError, match="task 'nothing' had no labels in training"):
            model.predict(d.X)
        without = MultiTaskClassifier(C=1.0, method="stl").fit(d.X, table.drop(columns="nothing"))
        same = MultiTaskClassifier(C=1.0, method="stl").fit(d.X, table)
        np.testing.assert_array_equal(same.predict(d.X, task="t1"), without.predict(d.X, task="t1"))


def test_a_mean_of_the_others_is_predicted_if_asked_for(binary):
    table = frame(binary, binary.X[:, 0] > 0, binary.X[:, 1] > 0)
    model = MultiTaskClassifier(C=1.0, unknown_task="mean").fit(binary.X, table)
    assert model.predict(binary.X).shape == (100, 3)


def test_regressors_do_the_same(regression):
    d = regression
    table = np.column_stack([d.y, -d.y, np.full(100, np.nan)])
    model = MultiTaskRegressor(C=1.0).fit(d.X, table)
    assert "1 task has no labels: nothing is learned about 2" in model.notes_


def test_a_table_without_any_label_is_refused(binary):
    with pytest.raises(ValueError, match="all labels are missing"):
        MultiTaskClassifier().fit(binary.X, np.full((100, 2), None))
