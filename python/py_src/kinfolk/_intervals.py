"""Intervals that contain new labels with about a given probability, from errors of held-out rows."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _calibration, _checks


class IntervalMixin:
    """What regressors share: half of the width of an interval, for each output."""

    if TYPE_CHECKING:
        model_: Any
        _held_out: tuple[np.ndarray, np.ndarray]

        @property
        def theta_names_(self) -> list[Any]: ...

    def _half_widths(self, coverage: float) -> tuple[np.ndarray, float]:
        """Half of the width of an interval for each output, and for tasks that are not known."""
        half = self.model_.interval_half_widths(_checks.share("coverage", coverage))
        if half is None:
            # Pickles contain these errors and not the training data.
            if not hasattr(self, "_held_out"):
                self._held_out = self._held_out_errors()
            half = self.model_.interval_half_widths(coverage, self._held_out)
        return (np.full(len(self.theta_names_), np.inf), np.nan) if half is None else half

    def _held_out_errors(self) -> tuple[np.ndarray, np.ndarray]:
        """Outputs and errors of rows of the training data, each predicted by a model that did not see it."""
        raise ValueError("predict_interval: the model has no errors of held-out rows; fit with C='auto'")


class KeptIntervalMixin(IntervalMixin):
    """For estimators that keep their training data."""

    if TYPE_CHECKING:

        def _kept(self, what: str) -> Any: ...

    def _held_out_errors(self) -> tuple[np.ndarray, np.ndarray]:
        if getattr(self, "_data", None) is None:
            raise ValueError(
                "predict_interval: with a given C the errors come from the training data, which are not here "
                "(keep_data=False, or a loaded model); fit with C='auto', or call it once before the model is pickled"
            )
        other: Any = copy.copy(self)
        data = other._prepare_kept(self._kept("predict_interval"))
        triples = data.triples
        assert triples is not None
        error = triples.label - _calibration.held_out_scores(self, data)
        return triples.output.astype(np.int64), error
