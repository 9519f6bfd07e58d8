"""Learn many related tasks together, and the relations between them, with a certificate of optimality.

>>> import numpy as np
>>> from kinfolk import MultiTaskRegressor
>>> rng = np.random.default_rng(0)
>>> X, task = rng.normal(size=(40, 3)), np.repeat(["a", "b"], 20)
>>> y = X @ [1.0, -1.0, 0.5]
>>> model = MultiTaskRegressor().fit(X, y, task=task)
>>> model.status_
'certified'
"""

from __future__ import annotations

from typing import Any

from . import _native
from ._atoms import Atom
from ._classifier import MultiTaskClassifier
from ._cv import MultiTaskCV
from ._far_off import FarOffWarning
from ._files import load
from ._output_kernel import OutputKernelClassifier, OutputKernelRegressor
from ._regressor import MultiTaskRegressor
from ._skl2onnx import register_skl2onnx
from ._statistics import Statistics

__version__: str = _native.VERSION

__all__ = [
    "Atom",
    "FarOffWarning",
    "MultiTaskCV",
    "MultiTaskClassifier",
    "MultiTaskRegressor",
    "OutputKernelClassifier",
    "OutputKernelRegressor",
    "Statistics",
    "load",
    "methods",
    "register_skl2onnx",
]


def methods() -> list[dict[str, Any]]:
    """All values of `method=`: name, title, what is learned, reference, problem, whether it is convex, parameters."""
    known: list[dict[str, Any]] = _native.methods()
    return known
