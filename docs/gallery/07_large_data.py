"""# Large data

200,000 rows of 100 features, 50 tasks, in single precision, read without a copy. The curve is the certificate over
time: at each moment no model can be better by more than this.

Rows that do not fit into memory: [rows anywhere](../scale.md). On a GPU: [the page about it](../gpu.md)."""

import time

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import MultiTaskRegressor, plot

rng = np.random.default_rng(7)
n, d, t = 200_000, 100, 50
X = rng.normal(size=(n, d)).astype(np.float32)
task = rng.integers(t, size=n)
weights = (rng.normal(size=d) + 0.5 * rng.normal(size=(t, d))).astype(np.float32)
y = np.einsum("ij,ij->i", X, weights[task]) + rng.normal(size=n)
start = time.perf_counter()
model = MultiTaskRegressor(C="strength:1", tol=1e-4, n_jobs=-1).fit(X, y, task=task)
print(f"{n:,} rows in {time.perf_counter() - start:.1f} s: {model.status_}, gap {model.rel_gap_:.1e}, {model.solver_}")
print(f"R2 {model.score(X, y, task=task):.3f}")
plot.gap_curve(model)
