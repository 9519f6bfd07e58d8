"""Folds by groups and by times, as in the command with --folds-by."""

import numpy as np
import pandas as pd
import pytest

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelRegressor, _folds

GROUPS = np.arange(100) // 10
DAYS = np.arange(100) * 31 % 100 // 5


def splits(d, n_folds, **given):
    model = MultiTaskRegressor()
    data = model._prepare(d.X, d.y, d.task)
    return _folds.splits(data.observations, n_folds, 0, _folds.keys(given.get("groups"), given.get("times"), 100))


def test_groups_stay_together_and_times_go_forward(regression):
    for train, test in splits(regression, 4, groups=GROUPS):
        assert not set(GROUPS[train]) & set(GROUPS[test])
    tested = np.concatenate([test for _, test in splits(regression, 4, groups=GROUPS)])
    assert sorted(tested) == list(range(100))
    for train, test in splits(regression, 4, times=DAYS):
        assert DAYS[train].max() < DAYS[test].min()


def test_times_may_be_dates(regression):
    dates = pd.Timestamp("2024-01-01") + pd.to_timedelta(DAYS, "D")
    for form in (dates, pd.Series(dates), dates.to_numpy(), dates.to_pydatetime(), DAYS.astype(float)):
        for one, other in zip(splits(regression, 3, times=form), splits(regression, 3, times=DAYS), strict=True):
            assert (one[0] == other[0]).all() and (one[1] == other[1]).all()


def test_the_choice_of_c_holds_out_groups_or_later_rows(regression):
    d = regression
    names = [f"g{group}" for group in GROUPS]
    plain = MultiTaskRegressor().fit(d.X, d.y, task=d.task)
    assert "held_out" not in plain.auto_C_
    by_group = MultiTaskRegressor().fit(d.X, d.y, task=d.task, groups=names)
    assert by_group.auto_C_["held_out"] == "groups" and by_group.cv_score_ != plain.cv_score_
    later = MultiTaskRegressor().fit(d.X, d.y, task=d.task, times=DAYS)
    assert later.auto_C_["held_out"] == "later" and np.isfinite(later.cv_score_)
    outputs = OutputKernelRegressor().fit(d.X, np.column_stack([d.y, -d.y]), groups=GROUPS)
    assert outputs.auto_C_["held_out"] == "groups"


def test_calibration_keeps_groups_together(regression):
    d = regression
    y = d.y > np.median(d.y)
    given = {"calibrate": "sigmoid", "C": 1.0}
    plain = MultiTaskClassifier(**given).fit(d.X, y, task=d.task)
    grouped = MultiTaskClassifier(**given).fit(d.X, y, task=d.task, groups=GROUPS)
    assert not np.allclose(plain.calibration_, grouped.calibration_)


def test_a_search_takes_groups_and_times(regression):
    d = regression
    for given in ({"groups": GROUPS}, {"times": DAYS}):
        search = MultiTaskCV(MultiTaskRegressor(), Cs=[0.1, 1.0], param_grid={}, cv=4)
        search.fit(d.X, d.y, task=d.task, **given)
        own = [(list(train), list(test)) for train, test in splits(d, 4, **given)]
        same = MultiTaskCV(MultiTaskRegressor(), Cs=[0.1, 1.0], param_grid={}, cv=own).fit(d.X, d.y, task=d.task)
        assert search.n_splits_ == 4
        np.testing.assert_array_equal(search.cv_results_["mean_test_score"], same.cv_results_["mean_test_score"])


def test_what_cannot_be_is_refused(regression):
    d = regression

    def fit(**given):
        MultiTaskRegressor().fit(d.X, d.y, task=d.task, **given)

    with pytest.raises(ValueError, match="all rows are of one group"):
        fit(groups=np.zeros(100, int))
    with pytest.raises(ValueError, match="fewer than three different times"):
        fit(times=np.zeros(100))
    with pytest.raises(ValueError, match="groups and times: folds are by one of them"):
        fit(groups=GROUPS, times=DAYS)
    with pytest.raises(ValueError, match="row 3: its time is missing"):
        fit(times=np.where(np.arange(100) == 3, np.nan, DAYS))
    with pytest.raises(TypeError, match="times are numbers or dates"):
        fit(times=np.full(100, "soon"))
    with pytest.raises(ValueError, match="group has shape"):
        fit(groups=GROUPS[:5])
    with pytest.raises(ValueError, match="12 folds of 10 groups: there must be from 2 to 10"):
        MultiTaskCV(cv=12).fit(d.X, d.y, task=d.task, groups=GROUPS)
    with pytest.raises(ValueError, match="times: they are for a number of folds"):
        MultiTaskCV(cv=[([0], [1])]).fit(d.X, d.y, task=d.task, times=DAYS)
