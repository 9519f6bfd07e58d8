"""Who does the work: this process, other processes of this machine, Ray, or MPI. All of them answer the same question:
the results of a function for a list of items, in their order."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import time
from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
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
    """Processes of this machine. A process that dies is replaced, and the items without a result are done again."""

    def __init__(self, workers: int, retries: int) -> None:
        self.workers, self.retries = workers, retries

    def run(self, work: Work, items: list[Any], timeout: float) -> Iterator[Any]:
        if self.workers <= 1:
            yield from map(work, items)
            return
        done: dict[int, Any] = {}
        given, deaths = 0, 0
        while given < len(items):
            try:
                todo = [at for at in range(given, len(items)) if at not in done]
                for at, result in self._attempt(work, items, todo, timeout):
                    done[at] = result
                    while given in done:
                        yield done.pop(given)
                        given += 1
            except BrokenProcessPool:
                deaths += 1
                if deaths > self.retries * len(items):
                    why = f"shard {given}: workers died {deaths} times; is there enough memory?"
                    raise ShardError(why, given) from None

    def _attempt(self, work: Work, items: list[Any], todo: list[int], timeout: float) -> Iterator[tuple[int, Any]]:
        pool = concurrent.futures.ProcessPoolExecutor(self.workers, _context())
        try:
            futures = {pool.submit(work, items[at]): at for at in todo}
            # Items wait for their turn: each worker has several.
            turns = -(-len(todo) // self.workers)
            deadline = time.monotonic() + timeout * turns
            waiting = set(futures)
            while waiting:
                left = max(0.0, min(timeout, deadline - time.monotonic()))
                ended, waiting = concurrent.futures.wait(waiting, left, concurrent.futures.FIRST_COMPLETED)
                if not ended:
                    at = min(futures[future] for future in waiting)
                    raise ShardError(f"shard {at}: no answer within {timeout:g} seconds", at)
                for future in sorted(ended, key=lambda future: futures[future]):
                    yield futures[future], future.result()
        finally:
            processes = list((pool._processes or {}).values())
            pool.shutdown(wait=False, cancel_futures=True)
            for process in processes:
                process.terminate()


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
        try:
            for at, reference in enumerate(references):
                try:
                    yield ray.get(reference, timeout=timeout)
                except ray.exceptions.GetTimeoutError:
                    raise ShardError(f"shard {at}: no answer within {timeout:g} seconds", at) from None
                except ray.exceptions.RayTaskError as error:
                    raise error.cause if isinstance(error.cause, Exception) else error from None
                except ray.exceptions.RayError as error:
                    raise ShardError(f"shard {at}: {error}", at) from None
        finally:
            for reference in references:
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
                request = comm.irecv(source=other)
                deadline = time.monotonic() + timeout * -(-len(items) // size)
                message: Any = None
                ready = False
                while not ready:
                    ready, message = request.test()
                    if not ready and time.monotonic() > deadline:
                        print(f"kinfolk: rank {other} gave no answer within {timeout:g} seconds a shard", flush=True)
                        comm.Abort(1)
                    time.sleep(0.0 if ready else 0.001)
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
