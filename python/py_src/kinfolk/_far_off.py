"""Warns about new rows that are far from the training rows."""

from __future__ import annotations

import warnings
from typing import Any

from . import _recipe


class FarOffWarning(UserWarning):
    """Some values are outside the range of the training rows by more than its width: predictions there are
    extrapolations."""


def warn(estimator: Any, native: Any) -> None:
    """Once for each call; `native` are the features as the engine reads them."""
    text = estimator.model_.far_off(native, _names(estimator))
    if text is not None:
        warnings.warn(text, FarOffWarning, stacklevel=4)


def _names(estimator: Any) -> list[str] | None:
    """Names of the features, if they have any."""
    recipe = getattr(estimator, "_recipe", None)
    if recipe is not None:
        return _recipe.feature_names(recipe)
    names = getattr(estimator, "feature_names_in_", None)
    if names is None:
        return None
    column = getattr(estimator, "task_column", None)
    position = column if isinstance(column, int) else None
    return [str(name) for at, name in enumerate(names) if name != column and at != position]
