"""Warns about new rows that are far from the training rows."""

from __future__ import annotations

from typing import Any

from . import _names, _warnings


class FarOffWarning(UserWarning):
    """Some values are outside the range of the training rows by more than its width: predictions there are
    extrapolations."""


def warn(estimator: Any, native: Any) -> None:
    """Once for each call; `native` are the features as the engine reads them."""
    text = estimator.model_.far_off(native, _names.of_features(estimator))
    if text is not None:
        _warnings.warn(text, FarOffWarning)
