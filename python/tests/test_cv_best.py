"""MultiTaskCV has the methods of its best estimator."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kinfolk
from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier


def test_a_search_does_what_its_best_estimator_does(regression, tmp_path):
    d = regression
    search = MultiTaskCV(MultiTaskRegressor(), Cs=[0.1, 1.0], param_grid={}, cv=2).fit(d.X, d.y, task=d.task)
    best = search.best_estimator_
    intervals = [each.predict_interval(d.X, task="task 1", coverage=0.8) for each in (search, best)]
    np.testing.assert_array_equal(*intervals)
    assert search.score_per_task(d.X, d.y, task=d.task) == best.score_per_task(d.X, d.y, task=d.task)
    search.save(tmp_path / "m")
    np.testing.assert_array_equal(kinfolk.load(tmp_path / "m").predict(d.X, d.task), search.predict(d.X, task=d.task))
    before = search.predict(d.X, task=d.task)
    assert search.update(d.X[:5], d.y[:5] + 1, task=d.task[:5]) is search
    assert not np.array_equal(search.predict(d.X, task=d.task), before) and best.C_ == search.best_C_
    assert "new" in search.add_task(d.X[:9], d.y[:9], "new").tasks_
    assert "new" not in search.remove_task("new").tasks_
    search.report(tmp_path / "a.html")


def test_what_the_best_estimator_has_not_is_not_there(binary, tmp_path):
    d = binary
    search = MultiTaskCV(MultiTaskClassifier(), Cs=[1.0], param_grid={}, cv=2)
    assert hasattr(search, "predict_proba") and not hasattr(search, "predict_interval")
    assert not hasattr(MultiTaskCV(OutputKernelClassifier()), "update")
    pipe = make_pipeline(StandardScaler(), MultiTaskRegressor())
    assert not hasattr(MultiTaskCV(pipe), "save") and hasattr(MultiTaskCV(pipe), "predict")
    with pytest.raises(NotFittedError):
        search.save(tmp_path / "m")
    with pytest.raises(NotFittedError):
        search.report(tmp_path / "a.html")


def test_onnx_of_a_search(regression, tmp_path):
    onnx = pytest.importorskip("onnx")
    d = regression
    search = MultiTaskCV(Cs=[1.0], param_grid={}, cv=2).fit(d.X, d.y, task=d.task)
    search.to_onnx(tmp_path / "m.onnx")
    assert onnx.load(tmp_path / "m.onnx").graph.output[0].name == "prediction"
