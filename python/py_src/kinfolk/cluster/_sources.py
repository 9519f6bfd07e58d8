"""Where rows come from: sources cut into shards, each with a recipe for reading its rows."""

from __future__ import annotations

import glob
import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Batch = tuple[str, Any]
"""Where it is from, in words, and the arguments of `Statistics.update`: a tuple, or a frame."""


class Recipe(Protocol):
    """How the rows of one shard are read: small, and it can be pickled."""

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        """The rows, in batches, the same in every call. If `columns` are given, frames need no others."""

    def fingerprint(self) -> str:
        """Changes if the rows do."""


@dataclass
class Source:
    """Rows cut into shards, and which columns of frames are labels, tasks and weights."""

    recipes: list[Any]
    columns: dict[str, Any] = field(default_factory=dict)


def arrays(parts: Sequence[Any]) -> Source:
    """One shard for each part: a tuple `(X, y)`, `(X, y, task)` or `(X, y, task, sample_weight)`. The arrays travel to
    the workers, so this is for rows that are in memory anyway."""
    return Source([_Arrays(part if isinstance(part, tuple) else tuple(part)) for part in parts])


def arrow(
    parts: Sequence[Callable[[], Iterable[Any]]],
    *,
    target: str | list[str],
    task: str | None = None,
    weight: str | None = None,
) -> Source:
    """One shard for each function, which returns an iterable of frames or record batches when a worker calls it."""
    return Source([_Calls(part) for part in parts], {"target": target, "task": task, "weight": weight})


def parquet(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    target: str | list[str],
    task: str | None = None,
    weight: str | None = None,
    shards: int | None = None,
    batch_rows: int = 65_536,
) -> Source:
    """Files of parquet: a folder, a pattern, or a list of them. Row groups are dealt to shards in their order; without
    `shards`, each file is one. Every worker must be able to read the paths."""
    import pyarrow.parquet as pq

    files = _files(path)
    groups: list[tuple[str, int, int]] = []
    schema = None
    for file in files:
        about = pq.read_metadata(file)
        own = about.schema.to_arrow_schema()
        schema, first = schema or own, 0
        if _kinds(own) != _kinds(schema):
            raise ValueError(f"{file}: its columns are not those of {files[0]}: {_difference(schema, own)}")
        for group in range(about.num_row_groups):
            groups.append((file, group, first))
            first += about.row_group(group).num_rows
    names = [] if schema is None else schema.names
    for name in [*([target] if isinstance(target, str) else target), task, weight]:
        if name is not None and name not in names:
            raise ValueError(f"{files[0]} has no column {name!r}, but {', '.join(names[:10])}")
    if shards is None:
        cut = [[own for own in groups if own[0] == file] for file in files]
    else:
        cut = [groups[len(groups) * s // shards : len(groups) * (s + 1) // shards] for s in range(shards)]
    columns = {"target": target, "task": task, "weight": weight}
    stamps = {file: _stamp(file) for file in files}
    used = [{file: stamps[file] for file, _, _ in own} for own in cut]
    return Source([_Parquet(own, batch_rows, stamp) for own, stamp in zip(cut, used, strict=True)], columns)


def dask(frame: Any, *, target: str | list[str], task: str | None = None, weight: str | None = None) -> Source:
    """One shard for each partition of a Dask frame. Its graph travels to the workers, each of which computes its own
    partitions."""
    columns = {"target": target, "task": task, "weight": weight}
    return Source([_Partition(own) for own in frame.to_delayed()], columns)


def ray_dataset(dataset: Any, *, target: str | list[str], task: str | None = None, weight: str | None = None) -> Source:
    """One shard for each block of a Ray dataset, which is computed and stays in the object store of Ray. For the engine
    "ray", or "local" with one worker."""
    columns = {"target": target, "task": task, "weight": weight}
    return Source([_Block(own) for own in dataset.to_arrow_refs()], columns)


def _files(path: Any) -> list[str]:
    given = [path] if isinstance(path, (str, os.PathLike)) else list(path)
    found: list[str] = []
    for text in [str(os.fspath(one)) for one in given]:
        inside = os.path.join(text, "**", "*.parquet") if os.path.isdir(text) else text
        more = sorted(glob.glob(inside, recursive=True))
        if not more:
            raise FileNotFoundError(f"{text}: there is no such file, or no parquet file in it")
        found += more
    return found


def _kinds(schema: Any) -> list[tuple[str, str]]:
    """Names of columns, and whether they are numbers or words."""
    words = ("string", "large_string", "string_view")
    return [(field.name, "words" if str(field.type) in words else "numbers") for field in schema]


def _difference(schema: Any, other: Any) -> str:
    for own, new in zip(schema, other, strict=False):
        if _kinds([own]) != _kinds([new]):
            return f"{new.name} is {new.type}, {own.name} is {own.type} there"
    return f"{len(other)} columns instead of {len(schema)}"


@dataclass
class _Arrays:
    part: tuple[Any, ...]

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        yield "", self.part

    def fingerprint(self) -> str:
        return hashlib.sha256(pickle.dumps(self.part)).hexdigest()


@dataclass
class _Calls:
    call: Callable[[], Iterable[Any]]

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        first = 0
        for batch in self.call():
            rows = len(batch) if hasattr(batch, "__len__") else batch.num_rows
            yield f"rows {first} to {first + rows - 1}", batch
            first += rows

    def fingerprint(self) -> str:
        return hashlib.sha256(pickle.dumps(self.call)).hexdigest()


@dataclass
class _Partition:
    partition: Any
    """A delayed frame of Dask."""

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        frame = self.partition.compute(scheduler="synchronous")
        if len(frame):
            yield f"rows 0 to {len(frame) - 1}", frame if columns is None else frame[columns]

    def fingerprint(self) -> str:
        return str(self.partition.key)


@dataclass
class _Block:
    block: Any
    """A table of Arrow in the object store of Ray."""

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        import ray

        table = ray.get(self.block)
        if table.num_rows:
            yield f"rows 0 to {table.num_rows - 1}", table if columns is None else table.select(columns)

    def fingerprint(self) -> str:
        return str(self.block.hex())


def _stamp(file: str) -> tuple[int, float]:
    """Size and time of change of a file."""
    about = os.stat(file)
    return about.st_size, about.st_mtime


@dataclass
class _Parquet:
    groups: list[tuple[str, int, int]]
    batch_rows: int
    stamps: dict[str, tuple[int, float]]

    def batches(self, columns: list[str] | None = None) -> Iterator[Batch]:
        import pyarrow.parquet as pq

        for file, group, first in self.groups:
            if _stamp(file) != self.stamps[file]:
                raise ValueError(f"{file}: it has changed since the fit began")
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(self.batch_rows, [group], columns):
                    if batch.num_rows:
                        yield f"{file}, rows {first} to {first + batch.num_rows - 1}", batch
                    first += batch.num_rows

    def fingerprint(self) -> str:
        return hashlib.sha256(repr((self.groups, self.stamps, self.batch_rows)).encode()).hexdigest()
