"""The compiled part: arrays in, certified models out."""

from collections.abc import Callable
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "VERSION",
    "Model",
    "Observations",
    "cross_validate",
    "describe",
    "fit_path",
    "folds",
    "is_classification",
    "methods",
    "strengths",
]

VERSION: str

_Features = NDArray[np.float32] | NDArray[np.float64] | tuple[NDArray[np.uintp], NDArray[np.uint32], NDArray[Any], int]
_Names = list[int] | list[str]

@final
class Observations:
    @staticmethod
    def triples(
        n_inputs: int, names: _Names, input: NDArray[np.uint32], task: NDArray[np.uint32], label: NDArray[np.float64]
    ) -> Observations: ...
    @staticmethod
    def classes(names: _Names, class_: NDArray[np.uint32]) -> Observations: ...
    @staticmethod
    def table(names: _Names, label: NDArray[np.float64]) -> Observations: ...
    def weighted(self, weight: NDArray[np.float64]) -> Observations: ...
    def balanced(self) -> Observations: ...
    def __len__(self) -> int: ...

@final
class Model:
    @property
    def theta(self) -> NDArray[np.float64]: ...
    @property
    def correlation(self) -> NDArray[np.float64]: ...
    @property
    def alpha(self) -> NDArray[np.float64] | None: ...
    @property
    def weights(self) -> NDArray[np.float64] | None: ...
    @property
    def scaling(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None: ...
    @property
    def tasks(self) -> _Names: ...
    @property
    def about(self) -> str: ...
    @property
    def spec(self) -> str: ...
    @property
    def schema(self) -> str: ...
    @property
    def claim(self) -> str | None: ...
    @property
    def attachments(self) -> dict[str, str]: ...
    def predict_all(self, x: _Features) -> NDArray[np.float64]: ...
    def predict(self, x: _Features, task: NDArray[np.uint32]) -> NDArray[np.float64]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(bytes: bytes) -> Model: ...
    @staticmethod
    def load(path: str) -> Model: ...
    def save(
        self,
        path: str,
        *,
        python: str,
        balanced: bool,
        features: list[str] | None = None,
        task_column: str | None = None,
        classes: list[str] | None = None,
    ) -> None: ...

def fit_path(
    x: _Features,
    observations: Observations,
    spec: str,
    c_values: list[float | None],
    start: NDArray[np.float64] | None = None,
    listener: Callable[..., None] | None = None,
    tick: Callable[[], None] | None = None,
) -> list[tuple[Model, dict[str, Any], BaseException | None]]: ...
def strengths(
    x: _Features, observations: Observations, spec: str, strengths: list[float] | None = None
) -> list[tuple[float, float]]: ...
def folds(observations: Observations, n_folds: int, seed: int) -> list[int]: ...
def cross_validate(
    x: _Features,
    observations: Observations,
    spec: str,
    methods: list[str],
    *,
    grid: list[str] = ...,
    c_values: list[float] | None = None,
    folds: int = 5,
    repeats: int = 1,
    metric: str | None = None,
    tick: Callable[[], None] | None = None,
) -> tuple[list[dict[str, Any]], int]: ...
def methods() -> list[dict[str, Any]]: ...
def describe() -> dict[str, Any]: ...
def is_classification(loss: str) -> bool: ...
