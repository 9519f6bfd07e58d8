"""MultiTaskCV makes the folds, the scores and the choice of `kinfolk select`."""

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GroupKFold, ShuffleSplit

import kinfolk
from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier, _native


def select(command, *words):
    words = [command, "select", *map(str, words), "--seed", "5", "--threads", "2", "--json", "--quiet"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def table(d):
    return pd.DataFrame(d.X, columns=list("abcdef")).assign(where=d.task)


def same(search, found):
    """Scores of all settings and of all folds of the best one, and the choice."""
    results, best = search.cv_results_, found["best"][0]
    np.testing.assert_allclose(results["mean_test_score"], [row["mean"] for row in found["rows"]], rtol=1e-14)
    folds = [results[f"split{f}_test_score"][search.best_index_] for f in range(search.n_splits_)]
    assert folds == [fold["value"] for fold in best["scores"]]
    assert search.best_score_ == pytest.approx(found["winner"]["score"], rel=1e-14)
    assert search.best_C_ == found["fit"]["c"]


def test_regression(regression, command, tmp_path):
    d = regression
    table(d).assign(score=d.y).to_csv(tmp_path / "d.csv", index=False)
    frame = pd.read_csv(tmp_path / "d.csv")
    estimator = MultiTaskRegressor(method="fmtl", task_column="where", random_state=5, n_jobs=2)
    for extra, grid, metric in (((), [1, 2], "select"), (("--metric", "rmse"), [2], "select:rmse")):
        values = ",".join(map(str, grid))
        words = ["--task", "where", "--target", "score", "--method", "fmtl", "--grid", f"k={values}", "--folds", 4]
        found = select(command, tmp_path / "d.csv", *words, *extra, "-o", tmp_path / "m.safetensors")
        search = MultiTaskCV(estimator, param_grid={"k": grid}, cv=4, scoring=metric, n_jobs=2)
        search.fit(frame.drop(columns="score"), frame["score"])
        if metric == "select:rmse":  # larger is better in scikit-learn
            search.best_score_ = -search.best_score_
            for name in search.cv_results_:
                if name.endswith("test_score") and not name.startswith(("std", "rank")):
                    search.cv_results_[name] = -search.cv_results_[name]
        same(search, found)
        assert f"k={search.best_params_['k']}" in found["winner"]["method"]
        theirs = kinfolk.load(tmp_path / "m.safetensors")
        np.testing.assert_array_equal(search.best_estimator_.dual_coef_, theirs.dual_coef_)


def test_by_default_both_make_the_same_choice(regression, command, tmp_path):
    """Neither metric nor grid is named: same settings, same folds, same scores, same choice, same model."""
    d = regression
    table(d).assign(score=d.y).to_csv(tmp_path / "d.csv", index=False)
    frame = pd.read_csv(tmp_path / "d.csv")
    words = ["--task", "where", "--target", "score", "-o", tmp_path / "m.safetensors"]
    found = select(command, tmp_path / "d.csv", *words)
    search = MultiTaskCV(MultiTaskRegressor(task_column="where", random_state=5, n_jobs=2), n_jobs=2)
    search.fit(frame.drop(columns="score"), frame["score"])
    same(search, found)
    assert len(search.cv_results_["params"]) == len(found["rows"]) and search.n_splits_ == 5
    assert found["winner"]["method"].startswith("kin:")
    theirs = kinfolk.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(search.best_estimator_.dual_coef_, theirs.dual_coef_)


def test_folds_by_group_and_time_are_those_of_the_command(regression, command, tmp_path):
    d = regression
    patient, day = np.arange(100) * 7 % 12, np.arange(100) // 4
    data = table(d).assign(score=d.y, patient=[f"p{i}" for i in patient])
    data = data.assign(day=np.datetime64("2024-02-20") + day.astype("timedelta64[D]"))
    data.to_csv(tmp_path / "d.csv", index=False)
    frame = pd.read_csv(tmp_path / "d.csv")
    words = [tmp_path / "d.csv", "--task", "where", "--target", "score", "--features", ",".join("abcdef")]
    words += ["--method", "fmtl", "--grid", "k=1", "--folds", 3, "-o", tmp_path / "m.safetensors"]
    estimator = MultiTaskRegressor(method="fmtl", task_column="where", random_state=5, n_jobs=2)
    for by, given in (("group:patient", {"groups": frame["patient"]}), ("time:day", {"times": data["day"]})):
        found = select(command, *words, "--folds-by", by)
        search = MultiTaskCV(estimator, param_grid={"k": [1]}, cv=3, n_jobs=2)
        search.fit(frame[[*"abcdef", "where"]], frame["score"], **given)
        same(search, found)


def test_the_default_grid_is_that_of_the_method(regression):
    d = regression

    def tried(**params):
        search = MultiTaskCV(MultiTaskRegressor(**params), Cs=[1.0], cv=2, refit=False).fit(d.X, d.y, task=d.task)
        return [{name: value for name, value in row.items() if name != "C"} for row in search.cv_results_["params"]]

    assert tried(method="fmtl") == [{"k": k} for k in (1, 2, 4)]
    assert {"method", "kernel"} == {name for row in tried() for name in row}
    assert tried(method="fmtl", k=2) == tried(method="stl") == tried(prior=np.eye(5)) == [{}]
    assert tried(output="exp") == [{"method": "fmtl"}]
    texts = ["mtrl:l1=0", "mtrl:l1=1", "mtrl:l1=100"]
    assert tried(method="mtrl") == [{"method": text} for text in texts]
    assert tried(method="mtl:mu=0.1") == [{}]
    as_text = {"method": "mtl:mu=0.1", "method_params": None}
    assert tried(method="mtl", method_params={"mu": 0.1}) == [as_text]
    search = MultiTaskCV(Cs=[1.0], cv=2, param_grid={}).fit(d.X, d.y, task=d.task)
    assert search.cv_results_["params"] == [{"C": 1.0}]


def test_two_classes(binary, command, tmp_path):
    d = binary
    table(d).assign(label=d.y).to_csv(tmp_path / "d.csv", index=False)
    frame = pd.read_csv(tmp_path / "d.csv")
    words = ["--task", "where", "--target", "label", "--loss", "logistic", "--method", "mtl:mu=0.1", "--folds", 3]
    found = select(command, tmp_path / "d.csv", *words, "--class-weight", "balanced", "-o", tmp_path / "m.safetensors")
    estimator = MultiTaskClassifier(
        loss="logistic", method="mtl:mu=0.1", class_weight="balanced", task_column="where", random_state=5
    )
    same(MultiTaskCV(estimator, cv=3).fit(frame.drop(columns="label"), frame["label"]), found)
    assert found["metric"] == "auc"


def test_many_classes(command, tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(90, 4)), np.arange(90) % 3
    X[np.arange(90), y] += 1.5
    np.savez(tmp_path / "d.npz", X=X, label=y)
    words = ["--grid", "c=0.1,1,10", "--method", "fmtl:k=1"]
    found = select(command, tmp_path / "d.npz", *words, "-o", tmp_path / "m.safetensors")
    given = {"Cs": [10, 0.1, 1], "param_grid": {}}
    search = MultiTaskCV(OutputKernelClassifier(method="fmtl", random_state=5), **given).fit(X, y)
    same(search, found)
    accuracy = MultiTaskCV(OutputKernelClassifier(method="fmtl", random_state=5), **given, scoring=None).fit(X, y)
    # The estimator's own score is the same metric here.
    np.testing.assert_allclose(accuracy.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"])


def test_the_seed_decides_about_the_folds(regression):
    d = regression
    index = np.unique(d.task, return_inverse=True)[1].astype(np.uint32)
    rows = np.arange(100, dtype=np.uint32)
    observations = _native.Observations.triples(100, sorted(set(d.task)), rows, index, d.y)

    def folds(seed):
        fold = np.full(100, -1)
        for number, (train, test) in enumerate(_native.splits(observations, 4, seed)):
            fold[test] = number
            assert sorted([*train, *test]) == list(range(100))
        return fold

    one, again, other = map(folds, (1, 1, 2))
    assert (one == again).all() and (one != other).any() and np.bincount(one).tolist() == [25] * 4
    for task in range(5):
        assert np.bincount(one[index == task], minlength=4).tolist() == [5] * 4


def test_folds_of_the_caller_need_not_be_a_partition(regression):
    d = regression
    for cv in (ShuffleSplit(4, test_size=0.2, random_state=0), GroupKFold(3).split(d.X, groups=np.arange(100) % 10)):
        search = MultiTaskCV(Cs=[0.1, 1.0], cv=cv).fit(d.X, d.y, task=d.task)
        assert search.best_score_ > 0.5 and search.n_splits_ in (3, 4)
    with pytest.raises(ValueError, match="at least one fold"):
        MultiTaskCV(Cs=[1.0], cv=[]).fit(d.X, d.y, task=d.task)


def test_exceptions_of_a_scorer_come_through(regression):
    d = regression

    def scorer(estimator, X, y):
        raise RuntimeError("no score today")

    with pytest.raises(RuntimeError, match="no score today"):
        MultiTaskCV(Cs=[1.0], cv=3, scoring=scorer, error_score="raise").fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="there is no metric"):
        MultiTaskCV(Cs=[1.0], cv=3, scoring="select:luck").fit(d.X, d.y, task=d.task)
    with pytest.raises(ValueError, match="needs labels of two values"):
        MultiTaskCV(Cs=[1.0], cv=3, scoring="select:auc").fit(d.X, d.y, task=d.task)


def test_the_grid_grows_and_undefined_scores_are_warned_about(regression, command, tmp_path):
    d = regression
    exact = d.X @ np.arange(1.0, 7.0)
    table(d).assign(score=exact).to_csv(tmp_path / "d.csv", index=False)
    frame = pd.read_csv(tmp_path / "d.csv")
    estimator = MultiTaskRegressor(method="stl", task_column="where", random_state=5, n_jobs=2)
    search = MultiTaskCV(estimator, cv=4, n_jobs=2).fit(frame.drop(columns="score"), frame["score"])
    words = ["--task", "where", "--target", "score", "--method", "stl", "--folds", 4]
    found = select(command, tmp_path / "d.csv", *words, "-o", tmp_path / "m.safetensors")
    same(search, found)
    assert len(search.cv_results_["params"]) > 13 and len(found["grown"]) == 1
    fixed = MultiTaskCV(estimator, Cs=[1e-3, 1e-2], cv=4).fit(frame.drop(columns="score"), frame["score"])
    assert len(fixed.cv_results_["params"]) == 2
    constant = np.where(d.task == d.task[0], 1.0, d.y)
    with pytest.warns(UndefinedMetricWarning, match="undefined for 1 task, which had no say"):
        MultiTaskCV(MultiTaskRegressor(), Cs=[0.1, 1.0], param_grid={}, cv=3).fit(d.X, constant, task=d.task)
    with pytest.raises(ValueError, match="undefined"):
        MultiTaskCV(Cs=[0.1, 1.0], param_grid={}, cv=3, scoring=lambda *_: np.nan).fit(d.X, d.y, task=d.task)
