"""Offsets are a known part of each prediction: the model learns the rest."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor

TIGHT = {"C": 1.0, "tol": 1e-10, "max_passes": 100_000}


def test_with_the_squared_loss_an_offset_is_taken_from_the_label(regression):
    d, rng = regression, np.random.default_rng(3)
    offset = rng.normal(size=len(d.y))
    given = MultiTaskRegressor(**TIGHT).fit(d.X, d.y, task=d.task, offset=offset)
    rest = MultiTaskRegressor(**TIGHT).fit(d.X, d.y - offset, task=d.task)
    assert given.status_ == "certified"
    np.testing.assert_allclose(given.predict(d.X, task=d.task), rest.predict(d.X, task=d.task), rtol=1e-4, atol=1e-5)
    plain = MultiTaskRegressor(**TIGHT).fit(d.X, d.y, task=d.task)
    assert np.abs(given.predict(d.X, task=d.task) - plain.predict(d.X, task=d.task)).max() > 0.1


@pytest.mark.parametrize("kind", [MultiTaskRegressor, OutputKernelRegressor])
def test_tables_take_one_offset_for_each_row_or_each_label(kind):
    rng = np.random.default_rng(0)
    X, Y, offset = rng.normal(size=(40, 3)), rng.normal(size=(40, 2)), rng.normal(size=(40, 2))
    each = kind(**TIGHT).fit(X, Y, offset=offset)
    rest = kind(**TIGHT).fit(X, Y - offset)
    np.testing.assert_allclose(each.predict(X), rest.predict(X), rtol=1e-4, atol=1e-5)
    by_row = kind(**TIGHT).fit(X, Y, offset=offset[:, 0])
    both = kind(**TIGHT).fit(X, Y, offset=offset[:, [0, 0]])
    np.testing.assert_array_equal(by_row.predict(X), both.predict(X))


@pytest.mark.parametrize("kind", [MultiTaskRegressor, OutputKernelRegressor])
def test_columns_of_offsets_are_found_by_name(kind):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), pd.DataFrame(rng.normal(size=(40, 3)), columns=["ann", "bob", "cid"])
    offset = pd.DataFrame(rng.normal(size=(40, 3)), columns=Y.columns)
    model = kind(C=1.0).fit(X, Y, offset=offset.to_numpy())
    other = offset[["cid", "ann", "bob"]]
    for table in (offset, other, pl.DataFrame({name: other[name].to_numpy() for name in other})):
        np.testing.assert_array_equal(kind(C=1.0).fit(X, Y, offset=table).predict(X), model.predict(X))
    with pytest.raises(ValueError, match="offset: there is no task 'bob'"):
        kind(C=1.0).fit(X, Y, offset=offset.rename(columns={"bob": "zoe"}))
    with pytest.raises(ValueError, match="offset: it must hold numbers"):
        kind(C=1.0).fit(X, Y, offset=["much"] * 40)
    one = kind(C=1.0).fit(X, Y, offset=offset["ann"])
    np.testing.assert_array_equal(kind(C=1.0).fit(X, Y, offset=offset[["ann"]]).predict(X), one.predict(X))


def test_a_missing_label_has_no_offset():
    rng = np.random.default_rng(1)
    X, Y, offset = rng.normal(size=(30, 3)), rng.normal(size=(30, 2)), rng.normal(size=(30, 2))
    Y[::3, 1] = np.nan
    model = MultiTaskRegressor(**TIGHT).fit(X, Y, offset=offset)
    rest = MultiTaskRegressor(**TIGHT).fit(X, Y - offset)
    np.testing.assert_allclose(model.predict(X), rest.predict(X), rtol=1e-4, atol=1e-5)


def test_a_classifier_learns_what_the_offset_leaves_open(binary):
    d = binary
    first = MultiTaskClassifier(loss="logistic", C=0.1).fit(d.X, d.y, task=d.task)
    score = first.decision_function(d.X, task=d.task)
    more = MultiTaskClassifier(loss="logistic", C=0.1).fit(d.X, d.y, task=d.task, offset=score)
    together = score + more.decision_function(d.X, task=d.task)
    right = np.where(d.y == "yes", 1.0, -1.0)
    assert np.logaddexp(0, -right * together).mean() < np.logaddexp(0, -right * score).mean()
    classes = OutputKernelClassifier().fit(d.X, d.y, offset=np.zeros((100, 2)))
    np.testing.assert_array_equal(classes.predict(d.X), OutputKernelClassifier().fit(d.X, d.y).predict(d.X))


@pytest.mark.parametrize("kind", [MultiTaskClassifier, OutputKernelClassifier])
def test_probabilities_know_the_offset(binary, kind):
    d = binary
    task = {"task": d.task} if kind is MultiTaskClassifier else {}
    plain = kind(calibrate="sigmoid", C=0.1).fit(d.X, d.y, **task)
    zero = kind(calibrate="sigmoid", C=0.1).fit(d.X, d.y, **task, offset=np.zeros(100))
    np.testing.assert_array_equal(plain.predict_proba(d.X, **task), zero.predict_proba(d.X, **task))
    # Offsets that say almost everything: the sigmoid has to be fitted to score plus offset.
    known = kind(calibrate="sigmoid", C=1e-6)
    sign = np.where(d.y == "yes", 1.0, -1.0)
    offset = sign if kind is MultiTaskClassifier else np.column_stack([-sign, sign])
    a, b = known.fit(d.X, d.y, **task, offset=offset).calibration_.T
    assert (1 / (1 + np.exp(-(a + b))) > 0.8).all() and (1 / (1 + np.exp(-(b - a))) < 0.2).all()


def test_cross_validation_with_offsets(regression):
    d, offset = regression, 100 * np.random.default_rng(3).normal(size=100)
    given = {"Cs": [0.01, 1.0], "cv": 3}
    with_offset = MultiTaskCV(**given).fit(d.X, d.y + offset, task=d.task, offset=offset)
    without = MultiTaskCV(**given).fit(d.X, d.y, task=d.task)
    assert with_offset.best_params_ == without.best_params_
    # The score is about what the offset leaves open.
    assert with_offset.best_score_ == pytest.approx(without.best_score_, rel=1e-9)
    guess, expected = (search.predict(d.X, task=d.task) for search in (with_offset, without))
    np.testing.assert_allclose(guess, expected, atol=0.1)


def test_mistakes_are_named(regression):
    d = regression
    with pytest.raises(ValueError, match=r"offset has shape \(3,\), expected \(100,\) or \(100, 5\)"):
        MultiTaskRegressor().fit(d.X, d.y, task=d.task, offset=[1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="offset"):
        MultiTaskRegressor().fit(d.X, d.y, task=d.task, offset=np.full(100, np.nan))
    with pytest.raises(ValueError, match="scoring = None does not know offsets"):
        MultiTaskCV(scoring=None).fit(d.X, d.y, task=d.task, offset=np.ones(100))
    model = MultiTaskRegressor().fit(d.X, d.y, task=d.task, offset=np.ones(100))
    with pytest.raises(ValueError, match="update: the fit had offsets"):
        model.update(d.X[:2], d.y[:2], task=d.task[:2])
