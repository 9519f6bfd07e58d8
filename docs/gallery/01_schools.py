"""# Pupils of many schools

Scores of pupils in 40 schools with 8 pupils each: too few for a model of each school, and schools differ too much
for one model of all. Learned together, schools borrow from those that are like them."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import MultiTaskRegressor, plot

rng = np.random.default_rng(1)
n_schools, n_train, n_test = 40, 8, 60
kinds = rng.normal(size=(3, 6))
school = np.repeat([f"school {i:02}" for i in range(n_schools)], n_train + n_test)
weights = np.repeat(kinds[np.arange(n_schools) % 3] + 0.2 * rng.normal(size=(n_schools, 6)), n_train + n_test, axis=0)
X = rng.normal(size=(len(school), 6))
y = 50 + 5 * (X * weights).sum(axis=1) + 6 * rng.normal(size=len(school))
train = np.arange(len(school)) % (n_train + n_test) < n_train

scores = {}
for method in ("kin", "stl", "pooled"):
    model = MultiTaskRegressor(method=method).fit(X[train], y[train], task=school[train])
    scores[method] = model.score_per_task(X[~train], y[~train], task=school[~train])
    mean = np.mean(list(scores[method].values()))
    print(f"{method:7} R2 on new pupils {mean:.3f}, proved within {model.rel_gap_:.0e}")

plot.task_gain(scores["kin"], scores["stl"])
plt.title("What each school gains by joint learning")
