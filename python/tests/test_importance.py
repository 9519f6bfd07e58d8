"""What drives the predictions of a model, whatever its kernel."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from kinfolk import MultiTaskRegressor, OutputKernelClassifier


def test_the_score_falls_when_an_important_column_is_shuffled() -> None:
    rng = np.random.default_rng(0)
    age, unit = rng.uniform(-2, 2, size=120), rng.choice(["day", "night", "icu"], size=120)
    y = age**2 + 2.0 * (unit == "icu") + 0.1 * rng.normal(size=120)
    columns = {"noise": rng.normal(size=120), "age": age, "unit": unit, "ward": np.tile(["a", "b", "c"], 40)}
    frame = pd.DataFrame(columns)
    model = MultiTaskRegressor(kernel="rbf", C=10.0, task_column="ward").fit(frame, y)
    found = model.permutation_importance(frame, y)
    assert list(found) == ["age", "unit", "noise"] and found["age"]["mean"] > 0.3
    assert abs(found["noise"]["mean"]) < 0.2 and found["age"]["sd"] > 0
    assert found == model.permutation_importance(frame, y, random_state=0)
    assert list(model.permutation_importance(pl.from_pandas(frame), y, n_repeats=1)) == list(found)
    with pytest.raises(ValueError, match="n_repeats"):
        model.permutation_importance(frame, y, n_repeats=0)


def test_arrays_have_numbers_of_columns() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(90, 3))
    y = np.where(X[:, 1] > 0.5, "b", np.where(X[:, 1] < -0.5, "a", "c"))
    for data in (X, sp.csr_array(X)):
        model = OutputKernelClassifier(kernel="rbf", C=10.0).fit(data, y)
        assert next(iter(model.permutation_importance(data, y))) == 1
