"""The recipes of docs/scale.md: statistics with batches of other libraries. Each is skipped without its library."""

from __future__ import annotations

import importlib

import numpy as np
import pytest
from conftest import skipped

from kinfolk import MultiTaskRegressor, Statistics

TIGHT = {"C": 1.0, "tol": 1e-9}


def library(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        skipped(f"no {name}")


@pytest.fixture
def table():
    pa = pytest.importorskip("pyarrow")
    rng = np.random.default_rng(1)
    X, shop = rng.normal(size=(400, 3)), rng.integers(3, size=400)
    names = np.asarray(["east", "north", "west"])[shop]
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=400) + shop
    return pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "shop": names, "sales": y})


@pytest.fixture
def expected(table):
    own = Statistics(target="sales", task="shop").update(table)
    return MultiTaskRegressor(**TIGHT).fit_statistics(own).coef_


def check(total, expected):
    model = MultiTaskRegressor(**TIGHT).fit_statistics(total)
    np.testing.assert_allclose(model.coef_, expected, atol=1e-8)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.tasks_.tolist() == ["east", "north", "west"]


def test_arrow_batches_and_streams(table, expected):
    check(Statistics(target="sales", task="shop").update_batches(table.to_batches(max_chunksize=70)), expected)
    check(Statistics(target="sales", task="shop").update(table.to_reader(max_chunksize=50)), expected)


def test_spark_map_in_arrow(table, expected):
    """`mapInArrow` calls a function with an iterator of record batches, once for each partition."""
    import pyarrow as pa

    of_batches = Statistics(target="sales", task="shop").of_batches()
    partitions = [table.slice(0, 150).to_batches(60), table.slice(150).to_batches(60), []]
    results = [batch for partition in partitions for batch in of_batches(iter(partition))]
    check(Statistics.sum(pa.Table.from_batches(results)), expected)


def test_polars_batches(table, expected):
    pl = library("polars")
    frame = pl.from_arrow(table)
    check(Statistics(target="sales", task="shop").update_batches(frame.iter_slices(90)), expected)


def test_dask(table, expected):
    dask = library("dask")
    parts = [table.slice(i, 100) for i in range(0, 400, 100)]
    of_part = dask.delayed(lambda part: Statistics(target="sales", task="shop").update(part))
    check(sum(dask.compute(*[of_part(part) for part in parts], scheduler="threads")), expected)


def test_sql(table, expected):
    duckdb = library("duckdb")
    connection = duckdb.connect()
    connection.register("shops", table)
    reader = connection.sql("select a, b, c, shop, sales from shops").to_arrow_reader(64)
    check(Statistics(target="sales", task="shop").update_batches(reader), expected)
