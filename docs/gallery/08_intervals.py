"""# How sure is a prediction?

Intervals from errors of held-out rows: wider for tasks that are noisier, and as often right as they promise."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import MultiTaskRegressor

rng = np.random.default_rng(8)
tasks = np.repeat([f"station {i}" for i in range(10)], 150)
noise = np.repeat(np.linspace(0.2, 2, 10), 150)
X = rng.normal(size=(1500, 4))
y = X @ [1.0, -2.0, 0.5, 0.0] + noise * rng.normal(size=1500)
train = np.arange(1500) % 150 < 50
model = MultiTaskRegressor().fit(X[train], y[train], task=tasks[train])
low, high = model.predict_interval(X[~train], task=tasks[~train], coverage=0.9)
right = (low <= y[~train]) & (y[~train] <= high)
print(f"{right.mean():.1%} of new labels are inside intervals of 90 %")

names = list(dict.fromkeys(tasks))
width = [(high - low)[tasks[~train] == name].mean() for name in names]
inside = [right[tasks[~train] == name].mean() for name in names]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
axes[0].bar(names, width)
axes[0].set_ylabel("width of intervals")
axes[1].bar(names, inside)
axes[1].axhline(0.9, color="0.3", linestyle="--")
axes[1].set_ylabel("share of labels inside")
for ax in axes:
    ax.tick_params(axis="x", rotation=90)
