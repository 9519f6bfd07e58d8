"""Tables of any library, without pandas where it is not needed."""

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelRegressor


class OnlyArrow:
    """A table that speaks Arrow and nothing else."""

    def __init__(self, table):
        self._table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self._table.__arrow_c_stream__(requested_schema)


def frames(regression):
    d = regression
    frame = pd.DataFrame(d.X, columns=list("abcdef")).assign(where=d.task)
    arrow = pa.table({name: frame[name].to_numpy() if name != "where" else frame[name].tolist() for name in frame})
    coded = arrow.set_column(6, "where", arrow["where"].dictionary_encode())
    return frame, [frame, pl.from_pandas(frame), arrow, coded, arrow.to_batches()[0], OnlyArrow(arrow)]


def test_all_tables_give_the_same_bits(regression):
    frame, tables = frames(regression)
    expected = MultiTaskRegressor(C=1.0, task_column="where").fit(frame, regression.y)
    for table in tables:
        model = MultiTaskRegressor(C=1.0, task_column="where").fit(table, regression.y)
        assert list(model.feature_names_in_) == [*"abcdef", "where"], type(table)
        np.testing.assert_array_equal(model.predict(table), expected.predict(frame))
        assert list(model.coef_frame_.columns) == list("abcdef")
        # A model of one library predicts for the tables of another.
        np.testing.assert_array_equal(expected.predict(table), expected.predict(frame))


def test_columns_in_another_order_are_refused(regression):
    _, tables = frames(regression)
    arrow = tables[2]
    model = MultiTaskRegressor(C=1.0, task_column="where").fit(arrow, regression.y)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(arrow.select(["b", "a", "c", "d", "e", "f", "where"]))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(arrow.select(["a", "b", "where"]))


def test_labels_and_tasks_of_any_library(regression):
    d = regression
    table = pa.table({"ann": d.y, "bob": [None if i % 3 == 0 else float(-v) for i, v in enumerate(d.y)]})
    holes = np.column_stack([d.y, np.where(np.arange(100) % 3 == 0, np.nan, -d.y)])
    for kind in (MultiTaskRegressor, OutputKernelRegressor):
        expected = kind(C=1.0).fit(d.X, holes)
        for labels in (table, pl.from_arrow(table), table.to_pandas(), OnlyArrow(table)):
            model = kind(C=1.0).fit(d.X, labels)
            assert list(model.tasks_) == ["ann", "bob"]
            np.testing.assert_array_equal(model.predict(d.X), expected.predict(d.X))
    plain = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    for task in (pa.chunked_array([d.task.tolist()]), pl.Series(d.task.tolist()), pd.Series(d.task, dtype="category")):
        model = MultiTaskRegressor(C=1.0).fit(d.X, pa.array(d.y), task=task)
        np.testing.assert_array_equal(model.theta_, plain.theta_)
    words = pa.table({"x": ["yes", "no", None, "yes"] * 25, "y": ["no", "yes", "no", None] * 25})
    assert MultiTaskClassifier(C=1.0).fit(d.X, words).predict(d.X).shape == (100, 2)


def test_a_table_of_pyarrow_needs_no_pandas():
    script = """
        import sys

        class NoPandas:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] == "pandas":
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, NoPandas())
        import numpy as np
        import pyarrow as pa
        from kinfolk import MultiTaskRegressor

        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 2))
        table = pa.table({"a": X[:, 0], "b": X[:, 1], "where": ["n", "s"] * 20})
        model = MultiTaskRegressor(task_column="where", C=1.0).fit(table, pa.array(X.sum(axis=1)))
        assert model.predict(table).shape == (40,)
        try:
            model.theta_frame_
        except ImportError as error:
            assert "pandas" in str(error)
        else:
            raise AssertionError
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(script)], check=True)
