"""Model files, which the command and this package share."""

from __future__ import annotations

import dataclasses
import json
import math
import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import _atoms, _native, _recipe, _tables
from ._parameters import from_specification
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
            "params": _params(own),
            "state": _state(own),
        }
        features, column = _columns(own)
        own.model_.save(
            os.fspath(path),
            python=json.dumps(python, allow_nan=False),
            features=features,
            task_column=column,
            classes=_classes(own),
            recipe=_recipe.known(own),
        )


def _params(estimator: Any) -> dict[str, Any]:
    params = estimator.get_params(deep=False)
    return {name: _plain(_param_value(estimator, name, value)) for name, value in params.items()}


def _param_value(estimator: Any, name: str, value: Any) -> Any:
    """Parameters that may be tables, as plain lists: matrices in the order of the tasks, relations by name."""
    if name in ("theta", "prior") and value is not None:
        return _tables.aligned_matrix(name, value, estimator.theta_names_)
    if name == "atoms":
        return _atoms.from_tables(_atoms.tables(value))
    return value


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
    words = [_text(value) for value in classes]
    return words[::-1] if estimator._targets.positive_first else words


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
    if isinstance(value, dict):
        return {key: _param(item) for key, item in value["dict"]}
    return [_param(item) for item in value] if isinstance(value, list) else value


FITTED = ("seconds_", "_flat", "_multilabel", "_by_name")
OLD_NUMBERS = ("primal_", "dual_", "dual_gap_", "rel_gap_", "seconds_", "C_", "lam_")
"""Written by version 0.1, with infinity as text."""


def _state(estimator: Any) -> dict[str, Any]:
    state: dict[str, Any] = {name: _plain(getattr(estimator, name)) for name in FITTED if hasattr(estimator, name)}
    state["n_features_in_"] = int(estimator.n_features_in_)
    for name in ("feature_names_in_", "tasks_", "classes_", "calibration_"):
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
            "positive_first": targets.positive_first,
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
    if model.python is None:
        return _from_command(model)
    stored = json.loads(model.python)
    cls = {kind.__name__: kind for kind in known}.get(stored["class"])
    if cls is None:
        raise ValueError(f"{os.fspath(path)}: this version has no class {stored['class']!r}, which wrote the model")
    estimator: Any = cls(**{name: _param(value) for name, value in stored["params"].items()})
    _restore(estimator, model, stored["state"])
    return estimator


def _restore(estimator: Any, model: Any, state: dict[str, Any]) -> None:
    estimator._recipe = _recipe.of_schema(model.schema)
    estimator._store_fit(model)
    for name, value in state.items():
        if name in ("_targets", "_questions"):  # the second is its name in files of version 0.1
            name, value = "_targets", _stored_targets(value)
        elif name == "trace_":
            value = {key: _from_array(column) for key, column in value.items()}
        elif name in OLD_NUMBERS:
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
        positive_first=stored.get("positive_first", False),
        classes=None if classes is None else [_from_array(own) for own in classes],
    )


def _from_command(model: Any) -> Any:
    """The estimator for a model that the command wrote."""
    from . import MultiTaskClassifier, MultiTaskRegressor, OutputKernelClassifier

    spec, schema = json.loads(model.spec), json.loads(model.schema)
    coding, column, names = schema["coding"], schema["columns"]["task"], np.asarray(model.tasks)
    estimator: Any
    if coding == "classes":
        estimator = OutputKernelClassifier(**from_specification(OutputKernelClassifier, spec))
        estimator.classes_, estimator._multilabel = names, False
    elif coding == "numbers":
        estimator = MultiTaskRegressor(task_column=column, **from_specification(MultiTaskRegressor, spec))
        estimator._targets = _targets_of_command(model, schema, None)
    else:
        estimator = MultiTaskClassifier(task_column=column, **from_specification(MultiTaskClassifier, spec))
        pair = np.asarray([_number(coding["binary"][sign]) for sign in ("negative", "positive")])
        estimator.classes_ = np.unique(pair)
        targets = _targets_of_command(model, schema, [estimator.classes_] * len(names))
        estimator._targets = dataclasses.replace(targets, positive_first=bool(pair[0] != estimator.classes_[0]))
    estimator.tasks_ = names
    missing = schema["columns"].get("missing", "mean")
    estimator.missing = "error" if missing == "drop" else missing  # no row of a frame is left out
    estimator._recipe = _recipe.of_schema(model.schema)
    estimator._store_fit(model)
    n_columns = schema["n_features"]
    if schema["features"] is not None:
        own = _recipe.columns_of(model.schema)
        estimator.feature_names_in_ = np.asarray([column, *own] if column else own, dtype=object)
        estimator._by_name, n_columns = True, len(own)
    estimator.n_features_in_ = n_columns + (1 if column else 0)
    return estimator


def _targets_of_command(model: Any, schema: dict[str, Any], classes: list[np.ndarray] | None) -> Targets:
    about, columns, names = json.loads(model.about), schema["columns"], np.asarray(model.tasks)
    # A table has more labels than rows; if each row has a task there are as many labels as rows.
    wide = not columns["task"] and (len(columns["target"]) > 1 or about["n_observations"] > about["n_inputs"])
    form: Form = "wide" if wide else "rows" if columns["task"] or len(names) > 1 else "single"
    return Targets(form, names, list(model.tasks), np.arange(len(names) + 1), classes)


def _number(text: str) -> Any:
    """Labels that were numbers are numbers."""
    try:
        value = float(text)
    except ValueError:
        return text
    return int(value) if value.is_integer() else value
