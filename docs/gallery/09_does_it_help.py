"""# Does joint learning help?

Twelve shops in two regions, with 25 rows each. `compare=True` fits each task alone and one model for all on the folds
of the search too. Dots are gains over each task alone; grey ones may be noise."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import MultiTaskCV, MultiTaskRegressor

rng = np.random.default_rng(9)
region = np.repeat(rng.normal(size=(2, 8)), 6, axis=0)
weights = region + 0.3 * rng.normal(size=(12, 8))
X = rng.normal(size=(300, 8))
shop = np.arange(300) % 12
sales = (X * weights[shop]).sum(axis=1) + 2.0 * rng.normal(size=300)
search = MultiTaskCV(MultiTaskRegressor(), compare=True).fit(X, sales, task=[f"shop {s}" for s in shop])
for name, found in search.comparison_.items():
    print(f"{name}: gain {found['gain']:+.3f}, standard error {found['standard_error']:.3f}")
print(search.comparison_["stl"]["words"])

fig, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
search.plot_comparison(ax=left)
search.best_estimator_.plot_tree(n_clusters=2, ax=right)
