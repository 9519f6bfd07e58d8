"""Fits of rows that lie in many files or on many machines, for every loss.

The rows are cut into shards. Each shard is a recipe, a few hundred bytes that say how to read its rows, so that a lost
worker is no loss: another one reads the recipe again. Workers never wait for each other. The driver asks all shards the
same question and adds up their answers in a fixed order by the number of the shard: bits depend on the list of shards
alone, and not on workers or on who is fast.

The squared loss takes two questions: `Statistics`, and the certificate. Other losses take as many as Newton's method
asks, some ten times or more; workers keep their rows between two questions.

>>> import numpy as np
>>> from kinfolk import MultiTaskRegressor
>>> from kinfolk.cluster import arrays, fit
>>> rng = np.random.default_rng(0)
>>> X, task = rng.normal(size=(400, 3)), rng.integers(2, size=400)
>>> y = X @ [1.0, -1.0, 0.5] + 0.1 * rng.normal(size=400)
>>> parts = [(X[i::4], y[i::4], task[i::4]) for i in range(4)]
>>> fit(MultiTaskRegressor(), arrays(parts)).status_
'certified'
"""

from __future__ import annotations

from ._driver import fit
from ._sources import Recipe, Source, arrays, arrow, dask, parquet, ray_dataset
from ._team import Engine, ShardError, Team

__all__ = [
    "Engine", "Recipe", "ShardError", "Source", "Team", "arrays", "arrow", "dask", "fit", "parquet", "ray_dataset"
]
