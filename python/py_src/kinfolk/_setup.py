"""From an estimator's parameters to what the engine is asked for. All is checked here or in the engine, and named when it is wrong."""

from __future__ import annotations

import json
import math
import multiprocessing
import numbers
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

UNITS = {"": 1, "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12}
UNITS |= {"kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
WITH_GAMMA = ("rbf", "polynomial", "laplacian")
KERNELS = ("linear", *WITH_GAMMA, "cosine", "precomputed")
SCALES = ("none", "standard", "unit")


def number(name: str, value: Any, *, zero: bool = False) -> float:
    """A positive finite number, or zero where that is allowed."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} = {value!r}: it must be a number")
    size = float(value)
    if not (math.isfinite(size) and (size > 0 or (zero and size == 0))):
        raise ValueError(f"{name} = {size!r}: it must be finite and {'not negative' if zero else 'positive'}")
    return size


def whole(name: str, value: Any, least: int) -> int:
    """A whole number that is not too small."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name} = {value!r}: it must be a whole number")
    if value < least:
        raise ValueError(f"{name} = {value!r}: it must be at least {least}")
    return int(value)


def choice(name: str, value: Any, values: Sequence[str]) -> str:
    """One of some words."""
    if not isinstance(value, str):
        raise TypeError(f"{name} = {value!r}: it must be one of {', '.join(values)}")
    if value not in values:
        raise ValueError(f"{name} = {value!r}: it must be one of {', '.join(values)}")
    return value


def memory(value: Any) -> int:
    """Bytes: a number, or text such as 4GB."""
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([0-9.]+)\s*([a-z]*)\s*", value.lower())
        try:
            size = float(found[1]) * UNITS[found[2]] if found else math.nan
        except (KeyError, ValueError):
            size = math.nan
        if not 1 <= size <= 1e18:
            raise ValueError(f"memory = {value!r}: it must be a number of bytes, or text such as '4GB'")
        return int(size)
    return whole("memory", value, 1)


def cores() -> int:
    return os.cpu_count() or 1


def threads(n_jobs: Any) -> int:
    """As many threads as cores if nobody says, and one in the worker processes of others, who have done that already."""
    if n_jobs is None:
        # Not parent_process(), which workers of joblib do not have.
        return 1 if multiprocessing.current_process().name != "MainProcess" else 0
    jobs = whole("n_jobs", n_jobs, -(2**31))
    if jobs == 0:
        raise ValueError("n_jobs = 0: it must be a number of threads, or -1 for one for each core")
    if jobs > 0:
        return jobs
    return max(1, cores() + 1 + jobs) if jobs < -1 else 0


def seed(random_state: Any) -> int:
    """None is zero: two fits of the same data are the same."""
    if random_state is None:
        return 0
    if isinstance(random_state, numbers.Integral):
        check_random_state(int(random_state))
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def kernel(estimator: Any) -> dict[str, Any]:
    """The kernel as the engine writes it."""
    name = choice("kernel", "polynomial" if estimator.kernel == "poly" else estimator.kernel, KERNELS)
    said: dict[str, Any] = {"kind": name}
    if name in WITH_GAMMA:
        gamma = estimator.gamma
        said["gamma"] = choice("gamma", gamma, ("scale", "auto")) if isinstance(gamma, str) else number("gamma", gamma)
    if name == "polynomial":
        said["degree"] = whole("degree", estimator.degree, 1)
        said["coef0"] = number("coef0", estimator.coef0, zero=True)
    return said


def matrix(name: str, value: Any) -> list[list[float]]:
    """A square matrix of numbers."""
    table = np.asarray(value, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"{name}: a task matrix has as many columns as rows, not the shape {table.shape}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"{name}: entry ({row}, {column}) is {table[row, column]}, not a finite number")
    rows: list[list[float]] = table.tolist()
    return rows


def method(estimator: Any) -> dict[str, Any]:
    """Method and parameters, or, for ours, the regulariser."""
    name, given = estimator.method, estimator.method_params
    if not isinstance(name, str):
        raise TypeError(f"method = {name!r}: it must be the name of a method; see kinfolk.methods()")
    name, _, text = name.partition(":")
    params = dict(_pair(name, part) for part in re.split("[;,]", text) if part.strip())
    if given is not None:
        if not isinstance(given, Mapping):
            raise TypeError(f"method_params = {given!r}: it must be a dictionary")
        params |= {str(key): _text(value) for key, value in given.items()}
    if name != "fmtl":
        for other, plain in (("output", "power"), ("k", 1), ("theta", None), ("prior", None)):
            value = getattr(estimator, other)
            if not (value is plain or (np.ndim(value) == 0 and value == plain)):
                raise ValueError(f"{other} = {value!r}: it is for the method fmtl, not for {name}")
        return {"method": name, "params": list(params.items()), "output": None}
    if params:
        raise ValueError("method fmtl: its parameters are those of the estimator, output and k")
    return {"method": name, "params": [], "output": _regulariser(estimator)}


def _pair(name: str, part: str) -> tuple[str, str]:
    key, equals, value = part.partition("=")
    if not equals:
        raise ValueError(f"method {name}: {part!r} is not NAME=VALUE")
    return key.strip(), value.strip()


def _regulariser(estimator: Any) -> dict[str, Any]:
    """Of the task matrix, as the engine writes it."""
    output, k = choice("output", estimator.output, ("power", "exp", "cosh", "fixed")), whole("k", estimator.k, 1)
    theta, prior = estimator.theta, estimator.prior
    if (theta is not None) != (output == "fixed"):
        raise ValueError("theta and output='fixed' belong together; a matrix to start from is a prior")
    if output == "fixed":
        return {"kind": "fixed", "theta": matrix("theta", theta)}
    if prior is None:
        return {"kind": "power", "k": k} if output == "power" else {"kind": output}
    if output == "exp":
        return {"kind": "exp", "prior": matrix("prior", prior)}
    if output == "power" and k == 1:
        return {"kind": "frobenius", "prior": matrix("prior", prior)}
    raise ValueError("prior: it is for output='exp', and for output='power' with k=1")


def _text(value: Any) -> str:
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def setup(estimator: Any, loss: Sequence[str], lam: float | None = None) -> str:
    """All of it, as JSON; with another lambda than the estimator's if there is one."""
    lam = estimator.lam if lam is None else lam
    said = {
        "loss": list(loss),
        **method(estimator),
        "lambda": None if lam is None else number("lam", lam),
        "kernel": kernel(estimator),
        "bias": number("bias", estimator.bias, zero=True),
        "scale": choice("scale", "none" if estimator.scale is None else estimator.scale, SCALES),
        "solver": estimator.solver,
        "tol": number("tol", estimator.tol),
        "max_passes": whole("max_passes", estimator.max_passes, 1),
        "max_seconds": None if estimator.max_seconds is None else number("max_seconds", estimator.max_seconds),
        "memory": memory(estimator.memory),
        "threads": threads(estimator.n_jobs),
        "seed": seed(estimator.random_state),
    }
    return json.dumps(said)


def weight(value: Any) -> float | None:
    """C, or None for the one that suits the data."""
    if isinstance(value, str):
        choice("C", value, ("auto",))
        return None
    return number("C", value)
