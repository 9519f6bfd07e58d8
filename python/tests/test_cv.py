"""MultiTaskCV has the conventions and names of GridSearchCV."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import make_scorer, mean_squared_error
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier

TIGHT = {"tol": 1e-9, "max_passes": 100_000}
SCORERS = ["r2", "neg_mean_squared_error", "neg_median_absolute_error"]


def table(d):
    return pd.DataFrame(d.X, columns=list("abcdef")).assign(where=d.task)


def agrees(ours, theirs, *, skip=()):
    """All columns of GridSearchCV are there, and scores and ranks are the same."""
    for name, column in theirs.items():
        if name.endswith("_time") or name in skip:
            continue
        assert name in ours, name
        if name == "params" or name.startswith("param_"):
            assert list(ours[name]) == list(column), name
        else:
            # A relative gap of 1e-9 leaves predictions within its square root, 3e-5.
            np.testing.assert_allclose(ours[name], column, rtol=1e-4, atol=3e-5, err_msg=name)


@pytest.mark.parametrize("refit", ["r2", "neg_mean_squared_error"])
def test_several_scorers_and_train_scores_are_those_of_grid_search(regression, refit):
    d = regression
    X, estimator = table(d), MultiTaskRegressor(method="fmtl", task_column="where", **TIGHT)
    more = {"cv": KFold(3), "scoring": SCORERS, "refit": refit, "return_train_score": True}
    theirs = GridSearchCV(estimator, {"C": [0.1, 1.0, 10.0], "k": [1, 2]}, **more).fit(X, d.y)
    ours = MultiTaskCV(estimator, Cs=[0.1, 1.0, 10.0], param_grid={"k": [1, 2]}, **more).fit(X, d.y)
    # GridSearchCV varies k first.
    order = [[row == other for row in theirs.cv_results_["params"]].index(True) for other in ours.cv_results_["params"]]
    sorted_ = {name: np.asarray(column, dtype=object)[order] for name, column in theirs.cv_results_.items()}
    for name in [name for name in sorted_ if "split" in name or "mean_" in name or "std_" in name or "rank_" in name]:
        sorted_[name] = sorted_[name].astype(float)
    agrees(ours.cv_results_, sorted_)
    assert ours.multimetric_ and ours.best_params_ == theirs.best_params_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-6)
    assert ours.score(X, d.y) == pytest.approx(theirs.score(X, d.y), rel=1e-6)
    assert {"mean_score_time", "std_score_time", "mean_fit_time", "max_rel_gap"} <= set(ours.cv_results_)
    assert ours.refit_time_ > 0
    assert {len(column) for column in ours.cv_results_.values()} == {6}
    assert len(pd.DataFrame(ours.cv_results_)) == 6


def test_a_dictionary_of_scorers_and_a_function_that_chooses(regression):
    d = regression
    scoring = {"error": make_scorer(mean_squared_error, greater_is_better=False), "own": None, "fit": "r2"}
    given = {"Cs": [0.01, 1.0], "param_grid": {}, "cv": 3, "scoring": scoring}
    search = MultiTaskCV(MultiTaskRegressor(), refit="error", **given).fit(d.X, d.y, task=d.task)
    results = search.cv_results_
    np.testing.assert_allclose(results["mean_test_own"], results["mean_test_fit"])
    assert (results["mean_test_error"] < 0).all() and "mean_test_score" not in results
    assert "mean_train_fit" not in results
    worst = MultiTaskCV(refit=lambda found: int(found["mean_test_fit"].argmin()), **given).fit(d.X, d.y, task=d.task)
    assert worst.best_index_ == int(results["mean_test_fit"].argmin()) and not hasattr(worst, "best_score_")
    assert worst.best_estimator_.C_ == pytest.approx(worst.best_C_)
    nothing = MultiTaskCV(refit=False, **given).fit(d.X, d.y, task=d.task)
    assert not hasattr(nothing, "best_index_") and not hasattr(nothing, "best_estimator_")
    for refit, expected in [(True, "refit = True: with several scorers it must be one of error, own, fit"),
                            ("auc", "refit = 'auc'")]:  # fmt: skip
        with pytest.raises(ValueError, match=expected):
            MultiTaskCV(refit=refit, **given).fit(d.X, d.y, task=d.task)
    with pytest.raises(IndexError, match="there is no setting 7"):
        MultiTaskCV(refit=lambda found: 7, **given).fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="metrics of the command"):
        MultiTaskCV(scoring=["select", "r2"], refit="r2").fit(d.X, d.y, task=d.task)


def test_train_scores_of_the_metrics_of_the_command(regression):
    d = regression
    for scoring in ("select", "select:rmse", None):
        given = {"Cs": [0.1, 10.0], "param_grid": {"k": [1, 2]}, "cv": 3, "scoring": scoring}
        search = MultiTaskCV(MultiTaskRegressor(), return_train_score=True, **given).fit(d.X, d.y, task=d.task)
        without = MultiTaskCV(MultiTaskRegressor(), **given).fit(d.X, d.y, task=d.task)
        results = search.cv_results_
        np.testing.assert_array_equal(results["mean_test_score"], without.cv_results_["mean_test_score"])
        assert (results["mean_train_score"] > results["mean_test_score"]).all()
        assert {"split2_train_score", "std_train_score"} <= set(results)
        assert not any("train" in name for name in without.cv_results_)
    by_default = MultiTaskCV(MultiTaskRegressor(), cv=2, return_train_score=True).fit(d.X, d.y, task=d.task)
    assert len(by_default.cv_results_["mean_train_score"]) == len(by_default.cv_results_["params"])


def test_several_scorers_in_the_default_search(regression):
    d = regression
    given = {"cv": 2, "refit": "r2", "n_jobs": 2}
    search = MultiTaskCV(MultiTaskRegressor(), scoring=["r2", "neg_mean_squared_error"], **given)
    search.fit(d.X, d.y, task=d.task)
    single = MultiTaskCV(MultiTaskRegressor(), scoring="r2", cv=2, n_jobs=2).fit(d.X, d.y, task=d.task)
    np.testing.assert_array_equal(search.cv_results_["mean_test_r2"], single.cv_results_["mean_test_score"])
    assert search.best_params_ == single.best_params_ and search.best_score_ == single.best_score_


def test_settings_that_cannot_be_fitted(regression):
    d = regression
    given = {"Cs": [0.1, 1.0], "param_grid": {"kernel": ["linear", "wrong"]}, "cv": 2}
    for scoring in ("select", None, ["r2"]):
        search = MultiTaskCV(scoring=scoring, refit="r2" if scoring == ["r2"] else True, **given)
        with pytest.warns(FitFailedWarning, match="{'kernel': 'wrong'} cannot be fitted, its score is nan: ValueError"):
            search.fit(d.X, d.y, task=d.task)
        name = "r2" if scoring == ["r2"] else "score"
        assert np.isnan(search.cv_results_[f"mean_test_{name}"][2:]).all() and search.best_params_["kernel"] == "linear"
        assert list(search.cv_results_[f"rank_test_{name}"][2:]) == [3, 3]
        assert {len(column) for column in search.cv_results_.values()} == {4}
    with pytest.warns(FitFailedWarning):
        worst = MultiTaskCV(error_score=-9, scoring="r2", **given).fit(d.X, d.y, task=d.task)
    assert list(worst.cv_results_["mean_test_score"][2:]) == [-9, -9]
    with pytest.raises(ValueError, match="kernel = 'wrong'"):
        MultiTaskCV(error_score="raise", **given).fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="kernel = 'wrong'"):  # nothing can be fitted
        MultiTaskCV(Cs=[1.0], param_grid={"kernel": ["wrong"]}).fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="error_score = 'ignore': it must be a number or 'raise'"):
        MultiTaskCV(error_score="ignore").fit(d.X, d.y, task=d.task)


def test_groups_stay_together(regression):
    d = regression
    groups = np.arange(100) // 10
    given = {"cv": GroupKFold(4), "scoring": "r2"}
    estimator = MultiTaskRegressor(task_column="where", method="fmtl", **TIGHT)
    ours = MultiTaskCV(estimator, Cs=[0.1, 1.0], param_grid={}, **given).fit(table(d), d.y, groups=groups)
    theirs = GridSearchCV(estimator, {"C": [0.1, 1.0]}, **given).fit(table(d), d.y, groups=groups)
    agrees(ours.cv_results_, theirs.cv_results_)


def test_a_pipeline_is_searched_as_grid_search_does(regression):
    d = regression
    X, Y = d.X * [1, 10, 100, 1, 1, 1], np.column_stack([d.y, -d.y])
    pipe = make_pipeline(StandardScaler(), MultiTaskRegressor(method="fmtl", **TIGHT))
    grid = {"multitaskregressor__k": [1, 2], "standardscaler__with_std": [True, False]}
    more = {"cv": KFold(3), "scoring": ["r2", "neg_mean_squared_error"], "refit": "r2", "return_train_score": True}
    ours = MultiTaskCV(pipe, Cs=[0.1, 1.0], param_grid=grid, **more).fit(X, Y)
    theirs = GridSearchCV(pipe, grid | {"multitaskregressor__C": [0.1, 1.0]}, **more).fit(X, Y)
    order = [theirs.cv_results_["params"].index(row) for row in ours.cv_results_["params"]]
    for name in [name for name in theirs.cv_results_ if "_test_" in name or "_train_" in name]:
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name][order], rtol=1e-6, err_msg=name)
    assert ours.best_params_ == theirs.best_params_ and ours.best_C_ == theirs.best_params_["multitaskregressor__C"]
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)
    assert isinstance(ours.best_estimator_, Pipeline) and ours.n_features_in_ == 6


@pytest.mark.parametrize("scoring", ["select", "r2", None])
def test_a_pipeline_with_tasks(regression, scoring):
    d = regression
    pipe = Pipeline([("scale", StandardScaler()), ("model", MultiTaskRegressor(scale=None))])
    given = {"Cs": [0.1, 1.0], "cv": 3, "scoring": scoring, "n_jobs": 2}
    search = MultiTaskCV(pipe, param_grid={"model__k": [1, 2]}, **given)
    search.fit(d.X, d.y, task=d.task, sample_weight=np.linspace(0.5, 1.5, 100))
    assert search.cv_results_["mean_test_score"].shape == (4,) and search.best_score_ > 0.5
    assert search.predict(d.X, task=d.task).shape == (100,)
    assert search.score(d.X, d.y, task=d.task) > 0.5
    # The folds are those without the pipeline.
    plain = MultiTaskCV(MultiTaskRegressor(scale=None), param_grid={"k": [1, 2]}, **given | {"scoring": None})
    plain.fit(d.X, d.y, task=d.task)
    assert plain.n_splits_ == search.n_splits_
    if scoring is None:
        assert np.abs(plain.cv_results_["mean_test_score"] - search.cv_results_["mean_test_score"]).max() < 0.2


def test_pipelines_by_default_with_classes_and_with_errors(binary):
    d = binary
    pipe = make_pipeline(StandardScaler(), MultiTaskClassifier())
    search = MultiTaskCV(pipe, cv=2).fit(d.X, d.y, task=d.task)
    assert search.best_C_.startswith("strength:") and set(search.classes_) == {"no", "yes"}
    assert search.predict_proba(d.X, task=d.task).shape == (100, 2)
    clone(search)
    given = {"Cs": [1.0], "cv": 2, "scoring": "accuracy"}
    wrong = {"multitaskclassifier__kernel": ["linear", "wrong"]}
    with pytest.warns(FitFailedWarning, match="a fit failed, its score is nan: ValueError: kernel = 'wrong'"):
        failed = MultiTaskCV(pipe, param_grid=wrong, **given).fit(d.X, d.y, task=d.task)
    assert np.isnan(failed.cv_results_["mean_test_score"][1]) and failed.best_index_ == 0
    with pytest.raises(ValueError, match="kernel = 'wrong'"):
        MultiTaskCV(pipe, param_grid=wrong, error_score="raise", **given).fit(d.X, d.y, task=d.task)
    with pytest.raises(TypeError, match="the last step of the pipeline must be one of this package"):
        MultiTaskCV(make_pipeline(StandardScaler())).fit(d.X, d.y)
    with pytest.raises(TypeError, match="estimator: it must be one of this package, or a pipeline"):
        MultiTaskCV(StandardScaler()).fit(d.X, d.y)
    with pytest.raises(ValueError, match="for a pipeline, give a scorer of scikit-learn"):
        MultiTaskCV(pipe, scoring="select:auc").fit(d.X, d.y, task=d.task)


def test_a_column_with_one_label_and_matrices_that_cannot_be_sliced(regression):
    d = regression
    labels = np.full((100, 3), np.nan)
    labels[:, 0], labels[:50, 1], labels[7, 2] = d.y, -d.y[:50], 1.0
    for scoring in ("select", None, "r2"):
        complete = scoring == "r2"
        Y = np.nan_to_num(labels) if complete else labels
        search = MultiTaskCV(MultiTaskRegressor(), Cs=[0.1, 1.0], param_grid={}, cv=3, scoring=scoring).fit(d.X, Y)
        assert np.isfinite(search.best_score_) and search.predict(d.X).shape == (100, 3)
    classes = np.where(np.isnan(labels), None, np.where(labels > 0, "yes", "no"))
    found = MultiTaskCV(MultiTaskClassifier(), Cs=[0.1, 1.0], param_grid={}, cv=3).fit(d.X, classes)
    assert found.predict(d.X).shape == (100, 3)
    dense = MultiTaskCV(MultiTaskRegressor(scale="spread"), Cs=[1.0], param_grid={}, cv=3).fit(d.X, d.y, task=d.task)
    for form in (sp.coo_matrix, sp.coo_array, sp.dia_matrix, sp.bsr_matrix, sp.csc_array):
        search = MultiTaskCV(MultiTaskRegressor(scale="spread"), Cs=[1.0], param_grid={}, cv=3)
        search.fit(form(d.X), d.y, task=d.task)
        assert search.best_score_ == pytest.approx(dense.best_score_, abs=1e-3)
    many = MultiTaskCV(OutputKernelClassifier(), Cs=[1.0], param_grid={}, cv=2)
    assert many.fit(sp.coo_matrix(d.X), np.arange(100) % 3).predict(d.X).shape == (100,)


@pytest.mark.parametrize("estimator", ["MultiTaskRegressor()", "make_pipeline(StandardScaler(), MultiTaskRegressor())"])
@pytest.mark.parametrize("scoring", ["'select'", "'r2'"])
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent in another way")
def test_ctrl_c_ends_the_search_at_once(estimator, scoring):
    script = f"""
        import numpy as np
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        from kinfolk import MultiTaskCV, MultiTaskRegressor

        rng = np.random.default_rng(0)
        X, task = rng.normal(size=(4000, 60)), np.arange(4000) % 40
        y = rng.normal(size=4000)
        print("ready", flush=True)
        MultiTaskCV({estimator}, cv=10, scoring={scoring}).fit(X, y, task=task)
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        _, said = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in said and process.returncode != 0, said
    assert time.perf_counter() - began < 10


def test_levels_are_decided_once_for_all_settings():
    drawn = 0
    for seed in range(3):
        rng = np.random.default_rng(seed)
        task = np.repeat(np.arange(30), 4)
        X = rng.normal(size=(120, 2))
        y = X @ [1, -0.5] + 0.1 * rng.normal(size=30)[task] + rng.normal(size=120)
        search = MultiTaskCV(MultiTaskRegressor(), Cs=[0.1, 1.0], cv=3).fit(X, y, task=task)
        intercepts = {setting.get("intercept") for setting in search.cv_results_["params"]}
        assert len(intercepts) == 1 and search.best_estimator_.intercept == (intercepts - {None} or {"auto"}).pop()
        drawn += intercepts != {None}
        free = MultiTaskCV(MultiTaskRegressor(intercept="free"), Cs=[0.1, 1.0], cv=3).fit(X, y, task=task)
        assert "intercept" not in free.best_params_
    assert drawn >= 1
