"""Arrays of other libraries (torch, cupy, jax, whatever speaks DLPack), which may lie on a device.

Fits and predictions take them from where they are; predictions go back to the library and the device of X.
"""

from __future__ import annotations

import contextlib
import sys
from typing import Any

import numpy as np

_CPU = 1
"""The number of main memory in DLPack."""


def is_foreign(x: Any) -> bool:
    """Whether it is an array of another library than numpy. Columns of data frames speak DLPack too."""
    if isinstance(x, (np.ndarray, np.generic)) or not hasattr(x, "__dlpack_device__"):
        return False
    return hasattr(x, "shape") and hasattr(x, "dtype") and not hasattr(x, "__arrow_c_stream__")


def on_host(x: Any) -> Any:
    """An array of another library as one of numpy, without a copy where it lies in main memory; others as they are."""
    if not is_foreign(x):
        return x
    if hasattr(x, "detach"):  # torch: no gradients
        x = x.detach()
    if str(x.dtype).endswith("bfloat16"):  # which numpy does not have
        x = x.float() if hasattr(x, "float") else x.astype(np.float32)
    if int(x.__dlpack_device__()[0]) != _CPU:
        x = _copied(x)
    return np.asarray(x)


def _copied(x: Any) -> Any:
    """A copy in main memory, by the library's own method or by DLPack."""
    for method in ("cpu", "get"):  # torch, cupy
        if callable(getattr(x, method, None)):
            return getattr(x, method)()
    with contextlib.suppress(TypeError, BufferError):
        return np.from_dlpack(x, device="cpu", copy=True)
    return x


def like(x: Any, found: Any) -> Any:
    """Numbers as arrays of the library and on the device of x. Words stay as they are."""
    if isinstance(found, (list, tuple)):
        return type(found)(like(x, part) for part in found)
    if not is_foreign(x) or not isinstance(found, np.ndarray) or found.dtype.kind not in "biuf":
        return found
    named = getattr(x, "__array_namespace__", None)
    library: Any = named() if named is not None else sys.modules[type(x).__module__.partition(".")[0]]
    try:
        return library.asarray(found, device=x.device)
    except TypeError:  # cupy
        device = x.device
        with device if hasattr(device, "__enter__") else contextlib.nullcontext():
            return library.asarray(found)
