"""# On a GPU

The same call on the processor and on a CUDA device: only `device` differs. Where there is no device the error says
what is missing, and the curve of the processor stands alone. The certificate is the same in both places, and the duals
of one place are a solution in the other. [More about GPUs](../gpu.md)."""

import matplotlib.pyplot as plt
import numpy as np

from kinfolk import OutputKernelRegressor

rng = np.random.default_rng(0)
d, t = 256, 40
weights = rng.normal(size=(d, 5)) @ rng.normal(size=(5, t)) + 0.3 * rng.normal(size=(d, t))
rows = [2_000, 5_000, 10_000, 20_000]
X = rng.normal(size=(rows[-1], d)).astype(np.float32)
Y = X @ weights + 10 * rng.normal(size=(rows[-1], t))
for device in ("cpu", "cuda"):
    seconds = []
    try:
        OutputKernelRegressor(C="strength:1", device=device).fit(X[:300], Y[:300])  # opens the device
        for n in rows:
            model = OutputKernelRegressor(C="strength:1", tol=1e-6, device=device).fit(X[:n], Y[:n])
            seconds.append(model.seconds_)
            print(f"{device}, {n:,} rows: {model.seconds_:.3f} s, {model.status_}, gap {model.rel_gap_:.1e}")
    except (ValueError, RuntimeError) as error:
        print(f"{device}: {error}")
    plt.loglog(rows[: len(seconds)], seconds, "o-", label=device if seconds else f"{device}: not here")
plt.xlabel("rows")
plt.ylabel("seconds, certificate included")
plt.legend()
plt.title(f"{d} features, {t} targets, gap 1e-6")
