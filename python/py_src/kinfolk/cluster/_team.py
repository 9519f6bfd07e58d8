"""Who answers for the shards: what the driver needs of this process, of other processes, of Ray and of MPI."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol


class ShardError(ValueError):
    """A shard that cannot be read, or a worker that does not answer. `shard` is its number."""

    def __init__(self, message: str, shard: int) -> None:
        super().__init__(message)
        self.shard = shard

    def __reduce__(self) -> Any:
        return ShardError, (str(self), self.shard)


class Worker(Protocol):
    """What runs in each process: it answers questions about any shard, and keeps what it read as long as it lives."""

    def answer(self, shard: int, question: Any) -> Any:
        """The answer of a shard."""


class Team(ABC):
    """Workers for the length of a fit. Each shard has its worker; a worker that was lost is replaced by one that reads
    its shards again."""

    @abstractmethod
    def ask(self, question: Any, shards: Sequence[int]) -> Iterator[Any]:
        """The answers of some shards, in their order."""

    def is_driver(self) -> bool:
        """Whether this process drives the fit. Another one may only answer."""
        return True

    def shared(self, fitted: Any) -> Any:
        """The result of the driver, in this process."""
        return fitted

    def failed(self, error: BaseException) -> None:  # noqa: B027
        """Hears in the driver why there is no result."""

    def close(self) -> None:  # noqa: B027
        """Ends the workers."""


class Engine(Protocol):
    """Starts workers somewhere."""

    def start(self, make: Callable[[], Worker], n_shards: int, timeout: float) -> Team:
        """Workers made by `make`, which can be pickled, for this number of shards. `timeout` is the number of seconds
        that the answer of one shard may take."""


def too_late(shard: int, timeout: float) -> ShardError:
    return ShardError(f"shard {shard}: no answer within {timeout:g} seconds", shard)
