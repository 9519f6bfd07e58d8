"""# Sensors of a building

Twelve sensors of one building are predicted from the weather. Those of a floor follow the same parts of it: rain and
the ground in the cellar, heat in the hall, sun and wind on the roof. Theta finds which of them are alike, and the tree
shows it: cut into three clusters, it has the three floors. It is about the size of correlations, so that sensors which
do the opposite of each other would be alike, too."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import OutputKernelRegressor, plot

rng = np.random.default_rng(2)
weather = rng.normal(size=(150, 5))
# Rain, temperature of the ground and of the air, sun, wind.
floors = {"cellar": [2.0, 1.0, 0.0, 0.0, 0.0], "hall": [0.0, 0.5, 2.0, 0.0, 0.0], "roof": [0.0, 0.0, 0.5, 2.0, -1.0]}
names = [f"{floor} {i}" for floor in floors for i in range(4)]
truth = np.column_stack([floors[name.split()[0]] + 0.3 * rng.normal(size=5) for name in names])
readings = weather @ truth + 0.5 * rng.normal(size=(150, 12))

model = OutputKernelRegressor().fit(weather, readings)
clusters = model.task_clusters(3)
for cluster in range(3):
    print(f"cluster {cluster}:", ", ".join(names[t] for t, own in clusters.items() if own == cluster))
plot.theta_heatmap(model, names=names)
plt.title("Correlation of sensors, learned from the data")
