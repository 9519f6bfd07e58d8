"""Random small problems over everything that a fit can be asked for: data, and options of the command."""

import dataclasses

import numpy as np

import recheck

NUMBER_LOSSES = ["squared", "epsilon:0.1", "squared_epsilon:0.2", "huber:0.7", "absolute", "quantile:0.3"]
CLASS_LOSSES = ["hinge", "squared_hinge", "smoothed_hinge:0.5", "logistic"]
KERNELS = ["rbf", "rbf:0.3", "polynomial:2,0.5,1", "polynomial:3,scale,0", "laplacian", "cosine"]
INTERCEPTS = ["free", "free", "free", "none", "auto", "ridge:1", "ridge:0.01", "ridge:1000"]
INTERCEPTS += ["shrunk:1", "shrunk:0.03", "shrunk:300"]
SOLVERS = ["sdca", "sdca-sequential", "newton", "proximal", "interior-point", "spectral", "admm"]
MOST_EXPONENT = 150
STREAMED = 0.4


@dataclasses.dataclass
class Problem:
    arrays: dict
    options: list
    about: dict
    """What was drawn, for counts."""
    files: dict = dataclasses.field(default_factory=dict)

    def save(self, folder):
        np.savez(folder / "data.npz", **self.arrays)
        for name, text in self.files.items():
            (folder / name).write_text(text)


def any_of(rng, values):
    return values[rng.integers(len(values))]


def scale(rng, share=0.3):
    """One, or for some problems a power of ten that is far away."""
    return 10.0 ** rng.uniform(-MOST_EXPONENT, MOST_EXPONENT) if rng.random() < share else 1.0


def inputs(rng, rows, columns):
    x = rng.normal(size=(rows, columns))
    kind = any_of(rng, ["normal", "duplicates", "constant", "zero", "wide", "bits", "near", "scales", "low-rank"])
    if kind == "duplicates":
        x = x[rng.integers(max(1, rows // 2), size=rows)]
    elif kind == "constant":
        x[:, 0] = 3.0
    elif kind == "zero":
        x[rng.random(rows) < 0.3] = 0.0
    elif kind == "wide":
        x = rng.standard_t(1.5, size=(rows, columns))
    elif kind == "bits":
        x = (x > 0.5).astype(float)
    elif kind == "near":
        x[:, -1] = x[:, 0] + 1e-7 * x[:, -1]
    elif kind == "scales":
        x *= 10.0 ** rng.uniform(-5, 5, columns)
    elif kind == "low-rank":
        x = np.outer(x[:, 0], rng.normal(size=columns))
    return x * scale(rng), kind


def labels(rng, x, task, n_tasks, classes):
    with np.errstate(all="ignore"):
        z = x / max(abs(x).max(initial=0), 1e-300)
    truth = rng.normal(size=(x.shape[1], 1)) + rng.normal() * rng.normal(size=(x.shape[1], n_tasks))
    signal = (z @ truth)[np.arange(len(x)), task] + rng.normal(size=len(x)) * any_of(rng, [0.0, 0.3, 2.0])
    if classes:
        return np.where(signal > np.median(signal), 1.0, -1.0)
    kind = any_of(rng, ["plain", "plain", "plain", "equal", "shifted", "integers"])
    if kind == "equal":
        signal[task == task[0]] = 2.0
    elif kind == "shifted":
        signal += 1e4 * rng.normal()
    elif kind == "integers":
        signal = np.round(3 * signal)
    return signal * scale(rng)


def method(rng, n_tasks, problem):
    """Text of a method, with the files that it needs."""
    kind = any_of(
        rng,
        ["kin"] * 4
        + ["fmtl"] * 4
        + ["series", "exp", "cosh", "fixed", "prior", "stl", "pooled", "mtl"]
        + ["cmtl", "mtrl", "mtl-sdca", "trace", "gmtl", "mtfl", "okl"],
    )
    problem.about["method"] = kind
    if kind == "kin":
        common, own = any_of(rng, [0, 1, 100, 1e6]), any_of(rng, [0, 1, 10, 1e6])
        return f"kin:common={common},own={own},k={any_of(rng, [1, 1, 2, 4, 16])}"
    if kind == "fmtl":
        return f"fmtl:k={any_of(rng, [1, 1, 2, 3, 8, 64])}"
    if kind == "series":
        return f"fmtl:output=series,coefficients={any_of(rng, ['[0.1,0.5]', '[0,1,0,0.5]', '[1,0,0,2]'])}"
    if kind in ("exp", "cosh"):
        return f"fmtl:output={kind}"
    if kind in ("fixed", "prior"):
        root = rng.normal(size=(n_tasks, n_tasks))
        psd = root @ root.T * any_of(rng, [1e-3, 1.0, 1e3])
        text = (
            "["
            + ",".join(
                "[" + ",".join(f"{(v + w) / 2!r}" for v, w in zip(r, c)) + "]"
                for r, c in zip(psd.tolist(), psd.T.tolist())
            )
            + "]"
        )
        return f"fmtl:output=fixed,theta={text}" if kind == "fixed" else f"fmtl:output=frobenius,prior={text}"
    if kind == "mtl":
        return f"mtl:mu={any_of(rng, [1e-3, 1, 100])}"
    if kind == "cmtl":
        return f"cmtl:clusters={rng.integers(1, 5)},between={any_of(rng, [0.01, 0.1, 1])},mean={any_of(rng, [0.1, 1])}"
    if kind == "mtrl":
        return f"mtrl:l1={any_of(rng, [0, 0, 1, 100])}"
    if kind == "trace":
        return "convex-okl:structure=trace"
    return kind


def atoms(rng, n_tasks, problem):
    """Options of a known relation, for fmtl."""
    names = [str(t) for t in range(n_tasks)]
    if rng.random() < 0.5:
        problem.files["groups.csv"] = "task,g\n" + "".join(f"{name},g{rng.integers(3)}\n" for name in names)
        return ["--atom", f"groups=groups.csv:g,weight={any_of(rng, [0, 1, 100])}"]
    root = rng.normal(size=(n_tasks, 2))
    psd = root @ root.T + np.eye(n_tasks)
    lines = ["task," + ",".join(names)]
    lines += [
        ",".join([names[r], *(repr(float(psd[min(r, s), max(r, s)])) for s in range(n_tasks))]) for r in range(n_tasks)
    ]
    problem.files["matrix.csv"] = "\n".join(lines) + "\n"
    return ["--atom", "matrix=matrix.csv,weight=10", *(["--atom", "common"] if rng.random() < 0.5 else [])]


def draw(rng):
    """A problem."""
    problem = Problem({}, [], {})
    form = any_of(rng, ["tasks", "tasks", "tasks", "table", "labels"])
    n_tasks = int(rng.integers(1, 6))
    rows = int(rng.integers(max(2, n_tasks), 10 * n_tasks + 2))
    columns = int(rng.integers(1, 7))
    x, kind = inputs(rng, rows, columns)
    problem.about |= {"form": form, "inputs": kind}
    classes = form == "labels" or rng.random() < 0.45
    task = rng.permutation(np.arange(rows) % n_tasks)
    arrays = problem.arrays
    if form == "tasks":
        arrays |= {"y": labels(rng, x, task, n_tasks, classes), "task": task}
        if rng.random() < 0.2:
            arrays["weight"] = np.where(rng.random(rows) < 0.1, 0.0, 10.0 ** rng.uniform(-2, 2, rows))
        if rng.random() < 0.2:
            arrays["offset"] = rng.normal(size=rows) * (1.0 if classes else np.std(arrays["y"]) + 1e-300)
    elif form == "table":
        n_tasks = max(2, n_tasks)
        y = np.stack([labels(rng, x, np.full(rows, t), n_tasks, classes) for t in range(n_tasks)], axis=1)
        if rng.random() < 0.7:
            y[rng.random(y.shape) < any_of(rng, [0.1, 0.5])] = np.nan
        arrays["Y"] = y
    else:
        n_tasks = max(2, n_tasks)
        arrays["label"] = rng.permutation(np.arange(rows) % n_tasks)
    if rng.random() < 0.12:
        with np.errstate(all="ignore"):
            gram = x @ x.T
        arrays["K"] = (gram + gram.T) / 2
        kernel = "precomputed"
    else:
        arrays["X"] = x
        kernel = any_of(rng, ["linear"] * 6 + KERNELS)
        if kernel != "linear":
            problem.options += ["--kernel", kernel]
        if rng.random() < 0.7:
            problem.options += ["--scale", any_of(rng, ["none", "none", "standard", "spread", "unit"])]
    problem.about["kernel"] = kernel.split(":")[0]
    text = method(rng, n_tasks, problem)
    loss = any_of(rng, CLASS_LOSSES if classes else NUMBER_LOSSES)
    if text == "okl":
        loss = "squared"
    elif form == "tasks" and rng.random() < 0.1:
        loss = ",".join(any_of(rng, CLASS_LOSSES if classes else NUMBER_LOSSES) for _ in range(n_tasks))
    problem.about["loss"] = "one for each task" if "," in loss else loss.split(":")[0]
    problem.options += ["--method", text, "--loss", loss]
    if text.startswith("fmtl:k") and form != "labels" and rng.random() < 0.5:
        problem.options += atoms(rng, n_tasks, problem)
        problem.about["method"] = "fmtl with atoms"
    draw_settings(rng, problem, classes)
    return problem


def draw_settings(rng, problem, classes):
    options = problem.options
    c = (
        f"strength:{10.0 ** rng.uniform(-3, 3)!r}"
        if rng.random() < 0.5
        else repr(float(10.0 ** rng.uniform(-4, 4)) * scale(rng, 0.1))
    )
    options += ["--c", c]
    intercept = any_of(rng, INTERCEPTS)
    problem.about["intercept"] = intercept.split(":")[0]
    options += ["--intercept", intercept]
    if rng.random() < 0.15:
        options += ["--bias", any_of(rng, ["1", "0.1", "1e6"])]
    if rng.random() < (0.2 if classes else 0.7):
        options += ["--target-scale", any_of(rng, ["none", "task", "common", "shrunk", "pooled"])]
    if classes and rng.random() < 0.15:
        options += ["--class-weight", "balanced"]
    if rng.random() < 0.2:
        options += ["--lambda", repr(float(10.0 ** rng.uniform(-3, 3)))]
    if rng.random() < 0.2:
        options += ["--solver", any_of(rng, SOLVERS)]
    if rng.random() < 0.15:
        options += ["--max-passes", str(rng.integers(0, 5))]
    options += ["--tol", any_of(rng, ["1e-2", "1e-3", "1e-6", "1e-9"])]
    # Drawn last, so that the other settings are those of the same problem in memory.
    streamed = rng.random() < STREAMED and problem.about["kernel"] == "linear" and "unit" not in options
    if streamed:
        options += ["--stream"]
    problem.about["rows"] = "streamed" if streamed else "in memory"


def data_of(problem, about):
    """The observations of a problem, in the order of the duals in a model."""
    arrays = problem.arrays
    x, k = arrays.get("X"), arrays.get("K")
    rows = len(x if x is not None else k)
    if "y" in arrays:
        names = about["tasks"].get("integers")
        row = np.arange(rows)
        task = np.searchsorted(names, arrays["task"]) if names else arrays["task"]
        y, offset = arrays["y"], arrays.get("offset", np.zeros(rows))
        return recheck.Data(x, k, row, task, y, offset, arrays.get("weight"))
    table = arrays.get("Y")
    if table is None:
        names = np.unique(arrays["label"])
        table = np.where(arrays["label"][:, None] == names, 1.0, -1.0)
    row, task = np.nonzero(~np.isnan(table))  # row by row
    return recheck.Data(x, k, row, task, table[row, task], np.zeros(len(row)))
