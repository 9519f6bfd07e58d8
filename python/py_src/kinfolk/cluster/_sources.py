"""Where rows come from: sources cut into shards, each with a recipe for reading its rows."""

from __future__ import annotations

import glob
import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from .._statistics import Statistics

Batch = tuple[str, Any]
"""Where it is from, in words, and the arguments of `Statistics.update`: a tuple, or a frame."""


class Recipe(Protocol):
    """How the rows of one shard are read: small, and it can be pickled."""

    def batches(self) -> Iterator[Batch]:
        """The rows, in batches, the same in every call."""

    def fingerprint(self) -> str:
        """Changes if the rows do."""


@dataclass
class Source:
    """Rows cut into shards, and which columns of frames are labels, tasks and weights."""

    recipes: list[Any]
    columns: dict[str, Any] = field(default_factory=dict)

    def reader(self) -> Statistics:
        """Statistics of no rows that read such columns."""
        return Statistics(**self.columns)


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
    return Source([_Parquet(own, batch_rows) for own in cut], columns)


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

    def batches(self) -> Iterator[Batch]:
        yield "", self.part

    def fingerprint(self) -> str:
        return hashlib.sha256(pickle.dumps(self.part)).hexdigest()


@dataclass
class _Calls:
    call: Callable[[], Iterable[Any]]

    def batches(self) -> Iterator[Batch]:
        first = 0
        for batch in self.call():
            rows = len(batch) if hasattr(batch, "__len__") else batch.num_rows
            yield f"rows {first} to {first + rows - 1}", batch
            first += rows

    def fingerprint(self) -> str:
        return hashlib.sha256(pickle.dumps(self.call)).hexdigest()


@dataclass
class _Parquet:
    groups: list[tuple[str, int, int]]
    batch_rows: int

    def batches(self) -> Iterator[Batch]:
        import pyarrow.parquet as pq

        for file, group, first in self.groups:
            with pq.ParquetFile(file) as opened:
                for batch in opened.iter_batches(batch_size=self.batch_rows, row_groups=[group]):
                    if batch.num_rows:
                        yield f"{file}, rows {first} to {first + batch.num_rows - 1}", batch
                    first += batch.num_rows

    def fingerprint(self) -> str:
        about = [(file, group, os.path.getsize(file), os.path.getmtime(file)) for file, group, _ in self.groups]
        return hashlib.sha256(repr((about, self.batch_rows)).encode()).hexdigest()
