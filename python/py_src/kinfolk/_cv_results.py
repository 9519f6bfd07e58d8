"""The table of cross-validation, in the columns of `GridSearchCV`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from . import _warnings

Scores = dict[str, np.ndarray]
"""By the name of the scorer: (settings, folds)."""


@dataclass
class SettingResult:
    """What cross-validation found for one setting of the other parameters, at each C."""

    params: list[dict[str, Any]]
    score: list[float]
    """What it is chosen by, at each C."""
    test: Scores
    train: Scores
    """Empty if they are not asked for."""
    rel_gap: list[float | None]
    seconds: list[float]
    """Of all folds together."""
    score_seconds: np.ndarray | None = None
    """(values of C, folds), where scorers of scikit-learn are called."""
    undefined: list[str] = field(default_factory=list)
    """What is to be said about scores that are undefined."""
    chosen: int | None = None
    """The C that the search of the engine ended with, if it did with this setting."""


@dataclass
class Results:
    """All settings."""

    settings: list[SettingResult]
    n_splits: int
    of_command: bool
    """Whether scores are metrics of the command, which may be undefined in some folds."""

    def params(self) -> list[dict[str, Any]]:
        return [row for setting in self.settings for row in setting.params]

    def columns(self, primary: str) -> dict[str, Any]:
        """The columns of `cv_results_`."""
        params = self.params()
        results: dict[str, Any] = {"params": params}
        for name in dict.fromkeys(name for row in params for name in row):
            values = np.empty(len(params), dtype=object)
            values[:] = [row.get(name) for row in params]
            results[f"param_{name}"] = np.ma.MaskedArray(values, mask=[name not in row for row in params])
        for part in ("test", "train"):
            names = list(dict.fromkeys(name for setting in self.settings for name in getattr(setting, part)))
            for name in names:
                scores = np.concatenate([getattr(setting, part)[name] for setting in self.settings])
                self._add_scores(results, part, name, scores)
                if part == "test":
                    chosen_by = self.scores() if name == primary else results[f"mean_test_{name}"]
                    order = np.nan_to_num(chosen_by, nan=-np.inf)
                    ranks = [1 + int((order > own).sum()) for own in order]
                    results[f"rank_test_{name}"] = np.asarray(ranks, dtype=np.int32)
        gaps = [gap for setting in self.settings for gap in setting.rel_gap]
        results["max_rel_gap"] = np.asarray(gaps, dtype=float)
        results["mean_fit_time"] = np.asarray([own for setting in self.settings for own in setting.seconds])
        results["mean_fit_time"] /= self.n_splits
        if all(setting.score_seconds is not None for setting in self.settings):
            seconds = np.concatenate([np.asarray(setting.score_seconds) for setting in self.settings])
            results["mean_score_time"], results["std_score_time"] = seconds.mean(axis=1), seconds.std(axis=1)
        return results

    def _add_scores(self, results: dict[str, Any], part: str, name: str, scores: np.ndarray) -> None:
        for f in range(self.n_splits):
            results[f"split{f}_{part}_{name}"] = scores[:, f]
        known = np.ma.masked_invalid(scores) if self.of_command else np.ma.MaskedArray(scores)
        results[f"mean_{part}_{name}"] = known.mean(axis=1).filled(np.nan)
        results[f"std_{part}_{name}"] = known.std(axis=1).filled(np.nan)

    def scores(self) -> np.ndarray:
        """What settings are chosen by."""
        return np.asarray([each for setting in self.settings for each in setting.score])

    def best(self) -> int:
        """Of equal scores the first, which has the smallest C, as in the command select. A search keeps to what is
        simple unless something is better beyond noise."""
        for note in dict.fromkeys(note for setting in self.settings for note in setting.undefined):
            _warnings.warn(note, UndefinedMetricWarning)
        scores = self.scores()
        if np.isnan(scores).all():
            raise ValueError("the score of every setting is undefined (NaN): nothing can be chosen by it")
        before = 0
        for setting in self.settings:
            if setting.chosen is not None:
                return before + setting.chosen
            before += len(setting.params)
        return int(np.nan_to_num(scores, nan=-np.inf).argmax())
