"""Ranks of an MPI program, each of which calls `fit`. The first one drives, and all of them answer for their shards. If
a rank dies, MPI ends the program: start it again with the same `checkpoint`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ._team import Team, Worker


class MpiEngine:
    """The ranks of this program."""

    def start(self, make: Callable[[], Worker], n_shards: int, timeout: float) -> Team:
        from mpi4py import MPI

        return MpiTeam(MPI.COMM_WORLD, make(), timeout)


class MpiTeam(Team):
    """Rank r answers for the shards r, r + size, ..."""

    def __init__(self, comm: Any, worker: Worker, timeout: float) -> None:
        self.comm, self.worker, self.timeout = comm, worker, timeout
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.asking, self.ended = False, False

    def is_driver(self) -> bool:
        return bool(self.rank == 0)

    def ask(self, question: Any, shards: Sequence[int]) -> Iterator[Any]:
        self.asking = True
        self.comm.bcast((question, list(shards)), root=0)
        found = [self._own(question, shards)]
        for other in range(1, self.size):
            deadline = time.monotonic() + self.timeout * max(1, -(-len(shards) // self.size))
            # Not irecv, whose buffer has a fixed size.
            while (arrived := self.comm.improbe(source=other)) is None:
                if time.monotonic() > deadline:
                    print(f"kinfolk: rank {other} gave no answer within {self.timeout:g} seconds a shard", flush=True)
                    self.comm.Abort(1)
                time.sleep(0.0005)
            found.append(arrived.recv())
        self.asking = False
        errors = [error for _, error in found if error is not None]
        if errors:
            raise min(errors, key=lambda error: getattr(error, "shard", 0))
        together = {shard: answer for answers, _ in found for shard, answer in answers.items()}
        for shard in shards:
            yield together[shard]

    def _own(self, question: Any, shards: Sequence[int]) -> tuple[dict[int, Any], Exception | None]:
        """The answers of this rank."""
        own: dict[int, Any] = {}
        try:
            for shard in shards:
                if shard % self.size == self.rank:
                    own[shard] = self.worker.answer(shard, question)
        except Exception as error:  # the driver raises it
            return own, error
        return own, None

    def shared(self, fitted: Any) -> Any:
        """The result of the driver, on every rank. The others answer until it is there."""
        if self.rank == 0:
            self._end(fitted, None)
            return fitted
        while True:
            asked = self.comm.bcast(None, root=0)
            if isinstance(asked, _End):
                if asked.error is not None:
                    raise asked.error
                return asked.fitted
            self.comm.send(self._own(*asked), dest=0)

    def failed(self, error: BaseException) -> None:
        """Tells the others why there is no model."""
        if self.asking:  # they may be sending, and nobody listens
            print(f"kinfolk: {type(error).__name__}: {error}", flush=True)
            self.comm.Abort(1)
        self._end(None, error)

    def _end(self, fitted: Any, error: BaseException | None) -> None:
        if self.rank == 0 and not self.ended:
            self.ended = True
            self.comm.bcast(_End(fitted, error), root=0)


class _End:
    """The last message to all ranks."""

    def __init__(self, fitted: Any, error: BaseException | None) -> None:
        self.fitted, self.error = fitted, error
