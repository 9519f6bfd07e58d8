"""The data sets of the solver benchmark, written as raw files that the executable and the peers read."""

import json
import os
import pathlib
import sys

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

CLASSIFICATION = ["squared", "logistic", "hinge", "squared_hinge"]
REGRESSION = ["squared", "epsilon:0.1"]
SMALL_OUTPUTS = ["k1", "k4"]
ALL_OUTPUTS = ["k1", "k2", "k4", "exp", "cosh"]


def found_folder():
    """Where the data sets are, or None."""
    for folder in (os.environ.get("KINFOLK_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (pathlib.Path(folder) / "landmine.npz").exists():
            return pathlib.Path(folder)
    return None


def data_folder():
    """Where the data sets are, or an honest exit."""
    folder = found_folder()
    if folder is not None:
        return folder
    sys.exit("skipped: the data sets are neither in $KINFOLK_DATA nor in ../shared/data")


def read(name):
    with np.load(data_folder() / f"{name}.npz", allow_pickle=False) as file:
        return {key: file[key] for key in file.files}


def standard(a):
    """Columns of mean 0 and standard deviation 1; constant ones become 0."""
    spread = a.std(axis=0)
    return (a - a.mean(axis=0)) / np.where(spread > 0, spread, 1)


def unit(x):
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def landmine():
    f = read("landmine")
    return {"x": standard(f["X"]), "task": f["task"], "y": f["y"], "metric": "auc"}


def parkinson():
    f = read("parkinson")
    return {"x": standard(f["X"]), "task": f["task"], "y": standard(f["y"]), "metric": "explained_variance"}


def sarcos():
    """200 rows for each task, none of them shared."""
    f = read("sarcos")
    rows = np.random.default_rng(0).permutation(len(f["X"]))[:1400]
    task = np.arange(1400) % 7
    y = f["Y"][rows, task].astype(float)
    for t in range(7):
        y[task == t] = standard(y[task == t])
    return {"x": standard(f["X"][rows]), "task": task, "y": y, "metric": "explained_variance"}


def lapin14(name):
    f = read(name)
    rows = f["split"] == 0
    return {"x": unit(f["X"][rows].astype(float)), "class": f["label"][rows]}


def per_class(name, most):
    """At most so many rows of each class, of the training rows."""
    f = read(name)
    x, label = f["X"][f["split"] == 0].astype(float), f["label"][f["split"] == 0]
    order = np.random.default_rng(0).permutation(len(label))
    place = np.empty(len(label), int)
    for c in range(label.max() + 1):
        rows = order[label[order] == c]
        place[rows] = np.arange(len(rows))
    rows = np.flatnonzero(place < most) if most else np.arange(len(label))
    return {"x": x[rows], "class": label[rows]}


def digits():
    from sklearn.datasets import load_digits

    x, label = load_digits(return_X_y=True)
    return {"x": x / 16, "class": label, "kernel": "rbf"}


def gen400():
    """400 classes in 20 groups, 50 rows each; variances of the 1024 directions fall like 1 / index, as those of
    embeddings do."""
    rng = np.random.default_rng(400)
    groups, classes, rows, d = 20, 20, 50, 1024
    centre = np.repeat(rng.standard_normal((groups, d)), classes, axis=0)
    centre = centre + 0.7 * rng.standard_normal((groups * classes, d))
    x = np.repeat(0.25 * centre, rows, axis=0)
    x += rng.standard_normal(x.shape)
    x *= (1.0 + np.arange(d)) ** -0.5
    x = x @ np.linalg.qr(rng.standard_normal((d, d)))[0]
    return {"x": unit(x), "class": np.repeat(np.arange(groups * classes), rows)}


SETS = {
    "landmine": (landmine, CLASSIFICATION, SMALL_OUTPUTS),
    "parkinson": (parkinson, REGRESSION, ALL_OUTPUTS),
    "sarcos": (sarcos, REGRESSION, SMALL_OUTPUTS),
    "mnist_lapin14": (lambda: lapin14("mnist_lapin14"), CLASSIFICATION, SMALL_OUTPUTS),
    "usps_lapin14": (lambda: lapin14("usps_lapin14"), CLASSIFICATION, ALL_OUTPUTS),
    "banking77-5": (lambda: per_class("banking77", 5), CLASSIFICATION, SMALL_OUTPUTS),
    "banking77-20": (lambda: per_class("banking77", 20), CLASSIFICATION, SMALL_OUTPUTS),
    "banking77-all": (lambda: per_class("banking77", None), CLASSIFICATION, SMALL_OUTPUTS),
    "miniplaces100-5": (lambda: per_class("miniplaces100", 5), CLASSIFICATION, SMALL_OUTPUTS),
    "miniplaces100-20": (lambda: per_class("miniplaces100", 20), CLASSIFICATION, SMALL_OUTPUTS),
    "miniplaces100-all": (lambda: per_class("miniplaces100", None), CLASSIFICATION, SMALL_OUTPUTS),
    "digits-rbf": (digits, CLASSIFICATION, SMALL_OUTPUTS),
    "gen400": (gen400, CLASSIFICATION, SMALL_OUTPUTS),
}
PREPARED = """Preparation: landmine: features standardised. parkinson: features and labels standardised over
all rows. sarcos: 200 rows for each task, none shared, features standardised, labels within each task.
lapin14: the 1500 rows outside the test part, unit length. banking77, miniplaces100: training rows as they
are, 5, 20 or all of each class. digits: scikit-learn's 1797, RBF kernel, gamma = 1 / (features x variance).
gen400: generated, 400 classes in 20 groups, 50 rows each, 1024 features, unit length. No constant feature, no
intercept, nobody's observation weights."""


def write(folder, parts):
    """Raw files and meta.json; rows in a random order, so that their place says nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    x = np.ascontiguousarray(parts["x"], dtype="<f8")
    form = "classes" if "class" in parts else "tasks" if "task" in parts else "table"
    order = np.random.default_rng(1).permutation(len(x))
    x[order].tofile(folder / "x.f64")
    group = parts.get("class", parts.get("task"))
    if group is not None:
        group[order].astype("<u4").tofile(folder / ("class.u32" if form == "classes" else "task.u32"))
    if "y" in parts:
        parts["y"][order].astype("<f8").tofile(folder / "y.f64")
    tasks = parts["y"].shape[1] if form == "table" else int(group.max()) + 1
    kernel = parts.get("kernel", "linear")
    n, d = x.shape
    if kernel == "rbf":
        # The default of the project and of scikit-learn's SVC; KernelRidge needs it as a number.
        kernel = f"rbf:{float(1 / (d * x.var()))!r}"
        d_of_kernel = n
    else:
        d_of_kernel = d
    counts = np.bincount(group, minlength=tasks) if form == "tasks" else np.full(tasks, n)
    meta = {
        "rows": n,
        "features": d,
        "tasks": tasks,
        "form": form,
        "dtype": "f64",
        "kernel": kernel,
        "metric": parts.get("metric", "accuracy"),
        "unknowns": int(np.minimum(d_of_kernel, counts).sum()),
    }
    (folder / "meta.json").write_text(json.dumps(meta))
    return meta


def prepare(work, name):
    """The folder of a data set and what it holds, written if it is not there yet."""
    folder = work / name
    if (folder / "meta.json").exists():
        return folder, json.loads((folder / "meta.json").read_text())
    return folder, write(folder, SETS[name][0]())


def load(folder):
    """What `write` wrote, for peers."""
    meta = json.loads((folder / "meta.json").read_text())
    x = np.fromfile(folder / "x.f64", "<f8").reshape(meta["rows"], meta["features"])
    if meta["form"] == "classes":
        return meta, x, np.fromfile(folder / "class.u32", "<u4").astype(int), None
    y = np.fromfile(folder / "y.f64", "<f8")
    if meta["form"] == "table":
        return meta, x, None, y.reshape(meta["rows"], meta["tasks"])
    return meta, x, np.fromfile(folder / "task.u32", "<u4").astype(int), y
