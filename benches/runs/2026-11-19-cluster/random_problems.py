"""Random fits of shards: prints those that are not certified, beside the fit in memory."""

import numpy as np, sys, time, warnings

warnings.simplefilter("ignore")
from kinfolk import *
from kinfolk.cluster import arrays, fit


def draw(seed):
    r = np.random.default_rng(seed)
    n = int(10 ** r.uniform(2, 3.8))
    d = int(10 ** r.uniform(0, 1.9))
    T = int(10 ** r.uniform(0, 1.3))
    k = int(r.integers(1, 9))
    X = r.normal(size=(n, d))
    kind = r.choice(["plain", "scaled", "shift", "dummies", "heavy", "sparse01", "corr"])
    if kind == "scaled":
        X *= 10 ** r.uniform(-3, 3, size=d)
    if kind == "shift":
        X += r.normal(size=d) * 10
    if kind == "dummies":
        X = (r.integers(max(2, d), size=n)[:, None] == np.arange(max(2, d))).astype(float)
        d = X.shape[1]
    if kind == "heavy":
        X = r.standard_t(2, size=(n, d))
    if kind == "sparse01":
        X = (r.random((n, d)) < 0.1).astype(float)
    if kind == "corr":
        X = X + 3 * r.normal(size=(n, 1))
    task = r.integers(T, size=n)
    S = X.std(0)
    S[S == 0] = 1
    W = (r.normal(size=d) + r.choice([0, 0.3, 1]) * r.normal(size=(T, d))) / S / np.sqrt(d)
    z = np.einsum("ij,ij->i", X - X.mean(0), W[task])
    noise = r.choice([0.01, 0.3, 1, 3])
    y = z + noise * r.normal(size=n) * (1 if r.random() < 0.7 else np.abs(r.standard_cauchy(size=n)))
    C = 10 ** r.uniform(-3, 2)
    loss = str(
        r.choice(
            [
                "epsilon:0.1",
                "absolute",
                "huber:0.5",
                "quantile:0.8",
                "squared_epsilon:0.1",
                "logistic",
                "hinge",
                "squared_hinge",
                "smoothed_hinge:0.5",
            ]
        )
    )
    method = str(r.choice(["kin", "fmtl", "pooled", "stl"]))
    tol = float(r.choice([1e-3, 1e-6]))
    cls = loss in ("logistic", "hinge", "squared_hinge") or loss.startswith("smoothed")
    form = str(r.choice(["rows", "rows", "wide"]))
    kw = dict(loss=loss, C=C, tol=tol, method=method, max_seconds=60)
    if form == "wide" or (cls and r.random() < 0.3):
        if cls:
            lab = np.argmax(X @ r.normal(size=(d, max(2, T))) / S.mean() + r.normal(size=(n, max(2, T))), axis=1)
            return OutputKernelClassifier(**kw), (X, lab), (kind, loss, method, n, d, T, k, C, tol, "classes"), k
        Y = (X - X.mean(0)) @ W.T + noise * r.normal(size=(n, T))
        Y[r.random(Y.shape) < 0.1] = np.nan
        if T == 1:
            Y = np.nan_to_num(Y)
        return MultiTaskRegressor(**kw), (X, Y), (kind, loss, method, n, d, T, k, C, tol, "wide"), k
    if cls:
        return (
            MultiTaskClassifier(**kw),
            (X, np.where(y > np.quantile(y, r.choice([0.5, 0.9])), 1, 0), task),
            (kind, loss, method, n, d, T, k, C, tol, "rows"),
            k,
        )
    return MultiTaskRegressor(**kw), (X, y, task), (kind, loss, method, n, d, T, k, C, tol, "rows"), k


def main():
    a, b = int(sys.argv[1]), int(sys.argv[2])
    ok = 0
    tot = 0
    ex = []
    for s in range(a, b):
        est, rows, about, k = draw(s)
        try:
            t = time.time()
            order = np.arange(len(rows[0]))
            m = fit(est, arrays([tuple(v[i::k] for v in rows) for i in range(k)]))
            t1 = time.time() - t
        except Exception as e:
            print(s, "ERROR", type(e).__name__, str(e)[:150], about, flush=True)
            continue
        tot += 1
        good = m.status_ == "certified"
        if not good or "-v" in sys.argv:
            w = est.__class__(**est.get_params()).fit(*rows[:2], **({} if len(rows) < 3 else dict(task=rows[2])))
            print(
                s,
                m.status_,
                f"{m.rel_gap_:.1e}",
                m.n_passes_,
                f"{t1:.1f}s | memory:",
                w.status_,
                f"{w.rel_gap_:.1e}",
                f"{w.primal_:.6g} {m.primal_:.6g}",
                about,
                flush=True,
            )
        ok += good
        ex.append(m.n_passes_)
    print(ok, "of", tot, "median questions", np.median(ex), "max", max(ex))


if __name__ == "__main__":
    main()
