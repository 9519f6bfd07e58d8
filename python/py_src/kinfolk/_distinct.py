"""Folds of rows that differ: equal rows are in the same fold. Groups of rows stay together.

So a row of weight 2 means the same as two equal rows, a row of weight 0 the same as none, and no row is predicted by a
model that has seen its like. The order of the rows does not matter either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from . import _folds


def folds(data: Any, n_folds: int, seed: int) -> np.ndarray:
    """The fold of each row, all zero if there are fewer than two different ones that count. Rows without weight are in
    the first."""
    if data.fold_keys is not None and data.fold_keys[0] is not None:
        return _folds.of_groups(data, n_folds, seed)
    rows = _that_count(data)
    fold = np.zeros(data.x.shape[0], dtype=np.uint32)
    first, of_row = _distinct(data, rows)
    if len(first) > 1:
        observations = data.observations.select(first.astype(np.uint32))
        of_kind = np.zeros(len(first), dtype=np.uint32)
        for number, (_, test) in enumerate(_folds.splits(observations, min(n_folds, len(first)), seed, None)):
            of_kind[test] = number
        fold[rows] = of_kind[of_row]
    return fold


def _that_count(data: Any) -> np.ndarray:
    weight = data.weight
    if weight is None:
        return np.arange(data.x.shape[0])
    return np.flatnonzero((weight if weight.ndim == 1 else weight.max(axis=1)) > 0)


def _distinct(data: Any, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of these rows the first of each kind, sorted by their contents, and the kind of each."""
    keys = _contents(data)
    kinds: dict[bytes, int] = {}
    for row in rows.tolist():
        kinds.setdefault(keys[row], row)
    place = {key: at for at, key in enumerate(sorted(kinds))}
    first = np.asarray([kinds[key] for key in sorted(kinds)])
    return first, np.asarray([place[keys[row]] for row in rows.tolist()])


def _contents(data: Any) -> list[bytes]:
    """Features and labels of each row."""
    x, triples = data.x, data.triples
    order = np.argsort(triples.input, kind="stable")
    start = np.searchsorted(triples.input[order], np.arange(x.shape[0] + 1))
    output, label = triples.output[order], triples.label[order]
    labels = [output[i:j].tobytes() + label[i:j].tobytes() for i, j in zip(start, start[1:], strict=False)]
    if sp.issparse(x):
        x = x.tocsr()
        parts = zip(x.indptr, x.indptr[1:], strict=False)
        features = [x.indices[i:j].tobytes() + x.data[i:j].tobytes() for i, j in parts]
    else:
        features = [row.tobytes() for row in np.ascontiguousarray(x)]
    return [own + more for own, more in zip(features, labels, strict=True)]
