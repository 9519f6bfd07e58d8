"""The method of an estimator as text, such as `mtl:mu=0.1`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _native
from ._checks import choice, square_matrix, whole
from ._engine import ENGINE
from ._tables import aligned_matrix

DEFAULT_METHOD = "kin"
METHOD_DEFAULTS = {"output": "power", "k": 1, "theta": None, "prior": None}
"""Parameters of the estimators that are parameters of the method fmtl; k is one of kin too."""


def method_text(estimator: Any, name: str, tasks: Sequence[Any]) -> str:
    """The method with its parameters: those in `method`, `method_params`, and for kin and fmtl the estimator's own. If
    only fmtl has one of these, the default method is fmtl."""
    method, given = estimator.method, estimator.method_params
    if not isinstance(method, str):
        raise TypeError(f"method = {method!r}: it must be the name of a method; see kinfolk.methods()")
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"method_params = {given!r}: it must be a dictionary")
    changed = _changed(estimator)
    if method == DEFAULT_METHOD and changed - {"k"}:
        method = "fmtl"
    name, colon, _ = method.partition(":")
    _check_names(estimator, name, given or {})
    params = {str(key): _text(value) for key, value in (given or {}).items()} | _own_params(
        estimator, name, changed, tasks
    )
    more = ",".join(f"{key}={value}" for key, value in params.items())
    return f"{method}{',' if colon else ':'}{more}" if more else method


def _check_names(estimator: Any, method: str, given: Mapping[str, Any]) -> None:
    """Raises an error if the method has no such parameter. Names of atoms are parameters, too: their weights."""
    about = next((own["params"] for own in _native.methods() if own["name"] == method), None)
    if about is None:  # the engine says which methods there are
        return
    atoms = estimator.atoms if isinstance(estimator.atoms, Mapping) else {}
    unknown = [str(key) for key in given if str(key) not in about and str(key) not in map(str, atoms)]
    if unknown:
        known = ", ".join(about) or "none"
        raise ValueError(f"method_params: the method {method} has no parameter {unknown[0]!r}; it has {known}")


def own_parameters(text: str) -> dict[str, Any]:
    """Parameters of an estimator for this method: `output` and `k` where they say it all, else `method` alone, without
    what is at its default."""
    plain = re.fullmatch(r"fmtl:(?:k=(\d+),)?output=(power|exp|cosh)", text)
    if plain:
        return {"method": "fmtl", "output": plain[2], "k": int(plain[1] or 1)}
    name, _, params = text.partition(":")
    if name != DEFAULT_METHOD:
        return {"method": text}
    about = next(method["params"] for method in _native.methods() if method["name"] == name)
    pairs = [pair.partition("=")[::2] for pair in params.split(",") if pair]
    # Weights of atoms have no defaults.
    defaults = {key: param["default"] for key, param in about.items()}
    changed = [f"{key}={value}" for key, value in pairs if not _is_same(value, defaults.get(key))]
    return {"method": f"{name}:{','.join(changed)}" if changed else name}


def _is_same(value: str, default: str | None) -> bool:
    """As numbers, or as words."""
    try:
        return default is not None and float(value) == float(default)
    except ValueError:
        return value == default


def settings_of(estimator: Any, found: Sequence[tuple[str, str | None]]) -> list[dict[str, Any]]:
    """Parameters of the estimator for methods and kernels that the engine has tried; none that are the same for all and
    for the estimator."""
    settings = []
    for method, kernel in found:
        settings.append(own_parameters(method) | {"method_params": None} | ({"kernel": kernel} if kernel else {}))
    names = dict.fromkeys(name for each in settings for name in each)
    own = {name: getattr(estimator, name) for name in names}
    changed = [name for name in names if any(each.get(name, own[name]) != own[name] for each in settings)]
    return [{name: each.get(name, own[name]) for name in changed} for each in settings]


def _changed(estimator: Any) -> set[str]:
    """Those of output, k, theta and prior that are not at their defaults."""

    def is_default(value: Any, default: Any) -> bool:
        return value is default or bool(np.ndim(value) == 0 and value == default and not isinstance(value, bool))

    return {key for key, default in METHOD_DEFAULTS.items() if not is_default(getattr(estimator, key), default)}


def _own_params(estimator: Any, method: str, changed: set[str], tasks: Sequence[Any]) -> dict[str, str]:
    """Output, k, theta and prior, as far as they are changed, for a method that has them."""
    for key in sorted(changed):
        methods = (DEFAULT_METHOD, "fmtl") if key == "k" else ("fmtl",)
        if method not in methods:
            names = "methods kin and fmtl" if key == "k" else "method fmtl"
            raise ValueError(f"{key} = {getattr(estimator, key)!r}: it is for the {names}, not for {method}")
    output, theta = estimator.output, estimator.theta
    if method == "fmtl" and (theta is not None) != (output == "fixed"):
        raise ValueError("theta and output='fixed' belong together; a matrix to start from is a prior")
    return {key: _fmtl_text(key, getattr(estimator, key), tasks) for key in METHOD_DEFAULTS if key in changed}


def _fmtl_text(key: str, value: Any, tasks: Sequence[Any]) -> str:
    if key == "k":
        return str(whole(key, value, 1))
    if key == "output":
        return choice(key, value, ENGINE["outputs"])
    return json.dumps(square_matrix(key, aligned_matrix(key, value, list(tasks))))


def _text(value: Any) -> str:
    """A value as the engine reads it: lists and matrices in brackets."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return json.dumps(np.asarray(value, dtype=float).tolist())
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
