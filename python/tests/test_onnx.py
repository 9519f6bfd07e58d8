"""Models as ONNX graphs give the predictions of the model."""

import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from kinfolk import (
    MultiTaskClassifier,
    MultiTaskCV,
    MultiTaskRegressor,
    OutputKernelClassifier,
    OutputKernelRegressor,
    load,
    register_skl2onnx,
)

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")

KERNELS = ["linear", "cosine", "rbf", "polynomial:2,scale,1.0", "laplacian"]


def run(model, **inputs):
    session = runtime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    found = session.run(None, inputs)
    return dict(zip([output.name for output in session.get_outputs()], found))


def single(x):
    return np.asarray(x, dtype=np.float32)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scale", ["auto", "unit", "spread", "none"])
def test_numbers(regression, kernel, scale, tmp_path):
    d = regression
    X = single(d.X + 3.0)
    params = {"C": 1.0, "kernel": kernel, "scale": scale, "bias": 0.5}
    model = MultiTaskRegressor(**params).fit(X, 10 * d.y + 100, task=d.task)
    path = tmp_path / "m.onnx"
    found = run(model.to_onnx(path), X=X, task=np.asarray(d.task, dtype=object))
    np.testing.assert_allclose(found["prediction"], model.predict(X, task=d.task), rtol=1e-5)
    assert onnx.load(path).producer_name == "kinfolk"
    Y = np.column_stack([d.y, -d.y, d.y**2])
    wide = OutputKernelRegressor(**params).fit(X, Y)
    np.testing.assert_allclose(run(wide.to_onnx(), X=X)["prediction"], wide.predict(X), rtol=1e-5, atol=1e-5)
    flat = OutputKernelRegressor(**params).fit(X, d.y)
    np.testing.assert_allclose(run(flat.to_onnx(), X=X)["prediction"], flat.predict(X), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_classes(binary, kernel):
    d = binary
    X = single(d.X)
    task = np.asarray(d.task, dtype=object)
    for params in ({}, {"calibrate": "sigmoid"}, {"loss": "hinge"}):
        model = MultiTaskClassifier(C=1.0, kernel=kernel, **params).fit(X, d.y, task=d.task)
        found = run(model.to_onnx(), X=X, task=task)
        np.testing.assert_allclose(found["scores"], model.decision_function(X, task=d.task), rtol=1e-5, atol=1e-6)
        np.testing.assert_array_equal(found["label"], model.predict(X, task=d.task))
        if hasattr(model, "predict_proba"):
            np.testing.assert_allclose(found["probabilities"], model.predict_proba(X, task=d.task), atol=1e-5)
        assert ("probabilities" in found) == hasattr(model, "predict_proba")
    for n_classes in (2, 4):
        y = np.arange(len(X)) % n_classes
        many = OutputKernelClassifier(C=1.0, kernel=kernel).fit(X, y)
        found = run(many.to_onnx(), X=X)
        np.testing.assert_array_equal(found["label"], many.predict(X))
        np.testing.assert_allclose(found["probabilities"], many.predict_proba(X), atol=1e-5)
    table = np.column_stack([d.y == "yes", X[:, 0] > 0]).astype(int)
    for model in (OutputKernelClassifier(C=1.0), MultiTaskClassifier(C=1.0)):
        found = run(model.fit(X, table).to_onnx(), X=X)
        np.testing.assert_array_equal(found["label"], model.predict(X))
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("calibrate", [None, "sigmoid"])
def test_tasks_with_many_classes(regression, calibrate):
    d = regression
    X, task = single(d.X), np.asarray(d.task, dtype=object)
    three = np.asarray(["low", "mid", "top"])[np.digitize(d.y, [-1.0, 1.0])]
    # Tasks differ in their classes: one has two of them, and one has one.
    names = np.unique(d.task)
    some = np.where((d.task == names[0]) & (three == "mid"), "top", three)
    some = np.where(d.task == names[1], "low", some)
    for y, form in [(some, {"task": d.task}), (three, {}), (np.full(100, 7), {"task": d.task})]:
        model = MultiTaskClassifier(C=1.0, calibrate=calibrate).fit(X, y, **form)
        found = run(model.to_onnx(), X=X, **({"task": task} if form else {}))
        np.testing.assert_array_equal(found["label"], model.predict(X, **form))
        np.testing.assert_allclose(found["probabilities"], model.predict_proba(X, **form), atol=1e-5)
        np.testing.assert_allclose(found["scores"], model.decision_function(X, **form), rtol=1e-5, atol=1e-6)
    for table in (
        pd.DataFrame({"size": three, "sign": np.where(d.y > 0, "yes", "no")}),
        pd.DataFrame({"size": three, "sign": (d.y > 0).astype(int)}),
        pd.DataFrame({"three": np.digitize(d.y, [-1, 1]), "two": (d.y > 0).astype(int)}),
    ):
        model = MultiTaskClassifier(C=1.0, calibrate=calibrate).fit(X, table)
        found = run(model.to_onnx(), X=X)
        np.testing.assert_array_equal(found["label"].astype(str), model.predict(X).astype(str))
        np.testing.assert_allclose(found["probabilities"], np.hstack(model.predict_proba(X)), atol=1e-5)
        scores = np.column_stack(model.decision_function(X))
        np.testing.assert_allclose(found["scores"], scores, rtol=1e-5, atol=1e-6)


def test_double_precision(regression):
    d = regression
    X = d.X + 1e5  # of which single precision keeps two digits
    model = MultiTaskRegressor(C=1.0).fit(X, d.y, task=d.task)
    found = run(model.to_onnx(dtype="float64"), X=X, task=np.asarray(d.task, dtype=object))["prediction"]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, model.predict(X, task=d.task), rtol=1e-8, atol=1e-8)
    with pytest.raises(ValueError, match="dtype = 'float16': it must be one of float32, float64"):
        model.to_onnx(dtype="float16")


def test_tasks_in_a_column_of_numbers(regression):
    d = regression
    number = np.unique(d.task, return_inverse=True)[1]
    X = single(np.column_stack([d.X[:, :2], number * 10 + 7, d.X[:, 2:]]))
    model = MultiTaskRegressor(C=1.0, task_column=2).fit(X, d.y)
    graph = model.to_onnx()
    np.testing.assert_allclose(run(graph, X=X)["prediction"], model.predict(X), rtol=1e-5, atol=1e-5)
    for stranger in (8.0, 7.5, np.nan):
        X[0, 2] = stranger
        with pytest.raises(Exception, match="out of|index|bounds"):
            run(graph, X=X)
    # Numbers that single precision cannot hold.
    large = np.column_stack([d.X, number + 2.0**24])
    model = MultiTaskRegressor(C=1.0, task_column=-1).fit(large, d.y)
    with pytest.raises(ValueError, match="task 16777217 cannot be told from others as a number of X.*dtype='float64'"):
        model.to_onnx()
    found = run(model.to_onnx(dtype="float64"), X=large)["prediction"]
    np.testing.assert_allclose(found, model.predict(large), rtol=1e-8, atol=1e-8)
    huge = pd.DataFrame(d.X).rename(columns=str).assign(task=number.astype(np.int64) + 2**53 + 1)
    with pytest.raises(ValueError, match="fit with task=... instead of task_column"):
        MultiTaskRegressor(C=1.0, task_column="task").fit(huge, d.y).to_onnx(dtype="float64")


def test_skl2onnx(regression):
    skl2onnx = pytest.importorskip("skl2onnx")
    from skl2onnx.common.data_types import FloatTensorType, StringTensorType

    register_skl2onnx()
    d = regression
    x, table = single(d.X), np.column_stack([d.y, -d.y])
    search = {"Cs": [0.1, 1.0], "param_grid": {}, "cv": 3}
    for estimator, y in [
        (OutputKernelRegressor(C=1.0), table),
        (MultiTaskRegressor(C=1.0, kernel="rbf"), table),
        (OutputKernelClassifier(C=1.0), np.arange(100) % 3),
        (MultiTaskClassifier(C=1.0), np.arange(100) % 3),
        (MultiTaskCV(**search), d.y),
        (MultiTaskCV(MultiTaskClassifier(), **search), np.where(d.y > 0, "yes", "no")),
        (MultiTaskCV(make_pipeline(StandardScaler(), MultiTaskRegressor()), **search), d.y),
    ]:
        pipeline = make_pipeline(FunctionTransformer(), estimator).fit(x, y)
        options = {"zipmap": False} if "Class" in str(estimator) else None
        found = list(run(skl2onnx.to_onnx(pipeline, x[:1], options=options), X=x).values())
        if np.asarray(y).dtype.kind == "f":
            np.testing.assert_allclose(found[0].reshape(y.shape), pipeline.predict(x), rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(found[0], pipeline.predict(x))
            np.testing.assert_allclose(found[1], pipeline.predict_proba(x), atol=1e-5)
    double = make_pipeline(StandardScaler(), MultiTaskRegressor(C=1.0)).fit(d.X + 1e4, d.y)
    found = next(iter(run(skl2onnx.to_onnx(double, d.X[:1]), X=d.X + 1e4).values()))
    assert found.dtype == np.float64
    np.testing.assert_allclose(found.ravel(), double.predict(d.X + 1e4), rtol=1e-8, atol=1e-8)
    # Tasks that are words are an input of their own.
    frame = pd.DataFrame(x, columns=list("abcdef")).assign(where=d.task)
    inputs = [("X", FloatTensorType([None, 6])), ("where", StringTensorType([None, 1]))]
    for model in (
        MultiTaskRegressor(C=1.0).fit(x, d.y, task=d.task),
        MultiTaskRegressor(C=1.0, task_column="where").fit(frame, d.y),
    ):
        found = run(skl2onnx.to_onnx(model, initial_types=inputs), X=x, where=np.asarray(d.task, object)[:, None])
        direct = model.predict(x, task=d.task)
        np.testing.assert_allclose(next(iter(found.values())).ravel(), direct, rtol=1e-5, atol=1e-5)
        with pytest.raises(ValueError, match="give skl2onnx a second input"):
            skl2onnx.to_onnx(model, x[:1])


def test_what_cannot_be_exported_says_so(regression):
    d = regression
    gram = MultiTaskRegressor(C=1.0, kernel="precomputed").fit(d.X @ d.X.T, d.y, task=d.task)
    with pytest.raises(ValueError, match="to_onnx: a precomputed kernel"):
        gram.to_onnx()
    model = MultiTaskRegressor(C=1.0, unknown_task="mean").fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="to_onnx: graphs have no unknown tasks; .*unknown_task='error'"):
        model.to_onnx()
    model.set_params(unknown_task="error").to_onnx()
    table = np.column_stack([d.y, np.full(100, np.nan)])
    found = run(OutputKernelRegressor(C=1.0).fit(d.X, table).to_onnx(), X=single(d.X))["prediction"]
    assert np.isfinite(found[:, 0]).all() and np.isnan(found[:, 1]).all()
    with pytest.raises(ValueError, match="to_onnx: 1 had no labels in training"):
        OutputKernelClassifier(C=1.0).fit(d.X, np.sign(table).clip(0)).to_onnx()


def test_classes_of_the_command(regression, command, tmp_path):
    d = regression
    frame = pd.DataFrame(single(d.X), columns=list("abcdef")).assign(where=d.task)
    frame["state"] = np.where(d.y > 0, "died", "survived")
    frame.to_csv(tmp_path / "d.csv", index=False)
    words = [command, "fit", "d.csv", "--task", "where", "--target", "state", "-o", "m", "--quiet"]
    subprocess.run(words, cwd=tmp_path, check=True)
    model = load(tmp_path / "m")
    found = run(model.to_onnx(), X=single(d.X), task=np.asarray(d.task, object))
    np.testing.assert_array_equal(found["label"], model.predict(frame))
    np.testing.assert_allclose(found["probabilities"], model.predict_proba(frame), atol=1e-5)
