"""What of scikit-learn has no types, or is not in every version."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.utils import metaestimators

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    _callback: Any = importlib.import_module("sklearn.callback")
except ImportError:  # before 1.9
    _callback = None


class _NoCallbacks:
    """Where scikit-learn has no callbacks."""


Callbacks: Any = _NoCallbacks if _callback is None else _callback.CallbackSupportMixin


def with_callbacks(method: Method) -> Method:
    """Callbacks are told when it ends, however it ends."""
    return method if _callback is None else cast(Method, _callback.with_callbacks(method))


def available_if(check: Callable[[Any], bool]) -> Callable[[Method], Method]:
    """A method that only some objects have."""
    return cast(Callable[[Method], Method], metaestimators.available_if(check))
