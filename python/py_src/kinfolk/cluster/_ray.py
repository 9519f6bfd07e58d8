"""Actors of Ray, on the cluster that `ray.init` connected to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ._team import ShardError, Team, Worker, too_late


def _ray() -> Any:
    """The package, which is not needed for anything else."""
    import ray

    return ray


class RayEngine:
    """One actor for each worker."""

    def __init__(self, workers: int | None, retries: int) -> None:
        self.workers, self.retries = workers, retries

    def start(self, make: Callable[[], Worker], n_shards: int, timeout: float) -> Team:
        ray = _ray()
        if not ray.is_initialized():
            ray.init(log_to_driver=False)
        processors = int(ray.cluster_resources().get("CPU", 1))
        size = max(1, min(self.workers or processors, n_shards))
        return RayTeam(make, size, timeout, self.retries)


class RayTeam(Team):
    """Ray starts a lost actor again, and gives it the questions that it has not answered."""

    def __init__(self, make: Callable[[], Worker], size: int, timeout: float, retries: int) -> None:
        self.ray = ray = _ray()
        self.timeout = timeout
        options = {"num_cpus": 1, "max_restarts": -1, "max_task_retries": retries}
        kind, shared = ray.remote(_Actor).options(**options), ray.put(make)
        self.actors = [kind.remote(shared) for _ in range(size)]

    def ask(self, question: Any, shards: Sequence[int]) -> Iterator[Any]:
        ray, shared = self.ray, self.ray.put(question)
        answers = {shard: self.actors[shard % len(self.actors)].answer.remote(shard, shared) for shard in shards}
        waiting = {reference: shard for shard, reference in answers.items()}
        given = 0
        while given < len(shards):
            ready, _ = ray.wait(list(waiting), num_returns=1, timeout=self.timeout)
            if not ready:
                raise too_late(min(waiting.values()), self.timeout)
            for reference in ready:
                del waiting[reference]
            while given < len(shards) and answers[shards[given]] not in waiting:
                yield self._result(shards[given], answers.pop(shards[given]))
                given += 1

    def _result(self, shard: int, reference: Any) -> Any:
        errors = self.ray.exceptions
        try:
            return self.ray.get(reference)
        except errors.RayTaskError as error:
            raise error.cause if isinstance(error.cause, Exception) else error from None
        except errors.RayError as error:
            raise ShardError(f"shard {shard}: {error}", shard) from None

    def close(self) -> None:
        for actor in self.actors:
            self.ray.kill(actor)


class _Actor:
    """A worker in a process of Ray."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self.worker = make()

    def answer(self, shard: int, question: Any) -> Any:
        return self.worker.answer(shard, question)
