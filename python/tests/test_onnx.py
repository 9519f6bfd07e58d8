"""Models as ONNX graphs give the predictions of the model."""

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kinfolk import (
    MultiTaskClassifier,
    MultiTaskRegressor,
    OutputKernelClassifier,
    OutputKernelRegressor,
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


def test_tasks_in_a_column_of_numbers_and_pipelines(regression):
    d = regression
    number = np.unique(d.task, return_inverse=True)[1] * 10 + 7
    X = single(np.column_stack([d.X[:, :2], number, d.X[:, 2:]]))
    model = MultiTaskRegressor(C=1.0, task_column=2).fit(X, d.y)
    np.testing.assert_allclose(run(model.to_onnx(), X=X)["prediction"], model.predict(X), rtol=1e-4, atol=1e-5)
    skl2onnx = pytest.importorskip("skl2onnx")
    register_skl2onnx()
    table = np.column_stack([d.y, -d.y])
    x = single(d.X)
    for estimator, y in [
        (OutputKernelRegressor(C=1.0), table),
        (MultiTaskRegressor(C=1.0, kernel="rbf"), table),
        (OutputKernelClassifier(C=1.0), np.arange(100) % 3),
    ]:
        pipeline = make_pipeline(StandardScaler(), estimator).fit(x, y)
        options = {"zipmap": False} if "Class" in str(estimator) else None
        found = run(skl2onnx.to_onnx(pipeline, x[:1], options=options), X=x)
        first = next(iter(found.values()))
        np.testing.assert_allclose(first, pipeline.predict(x), rtol=1e-4, atol=1e-4)


def test_what_cannot_be_exported_says_so(regression):
    d = regression
    three = MultiTaskClassifier(C=1.0).fit(d.X, np.arange(100) % 3, task=d.task)
    with pytest.raises(ValueError, match="to_onnx: tasks with more than two classes"):
        three.to_onnx()
    gram = MultiTaskRegressor(C=1.0, kernel="precomputed").fit(d.X @ d.X.T, d.y, task=d.task)
    with pytest.raises(ValueError, match="to_onnx: a precomputed kernel"):
        gram.to_onnx()


def test_skops_needs_one_trusted_type(regression, tmp_path):
    io = pytest.importorskip("skops.io")
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    data = io.dumps(model)
    unknown = io.get_untrusted_types(data=data)
    loaded = io.loads(data, trusted=unknown)
    np.testing.assert_array_equal(loaded.predict(d.X, task=d.task), model.predict(d.X, task=d.task))
    assert all(name.startswith("kinfolk.") for name in unknown), unknown
