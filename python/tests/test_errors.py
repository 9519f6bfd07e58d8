"""What is wrong is named: row, column, value, and what to do."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor, _native


def wrong(X, y, task, expected, error=ValueError, **params):
    with pytest.raises(error, match=expected):
        MultiTaskRegressor(**params).fit(X, y, task=task)


def test_parameters(regression):
    d = regression
    data = (d.X, d.y, d.task)
    wrong(*data, r"C = -1.0: it must be finite and positive", C=-1.0)
    wrong(*data, r"C = 'big': it must be one of auto", C="big")
    wrong(*data, r"tol = '1': it must be a number", TypeError, tol="1")
    wrong(*data, r"k = 0: it must be at least 1", k=0)
    wrong(*data, r"k = 1.5: it must be a whole number", TypeError, k=1.5)
    wrong(*data, r"kernel = 'spline': it must be one of linear, rbf", kernel="spline")
    wrong(*data, r"there is no method .nobody.", method="nobody")
    wrong(*data, r"method mtl: mu = .*: it must be a number", method="mtl", method_params={"mu": -1.0})
    wrong(*data, r"k = 2: it is for the methods kin and fmtl, not for stl", method="stl", k=2)
    wrong(*data, r"it is for the method fmtl, not for stl", method="stl", theta=np.eye(5))
    wrong(*data, r'method mtl: "mu" is not NAME=VALUE', method="mtl:mu")
    wrong(*data, r"loss .hinges. is not understood", loss="hinges")
    wrong(*data, r"loss = 'hinge': it is for classes", loss="hinge")
    wrong(*data, r'memory "much": the unit is none of', memory="much")
    wrong(*data, r"unknown variant `fast`|solver", solver="fast")
    wrong(*data, r"n_jobs = 0", n_jobs=0)
    wrong(*data, r"theta and output='fixed' belong together", theta=np.eye(5))
    wrong(*data, r"theta: a task matrix has as many columns as rows", output="fixed", theta=np.ones((2, 3)))
    wrong(*data, r"okl: it can do the squared loss only", method="okl", loss="absolute")
    wrong(*data, r"needs \d+ bytes of memory", MemoryError, kernel="rbf", memory=100, solver="spectral")


def test_data(regression):
    d = regression
    X = d.X.copy()
    X[3, 2] = np.nan
    wrong(X, d.y, d.task, r"input row 3, column 2: NaN is not a finite number")
    y = d.y.copy()
    y[7] = np.inf
    wrong(d.X, y, d.task, r"Input y contains infinity: the label of row 7 is inf")
    wrong(d.X, d.y, d.task[:5], r"task has shape \(5,\), expected one for each of 100 rows")
    wrong(d.X, d.y, [None] + ["a"] * 99, r"row 0: its task is missing")
    wrong(d.X, d.y, np.r_[0.5, np.zeros(99)], r"row 0: task 0.5; tasks are named by whole numbers or by strings")
    wrong(d.X, d.y, None, r"task_column = 'where': X has no names of columns", task_column="where")
    wrong(d.X, d.y, None, r"task_column = 9: X has 6 columns", task_column=9)
    table = np.full((100, 2), np.nan)
    wrong(d.X, table, None, r"Input y contains NaN: all labels are missing")
    table[:, 0] = d.y
    with pytest.raises(ValueError, match="all labels are missing"):
        OutputKernelRegressor().fit(d.X, np.full((100, 2), np.nan))
    with pytest.raises(ValueError, match="Input y contains NaN: the label of row 0"):
        OutputKernelRegressor().fit(d.X, np.full(100, np.nan))
    with pytest.raises(ValueError, match="as many columns as rows"):
        MultiTaskRegressor(kernel="precomputed").fit(d.X, d.y)


def test_predicting(regression):
    d = regression
    with pytest.raises(NotFittedError):
        MultiTaskRegressor().predict(d.X)
    model = MultiTaskRegressor().fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="row 1: task 'nobody' is unknown; the tasks are task 0.*unknown_task="):
        model.predict(d.X[:2], task=["task 0", "nobody"])
    with pytest.raises(ValueError, match="say which one each row belongs to"):
        model.predict(d.X)
    with pytest.raises(ValueError, match="X has 2 features"):
        model.predict(d.X[:, :2], task=d.task)
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'") as caught:
        MultiTaskClassifier(loss="hinge").predict_proba(d.X)
    assert "calibrate='sigmoid'" in str(caught.value.__cause__)


def test_uncertified_fits_warn_with_gap_and_advice(regression):
    d = regression
    with pytest.warns(ConvergenceWarning, match=r"relative duality gap is .* above tol = 1e-12 .*raise max_passes"):
        model = MultiTaskRegressor(solver="sdca", C=1e3, tol=1e-12, max_passes=2).fit(d.X, d.y, task=d.task)
    assert model.status_ == "pass-limit" and model.rel_gap_ > 1e-12


def test_ctrl_c_ends_within_a_second_with_a_model():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6000, 300)), rng.integers(60, size=6000)
    model = OutputKernelClassifier(solver="sdca", loss="hinge", C=1e4, tol=1e-13, max_passes=1_000_000, max_seconds=60)
    pressed = []

    def press():
        time.sleep(1.5)
        pressed.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    # Whoever runs tests in the background may have them ignore it.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=press)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
    finally:
        signal.signal(signal.SIGINT, before)
    late = time.monotonic() - pressed[0]
    thread.join()
    assert late < 5.0, f"{late:.2f} s"  # a second on a machine with nothing else to do
    assert model.status_ == "stopped" and model.predict(X[:3]).shape == (3,)


numbers = st.one_of(st.floats(allow_nan=True, allow_infinity=True), st.integers(-3, 3).map(float))


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_no_input_ends_the_interpreter(data):
    """Any arrays and parameters give a model or a Python exception of the usual kinds."""
    rows, features = data.draw(st.integers(0, 6)), data.draw(st.integers(0, 3))
    X = np.asarray(data.draw(st.lists(numbers, min_size=rows * features, max_size=rows * features))).reshape(
        rows, features
    )
    y = data.draw(st.lists(st.one_of(numbers, st.sampled_from(["a", "b"]), st.none()), min_size=rows, max_size=rows))
    task = data.draw(
        st.one_of(st.none(), st.lists(st.one_of(st.integers(0, 2), st.text(max_size=2)), min_size=rows, max_size=rows))
    )
    params = data.draw(
        st.fixed_dictionaries(
            {},
            optional={
                "C": st.one_of(numbers, st.just("auto"), st.none()),
                "k": st.integers(-1, 70),
                "kernel": st.sampled_from(["linear", "rbf", "cosine", "precomputed", "x"]),
                "loss": st.sampled_from(["auto", "squared", "hinge", "logistic", "epsilon:-1", "quantile:0.3", ""]),
                "output": st.sampled_from(["power", "exp", "cosh", "fixed"]),
                "bias": numbers,
                "tol": numbers,
                "max_passes": st.integers(-1, 20),
                "method": st.sampled_from(["fmtl", "stl", "mtl", "mtrl", "cmtl:clusters=9", ""]),
            },
        )
    )
    kind = data.draw(
        st.sampled_from([MultiTaskRegressor, MultiTaskClassifier, OutputKernelClassifier, OutputKernelRegressor])
    )
    more = {"task": task} if kind in (MultiTaskRegressor, MultiTaskClassifier) else {}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = kind(**params).fit(X, y, **more)
            model.predict(X, **more)
        except (ValueError, TypeError, MemoryError):
            pass


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.text(max_size=40), st.lists(st.integers(0, 5), max_size=6))
def test_the_compiled_part_by_itself(garbage, text, indices):
    calls = [
        lambda: _native.Model.from_bytes(garbage),
        lambda: _native.is_classification(text),
        lambda: _native.Observations.triples(
            3, ["a", "b"], *(np.asarray(indices, np.uint32),) * 2, np.zeros(len(indices))
        ),
        lambda: _native.Observations.classes(["a"], np.asarray(indices, np.uint32)),
        lambda: _native.fit_path(np.zeros((2, 2)), _native.Observations.table(["a"], np.zeros((2, 1))), text, ["1"]),
        lambda: _native.fit_path(
            (np.asarray(indices, np.uintp), np.asarray(indices, np.uint32), np.zeros(len(indices)), 2),
            _native.Observations.table(["a"], np.zeros((2, 1))),
            "{}",
            ["1"],
        ),
    ]
    for call in calls:
        try:
            call()
        except (ValueError, TypeError, OverflowError):
            pass


def test_a_missing_label_among_words_is_named():
    x, label = np.arange(8.0)[:, None], np.array(["yes", "no"] * 4, object)
    for missing in (None, np.nan):
        label[5] = missing
        with pytest.raises(ValueError, match="Input y contains NaN: the label of row 5"):
            MultiTaskClassifier().fit(x, label)


@pytest.mark.parametrize(
    "params",
    [
        {"gamma": -1.0},
        {"gamma": "wide"},
        {"degree": 1.5},
        {"coef0": "x"},
        {"random_state": "a"},
        {"random_state": -1},
        {"prior": "x"},
        {"prior": [["x"]]},
        {"method_params": {"zz": 1}},
        {"method": "mtl", "method_params": {"zz": 1}},
        {"unknown_task": "foo"},
        {"missing": "u"},
        {"keep_data": "x"},
        {"warm_start": "q"},
        {"verbose": "loud"},
        {"interval_new_tasks": "a"},
    ],
)
def test_every_wrong_parameter_is_named(regression, params):
    d = regression
    name = list(params)[-1]
    with pytest.raises((TypeError, ValueError), match=name):
        MultiTaskRegressor(**params).fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="task and a table y say the same thing"):
        MultiTaskRegressor().fit(d.X, np.column_stack([d.y, d.y]), task=d.task)


def test_arguments_of_methods_are_named(regression):
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    for coverage, kind in [("0.9", TypeError), (0, ValueError), (np.nan, ValueError)]:
        with pytest.raises(kind, match=f"coverage = {coverage!r}: it must be"):
            model.predict_interval(d.X, task=d.task, coverage=coverage)
    for n_clusters in (1.5, "2", True):
        with pytest.raises(TypeError, match=f"n_clusters = {n_clusters!r}: it must be a whole number"):
            model.task_clusters(n_clusters)


def test_values_are_named_by_their_columns(regression):
    d = regression
    frame = pd.DataFrame(d.X, columns=list("abcdef"))
    with_tasks = frame.assign(where=d.task)[["where", *"abcdef"]]
    alone, many = MultiTaskRegressor(C=1.0).fit(frame, d.y), MultiTaskRegressor(C=1.0, task_column="where")
    many.fit(with_tasks, d.y)
    for model, table in ((alone, frame), (many, with_tasks)):
        for value, why in [(np.nan, "missing"), (np.inf, "infinite"), ("oops", "'oops' is not a number")]:
            wrong = table.astype({"c": object}) if value == "oops" else table.copy()
            wrong.loc[7, "c"] = value
            for rows in (wrong, pa.Table.from_pandas(wrong)) if value != "oops" else (wrong,):
                with pytest.raises(ValueError, match=f"X: row 7, column 'c': .*{why}"):
                    model.predict(rows)
    infinite = frame.copy()
    infinite.loc[3, "e"] = -np.inf
    with pytest.raises(ValueError, match="X: row 3, column 'e': the value is infinite"):
        MultiTaskRegressor(C=1.0).fit(infinite, d.y)
    with pytest.raises(ValueError, match="0 feature"):
        many.fit(with_tasks[["where"]], d.y)


@pytest.mark.parametrize("unit", ["ns", "us", "s"])
def test_dates_and_durations_are_no_numbers(regression, unit):
    d = regression
    numbers = pd.DataFrame({"age": d.X[:, 0], "wait": np.arange(100.0)})
    model = MultiTaskRegressor(C=1.0).fit(numbers, d.y, task=d.task)
    durations = pd.to_timedelta(np.arange(100), unit="s").astype(f"timedelta64[{unit}]")
    dates = pd.to_datetime(np.arange(100), unit="s").astype(f"datetime64[{unit}]")
    for column, what in [(durations, "durations"), (dates, "dates")]:
        frame = numbers.assign(wait=column)
        for other in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
            with pytest.raises(ValueError, match=f"X: column 'wait' holds {what}, and in training it held numbers"):
                model.predict(other, task=d.task)


def test_files_of_relations_that_are_not_there(regression, tmp_path):
    d = regression
    where = tmp_path / "none.csv"
    for text in (f"groups={where}:region", f"matrix={where}"):
        with pytest.raises(FileNotFoundError, match=r"atoms\['region'\]: No such file.*none.csv"):
            MultiTaskRegressor(atoms={"region": text}).fit(d.X, d.y, task=d.task)


@pytest.mark.parametrize("name", ["theta_", "coef_", "rel_gap_", "status_", "theta_frame_", "task_tree_", "tasks_"])
def test_attributes_before_a_fit(name):
    model = MultiTaskRegressor()
    assert not hasattr(model, name)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        getattr(model, name)
