"""Tables of any library, without pandas where it is not needed."""

import subprocess
import sys
import textwrap

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from kinfolk import (
    MultiTaskClassifier,
    MultiTaskCV,
    MultiTaskRegressor,
    OutputKernelClassifier,
    OutputKernelRegressor,
)


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


def test_columns_in_another_order_are_refused_without_their_tasks_too(regression):
    d = regression
    pandas, tables = frames(d)
    moved = pandas[list("bacdef")]
    columns = {name: moved[name].to_numpy() for name in moved}
    for table in tables:
        model = MultiTaskRegressor(C=1.0, task_column="where").fit(table, d.y)
        plain = MultiTaskRegressor(C=1.0).fit(moved[list("abcdef")], d.y, task=d.task)
        for other in (moved, pl.DataFrame(columns), pa.table(columns)):
            with pytest.raises(ValueError, match="feature names should match .*: a, b, c, d, e, f, not b, a, c"):
                model.predict(other, task=d.task[0])
            for fitted in (model, plain):
                with pytest.raises(ValueError, match="feature names should match"):
                    fitted.add_task(other, d.y, "south")
        np.testing.assert_array_equal(
            model.predict(moved[list("abcdef")], task=d.task), plain.predict(moved[list("abcdef")], task=d.task)
        )


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


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_tables_need_no_pandas(library):
    script = """
        import sys

        class Hidden:
            def find_spec(self, name, path=None, target=None):
                if name.partition(".")[0] in ("pandas", "OTHER"):
                    raise ModuleNotFoundError(name)

        sys.meta_path.insert(0, Hidden())
        import inspect
        import numpy as np
        import LIBRARY as library
        from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor

        rng = np.random.default_rng(0)
        X = rng.normal(size=(40, 2))
        columns = {"a": X[:, 0].tolist(), "b": X[:, 1].tolist(), "word": ["x", "y"] * 20, "gap": [None, 1.0] * 20}
        columns["where"] = ["n", "n", "s", "s"] * 10
        table = library.DataFrame(columns) if library.__name__ == "polars" else library.table(columns)
        y = library.Series(X.sum(axis=1)) if library.__name__ == "polars" else library.array(X.sum(axis=1))
        model = MultiTaskRegressor(task_column="where", C=1.0).fit(table, y)
        assert model.predict(table).shape == (40,) and model.update(table, y).score(table, y) > 0.5
        assert MultiTaskClassifier(task_column="where", C=1.0).fit(table, ["p", "q"] * 20).predict_proba(table).shape
        search = MultiTaskCV(MultiTaskRegressor(task_column="where"), Cs=[1.0], param_grid={}, cv=3, scoring="r2")
        assert search.fit(table, y).predict(table).shape == (40,)
        assert not hasattr(model, "theta_frame_") and "theta_" in dir(model)
        assert "kinfolk-certificate" in model._repr_mimebundle_()["text/html"]
        inspect.getmembers(model)
        try:
            model.theta_frame_
        except AttributeError as error:
            assert "pandas" in str(error) and isinstance(error.__cause__, ImportError)
        else:
            raise AssertionError
    """
    script = script.replace("LIBRARY", library).replace("OTHER", {"polars": "pyarrow", "pyarrow": "polars"}[library])
    subprocess.run([sys.executable, "-W", "ignore", "-c", textwrap.dedent(script)], check=True)


def test_columns_and_streams_of_arrow(regression):
    d = regression
    frame, tables = frames(regression)
    arrow = tables[2]
    expected = MultiTaskRegressor(C=1.0, task_column="where").fit(frame, d.y)

    class OnlyArray:
        def __init__(self, array):
            self._array = array

        def __arrow_c_array__(self, requested_schema=None):
            return self._array.__arrow_c_array__(requested_schema)

    y, task = OnlyArrow(pa.chunked_array([d.y])), OnlyArrow(pa.chunked_array([d.task.tolist()]))
    by_columns = MultiTaskRegressor(C=1.0).fit(d.X, y, task=task, sample_weight=OnlyArray(pa.array(np.ones(100))))
    np.testing.assert_allclose(by_columns.predict(d.X, task=task), expected.predict(frame), rtol=1e-9)
    assert by_columns.score(d.X, y, task=task) == pytest.approx(expected.score(frame, d.y))
    classes = OnlyArrow(pa.chunked_array([np.where(d.y > 0, "yes", "no").tolist()]))
    assert MultiTaskClassifier(C=1.0).fit(d.X, classes, task=task).score(d.X, classes, task=task) > 0.8

    def reader():
        return pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(max_chunksize=30))

    for table in (reader, lambda: OnlyArray(arrow.combine_chunks().to_batches()[0]), pl.from_arrow(arrow).lazy):
        model = MultiTaskRegressor(C=1.0, task_column="where").fit(table(), d.y)
        np.testing.assert_array_equal(model.predict(table()), expected.predict(frame))
        assert model.score_per_task(table(), d.y) == expected.score_per_task(frame, d.y)
        for scoring in ("select", None, "r2"):
            search = MultiTaskCV(
                MultiTaskRegressor(task_column="where"), Cs=[1.0], param_grid={}, cv=3, scoring=scoring
            ).fit(table(), d.y)
            assert search.score(table(), d.y) > 0.5
    table = OnlyArrow(pa.table({"p": d.y, "q": -d.y}))
    for kind in (MultiTaskRegressor, OutputKernelRegressor):
        search = MultiTaskCV(kind(), Cs=[1.0], param_grid={}, cv=3, scoring="r2").fit(d.X, table)
        assert list(search.tasks_) == ["p", "q"]


def test_lists_of_numbers_beside_words(regression):
    d = regression
    words = np.where(d.y > 0, "yes", "no")
    for table in (pd.DataFrame({"emb": list(d.X)}), pl.DataFrame({"emb": d.X.tolist(), "where": d.task.tolist()})):
        for kind in (MultiTaskClassifier, OutputKernelClassifier):
            assert kind(C=1.0).fit(table, words).score(table, words) > 0.6


def test_a_labelled_theta_of_any_library(regression):
    d = regression
    theta = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task).theta_frame_
    order = theta.columns[[3, 0, 4, 1, 2]]
    expected = MultiTaskRegressor(C=1.0, output="fixed", theta=theta.to_numpy()).fit(d.X, d.y, task=d.task)
    mixed = theta.loc[order, order]
    named = mixed.reset_index(names="task")
    for table in (pl.from_pandas(named), pa.Table.from_pandas(named, preserve_index=False), pl.from_pandas(mixed)):
        model = MultiTaskRegressor(C=1.0, output="fixed", theta=table).fit(d.X, d.y, task=d.task)
        np.testing.assert_array_equal(model.theta_, expected.theta_)
    with pytest.raises(ValueError, match="theta: there is no task"):
        MultiTaskRegressor(output="fixed", theta=pl.from_pandas(named).rename({order[0]: "z"})).fit(
            d.X, d.y, task=d.task
        )
