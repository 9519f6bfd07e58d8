"""Statistics: rows in parts give the model of all rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from kinfolk import MultiTaskRegressor, OutputKernelRegressor, Statistics, load

TIGHT = {"C": 1.0, "tol": 1e-9}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)) + 3
    task = rng.integers(4, size=300)
    W = rng.normal(size=5)[:, None] + 0.3 * rng.normal(size=(5, 4))
    Y = X @ W + rng.normal(size=(300, 4)) + [10.0, 20.0, 30.0, 40.0]
    return X, Y[np.arange(300), task], task, Y


def close(a, b, tolerance=1e-4):
    np.testing.assert_allclose(a, b, atol=tolerance * np.abs(b).max())


def test_parts_give_the_model_of_all_rows(rows):
    X, y, task, _ = rows
    weight = np.linspace(0.5, 2.0, 300)
    whole = MultiTaskRegressor(**TIGHT).fit(X, y, task=task, sample_weight=weight)
    parts = [Statistics().update(X[i::3], y[i::3], task=task[i::3], sample_weight=weight[i::3]) for i in range(3)]
    for total in (sum(parts), parts[2] + parts[0] + parts[1], Statistics.sum([p.to_bytes() for p in parts])):
        model = MultiTaskRegressor(**TIGHT).fit_statistics(total)
        close(model.coef_, whole.coef_)
        close(model.predict(X, task=task), whole.predict(X, task=task))
        assert abs(model.primal_ - whole.primal_) <= 1e-8 * whole.primal_
        assert (model.tasks_.tolist(), model.n_features_in_, model.status_) == ([0, 1, 2, 3], 5, "certified")
    assert parts[0].n_rows == 100  # + and sum leave their parts as they are


def test_tables_missing_labels_sparse_rows_and_offsets(rows):
    X, _, _, Y = rows
    Y = Y.copy()
    Y[::7, 1] = np.nan
    whole = MultiTaskRegressor(**TIGHT).fit(X, Y)
    total = Statistics().update(X[:100], Y[:100]).update(X[100:], Y[100:])
    close(MultiTaskRegressor(**TIGHT).fit_statistics(total).predict(X), whole.predict(X))
    full = np.nan_to_num(Y)
    close(
        OutputKernelRegressor(**TIGHT).fit_statistics(Statistics().update(X, full)).coef_,
        OutputKernelRegressor(**TIGHT).fit(X, full).coef_,
    )
    Z = sp.csr_matrix(np.where(X > 3, X, 0))
    whole = MultiTaskRegressor(**TIGHT).fit(Z, full)
    total = Statistics().update(Z[:150], full[:150]).update(Z[150:], full[150:])
    model = MultiTaskRegressor(**TIGHT).fit_statistics(total)
    assert model.scale_ == whole.scale_ == "mixed"
    close(model.coef_, whole.coef_)
    offset = np.linspace(-1, 1, 300)
    whole = MultiTaskRegressor(**TIGHT).fit(X, full[:, 0], offset=offset)
    model = MultiTaskRegressor(**TIGHT).fit_statistics(Statistics().update(X, full[:, 0], offset=offset))
    close(model.coef_, whole.coef_)


def test_another_pass_certifies_from_the_rows(rows):
    X, y, task, _ = rows
    batches = [(X[i : i + 50], y[i : i + 50], task[i : i + 50]) for i in range(0, 300, 50)]
    model = MultiTaskRegressor(**TIGHT).fit_statistics(Statistics().update_batches(batches))
    before = model.primal_
    model.certify_rows(batches)
    assert abs(model.primal_ - before) <= 1e-9 * before and model.rel_gap_ <= 1e-8
    with pytest.raises(ValueError, match="fitted on 300 inputs, the parts given have 250"):
        model.certify_rows(batches[1:])
    other = MultiTaskRegressor(**TIGHT).fit_statistics(Statistics().update(X, y + np.sin(9 * y), task=task))
    other.certify_rows(batches)
    assert other.rel_gap_ > 1e-4 and other.status_ != "certified"  # rows that are not those of the statistics


def test_c_is_chosen_and_intervals_are_known(rows):
    X, y, task, _ = rows
    one = Statistics().update(X, y, task=task)
    many = sum(Statistics().update(X[i::7], y[i::7], task=task[i::7]) for i in range(7))
    models = [MultiTaskRegressor(tol=1e-9).fit_statistics(total) for total in (one, many)]
    assert models[0].C_ == pytest.approx(models[1].C_, rel=1e-9)
    assert models[0].auto_C_["metric"] is not None
    low, high = models[0].predict_interval(X, task=task)
    assert np.mean((y >= low) & (y <= high)) > 0.8
    none = Statistics(sample_rows=0).update(X, y, task=task)
    with pytest.raises(ValueError, match="give C itself"):
        MultiTaskRegressor().fit_statistics(none)
    assert MultiTaskRegressor(C=1.0).fit_statistics(none).status_ == "certified"


def test_files_and_pickles(rows, tmp_path):
    X, y, task, _ = rows
    own = Statistics().update(X, y, task=task)
    own.save(tmp_path / "own.safetensors")
    for copy in (Statistics.load(tmp_path / "own.safetensors"), pickle.loads(pickle.dumps(own))):
        assert copy.to_bytes() == own.to_bytes()
        assert (copy.n_rows, copy.tasks, copy.n_features) == (300, [0, 1, 2, 3], 5)
    model = MultiTaskRegressor(**TIGHT).fit_statistics(own)
    model.save(tmp_path / "model.safetensors")
    again = load(tmp_path / "model.safetensors")
    np.testing.assert_array_equal(again.predict(X, task=task), model.predict(X, task=task))
    with pytest.raises(AttributeError, match="statistics"):
        _ = model.dual_coef_
    again.certify_rows([(X, y, task)])
    assert again.rel_gap_ <= 1e-8


def test_partial_fit_needs_no_rows(rows):
    X, y, task, Y = rows
    whole = MultiTaskRegressor(**TIGHT).fit(X, y, task=task)
    model = MultiTaskRegressor(keep_data=False, **TIGHT)
    for i in range(0, 300, 60):
        model.partial_fit(X[i : i + 60], y[i : i + 60], task=task[i : i + 60])
        model = pickle.loads(pickle.dumps(model))
    close(model.coef_, whole.coef_)
    assert getattr(model, "_data", None) is None
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(X[:, :3], y, task=task)
    close(model.coef_, whole.coef_)
    column = np.column_stack([X, task])
    by_column = MultiTaskRegressor(keep_data=False, task_column=5, **TIGHT)
    by_column.partial_fit(column[:150], y[:150]).partial_fit(column[150:], y[150:])
    close(by_column.predict(column), whole.predict(X, task=task))
    table = OutputKernelRegressor(**TIGHT).partial_fit(X[:100], Y[:100]).partial_fit(X[100:], Y[100:])
    close(table.coef_, OutputKernelRegressor(**TIGHT).fit(X, Y).coef_)
    with pytest.raises(ValueError, match="squared loss"):
        MultiTaskRegressor(keep_data=False, loss="huber:1").partial_fit(X, y, task=task)


def test_bad_rows_are_refused_and_add_nothing(rows):
    X, y, task, Y = rows
    own = Statistics().update(X, y, task=task)
    before = own.to_bytes()
    with pytest.raises(ValueError, match="the rows so far have 5 features, these have 3"):
        own.update(X[:, :3], y, task=task)
    with pytest.raises(ValueError, match="the rows so far have a task each, these have a table of labels"):
        own.update(X, Y)
    with pytest.raises(ValueError, match="row 3"):
        own.update(X[:5], np.where(np.arange(5) == 3, np.nan, y[:5]), task=task[:5])
    wrong = X.copy()
    wrong[7, 2] = np.inf
    with pytest.raises(ValueError, match="row 7, column 2"):
        own.update(wrong, y, task=task)
    with pytest.raises(ValueError, match="requires y"):
        own.update(X)
    with pytest.raises(TypeError, match="merged with statistics"):
        own.merge(3)
    with pytest.raises(ValueError, match="squared loss"):
        MultiTaskRegressor(loss="huber:1").fit_statistics(own)
    with pytest.raises(ValueError, match="no rows yet"):
        MultiTaskRegressor().fit_statistics(Statistics())
    with pytest.raises(MemoryError):
        Statistics(memory=100).update(X, y, task=task)
    assert own.to_bytes() == before
