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
    "describe_recipe",
    "encode_frame",
    "fit_path",
    "is_classification",
    "methods",
    "report",
    "resolve_weights",
    "splits",
]

VERSION: str

_Features = NDArray[np.float32] | NDArray[np.float64] | tuple[NDArray[np.uintp], NDArray[np.uint32], NDArray[Any], int]
_Names = list[int] | list[str]
_FoldKeys = tuple[_Names | None, NDArray[np.float64] | None]

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
    def with_offsets(self, offset: NDArray[np.float64]) -> Observations: ...
    def select(self, rows: NDArray[np.uint32]) -> Observations: ...
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
    def linear(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None: ...
    @property
    def target_scaling(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None: ...
    @property
    def tasks(self) -> _Names: ...
    @property
    def atoms(self) -> list[tuple[str, float, float, float]]: ...
    @property
    def about(self) -> str: ...
    @property
    def spec(self) -> str: ...
    @property
    def schema(self) -> str: ...
    @property
    def python(self) -> str | None: ...
    @property
    def summary(self) -> dict[str, Any]: ...
    def interval_half_widths(
        self, level: float, held_out: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
    ) -> NDArray[np.float64] | None: ...
    def predict_mean(self, x: _Features) -> NDArray[np.float64]: ...
    def predict_new(self, x: _Features, name: str, more: str | None = None) -> NDArray[np.float64] | None: ...
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
        features: list[str] | None = None,
        task_column: str | None = None,
        classes: list[str] | None = None,
        recipe: str | None = None,
    ) -> None: ...

def fit_path(
    x: _Features,
    observations: Observations,
    spec: str,
    weights: list[str],
    start: NDArray[np.float64] | None = None,
    listener: Callable[..., None] | None = None,
    keys: _FoldKeys | None = None,
) -> list[tuple[Model, BaseException | None]]: ...
def resolve_weights(
    x: _Features, observations: Observations, spec: str, weights: list[str]
) -> list[tuple[float, float]]: ...
def splits(
    observations: Observations, n_folds: int, seed: int, keys: _FoldKeys | None = None
) -> list[tuple[NDArray[np.uint32], NDArray[np.uint32]]]: ...
def cross_validate(
    x: _Features,
    observations: Observations,
    spec: str,
    weights: list[str] | None,
    splits: list[tuple[NDArray[np.uint32], NDArray[np.uint32]]],
    scoring: str | Callable[[int, Model], float],
    search: str | None = None,
    compare: bool = False,
) -> dict[str, Any]: ...
def report(
    model: Model,
    about: tuple[str, str],
    data: list[tuple[str, _Features, Observations]],
    selection: str | None = None,
) -> str: ...
def encode_frame(
    columns: list[tuple[str, Any]], missing: str, recipe: str | None = None
) -> tuple[_Features, str, list[str]]: ...
def describe_recipe(recipe: str) -> tuple[list[str], list[str]]: ...
def methods() -> list[dict[str, Any]]: ...
def describe() -> dict[str, Any]: ...
def is_classification(loss: str) -> bool: ...
