"""Searches as people use them: scorers, pipelines, metadata routing, tasks by position."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import cross_val_predict, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor

SMALL = {"Cs": [0.1, 1.0], "param_grid": {}, "cv": 3}


def test_tasks_by_position(binary):
    d = binary
    search = MultiTaskCV(MultiTaskClassifier(), **SMALL).fit(d.X, d.y, d.task)
    for method in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
        own = getattr(search, method)
        np.testing.assert_array_equal(own(d.X, d.task), own(d.X, task=d.task))
        np.testing.assert_array_equal(own(d.X, d.task[0]), own(d.X, task=np.full(100, d.task[0])))


def test_wrong_scorers_are_errors_before_any_fit(regression, monkeypatch):
    d = regression

    def no_fit(*args, **more):
        raise AssertionError("a fit")

    monkeypatch.setattr("kinfolk._native.cross_validate", no_fit)
    pipeline = make_pipeline(StandardScaler(), MultiTaskRegressor())
    for estimator in (MultiTaskRegressor(), pipeline):
        for scoring in ("acuracy", ["r2", "acuracy"], {"own": "acuracy"}):
            with pytest.raises(ValueError, match="scoring = 'acuracy': it must be .*get_scorer_names"):
                MultiTaskCV(estimator, scoring=scoring, refit=False, **SMALL).fit(d.X, d.y)
        with pytest.raises(TypeError, match="scoring = 5: it must be 'select'"):
            MultiTaskCV(estimator, scoring=5, **SMALL).fit(d.X, d.y)


@pytest.mark.parametrize("pipe", [False, True])
def test_a_function_may_return_several_scores(regression, pipe):
    d = regression
    estimator = make_pipeline(StandardScaler(), MultiTaskRegressor()) if pipe else MultiTaskRegressor()

    def both(fitted, X, y):
        error = np.abs(y - fitted.predict(X)).mean()
        return {"near": -error, "far": error}

    best = {}
    for refit in ("near", "far"):
        search = MultiTaskCV(estimator, scoring=both, refit=refit, return_train_score=True, **SMALL)
        search.fit(d.X, d.y, task=d.task)
        assert search.multimetric_ and {"mean_test_near", "mean_test_far", "mean_train_far"} <= set(search.cv_results_)
        assert search.best_score_ == search.cv_results_[f"mean_test_{refit}"].max()
        assert search.score(d.X, d.y, task=d.task) * (1 if refit == "far" else -1) > 0
        best[refit] = search.best_index_
    assert best["near"] != best["far"]
    with pytest.raises(ValueError, match="refit = True: with several scorers it must be one of near, far"):
        MultiTaskCV(estimator, scoring=both, error_score="raise", **SMALL).fit(d.X, d.y, task=d.task)
    plain = MultiTaskCV(estimator, scoring=both, refit=False, **SMALL).fit(d.X, d.y, task=d.task)
    assert not hasattr(plain, "best_params_")


def test_metadata_routing(regression):
    d = regression
    with sklearn.config_context(enable_metadata_routing=True):
        asked = MultiTaskRegressor(C=1.0).set_fit_request(task=True).set_predict_request(task=True)
        for last in (MultiTaskRegressor(), asked):
            search = MultiTaskCV(make_pipeline(StandardScaler(), last), scoring="r2", **SMALL)
            search.fit(d.X, d.y, task=d.task, sample_weight=np.ones(100))
            assert search.predict(d.X, task=d.task).shape == (100,) and search.score(d.X, d.y, task=d.task) > 0.5
        search = MultiTaskCV(**SMALL).set_predict_request(task=True).set_fit_request(task=True)
        piped = make_pipeline(StandardScaler(), search.set_score_request(task=True)).fit(d.X, d.y, task=d.task)
        assert piped.predict(d.X, task=d.task).shape == (100,) and piped.score(d.X, d.y, task=d.task) > 0.5
        found = cross_validate(search, d.X, d.y, params={"task": d.task}, cv=3)
        assert (found["test_score"] > 0.3).all()


def test_pipelines_with_columns(regression):
    d = regression
    frame = pd.DataFrame(d.X, columns=list("abcdef")).assign(where=d.task, word=["x", "y"] * 50)
    parts = [
        ("numbers", StandardScaler(), list("abcdef")),
        ("words", OneHotEncoder(sparse_output=False), ["word"]),
        ("tasks", "passthrough", ["where"]),
    ]
    columns = ColumnTransformer(parts, verbose_feature_names_out=False)
    for library in ("pandas", "polars"):
        columns.set_output(transform=library)
        pipeline = Pipeline([("columns", columns), ("model", MultiTaskRegressor(task_column="where", C=1.0))])
        guess = cross_val_predict(pipeline, frame, d.y, cv=3)
        assert np.corrcoef(guess, d.y)[0, 1] > 0.8
        search = MultiTaskCV(pipeline, Cs=[0.1, 1.0], param_grid={"model__k": [1, 2]}, cv=3).fit(frame, d.y)
        assert set(search.best_params_) == {"model__C", "model__k"} and search.score(frame, d.y) > 0.5
    guess = cross_val_predict(MultiTaskCV(MultiTaskRegressor(task_column="where"), **SMALL), frame, d.y, cv=3)
    assert np.corrcoef(guess, d.y)[0, 1] > 0.8


@pytest.mark.parametrize(
    "params, error",
    [
        ({"Cs": 1.0}, "Cs = 1.0: it must be a list of numbers"),
        ({"Cs": "a"}, "Cs = 'a': it must be a list of numbers"),
        ({"Cs": [-1.0]}, "Cs = -1.0: it must be finite and positive"),
        ({"Cs": []}, "Cs is empty"),
        ({"compare": "x"}, "compare = 'x': it must be True or False"),
        ({"return_train_score": "x"}, "return_train_score = 'x': it must be True or False"),
    ],
)
def test_errors_name_the_parameter(regression, params, error):
    d = regression
    for estimator in (MultiTaskRegressor(), make_pipeline(StandardScaler(), MultiTaskRegressor())):
        with pytest.raises((TypeError, ValueError), match=error):
            MultiTaskCV(estimator, **{**SMALL, **params}).fit(d.X, d.y, task=d.task)
