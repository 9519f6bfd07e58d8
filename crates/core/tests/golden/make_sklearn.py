"""Make sklearn.json: what scikit-learn says about scaling and metrics, for small inputs written out in full.

Run `python make_sklearn.py` (needs numpy and scikit-learn); it takes no arguments and writes sklearn.json next to itself.
"""

import json
import platform
from pathlib import Path

import numpy as np
import sklearn
from sklearn.preprocessing import StandardScaler, normalize

HERE = Path(__file__).resolve().parent


def scaling(rng):
    """Columns of many sizes, far from zero, constant, constant but for rounding."""
    n = 40
    columns = [
        rng.normal(size=n),
        1e6 + rng.normal(size=n),
        1e-100 * rng.normal(size=n),
        1e100 * rng.uniform(1, 2, size=n),
        np.full(n, 0.1),
        1.0 + np.where(np.arange(n) % 2 == 0, 1e-15, 0.0),
        np.zeros(n),
        rng.integers(0, 2, size=n).astype(float),
    ]
    x = np.stack(columns, axis=1)
    scaler = StandardScaler().fit(x)
    return {
        "x": x.ravel().tolist(),
        "rows": n,
        "cols": x.shape[1],
        "mean": scaler.mean_.tolist(),
        "scale": scaler.scale_.tolist(),
        "standard": scaler.transform(x).ravel().tolist(),
        "unit": normalize(x[:, :2]).ravel().tolist(),
    }


def main():
    rng = np.random.default_rng(0)
    versions = {"python": platform.python_version(), "numpy": np.__version__, "sklearn": sklearn.__version__}
    values = {"made_with": versions, "scaling": scaling(rng)}
    (HERE / "sklearn.json").write_text(json.dumps(values) + "\n")


if __name__ == "__main__":
    main()
