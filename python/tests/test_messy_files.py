"""Files as people have them are fitted, selected, reported and predicted with task and target named, nothing else, and
score as the same rows do after somebody cleaned them."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pandas as pd
import pytest
from messy_files import TABLES

pa = pytest.importorskip("pyarrow")
pytest.importorskip("polars")


@pytest.fixture
def run(command, tmp_path):
    def run(*words: object) -> dict:
        words = [command, *map(str, words), "--json", "--threads", "1"]
        said = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
        assert said.returncode == 0, said.stderr
        return json.loads(said.stdout) if said.stdout else {}

    return run


def predictions(run, tmp_path, model, data):
    run("predict", model, data, "-o", "predictions.csv", "--interval", 0.9, "--force")
    return pd.read_csv(tmp_path / "predictions.csv")


@pytest.mark.parametrize("make", TABLES, ids=lambda make: make.__name__)
def test_a_table_scores_as_if_it_had_been_cleaned(run, tmp_path, make):
    path, clean = make(tmp_path)
    clean.to_csv(tmp_path / "clean.csv", index=False)
    columns = ("--task", "shop", "--target", "spent")
    raw = run("fit", path, *columns, "-o", "raw.safetensors")
    by_hand = run("fit", "clean.csv", *columns, "-o", "clean.safetensors")
    assert raw["auto_c"]["score"] == pytest.approx(by_hand["auto_c"]["score"], abs=1e-6)
    assert raw["auto_c"]["score"] > 0.5
    own = predictions(run, tmp_path, "raw.safetensors", path)
    other = predictions(run, tmp_path, "clean.safetensors", "clean.csv")
    np.testing.assert_allclose(own["score"], other["score"], atol=1e-6)
    np.testing.assert_allclose(own[["low", "high"]], other[["low", "high"]], atol=1e-6)
    assert run("certify", "raw.safetensors", path)["holds"]
    selected = run("select", path, *columns, "--folds", 2, "--method", "stl", "-o", "selected.safetensors")
    compared = run("select", "clean.csv", *columns, "--folds", 2, "--method", "stl")
    assert selected["winner"]["score"] == pytest.approx(compared["winner"]["score"], abs=1e-6)
    if path.is_file():
        run("report", "selected.safetensors", path, "-o", "report.html")
    assert run("data", "info", path)["suggestion"].startswith("kinfolk fit ")


def test_svmlight_with_several_labels_scores_as_a_table_of_labels(run, tmp_path):
    from sklearn.datasets import dump_svmlight_file

    rng = np.random.default_rng(2)
    x = rng.normal(size=(120, 5))
    y = (x @ rng.normal(size=(5, 3)) + 0.3 * rng.normal(size=(120, 3)) > 0.4).astype(int)
    dump_svmlight_file(x, y, str(tmp_path / "labels.svm"), multilabel=True)
    table = pd.DataFrame(x, columns=[f"x{j}" for j in range(5)])
    names = [f"label{t}" for t in range(3)]
    table[names] = y
    table.to_csv(tmp_path / "clean.csv", index=False)
    raw = run("fit", "labels.svm", "-o", "raw.safetensors")
    by_hand = run("fit", "clean.csv", "--target", "label*", "-o", "clean.safetensors")
    assert (raw["n_tasks"], raw["n_observations"]) == (3, 360)
    assert raw["auto_c"]["score"] == pytest.approx(by_hand["auto_c"]["score"], abs=1e-3)
    assert run("certify", "raw.safetensors", "labels.svm")["holds"]
    run("predict", "raw.safetensors", "labels.svm", "--proba", "-o", "p.csv")
    assert pd.read_csv(tmp_path / "p.csv").max().max() <= 1


def test_new_rows_may_have_other_columns_and_unseen_words(run, command, tmp_path):
    path, _ = TABLES[0](tmp_path)
    run("fit", path, "--task", "shop", "--target", "spent", "-o", "m.safetensors")
    rows = pd.read_csv(path)
    shuffled = rows[list(rows.columns[::-1])].assign(extra="x").drop(columns=["spent"])
    shuffled.to_csv(tmp_path / "new.csv", index=False)
    run("predict", "m.safetensors", "new.csv", "-o", "new-scores.csv", "--keep", "Customer ID")
    run("predict", "m.safetensors", path, "-o", "scores.csv")
    new, old = pd.read_csv(tmp_path / "new-scores.csv"), pd.read_csv(tmp_path / "scores.csv")
    np.testing.assert_array_equal(new["score"], old["score"])
    assert new["Customer ID"].tolist() == rows["Customer ID"].tolist()

    def said(data):
        data.to_csv(tmp_path / "odd.csv", index=False)
        words = [command, "predict", "m.safetensors", "odd.csv", "-o", "odd-scores.csv", "--force"]
        return subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)

    unseen = said(rows.assign(plan="gold"))
    assert unseen.returncode == 0
    assert '140 rows have a value that was not there in training, such as "gold"' in unseen.stderr
    assert 'needs columns "plan", "age"' in said(rows.drop(columns=["plan", "age"])).stderr
    assert 'line 4' in said(rows.assign(shop=["mars" if i == 2 else "east" for i in range(len(rows))])).stderr
    gap = rows.assign(visits=[None] + [1] * (len(rows) - 1))
    assert 'line 2, column "visits": the value is missing' in said(gap).stderr


@pytest.mark.parametrize("form", ["file", "stream"])
def test_arrow_with_zstd_inside_is_read(command, tmp_path, form):
    words = pd.Categorical(["new", "old"] * 20)
    gaps = [None if i % 9 == 0 else float(i % 7) for i in range(40)]
    table = pd.DataFrame({"shop": list("abab") * 10, "kind": words, "size": np.arange(40.0), "spent": gaps})
    table = pa.Table.from_pandas(table, preserve_index=False)
    models = []
    for codec in ["zstd", "lz4", None]:
        path = tmp_path / f"{codec}.arrow"
        options = pa.ipc.IpcWriteOptions(compression=codec)
        opened = pa.ipc.new_file if form == "file" else pa.ipc.new_stream
        with opened(path, table.schema, options=options) as writer:
            for batch in table.to_batches(max_chunksize=16):
                writer.write_batch(batch)
        said = subprocess.run(
            [command, "fit", path, "--task", "shop", "--target", "spent", "--c", "1", "-o", f"{codec}.st", "--quiet"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert said.returncode == 0, said.stderr
        models.append((tmp_path / f"{codec}.st").read_bytes())
    assert models[0] == models[1] == models[2]
    whole = (tmp_path / "zstd.arrow").read_bytes()
    (tmp_path / "cut.arrow").write_bytes(whole[: len(whole) * 2 // 3])
    said = subprocess.run([command, "data", "info", "cut.arrow"], cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 3 and len(said.stderr.splitlines()) == 1, said.stderr
