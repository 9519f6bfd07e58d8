"""Checks of parameters: each returns the value in its plain form, or raises an error with name, value and cure."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import cpu_count
from joblib.parallel import get_active_backend
from sklearn.utils import check_random_state

from . import _tables


def number(name: str, value: Any, *, zero: bool = False) -> float:
    """A positive finite number, or zero where that is allowed."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} = {value!r}: it must be a number")
    size = float(value)
    if not (math.isfinite(size) and (size > 0 or (zero and size == 0))):
        raise ValueError(f"{name} = {size!r}: it must be finite and {'not negative' if zero else 'positive'}")
    return size


def share(name: str, value: Any) -> float:
    """A number between 0 and 1."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} = {value!r}: it must be a number between 0 and 1")
    if not 0 < float(value) < 1:
        raise ValueError(f"{name} = {value!r}: it must be between 0 and 1")
    return float(value)


def whole(name: str, value: Any, least: int) -> int:
    """A whole number of at least `least`."""
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


def cores() -> int:
    count: int = cpu_count()  # what this process may use
    return count


def threads(n_jobs: Any) -> int:
    """The number of threads by the convention of scikit-learn: None is 1, or what `joblib.parallel_config` says; -1 is
    one per core, -2 all cores but one. Never more than there are cores, where threads would only wait."""
    if n_jobs is None:
        _, configured = get_active_backend()
        n_jobs = 1 if configured is None else configured
    jobs = whole("n_jobs", n_jobs, -(2**31))
    if jobs == 0:
        raise ValueError("n_jobs = 0: it must be a number of threads, or -1 for one per core")
    return min(jobs, cores()) if jobs > 0 else max(1, cores() + 1 + jobs)


def seed(random_state: Any) -> int:
    """A seed. None is zero, so that fits are reproducible."""
    if random_state is None:
        return 0
    try:
        if isinstance(random_state, numbers.Integral):
            check_random_state(int(random_state))
            return int(random_state)
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        wanted = "a whole number from 0 to 2^32 - 1, a RandomState or None"
        raise ValueError(f"random_state = {random_state!r}: it must be {wanted}") from None


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name} = {value!r}: it must be True or False")
    return bool(value)


def weight(value: Any, name: str = "C") -> float | str:
    """C as the engine reads it: a number, "auto", or "strength:NUMBER"."""
    if not isinstance(value, str):
        return number(name, value)
    if not value.startswith("strength:"):
        choice(name, value, ("auto", "strength:NUMBER"))
    return value


def square_matrix(name: str, value: Any) -> list[list[float]]:
    """A square matrix of finite numbers."""
    table = _tables.numbers(name, value)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise ValueError(f"{name}: a task matrix has as many columns as rows, not the shape {table.shape}")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(f"{name}: entry ({row}, {column}) is {table[row, column]}, not a finite number")
    rows: list[list[float]] = table.tolist()
    return rows
