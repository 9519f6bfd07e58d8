"""The report of the command from Python: one HTML page about a fitted estimator."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sklearn.utils.validation import check_is_fitted

from . import _native

Data = tuple[str, Any, Any]
"""What the page calls them, inputs and observations of the engine."""
TRAINING = "the training data"
GIVEN = "the rows given"


def write(estimator: Any, path: str | os.PathLike[str], data: list[Data], selection: str | None) -> None:
    """Writes the page. The file is opened when the page is complete."""
    about = (type(estimator).__name__, " ".join(repr(estimator).split()))
    page = _native.report(estimator.model_, about, data, selection)
    Path(path).write_text(page, encoding="utf-8")


class ReportMixin:
    """Adds `report` to an estimator whose rows have no tasks."""

    def report(
        self, path: str | os.PathLike[str], X: Any = None, y: Any = None, *, sample_weight: Any = None
    ) -> None:
        """Writes an HTML page, which loads nothing from the network: how good the model is, its certificate, which
        outputs are related. With X and y, also scores of each output; if they are the data of the fit (with the
        weights that they had), the certificate is computed from them again."""
        self._write_report(path, X, y, None, sample_weight)

    def _write_report(
        self,
        path: str | os.PathLike[str],
        X: Any,
        y: Any,
        task: Any,
        sample_weight: Any,
        selection: str | None = None,
    ) -> None:
        """The page, with the results of a search if there are any."""
        check_is_fitted(self)
        if (X is None) != (y is None):
            raise ValueError("report: give both X and y, or none of them")
        data = self._report_data(X, y, task, sample_weight) if X is not None else []
        write(self, path, [*data, *self._kept_data(data)], selection)

    def _report_data(self, X: Any, y: Any, task: Any, sample_weight: Any) -> list[Data]:
        """Rows with labels, in the outputs of the model."""
        raise NotImplementedError

    def _kept_data(self, given: list[Data]) -> list[Data]:
        """The training data, if they are here and are not those that are given."""
        return []


class TaskReportMixin(ReportMixin):
    """Adds `report` to an estimator whose rows may have tasks."""

    def report(
        self, path: str | os.PathLike[str], X: Any = None, y: Any = None, task: Any = None, *, sample_weight: Any = None
    ) -> None:
        """Writes an HTML page, which loads nothing from the network: how good the model is, its certificate, which
        tasks are related, scores of each task on the training data. X, y and task are more rows with labels, such as a
        test set. The certificate is computed from the training data again, unless they are not here (`keep_data=False`,
        or a loaded model): then give them, with the weights that they had."""
        self._write_report(path, X, y, task, sample_weight)
