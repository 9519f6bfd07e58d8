"""Squared loss with an RBF kernel, ten tasks on the same rows, 16 threads, beside scikit-learn's KernelRidge."""

import time

import kinfolk
import numpy as np
from sklearn.kernel_ridge import KernelRidge

rng = np.random.default_rng(5)
for n in (2000, 6000):
    x = rng.normal(size=(n, 30))
    y = np.tanh(x @ rng.normal(size=(30, 10))) + 0.3 * rng.normal(size=(n, 10))
    began = time.time()
    KernelRidge(kernel="rbf", gamma=1 / 30, alpha=1.0).fit(x, y)
    peer = time.time() - began
    for method in ("kin", "fmtl:k=1"):
        began = time.time()
        model = kinfolk.OutputKernelRegressor(
            kernel="rbf", C="strength:1", n_jobs=16, method=method, tol=1e-6, max_seconds=60
        ).fit(x, y)
        took = f"KernelRidge {peer:.2f} s, kinfolk {time.time() - began:.2f} s"
        print("rbf squared", n, method, took, model.status_, model.solver_, model.rel_gap_, flush=True)
