"""The driver: two exchanges with all shards, and between them a fit in this process."""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import _native
from .._statistics import Statistics, certify_part
from ._engines import Engine, ShardError, named
from ._sources import Source


@dataclass
class _Job:
    """The work on one shard: small, unless its recipe has arrays."""

    shard: int
    recipe: Any
    columns: dict[str, Any]
    model: bytes | None = None
    """The model to certify; None to make statistics."""


@dataclass
class _Answer:
    shard: int
    data: bytes
    rows: int
    seconds: float


def fit(
    estimator: Any,
    source: Source,
    *,
    engine: str | Engine = "local",
    workers: int = 1,
    checkpoint: str | os.PathLike[str] | None = None,
    timeout: float = 600.0,
    retries: int = 3,
    certify: bool = True,
    listener: Callable[[str], None] | None = None,
) -> Any:
    """A fitted copy of an estimator, as `estimator.fit` would give it on all rows.

    Parameters
    ----------
    estimator : MultiTaskRegressor or OutputKernelRegressor
        With the squared loss and the linear kernel.
    source : Source
        `parquet(...)`, `arrow(...)` or `arrays(...)`: the rows, cut into shards.
    engine : "local", "ray", "mpi" or Engine, default="local"
        "local" uses processes of this machine, "ray" the cluster that `ray.init` connected to, "mpi" the ranks of a
        program started by `mpirun`, all of which call `fit` and get the model.
    workers : int, default=1
        Processes of the engine "local".
    checkpoint : path, default=None
        A folder for the answers of shards. A driver that was killed goes on from there: shards whose rows did not
        change are not read again.
    timeout : float, default=600
        Seconds that one shard may take. No answer is an error, never an endless wait.
    retries : int, default=3
        How often the shard of a lost worker is given to another one.
    certify : bool, default=True
        Whether a second pass over the rows certifies the model from the data. Without it, the certificate is about the
        statistics.
    listener : function, default=None
        Called with a line about each exchange: rows, bytes, seconds, the slowest shard.
    """
    own, run = clone(estimator), named(engine, workers, retries)
    say = listener or (lambda line: None)
    if not hasattr(own, "fit_statistics"):
        raise TypeError(f"{type(own).__name__} cannot be fitted on a cluster so far: only regressors with squared loss")
    jobs = [_Job(shard, recipe, source.columns) for shard, recipe in enumerate(source.recipes)]
    answers = _exchange("statistics", jobs, run, checkpoint, timeout, say)
    total = _joined(Statistics.from_bytes(answer.data) for answer in answers)
    if total is None or not total.n_rows:
        raise ValueError("no shard has any rows")
    own.fit_statistics(total)
    say(f"fit: {total.n_rows} rows, relative gap {own.rel_gap_:.1e} about the statistics, {own.seconds_:.2f} s")
    if certify:
        model = own.model_.to_bytes()
        jobs = [_Job(job.shard, job.recipe, job.columns, model) for job in jobs]
        answers = _exchange("certificate", jobs, run, checkpoint, timeout, say)
        parts = [np.frombuffer(answer.data) for answer in answers if answer.rows]
        own._store_fit(_native.certified(own.model_, parts, float(own.tol)))
        say(f"certified: relative gap {own.rel_gap_:.1e} from the rows")
    return own


def _joined(parts: Iterable[Statistics]) -> Statistics | None:
    """All statistics, added up in a tree that depends on their number alone, with few of them at a time: as a binary
    counter adds, two of equal size become one."""
    stack: list[tuple[int, Statistics]] = []
    for part in parts:
        size = 1
        while stack and stack[-1][0] == size:
            part = stack.pop()[1].merge(part)
            size *= 2
        stack.append((size, part))
    while len(stack) > 1:
        last = stack.pop()[1]
        stack[-1][1].merge(last)
    return stack[0][1] if stack else None


def _exchange(
    name: str,
    jobs: list[_Job],
    engine: Engine,
    checkpoint: Any,
    timeout: float,
    say: Callable[[str], None],
) -> list[_Answer]:
    """The answers of all shards, in their order."""
    began = time.monotonic()
    known = {job.shard: _stored(checkpoint, name, job) for job in jobs} if checkpoint is not None else {}
    todo = [job for job in jobs if known.get(job.shard) is None]
    new: Iterator[_Answer] = iter(engine.run(_work, todo, timeout))
    answers = []
    for job in jobs:
        answer = known.get(job.shard)
        if answer is None:
            answer = next(new)
            if checkpoint is not None:
                _store(checkpoint, name, job, answer)
        answers.append(answer)
    for _ in new:  # lets the engine end
        pass
    slowest = max(answers, key=lambda answer: answer.seconds, default=None)
    size = sum(len(answer.data) for answer in answers)
    if slowest is not None:
        say(
            f"{name}: {len(jobs)} shards ({len(jobs) - len(todo)} from the checkpoint), "
            f"{sum(answer.rows for answer in answers)} rows, {size / 1e6:.1f} MB, {time.monotonic() - began:.2f} s; "
            f"slowest shard {slowest.shard}, {slowest.seconds:.2f} s"
        )
    return answers


def _work(job: _Job) -> _Answer:
    """Reads the rows of a shard. Every error names the shard and where it was."""
    began = time.monotonic()
    own = Statistics(**job.columns, n_jobs=1)
    model = None if job.model is None else _native.Model.from_bytes(job.model)
    sums: np.ndarray | None = None
    rows, place = 0, ""
    try:
        for place, batch in job.recipe.batches():
            args = batch if isinstance(batch, tuple) else (batch,)
            if model is None:
                own.update(*args)
                rows = own.n_rows
            else:
                part = np.asarray(certify_part(model, own, args, 1))
                rows += int(part[0])
                sums = part if sums is None else _added(sums, part)
    except Exception as error:
        where = f"shard {job.shard}, {place}" if place else f"shard {job.shard}"
        raise ShardError(f"{where}: {error}", job.shard) from error
    data = own.to_bytes() if model is None else b"" if sums is None else sums.tobytes()
    return _Answer(job.shard, data, rows, time.monotonic() - began)


def _added(sums: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Numbers of two passes: all add up but the units, which are those of the first."""
    together: np.ndarray = sums + part
    together[2:4] = sums[2:4]
    return together


def _path(checkpoint: Any, name: str, job: _Job) -> str:
    """A file for the answer of a shard, whose name changes with its rows, with the columns, and with the model."""
    parts = [job.recipe.fingerprint(), repr(sorted(job.columns.items())), hashlib.sha256(job.model or b"").hexdigest()]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    return os.path.join(os.fspath(checkpoint), f"{name}-{job.shard:06d}-{key}.npz")


def _stored(checkpoint: Any, name: str, job: _Job) -> _Answer | None:
    try:
        with np.load(_path(checkpoint, name, job)) as kept:
            return _Answer(job.shard, kept["data"].tobytes(), int(kept["rows"]), float(kept["seconds"]))
    except (FileNotFoundError, ValueError, KeyError, OSError):
        return None  # not there, or not whole


def _store(checkpoint: Any, name: str, job: _Job, answer: _Answer) -> None:
    """Written beside its place and renamed: there is the whole file, or none."""
    os.makedirs(checkpoint, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=checkpoint, delete=False) as file:
        data = np.frombuffer(answer.data, dtype=np.uint8)
        np.savez(file, data=data, rows=answer.rows, seconds=answer.seconds)
    os.replace(file.name, _path(checkpoint, name, job))
