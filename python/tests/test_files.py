"""Files that the command and Python share, and the same bits from both."""

import json
import subprocess

import numpy as np
import pandas as pd
import polars as pl
import pytest

import kinfolk
from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor


def run(command, *words):
    done = subprocess.run([command, *map(str, words), "--quiet"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def table(d):
    return pd.DataFrame(d.X, columns=list("abcdef")).assign(where=d.task)


def test_save_and_load(binary, tmp_path):
    d = binary
    model = MultiTaskClassifier(calibrate="sigmoid", class_weight={"yes": 2.0}, method_params=None).fit(
        d.X, d.y, task=d.task
    )
    model.save(tmp_path / "m.safetensors")
    back = kinfolk.load(tmp_path / "m.safetensors")
    assert back.get_params() == model.get_params() and back.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(back.predict_proba(d.X, task=d.task), model.predict_proba(d.X, task=d.task))
    np.testing.assert_array_equal(back.trace_["gap"], model.trace_["gap"])
    back.save(tmp_path / "again.safetensors")
    assert kinfolk.load(tmp_path / "again.safetensors").rel_gap_ == model.rel_gap_


def test_every_form_of_labels_comes_back(regression, tmp_path):
    d = regression
    Y = np.column_stack([d.y, -d.y])
    words = np.where(Y > 0, "on", "off").astype(object)
    words[::5, 1] = None
    models = [
        MultiTaskRegressor(loss={"task 1": "huber:0.5"}).fit(d.X, d.y, task=d.task),
        MultiTaskRegressor(method="mtl", method_params={"mu": 0.1}).fit(d.X, Y),
        MultiTaskClassifier().fit(d.X, words),
        MultiTaskClassifier().fit(d.X, np.arange(100) % 3),
        OutputKernelRegressor().fit(d.X, d.y),
        OutputKernelClassifier(calibrate="sigmoid").fit(d.X, np.arange(100) % 3),
    ]
    for model in models:
        model.save(tmp_path / "m.safetensors")
        back = kinfolk.load(tmp_path / "m.safetensors")
        more = {"task": d.task} if model is models[0] else {}
        np.testing.assert_array_equal(back.predict(d.X, **more), model.predict(d.X, **more))
        assert type(back) is type(model) and back.get_params() == model.get_params()


def test_a_task_column_by_number_has_its_name_in_the_file(regression, command, tmp_path):
    d = regression
    model = MultiTaskRegressor(task_column=-1).fit(table(d), d.y)
    model.save(tmp_path / "m.safetensors")
    table(d).to_csv(tmp_path / "d.csv", index=False)
    run(command, "predict", tmp_path / "m.safetensors", tmp_path / "d.csv", "-o", tmp_path / "p.csv")
    assert len(pd.read_csv(tmp_path / "p.csv")) == 100


def test_same_bits_as_the_command(regression, command, tmp_path):
    d = regression
    table(d).assign(score=d.y).to_csv(tmp_path / "d.csv", index=False)
    cases = [("squared", 1, "linear"), ("epsilon:0.1", 2, "linear"), ("huber:0.5", 1, "rbf"), ("squared", 4, "linear")]
    for loss, k, kernel in cases:
        words = ["--task", "where", "--target", "score", "--loss", loss, "--k", k, "--kernel", kernel]
        run(
            command,
            "fit",
            tmp_path / "d.csv",
            *words,
            "--threads",
            2,
            "--seed",
            3,
            "--tol",
            1e-6,
            "-o",
            tmp_path / "m.safetensors",
        )
        theirs = kinfolk.load(tmp_path / "m.safetensors")
        ours = MultiTaskRegressor(
            loss=loss, k=k, kernel=kernel, n_jobs=2, random_state=3, tol=1e-6, task_column="where"
        )
        frame = pd.read_csv(tmp_path / "d.csv")
        ours.fit(frame.drop(columns="score"), frame["score"])
        np.testing.assert_array_equal(ours.dual_coef_, theirs.dual_coef_)
        np.testing.assert_array_equal(ours.theta_, theirs.theta_)
        assert ours.C_ == theirs.C_ and (ours.primal_, ours.dual_, ours.dual_gap_) == (
            theirs.primal_,
            theirs.dual_,
            theirs.dual_gap_,
        )


def test_same_bits_as_the_command_with_classes(command, tmp_path):
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    np.savez(tmp_path / "d.npz", X=X, label=y)
    for loss in ("squared", "hinge"):
        words = ["--loss", loss, "--scale", "unit", "--threads", 2, "-o", tmp_path / "m.safetensors"]
        run(command, "fit", tmp_path / "d.npz", *words)
        theirs = kinfolk.load(tmp_path / "m.safetensors")
        ours = OutputKernelClassifier(loss=loss, scale="unit", n_jobs=2).fit(X, y)
        np.testing.assert_array_equal(ours.dual_coef_, theirs.dual_coef_)
        np.testing.assert_array_equal(theirs.predict(X), ours.predict(X))


def test_the_command_reads_our_models(regression, command, tmp_path):
    d = regression
    frame = table(d)
    model = MultiTaskRegressor(task_column="where").fit(frame, d.y)
    model.save(tmp_path / "m.safetensors")
    frame.assign(score=d.y).to_csv(tmp_path / "d.csv", index=False)
    run(command, "predict", tmp_path / "m.safetensors", tmp_path / "d.csv", "-o", tmp_path / "p.csv")
    predicted = pd.read_csv(tmp_path / "p.csv")
    np.testing.assert_allclose(predicted["score"], model.predict(frame), rtol=1e-12)
    words = ["--task", "where", "--target", "score", "--json"]
    said = json.loads(run(command, "certify", tmp_path / "m.safetensors", tmp_path / "d.csv", *words))
    assert said["recomputed"]["rel_gap"] == pytest.approx(model.rel_gap_, rel=1e-6)


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "x").write_bytes(b"hello")
    with pytest.raises(ValueError, match="model file"):
        kinfolk.load(tmp_path / "x")
    with pytest.raises(OSError, match="nowhere"):
        kinfolk.load(tmp_path / "nowhere")


def test_a_model_of_the_command_takes_the_columns_of_its_own_file(command, tmp_path):
    rng = np.random.default_rng(0)
    age, hours = rng.normal(size=(2, 40))
    frame = pd.DataFrame({"age": age, "note": 1.0, "school": ["n", "s"] * 20, "hours": hours})
    frame["score"] = frame["age"] * 2 + frame["hours"]
    frame.to_csv(tmp_path / "d.csv", index=False)
    words = "fit d.csv --task school --target score --drop note -o m.safetensors --quiet"
    subprocess.run([command, *words.split()], cwd=tmp_path, check=True)
    predict = ["predict", "m.safetensors", "d.csv", "-o", "p.csv", "--quiet"]
    subprocess.run([command, *predict], cwd=tmp_path, check=True)
    model = kinfolk.load(tmp_path / "m.safetensors")
    expected = pd.read_csv(tmp_path / "p.csv")["score"]
    # The whole file, in any order of its columns, and with one task for all rows.
    np.testing.assert_allclose(model.predict(frame), expected, rtol=1e-12)
    np.testing.assert_allclose(model.predict(frame[["hours", "school", "age"]]), expected, rtol=1e-12)
    north = frame["school"] == "n"
    alone = model.predict(frame.loc[north, ["age", "hours"]], task="n")
    np.testing.assert_allclose(alone, expected[north], rtol=1e-12)
    # Other columns are ignored then, too.
    np.testing.assert_allclose(model.predict(frame.loc[north].drop(columns="school"), task="n"), alone, rtol=1e-12)
    for rows, task in [(frame, None), (frame.drop(columns="school"), "n")]:
        with pytest.raises(ValueError, match="X has no column 'hours', which the model was fitted with"):
            model.predict(rows.drop(columns="hours"), task=task)


def test_a_model_of_the_command_reads_units_as_the_command_does(command, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"shop": ["n", "s"] * 20, "mass": [f"{own} kg" for own in range(1, 41)]})
    frame["share"] = [f"{own:.1f}%" for own in rng.random(40)]
    frame["price"] = np.arange(40) % 7 + rng.random(40)
    frame.to_csv(tmp_path / "d.csv", index=False)
    words = "fit d.csv --task shop --target price -o m.safetensors --quiet"
    subprocess.run([command, *words.split()], cwd=tmp_path, check=True)
    predict = ["predict", "m.safetensors", "d.csv", "-o", "p.csv", "--quiet"]
    subprocess.run([command, *predict], cwd=tmp_path, check=True)
    expected = pd.read_csv(tmp_path / "p.csv").iloc[:, -1]
    model = kinfolk.load(tmp_path / "m.safetensors")
    for rows in (frame, pd.read_csv(tmp_path / "d.csv")[["share", "mass", "shop"]], pl.from_pandas(frame)):
        np.testing.assert_allclose(model.predict(rows), expected, rtol=1e-12)
    south = frame["shop"] == "s"
    alone = model.predict(frame.loc[south, ["share", "mass"]], task="s")
    np.testing.assert_allclose(alone, expected[south], rtol=1e-12)
    model.save(tmp_path / "again.safetensors")
    again = kinfolk.load(tmp_path / "again.safetensors")
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))
