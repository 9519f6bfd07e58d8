"""Fits of shards: real processes, Ray and MPI. What cannot be installed is skipped, and pytest says so."""

from __future__ import annotations

import importlib.util
import os
import pathlib
import pickle
import shutil
import signal
import subprocess
import sys
import time

import joblib
import numpy as np
import pytest
from conftest import skipped

from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor
from kinfolk.cluster import ShardError, arrays, arrow, fit, parquet, ray_dataset

pa = pytest.importorskip("pyarrow")
import pyarrow.parquet as pq  # noqa: E402

TIGHT = {"C": 1.0, "tol": 1e-6}


@pytest.fixture
def table():
    rng = np.random.default_rng(2)
    X, shop = rng.normal(size=(1000, 4)) + 5, rng.integers(3, size=1000)
    y = X @ [1.0, 2.0, 3.0, -1.0] + 0.1 * rng.normal(size=1000) + shop
    columns = {f"x{j}": X[:, j] for j in range(4)}
    return pa.table({**columns, "shop": np.asarray(["east", "north", "west"])[shop], "sales": y})


@pytest.fixture
def folder(table, tmp_path):
    data = tmp_path / "rows"
    data.mkdir()
    for i in range(4):
        pq.write_table(table.slice(250 * i, 250), data / f"part-{i}.parquet", row_group_size=60)
    return data


def whole(table):
    frame = table.to_pandas()
    X = frame[[f"x{j}" for j in range(4)]]
    return MultiTaskRegressor(**TIGHT).fit(X, frame["sales"], task=frame["shop"])


def source(folder, shards=None):
    return parquet(folder, target="sales", task="shop", shards=shards)


def test_shards_give_the_model_of_all_rows(table, folder):
    lines: list[str] = []
    expected = whole(table)
    for shards in (None, 1, 7):
        model = fit(MultiTaskRegressor(**TIGHT), source(folder, shards), listener=lines.append)
        np.testing.assert_allclose(model.coef_, expected.coef_, atol=1e-3)
        assert abs(model.primal_ - expected.primal_) <= 1e-6 * expected.primal_
        assert model.rel_gap_ <= 1e-6 and model.status_ == "certified"
        assert model.feature_names_in_.tolist() == ["x0", "x1", "x2", "x3"]
    assert any("certificate: 7 shards" in line and "slowest shard" in line for line in lines)
    # More shards than row groups: some are empty.
    assert fit(MultiTaskRegressor(**TIGHT), source(folder, 50)).status_ == "certified"


def test_bits_depend_on_shards_alone(folder):
    models = [fit(MultiTaskRegressor(**TIGHT), source(folder, 6), workers=workers) for workers in (1, 2, 4)]
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert model.dual_gap_ == models[0].dual_gap_


def test_other_sources_and_tables(table):
    X = np.column_stack([table[f"x{j}"].to_numpy() for j in range(4)])
    Y = np.column_stack([table["sales"].to_numpy(), -table["sales"].to_numpy()])
    parts = [(X[i::5], Y[i::5]) for i in range(5)]
    model = fit(OutputKernelRegressor(**TIGHT), arrays(parts))
    np.testing.assert_allclose(model.coef_, OutputKernelRegressor(**TIGHT).fit(X, Y).coef_, atol=1e-3)
    calls = [_Batches(table.slice(500 * i, 500)) for i in range(2)]
    model = fit(MultiTaskRegressor(**TIGHT), arrow(calls, target="sales", task="shop"), workers=2)
    np.testing.assert_allclose(model.coef_, whole(table).coef_, atol=1e-3)


class _Batches:
    def __init__(self, table):
        self.table = table

    def __call__(self):
        return self.table.to_batches(100)


class _Once(_Batches):
    """Kills, delays or breaks the worker that is the first to read it."""

    def __init__(self, table, marker, what):
        super().__init__(table)
        self.marker, self.what = pathlib.Path(marker), what

    def __call__(self):
        if not self.marker.exists():
            self.marker.touch()
            if self.what == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            time.sleep(60)
        return super().__call__()


def test_a_killed_worker_costs_its_shard_only(table, tmp_path):
    calls = [_Once(table.slice(0, 300), tmp_path / "killed", "kill"), _Batches(table.slice(300, 700))]
    model = fit(MultiTaskRegressor(**TIGHT), arrow(calls, target="sales", task="shop"), workers=2)
    assert (tmp_path / "killed").exists()
    np.testing.assert_allclose(model.coef_, whole(table).coef_, atol=1e-3)


def test_a_shard_without_an_answer_is_an_error(table, tmp_path):
    calls = [_Batches(table.slice(0, 300)), _Once(table.slice(300, 700), tmp_path / "slow", "sleep")]
    began = time.monotonic()
    with pytest.raises(ShardError, match="shard 1: no answer within 15 seconds"):
        fit(MultiTaskRegressor(**TIGHT), arrow(calls, target="sales", task="shop"), workers=2, timeout=15)
    assert time.monotonic() - began < 55


def test_errors_name_shard_file_and_rows(table, folder):
    wrong = table.slice(500, 250).to_pandas()
    wrong.loc[131, "x2"] = np.inf
    pq.write_table(pa.Table.from_pandas(wrong, preserve_index=False), folder / "part-2.parquet", row_group_size=60)
    with pytest.raises(ShardError, match=r"shard 2, .*part-2.parquet, rows 120 to 179: .*row 11, column 2") as found:
        fit(MultiTaskRegressor(**TIGHT), source(folder), workers=2)
    assert found.value.shard == 2 and pickle.loads(pickle.dumps(found.value)).shard == 2
    pq.write_table(table.rename_columns([*table.column_names[:-1], "other"]), folder / "part-3.parquet")
    with pytest.raises(ValueError, match="part-3.parquet: its columns are not those of"):
        source(folder)
    with pytest.raises(ValueError, match="has no column 'nobody'"):
        parquet(folder / "part-0.parquet", target="nobody")
    with pytest.raises(FileNotFoundError):
        parquet(folder / "*.csv", target="sales")
    with pytest.raises(TypeError, match="MultiTaskCV cannot be fitted on a cluster"):
        fit(MultiTaskCV(), arrays([(np.zeros((2, 1)), np.zeros(2))]))
    for wrong_for_shards in ({"calibrate": "sigmoid"}, {"class_weight": "balanced"}):
        with pytest.raises(ValueError, match="needs all rows in memory"):
            fit(MultiTaskClassifier(**wrong_for_shards), arrays([(np.eye(2), np.arange(2))]))
    with pytest.raises(ValueError, match="no shard has any rows"):
        fit(MultiTaskClassifier(), arrow([_Batches(table.slice(0, 0))], target="shop"))
    with pytest.raises(ShardError, match="shard 1: y: row 3 has the class|shard 1: .*NaN"):
        fit(MultiTaskClassifier(), arrays([(np.eye(4), np.arange(4) % 2), (np.eye(4), [0.0, 1.0, 1.0, np.nan])]))


ROWS = 900


def labelled(kind):
    """An estimator with its labels: arrays that are cut into shards."""
    rng = np.random.default_rng(7)
    X, task = rng.normal(size=(ROWS, 5)) * [1.0, 3.0, 0.1, 1.0, 1.0] + 2, rng.integers(4, size=ROWS)
    slopes = rng.normal(size=5) + 0.5 * rng.normal(size=(4, 5))
    score = np.einsum("ij,ij->i", X, slopes[task])
    y = score + rng.normal(size=ROWS)
    yes = np.where(y > np.median(y), "yes", "no")
    three = np.argmax(X @ rng.normal(size=(5, 3)) + rng.normal(size=(ROWS, 3)), axis=1)
    Y = X @ rng.normal(size=(5, 3)) + rng.normal(size=(ROWS, 3))
    Y[rng.random(Y.shape) < 0.2] = np.nan
    weight = rng.integers(1, 3, size=ROWS).astype(float)
    tight = {"C": 0.3, "tol": 1e-6}
    return {
        "epsilon": (MultiTaskRegressor(loss="epsilon:0.1", **tight), (X, y, task)),
        "huber, weights": (MultiTaskRegressor(loss="huber:1", **tight), (X, y, task, weight)),
        "absolute, a table": (MultiTaskRegressor(loss="absolute", C=0.3, tol=1e-4), (X, Y)),
        "logistic": (MultiTaskClassifier(**tight), (X, yes, task)),
        "hinge": (MultiTaskClassifier(loss="hinge", **tight), (X, yes, task)),
        "three classes in each task": (MultiTaskClassifier(**tight), (X, three, task)),
        "classes": (OutputKernelClassifier(loss="squared_hinge", **tight), (X, np.asarray(["a", "b", "c"])[three])),
        "two classes": (OutputKernelClassifier(**tight), (X, yes)),
        "several labels": (OutputKernelClassifier(**tight), (X, np.where(np.isnan(Y), np.nan, Y > 0))),
        "a table of classes": (MultiTaskClassifier(**tight), (X, np.where(np.isnan(Y), np.nan, Y > 0))),
        "outputs": (OutputKernelRegressor(loss="huber:1", **tight), (X, Y)),
    }[kind]


KINDS = [
    "epsilon", "huber, weights", "absolute, a table", "logistic", "hinge", "three classes in each task", "classes",
    "two classes", "several labels", "a table of classes", "outputs",
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_loss_is_that_of_all_rows(kind):
    estimator, rows = labelled(kind)
    names = ["X", "y", "task", "sample_weight"]
    whole = clone(estimator).fit(**dict(zip(names, rows, strict=False)))
    # The first shard knows one class, task or column less than the others.
    order = np.argsort(rows[2] if len(rows) > 2 else np.zeros(ROWS), kind="stable")
    parts = [tuple(own[rows_of] for own in rows) for rows_of in np.array_split(order, 5)]
    lines: list[str] = []
    model = fit(estimator, arrays(parts), listener=lines.append)
    assert model.status_ == "certified" and model.rel_gap_ <= estimator.tol
    assert abs(model.primal_ - whole.primal_) <= 1.1 * estimator.tol * abs(whole.primal_)
    assert [str(name) for name in np.ravel(model.tasks_)] == [str(name) for name in np.ravel(whole.tasks_)]
    at = (rows[0], rows[2]) if len(rows) > 2 else (rows[0],)
    guess, truth = model.predict(*at), whole.predict(*at)
    if guess.dtype.kind == "f":
        np.testing.assert_allclose(guess, truth, atol=0.05 * np.nanstd(truth))
    else:
        assert np.mean(guess == truth) > 0.97
    if hasattr(whole, "classes_"):
        np.testing.assert_array_equal(np.ravel(model.classes_), np.ravel(whole.classes_))
        assert hasattr(model, "predict_proba") == hasattr(whole, "predict_proba")
    assert any(line.startswith("question 1, look: ") and "slowest shard" in line for line in lines)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(*at), guess)


def hinge_source(shards=6):
    estimator, rows = labelled("hinge")
    return estimator, [tuple(own[i::shards] for own in rows) for i in range(shards)]


def test_questions_do_not_depend_on_workers_or_memory():
    estimator, parts = hinge_source()
    models = [fit(estimator, arrays(parts), workers=workers) for workers in (1, 2, 4)]
    # Nothing is kept between two questions.
    models.append(fit(estimator, arrays(parts), memory=1))
    for model in models[1:]:
        np.testing.assert_array_equal(model.coef_, models[0].coef_)
        assert model.dual_gap_ == models[0].dual_gap_


def test_a_driver_goes_on_with_the_question_that_it_asked(tmp_path):
    estimator, parts = hinge_source()
    whole = fit(estimator, arrays(parts), checkpoint=tmp_path / "whole")

    def stop(line):
        if line.startswith("question 5,"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit(estimator, arrays(parts), checkpoint=tmp_path / "run", listener=stop)
    lines: list[str] = []
    model = fit(estimator, arrays(parts), checkpoint=tmp_path / "run", listener=lines.append)
    np.testing.assert_array_equal(model.coef_, whole.coef_)
    assert sum("from the checkpoint" in line and line.startswith("question") for line in lines) == 5
    # Other rows are asked again.
    other = [(X + (i == 2), *more) for i, (X, *more) in enumerate(parts)]
    fit(estimator, arrays(other), checkpoint=tmp_path / "run", listener=lines.append)
    assert "question 1, look: from the checkpoint" not in lines[lines.index(lines[-1]) - 1 :]


class _KilledAtReading(_Batches):
    """Kills the worker each time that it reads, a few times."""

    def __init__(self, table, folder, times):
        super().__init__(table)
        self.folder, self.times = pathlib.Path(folder), times

    def __call__(self):
        deaths = len(list(self.folder.iterdir()))
        if deaths < self.times:
            (self.folder / str(deaths)).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__()


def test_lost_workers_read_their_rows_again(table, tmp_path):
    frame = table.append_column("sold", pa.array(np.where(table["sales"].to_numpy() > 30, "many", "few")))
    frame = frame.drop_columns(["sales"])
    (tmp_path / "deaths").mkdir()
    calls = [_Batches(frame.slice(300, 700)), _KilledAtReading(frame.slice(0, 300), tmp_path / "deaths", 3)]
    model = fit(MultiTaskClassifier(**TIGHT), arrow(calls, target="sold", task="shop"), workers=2)
    assert len(list((tmp_path / "deaths").iterdir())) == 3 and model.status_ == "certified"
    (tmp_path / "more").mkdir()
    calls[1] = _KilledAtReading(frame.slice(0, 300), tmp_path / "more", 10)
    with pytest.raises(ShardError, match="shard 1: workers died 4 times"):
        fit(MultiTaskClassifier(**TIGHT), arrow(calls, target="sold", task="shop"), workers=2)


def test_files_that_change_are_an_error(folder):
    own = source(folder)
    os.utime(folder / "part-1.parquet", (1, 1))
    with pytest.raises(ShardError, match="part-1.parquet: it has changed since the fit began"):
        fit(MultiTaskRegressor(**TIGHT), own)


def test_dask(table):
    if importlib.util.find_spec("dask") is None or importlib.util.find_spec("pandas") is None:
        skipped("no dask")
    dd = pytest.importorskip("dask.dataframe")
    from kinfolk import cluster

    frame = dd.from_pandas(table.to_pandas(), npartitions=4, sort=False)
    rows = cluster.dask(frame, target="sales", task="shop")
    np.testing.assert_allclose(fit(MultiTaskRegressor(**TIGHT), rows).coef_, whole(table).coef_, atol=1e-3)
    model = fit(MultiTaskRegressor(loss="huber:1", **TIGHT), rows, workers=2)
    assert model.status_ == "certified"


def test_a_killed_driver_goes_on_from_its_checkpoint(folder, tmp_path):
    lines: list[str] = []
    first = fit(MultiTaskRegressor(**TIGHT), source(folder, 5), checkpoint=tmp_path / "run", listener=lines.append)
    kept = sorted((tmp_path / "run").iterdir())
    assert len(kept) == 10
    kept[0].unlink()
    kept[1].write_bytes(b"half a file")
    again = fit(MultiTaskRegressor(**TIGHT), source(folder, 5), checkpoint=tmp_path / "run", listener=lines.append)
    np.testing.assert_array_equal(again.coef_, first.coef_)
    assert "certificate: 5 shards (3 from the checkpoint)" in lines[-2]
    assert "statistics: 5 shards (5 from the checkpoint)" in lines[-4]
    # Files that changed are read again.
    os.utime(folder / "part-1.parquet", (1, 1))
    fit(MultiTaskRegressor(**TIGHT), source(folder, 5), checkpoint=tmp_path / "run", listener=lines.append)
    assert "(5 from the checkpoint)" not in lines[-4]


def test_ray(folder, table):
    if importlib.util.find_spec("ray") is None:
        skipped("no ray")
    import ray
    from joblib.pool import PicklingPool

    # Ray puts its own pool under joblib's backend "multiprocessing" for the rest of the process.
    bases = PicklingPool.__bases__
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    try:
        for loss in ("squared", "epsilon:0.1"):
            estimator = MultiTaskRegressor(loss=loss, **TIGHT)
            local = fit(estimator, source(folder, 8))
            model = fit(estimator, source(folder, 8), engine="ray", timeout=120)
            np.testing.assert_array_equal(model.coef_, local.coef_)
            assert model.dual_gap_ == local.dual_gap_ and model.status_ == "certified"
        blocks = ray_dataset(ray.data.from_arrow([table.slice(0, 400), table.slice(400)]), target="sales", task="shop")
        model = fit(MultiTaskRegressor(**TIGHT), blocks, engine="ray", timeout=120)
        np.testing.assert_allclose(model.coef_, whole(table).coef_, atol=1e-3)
        # Cross-validation on the cluster, by joblib.
        from ray.util.joblib import register_ray

        register_ray()
        X, y = np.column_stack([table[f"x{j}"].to_numpy() for j in range(4)]), table["sales"].to_numpy()
        with joblib.parallel_backend("ray"):
            scores = cross_val_score(MultiTaskRegressor(C=1.0), X, y, cv=3, n_jobs=2)
        assert scores.min() > 0.5
        (folder / "part-2.parquet").unlink()
        with pytest.raises(ShardError, match=r"shard 4, .*|shard \d.*part-2"):
            fit(MultiTaskRegressor(**TIGHT), _stale(folder, table), engine="ray", timeout=120)
    finally:
        PicklingPool.__bases__ = bases
        ray.shutdown()


def _stale(folder, table):
    """A source whose third file is no longer there."""
    path = folder / "part-2.parquet"
    pq.write_table(table.slice(500, 250), path, row_group_size=60)
    found = source(folder, 8)
    path.unlink()
    return found


MPI_PROGRAM = """
import sys
import numpy as np
from kinfolk import MultiTaskRegressor
from kinfolk.cluster import fit, parquet

from mpi4py import MPI

source = parquet(sys.argv[1], target="sales", task="shop", shards=8)
for loss in ("squared", "huber:1"):
    model = fit(MultiTaskRegressor(loss=loss, C=1.0, tol=1e-6), source, engine="mpi", timeout=60)
    print("rank", MPI.COMM_WORLD.Get_rank(), loss, model.coef_.tobytes().hex(), model.status_, flush=True)
try:
    fit(MultiTaskRegressor(task_column=0), source, engine="mpi", timeout=60)
except ValueError as error:
    print("error", MPI.COMM_WORLD.Get_rank(), error, flush=True)
"""


def test_mpi(table, folder, tmp_path):
    mpirun = shutil.which("mpirun", path=os.path.dirname(sys.executable)) or shutil.which("mpirun")
    if mpirun is None or importlib.util.find_spec("mpi4py") is None:
        skipped("no mpi4py or no mpirun")
    # Statistics of some megabytes, more than MPI sends at once.
    for i, path in enumerate(sorted(folder.iterdir())):
        part = table.slice(250 * i, 250)
        for j in range(60):
            part = part.append_column(f"more{j}", pa.array(np.sin(np.arange(250.0) * (j + i + 1))))
        pq.write_table(part, path, row_group_size=60)
    program = tmp_path / "program.py"
    program.write_text(MPI_PROGRAM)
    command = [mpirun, "--oversubscribe", "--allow-run-as-root", "-n", "3", sys.executable, program, folder]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    found = [line.split() for line in done.stdout.splitlines() if line.startswith("rank")]
    for loss in ("squared", "huber:1"):
        local = fit(MultiTaskRegressor(loss=loss, **TIGHT), source(folder, 8))
        own = [words for words in found if words[2] == loss]
        assert sorted(words[1] for words in own) == ["0", "1", "2"]
        assert all(words[3:] == [local.coef_.tobytes().hex(), "certified"] for words in own)
    assert done.stdout.count("task_column: statistics have their tasks already") == 3
