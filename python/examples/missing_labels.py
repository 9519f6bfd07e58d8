"""A table with missing labels: patients, and several measurements that not everybody has.

python missing_labels.py
"""

import numpy as np

from kinfolk import MultiTaskRegressor

rng = np.random.default_rng(11)
patients, features, measurements = 200, 12, 6
X = rng.normal(size=(patients, features))
shared = rng.normal(size=(features, 2))
truth = X @ shared @ rng.normal(size=(2, measurements)) + 0.3 * rng.normal(size=(patients, measurements))

Y = truth.copy()
Y[rng.random(Y.shape) < 0.7] = np.nan  # seven of ten labels are missing

together = MultiTaskRegressor().fit(X, Y)
alone = MultiTaskRegressor(method="stl").fit(X, Y)
filled, by_itself = together.predict(X), alone.predict(X)

missing = np.isnan(Y)
error = lambda guess: np.sqrt(np.mean((guess[missing] - truth[missing]) ** 2))
print(f"error at the missing cells: together {error(filled):.3f}, alone {error(by_itself):.3f}")
print(f"{together.status_}: relative gap {together.rel_gap_:.1e}")

# A measurement that is new, with few labels, joins the others.
y = X[:30] @ shared @ [0.5, -1.0] + 0.3 * rng.normal(size=30)
together.add_task(X[:30], y, name=measurements)
print(f"tasks now: {together.tasks_.tolist()}, relative gap {together.rel_gap_:.1e}")
