"""What a data scientist takes for granted."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.model_selection import GroupKFold

import kinfolk
from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor


def test_a_labelled_theta_is_aligned_by_name(regression):
    d = regression
    names = [f"task {t}" for t in d.task]
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=names)
    frame = model.theta_frame_
    order = list(frame.columns)[::-1]
    by_name = MultiTaskRegressor(C=1.0, output="fixed", theta=frame.loc[order, order[2:] + order[:2]])
    by_array = MultiTaskRegressor(C=1.0, output="fixed", theta=frame.to_numpy())
    by_name.fit(d.X, d.y, task=names), by_array.fit(d.X, d.y, task=names)
    np.testing.assert_array_equal(by_name.theta_, by_array.theta_)
    for wrong, expected in [
        (frame.rename(columns={order[0]: "stranger"}), "there is no task"),
        (frame.iloc[:-1, :-1], "there is no task"),
        (pd.concat([frame, frame.iloc[:1]]), "is there twice|is not a task"),
    ]:
        with pytest.raises(ValueError, match=f"theta: .*({expected})"):
            MultiTaskRegressor(C=1.0, output="fixed", theta=wrong).fit(d.X, d.y, task=names)
    prior = MultiTaskRegressor(C=1.0, output="power", prior=frame.loc[order, order]).fit(d.X, d.y, task=names)
    assert prior.theta_.shape == frame.shape


def test_logistic_scores_are_log_odds_as_they_are(binary):
    d = binary
    model = MultiTaskClassifier(C=1.0).fit(d.X, d.y, task=d.task)
    p = model.predict_proba(d.X, task=d.task)
    scores = model.decision_function(d.X, task=d.task)
    np.testing.assert_allclose(p[:, 1], 1 / (1 + np.exp(-scores)))
    np.testing.assert_allclose(np.exp(model.predict_log_proba(d.X, task=d.task)), p)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(d.X, task=d.task))
    assert not hasattr(MultiTaskClassifier(loss="hinge"), "predict_proba")
    assert hasattr(MultiTaskClassifier(loss="hinge", calibrate="sigmoid"), "predict_proba")
    three = OutputKernelClassifier(C=1.0).fit(d.X, np.arange(len(d.X)) % 3)
    np.testing.assert_allclose(three.predict_proba(d.X).sum(axis=1), 1.0)
    assert three.predict_log_proba(d.X).shape == (len(d.X), 3)


def test_calibration_with_few_rows_does_no_harm():
    worse = []
    for seed in range(16):
        rng = np.random.default_rng(seed)
        w, task = rng.normal(size=5), np.repeat(np.arange(8), 112)
        X = rng.normal(size=(len(task), 5))
        y = (rng.random(len(task)) < 1 / (1 + np.exp(-X @ w))).astype(int)
        train = np.arange(len(task)) % 112 < 12

        def loss(calibrate):
            model = MultiTaskClassifier(calibrate=calibrate).fit(X[train], y[train], task=task[train])
            p = model.predict_proba(X[~train], task=task[~train])
            return -np.log(np.clip(p[np.arange((~train).sum()), y[~train]], 1e-12, 1)).mean()

        worse.append(loss("sigmoid") - loss(None))
    assert np.mean(worse) < 0.01, worse


def test_one_task_for_all_rows(regression):
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    one = d.task[0]
    np.testing.assert_array_equal(model.predict(d.X, task=one), model.predict(d.X, task=np.full(len(d.X), one)))
    frame = pd.DataFrame(d.X, columns=list("abcdef")[: d.X.shape[1]]).assign(where=d.task)
    by_column = MultiTaskRegressor(C=1.0, task_column="where").fit(frame, d.y)
    alone = by_column.predict(frame.drop(columns="where"), task=one)
    np.testing.assert_array_equal(alone, model.predict(d.X, task=one))
    with pytest.raises(ValueError, match="task and task_column say the same thing"):
        by_column.predict(frame, task=one)
    table = np.column_stack([d.y, -d.y, 2 * d.y])
    wide = MultiTaskRegressor(C=1.0).fit(d.X, pd.DataFrame(table, columns=["ann", "bob", "cid"]))
    np.testing.assert_allclose(wide.predict(d.X, task="bob"), wide.predict(d.X)[:, 1], rtol=1e-12)
    mixed = np.where(np.arange(len(d.X)) % 2, "ann", "cid")
    expected = np.where(np.arange(len(d.X)) % 2, wide.predict(d.X)[:, 0], wide.predict(d.X)[:, 2])
    np.testing.assert_allclose(wide.predict(d.X, task=mixed), expected, rtol=1e-12)
    with pytest.raises(ValueError, match="'dot' is unknown"):
        wide.predict(d.X, task="dot")
    classes = pd.DataFrame({"sign": np.sign(d.y).astype(int), "third": np.arange(len(d.X)) % 3})
    both = MultiTaskClassifier(C=1.0).fit(d.X, classes)
    assert set(both.predict(d.X, task="third")) <= {0, 1, 2}
    assert both.predict_proba(d.X, task="third").shape == (len(d.X), 3)
    np.testing.assert_array_equal(both.predict(d.X, task="sign"), both.predict(d.X)[:, 0])


def test_opposite_tasks_are_opposite_functions(regression):
    d = regression
    sign = np.where(d.task == d.task[0], -1.0, 1.0)
    target = sign * (d.X[:, 0] + 0.5 * d.X[:, 1])
    model = MultiTaskRegressor(C=10.0, kernel="linear", scale="none", target_scale="none").fit(d.X, target, task=d.task)
    size = np.linalg.norm(model.coef_, axis=1)
    expected = model.coef_ @ model.coef_.T / np.outer(size, size)
    np.testing.assert_allclose(model.function_correlation_, expected, atol=1e-12)
    frame = model.function_correlation_frame_
    assert (frame.loc[d.task[0]].drop(d.task[0]) < -0.9).all()
    gram = MultiTaskRegressor(C=1.0, kernel="precomputed").fit(d.X @ d.X.T, target, task=d.task)
    with pytest.raises(AttributeError, match="keeps no kernel values"):
        _ = gram.function_correlation_


def test_results_have_names(regression):
    d = regression
    frame = pd.DataFrame(d.X, columns=[f"f{i}" for i in range(d.X.shape[1])]).assign(where=d.task)
    model = MultiTaskRegressor(C=1.0, task_column="where").fit(frame, d.y)
    assert list(model.coef_frame_.columns) == [f"f{i}" for i in range(d.X.shape[1])]
    assert list(model.coef_frame_.index) == model.theta_names_ == list(model.theta_frame_.columns)
    np.testing.assert_array_equal(model.coef_frame_.to_numpy(), model.coef_)
    np.testing.assert_array_equal(model.intercept_frame_.to_numpy(), model.intercept_)
    np.testing.assert_array_equal(model.task_correlation_frame_.to_numpy(), model.task_correlation_)
    np.testing.assert_array_equal(model.function_correlation_frame_.to_numpy(), model.function_correlation_)
    np.testing.assert_allclose(model.feature_importances_.sum(axis=1), 1.0)
    clusters = model.task_clusters(2)
    assert set(clusters) == set(model.theta_names_) and set(clusters.values()) == {0, 1}
    assert sorted(model.task_tree_["leaves"]) == sorted(model.theta_names_)
    assert model.task_tree_["linkage"].shape == (len(model.theta_names_) - 1, 4)
    html = model._repr_mimebundle_()["text/html"]
    assert "proved: within" in html and "kinfolk-certificate" in html
    assert "kinfolk-certificate" not in MultiTaskRegressor()._repr_mimebundle_()["text/html"]


def test_missing_and_many_labels_of_outputs(regression):
    d = regression
    Y = np.column_stack([d.y, -d.y, d.y**2])
    holes = Y.copy()
    holes[::3, 1] = np.nan
    by_outputs = OutputKernelRegressor(C=1.0).fit(d.X, holes)
    by_tasks = MultiTaskRegressor(C=1.0).fit(d.X, holes)
    np.testing.assert_allclose(by_outputs.predict(d.X), by_tasks.predict(d.X), rtol=1e-10, atol=1e-12)
    assert by_outputs.score(d.X, holes) == pytest.approx(by_tasks.score(d.X, holes))
    labels = (Y > np.median(Y, axis=0)).astype(int)
    many = OutputKernelClassifier(C=1.0).fit(d.X, labels)
    assert many.predict(d.X).shape == labels.shape and many.predict_proba(d.X).shape == labels.shape
    assert (many.predict(d.X) == labels).mean() > 0.6
    missing = labels.astype(float)
    missing[::4, 2] = np.nan
    assert OutputKernelClassifier(C=1.0, calibrate="sigmoid").fit(d.X, missing).predict(d.X).shape == labels.shape
    sparse = OutputKernelClassifier(C=1.0).fit(d.X, sp.csr_matrix(labels))
    np.testing.assert_array_equal(sparse.predict(d.X), many.predict(d.X))
    with pytest.raises(ValueError, match="has the values 0 and 1"):
        OutputKernelClassifier().fit(d.X, 2 * labels)
    assert pickle.loads(pickle.dumps(many)).predict(d.X).shape == labels.shape


def test_weights_of_single_labels(regression):
    d = regression
    Y = np.column_stack([d.y, -d.y])
    weight = np.ones(Y.shape)
    weight[::2, 1] = 0.0
    holes = Y.copy()
    holes[::2, 1] = np.nan
    tight = {"C": 1.0, "tol": 1e-10, "target_scale": None, "scale": None}
    for kind in (MultiTaskRegressor, OutputKernelRegressor):
        weighted = kind(**tight).fit(d.X, Y, sample_weight=weight)
        np.testing.assert_allclose(weighted.predict(d.X), kind(**tight).fit(d.X, holes).predict(d.X), atol=1e-4)
    with pytest.raises(ValueError, match=r"sample_weight has shape \(100, 3\)"):
        MultiTaskRegressor().fit(d.X, Y, sample_weight=np.ones((100, 3)))


def test_changed_data_are_noticed(regression):
    d = regression
    X, y = d.X.copy(), d.y.copy()
    model = MultiTaskRegressor(C=1.0).fit(X, y, task=d.task)
    X[0, 0] += 1.0
    with pytest.raises(ValueError, match="update: X or y was changed after the fit"):
        model.update(X[:5], y[:5], task=d.task[:5])
    X[0, 0] = d.X[0, 0]
    model.update(X[:5], y[:5], task=d.task[:5])


def test_more_data_with_weights_copies_and_fewer_tasks(regression):
    d = regression
    names = d.task.astype(str)
    tight = {"C": 1.0, "tol": 1e-9, "target_scale": None, "scale": None}
    weight = np.linspace(0.5, 1.5, 100)
    whole = MultiTaskRegressor(**tight).fit(d.X, d.y, task=names, sample_weight=weight)
    part = MultiTaskRegressor(**tight).fit(d.X[:80], d.y[:80], task=names[:80], sample_weight=weight[:80])
    twin = copy.deepcopy(part)
    twin.update(d.X[80:], d.y[80:], task=names[80:], sample_weight=weight[80:])
    np.testing.assert_allclose(twin.predict(d.X, task=names), whole.predict(d.X, task=names), atol=1e-3)
    assert len(part.dual_coef_) == 80
    streamed = MultiTaskRegressor(**tight)
    streamed.partial_fit(d.X[:80], d.y[:80], task=names[:80]).partial_fit(d.X[80:], d.y[80:], task=names[80:])
    assert len(streamed.dual_coef_) == 100
    gone = names[0]
    fewer = copy.deepcopy(whole).remove_task(gone)
    keep = names != gone
    direct = MultiTaskRegressor(**tight).fit(d.X[keep], d.y[keep], task=names[keep], sample_weight=weight[keep])
    np.testing.assert_allclose(fewer.theta_, direct.theta_, atol=1e-6)
    with pytest.raises(ValueError, match="there is no task 'nobody'"):
        whole.remove_task("nobody")
    wide = MultiTaskRegressor(**tight).fit(d.X, pd.DataFrame({"a": d.y, "b": -d.y, "c": d.y}))
    assert wide.remove_task("b").tasks_.tolist() == ["a", "c"]


def test_cross_validation_takes_what_people_have(regression):
    d = regression
    groups = np.arange(100) // 10
    frame = sp.coo_matrix(np.column_stack([d.X]))
    search = MultiTaskCV(MultiTaskRegressor(), Cs=[0.1, 1.0], param_grid={}, cv=GroupKFold(3), scoring=None)
    search.fit(frame, d.y, task=d.task, groups=groups)
    assert search.cv_results_["mean_test_score"].shape == (2,)
    table = np.column_stack([d.y, np.full(100, np.nan)])
    table[3, 1] = 1.0
    for scoring in ("select", None):
        found = MultiTaskCV(MultiTaskRegressor(), Cs=[1.0], param_grid={}, cv=3, scoring=scoring)
        assert np.isfinite(found.fit(d.X, table).best_score_)

    def broken(estimator, X, y):
        raise RuntimeError("no score")

    with pytest.raises(RuntimeError, match="no score"):
        MultiTaskCV(Cs=[1.0], param_grid={}, cv=2, scoring=broken, error_score="raise").fit(d.X, d.y, task=d.task)
    with pytest.warns(RuntimeWarning, match="the score of a fold is nan: RuntimeError: no score"):
        with pytest.raises(ValueError, match="undefined"):
            MultiTaskCV(Cs=[1.0], param_grid={}, cv=2, scoring=broken).fit(d.X, d.y, task=d.task)


def test_threads_are_counted_as_in_scikit_learn():
    import joblib

    from kinfolk import _checks

    cores = joblib.cpu_count()
    assert (_checks.threads(None), _checks.threads(1), _checks.threads(-1)) == (1, 1, cores)
    assert _checks.threads(-2) == max(1, cores - 1) and _checks.threads(10_000) == cores
    with joblib.parallel_config("threading", n_jobs=cores):
        assert _checks.threads(None) == cores


def test_errors_name_the_parameter(regression, tmp_path):
    d = regression
    for params, expected in [
        ({"solver": "fast"}, "solver = 'fast': it must be one of auto"),
        ({"intercept": "some"}, "intercept = 'some': it must be one of auto, free, none, shrunk:K, ridge:B"),
        ({"intercept": "ridge:x"}, "intercept = 'ridge:x': it must be ridge: and a positive number"),
    ]:
        with pytest.raises(ValueError, match=expected):
            MultiTaskRegressor(**params).fit(d.X, d.y, task=d.task)
    with pytest.raises(FileNotFoundError, match="nothing.safetensors"):
        kinfolk.load(tmp_path / "nothing.safetensors")
    with pytest.raises(OSError, match="it is not a file|[Dd]irectory"):
        kinfolk.load(tmp_path)


def test_intervals_hold_their_promise():
    covered, widths = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        task = np.repeat(np.arange(6), 140)
        noise = np.linspace(0.2, 2.0, 6)[task]
        X = rng.normal(size=(len(task), 4))
        y = X @ rng.normal(size=4) + noise * rng.normal(size=len(task))
        train = np.arange(len(task)) % 140 < 40
        model = MultiTaskRegressor(C="strength:1").fit(X[train], y[train], task=task[train])
        low, high = model.predict_interval(X[~train], task=task[~train], coverage=0.9)
        covered.append(np.mean((low <= y[~train]) & (y[~train] <= high)))
        widths.append((high - low)[task[~train] == 5].mean() / (high - low)[task[~train] == 0].mean())
    assert 0.87 <= np.mean(covered) <= 0.94, covered
    assert np.mean(widths) > 3, "noisier tasks have wider intervals"
    wide = MultiTaskRegressor(C=1.0).fit(X, np.column_stack([y, -y]))
    low, high = wide.predict_interval(X[:7])
    assert low.shape == high.shape == (7, 2) and (low < high).all()
    assert wide.predict_interval(X[:7], task=1)[0].shape == (7,)
    with pytest.raises(ValueError, match="coverage = 2: it must be between 0 and 1"):
        wide.predict_interval(X, coverage=2)


@pytest.mark.parametrize("method", ["stl", "pooled", "kin"])
def test_there_are_as_many_clusters_as_asked_for(regression, method):
    d = regression
    model = MultiTaskRegressor(C=1.0, method=method).fit(d.X, d.y, task=np.arange(100) % 8)
    for n in range(1, 9):
        clusters = model.task_clusters(n)
        assert set(clusters.values()) == set(range(n)) and list(clusters) == list(range(8))


def test_threads_change_no_bits(regression):
    d = regression
    models = [MultiTaskRegressor(n_jobs=n).fit(d.X, d.y, task=d.task) for n in (None, 1, 2, -1)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.theta_, models[0].theta_)
    searches = [MultiTaskCV(Cs=[0.1, 1.0], param_grid={}, cv=3, n_jobs=n).fit(d.X, d.y, task=d.task) for n in (1, 2)]
    for search in searches:
        np.testing.assert_array_equal(
            search.cv_results_["mean_test_score"], searches[0].cv_results_["mean_test_score"]
        )
    for wrong, kind in [(0, ValueError), (1.5, TypeError), ("2", TypeError), (True, TypeError)]:
        with pytest.raises(kind, match="n_jobs = "):
            MultiTaskRegressor(n_jobs=wrong).fit(d.X, d.y, task=d.task)
