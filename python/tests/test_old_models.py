"""Models that version 0.1.0 wrote load and predict the same bits."""

import json
import pathlib

import numpy as np
import pandas as pd
import pytest

import kinfolk

FOLDER = pathlib.Path(__file__).parent / "models-0.1.0"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())


def predictions(name, model):
    X, task = np.asarray(EXPECTED["X"]), np.asarray(EXPECTED["task"])
    if name == "regressor-task-column":
        return model.predict(pd.DataFrame(X, columns=["a", "b", "c"]).assign(place=task))
    if name == "classifier-calibrated":
        return model.predict_proba(X, task=task)
    return model.decision_function(X) if "classifier" in name else model.predict(X)


@pytest.mark.parametrize("name", EXPECTED["predictions"])
def test_models_of_the_first_version(name, tmp_path):
    model, attributes = kinfolk.load(FOLDER / f"{name}.safetensors"), EXPECTED["attributes"][name]
    np.testing.assert_array_equal(predictions(name, model), EXPECTED["predictions"][name])
    assert type(model).__name__ == attributes["class"]
    assert (model.rel_gap_, model.C_, model.status_) == tuple(attributes[key] for key in ("rel_gap_", "C_", "status_"))
    assert model.claim_ == "optimal" and model.remark_ is None
    params = model.get_params()
    assert {key: params[key] for key in attributes["params"]} == attributes["params"]
    model.save(tmp_path / "again.safetensors")
    again = kinfolk.load(tmp_path / "again.safetensors")
    np.testing.assert_array_equal(predictions(name, again), EXPECTED["predictions"][name])
