"""# Molecules with missing measurements

Assays of molecules are expensive: most cells of the table are empty. A row with one measurement still helps all
assays that are related."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import MultiTaskRegressor

rng = np.random.default_rng(3)
X = rng.normal(size=(300, 20))
shared = rng.normal(size=20)
truth = np.column_stack([shared + 0.4 * rng.normal(size=20) for _ in range(8)])
Y = X @ truth + rng.normal(size=(300, 8))
shares, together, alone = [0.9, 0.8, 0.6, 0.3], [], []
for missing in shares:
    table = np.where(rng.random(Y.shape) < missing, np.nan, Y)
    table[200:] = np.nan
    for method, scores in (("kin", together), ("stl", alone)):
        model = MultiTaskRegressor(method=method).fit(X, table)
        scores.append(model.score(X[200:], Y[200:]))
    print(f"{missing:.0%} missing: {together[-1]:.3f} together, {alone[-1]:.3f} alone")

plt.figure(figsize=(6, 4), layout="constrained")
plt.plot(shares, together, "o-", label="together (kin)")
plt.plot(shares, alone, "o-", label="each assay alone")
plt.xlabel("share of missing measurements")
plt.ylabel("R2 on new molecules")
plt.legend(frameon=False)
