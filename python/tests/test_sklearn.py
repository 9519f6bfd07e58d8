"""Where scikit-learn's users expect estimators to work."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier

pytestmark = pytest.mark.filterwarnings("error")


def frame(d):
    return pd.DataFrame(d.X, columns=list("abcdef")).assign(where=d.task)


def test_grid_search_with_a_task_column(regression):
    search = GridSearchCV(MultiTaskRegressor(task_column="where"), {"C": [0.01, 0.1, 1.0], "k": [1, 2]}, cv=3)
    search.fit(frame(regression), regression.y)
    assert search.best_score_ > 0.5


def test_cross_validation_by_a_named_score(regression):
    scores = cross_val_score(
        MultiTaskRegressor(task_column="where"), frame(regression), regression.y, scoring="r2", cv=4
    )
    assert scores.shape == (4,) and scores.mean() > 0.5


def test_a_pipeline(regression):
    table = frame(regression)
    scaled = make_column_transformer(
        (StandardScaler(), list("abcdef")), remainder="passthrough", verbose_feature_names_out=False
    )
    model = make_pipeline(scaled.set_output(transform="pandas"), MultiTaskRegressor(task_column="where"))
    assert model.fit(table, regression.y).score(table, regression.y) > 0.5


def test_metadata_routing(regression):
    d = regression
    with sklearn.config_context(enable_metadata_routing=True):
        model = MultiTaskRegressor().set_fit_request(task=True).set_score_request(task=True)
        found = cross_validate(model, d.X, d.y, cv=3, params={"task": d.task})
    assert found["test_score"].mean() > 0.5


def fitted_theta(X, y, task):
    # Tight: other numbers of threads may take other ways.
    return MultiTaskRegressor(tol=1e-9, max_passes=100_000).fit(X, y, task=task).theta_


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing"])
def test_joblib(regression, backend):
    d = regression
    here = fitted_theta(d.X, d.y, d.task)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONWARNINGS", "ignore")
        found = Parallel(n_jobs=2, backend=backend)(delayed(fitted_theta)(d.X, d.y, d.task) for _ in range(3))
    for theta in found:
        np.testing.assert_allclose(theta, here, rtol=1e-3)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_after_fork(regression):
    import multiprocessing

    d = regression
    here = fitted_theta(d.X, d.y, d.task)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap_async(fitted_theta, [(d.X, d.y, d.task)] * 4).get(timeout=60)
    for theta in found:
        np.testing.assert_allclose(theta, here, rtol=1e-3)


def test_pickles_copies_and_clones(binary):
    d = binary
    model = MultiTaskClassifier(calibrate="sigmoid").fit(d.X, d.y, task=d.task)
    assert d.X[:1].tobytes() not in pickle.dumps(model)
    for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        np.testing.assert_array_equal(other.predict_proba(d.X, task=d.task), model.predict_proba(d.X, task=d.task))
        assert other.rel_gap_ == model.rel_gap_ and other.tasks_.tolist() == model.tasks_.tolist()
    assert clone(model).get_params() == model.get_params() and not hasattr(clone(model), "model_")


def test_same_bits_again(binary):
    d = binary
    one, two = (MultiTaskClassifier(random_state=3, n_jobs=2, tol=1e-6).fit(d.X, d.y, task=d.task) for _ in range(2))
    np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)


def test_search_in_the_engine_is_grid_search(regression):
    d, table = regression, frame(regression)
    folds = list(KFold(3, shuffle=True, random_state=1).split(d.X))
    cs = [1e-3, 1e-2, 1e-1, 1.0]
    estimator = MultiTaskRegressor(task_column="where", tol=1e-13, max_passes=100_000)
    ours = MultiTaskCV(estimator, Cs=cs, param_grid={}, cv=folds, scoring=None).fit(table, d.y)
    theirs = GridSearchCV(estimator, {"C": cs}, cv=folds).fit(table, d.y)
    for column in ("mean_test_score", "std_test_score", "split0_test_score"):
        np.testing.assert_allclose(ours.cv_results_[column], theirs.cv_results_[column], rtol=1e-4)
    assert ours.best_params_ == theirs.best_params_ and ours.best_C_ == theirs.best_params_["C"]
    np.testing.assert_allclose(ours.predict(table), theirs.predict(table), rtol=1e-6)


def test_search_with_other_parameters_scores_and_tasks(binary):
    d = binary
    search = MultiTaskCV(MultiTaskClassifier(), param_grid={"k": [1, 2]}, cv=3, scoring="roc_auc").fit(
        d.X, d.y, task=d.task
    )
    assert len(search.cv_results_["params"]) == 2 * 13 and search.best_score_ > 0.9
    assert search.score(d.X, d.y, task=d.task) > 0.9 and search.predict(d.X, task=d.task).shape == (100,)
    sure = MultiTaskCV(MultiTaskClassifier(calibrate="sigmoid"), Cs=[0.1, 1.0], cv=3, scoring="neg_log_loss").fit(
        d.X, d.y, task=d.task
    )
    assert -np.log(2) < sure.best_score_ < 0
    assert set(search.best_params_) == {"k", "C"}
    exp = MultiTaskCV(MultiTaskClassifier(output="exp"), cv=3).fit(d.X, d.y, task=d.task)
    assert "lam" in exp.best_params_


def test_a_task_with_one_row_does_not_disturb_the_search(regression):
    d = regression
    X, y, task = np.vstack([d.X, d.X[:1]]), np.append(d.y, d.y[0]), np.append(d.task, "alone")
    assert MultiTaskCV(cv=3, Cs=[0.1, 1.0]).fit(X, y, task=task).best_score_ > 0.5


def test_warm_start(regression):
    d = regression
    settings = {"C": "strength:1", "solver": "sdca", "tol": 1e-8, "max_passes": 100_000}
    model = MultiTaskRegressor(warm_start=True, **settings).fit(d.X, d.y, task=d.task)
    first = model.n_passes_
    again = model.fit(d.X, d.y, task=d.task).n_passes_
    assert again < first


def test_set_output_and_names(regression):
    d, table = regression, frame(regression)
    model = MultiTaskRegressor(task_column="where").fit(table, d.y)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.rename(columns={"a": "z"}))


needs_callbacks = pytest.mark.skipif(
    not hasattr(MultiTaskRegressor, "set_callbacks"), reason="this scikit-learn has no callbacks"
)


@needs_callbacks
def test_callbacks(regression):
    class Counter:
        def __init__(self):
            self.begun, self.ended, self.gone = 0, 0, 0

        def setup(self, estimator, context): ...

        def teardown(self, estimator, context):
            self.gone += 1

        def on_fit_task_begin(self, estimator, context):
            self.begun += 1

        def on_fit_task_end(self, estimator, context):
            self.ended += 1
            return self.ended >= 3 and context.task_name == "certificate"

    d, counter = regression, Counter()
    # Weak regularisation and an impossible tolerance: it would go on for longer than anybody waits.
    model = MultiTaskRegressor(solver="sdca", C=1e6, tol=1e-15, max_passes=10_000_000).set_callbacks(counter)
    with pytest.warns(sklearn.exceptions.ConvergenceWarning, match="a callback ended the fit"):
        model.fit(d.X, d.y, task=d.task)
    assert counter.begun == counter.ended >= 4 and counter.gone == 1 and model.status_ == "stopped"
    assert model.predict(d.X, task=d.task).shape == (100,)


@needs_callbacks
def test_a_progress_bar(regression):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    d = regression
    MultiTaskRegressor().set_callbacks(ProgressBar()).fit(d.X, d.y, task=d.task)


def test_verbose_tells(regression, capsys):
    OutputKernelClassifier(verbose=1, solver="sdca").fit(regression.X, np.arange(100) % 3)
    assert "relative gap" in capsys.readouterr().err


def predictions(model, X, task):
    return model.predict(X, task=task)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_fitted_models_travel_to_forked_processes(regression):
    import multiprocessing

    d = regression
    model = MultiTaskRegressor().fit(d.X, d.y, task=d.task)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.starmap_async(predictions, [(model, d.X, d.task)] * 3).get(timeout=60)
    for guess in found:
        np.testing.assert_array_equal(guess, model.predict(d.X, task=d.task))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_in_order_are_not_copied(regression, dtype):
    from kinfolk import _inputs

    x = np.ascontiguousarray(regression.X, dtype=dtype)
    model = MultiTaskRegressor()
    checked, _ = _inputs.checked(model, x, reset=True)
    assert np.shares_memory(_inputs.native(checked), x)
