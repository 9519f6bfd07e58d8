"""The driver: asks all shards, adds up their answers, and solves in this process."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.base import clone

from .. import _native
from .._statistics import Statistics, fit_sums
from .._targets import Targets
from ._checkpoint import Checkpoint
from ._engines import named
from ._labels import SeenLabels
from ._sources import Source
from ._team import Engine, Team
from ._worker import Answer, AskCertificate, AskLabels, AskRows, AskStatistics, MakeWorker


def fit(
    estimator: Any,
    source: Source,
    *,
    engine: str | Engine = "local",
    workers: int | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    memory: int | str | None = None,
    timeout: float = 600.0,
    retries: int = 3,
    certify: bool = True,
    listener: Callable[[str], None] | None = None,
) -> Any:
    """A fitted copy of an estimator, as `estimator.fit` would give it on all rows.

    Parameters
    ----------
    estimator : MultiTaskRegressor, MultiTaskClassifier, OutputKernelRegressor or OutputKernelClassifier
        With the linear kernel.
    source : Source
        `parquet(...)`, `arrow(...)`, `arrays(...)`, `dask(...)` or `ray_dataset(...)`: the rows, cut into shards.
    engine : "local", "ray", "mpi" or Engine, default="local"
        "local" uses processes of this machine, "ray" the cluster that `ray.init` connected to, "mpi" the ranks of a
        program started by `mpirun`, all of which call `fit` and get the model.
    workers : int, default=None
        Processes. By default "local" works in this process, and "ray" has one for each processor of the cluster.
    checkpoint : path, default=None
        A folder for answers. A driver that was killed goes on from there, to the same bits: what shards answered before
        is not asked again, unless their rows changed.
    memory : int or str, default=None
        Bytes of rows that each worker keeps between two questions, such as "2GB"; it reads the others again for each.
        By default the `memory` of the estimator.
    timeout : float, default=600
        Seconds that the answer of one shard may take. No answer is an error, never an endless wait.
    retries : int, default=3
        How often a question is asked again if the worker of a shard is lost.
    certify : bool, default=True
        For the squared loss: whether a second pass over the rows certifies the model from the data. Without it, the
        certificate is about the statistics. For other losses it is always from the rows.
    listener : function, default=None
        Called with a line about each exchange: rows, bytes, seconds, the slowest shard, the gap so far.
    """
    own = clone(estimator)
    _check(own)
    kept_bytes = _native.memory_bytes(str(own.memory if memory is None else memory))
    make = MakeWorker(source.recipes, source.columns, kept_bytes)
    kept = None if checkpoint is None else Checkpoint(checkpoint, source.recipes, source.columns)
    team = named(engine, workers, retries).start(make, len(source.recipes), timeout)
    fitted: Any = None
    try:
        if team.is_driver():
            fitted = _Driver(own, team, len(source.recipes), kept, listener or (lambda line: None)).fit(certify)
        return team.shared(fitted)
    except BaseException as error:
        team.failed(error)
        raise
    finally:
        team.close()


def _check(estimator: Any) -> None:
    """Raises an error for what needs all rows at hand."""
    name = type(estimator).__name__
    if not hasattr(estimator, "_store_targets"):
        raise TypeError(f"{name} cannot be fitted on a cluster; the estimators of many tasks or outputs can")
    if getattr(estimator, "calibrate", None) is not None:
        raise ValueError("calibrate needs all rows in memory; the logistic loss has probabilities by itself")
    if getattr(estimator, "class_weight", None) is not None:
        raise ValueError("class_weight needs all rows in memory; give each row a weight instead")


class _Driver:
    """A fit, from the first question to the certificate."""

    def __init__(
        self, estimator: Any, team: Team, n_shards: int, kept: Checkpoint | None, say: Callable[[str], None]
    ) -> None:
        self.estimator, self.team, self.say = estimator, team, say
        self.shards, self.kept = range(n_shards), kept
        self.classes: Targets | None = None
        self.questions, self.bytes = 0, 0

    def fit(self, certify: bool) -> Any:
        own = self.estimator
        if hasattr(own, "_label_targets"):
            self.classes = own._label_targets(*self._labels().example()).with_triples(None)
        total = _joined(Statistics.from_bytes(answer.data) for answer in self._each(AskStatistics(self.classes)))
        if total is None or not total.n_rows:
            raise ValueError("no shard has any rows")
        fit_sums(own, total, self.classes or total._targets(), self._ask)
        if self.questions:
            exchanges, size = self.questions, self.bytes / 1e6
            self.say(f"fit: relative gap {own.rel_gap_:.1e} from the rows, {exchanges} exchanges, {size:.1f} MB")
        else:
            self.say(f"fit: {total.n_rows} rows, relative gap {own.rel_gap_:.1e} about the statistics")
            if certify:
                self._certify()
        return own

    def _labels(self) -> SeenLabels:
        """The tasks and classes of all shards."""
        seen = SeenLabels()
        for answer in self._each(AskLabels()):
            seen.merge(SeenLabels.of_plain(json.loads(answer.data)))
        if seen.form is None:
            raise ValueError("no shard has any rows")
        return seen

    def _certify(self) -> None:
        """The certificate of a model of the squared loss, from the rows."""
        own = self.estimator
        answers = self._each(AskCertificate(own.model_.to_bytes()))
        parts = [np.frombuffer(answer.data) for answer in answers if answer.rows]
        own._store_fit(_native.certified(own.model_, parts, float(own.tol)))
        self.say(f"certified: relative gap {own.rel_gap_:.1e} from the rows")

    def _ask(self, name: str, setting: bytes, question: bytes) -> np.ndarray:
        """The sum of the answers to a question of the solver."""
        self.questions += 1
        asked = AskRows(name, setting, question, self.classes)
        place = None if self.kept is None else self.kept.of_all(self.questions, asked)
        known = None if place is None else place.load()
        if known is not None:
            self.say(f"question {self.questions}, {name}: from the checkpoint")
            return np.frombuffer(known.data)
        began, total, rows = time.monotonic(), None, 0
        each = _Slowest()
        for shard, answer in zip(self.shards, self.team.ask(asked, self.shards), strict=True):
            each.heard(shard, answer)
            rows += answer.rows
            if answer.rows:
                part = np.frombuffer(answer.data)
                total = part.copy() if total is None else np.add(total, part, out=total)
        if total is None:
            raise ValueError("no shard has any rows")
        seconds, size = time.monotonic() - began, each.bytes + len(asked.key())
        self.bytes += size
        if place is not None:
            place.store(Answer(total.tobytes(), rows, seconds))
        self.say(f"question {self.questions}, {name}: {size / 1e6:.1f} MB, {seconds:.2f} s; {each}")
        return total

    def _each(self, question: Any) -> list[Answer]:
        """The answers of all shards, in their order."""
        began, kept = time.monotonic(), self.kept
        places = {shard: kept.of_shard(shard, question) for shard in self.shards} if kept is not None else {}
        known = {shard: answer for shard, place in places.items() if (answer := place.load()) is not None}
        todo = [shard for shard in self.shards if shard not in known]
        for shard, answer in zip(todo, self.team.ask(question, todo), strict=True):
            if kept is not None:
                places[shard].store(answer)
            known[shard] = answer
        answers, each = [known[shard] for shard in self.shards], _Slowest()
        for shard, answer in enumerate(answers):
            each.heard(shard, answer)
        self.say(
            f"{question.name}: {len(answers)} shards ({len(answers) - len(todo)} from the checkpoint), "
            f"{sum(answer.rows for answer in answers)} rows, {each.bytes / 1e6:.1f} MB, "
            f"{time.monotonic() - began:.2f} s; {each}"
        )
        return answers


class _Slowest:
    """The slowest of some answers, and the bytes of all."""

    def __init__(self) -> None:
        self.shard, self.seconds, self.bytes = 0, 0.0, 0

    def heard(self, shard: int, answer: Answer) -> None:
        self.bytes += len(answer.data)
        if answer.seconds >= self.seconds:
            self.shard, self.seconds = shard, answer.seconds

    def __str__(self) -> str:
        return f"slowest shard {self.shard}, {self.seconds:.2f} s"


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
