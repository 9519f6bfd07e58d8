"""What the engine has: losses, kernels, solvers and so on, by name."""

from __future__ import annotations

from typing import Any

from . import _native

ENGINE: dict[str, Any] = _native.describe()


def numeric_loss(text: str) -> str:
    """The name of a loss, if it is for numbers."""
    if _native.is_classification(text):
        known = ", ".join(loss["text"].partition(":")[0] for loss in ENGINE["losses"] if not loss["classification"])
        raise ValueError(f"loss = {text!r}: it is for classes; the losses for numbers are {known}")
    return text
