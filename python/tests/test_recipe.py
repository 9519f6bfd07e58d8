"""Words, dates, decimals, booleans and gaps in frames become features as in the command."""

from __future__ import annotations

import copy
import datetime
import pickle
import subprocess
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from messy_files import TABLES, rows
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import kinfolk
from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor


def frame(seed: int = 3) -> pd.DataFrame:
    """Everything that a frame of pandas may hold."""
    data = rows(seed)
    gap = pd.Series(np.arange(len(data)) % 11 == 1)
    data["plan"] = data["plan"].astype("category")
    data["city"] = np.where(np.arange(len(data)) % 3 == 0, "Rome", "Oslo")
    data["visits"] = data["visits"].astype("Int64").mask(gap)
    data["member"] = data["member"].astype("boolean").mask(gap)
    data["seen"] = pd.to_datetime(data["day"]).dt.tz_localize("Europe/Rome") + pd.Timedelta(hours=7)
    data["price"] = [None if g else Decimal(int(v * 100)) / 100 for v, g in zip(data["age"], gap, strict=True)]
    data["age"] = data["age"].mask(gap)
    return data


def others(data: pd.DataFrame) -> list:
    """The same rows in the frames of other libraries."""
    plain = data.assign(plan=data["plan"].astype(str), city=data["city"].astype(str))
    arrow = pa.Table.from_pandas(plain, preserve_index=False)
    words = pl.col("plan").cast(pl.Categorical)
    enum = pl.col("city").cast(pl.Enum(["Oslo", "Rome", "Bonn"]))
    coded = arrow.set_column(arrow.schema.get_field_index("plan"), "plan", arrow["plan"].dictionary_encode())
    return [pl.from_arrow(arrow).with_columns(words, enum), arrow, coded, arrow.to_batches()[0]]


def fitted(X, y, **params):
    return MultiTaskRegressor(C=1.0, task_column="shop", **params).fit(X, y)


@pytest.fixture
def run(command, tmp_path):
    def run(*words):
        words = [command, *map(str, words), "--threads", "1"]
        said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert said.returncode == 0, said.stderr

    return run


def scores_of_command(run, tmp_path, model, data):
    run("predict", model, data, "-o", "scores.csv", "--force")
    return pd.read_csv(tmp_path / "scores.csv")["score"].to_numpy()


READERS = {
    "english.csv": lambda path: pd.read_csv(path),
    "german.csv": lambda path: pd.read_csv(path, sep=";", skiprows=1, encoding="utf-8-sig"),
    "pandas.parquet": lambda path: pd.read_parquet(path),
    "polars.parquet": lambda path: pl.read_parquet(path),
    "from_r.csv": lambda path: pd.read_csv(path),
    "table.tsv.bz2": lambda path: pd.read_csv(path, sep="\t"),
    "times.csv.gz": lambda path: pd.read_csv(path, parse_dates=["day"]),
}


@pytest.mark.parametrize("make", [make for make in TABLES if make.__name__ not in ("hospital", "json_lines")],
                         ids=lambda make: make.__name__)
def test_a_model_of_the_command_predicts_for_the_frame_of_its_file(run, tmp_path, make):
    path, _ = make(tmp_path)
    run("fit", path, "--task", "shop", "--target", "spent", "--c", "strength:1", "-o", "m.safetensors")
    expected = scores_of_command(run, tmp_path, "m.safetensors", path)
    model = kinfolk.load(tmp_path / "m.safetensors")
    if path.suffix in (".arrow", ".feather", ".ipc"):
        data = pa.ipc.open_file(path).read_all()
    elif path.is_dir():
        data = pd.concat([pd.read_csv(part) for part in sorted(path.iterdir())])
    else:
        data = READERS[path.name](path)
    np.testing.assert_allclose(model.predict(data), expected, rtol=1e-12, atol=1e-12)


def test_a_fit_to_a_frame_is_the_fit_of_the_command_to_its_file(run, tmp_path):
    data = frame().drop(columns="seen")
    data["price"] = data["price"].astype(float)
    data.to_csv(tmp_path / "rows.csv", index=False)
    run("fit", "rows.csv", "--task", "shop", "--target", "spent", "--c", "strength:1", "-o", "m.safetensors")
    own = MultiTaskRegressor(C="strength:1", task_column="shop").fit(data.drop(columns="spent"), data["spent"])
    other = kinfolk.load(tmp_path / "m.safetensors")
    assert list(own.coef_frame_.columns) == list(other.coef_frame_.columns)
    np.testing.assert_array_equal(own.coef_, other.coef_)
    np.testing.assert_allclose(own.predict(data), scores_of_command(run, tmp_path, "m.safetensors", "rows.csv"))
    # And the other way round: the command predicts with the model of Python.
    own.save(tmp_path / "own.safetensors")
    np.testing.assert_allclose(own.predict(data), scores_of_command(run, tmp_path, "own.safetensors", "rows.csv"))


def test_columns_become_features_that_have_names():
    data = frame()
    model = fitted(data.drop(columns="spent"), data["spent"])
    assert list(model.feature_names_in_) == [*data.columns.drop("spent")] and model.n_features_in_ == 9
    # The columns with gaps lack the same rows, and share the feature that says so.
    assert list(model.coef_frame_.columns) == [
        "plan=basic", "plan=plus", "plan=pro", "age", "age=(missing)", "visits", "member", "day", "city=Oslo",
        "city=Rome", "seen", "price",
    ]  # fmt: skip
    notes = " ".join(model.notes_)
    assert 'words became a feature for each value: "plan" (3), "city" (2)' in notes
    assert "missing values" in notes and "missing=" in notes
    assert model.score(data.drop(columns="spent"), data["spent"]) > 0.7


def test_frames_of_all_libraries_give_the_same_bits():
    data = frame()
    X = data.drop(columns="spent")
    expected = fitted(X, data["spent"])
    for other in others(X):
        model = fitted(other, data["spent"])
        assert list(model.coef_frame_.columns) == list(expected.coef_frame_.columns), type(other)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
        np.testing.assert_array_equal(expected.predict(other), expected.predict(X))


def test_objects_are_read_as_they_are():
    data = rows()
    objects = data.astype(object)
    assert isinstance(objects["day"][0], datetime.date)
    model = fitted(objects.drop(columns="spent"), data["spent"])
    typed = data.assign(day=pd.to_datetime(data["day"]))
    np.testing.assert_array_equal(model.predict(typed), model.predict(objects))
    texts = data.assign(day=data["day"].astype(str), visits=data["visits"].astype(str), age=data["age"].astype(str))
    np.testing.assert_array_equal(model.predict(texts), model.predict(objects))
    times = data.assign(open=[datetime.time(6 * (i % 4)) for i in range(len(data))])
    assert "open" in fitted(times.drop(columns="spent"), data["spent"]).coef_frame_.columns


def test_new_rows_in_another_order_with_other_columns_and_unseen_words():
    data = frame()
    X = data.drop(columns="spent")
    model = fitted(X, data["spent"])
    expected = model.predict(X)
    shuffled = data[list(data.columns[::-1])].assign(extra=[["a", "list"]] * len(data))
    np.testing.assert_array_equal(model.predict(shuffled), expected)
    with pytest.warns(UserWarning, match='140 rows have a value that was not there in training, such as "gold"'):
        gold = model.predict(X.assign(plan="gold"))
    assert np.isfinite(gold).all()
    for wrong, expected_text in [
        (X.drop(columns=["plan", "age"]), 'X: the model needs columns "plan", "age"'),
        (X.assign(city=[None, *X["city"][1:]]), 'X: row 0, column "city": the value is missing'),
        (X.assign(age="old"), 'X: row 0, column "age": "old" is not a number'),
        (X.assign(day="soon"), 'X: row 0, column "day": "soon" is not a date'),
        (X.drop(columns="shop"), "task_column = 'shop': X has no such column"),
        (X.to_numpy(), "task_column = 'shop': X has no names of columns"),
    ]:
        with pytest.raises(ValueError, match=expected_text):
            model.predict(wrong)
    alone = model.predict(X.drop(columns="shop"), task="north")
    np.testing.assert_array_equal(alone, model.predict(X.assign(shop="north")))
    bare = MultiTaskRegressor(C=1.0).fit(X.drop(columns="shop"), data["spent"])
    with pytest.raises(ValueError, match="the model was fitted to a frame and finds its columns by name"):
        bare.predict(X.drop(columns="shop").to_numpy())


def test_what_cannot_be_learned_from_is_said():
    data = frame()
    X, y = data.drop(columns="spent"), data["spent"]
    with pytest.warns(UserWarning, match="column 'id' of X is left out: text of 140 different values"):
        model = fitted(X.assign(id=[f"C-{i}" for i in range(len(X))]), y)
    np.testing.assert_array_equal(model.coef_, fitted(X, y).coef_)
    with pytest.raises(ValueError, match='X: column "odd": it cannot be used: row 0 holds a dict'):
        fitted(X.assign(odd=[{1: 2}] * len(X)), y)
    with pytest.raises(ValueError, match='"odd": it cannot be used: row 0 holds a list that is not a list of numbers'):
        fitted(X.assign(odd=[["a"]] * len(X)), y)
    with pytest.raises(ValueError, match='column "wave": it cannot be used: it holds values of type complex128'):
        fitted(X.assign(wave=1j), y)
    with pytest.raises(ValueError, match='dates such as "01/02/2024" can be read in two ways; make dates of it'):
        fitted(X.assign(day=["01/02/2024", "03/04/2024"] * (len(X) // 2)), y)
    with pytest.raises(ValueError, match='column "age": "old" is not a number, .* replace "old" by None'):
        fitted(X.assign(age=["old", *X["age"][1:]]), y)
    with pytest.raises(ValueError, match="there is no column left to learn from"):
        MultiTaskRegressor(C=1.0).fit(X[["age"]].assign(age=None), y)


def test_missing_values_are_filled_in_as_said():
    data = frame()
    X, y = data[["shop", "age", "visits"]], data["spent"]
    fills = {"mean": X["age"].mean(), "median": X["age"].median(), "zero": 0.0}
    for missing, fill in fills.items():
        model = fitted(X, y, missing=missing)
        full = X.assign(age=X["age"].fillna(fill), visits=X["visits"].astype(float).fillna(-1))
        gaps = X.assign(visits=X["visits"].astype(float).fillna(-1), age=X["age"])
        indicator = model.coef_frame_.loc[model.tasks_.tolist(), "age=(missing)"].to_numpy()
        shift = indicator[np.searchsorted(model.tasks_, X["shop"])] * X["age"].isna()
        np.testing.assert_allclose(model.predict(gaps), model.predict(full) + shift)
    with pytest.raises(ValueError, match='column "age": 13 of 140 values are missing; have it filled in with missing='):
        fitted(X, y, missing="error")
    with pytest.raises(ValueError, match="missing = 'drop': it must be one of mean, median, zero, error"):
        fitted(X, y, missing="drop")
    with pytest.raises(ValueError, match="NaN|not finite|nan"):
        MultiTaskRegressor(C=1.0).fit(X[["age"]].to_numpy(), y)


@pytest.mark.parametrize(
    "kind", [MultiTaskRegressor, MultiTaskClassifier, OutputKernelRegressor, OutputKernelClassifier]
)
def test_every_estimator_reads_frames_and_keeps_its_recipe(kind, tmp_path):
    data = frame()
    X = data.drop(columns=["spent", "shop"])
    y = data["spent"] if kind.__name__.endswith("Regressor") else np.where(data["spent"] > 20, "much", "little")
    model = kind(C=1.0).fit(X, y)
    model.save(tmp_path / "m.safetensors")
    expected = model.predict(X)
    assert expected.shape == (len(X),)
    for twin in (kinfolk.load(tmp_path / "m.safetensors"), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(twin.predict(X[list(X.columns[::-1])]), expected)
        assert list(twin.coef_frame_.columns) == list(model.coef_frame_.columns)
        assert twin.notes_ == model.notes_
    with pytest.raises(ValueError, match="to_onnx: ONNX has nothing for words"):
        model.to_onnx(tmp_path / "m.onnx")
    # Another fit to numbers forgets the recipe.
    numbers = np.random.default_rng(0).normal(size=(len(X), 2))
    assert model.fit(numbers, y).predict(numbers).shape == (len(X),)


def test_searches_pipelines_and_more_rows():
    data = frame()
    X, y = data.drop(columns="spent"), data["spent"]
    search = GridSearchCV(make_pipeline(MultiTaskRegressor(task_column="shop")), {"multitaskregressor__C": [0.1, 1.0]})
    own = MultiTaskCV(MultiTaskRegressor(task_column="shop"), Cs=[0.1, 1.0], param_grid={}, cv=3, scoring=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for each in (search, own):
            each.fit(X, y)
            assert each.best_score_ > 0.5 and each.predict(X).shape == (len(X),)
        arrow = others(X)[1]
        np.testing.assert_allclose(own.fit(arrow, y).predict(arrow), own.fit(X, y).predict(X))
    half = fitted(X[:100], y[:100])
    half.update(X[100:], y[100:])
    assert half.predict(X).shape == (len(X),) and len(half.dual_coef_) == len(X)
    half.add_task(X[:10].drop(columns="shop"), y[:10], "new")
    assert "new" in half.tasks_


def test_many_words_make_sparse_features():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.choice([f"w{i}" for i in range(40)], 400), "b": rng.choice(list("pqrstuvw"), 400)})
    model = MultiTaskRegressor(C=1.0, tol=1e-8).fit(X, rng.normal(size=400))
    assert model.scale_ == "mixed" and model.coef_.shape == (1, 48)
    dense = pd.get_dummies(X, prefix_sep="=").astype(float)
    dense = dense[list(model.coef_frame_.columns)]
    np.testing.assert_allclose(dense.to_numpy() @ model.coef_[0] + model.intercept_[0], model.predict(X), atol=1e-9)


def test_lists_of_numbers_are_features_as_in_files(run, tmp_path):
    generator = np.random.default_rng(5)
    n, width = 60, 6
    vectors = generator.normal(size=(n, width)).astype(np.float32)
    table = pd.DataFrame({"shop": [f"s{i % 3}" for i in range(n)], "size": generator.normal(size=n).astype(np.float32)})
    table["emb"] = list(vectors)
    y = vectors @ np.arange(width) + table["size"].to_numpy()
    numbers = pd.DataFrame(vectors, columns=[f"emb_{k}" for k in range(width)])
    plain = pd.concat([table[["shop", "size"]], numbers], axis=1)
    wanted = fitted(plain, y).predict(plain)
    polars = pl.DataFrame({"shop": table["shop"].tolist(), "size": table["size"].to_numpy(), "emb": vectors.tolist()})
    frames = [table, polars, polars.with_columns(pl.col("emb").cast(pl.Array(pl.Float32, width)))]
    frames.append(pa.Table.from_pandas(table, preserve_index=False))
    for x in frames:
        model = fitted(x, y)
        np.testing.assert_allclose(model.predict(x), wanted, rtol=1e-4, atol=1e-6)
    # A row without a list, and one of another length.
    gap = table.copy()
    gap.at[3, "emb"] = None
    assert np.isfinite(fitted(gap, y).predict(gap)).all()
    short = table.copy()
    short.at[3, "emb"] = vectors[3][:2]
    with pytest.raises(ValueError, match="a list has the length 2"):
        fitted(short, y)
    # A model of the command takes the frame of its file.
    table.assign(y=y).to_parquet(tmp_path / "a.parquet")
    run("fit", "a.parquet", "--task", "shop", "--target", "y", "--c", "1", "-o", "m.st", "--quiet")
    loaded = kinfolk.load(tmp_path / "m.st")
    np.testing.assert_allclose(loaded.predict(table), loaded.predict(plain), rtol=1e-12)
    np.testing.assert_allclose(loaded.predict(table), wanted, rtol=1e-4, atol=1e-6)


def test_durations_are_seconds_in_frames_and_files(run, tmp_path):
    data = frame()
    X = data[["shop", "age"]].assign(age=data["age"].fillna(30.0))
    seconds = X.assign(wait=np.arange(len(X)) % 13 * 0.25)
    waits = X.assign(wait=pd.to_timedelta(seconds["wait"], unit="s"))
    wanted = fitted(seconds, data["spent"]).predict(seconds)
    for other in [waits, waits.assign(wait=waits["wait"].astype("timedelta64[ms]")), pl.from_pandas(waits)]:
        np.testing.assert_array_equal(fitted(other, data["spent"]).predict(other), wanted)
    waits.assign(spent=data["spent"]).to_parquet(tmp_path / "waits.parquet", index=False)
    run("fit", "waits.parquet", "--task", "shop", "--target", "spent", "--c", "1", "-o", "waits.safetensors")
    model = kinfolk.load(tmp_path / "waits.safetensors")
    np.testing.assert_array_equal(model.predict(waits), model.predict(seconds))
