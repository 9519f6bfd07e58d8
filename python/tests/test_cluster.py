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

import numpy as np
import pytest
from conftest import skipped

from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelRegressor
from kinfolk.cluster import ShardError, arrays, arrow, fit, parquet

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
    with pytest.raises(TypeError, match="cannot be fitted on a cluster so far"):
        fit(MultiTaskClassifier(), arrays([(np.zeros((2, 1)), np.zeros(2))]))
    with pytest.raises(ValueError, match="squared loss"):
        fit(MultiTaskRegressor(loss="huber:1"), arrays([(np.eye(3), np.arange(3.0))]))


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


def test_ray(folder, table, tmp_path):
    if importlib.util.find_spec("ray") is None:
        skipped("no ray")
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, ignore_reinit_error=True)
    try:
        local = fit(MultiTaskRegressor(**TIGHT), source(folder, 8))
        model = fit(MultiTaskRegressor(**TIGHT), source(folder, 8), engine="ray", timeout=120)
        np.testing.assert_array_equal(model.coef_, local.coef_)
        assert model.dual_gap_ == local.dual_gap_
        (folder / "part-2.parquet").unlink()
        with pytest.raises(ShardError, match=r"shard 4, .*|shard \d.*part-2"):
            fit(MultiTaskRegressor(**TIGHT), _stale(folder, table), engine="ray", timeout=120)
    finally:
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

source = parquet(sys.argv[1], target="sales", task="shop", shards=8)
model = fit(MultiTaskRegressor(C=1.0, tol=1e-6), source, engine="mpi", timeout=60)
from mpi4py import MPI
print("rank", MPI.COMM_WORLD.Get_rank(), model.coef_.tobytes().hex(), model.status_, flush=True)
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
    local = fit(MultiTaskRegressor(**TIGHT), source(folder, 8))
    assert sorted(words[1] for words in found) == ["0", "1", "2"]
    assert all(words[2:] == [local.coef_.tobytes().hex(), "certified"] for words in found)
