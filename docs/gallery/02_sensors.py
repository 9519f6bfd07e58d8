"""# Sensors of a building

Twelve sensors of one building are predicted from the weather. Theta finds which of them are alike, and the tree
shows it."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import OutputKernelRegressor, plot

rng = np.random.default_rng(2)
weather = rng.normal(size=(150, 5))
floors = {"cellar": rng.normal(size=5), "hall": rng.normal(size=5), "roof": rng.normal(size=5)}
names = [f"{floor} {i}" for floor in floors for i in range(4)]
truth = np.column_stack([floors[name.split()[0]] + 0.3 * rng.normal(size=5) for name in names])
readings = weather @ truth + 0.5 * rng.normal(size=(150, 12))

model = OutputKernelRegressor().fit(weather, readings)
clusters = model.task_clusters(3)
print("clusters:", {c: [names[t] for t, own in clusters.items() if own == c] for c in range(3)})
plot.theta_heatmap(model, names=names)
plt.title("Correlation of sensors, learned from the data", pad=90)
