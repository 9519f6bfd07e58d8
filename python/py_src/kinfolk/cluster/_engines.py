"""Engines by their names, and the one that uses processes of this machine."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any

from ._mpi import MpiEngine
from ._ray import RayEngine
from ._team import Engine, ShardError, Team, Worker, too_late


_MAIN_GUARD = "a script must start its work below `if __name__ == '__main__':`, since workers import it"


def named(engine: Any, workers: int | None, retries: int) -> Engine:
    """An engine by its name, or one of the caller's own."""
    if not isinstance(engine, str):
        found: Engine = engine
        return found
    if engine == "local":
        return LocalEngine(workers or 1, retries)
    if engine == "ray":
        return RayEngine(workers, retries)
    if engine == "mpi":
        return MpiEngine()
    raise ValueError(f"engine = {engine!r}: it must be 'local', 'ray', 'mpi' or an engine")


class LocalEngine:
    """This process, or processes of this machine."""

    def __init__(self, workers: int, retries: int) -> None:
        self.workers, self.retries = workers, retries

    def start(self, make: Callable[[], Worker], n_shards: int, timeout: float) -> Team:
        if self.workers <= 1:
            return SameProcess(make())
        return LocalTeam(make, min(self.workers, max(n_shards, 1)), timeout, self.retries)


class SameProcess(Team):
    """The one worker is this process."""

    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def ask(self, question: Any, shards: Sequence[int]) -> Iterator[Any]:
        for shard in shards:
            yield self.worker.answer(shard, question)


class LocalTeam(Team):
    """Processes of this machine, each with a pipe of its own: nothing that a dying process could leave locked."""

    def __init__(self, make: Callable[[], Worker], size: int, timeout: float, retries: int) -> None:
        self.make, self.timeout, self.retries = make, timeout, retries
        self.processes: list[_Process | None] = [None] * size

    def ask(self, question: Any, shards: Sequence[int]) -> Iterator[Any]:
        todo = [deque(shard for shard in shards if shard % len(self.processes) == p) for p in range(self.size)]
        deaths, done, given = dict.fromkeys(shards, 0), dict[int, Any](), 0
        for p, own in enumerate(todo):
            if own:
                self._give(p, question, own)
        while given < len(shards):
            busy = {p: process for p, process in enumerate(self.processes) if process is not None and todo[p]}
            first = min(process.deadline for process in busy.values())
            wait([process.pipe for process in busy.values()], max(0.0, first - time.monotonic()))
            for p, process in busy.items():
                shard = todo[p][0]
                try:
                    answer = process.answer(shard)
                except (EOFError, OSError):
                    deaths[shard] += 1
                    if deaths[shard] > self.retries:
                        why = f"shard {shard}: workers died {deaths[shard]} times; is there enough memory?"
                        why += f" If they never began: {_MAIN_GUARD}"
                        raise ShardError(why, shard) from None
                    self._give(p, question, todo[p], again=True)
                    continue
                if answer is None:
                    continue
                result, error = answer
                if error is not None:
                    raise error
                done[todo[p].popleft()] = result
            while given < len(shards) and shards[given] in done:
                yield done.pop(shards[given])
                given += 1

    @property
    def size(self) -> int:
        return len(self.processes)

    def _give(self, p: int, question: Any, shards: Sequence[int], *, again: bool = False) -> None:
        process = self.processes[p]
        if process is None or again:
            if process is not None:
                process.end()
            process = self.processes[p] = _Process(self.make, self.timeout)
        process.give(question, list(shards))

    def close(self) -> None:
        for process in self.processes:
            if process is not None:
                process.end()
        self.processes = [None] * self.size


class _Process:
    """A process with a worker."""

    def __init__(self, make: Callable[[], Worker], timeout: float) -> None:
        self.timeout = timeout
        context = _context()
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(make, other), daemon=True)
        try:
            self.process.start()
        except BrokenPipeError:
            raise RuntimeError(f"a worker ended before it began; {_MAIN_GUARD}") from None
        other.close()
        self.deadline = time.monotonic() + timeout

    def give(self, question: Any, shards: list[int]) -> None:
        """Asks a question about some shards, whose answers come in their order."""
        self.deadline = time.monotonic() + self.timeout
        try:
            self.pipe.send((question, shards))
        except OSError:
            pass  # it died: its answer says so

    def answer(self, shard: int) -> tuple[Any, Exception | None] | None:
        """The next answer or error; None if it is still at work."""
        if self.pipe.poll():
            found: tuple[Any, Exception | None] = self.pipe.recv()
            self.deadline = time.monotonic() + self.timeout
            return found
        if time.monotonic() > self.deadline:
            raise too_late(shard, self.timeout)
        return None

    def end(self) -> None:
        self.pipe.close()
        self.process.kill()
        self.process.join()


def _serve(make: Callable[[], Worker], pipe: Any) -> None:
    """What a process does until nobody listens."""
    try:
        worker = make()
        while True:
            question, shards = pipe.recv()
            for shard in shards:
                answer: tuple[Any, Exception | None]
                try:
                    answer = (worker.answer(shard, question), None)
                except Exception as error:  # it is raised where the answer is asked for
                    answer = (None, error)
                pipe.send(answer)
    except (EOFError, OSError):
        pass


def _context() -> Any:
    """How processes start. Never as a fork of this one, whose threads they would lack; where there can be a server that
    has imported the package and does nothing else, as forks of that."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        return multiprocessing.get_context("spawn")
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["kinfolk.cluster"])
    return context
