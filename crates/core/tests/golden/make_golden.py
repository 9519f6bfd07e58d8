"""Make golden.json: small output-kernel problems solved by a conic solver.

Every instance is the convex problem

    min_{W, Theta psd}  sum_i c_i L(y_i, <w_{t_i}, g_i>) + 1/2 tr(W Theta^-1 W') + lambda sum_rs V(Theta_rs)

with c_i = C * weight_i and g_i the feature vector of the observation's input. It is
solved over (W, Theta) with cvxpy and Clarabel, so nothing here shares an algorithm
with the crate. The constraint f = predictions(W) is kept explicit: its multipliers
are the dual vector alpha. Plain numpy then gives

    a lower bound   D(alpha) = -sum_i c_i L*(-alpha_i/c_i) - lambda sum_rs phi(rho_rs)
    upper bounds    the primal value at the solver's (W, Theta), and
                    the primal value at Theta = phi'(rho), W = G' Z_alpha Theta

where rho = R/(2 lambda), R_rs = <alpha^r, K alpha^s>. The bracket [lower, upper] holds
whatever the solver did; an instance is written only when it is narrower than
`MAX_GAP` relative to the objective. Values listed in prototype.json are compared too.

Run `python make_golden.py`; it takes no arguments and writes golden.json next to itself.
"""

import json
import platform
import sys
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Callable

import clarabel
import cvxpy as cp
import numpy as np

HERE = Path(__file__).resolve().parent
MAX_GAP = 1e-9
MAX_SECTION13_DIFFERENCE = 1e-7
MAX_SECTION13_THETA_DIFFERENCE = 2e-6
TOLERANCES = (1e-12, 1e-11, 1e-10)


# ----------------------------------------------------------------------------- losses


@dataclass(frozen=True)
class Loss:
    """A loss in three guises.

    `conic(y, f)` is a pair (vector expression, constraints); `value(y, f)` is the
    loss in numpy; `conjugate(y, kappa)` is L*(-kappa), valid for kappa inside
    `box(y)`, a pair (low, high).
    """

    kind: str
    param: float | None
    classification: bool
    conic: Callable
    value: Callable
    conjugate: Callable
    box: Callable


def label_box(y, top):
    """Domain 0 <= y kappa <= top, for labels y = +1 or -1."""
    return np.where(y > 0, 0.0, -top), np.where(y > 0, top, 0.0)


def constant_box(low, high):
    """Domain low <= kappa <= high for every observation."""
    return lambda y: (np.full(len(y), low), np.full(len(y), high))


def conic_smoothed_hinge(gamma):
    """Smoothed hinge as the infimal convolution of a square and a hinge."""

    def build(y, f):
        curved = cp.Variable(len(y), nonneg=True)
        straight = cp.Variable(len(y), nonneg=True)
        constraints = [curved + straight >= 1 - cp.multiply(y, f)]
        return cp.square(curved) / (2 * gamma) + straight, constraints

    return build


def value_smoothed_hinge(gamma):
    """Smoothed hinge in numpy."""

    def value(y, f):
        shortfall = np.maximum(0, 1 - y * f)
        return np.where(shortfall <= gamma, shortfall**2 / (2 * gamma), shortfall - gamma / 2)

    return value


def value_huber(delta):
    """Huber loss in numpy."""

    def value(y, f):
        size = np.abs(y - f)
        return np.where(size <= delta, size**2 / 2, delta * size - delta**2 / 2)

    return value


def conjugate_logistic(y, kappa):
    """Negative entropy of v = y kappa, with 0 log 0 = 0."""
    v = y * kappa
    return sum(np.where(p > 0, p * np.log(np.maximum(p, 1e-300)), 0) for p in (v, 1 - v))


def classification_losses():
    """Losses on labels +1 and -1."""
    gamma = 0.5
    yield Loss(
        "hinge",
        None,
        True,
        lambda y, f: (cp.pos(1 - cp.multiply(y, f)), []),
        lambda y, f: np.maximum(0, 1 - y * f),
        lambda y, a: -y * a,
        lambda y: label_box(y, 1.0),
    )
    yield Loss(
        "squared_hinge",
        None,
        True,
        lambda y, f: (cp.square(cp.pos(1 - cp.multiply(y, f))) / 2, []),
        lambda y, f: np.maximum(0, 1 - y * f) ** 2 / 2,
        lambda y, a: -y * a + a**2 / 2,
        lambda y: label_box(y, np.inf),
    )
    yield Loss(
        "smoothed_hinge",
        gamma,
        True,
        conic_smoothed_hinge(gamma),
        value_smoothed_hinge(gamma),
        lambda y, a: -y * a + gamma * a**2 / 2,
        lambda y: label_box(y, 1.0),
    )
    yield Loss(
        "logistic",
        None,
        True,
        lambda y, f: (cp.logistic(-cp.multiply(y, f)), []),
        lambda y, f: np.logaddexp(0, -y * f),
        conjugate_logistic,
        lambda y: label_box(y, 1.0),
    )


def regression_losses():
    """Losses on real targets."""
    eps, delta, q = 0.1, 0.2, 0.3
    everywhere = constant_box(-np.inf, np.inf)
    yield Loss(
        "squared",
        None,
        False,
        lambda y, f: (cp.square(y - f) / 2, []),
        lambda y, f: (y - f) ** 2 / 2,
        lambda y, a: -a * y + a**2 / 2,
        everywhere,
    )
    yield Loss(
        "epsilon",
        eps,
        False,
        lambda y, f: (cp.pos(cp.abs(y - f) - eps), []),
        lambda y, f: np.maximum(0, np.abs(y - f) - eps),
        lambda y, a: -a * y + eps * np.abs(a),
        constant_box(-1.0, 1.0),
    )
    yield Loss(
        "squared_epsilon",
        eps,
        False,
        lambda y, f: (cp.square(cp.pos(cp.abs(y - f) - eps)) / 2, []),
        lambda y, f: np.maximum(0, np.abs(y - f) - eps) ** 2 / 2,
        lambda y, a: -a * y + eps * np.abs(a) + a**2 / 2,
        everywhere,
    )
    yield Loss(
        "huber",
        delta,
        False,
        lambda y, f: (cp.huber(y - f, delta) / 2, []),
        value_huber(delta),
        lambda y, a: -a * y + a**2 / 2,
        constant_box(-delta, delta),
    )
    yield Loss(
        "absolute",
        None,
        False,
        lambda y, f: (cp.abs(y - f), []),
        lambda y, f: np.abs(y - f),
        lambda y, a: -a * y,
        constant_box(-1.0, 1.0),
    )
    yield Loss(
        "quantile",
        q,
        False,
        lambda y, f: (cp.maximum(q * (y - f), (1 - q) * (f - y)), []),
        lambda y, f: np.maximum(q * (y - f), (1 - q) * (f - y)),
        lambda y, a: -a * y,
        constant_box(q - 1, q),
    )


LOSSES = {loss.kind: loss for loss in (*classification_losses(), *regression_losses())}


# --------------------------------------------------------------- output regularisers


@dataclass(frozen=True)
class Output:
    """The regulariser of Theta: V for the solver and in numpy, its conjugate phi and phi'.

    `conic(theta)` takes a vector and returns (vector expression, constraints).
    """

    kind: str
    k: int | None
    conic: Callable
    value: Callable
    phi: Callable
    slope: Callable

    @property
    def name(self):
        """Short name, e.g. power2 or exp."""
        return self.kind if self.k is None else f"{self.kind}{self.k}"


def power(k):
    """V = |Theta|^p / 2 with p = 2k/(2k-1)."""
    p = Fraction(2 * k, 2 * k - 1)
    half = float(p) / 2
    return Output(
        "power",
        k,
        lambda theta: ((cp.square(theta) if k == 1 else cp.power(cp.abs(theta), p)) / 2, []),
        lambda theta: np.abs(theta) ** float(p) / 2,
        lambda rho: half * (rho / half) ** (2 * k) / (4 * k - 2) / half,
        lambda rho: (rho / half) ** (2 * k - 1),
    )


def conic_cosh(theta):
    """V of cosh as an infimal convolution: theta = a - b with two entropies.

    cosh z - 1 = (e^z - 1)/2 + (e^-z - 1)/2, and a log(2a) - a + 1/2 is the conjugate of one half.
    """
    a, b = cp.Variable(theta.size, nonneg=True), cp.Variable(theta.size, nonneg=True)
    entropy = -cp.entr(a) - cp.entr(b) + (np.log(2) - 1) * (a + b) + 1
    return entropy, [theta == a - b]


EXP = Output(
    "exp",
    None,
    lambda theta: (-cp.entr(theta) - theta + 1, []),
    lambda theta: theta * np.log(theta) - theta + 1,
    np.expm1,
    np.exp,
)
COSH = Output(
    "cosh",
    None,
    conic_cosh,
    lambda theta: theta * np.arcsinh(theta) - np.sqrt(1 + theta**2) + 1,
    lambda rho: 2 * np.sinh(rho / 2) ** 2,
    np.sinh,
)


# ------------------------------------------------------------------------- instances


@dataclass(frozen=True)
class Data:
    """Inputs and observations; observation i is (input[i], task[i]) with two kinds of targets."""

    x: np.ndarray
    input: np.ndarray
    task: np.ndarray
    target: np.ndarray
    n_tasks: int

    def label(self, loss):
        """Targets for regression losses, their signs for classification losses."""
        return np.where(self.target > 0, 1.0, -1.0) if loss.classification else self.target


@dataclass(frozen=True)
class Instance:
    """One problem. `reference` is a list of keys into prototype.json, or None."""

    name: str
    data: Data
    label: np.ndarray
    loss: Loss
    output: Output
    c: float
    lam: float
    weight: np.ndarray
    kernel: str = "linear"
    gamma: float | None = None
    bias: float = 0.0
    reference: tuple | None = None

    @property
    def cost(self):
        """The factor c_i = C * weight_i of each observation."""
        return self.c * self.weight


def prototype_inputs(n):
    """Inputs of D1: x_ij = sin((i+1)(j+1))."""
    return np.sin(np.outer(np.arange(1, n + 1), np.arange(1, 4)))


SECTION13_W = np.array([[1.0, 1.0, -1.0], [0.5, 0.0, 0.5], [0.0, -0.5, 0.5]])


def data_d1():
    """Data D1 of prototype.json: twelve observations, three tasks with their own inputs."""
    i = np.arange(12)
    x, task = prototype_inputs(12), i % 3
    target = np.einsum("ij,ji->i", x, SECTION13_W[:, task]) + 0.1 * np.cos(5 * (i + 1))
    return Data(x, i, task, target, 3)


def data_d2():
    """Data D2 of prototype.json: six shared inputs, three complete outputs."""
    row, task = (a.ravel() for a in np.indices((6, 3)))
    x = prototype_inputs(6)
    target = (x @ SECTION13_W)[row, task] + 0.1 * np.cos(5 * (row + 1) + task)
    return Data(x, row, task, target, 3)


def wave_inputs(n, d, phase):
    """Inputs without structure: x_ij = sin(1.7 (i+1)(j+1) + phase (j+1))."""
    i, j = np.arange(1, n + 1)[:, None], np.arange(1, d + 1)[None, :]
    return np.sin(1.7 * i * j + phase * j)


def wave_scores(x, tasks, phase):
    """Noisy linear scores of all inputs for all tasks; neighbouring tasks are related."""
    n, d = x.shape
    j, t = np.arange(1, d + 1)[:, None], np.arange(tasks)[None, :]
    i = np.arange(1, n + 1)[:, None]
    truth = np.cos(1.3 * j + phase) + 0.6 * np.sin(2.1 * j * (t + 1))
    return x @ truth + 0.3 * np.cos(3.7 * i + 2.9 * t + phase)


def multi_task(n, d, tasks, phase):
    """Every observation has its own input; tasks take turns."""
    x, i = wave_inputs(n, d, phase), np.arange(n)
    return Data(x, i, i % tasks, wave_scores(x, tasks, phase)[i, i % tasks], tasks)


def complete(m, d, tasks, phase):
    """Shared inputs, one observation for every input and task."""
    x = wave_inputs(m, d, phase)
    row, task = (a.ravel() for a in np.indices((m, tasks)))
    return Data(x, row, task, wave_scores(x, tasks, phase)[row, task], tasks)


def multi_class(m, d, tasks, phase):
    """One-vs-all on shared inputs: classes take turns, inputs lie around class centres."""
    of_input, j = np.arange(m) % tasks, np.arange(1, d + 1)
    centres = np.cos(2.1 * np.outer(of_input + 1, j) + phase)
    row, task = (a.ravel() for a in np.indices((m, tasks)))
    target = np.where(of_input[row] == task, 1.0, -1.0)
    return Data(centres + 0.5 * wave_inputs(m, d, phase), row, task, target, tasks)


def missing(m, d, tasks, phase):
    """Shared inputs with about a third of the labels missing; each task keeps some."""
    whole = complete(m, d, tasks, phase)
    keep = (0.618 * whole.input + 0.37 * whole.task) % 1 < 0.65
    return Data(whole.x, whole.input[keep], whole.task[keep], whole.target[keep], tasks)


def instance(name, data, loss, output, c=1.0, lam=0.5, weight=None, **extra):
    """An Instance with the labels the loss wants and unit weights by default."""
    weight = np.ones(len(data.task)) if weight is None else weight
    return Instance(name, data, data.label(loss), loss, output, c, lam, weight, **extra)


def prototype_instances():
    """Every FMTL problem of prototype.json."""
    d1, outputs = data_d1(), {o.name: o for o in (power(1), power(2), power(4), EXP, COSH)}
    for output in outputs.values():
        for kind in ("squared", "hinge", "epsilon"):
            yield instance(
                f"d1-{kind}-{output.name}", d1, LOSSES[kind], output, reference=("d1", "objective", output.name, kind)
            )
    others = (
        "squared_no_half",
        "squared_hinge",
        "smoothed_hinge",
        "logistic",
        "squared_epsilon",
        "huber",
        "absolute",
        "quantile",
    )
    for name in ("power1", "power2"):
        for kind in others:
            doubled = kind == "squared_no_half"
            loss = LOSSES["squared" if doubled else kind]
            yield instance(
                f"d1-{kind}-{name}",
                d1,
                loss,
                outputs[name],
                c=2.0 if doubled else 1.0,
                reference=("d1", "objective_other_losses", name, kind),
            )
        for kind in ("squared", "hinge"):
            yield instance(
                f"d1-rbf-{kind}-{name}",
                d1,
                LOSSES[kind],
                outputs[name],
                kernel="rbf",
                gamma=0.5,
                reference=("d1", "rbf_objective", name, kind),
            )
    yield instance(
        "d2-squared-power1",
        data_d2(),
        LOSSES["squared"],
        outputs["power1"],
        reference=("d2", "objective", "power1", "squared"),
    )


def shape_instances():
    """All losses x k = 1, 2 x three shapes, with changing sizes and parameters."""
    for number, loss in enumerate(LOSSES.values()):
        phase = 0.3 + 0.17 * number
        joint = multi_class if loss.classification else complete
        shapes = {
            "multitask": multi_task(18 + number % 3 * 3, 2 + number % 3, 2 + number % 3, phase),
            "multiclass" if loss.classification else "multioutput": joint(7 - number % 2, 3, 3 + number % 2, phase),
            "missing": missing(8, 2 + (number + 1) % 3, 4 - number % 2, phase),
        }
        costs = (2.0, 3.0, 5.0) if loss.kind == "huber" else (0.7, 1.0, 1.6)
        for k in (1, 2):
            for place, (shape, data) in enumerate(shapes.items()):
                yield instance(
                    f"{shape}-{loss.kind}-power{k}",
                    data,
                    loss,
                    power(k),
                    c=costs[(number + place) % 3],
                    lam=(0.4, 0.9)[(number + k) % 2],
                )


def special_instances():
    """Other regularisers, weights, one task, bias and the Gaussian kernel."""
    for kind in ("logistic", "squared_hinge", "huber", "squared_epsilon"):
        loss = LOSSES[kind]
        for output in (power(4), EXP, COSH):
            data = missing(8, 3, 3, 1.1) if output is EXP else multi_task(15, 3, 3, 0.9)
            yield instance(f"special-{kind}-{output.name}", data, loss, output, c=1.6, lam=0.7)
    for kind, output in (("squared", power(1)), ("hinge", power(2)), ("epsilon", EXP), ("logistic", power(2))):
        data = multi_task(15, 3, 3, 1.4)
        weight = 0.25 + np.arange(15) % 4 * 0.5
        yield instance(f"weighted-{kind}-{output.name}", data, LOSSES[kind], output, 1.2, 0.6, weight)
    for kind, output in (("squared", power(1)), ("hinge", power(2)), ("logistic", EXP), ("quantile", power(1))):
        yield instance(f"onetask-{kind}-{output.name}", multi_task(10, 3, 1, 0.5), LOSSES[kind], output, 1.1, 0.3)
    for kind, output in (("squared", power(2)), ("hinge", power(1)), ("absolute", EXP)):
        yield instance(
            f"bias-{kind}-{output.name}", multi_task(16, 2, 2, 0.8), LOSSES[kind], output, 1.0, 0.5, bias=0.5
        )
    for kind, output in (("epsilon", power(1)), ("logistic", power(2)), ("squared", EXP)):
        yield instance(
            f"rbf-{kind}-{output.name}", missing(6, 2, 3, 0.6), LOSSES[kind], output, 1.5, 0.5, kernel="rbf", gamma=0.8
        )


# --------------------------------------------------------------------------- solving


def gram(inst):
    """Gram matrix of the inputs: the kernel plus the constant `bias`."""
    x = inst.data.x
    if inst.kernel == "linear":
        return x @ x.T + inst.bias
    distance = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    return np.exp(-inst.gamma * distance) + inst.bias


def features(inst):
    """A matrix G, one row per input, with G G' equal to the Gram matrix."""
    x = inst.data.x
    if inst.kernel == "linear":
        return x if inst.bias == 0 else np.hstack([x, np.full((len(x), 1), np.sqrt(inst.bias))])
    values, vectors = np.linalg.eigh(gram(inst))
    return vectors * np.sqrt(np.maximum(values, 0))


@dataclass(frozen=True)
class ConicProblem:
    """The cvxpy problem with its variables; the multipliers of `link` are alpha."""

    problem: cp.Problem
    link: cp.Constraint
    w: cp.Variable
    theta: cp.Variable


def conic_problem(inst):
    """Pose an instance over (W, Theta); row t of `w` is the weight vector of task t."""
    g, data = features(inst), inst.data
    w = cp.Variable((data.n_tasks, g.shape[1]))
    theta = cp.Variable((data.n_tasks, data.n_tasks), PSD=True)
    f = cp.Variable(len(data.task))
    link = f == cp.sum(cp.multiply(g[data.input], w[data.task, :]), axis=1)
    loss, loss_constraints = inst.loss.conic(inst.label, f)
    rows, columns = np.triu_indices(data.n_tasks)
    penalty, penalty_constraints = inst.output.conic(theta[rows, columns])
    twice = np.where(rows == columns, 1.0, 2.0)
    objective = inst.cost @ loss + cp.matrix_frac(w, theta) / 2 + inst.lam * (twice @ penalty)
    problem = cp.Problem(cp.Minimize(objective), [link, *loss_constraints, *penalty_constraints])
    return ConicProblem(problem, link, w, theta)


def primal_value(inst, f, quadratic, theta):
    """The primal objective in numpy; `quadratic` is tr(W Theta^-1 W')."""
    return inst.cost @ inst.loss.value(inst.label, f) + quadratic / 2 + inst.lam * inst.output.value(theta).sum()


def bounds_from_dual(inst, alpha):
    """(lower bound, upper bound, Theta) from a dual vector, clipped into its domain first."""
    data, cost = inst.data, inst.cost
    kappa = np.clip(alpha / cost, *inst.loss.box(inst.label))
    z = np.zeros((len(data.x), data.n_tasks))
    np.add.at(z, (data.input, data.task), cost * kappa)
    kz = gram(inst) @ z
    r = z.T @ kz
    rho = r / (2 * inst.lam)
    theta = inst.output.slope(rho)
    f = (kz @ theta)[data.input, data.task]
    lower = -cost @ inst.loss.conjugate(inst.label, kappa) - inst.lam * inst.output.phi(rho).sum()
    return lower, primal_value(inst, f, (theta * r).sum(), theta), theta


def bound_from_primal(inst, w, theta):
    """Upper bound at a primal point; infinite unless Theta is safely positive definite."""
    theta = (theta + theta.T) / 2
    outside = inst.output.kind == "exp" and theta.min() <= 0
    if outside or np.linalg.eigvalsh(theta)[0] <= 1e-13 * np.trace(theta):
        return np.inf
    f = (features(inst) @ w.T)[inst.data.input, inst.data.task]
    return primal_value(inst, f, (w * np.linalg.solve(theta, w)).sum(), theta)


def attempt(inst, tolerance):
    """One solver run with its certificate; None when the solver gives up."""
    posed = conic_problem(inst)
    try:
        posed.problem.solve(
            solver=cp.CLARABEL, tol_gap_abs=tolerance, tol_gap_rel=tolerance, tol_feas=tolerance, max_iter=500
        )
    except cp.SolverError:
        return None
    lower, upper, theta = bounds_from_dual(inst, posed.link.dual_value)
    upper = min(upper, bound_from_primal(inst, posed.w.value, posed.theta.value))
    return {
        "solver_value": float(posed.problem.value),
        "lower": float(lower),
        "upper": float(upper),
        "gap": float((upper - lower) / abs(lower)),
        "theta": theta,
        "theta_difference": float(np.abs(posed.theta.value - theta).max()),
    }


def solve(inst):
    """The attempt with the narrowest certified bracket, None when all fail."""
    attempts = [attempt(inst, tolerance) for tolerance in TOLERANCES]
    return min(filter(None, attempts), key=lambda a: a["gap"], default=None)


# --------------------------------------------------------------------------- writing


def lookup(tree, keys):
    """Follow keys into nested dictionaries; None where a key is missing."""
    for key in keys:
        tree = tree.get(key) if isinstance(tree, dict) else None
    return tree


def prototype_differences(inst, objective, theta, prototype):
    """(relative difference of the objective, largest difference of Theta), None where not listed."""
    if inst.reference is None:
        return None, None
    listed = lookup(prototype, inst.reference)
    place, table, output, kind = inst.reference
    upper = lookup(prototype, (place, "theta", output, kind)) if table == "objective" else None
    theta_difference = None
    if upper is not None:
        theta_difference = np.abs(theta[np.triu_indices(len(theta))] - upper).max()
    return abs(objective - listed) / abs(listed), theta_difference


def record(inst, solution):
    """The JSON entry of one instance."""
    data = inst.data
    return {
        "name": inst.name,
        "loss": {"kind": inst.loss.kind, "param": inst.loss.param},
        "output": {"kind": inst.output.kind, "k": inst.output.k},
        "kernel": {"kind": inst.kernel, "gamma": inst.gamma},
        "bias": inst.bias,
        "c": inst.c,
        "lambda": inst.lam,
        "n_inputs": data.x.shape[0],
        "n_features": data.x.shape[1],
        "n_tasks": data.n_tasks,
        "x": data.x.ravel().tolist(),
        "input": data.input.tolist(),
        "task": data.task.tolist(),
        "label": inst.label.tolist(),
        "weight": inst.weight.tolist(),
        "objective": (solution["lower"] + solution["upper"]) / 2,
        "lower": solution["lower"],
        "upper": solution["upper"],
        "solver_value": solution["solver_value"],
        "theta": solution["theta"].ravel().tolist(),
        "theta_difference": solution["theta_difference"],
    }


def to_text(made_by, records):
    """JSON with one line per field, so that arrays stay on one line."""
    entries = []
    for entry in records:
        fields = ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in entry.items())
        entries.append("  {\n" + fields + "\n  }")
    head = "{\n" + f' "made_by": {json.dumps(made_by)},\n "instances": [\n'
    return head + ",\n".join(entries) + "\n ]\n}\n"


def versions():
    """The software that made the file."""
    return (
        f"make_golden.py; Python {platform.python_version()}, numpy {np.__version__}, "
        f"cvxpy {cp.__version__}, clarabel {clarabel.__version__}"
    )


def main():
    """Solve, check and write; the exit status is 1 when any check fails."""
    # The brackets, not the solver's own status, decide what is accurate enough.
    warnings.filterwarnings("ignore", message="Solution may be inaccurate")
    prototype = json.loads((HERE / "prototype.json").read_text())
    records, failures, worst, worst_theta = [], [], 0.0, 0.0
    for inst in (*prototype_instances(), *shape_instances(), *special_instances()):
        solution = solve(inst)
        if solution is None:
            failures.append(f"{inst.name}: the solver failed")
            continue
        entry = record(inst, solution)
        difference, theta_difference = prototype_differences(inst, entry["objective"], solution["theta"], prototype)
        worst = max(worst, difference or 0.0)
        worst_theta = max(worst_theta, theta_difference or 0.0)
        print(
            f"{inst.name:34s} {entry['objective']:.12f} gap {solution['gap']:8.1e} "
            f"solver {solution['solver_value'] - entry['objective']:+.1e} theta {solution['theta_difference']:.1e} "
            f"prototype {difference} {theta_difference}",
            flush=True,
        )
        if solution["gap"] > MAX_GAP:
            failures.append(f"{inst.name}: gap {solution['gap']:.1e}")
            continue
        if (difference or 0.0) > MAX_SECTION13_DIFFERENCE:
            failures.append(f"{inst.name}: differs from prototype.json by {difference:.1e}")
        if (theta_difference or 0.0) > MAX_SECTION13_THETA_DIFFERENCE:
            failures.append(f"{inst.name}: Theta differs from prototype.json by {theta_difference:.1e}")
        records.append(entry)
    (HERE / "golden.json").write_text(to_text(versions(), records))
    print(f"{len(records)} instances; prototype.json: objective {worst:.1e}, Theta {worst_theta:.1e}")
    print("\n".join(failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
