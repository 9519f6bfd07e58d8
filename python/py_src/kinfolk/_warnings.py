"""Warnings at the line of the caller: the first one outside of this package and of what calls it on the way."""

from __future__ import annotations

import sys
import warnings

PASSED = ("kinfolk", "sklearn", "joblib")
"""Packages whose lines say nothing to the caller."""


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _package(frame.f_globals) in PASSED:
        frame, level = frame.f_back, level + 1
    warnings.warn(text, category, stacklevel=level)


def _package(names: dict[str, object]) -> str:
    return str(names.get("__name__", "")).partition(".")[0]
