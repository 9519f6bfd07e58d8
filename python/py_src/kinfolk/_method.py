"""Methods and regularisers in the form that the engine reads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from ._checks import choice, square_matrix, whole


def method_name(estimator: Any, name: str) -> str:
    """The name of the method; its parameters may follow a colon."""
    return _parsed(estimator)[0]


def method_params(estimator: Any, name: str) -> list[tuple[str, str]]:
    """Parameters of the method, as text."""
    method, params = _parsed(estimator)
    given = estimator.method_params
    if given is not None:
        if not isinstance(given, Mapping):
            raise TypeError(f"method_params = {given!r}: it must be a dictionary")
        params |= {str(key): _text(value) for key, value in given.items()}
    if method == "fmtl" and params:
        raise ValueError("method fmtl: its parameters are those of the estimator, output and k")
    return list(params.items())


def regularizer(estimator: Any, name: str) -> dict[str, Any] | None:
    """The regulariser of the task matrix; None where the method has its own."""
    method = _parsed(estimator)[0]
    if method == "fmtl":
        return _regularizer(estimator)
    for other, default in (("output", "power"), ("k", 1), ("theta", None), ("prior", None)):
        value = getattr(estimator, other)
        if not (value is default or (np.ndim(value) == 0 and value == default)):
            raise ValueError(f"{other} = {value!r}: it is for the method fmtl, not for {method}")
    return None


def _regularizer(estimator: Any) -> dict[str, Any]:
    output = choice("output", estimator.output, ("power", "exp", "cosh", "fixed"))
    k, theta, prior = whole("k", estimator.k, 1), estimator.theta, estimator.prior
    if (theta is not None) != (output == "fixed"):
        raise ValueError("theta and output='fixed' belong together; a matrix to start from is a prior")
    if output == "fixed":
        return {"kind": "fixed", "theta": square_matrix("theta", theta)}
    if prior is None:
        return {"kind": "power", "k": k} if output == "power" else {"kind": output}
    if output == "exp":
        return {"kind": "exp", "prior": square_matrix("prior", prior)}
    if output == "power" and k == 1:
        return {"kind": "frobenius", "prior": square_matrix("prior", prior)}
    raise ValueError("prior: it is for output='exp', and for output='power' with k=1")


def _parsed(estimator: Any) -> tuple[str, dict[str, str]]:
    """Name and parameters of a text such as mtl:mu=0.1."""
    if not isinstance(estimator.method, str):
        raise TypeError(f"method = {estimator.method!r}: it must be the name of a method; see kinfolk.methods()")
    name, _, text = estimator.method.partition(":")
    params = {}
    for part in re.split("[;,]", text):
        key, equals, value = part.partition("=")
        if equals:
            params[key.strip()] = value.strip()
        elif part.strip():
            raise ValueError(f"method {name}: {part!r} is not NAME=VALUE")
    return name, params


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)
