"""Who does the work: this process, other processes of this machine, Ray, or MPI. All of them answer the same question:
the results of a function for a list of items, in their order."""

from __future__ import annotations

import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from typing import Any, Protocol

Work = Callable[[Any], Any]


class ShardError(ValueError):
    """A shard that cannot be read, or a worker that does not answer. `shard` is its number."""

    def __init__(self, message: str, shard: int) -> None:
        super().__init__(message)
        self.shard = shard

    def __reduce__(self) -> Any:
        return ShardError, (str(self), self.shard)


class Engine(Protocol):
    """Runs work somewhere."""

    def run(self, work: Work, items: list[Any], timeout: float) -> Iterator[Any]:
        """The results, in the order of the items. `timeout` is the number of seconds that the work on one item may
        take."""


class LocalEngine:
    """Processes of this machine, each with a pipe of its own: nothing that a dying process could leave locked. One that
    dies is replaced, and its item is done again."""

    def __init__(self, workers: int, retries: int) -> None:
        self.workers, self.retries = workers, retries

    def run(self, work: Work, items: list[Any], timeout: float) -> Iterator[Any]:
        if self.workers <= 1:
            yield from map(work, items)
            return
        todo, done = deque(range(len(items))), dict[int, Any]()
        deaths, given = [0] * len(items), 0
        workers: list[_Worker] = []
        try:
            while given < len(items):
                while todo and len(workers) < self.workers:
                    workers.append(_Worker(work, items, todo.popleft(), timeout))
                first = min(worker.deadline for worker in workers)
                wait([worker.pipe for worker in workers], max(0.0, first - time.monotonic()))
                for worker in list(workers):
                    at = worker.at
                    try:
                        answer = worker.answer()
                    except (EOFError, OSError):
                        deaths[at] += 1
                        if deaths[at] > self.retries:
                            why = f"shard {at}: workers died {deaths[at]} times; is there enough memory?"
                            raise ShardError(why, at) from None
                        workers.remove(worker.ended())
                        todo.appendleft(at)
                        continue
                    if answer is None:
                        continue
                    result, error = answer
                    if error is not None:
                        raise error
                    done[at] = result
                    if todo:
                        worker.give(items, todo.popleft(), timeout)
                    else:
                        workers.remove(worker.ended())
                while given in done:
                    yield done.pop(given)
                    given += 1
        finally:
            for worker in workers:
                worker.ended()


class _Worker:
    """A process that works on one item at a time."""

    def __init__(self, work: Work, items: list[Any], at: int, timeout: float) -> None:
        context = _context()
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=_serve, args=(work, other), daemon=True)
        self.process.start()
        other.close()
        self.give(items, at, timeout)

    def give(self, items: list[Any], at: int, timeout: float) -> None:
        self.at, self.timeout, self.deadline = at, timeout, time.monotonic() + timeout
        try:
            self.pipe.send(items[at])
        except OSError:
            pass  # it died: its answer says so

    def answer(self) -> tuple[Any, Exception | None] | None:
        """Result and error; None if it is still at work."""
        if self.pipe.poll():
            found: tuple[Any, Exception | None] = self.pipe.recv()
            return found
        if time.monotonic() > self.deadline:
            raise ShardError(f"shard {self.at}: no answer within {self.timeout:g} seconds", self.at)
        return None

    def ended(self) -> _Worker:
        self.pipe.close()
        self.process.kill()
        self.process.join()
        return self


def _serve(work: Work, pipe: Any) -> None:
    """What a process does until nobody listens."""
    try:
        while True:
            item = pipe.recv()
            answer: tuple[Any, Exception | None]
            try:
                answer = (work(item), None)
            except Exception as error:  # it is raised where the result is asked for
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


class RayEngine:
    """Tasks of Ray, on the cluster that `ray.init` connected to. Ray runs the tasks of lost workers again."""

    def __init__(self, retries: int) -> None:
        self.retries = retries

    def run(self, work: Work, items: list[Any], timeout: float) -> Iterator[Any]:
        import ray

        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        task = ray.remote(work).options(max_retries=self.retries, num_cpus=1)
        references = [task.remote(item) for item in items]
        waiting = dict(enumerate(references))
        try:
            for at, reference in enumerate(references):
                try:
                    result = ray.get(reference, timeout=timeout)
                    del waiting[at]  # tasks that have ended must not be cancelled
                    yield result
                except ray.exceptions.GetTimeoutError:
                    raise ShardError(f"shard {at}: no answer within {timeout:g} seconds", at) from None
                except ray.exceptions.RayTaskError as error:
                    raise error.cause if isinstance(error.cause, Exception) else error from None
                except ray.exceptions.RayError as error:
                    raise ShardError(f"shard {at}: {error}", at) from None
        finally:
            ended, _ = ray.wait(list(waiting.values()), num_returns=len(waiting), timeout=0) if waiting else ([], [])
            for reference in waiting.values():
                if reference not in ended:
                    ray.cancel(reference, force=True)


class MpiEngine:
    """Ranks of an MPI program, each of which calls `fit`. Items are dealt to the ranks, and all get all results. If a
    rank dies, MPI ends the program: start it again with the same `checkpoint`."""

    def __init__(self) -> None:
        from mpi4py import MPI

        self.comm = MPI.COMM_WORLD

    def run(self, work: Work, items: list[Any], timeout: float) -> Iterator[Any]:
        comm, rank, size = self.comm, self.comm.Get_rank(), self.comm.Get_size()
        own: dict[int, Any] = {}
        error: Exception | None = None
        for at in range(rank, len(items), size):
            try:
                own[at] = work(items[at])
            except Exception as raised:  # every rank must learn of it
                error = raised
                break
        if rank:
            comm.send((own, error), dest=0)
            error, results = comm.bcast(None, root=0)
        else:
            found, errors = [own], [error]
            for other in range(1, size):
                deadline = time.monotonic() + timeout * -(-len(items) // size)
                # Not irecv, whose buffer has a fixed size.
                while (arrived := comm.improbe(source=other)) is None:
                    if time.monotonic() > deadline:
                        print(f"kinfolk: rank {other} gave no answer within {timeout:g} seconds a shard", flush=True)
                        comm.Abort(1)
                    time.sleep(0.001)
                message = arrived.recv()
                found.append(message[0])
                errors.append(message[1])
            known = [one for one in errors if one is not None]
            error = min(known, key=lambda one: getattr(one, "shard", 0)) if known else None
            together = {at: result for part in found for at, result in part.items()}
            results = None if error else [together[at] for at in range(len(items))]
            comm.bcast((error, results), root=0)
        if error is not None:
            raise error
        yield from results


def named(engine: Any, workers: int, retries: int) -> Engine:
    """An engine by its name, or one of the caller's own."""
    if not isinstance(engine, str):
        found: Engine = engine
        return found
    if engine == "local":
        return LocalEngine(workers, retries)
    if engine == "ray":
        return RayEngine(retries)
    if engine == "mpi":
        return MpiEngine()
    raise ValueError(f"engine = {engine!r}: it must be 'local', 'ray', 'mpi' or an engine")
