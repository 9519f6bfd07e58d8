"""Statistics: sums over rows that may lie anywhere, from which the squared loss is fitted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self

import numpy as np

from . import _checks, _native, _tables
from ._row_reader import RowReader
from ._targets import Form, Targets


class Statistics:
    """What the squared loss needs to know about rows: means and products of features and labels, which add up.

    Every part of the rows gives one, on any machine; `merge`, `+` and `sum` join them, and `fit_statistics` of an
    estimator needs nothing else. Any cutting of the rows and any order of merging gives the same model up to rounding.
    The size does not depend on the number of rows: about features^2 numbers, times the number of tasks where tasks have
    rows of their own or labels are missing, and the rows that are kept for the choice of C.

    Parameters
    ----------
    target : str or list of str, default=None
        Columns of frames with the labels: one, or a table with one task for each. Then `update` takes frames alone.
    task : str, default=None
        Column of frames with the task of each row.
    weight : str, default=None
        Column of frames with the weight of each row.
    sample_rows : int, default=3000
        Rows that are kept as they are, for `C="auto"` and for relative values of C, such as `C="10x"`. Which ones
        depends on their contents alone. With 0, C must be a number.
    memory : int or str, default="4GB"
        Limit for the sums of all tasks.
    n_jobs : int, default=None
        Number of threads, as in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from kinfolk import MultiTaskRegressor, Statistics
    >>> rng = np.random.default_rng(0)
    >>> X, task = rng.normal(size=(600, 5)), rng.integers(3, size=600)
    >>> y = X @ [1.0, 2.0, 0.0, 0.0, 1.0] + 0.1 * rng.normal(size=600)
    >>> parts = [Statistics().update(X[i::4], y[i::4], task=task[i::4]) for i in range(4)]
    >>> model = MultiTaskRegressor(C=1.0, tol=1e-6).fit_statistics(sum(parts))
    >>> whole = MultiTaskRegressor(C=1.0, tol=1e-6).fit(X, y, task=task)
    >>> bool(np.allclose(model.coef_, whole.coef_, atol=1e-3))
    True
    """

    def __init__(
        self,
        *,
        target: str | list[str] | None = None,
        task: str | None = None,
        weight: str | None = None,
        sample_rows: int = 3000,
        memory: int | str = "4GB",
        n_jobs: int | None = None,
    ) -> None:
        self._reader = RowReader(target, task, weight)
        self.n_jobs = n_jobs
        rows = _checks.whole("sample_rows", sample_rows, 0)
        self._native = _native.Statistics(rows, str(memory), _checks.threads(n_jobs))
        self._form: Form | None = None
        self._features: list[str] | None = None

    @staticmethod
    def _of_reader(reader: RowReader) -> Statistics:
        """Statistics of no rows, of one thread, for rows that are read in this way."""
        own = Statistics(n_jobs=1)
        own._reader = reader
        return own

    # --- rows ---

    def update(self, X: Any, y: Any = None, task: Any = None, sample_weight: Any = None, offset: Any = None) -> Self:
        """Adds rows. The arguments are as for `MultiTaskRegressor.fit`; with `target`, the labels (and tasks and
        weights) are columns of X, which may be a frame of pandas or polars, a pyarrow table or record batch, or
        anything with `__arrow_c_stream__`. On an error nothing is added."""
        rows = self._reader.read(X, y, task, sample_weight, offset)
        self._check_form(rows.targets.form, rows.names)
        if self._form is not None and rows.weight is not None and not rows.weight.any():  # rows that do not count
            return self
        self._native.update(rows.inputs(), rows.observations())
        self._form, self._features = rows.targets.form, rows.names
        self._keep()
        return self

    def update_batches(self, batches: Iterable[Any]) -> Self:
        """Adds the rows of all batches: frames if there is a `target`, else tuples of the arguments of `update`."""
        for batch in batches:
            self.update(*batch) if isinstance(batch, tuple) else self.update(batch)
        return self

    def of_batches(self) -> Callable[[Iterable[Any]], Iterator[Any]]:
        """A function from an iterator of record batches to one record batch, whose only column, `statistics`, has the
        statistics of these batches as bytes: for `mapInArrow` of Spark and its like. `Statistics.sum` joins them."""
        settings = self._reader.columns()

        def map_batches(batches: Iterable[Any]) -> Iterator[Any]:
            import pyarrow as pa

            own = Statistics(**settings).update_batches(batches)
            if own.n_rows:
                yield pa.record_batch([pa.array([own.to_bytes()], pa.binary())], names=["statistics"])

        return map_batches

    def _check_form(self, form: Form, names: list[str] | None) -> None:
        if self._form is not None and self._form != form:
            words = {"single": "one label and no task", "wide": "a table of labels", "rows": "a task"}
            raise ValueError(f"the rows so far have {words[self._form]} each, these have {words[form]}")
        if self._form is not None and self._features != names:
            raise ValueError(f"the columns so far are {_shown(self._features)}, these are {_shown(names)}")

    # --- joining ---

    def merge(self, other: Statistics | bytes) -> Self:
        """Adds the rows of others, or of their bytes. On an error nothing is added."""
        other = Statistics.from_bytes(other) if isinstance(other, (bytes, bytearray, memoryview)) else other
        if not isinstance(other, Statistics):
            raise TypeError(f"statistics can be merged with statistics, not with {type(other).__name__}")
        if other.n_rows == 0 or other._form is None:
            return self
        self._check_form(other._form, other._features)
        self._native.merge(other._native)
        self._form, self._features = other._form, other._features
        self._keep()
        return self

    @staticmethod
    def sum(parts: Iterable[Any]) -> Statistics:
        """All rows of statistics, of their bytes, or of a table with a column `statistics` of bytes, in this order."""
        if _tables.is_frame(parts):
            parts = _tables.read(parts).column("statistics").tolist()
        total: Statistics | None = None
        for part in parts:
            part = Statistics.from_bytes(part) if isinstance(part, (bytes, bytearray, memoryview)) else part
            total = part.copy() if total is None else total.merge(part)
        if total is None:
            raise ValueError("there are no statistics to join")
        return total

    def copy(self) -> Statistics:
        """Statistics of the same rows, to which others can be added."""
        return Statistics._of(self._native.copy())

    def __add__(self, other: Any) -> Statistics:
        return self.copy().merge(other) if isinstance(other, Statistics) else NotImplemented

    def __radd__(self, other: Any) -> Statistics:
        return self.copy() if isinstance(other, int) and other == 0 else NotImplemented

    # --- what is known ---

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self._native.n_rows

    @property
    def n_features(self) -> int:
        """Number of features; 0 before the first rows."""
        return self._native.n_features

    @property
    def tasks(self) -> list[Any]:
        """Names of the tasks."""
        return list(self._native.tasks)

    @property
    def nbytes(self) -> int:
        """Bytes that the sums take."""
        return self._native.nbytes

    def _targets(self) -> Targets:
        """The tasks in the form that estimators keep."""
        if self._form is None:
            raise ValueError("the statistics have no rows yet: call update")
        tasks = self.tasks
        return Targets(self._form, np.asarray(tasks), tasks, np.arange(len(tasks) + 1))

    def __repr__(self) -> str:
        return f"<Statistics: {self.n_rows} rows, {self.n_features} features, {len(self.tasks)} tasks>"

    # --- files ---

    def _keep(self) -> None:
        """Keeps with the sums what the engine does not need."""
        own = {"form": self._form, "features": self._features, **self._reader.columns()}
        self._native.attach(json.dumps(own))

    @staticmethod
    def _of(native: Any) -> Statistics:
        own = Statistics.__new__(Statistics)
        stored = json.loads(native.attachment or "{}")
        own._native, own.n_jobs = native, None
        own._form, own._features = stored.get("form"), stored.get("features")
        own._reader = RowReader(*(stored.get(name) for name in ("target", "task", "weight")))
        if own._form is None and native.n_rows:  # not written by this package
            own._form = "rows"
        return own

    def to_bytes(self) -> bytes:
        """The contents of a file."""
        return self._native.to_bytes()

    @staticmethod
    def from_bytes(data: Any) -> Statistics:
        """From the contents of a file."""
        return Statistics._of(_native.Statistics.from_bytes(bytes(data)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a safetensors file. An existing file is replaced atomically."""
        self._native.save(os.fspath(path))

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Statistics:
        """From a file."""
        return Statistics._of(_native.Statistics.load(os.fspath(path)))

    def __reduce__(self) -> Any:
        return Statistics.from_bytes, (self.to_bytes(),)


def _shown(names: list[str] | None) -> str:
    return "without names" if names is None else ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")


class StatisticsMixin:
    """Adds fits of statistics to a regressor."""

    def fit_statistics(self, statistics: Statistics) -> Self:
        """Fits the rows behind statistics: the model that `fit` finds on the rows, up to rounding.

        The certificate is about the statistics: it proves the optimum of the problem that they define, which is that of
        the rows up to the rounding of the sums. `certify_rows` certifies the model by another pass over the rows. The
        loss is the squared one and the kernel linear. The model has no dual variables of rows."""
        fit_sums(self, statistics, statistics._targets())
        return self

    def certify_rows(self, batches: Iterable[Any], statistics: Statistics | None = None) -> Self:
        """Certifies a model of `fit_statistics` by one pass over its rows: `rel_gap_`, `primal_`, `dual_` and `status_`
        are then from the data. `batches` are those that the statistics were made of, as for
        `Statistics.update_batches`, with the same `statistics` if these read columns of frames."""
        own: Any = self
        reader = RowReader() if statistics is None else statistics._reader
        threads = _checks.threads(own.n_jobs)
        parts = []
        for batch in batches:
            args = batch if isinstance(batch, tuple) else (batch,)
            parts.append(np.asarray(certify_part(own.model_, reader, args, threads)))
        own._store_fit(_native.certified(own.model_, parts, float(own.tol)))
        return self


def fit_sums(
    estimator: Any, statistics: Statistics, targets: Targets, ask: Callable[[str, bytes, bytes], Any] | None = None
) -> None:
    """Fits an estimator to statistics; with `ask`, which answers questions about the rows, for any loss."""
    if getattr(estimator, "task_column", None) is not None:
        raise ValueError("task_column: statistics have their tasks already; leave it out and predict with task=...")
    losses = estimator._store_targets(targets)
    estimator._recipe, estimator._data, estimator._checksum, estimator._has_offset = None, None, None, False
    estimator.n_features_in_ = statistics.n_features
    estimator.__dict__.pop("feature_names_in_", None)
    if statistics._features is not None:
        estimator.feature_names_in_ = np.asarray(statistics._features, dtype=object)
    estimator.__dict__.pop("_statistics", None)
    estimator._fit_native_statistics(statistics._native, losses, targets.outputs, ask)


def certify_part(model: Any, reader: RowReader, args: tuple[Any, ...], threads: int) -> list[float]:
    """What one pass over a batch finds about a model, as numbers that add up."""
    rows = reader.read(*args)
    return _native.certify_part(model, rows.inputs(), rows.observations(), threads)
