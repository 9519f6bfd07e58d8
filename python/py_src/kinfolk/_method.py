"""The method of an estimator as text, such as `mtl:mu=0.1`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from . import _native
from ._checks import choice, square_matrix, whole
from ._engine import ENGINE

FMTL_DEFAULTS = {"output": "power", "k": 1, "theta": None, "prior": None}
"""Parameters of the estimators that are parameters of the method fmtl."""


def method_text(estimator: Any, name: str) -> str:
    """The method with its parameters: those in `method`, `method_params`, and for fmtl the estimator's own."""
    method, given = estimator.method, estimator.method_params
    if not isinstance(method, str):
        raise TypeError(f"method = {method!r}: it must be the name of a method; see kinfolk.methods()")
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"method_params = {given!r}: it must be a dictionary")
    name, colon, _ = method.partition(":")
    params = {str(key): _text(value) for key, value in (given or {}).items()} | _fmtl_params(estimator, name)
    more = ",".join(f"{key}={value}" for key, value in params.items())
    return f"{method}{',' if colon else ':'}{more}" if more else method


def own_parameters(text: str) -> dict[str, Any]:
    """Parameters of an estimator for this method: `output` and `k` where they say it all, else `method` alone."""
    plain = re.fullmatch(r"fmtl:(?:k=(\d+),)?output=(power|exp|cosh)", text)
    return {"method": "fmtl", "output": plain[2], "k": int(plain[1] or 1)} if plain else {"method": text}


def settings_to_try(estimator: Any) -> list[dict[str, Any]]:
    """The parameters that the command select tries for the method of an estimator, besides C."""
    if estimator.prior is not None:  # it goes with a single k
        return [{}]
    texts = _native.settings_to_try(method_text(estimator, "method"))
    settings = [own_parameters(text) | {"method_params": None} for text in texts] or [{}]
    changed = [name for name in settings[0] if any(each[name] != getattr(estimator, name) for each in settings)]
    return [{name: each[name] for name in changed} for each in settings]


def _fmtl_params(estimator: Any, method: str) -> dict[str, str]:
    """Those of output, k, theta and prior that are not at their defaults."""
    changed = {}
    for key, default in FMTL_DEFAULTS.items():
        value = getattr(estimator, key)
        if value is default or (np.ndim(value) == 0 and value == default and not isinstance(value, bool)):
            continue
        if method != "fmtl":
            raise ValueError(f"{key} = {value!r}: it is for the method fmtl, not for {method}")
        changed[key] = _fmtl_text(key, value)
    output, theta = estimator.output, estimator.theta
    if method == "fmtl" and (theta is not None) != (output == "fixed"):
        raise ValueError("theta and output='fixed' belong together; a matrix to start from is a prior")
    return changed


def _fmtl_text(key: str, value: Any) -> str:
    if key == "k":
        return str(whole(key, value, 1))
    if key == "output":
        return choice(key, value, ENGINE["outputs"])
    return json.dumps(square_matrix(key, value))


def _text(value: Any) -> str:
    """A value as the engine reads it: lists and matrices in brackets."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return json.dumps(np.asarray(value, dtype=float).tolist())
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
