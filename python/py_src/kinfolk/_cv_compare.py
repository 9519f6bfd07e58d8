"""Does joint learning help? What a search found about independent tasks and about one model for all."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._labelled import number, pandas_module

if TYPE_CHECKING:
    import pandas


class Comparisons:
    """The comparisons of a fitted search as a frame."""

    if TYPE_CHECKING:
        comparison_: dict[str, dict[str, Any]]

    @property
    def comparison_frame_(self) -> pandas.DataFrame:
        """Gain of each task, a row for each task, with its standard error."""
        columns = {}
        for baseline, found in self.comparison_.items():
            columns[f"gain over {baseline}"] = found["per_task"]
            columns[f"standard error over {baseline}"] = found["per_task_standard_error"]
        return pandas_module().DataFrame(columns)


def read(results: str, names: list[Any]) -> dict[str, dict[str, Any]]:
    """The comparisons of the engine's results by the name of the baseline; `names` are those of the tasks."""
    found = {}
    for each in json.loads(results)["comparisons"]:
        by_task = {key: _by_name(names, each[key]) for key in ("per_task", "per_task_standard_error")}
        named = {key: [names[t] for t in each[key]] for key in ("helped", "hurt")}
        numbers = {key: number(each[key]) for key in ("gain", "standard_error")}
        found[str(each["baseline"])] = {**numbers, **by_task, **named, "words": each["words"]}
    return found


def _by_name(names: list[Any], values: list[float | None]) -> dict[Any, float]:
    return dict(zip(names, map(number, values), strict=True))
