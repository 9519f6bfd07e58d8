"""Answers that are kept in a folder, so that a driver that was killed goes on from there."""

from __future__ import annotations

import hashlib
import os
import tempfile
from typing import Any

import numpy as np

from ._worker import Answer


class Checkpoint:
    """A folder of answers. Their names change with the rows, with how they are read, and with what was asked."""

    def __init__(self, folder: str | os.PathLike[str], recipes: list[Any], columns: dict[str, Any]) -> None:
        self.folder = os.fspath(folder)
        self.about = repr(sorted(columns.items()))
        self.shards = [recipe.fingerprint() for recipe in recipes]

    def of_shard(self, shard: int, question: Any) -> _Place:
        """Where the answer of one shard is."""
        return self._place(f"{question.name}-{shard:06d}", [self.shards[shard]], question)

    def of_all(self, number: int, question: Any) -> _Place:
        """Where the sum of the answers of all shards is, to the question with this number."""
        return self._place(f"question-{number:06d}-{question.name}", self.shards, question)

    def _place(self, name: str, shards: list[str], question: Any) -> _Place:
        digest = hashlib.sha256(question.key())
        digest.update("\n".join([self.about, *shards]).encode())
        return _Place(os.path.join(self.folder, f"{name}-{digest.hexdigest()[:16]}.npz"))


class _Place:
    """A file with an answer, or none."""

    def __init__(self, path: str) -> None:
        self.path = path

    def load(self) -> Answer | None:
        try:
            with np.load(self.path) as kept:
                return Answer(kept["data"].tobytes(), int(kept["rows"]), float(kept["seconds"]))
        except (FileNotFoundError, ValueError, KeyError, OSError):
            return None  # not there, or not whole

    def store(self, answer: Answer) -> None:
        """Written beside its place and renamed: there is the whole file, or none."""
        folder = os.path.dirname(self.path)
        os.makedirs(folder, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as file:
            data = np.frombuffer(answer.data, dtype=np.uint8)
            np.savez(file, data=data, rows=answer.rows, seconds=answer.seconds)
        os.replace(file.name, self.path)
