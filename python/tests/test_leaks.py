"""A target that was left among the features is noticed, and nothing else is."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor

RNG = np.random.default_rng(0)
FRAME = pd.DataFrame(RNG.normal(size=(40, 3)), columns=["age", "hours", "score"]).assign(school=["a", "b"] * 20)
COLUMN = MultiTaskRegressor(task_column="school", C=1.0)


def told(estimator, X, y, **more):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, y, **more)
    return [each for each in caught if "left among the features" in str(each.message)]


TABLES = {"pandas": pd.DataFrame, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.mark.parametrize("convert", TABLES.values(), ids=TABLES)
def test_the_column_is_named(convert):
    (found,) = told(COLUMN, convert(FRAME), FRAME["score"].to_numpy())
    assert "column 'score' of X is equal to y" in str(found.message) and found.filename == __file__


def test_other_units():
    (found,) = told(COLUMN, FRAME.assign(cents=lambda f: -100 * f["score"] + 7), FRAME["score"] * 1.0 + 1e-3)[:1]
    assert "y in other units" in str(found.message)
    assert len(told(COLUMN, FRAME.drop(columns="score").assign(cents=100 * FRAME["score"]), FRAME["score"])) == 1


def test_words_classes_and_tables():
    plan = np.where(FRAME["score"] > 0, "yes", "no")
    (found,) = told(MultiTaskClassifier(C=1.0), FRAME.assign(plan=plan), plan)
    assert "'plan' of X is equal to y" in str(found.message)
    code = (np.arange(40) % 3).astype(np.int32)
    assert len(told(OutputKernelClassifier(C=1.0), FRAME[["age"]].assign(code=code.astype(float)), code)) == 1
    table = FRAME[["age", "score"]].copy()
    table.loc[3, "score"] = np.nan
    features = FRAME[["hours", "score"]]
    for kind in (MultiTaskRegressor, OutputKernelRegressor):
        assert len(told(kind(C=1.0), features, table)) == 1
    assert len(told(MultiTaskCV(MultiTaskRegressor(), Cs=[1.0], param_grid={}, cv=2), features, FRAME["score"])) >= 1


def test_no_false_alarms():
    noise = RNG.normal(size=40)
    assert not told(COLUMN, FRAME, FRAME["score"] + 1e-4 * noise)
    assert not told(MultiTaskRegressor(C=1.0), FRAME[["age"]].to_numpy(), FRAME["age"])  # arrays have no names
    assert not told(COLUMN, FRAME[:8], FRAME["score"][:8])  # may be chance
    assert not told(MultiTaskRegressor(C=1.0), FRAME[["age"]].assign(one=1.0), np.ones(40))  # labels that say nothing
    two = (FRAME["age"] > 0).astype(float)
    # A feature with two values is a linear function of any labels with two values that it tells apart.
    assert not told(MultiTaskClassifier(C=1.0), FRAME[["hours"]].assign(old=2 * two + 5), two)
    # The task column may say the class of each row.
    assert not told(MultiTaskClassifier(task_column="school", C=1.0), FRAME, FRAME["school"])
    dates = FRAME.assign(day=pd.date_range("2024-01-01", periods=40), part=pd.Categorical(["u", "v"] * 20))
    dates.loc[2, "hours"] = np.nan
    assert not told(COLUMN, dates, noise)
