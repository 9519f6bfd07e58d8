"""# A new task

A shop opens. Before it has any sales, its region predicts them; with each week of sales the model knows it better.
Labels are scaled by a common spread, and shops have no intercepts: two labels of a new task do not tell its own."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import Atom, MultiTaskRegressor

rng = np.random.default_rng(6)
shops = [f"shop {i}" for i in range(8)] + ["new shop"]
region = {shop: "coast" if i % 2 == 0 else "hills" for i, shop in enumerate(shops)}
of_region = {"coast": rng.normal(size=5), "hills": rng.normal(size=5)}
weights = {shop: of_region[region[shop]] + 0.3 * rng.normal(size=5) for shop in shops}


def sales(shop, n):
    X = rng.normal(size=(n, 5))
    return X, X @ weights[shop] + 0.5 * rng.normal(size=n)


old = [sales(shop, 40) for shop in shops[:-1]]
X, y = np.vstack([part[0] for part in old]), np.concatenate([part[1] for part in old])
task = np.repeat(shops[:-1], 40)
X_new, y_new = sales("new shop", 60)
X_test, y_test = sales("new shop", 500)
atoms = {"region": Atom(region, weight=30)}
model = MultiTaskRegressor(C="strength:1", target_scale="common", intercept="none", atoms=atoms).fit(X, y, task=task)
rows, scores = [0, 2, 5, 10, 20, 40, 60], []
for n in rows:
    if n:
        both = np.vstack([X, X_new[:n]]), np.concatenate([y, y_new[:n]]), np.append(task, ["new shop"] * n)
        model.fit(both[0], both[1], task=both[2])
    scores.append(1 - np.mean((y_test - model.predict(X_test, task="new shop")) ** 2) / y_test.var())
    print(f"{n:3} rows: R2 {scores[-1]:.3f}")

plt.figure(figsize=(6, 4), layout="constrained")
plt.plot(rows, scores, "o-")
plt.xlabel("rows of the new task")
plt.ylabel("R2")
plt.title("A task without rows borrows from its region")
