"""Make sklearn.json: what scikit-learn says about scaling and metrics, for small inputs written out in full.

Run `python make_sklearn.py` (needs numpy and scikit-learn); it takes no arguments and writes sklearn.json next
to itself.
"""

import json
import platform
from pathlib import Path

import numpy as np
import sklearn
from sklearn import metrics as sk
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


def two_classes(rng, n, ties):
    """Scores that know a little; with ties, of a few values only."""
    label = np.where(rng.random(n) < 0.3, 1.0, -1.0)
    score = 0.7 * label + rng.normal(size=n)
    if ties:
        score = np.round(score)
    weight = rng.uniform(0.1, 3.0, size=n)
    out = {"label": label.tolist(), "score": score.tolist(), "weight": weight.tolist()}
    probability = 1 / (1 + np.exp(-score))
    for name, w in [("plain", None), ("weighted", weight)]:
        out[name] = {
            "accuracy": sk.accuracy_score(label, np.where(score > 0, 1.0, -1.0), sample_weight=w),
            "balanced_accuracy": sk.balanced_accuracy_score(label, np.where(score > 0, 1.0, -1.0), sample_weight=w),
            "auc": sk.roc_auc_score(label, score, sample_weight=w),
            "pr_auc": sk.average_precision_score(label, score, sample_weight=w),
            "f1_macro": sk.f1_score(label, np.where(score > 0, 1.0, -1.0), average="macro", sample_weight=w),
            "log_loss": sk.log_loss(label, probability, sample_weight=w),
            "brier": sk.brier_score_loss(label, probability, sample_weight=w, pos_label=1.0),
        }
    return out


def numbers(rng, n):
    label = 5 + rng.normal(size=n)
    score = label + 0.5 + 0.4 * rng.normal(size=n)
    weight = rng.uniform(0.1, 3.0, size=n)
    out = {"label": label.tolist(), "score": score.tolist(), "weight": weight.tolist()}
    for name, w in [("plain", None), ("weighted", weight)]:
        out[name] = {
            "r2": sk.r2_score(label, score, sample_weight=w),
            "explained_variance": sk.explained_variance_score(label, score, sample_weight=w),
            "rmse": sk.root_mean_squared_error(label, score, sample_weight=w),
            "nrmse": float(np.sqrt(1 - sk.r2_score(label, score, sample_weight=w))),
            "mae": sk.mean_absolute_error(label, score, sample_weight=w),
        }
    return out


def many_classes(rng, n, t):
    label = np.concatenate([np.arange(t), rng.integers(0, t, size=n - t)])
    score = rng.normal(size=(n, t))
    score[np.arange(n), label] += 1.0
    weight = rng.uniform(0.1, 3.0, size=n)
    out = {"label": label.tolist(), "score": score.ravel().tolist(), "weight": weight.tolist(), "classes": t}
    for name, w in [("plain", None), ("weighted", weight)]:
        top = {str(k): sk.top_k_accuracy_score(label, score, k=k, sample_weight=w) for k in range(1, t)}
        out[name] = {"top": top, "accuracy": sk.accuracy_score(label, score.argmax(axis=1), sample_weight=w)}
    return out


def main():
    rng = np.random.default_rng(0)
    versions = {"python": platform.python_version(), "numpy": np.__version__, "sklearn": sklearn.__version__}
    values = {
        "made_with": versions,
        "scaling": scaling(rng),
        "two_classes": [two_classes(rng, 50, False), two_classes(rng, 60, True), two_classes(rng, 5, True)],
        "numbers": [numbers(rng, 30), numbers(rng, 2)],
        "many_classes": [many_classes(rng, 40, 5)],
    }
    (HERE / "sklearn.json").write_text(json.dumps(values) + "\n")


if __name__ == "__main__":
    main()
