"""What runs where the rows are: reads shards, and answers questions about them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .. import _native
from .._row_reader import RowReader
from .._statistics import Statistics, certify_part
from .._targets import Targets
from ._labels import SeenLabels
from ._team import ShardError


@dataclass
class Answer:
    """What a shard answers, and what it took."""

    data: bytes
    rows: int
    seconds: float


class Question(Protocol):
    """What can be asked about a shard."""

    name: str

    def key(self) -> bytes:
        """Equal for equal questions."""

    def work(self, rows: ShardRows) -> tuple[bytes, int]:
        """The answer, and the number of rows behind it."""


class ShardRows:
    """The rows of one shard, as questions need them."""

    def __init__(self, worker: ShardWorker, shard: int) -> None:
        self.worker, self.shard, self.place = worker, shard, ""

    def batches(self, columns: list[str] | None = None) -> Iterator[tuple[Any, ...]]:
        """Arguments of `RowReader.read`, a batch at a time. Only these columns of frames are needed."""
        for self.place, batch in self.worker.recipes[self.shard].batches(columns):
            yield batch if isinstance(batch, tuple) else (batch,)

    def reader(self, classes: Targets | None) -> RowReader:
        return RowReader(**self.worker.columns, classes=classes)

    def parts(self, setting: bytes, classes: Targets | None) -> Iterator[Any]:
        """The rows scaled as a problem needs them: those that were kept, or batches that are read again if there is no
        room."""
        key, kept = hashlib.sha256(setting).digest(), self.worker.kept.get(self.shard)
        if kept is not None and kept.key == key:
            yield from kept.parts
            return
        self.worker.kept.pop(self.shard, None)
        reader = self.reader(classes)
        new: Kept | None = Kept(key, [])
        for batch in self.batches():
            rows, part = reader.read(*batch), _native.RowsPart(setting)
            part.add(rows.inputs(), rows.observations())
            yield part
            if new is not None and self.worker.room() >= new.bytes() + part.nbytes:
                new.parts.append(part)
            else:
                new = None
        if new is not None:
            self.worker.kept[self.shard] = new


@dataclass
class Kept:
    """Rows of a shard that a worker keeps between two questions, and what they were scaled for."""

    key: bytes
    parts: list[Any]

    def bytes(self) -> int:
        return sum(part.nbytes for part in self.parts)


class ShardWorker:
    """Answers questions about any of the shards. Keeps rows up to `memory` bytes; it can be lost at any time."""

    def __init__(self, recipes: list[Any], columns: dict[str, Any], memory: int) -> None:
        self.recipes, self.columns, self.memory = recipes, columns, memory
        self.kept: dict[int, Kept] = {}

    def room(self) -> int:
        return self.memory - sum(kept.bytes() for kept in self.kept.values())

    def answer(self, shard: int, question: Question) -> Answer:
        """Every error names the shard and where it was."""
        began, rows = time.monotonic(), ShardRows(self, shard)
        try:
            data, count = question.work(rows)
        except Exception as error:
            where = f"shard {shard}, {rows.place}" if rows.place else f"shard {shard}"
            raise ShardError(f"{where}: {error}", shard) from error
        return Answer(data, count, time.monotonic() - began)


@dataclass(frozen=True)
class MakeWorker:
    """Makes the worker of a process."""

    recipes: list[Any]
    columns: dict[str, Any]
    memory: int

    def __call__(self) -> ShardWorker:
        return ShardWorker(self.recipes, self.columns, self.memory)


@dataclass(frozen=True)
class AskLabels:
    """Which tasks and classes are there?"""

    name = "labels"

    def key(self) -> bytes:
        return b""

    def work(self, rows: ShardRows) -> tuple[bytes, int]:
        reader, seen, count = rows.reader(None), SeenLabels(), 0
        for batch in rows.batches(reader.used_columns() or None):
            _, y, task, _ = reader.parts(*batch[:4])
            count += seen.add(y, task)
        return json.dumps(seen.plain()).encode(), count


@dataclass(frozen=True)
class AskStatistics:
    """The sums of the rows."""

    classes: Targets | None
    name = "statistics"

    def key(self) -> bytes:
        return b""

    def work(self, rows: ShardRows) -> tuple[bytes, int]:
        own = Statistics._of_reader(rows.reader(self.classes))
        for batch in rows.batches():
            own.update(*batch)
        return own.to_bytes(), own.n_rows


@dataclass(frozen=True)
class AskRows:
    """A question of Newton's method."""

    name: str
    setting: bytes
    question: bytes
    classes: Targets | None

    def key(self) -> bytes:
        return self.setting + self.question

    def work(self, rows: ShardRows) -> tuple[bytes, int]:
        total, count = None, 0
        for part in rows.parts(self.setting, self.classes):
            own = part.answer(self.question, 1)
            total = own if total is None else total + own
            count += part.n_rows
        return b"" if total is None else total.tobytes(), count


@dataclass(frozen=True)
class AskCertificate:
    """The terms of the certificate of a model of the squared loss."""

    model: bytes
    name = "certificate"

    def key(self) -> bytes:
        return self.model

    def work(self, rows: ShardRows) -> tuple[bytes, int]:
        model, reader = _native.Model.from_bytes(self.model), rows.reader(None)
        sums: np.ndarray | None = None
        count = 0
        for batch in rows.batches():
            part = np.asarray(certify_part(model, reader, batch, 1))
            count += int(part[0])
            sums = part if sums is None else _added(sums, part)
        return b"" if sums is None else sums.tobytes(), count


def _added(sums: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Numbers of two passes: all add up but the units, which are those of the first."""
    together: np.ndarray = sums + part
    together[2:4] = sums[2:4]
    return together
