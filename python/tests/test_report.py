"""The HTML report, and comparisons with simpler models."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from kinfolk import _targets, load
from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor

AGREES = "They agree"
OTHER = "is not the data of the fit"


def page(estimator, path, *data, **more):
    estimator.report(path, *data, **more)
    return path.read_text(encoding="utf-8")


def certificate(text):
    return json.loads(re.search(r'id="certificate-data"[^>]*>(.*?)</script>', text, re.S)[1])


def test_the_page_has_the_certificate_recomputed_and_scores(regression, tmp_path):
    d = regression
    model = MultiTaskRegressor().fit(d.X, d.y, task=d.task, sample_weight=np.linspace(0.5, 2, 100))
    text = page(model, tmp_path / "a.html")
    assert AGREES in text and "MultiTaskRegressor()" in text and "Score: " in text and "src=" not in text
    assert certificate(text)["primal"] == pytest.approx(model.primal_)
    assert all(name in text for name in d.names)
    text = page(model, tmp_path / "a.html", d.X[:50], d.y[:50], d.task[:50])
    assert AGREES in text and OTHER in text and "the rows given" in text
    with pytest.raises(ValueError, match="give both X and y"):
        model.report(tmp_path / "a.html", d.X)
    with pytest.raises(ValueError, match="'nobody' is unknown"):
        model.report(tmp_path / "a.html", d.X[:1], d.y[:1], task="nobody")


def test_training_data_are_not_shown_twice(regression, tmp_path):
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    text = page(model, tmp_path / "a.html", d.X, d.y, d.task)
    assert text.count(AGREES) == 1 and "the rows given" not in text


def test_models_without_their_data(regression, tmp_path):
    d = regression
    model = MultiTaskRegressor(C=1.0, keep_data=False).fit(d.X, d.y, task=d.task)
    text = page(model, tmp_path / "a.html")
    assert AGREES not in text and "report(path, X, y)" in text
    assert AGREES in page(model, tmp_path / "a.html", d.X, d.y, d.task)
    model.save(tmp_path / "m")
    text = page(load(tmp_path / "m"), tmp_path / "a.html", d.X, d.y, d.task)
    assert AGREES in text and "files do not keep the trace" in text
    with_offset = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task, offset=np.ones(100))
    assert AGREES not in page(with_offset, tmp_path / "a.html")


def test_a_changed_array_is_noticed(regression, tmp_path):
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    changed = d.y.copy()
    changed[0] += 1
    text = page(model, tmp_path / "a.html", d.X, changed, d.task)
    assert "differs" in text and AGREES in text
    d.y[0] += 1
    with pytest.raises(ValueError, match="was changed after the fit"):
        model.report(tmp_path / "a.html")


def test_labels_mean_the_same_if_not_all_classes_are_there(binary, tmp_path):
    d = binary
    model = MultiTaskClassifier(C=1.0).fit(d.X, d.y, task=d.task)
    no = np.flatnonzero(d.y == "no")[:20]
    assert (_targets.of_model(model._targets, d.y[no], d.task[no]).label == -1.0).all()
    text = page(model, tmp_path / "a.html", d.X[no], d.y[no], d.task[no])
    assert OTHER in text
    with pytest.raises(ValueError, match="row 1 has the class 'maybe'; those of the model are no, yes"):
        model.report(tmp_path / "a.html", d.X[:2], ["no", "maybe"], d.task[:2])


def test_classes_of_several_tasks_and_tables(regression, tmp_path):
    d = regression
    three = np.digitize(d.y, [-1.0, 1.0])
    model = MultiTaskClassifier(C=1.0).fit(d.X, three, task=d.task)
    assert AGREES in page(model, tmp_path / "a.html")
    model.save(tmp_path / "m")
    assert AGREES in page(load(tmp_path / "m"), tmp_path / "a.html", d.X, three, d.task)
    table = pd.DataFrame({"low": d.y, "high": np.where(d.X[:, 0] > 1, np.nan, d.y)})
    wide = MultiTaskRegressor(C=1.0, keep_data=False).fit(d.X, table)
    assert AGREES in page(wide, tmp_path / "a.html", d.X, table)
    assert AGREES in page(wide, tmp_path / "a.html", d.X, table[["high", "low"]]), "columns are found by name"
    with pytest.raises(ValueError, match="y: there is no task 'low' among its columns"):
        wide.report(tmp_path / "a.html", d.X, table.rename(columns={"low": "deep"}))
    with pytest.raises(ValueError, match="fitted with a table of labels"):
        wide.report(tmp_path / "a.html", d.X, d.y)


@pytest.mark.parametrize("weight", [None, np.linspace(1, 2, 100)], ids=["alike", "weighted"])
def test_outputs_and_classes(regression, tmp_path, weight):
    d = regression
    Y = np.column_stack([d.y, -d.y])
    code = np.arange(100) % 4
    signs = (Y > 0).astype(float)
    signs[3, 1] = np.nan
    for kind, y in [(OutputKernelRegressor, Y), (OutputKernelClassifier, code), (OutputKernelClassifier, signs)]:
        model = kind(C=1.0).fit(d.X, y, sample_weight=weight)
        assert AGREES in page(model, tmp_path / "a.html", d.X, y, sample_weight=weight)
        assert OTHER in page(model, tmp_path / "a.html", d.X[:9], y[:9])
        assert AGREES not in page(model, tmp_path / "a.html")


def test_precomputed_kernels(regression, tmp_path):
    d = regression
    K = d.X @ d.X.T
    model = MultiTaskRegressor(kernel="precomputed", C=1.0).fit(K, d.y, task=d.task)
    assert AGREES in page(model, tmp_path / "a.html")
    assert OTHER in page(model, tmp_path / "a.html", K[:30], d.y[:30], d.task[:30])


def test_baselines_are_those_of_the_command(regression):
    d = regression
    model = MultiTaskRegressor().fit(d.X, d.y, task=d.task)
    assert model.baselines_["this model"]["score"] == model.cv_score_
    assert list(model.baselines_) == ["this model", "each task's mean", "tasks alone", "one model for all"]
    frame = model.baselines_frame_
    assert frame.loc["each task's mean", "score"] < 0.1 < frame.loc["this model", "score"]
    assert frame["is_better"].dtype == bool and not frame["is_better"].any()
    given = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    assert given.baselines_ == {} and given.baselines_frame_.shape == (0, 2)
    classes = MultiTaskClassifier().fit(d.X, d.y > 0, task=d.task)
    assert "majority" in classes.baselines_


def test_a_search_compares_with_independent_tasks(regression, tmp_path):
    d = regression
    search = MultiTaskCV(compare=True, cv=3).fit(d.X, d.y, task=d.task)
    plain = MultiTaskCV(cv=3).fit(d.X, d.y, task=d.task)
    assert search.best_params_ == plain.best_params_ and search.best_score_ == plain.best_score_
    assert len(search.cv_results_["params"]) == len(plain.cv_results_["params"])
    assert list(search.comparison_) == ["stl", "pooled"]
    found = search.comparison_["stl"]
    assert list(found["per_task"]) == sorted(d.names) and set(found["helped"]) <= set(d.names)
    assert search.comparison_frame_.shape == (5, 4)
    assert search.comparison_["pooled"]["gain"] > 2 * search.comparison_["pooled"]["standard_error"]
    text = page(search, tmp_path / "a.html")
    assert AGREES in text and "against each task alone, on the same 3 folds" in text and "Best at strength" in text
    assert "MultiTaskCV" not in text and "compare=True" in page(search.best_estimator_, tmp_path / "a.html")
    assert "Best at strength" in page(plain, tmp_path / "a.html")
    assert not hasattr(plain, "comparison_") and not hasattr(plain, "comparison_frame_")


def test_comparisons_that_cannot_be(regression):
    d = regression
    wrong = [dict(scoring="r2"), dict(param_grid={"k": [1, 2]})]
    for parameters in wrong:
        with pytest.raises(ValueError, match="compare: it is for"):
            MultiTaskCV(compare=True, cv=2, **parameters).fit(d.X, d.y, task=d.task)


@pytest.mark.parametrize("kind", [OutputKernelClassifier, OutputKernelRegressor], ids=lambda kind: kind.__name__)
def test_outputs_are_compared_too(regression, kind):
    d = regression
    y = np.arange(100) % 3 if kind is OutputKernelClassifier else np.column_stack([d.y, -d.y])
    search = MultiTaskCV(kind(), compare=True, Cs=[0.1, 1.0], param_grid={}, cv=2).fit(d.X, y)
    assert list(search.comparison_["stl"]["per_task"]) == list(range(3 if kind is OutputKernelClassifier else 2))
