"""Fits of rows that lie in many files or on many machines, for the squared loss.

The rows are cut into shards. Each shard is a recipe, a few hundred bytes that say how to read its rows, so that a lost
worker is no loss: another one reads the recipe again. Workers never wait for each other. The first exchange adds up
`Statistics`, the second certifies the model from the rows. Sums are added in a fixed order by the number of the shard:
their bits depend on the list of shards alone, and not on workers or on who is fast.

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
from ._engines import ShardError
from ._sources import Recipe, Source, arrays, arrow, parquet

__all__ = ["Recipe", "ShardError", "Source", "arrays", "arrow", "fit", "parquet"]
