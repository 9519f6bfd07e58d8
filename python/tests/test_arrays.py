"""Arrays of other libraries, which may lie on a device: a stand-in here, torch and cupy where they are installed."""

import types

import numpy as np
import pytest

from kinfolk import (
    MultiTaskClassifier,
    MultiTaskCV,
    MultiTaskRegressor,
    OutputKernelClassifier,
    OutputKernelRegressor,
    Statistics,
)


class OnDevice:
    """An array on a device: numpy does not read it, it is copied by DLPack, and has a namespace of its own."""

    device = "pretended:0"

    def __init__(self, values):
        self.values = np.asarray(values)
        self.shape, self.dtype, self.ndim = self.values.shape, self.values.dtype, self.values.ndim

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        raise TypeError("implicit conversion to a numpy array is not allowed")

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        if dl_device != (1, 0):
            raise BufferError("only to main memory")
        return self.values.copy().__dlpack__()

    def __array_namespace__(self, api_version=None):
        return types.SimpleNamespace(asarray=lambda values, device: OnDevice(values))


def rows(seed=0, n=60):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 4))
    task = np.arange(n) % 3
    return x, x @ rng.normal(size=4) + 0.1 * task + 0.1 * rng.normal(size=n), task


def test_a_fit_takes_arrays_from_a_device_and_predictions_go_back():
    x, y, task = rows()
    weight, offset = np.ones(60), np.full(60, 0.5)
    own = MultiTaskRegressor().fit(x, y, task=task, sample_weight=weight, offset=offset)
    there = MultiTaskRegressor().fit(
        OnDevice(x), OnDevice(y), task=OnDevice(task), sample_weight=OnDevice(weight), offset=OnDevice(offset)
    )
    assert (there.coef_ == own.coef_).all()
    found = there.predict(OnDevice(x), task=OnDevice(task))
    assert isinstance(found, OnDevice) and found.device == "pretended:0"
    assert (found.values == own.predict(x, task=task)).all()
    low, high = there.predict_interval(OnDevice(x), task=task)
    assert isinstance(low, OnDevice) and (low.values < high.values).all()
    assert there.score(OnDevice(x), OnDevice(y), task=task) == own.score(x, y, task=task)
    assert there.score_per_task(OnDevice(x), OnDevice(y), task=task) == own.score_per_task(x, y, task=task)
    assert isinstance(there.predict(x, task=task), np.ndarray)


@pytest.mark.parametrize("estimator", [MultiTaskClassifier(), OutputKernelClassifier()])
def test_numbers_of_classes_go_back_and_words_stay(estimator):
    x, y, _ = rows(1)
    sign = (y > 0).astype(int)
    fitted = estimator.fit(OnDevice(x), OnDevice(sign))
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        found, own = getattr(fitted, method)(OnDevice(x)), getattr(fitted, method)(x)
        assert isinstance(found, OnDevice) and isinstance(own, np.ndarray), method
        assert (found.values == own).all()
    words = estimator.fit(OnDevice(x), np.where(y > 0, "high", "low"))
    assert isinstance(words.predict(OnDevice(x)), np.ndarray)


def test_tables_statistics_and_cross_validation_take_them():
    x, y, task = rows(2)
    table = OnDevice(np.column_stack([y, -y]))
    assert OutputKernelRegressor().fit(OnDevice(x), table).predict(OnDevice(x)).shape == (60, 2)
    assert Statistics().update(OnDevice(x), OnDevice(y), task=OnDevice(task)).n_rows == 60
    found = MultiTaskCV(Cs=[0.1, 1.0], cv=3).fit(OnDevice(x), OnDevice(y), task=OnDevice(task))
    assert found.best_params_ == MultiTaskCV(Cs=[0.1, 1.0], cv=3).fit(x, y, task=task).best_params_
    assert isinstance(found.predict(OnDevice(x), task=task), OnDevice)


@pytest.mark.parametrize("name", ["torch", "cupy"])
def test_libraries_of_arrays(name):
    library = pytest.importorskip(name)
    x, y, task = rows(3)
    places = ["cpu"] if name == "torch" else []
    if name == "cupy" or library.cuda.is_available():
        places.append("cuda")
    for place in places:
        put = library.asarray if name == "cupy" else lambda values, place=place: library.asarray(values, device=place)
        model = MultiTaskRegressor().fit(put(x), put(y), task=put(task))
        found = model.predict(put(x), task=task)
        assert type(found) is type(put(x)) and found.device == put(x).device
        own = found.get() if name == "cupy" else found.cpu().numpy()
        assert (own == model.predict(x, task=task)).all()
        if name == "torch":
            half = put(x).to(library.bfloat16).requires_grad_()
            assert np.abs(model.predict(half, task=task).cpu().numpy() - own).max() < 0.1
