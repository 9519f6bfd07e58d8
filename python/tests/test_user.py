"""What a demanding user tried: messages before a fit, files that cannot be, notebooks, frames in every form."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance

from kinfolk import MultiTaskClassifier, MultiTaskCV, MultiTaskRegressor, load

RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(RNG.normal(size=(90, 3)), columns=["rooms", "age", "tax"])
FRAME["heat"] = RNG.choice(["gas", "oil"], 90)
FRAME["city"] = np.repeat(["Bonn", "Köln", "Ulm"], 30)
PRICE = 3 * FRAME["rooms"] - FRAME["age"] + 0.3 * RNG.normal(size=90)
NUMBERS = FRAME[["rooms", "age", "tax"]]


def html(estimator):
    return estimator._repr_mimebundle_()["text/html"]


@pytest.fixture(scope="module")
def model():
    return MultiTaskRegressor(task_column="city").fit(FRAME, PRICE)


def test_pictures_before_a_fit():
    for draw in (MultiTaskRegressor().plot_theta, MultiTaskRegressor().plot_tree, MultiTaskRegressor().plot_gap):
        with pytest.raises(NotFittedError):
            draw()
    for draw in (MultiTaskCV().plot_path, MultiTaskCV().plot_comparison, MultiTaskCV().plot_theta):
        with pytest.raises(NotFittedError):
            draw()
    search = MultiTaskCV(Cs=[1.0], param_grid={}, cv=2).fit(NUMBERS, PRICE)
    with pytest.raises(AttributeError, match="fit with compare=True"):
        search.plot_comparison()


def test_notebooks_show_the_certificate(model):
    search = MultiTaskCV(Cs=[1.0], param_grid={}, cv=2).fit(NUMBERS, PRICE)
    assert all("kinfolk-certificate" in html(each) for each in (model, search))
    assert all("kinfolk-certificate" not in html(each) for each in (MultiTaskRegressor(), MultiTaskCV()))
    name = "<script>alert(1)</script>"
    atoms = {name: {"Bonn": "a", "Köln": "a", "Ulm": "b"}}
    assert name not in html(MultiTaskRegressor(C=1.0, atoms=atoms).fit(NUMBERS, PRICE, task=FRAME["city"]))


def test_files_in_folders_that_do_not_exist(model, tmp_path):
    nowhere = tmp_path / "nowhere"
    for write in (model.save, model.report):
        with pytest.raises(FileNotFoundError) as caught:
            write(nowhere / "m")
        assert caught.value.filename == str(nowhere / "m")
    with pytest.raises(FileNotFoundError):
        load(nowhere / "m")


def test_names_with_umlauts(model, tmp_path):
    model.save(tmp_path / "Köln ü.safetensors")
    loaded = load(tmp_path / "Köln ü.safetensors")
    np.testing.assert_array_equal(loaded.predict_interval(FRAME), model.predict_interval(FRAME))
    assert loaded.baselines_ == model.baselines_
    loaded.report(tmp_path / "a.html", FRAME, PRICE)
    assert "Köln" in (tmp_path / "a.html").read_text("utf-8")


def test_weights_that_cannot_be():
    for weight in (-1.0, np.inf):
        weights = np.ones(90)
        weights[7] = weight
        with pytest.raises(ValueError, match="weight.*(row 7 has|infinity)"):
            MultiTaskRegressor(C=1.0).fit(NUMBERS, PRICE, sample_weight=weights)
    table = np.ones((90, 2))
    table[7, 1] = -2.0
    with pytest.raises(ValueError, match=r"sample_weight: row 7 has -2.0"):
        MultiTaskRegressor(C=1.0).fit(NUMBERS, np.column_stack([PRICE, PRICE]), sample_weight=table)


def test_onnx_names_the_columns_in_its_way(model):
    pytest.importorskip("onnx")
    with pytest.raises(ValueError, match="encode 'heat' before the fit"):
        model.to_onnx()


def test_forms_of_the_same_frame(model):
    expected = model.predict(FRAME)
    forms = [
        FRAME.set_index(np.arange(90)[::-1]),
        FRAME.assign(city=FRAME["city"].astype("category"), heat=FRAME["heat"].astype("category")),
        FRAME.convert_dtypes(),
        pl.from_pandas(FRAME),
    ]
    for form in forms:
        again = MultiTaskRegressor(task_column="city").fit(form, PRICE.to_numpy())
        np.testing.assert_array_equal(again.predict(form), expected)


def test_forms_of_the_same_array(tmp_path):
    x = NUMBERS.to_numpy(copy=True)
    x.setflags(write=False)
    np.save(tmp_path / "x.npy", x)
    expected = MultiTaskRegressor(C=1.0).fit(x, PRICE).predict(x)
    for form in (np.asfortranarray(x), np.load(tmp_path / "x.npy", mmap_mode="r"), x.tolist(), sp.csr_array(x)):
        scale = {"scale": "standard"} if not sp.issparse(form) else {"scale": "spread"}
        found = MultiTaskRegressor(C=1.0, **scale).fit(form, PRICE).predict(form)
        np.testing.assert_allclose(found, expected, atol=0.05 if sp.issparse(form) else 0)


def test_tools_of_scikit_learn_take_frames_with_words(model):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = permutation_importance(model, FRAME, PRICE, n_repeats=2, random_state=0)
    assert found.importances_mean.argmax() == 0
    classes = MultiTaskClassifier(task_column="city").fit(FRAME, np.where(PRICE > 0, "dear", "cheap"))
    assert set(classes.baselines_) == {"this model", "majority", "tasks alone", "one model for all"}
