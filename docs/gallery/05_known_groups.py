"""# Shops with known regions

You know which shops are in one region, but not how much that matters. As an *atom* the regions become a part of
Theta whose weight is learned; wrong groups get little."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import MultiTaskRegressor

rng = np.random.default_rng(5)
shops = [f"shop {i:02}" for i in range(24)]
region = {shop: ["coast", "hills", "city"][i % 3] for i, shop in enumerate(shops)}
wrong = dict(zip(shops, rng.permutation(list(region.values()))))
of_region = {name: rng.normal(size=8) for name in ("coast", "hills", "city")}
task = np.repeat(shops, 108)
weights = np.asarray([of_region[region[shop]] for shop in shops]) + 0.2 * rng.normal(size=(24, 8))
X = rng.normal(size=(len(task), 8))
y = (X * np.repeat(weights, 108, axis=0)).sum(axis=1) + rng.normal(size=len(task))
train = np.arange(len(task)) % 108 < 8

shares, scores = {}, {}
for name, atoms in {"none": None, "regions": {"region": region}, "wrong groups": {"region": wrong}}.items():
    model = MultiTaskRegressor(atoms=atoms).fit(X[train], y[train], task=task[train])
    scores[name] = model.score(X[~train], y[~train], task=task[~train])
    shares[name] = model.atom_shares_.get("region", 0.0)
    print(f"{name:13} R2 {scores[name]:.3f}, share of the relation in the model {shares[name]:.0%}")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.5), layout="constrained")
axes[0].bar(list(scores), list(scores.values()), color="tab:blue")
axes[0].set_ylabel("R2 on new rows")
axes[1].bar(list(shares), list(shares.values()), color="tab:orange")
axes[1].set_ylabel("share of the known relation")
