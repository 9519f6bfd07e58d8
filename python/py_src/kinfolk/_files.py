"""Model files, which the command and this package share."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _native
from ._targets import Form, Targets


class SaveMixin:
    """Adds `save` to an estimator."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a model file, for `kinfolk.load` and for the commands `kinfolk predict`, `certify`, `theta` and so on.
        An existing file is replaced atomically."""
        check_is_fitted(self)
        own: Any = self
        python = {
            "class": type(self).__name__,
            "params": {name: _plain(value) for name, value in own.get_params(deep=False).items()},
            "state": _state(own),
        }
        features, column = _columns(own)
        own.model_.save(
            os.fspath(path),
            python=json.dumps(python, allow_nan=False),
            balanced=isinstance(getattr(own, "class_weight", None), str),
            features=features,
            task_column=column,
            classes=_classes(own),
        )


def _columns(estimator: Any) -> tuple[list[str] | None, str | None]:
    """Names of the features and of the task column, if they have names."""
    column, names = getattr(estimator, "task_column", None), getattr(estimator, "feature_names_in_", None)
    if names is None:
        return None, column if isinstance(column, str) else None
    words = [str(name) for name in names]
    if column is None:
        return words, None
    name = words.pop(words.index(column) if isinstance(column, str) else int(column))
    return words, name


def _classes(estimator: Any) -> list[str] | None:
    """The two values of labels; empty if classes are tasks; None for numbers."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        return None
    # A list means that the columns of a table have different classes.
    if type(estimator).__name__ == "OutputKernelClassifier" or isinstance(classes, list) or len(classes) != 2:
        return []
    return [_text(value) for value in classes]


def _text(value: Any) -> str:
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _plain(value: Any) -> Any:
    """A value for JSON, which has no infinity and only strings as keys. A value that it cannot express becomes None."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, dict):
        return {"dict": [[_plain(key), _plain(item)] for key, item in value.items()]}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, (bool, int, float, str)) else None


def _param(value: Any) -> Any:
    return {key: item for key, item in value["dict"]} if isinstance(value, dict) else value


NUMBERS = ("primal_", "dual_", "dual_gap_", "rel_gap_", "seconds_", "C_", "lam_")
FITTED = (*NUMBERS, "status_", "claim_", "remark_", "solver_", "reason_", "n_passes_", "_flat")


def _state(estimator: Any) -> dict[str, Any]:
    state: dict[str, Any] = {name: _plain(getattr(estimator, name)) for name in FITTED if hasattr(estimator, name)}
    state["n_features_in_"] = int(estimator.n_features_in_)
    for name in ("feature_names_in_", "tasks_", "classes_", "calibration_", "task_gaps_"):
        value = getattr(estimator, name, None)
        if value is not None:
            state[name] = [_array(own) for own in value] if isinstance(value, list) else _array(value)
    state["trace_"] = {name: _array(column) for name, column in estimator.trace_.items()}
    targets: Targets | None = getattr(estimator, "_targets", None)
    if targets is not None:
        state["_targets"] = {
            "form": targets.form,
            "tasks": _array(targets.tasks),
            "names": targets.outputs,
            "first": _array(targets.first_output),
            "classes": None if targets.classes is None else [_array(own) for own in targets.classes],
        }
    return state


def _array(value: np.ndarray) -> dict[str, Any]:
    kind = "str" if value.dtype.kind in "US" else "object" if value.dtype.kind == "O" else value.dtype.str
    return {"dtype": kind, "values": _plain(value)}


def _from_array(stored: Any) -> np.ndarray:
    return np.asarray(stored["values"], dtype=stored["dtype"])


def load(path: str | os.PathLike[str]) -> Any:
    """The estimator of a model file, written by `save` or by the command."""
    from . import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor

    known: tuple[Any, ...] = (MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier, OutputKernelRegressor)
    model = _native.Model.load(os.fspath(path))
    attached = model.attachments
    if "python" not in attached:
        return _of_command(model, attached)
    stored = json.loads(attached["python"])
    cls = {kind.__name__: kind for kind in known}.get(stored["class"])
    if cls is None:
        raise ValueError(f"{os.fspath(path)}: this version has no class {stored['class']!r}, which wrote the model")
    estimator: Any = cls(**{name: _param(value) for name, value in stored["params"].items()})
    _restore(estimator, model, stored["state"])
    return estimator


def _restore(estimator: Any, model: Any, state: dict[str, Any]) -> None:
    estimator.model_ = model
    for name, value in state.items():
        if name in ("_targets", "_questions"):  # the second is its name in files of version 0.1
            name, value = "_targets", _stored_targets(value)
        elif name == "trace_":
            value = {key: _from_array(column) for key, column in value.items()}
        elif name in NUMBERS:
            value = None if value is None else float(value)
        elif isinstance(value, list):
            value = [_from_array(own) for own in value]
        elif isinstance(value, dict):
            value = _from_array(value)
        setattr(estimator, name, value)


def _stored_targets(stored: dict[str, Any]) -> Targets:
    classes = stored["classes"]
    return Targets(
        form=stored["form"],
        tasks=_from_array(stored["tasks"]),
        outputs=stored["names"],
        first_output=_from_array(stored["first"]),
        classes=None if classes is None else [_from_array(own) for own in classes],
    )


def _of_command(model: Any, attached: dict[str, str]) -> Any:
    """A model that the command wrote: what its recipe says of labels and columns."""
    from . import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier

    if "trained" not in attached and "recipe" not in attached:
        raise ValueError("neither kinfolk fit nor this package wrote the model: kinfolk._native.Model.load reads it")
    recipe, about, spec = json.loads(model.schema), json.loads(model.about), json.loads(model.spec)
    coding, column, names = recipe["coding"], recipe["columns"]["task"], np.asarray(model.tasks)
    params = _params_of_command(about, spec)
    estimator: Any
    if coding == "classes":
        estimator = OutputKernelClassifier(**params)
        estimator.classes_ = names
    else:
        # Where each row has a task there are as many labels as rows.
        wide = not column and (len(recipe["columns"]["target"]) > 1 or about["n_observations"] > about["n_inputs"])
        form: Form = "wide" if wide else "rows" if column or len(names) > 1 else "single"
        classes = None
        if coding == "numbers":
            params.pop("class_weight", None)
            estimator = MultiTaskRegressor(task_column=column, **params)
        else:
            pair = coding["binary"]
            both = np.asarray([_number(pair["negative"]), _number(pair["positive"])])
            classes = [both] * len(names)
            estimator = MultiTaskClassifier(task_column=column, **params)
            estimator.classes_ = both
        estimator._targets = Targets(form, names, list(model.tasks), np.arange(len(names) + 1), classes)
    estimator.tasks_ = names
    certificate = about["certificate"]
    primal, dual, gap = (float(certificate[name]) for name in ("primal", "dual", "gap"))
    size = max(abs(primal), abs(dual))
    estimator.model_, estimator.primal_, estimator.dual_, estimator.dual_gap_ = model, primal, dual, gap
    estimator.rel_gap_ = (gap / size if gap else 0.0) if math.isfinite(size) else math.inf
    estimator.task_gaps_ = np.asarray([float(g) for g in certificate["task_gaps"]])
    estimator.status_ = about.get("status", "certified" if estimator.rel_gap_ <= spec["tol"] else "unknown")
    estimator.claim_, estimator.remark_ = model.claim, about.get("remark")
    estimator.C_, estimator.lam_ = about["problem"]["c"], about["problem"]["lambda"]
    estimator.trace_ = {name: np.empty(0) for name in ("passes", "seconds", "primal", "dual", "gap")}
    features = recipe["features"]
    if features is not None and all("number" in feature for feature in features):
        own = [feature["number"] for feature in features]
        estimator.feature_names_in_ = np.asarray([column, *own] if column else own, dtype=object)
    estimator.n_features_in_ = about["n_features"] + (1 if column else 0)
    return estimator


def _params_of_command(about: dict[str, Any], spec: dict[str, Any]) -> dict[str, Any]:
    """What another fit like that would take, as far as there are parameters for it."""
    kernel = dict(about["kernel"])
    params: dict[str, Any] = {"C": about["problem"]["c"], "lam": about["problem"]["lambda"], "tol": spec["tol"]}
    params |= {"kernel": kernel.pop("kind"), "bias": about["bias"], "scale": about["scaling"], **kernel}
    if spec.get("class_weight"):
        params["class_weight"] = spec["class_weight"]
    if isinstance(about["problem"]["loss"], dict):
        params["loss"] = spec["loss"]
    name, _, given = spec["method"].partition(":")
    pairs = dict(part.split("=", 1) for part in given.split(",") if "=" in part)
    if name == "fmtl" and pairs.keys() <= {"output", "k"}:
        params["output"], params["k"] = pairs["output"], int(pairs.get("k", 1))
    else:
        params["method"] = spec["method"]
    return params


def _number(text: str) -> Any:
    """Labels that were numbers are numbers."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value
