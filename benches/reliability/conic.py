"""Some of the random problems of certificates.py, solved again by a conic solver: its optimum lies in the interval.

    python benches/reliability/conic.py --command target/release/kinfolk --seconds 600 --out conic.json

Needs cvxpy with Clarabel. Problems are those of moderate scale whose losses and regularisers it can say: all losses;
powers, exp, a given Theta, a prior, atoms, and the penalties of whole matrices. The solver knows neither duals nor
certificates: it gets the problem of docs/problem.md as it stands, with Theta as a positive semidefinite matrix.
"""

import common
import warnings

import cvxpy as cp
import numpy as np

import problems
import recheck
from formulas import relation

# Of the objective: the solver's own accuracy.
SOLVER_ACCURACY = 2e-5
MOST_SIZE = 1e3
NOT_SAID = {"cosh", "series", "mtfl"}


def loss(kind, y, z):
    name, short = kind["kind"], 1 - cp.multiply(y, z)
    if name == "squared":
        return cp.square(y - z) / 2
    if name == "hinge":
        return cp.pos(short)
    if name == "squared_hinge":
        return cp.square(cp.pos(short)) / 2
    if name == "smoothed_hinge":
        # The largest of three pieces is not smooth; the infimal form is exact: min over t of t + (s - t)_+^2 / 2g.
        extra = cp.Variable(y.shape, nonneg=True)
        return extra + cp.square(cp.pos(short - extra)) / (2 * kind["gamma"])
    if name == "logistic":
        return cp.logistic(-cp.multiply(y, z))
    if name in ("epsilon", "squared_epsilon"):
        outside = cp.pos(cp.abs(y - z) - kind["epsilon"])
        return outside if name == "epsilon" else cp.square(outside) / 2
    if name == "huber":
        return cp.huber(y - z, kind["delta"]) / 2
    if name == "absolute":
        return cp.abs(y - z)
    return cp.maximum(kind["q"] * (y - z), (kind["q"] - 1) * (y - z))


def entry_cost(output, theta):
    """phi* of all entries, added up."""
    if output["kind"] == "power":
        k = output["k"]
        return cp.sum(cp.square(theta)) / 2 if k == 1 else cp.sum(cp.power(cp.abs(theta), 2 * k / (2 * k - 1))) / 2
    if output["kind"] == "exp":
        prior = np.asarray(output.get("prior") or np.ones(theta.shape))
        return cp.sum(cp.kl_div(theta, prior))  # theta log(theta / p) - theta + p
    return cp.sum(cp.square(theta - np.asarray(output["prior"]))) / 2


def quadratic(weights, theta):
    """tr(W Theta^-1 W') / 2."""
    return sum(cp.matrix_frac(weights[row], theta) for row in range(weights.shape[0])) / 2


def penalty(problem, weights, n_tasks):
    """What weights cost, with the best Theta; and constraints."""
    output, lam = problem["output"], problem["lambda"]
    kind = output["kind"]
    if kind == "trace":
        return np.sqrt(2 * lam * output["nu"]) * cp.normNuc(weights), []
    if kind == "relationship":
        groups = np.asarray(output.get("groups") or [0] * n_tasks)
        parts = [weights[:, np.flatnonzero(groups == group)] for group in set(groups.tolist())]
        return sum(
            output["l1"] * cp.sum_squares(part) / 2 + output["l2"] * cp.square(cp.normNuc(part)) / 2 for part in parts
        ), []
    if kind == "clusters":
        unit = np.ones((n_tasks, 1)) / np.sqrt(n_tasks)
        clusters = min(output["clusters"], n_tasks)
        if n_tasks == 1:
            return output["mean"] * cp.sum_squares(weights @ unit) / 2, []
        basis = np.linalg.svd(unit, full_matrices=True)[0][:, 1:]
        spread = cp.Variable((n_tasks - 1, n_tasks - 1), symmetric=True)
        eye = np.eye(n_tasks - 1)
        total = (clusters - 1) / output["between"] + (n_tasks - clusters) / output["within"]
        limits = [spread >> eye / output["within"], spread << eye / output["between"], cp.trace(spread) == total]
        return output["mean"] * cp.sum_squares(weights @ unit) / 2 + quadratic(weights @ basis, spread), limits
    if kind == "fixed":
        values, vectors = np.linalg.eigh(np.asarray(output["theta"]))
        kept = values > 1e-10 * values.max(initial=0)
        free = weights @ vectors[:, ~kept]
        return cp.sum_squares(weights @ vectors[:, kept] / np.sqrt(values[kept])) / 2, [free == 0] if (
            ~kept
        ).any() else []
    theta = cp.Variable((n_tasks, n_tasks), PSD=True)
    part, cost, limits = theta, 0, []
    for atom in problem.get("atoms", []):
        if atom["weight"] > 0:
            share = cp.Variable(nonneg=True)
            part = part - share * relation(atom, n_tasks).astype(float)
            cost += atom["weight"] * entry_cost(output, cp.reshape(share / atom["weight"], (1, 1), order="C"))
    return quadratic(weights, theta) + lam * (entry_cost(output, part) + cost), limits


def optimum(about, tensors, data):
    """The least objective, by the solver."""
    problem, n_tasks = about["problem"], len(tensors["theta"])
    geometry = recheck.Geometry(about, tensors, data, recheck.wide)
    x = (geometry.x if geometry.is_linear else geometry.root()).astype(float)
    labels = recheck.scaled_labels(problem, tensors, data.task, recheck.wide(data.y), recheck.wide(data.offset))
    y, offset = (values.astype(float) for values in labels)
    # Models of rows that nobody kept have no weights of theirs, but those of the data count.
    weight = tensors.get("observation_weight", np.ones(len(y)) if data.weight is None else data.weight)
    each = problem["c"] * np.asarray(weight, float).reshape(-1)
    weights, b = cp.Variable((x.shape[1], n_tasks)), cp.Variable(n_tasks)
    cost, limits = penalty(problem, weights, n_tasks)
    predictions = x @ weights
    losses = problem["loss"] if isinstance(problem["loss"], list) else [problem["loss"]] * n_tasks
    for t in range(n_tasks):
        own = np.flatnonzero(data.task == t)
        if len(own):
            z = predictions[data.row[own], np.full(len(own), t)] + b[t] + offset[own]
            cost += cp.sum(cp.multiply(each[own], loss(losses[t], y[own], z)))
    intercept = problem["intercept"]
    if intercept == "none":
        limits.append(b == 0)
    elif intercept != "free":
        cost += float(recheck.weight_of_intercepts(intercept, problem["c"])) / 2 * cp.sum_squares(b)
    else:
        # Logistic loss, all labels of one class: there is no best intercept, and it costs c b^2 / 2 (docs/problem.md).
        own = [y[(data.task == t) & (each > 0)] for t in range(n_tasks)]
        without_best = [t for t in range(n_tasks) if recheck.falls_for_ever(losses[t], own[t])]
        cost += sum(problem["c"] / 2 * cp.square(b[t]) for t in without_best)
    whole = cp.Problem(cp.Minimize(cost), limits)
    whole.solve(solver=cp.CLARABEL)
    return whole.value if whole.status == "optimal" else None


def is_moderate(problem):
    sizes = [
        abs(values[np.isfinite(values) & (values != 0)])
        for values in problem.arrays.values()
        if values.dtype.kind == "f"
    ]
    text = " ".join(problem.options)
    return (
        problem.about["method"] not in NOT_SAID
        and "1e6" not in text
        and "1000000" not in text
        and all(size.size == 0 or 1 / MOST_SIZE < size.min() and size.max() < MOST_SIZE for size in sizes)
        and not any(f"k={k}" in text for k in (8, 16, 64))
    )


def settings(options):
    """The options, with a small tolerance and no limits."""
    kept, skip = [], False
    for word in options:
        if skip or word in ("--solver", "--max-passes", "--tol"):
            skip = not skip
            continue
        kept.append(word)
    return [*kept, "--tol", "1e-6", "--max-passes", "20000"]


def work(worker):
    warnings.simplefilter("ignore")
    draw = 0
    only = worker.options.only
    while worker.alive() and not (only and draw > max(only)):
        if only and draw not in only:
            draw += 1
            continue
        worker.rng = np.random.default_rng([worker.options.seed, worker.number, draw, 1])
        draw += 1
        problem = problems.draw(worker.rng)
        if not is_moderate(problem):
            continue
        for old in worker.folder.iterdir():
            old.unlink()
        problem.save(worker.folder)
        words = [
            "fit",
            "data.npz",
            "-o",
            "m.st",
            "--quiet",
            "--threads",
            "1",
            "--max-seconds",
            "10",
            *settings(problem.options),
        ]
        code, _, _ = worker.run(words)
        if code != 0:
            continue
        about, tensors = recheck.read_model(worker.folder / "m.st")
        data, stored = problems.data_of(problem, about), about["certificate"]
        try:
            best = optimum(about, tensors, data)
        except cp.error.SolverError:
            best = None
        except BaseException as error:
            # Clarabel panics where its eigenvalues do not converge, and a panic is no Exception.
            if type(error).__name__ != "PanicException":
                raise
            best = None
        if best is None:
            worker.count("not solved by the other solver")
            continue
        size = max(abs(stored["primal"]), abs(stored["dual"]), abs(best))
        inside = stored["dual"] - SOLVER_ACCURACY * size <= best <= stored["primal"] + SOLVER_ACCURACY * size
        worker.count("compared", problem.about["method"])
        worker.count("optimum", "between bound and objective" if inside else "outside")
        worker.more.setdefault("distances", []).append(abs(best - stored["primal"]) / size if size > 0 else 0.0)
        # A solver that ends above our objective has not found the optimum; one below our bound refutes it.
        if best < stored["dual"] - SOLVER_ACCURACY * size:
            worker.finding("below the bound", best=best, stored=stored, words=words, about=problem.about, draw=draw - 1)
        elif not inside:
            worker.count("above our objective")


def summary(extra):
    found = sorted(extra.get("distances", []))
    return {
        "distance_quantiles": {str(q): found[min(int(q * len(found)), len(found) - 1)] for q in (0.5, 0.9, 0.99, 1)}
        if found
        else {}
    }


if __name__ == "__main__":
    parser = common.parser(__doc__)
    parser.add_argument("--only", type=int, nargs="+", metavar="DRAW", help="only these problems of each job")
    common.main(work, parser.parse_args(), summary)
