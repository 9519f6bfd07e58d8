"""The method with its parameters, in the form that the engine reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._checks import choice, square_matrix, whole

DEFAULTS = (("output", "power"), ("k", 1), ("theta", None), ("prior", None))


def method_text(estimator: Any, name: str) -> str:
    """The method and its parameters, such as mtl:mu=0.1. Those of fmtl may be parameters of the estimator."""
    text, given = estimator.method, estimator.method_params
    if not isinstance(text, str):
        raise TypeError(f"method = {text!r}: it must be the name of a method; see kinfolk.methods()")
    if not (given is None or isinstance(given, Mapping)):
        raise TypeError(f"method_params = {given!r}: it must be a dictionary")
    method, _, written = text.partition(":")
    parts = [written] if written.strip() else []
    parts += [f"{key}={_text(value)}" for key, value in (given or {}).items()]
    if method == "fmtl" and not parts:
        parts = _regularizer(estimator)
    else:
        _check_unused(estimator, method)
    return f"{method}:{','.join(parts)}" if parts else method


def _check_unused(estimator: Any, method: str) -> None:
    """An error if a parameter of the estimator would have no effect."""
    for other, default in DEFAULTS:
        value = getattr(estimator, other)
        if not (value is default or (np.ndim(value) == 0 and value == default)):
            why = f"it is for the method fmtl, not for {method}"
            if method == "fmtl":
                why = "the parameters of fmtl are given in method"
            raise ValueError(f"{other} = {value!r}: {why}")


def _regularizer(estimator: Any) -> list[str]:
    output = choice("output", estimator.output, ("power", "exp", "cosh", "fixed"))
    k, theta, prior = whole("k", estimator.k, 1), estimator.theta, estimator.prior
    if (theta is not None) != (output == "fixed"):
        raise ValueError("theta and output='fixed' belong together; a matrix to start from is a prior")
    parts = [f"output={output}"]
    if output == "power":
        parts.append(f"k={k}")
    if theta is not None:
        parts.append(f"theta={json.dumps(square_matrix('theta', theta))}")
    if prior is not None:
        if not (output == "exp" or (output == "power" and k == 1)):
            raise ValueError("prior: it is for output='exp', and for output='power' with k=1")
        parts.append(f"prior={json.dumps(square_matrix('prior', prior))}")
    return parts


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple, np.ndarray)):
        return json.dumps(np.asarray(value).tolist())
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
