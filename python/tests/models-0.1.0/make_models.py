"""Wrote the models of this folder, and their predictions, with version 0.1.0 of the Python package: a record."""

import json
import sys

import numpy as np
import pandas as pd
from kinfolk import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor

out = sys.argv[1]
rng = np.random.default_rng(1)
X = rng.normal(size=(36, 3)).round(3)
task = np.repeat(["east", "north", "west"], 12)
y = (X @ [1.0, -1.0, 0.5] + (task == "west") * X[:, 0]).round(3)
label = np.where(y > 0, "yes", "no")
three = np.digitize(y, [-0.7, 0.7])
frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(place=task)
wide = np.column_stack([y, -2 * y])
wide[::3, 1] = np.nan
models = {
    "regressor-task-column": (
        MultiTaskRegressor(task_column="place", loss={"east": "huber:0.5"}, scale="standard").fit(frame, y),
        lambda m: m.predict(frame),
    ),
    "classifier-calibrated": (
        MultiTaskClassifier(calibrate="sigmoid", class_weight="balanced").fit(X, label, task=task),
        lambda m: m.predict_proba(X, task=task),
    ),
    "classifier-three-classes": (
        MultiTaskClassifier(kernel="rbf", gamma=0.5).fit(X, three),
        lambda m: m.decision_function(X),
    ),
    "regressor-table": (
        MultiTaskRegressor(method="mtl", method_params={"mu": 0.1}).fit(X, wide),
        lambda m: m.predict(X),
    ),
    "output-kernel-classifier": (OutputKernelClassifier(k=2).fit(X, three), lambda m: m.decision_function(X)),
    "output-kernel-regressor": (
        OutputKernelRegressor(output="exp").fit(X, np.column_stack([y, -2 * y])),
        lambda m: m.predict(X),
    ),
}
expected = {"X": X.tolist(), "task": task.tolist(), "predictions": {}, "attributes": {}}
for name, (model, predict) in models.items():
    model.save(f"{out}/{name}.safetensors")
    expected["predictions"][name] = predict(model).tolist()
    expected["attributes"][name] = {
        "class": type(model).__name__,
        "rel_gap_": model.rel_gap_,
        "C_": model.C_,
        "status_": model.status_,
        "params": {
            k: v for k, v in model.get_params().items() if v is None or isinstance(v, (str, int, float, bool, dict))
        },
    }
json.dump(expected, open(f"{out}/expected.json", "w"), indent=1)
