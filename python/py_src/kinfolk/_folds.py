"""Groups or times of rows, which decide what is held out together."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _inputs, _names, _native

FoldKeys = tuple[list[int] | list[str] | None, np.ndarray | None]
"""Groups or times, as the engine takes them."""


def keys(groups: Any, times: Any, n_rows: int) -> FoldKeys | None:
    """Groups or times of the rows; None if there are none."""
    if groups is None and times is None:
        return None
    if groups is not None and times is not None:
        raise ValueError("groups and times: folds are by one of them")
    if groups is not None:
        return _names.row_names(groups, n_rows, "group").tolist(), None
    return None, _times(times, n_rows)


def of_rows(fold_keys: FoldKeys | None, rows: np.ndarray) -> FoldKeys | None:
    """Those of some rows."""
    if fold_keys is None:
        return None
    groups, times = fold_keys
    some: Any = None if groups is None else [groups[row] for row in rows.tolist()]
    return some, None if times is None else times[rows]


def joined(what: str, old: FoldKeys | None, new: FoldKeys | None) -> FoldKeys | None:
    """Those of old and new rows. Either all rows have groups (or times), or none."""
    names = [_kind(old), _kind(new)]
    if names[0] != names[1]:
        had, cure = f"the fit had {names[0]}", f"give {names[0]}=... for the new rows"
        if names[0] == "no groups":
            cure = f"for {names[1]} call fit with all rows"
        raise ValueError(f"{what}: {had}; {cure}")
    if old is None or new is None:
        return None
    groups: Any = None
    if old[0] is not None and new[0] is not None:
        groups = [*old[0], *new[0]]
        if len({isinstance(group, str) for group in groups}) == 2:
            groups = list(map(str, groups))
    times = None if old[1] is None or new[1] is None else np.concatenate([old[1], new[1]])
    return groups, times


def _kind(fold_keys: FoldKeys | None) -> str:
    return "no groups" if fold_keys is None else "groups" if fold_keys[0] is not None else "times"


def splits(observations: Any, n_folds: int, seed: int, fold_keys: FoldKeys | None) -> list[tuple[Any, Any]]:
    """Rows to train on and rows to test on, for each fold, as in the command select."""
    found: list[tuple[Any, Any]] = _native.splits(observations, n_folds, seed, fold_keys)
    return found


def of_groups(data: Any, n_folds: int, seed: int) -> np.ndarray:
    """The fold in which each row is tested, all zero if there is one group. Groups stay together."""
    groups = data.fold_keys[0]
    fold, most = np.zeros(data.x.shape[0], np.uint32), len(set(groups))
    if most > 1:
        for number, (_, test) in enumerate(splits(data.observations, min(n_folds, most), seed, (groups, None))):
            fold[test] = number
    return fold


def _times(times: Any, n_rows: int) -> np.ndarray:
    """Numbers, or days since 1970-01-01."""
    values = np.asarray(_inputs.frame(times))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if values.shape != (n_rows,):
        raise ValueError(f"times has shape {values.shape}, expected one for each of {n_rows} rows")
    if values.dtype.kind == "O":
        values = values.astype("datetime64[ns]")
    if values.dtype.kind == "M":
        ticks = values.astype("datetime64[ns]")
        values = np.where(np.isnat(ticks), np.nan, ticks.astype(np.int64) / 86_400e9)
    if values.dtype.kind not in "biuf":
        raise TypeError(f"times are numbers or dates, not {values.dtype}")
    numbers = values.astype(np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.flatnonzero(~np.isfinite(numbers))[0])
        raise ValueError(f"row {row}: its time is missing or not finite")
    return numbers
