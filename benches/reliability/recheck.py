"""The certificate of a model, computed again in extended precision, from docs/recheck.md alone.

Nothing of kinfolk is imported: a model file is read byte by byte, and every formula is on that page. Numbers are
numpy's longdouble (64 bits of digits and exponents to 1e4932 on x86), so that nothing overflows and rounding here is
no excuse.
"""

import dataclasses
import json
import struct

import numpy as np

from formulas import (
    SPECTRAL,
    WIDE,
    Entries,
    conjugate_domain,
    loss_conjugate,
    loss_slope,
    loss_value,
    penalty,
    relation,
    wide,
)

TYPES = {"F64": np.float64, "F32": np.float32, "U32": np.uint32, "U64": np.uint64}
# Duals at the ends of their intervals, and sums of duals, up to rounding in double precision.
DOMAIN_ROUNDING, BALANCE_ROUNDING = 1e-12, 1e-9
# As `kinfolk certify` has it, of the size that an entry can have. What is smaller than double precision is zero there.
PART_ROUNDING, UNDERFLOW = 1e-6, 1e-290
# Some sums of some hundred roundings, each of 1e-16.
LAST_DIGITS, ROUNDING_TRIALS, ROUNDING_SAFETY, SUM_ROUNDING = 1e-14, 5, 1000, 1e-12
# Of the objective of the zero model: what is smaller is zero in double precision.
ZERO_OBJECTIVE = 1e-12
SHAKEN = {"alpha", "v", "intercept"}


def read_model(path):
    """What is said about a model, and its tensors by name."""
    raw = path.read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    about = json.loads(header.pop("__metadata__")["kinfolk"])["about"]
    tensors = {}
    for name, one in header.items():
        first, last = (8 + length + place for place in one["data_offsets"])
        tensors[name] = np.frombuffer(raw[first:last], TYPES[one["dtype"]]).reshape(one["shape"])
    return about, tensors


# --- data as a fit sees them ---


@dataclasses.dataclass
class Data:
    """Inputs as rows of numbers (or kernel values K), and observations: input, task, label, offset."""

    x: np.ndarray | None
    k: np.ndarray | None
    row: np.ndarray
    task: np.ndarray
    y: np.ndarray
    offset: np.ndarray
    weight: np.ndarray | None = None
    """Of each observation, for models that do not keep them."""


def scaled(about, tensors, x):
    """Inputs as the kernel sees them."""
    x = wide(x)
    if "scale_factor" in tensors:
        return (x - wide(tensors["scale_mean"]) if "scale_mean" in tensors else x) * wide(tensors["scale_factor"])
    if about["scaling"] == "unit":
        length = np.sqrt((x**2).sum(axis=1))
        return x / np.where(length > 0, length, 1)[:, None]
    return x


def kernel_values(about, data, tensors):
    """The Gram matrix, with the bias."""
    kernel, bias = about["kernel"], wide(about["bias"])
    if kernel["kind"] == "precomputed":
        return wide(data.k) + bias**2
    x = scaled(about, tensors, data.x)
    kind = kernel["kind"]
    if kind == "linear":
        found = x @ x.T
    elif kind == "cosine":
        length = np.sqrt((x**2).sum(axis=1))
        x = x / np.where(length > 0, length, 1)[:, None]
        found = x @ x.T
    elif kind == "polynomial":
        found = (wide(kernel["gamma"]) * (x @ x.T) + wide(kernel["coef0"])) ** kernel["degree"]
    else:
        apart = x[:, None, :] - x[None, :, :]
        distance = (apart**2).sum(axis=2) if kind == "rbf" else abs(apart).sum(axis=2)
        found = np.exp(-wide(kernel["gamma"]) * distance)
    return found + bias**2


# --- the certificate ---


@dataclasses.dataclass
class Recheck:
    primal: float
    dual: float
    size: float
    """Sum of the absolute values of all terms."""
    faults: list
    theta: np.ndarray
    zero: float
    """Objective of the model that is zero everywhere."""
    reach: float
    """The largest that a score can be before Theta is applied, and before anything cancels."""

    @property
    def gap(self):
        return self.primal - self.dual


class Geometry:
    """Inputs of a model as vectors: rows of numbers, or of a root of the Gram matrix."""

    def __init__(self, about, tensors, data, shaken):
        self.is_linear = about["kernel"]["kind"] in ("linear", "cosine")
        if self.is_linear:
            self.x = shaken(features(about, tensors, data))
            self.gram = self.x @ self.x.T
            self.most = abs(self.x) @ abs(self.x).T
        else:
            self.gram = shaken(kernel_values(about, data, tensors))
            self.gram = (self.gram + self.gram.T) / 2
            self.most, self.x = abs(self.gram), None

    def point(self, stored):
        """A stored point as weights: for kernels it has coefficients of the inputs."""
        return stored if self.is_linear else self.root().T @ stored

    def scores(self, stored):
        return self.x @ stored if self.is_linear else self.gram @ stored

    def root(self):
        if self.x is None:
            self.x = cholesky(self.gram)
        return self.x


def cholesky(gram):
    """L with L L' = K, as many columns as K has directions."""
    left, columns = gram.copy(), []
    for _ in range(len(gram)):
        pivot = int(np.argmax(np.diag(left)))
        if left[pivot, pivot] <= 1e-18 * np.diag(gram).max():
            break
        column = left[:, pivot] / np.sqrt(left[pivot, pivot])
        columns.append(column)
        left = left - np.outer(column, column)
    return np.stack(columns, axis=1) if columns else np.zeros((len(gram), 1), WIDE)


def recheck(about, tensors, data, shaken=wide):
    """Primal value, dual value and what is wrong with the point."""
    problem, faults = about["problem"], []
    c, lam, output = wide(problem["c"]), wide(problem["lambda"]), problem["output"]
    n_tasks, row, task = len(tensors["theta"]), data.row, data.task
    y, offset = scaled_labels(problem, tensors, task, wide(data.y), wide(data.offset))
    of_numbers = are_numbers(problem, task)
    y, offset = np.where(of_numbers, shaken(y), y), shaken(offset)
    # Losses of numbers are functions of `y - z - offset`: labels less offsets are the same problem. Terms such as
    # `alpha y - alpha offset` of 1e24 would leave less of an objective of 1e8 than extended precision has digits.
    y, offset = np.where(of_numbers, y - offset, y), np.where(of_numbers, 0, offset)
    weight = tensors.get("observation_weight", 1 if data.weight is None else data.weight)
    ci = c * wide(weight).reshape(-1) + 0 * y
    geometry = Geometry(about, tensors, data, shaken)
    if "alpha" in tensors:
        alpha = tensors["alpha"]
        alpha = wide(alpha[row, task] if alpha.ndim == 2 else alpha)
    else:
        f = (geometry.x @ wide(tensors["weights"]))[row, task] + offset
        f = f + wide(tensors["intercept"])[task] if "intercept" in tensors else f
        alpha = answering_duals(about, ci, (y, task), f)
    z = np.zeros((len(geometry.gram), n_tasks), WIDE)
    z[row, task] = alpha
    v_of_duals = geometry.x.T @ z if geometry.is_linear else z
    stored = wide(tensors["v"]) if "v" in tensors else v_of_duals
    scores = geometry.scores(stored)
    # The size that scores can have before anything cancels.
    reach = geometry.most @ abs(z)

    if output["kind"] in SPECTRAL:
        # v has the weights themselves, and not a point that Theta has to be applied to.
        theta, predictions = wide(tensors["theta"]), scores
        costs, bounds = ([cost] for cost in penalty(output, lam, geometry.point(stored), geometry.point(v_of_duals)))
    else:
        entries = Entries(output)
        of_point, of_duals = inner(geometry, stored, scores), inner(geometry, v_of_duals, geometry.scores(v_of_duals))
        rho, rho_dual = of_point / (2 * lam), of_duals / (2 * lam)
        theta = entries.slope(rho)
        costs, bounds = [lam * entries.conjugate(theta, rho).sum()], [lam * entries.phi(rho_dual).sum()]
        for atom in problem.get("atoms", []):
            s, w = relation(atom, n_tasks), wide(atom["weight"])
            if w > 0:
                a = w * entries.slope((s * rho).sum())
                theta = theta + a * s
                costs.append(lam * w * entries.conjugate(a / w, (s * rho).sum()))
                bounds.append(lam * w * entries.phi((s * rho_dual).sum()))
        costs.append((theta * of_point).sum() / 2)
        predictions = scores @ theta
    faults += function_faults(predictions, geometry, tensors, reach @ np.maximum(abs(theta), abs(tensors["theta"])))

    b = wide(tensors.get("intercept", np.zeros(n_tasks)))
    f = predictions[row, task] + b[task] + offset
    values, conjugates, zero = np.zeros_like(y), np.zeros_like(y), np.zeros_like(y)
    u = np.where(ci > 0, -alpha / np.where(ci > 0, ci, 1), 0)
    losses = losses_of(problem, n_tasks)
    for t in range(n_tasks):
        own = task == t
        low, high = conjugate_domain(losses[t], y[own])
        slack = DOMAIN_ROUNDING * np.maximum(1, abs(u[own]))
        if ((u[own] < low - slack) | (u[own] > high + slack)).any() or (alpha[own][ci[own] == 0] != 0).any():
            faults.append("a dual is outside its domain")
        values[own] = ci[own] * loss_value(losses[t], y[own], f[own])
        zero[own] = ci[own] * loss_value(losses[t], y[own], offset[own])
        conjugates[own] = ci[own] * loss_conjugate(losses[t], y[own], np.clip(u[own], low, high))
    primal, dual = [*values, *costs], [*-conjugates, *-(alpha * offset), *(-bound for bound in bounds)]
    one_class = np.array([falls_for_ever(losses[t], y[(task == t) & (ci > 0)]) for t in range(n_tasks)])
    sums = wide([alpha[task == t].sum() for t in range(n_tasks)])
    of_intercepts(problem["intercept"], b, sums, c, one_class, primal, dual)
    if problem["intercept"] == "free":
        faults += balance_faults(alpha, task, np.flatnonzero(~one_class))
    size = abs(wide([term for term in [*primal, *dual] if np.isfinite(term)])).sum()
    return Recheck(wide(primal).sum(), wide(dual).sum(), size, sorted(set(faults)), theta, zero.sum(), reach.max())


def scaled_labels(problem, tensors, task, y, offset):
    """Labels and offsets as the losses see them: numbers in double precision, which the problem is about."""
    if "target_scale" not in tensors:
        return y, offset
    unit = wide(tensors["target_scale"])[task]
    centre = wide(tensors["target_centre"])[task] if "target_centre" in tensors else 0 * unit
    # With the logistic loss labels stay as they are, and the centre is a part of the offset.
    odds = np.array(["logistic" in str(loss) for loss in losses_of(problem, len(tensors["theta"]))])[task]
    y = np.where(odds, y, (y - centre) / unit)
    offset = np.where(odds, offset + centre, offset / unit)
    return wide(np.float64(y)), wide(np.float64(offset))


def answering_duals(about, ci, observations, f):
    """The duals that answer to predictions, of a model of rows that nobody kept."""
    problem, (y, task) = about["problem"], observations
    n_tasks, alpha, mu = int(task.max()) + 1, np.zeros_like(y), wide(about.get("smoothing", 0))
    losses = losses_of(problem, n_tasks)
    squared = all(loss["kind"] == "squared" for loss in losses)
    for t in range(n_tasks):
        own = (task == t) & (ci > 0)
        answer = -loss_slope(losses[t], y[own], f[own], mu)
        alpha[own] = ci[own] * answer
        if problem["intercept"] != "free" or not own.any() or falls_for_ever(losses[t], y[own]):
            continue
        if squared:
            alpha[own] -= ci[own] * alpha[own].sum() / ci[own].sum()
            continue
        up, down = alpha[own][alpha[own] > 0].sum(), -alpha[own][alpha[own] < 0].sum()
        larger = (alpha > 0) == (up > down)
        alpha[own & larger] *= min(up, down) / max(up, down) if max(up, down) > 0 else 1
    return alpha


def losses_of(problem, n_tasks):
    """The loss of each task."""
    return problem["loss"] if isinstance(problem["loss"], list) else [problem["loss"]] * n_tasks


def rounding(about, tensors, data, found):
    """How much objective, bound and Theta change if every number that enters changes in its last digits. A
    certificate in double precision cannot be more accurate than this."""
    rng = np.random.default_rng(0)
    primal = dual = SUM_ROUNDING * found.size + UNDERFLOW
    theta = np.zeros_like(found.theta)
    for _ in range(ROUNDING_TRIALS):

        def shaken(values):
            return wide(values) * (1 + LAST_DIGITS * rng.uniform(-1, 1, np.shape(values)))

        moved = {name: shaken(values) if name in SHAKEN else values for name, values in tensors.items()}
        other = recheck(about, moved, data, shaken)
        primal = max(primal, ROUNDING_SAFETY * change(other.primal, found.primal))
        dual = max(dual, ROUNDING_SAFETY * change(other.dual, found.dual))
        theta = np.maximum(theta, ROUNDING_SAFETY * change(other.theta, found.theta))
    return primal, dual, theta


def theta_underflow(found):
    """By how much entries of Theta may be wrong since numbers below double precision are zero.

    Predictions are sums of entries of Theta times scores, in the units of the labels. Scores are at most `reach`. So
    an error of `UNDERFLOW / reach` in an entry changes predictions by at most UNDERFLOW: labels of 1e-150 are still
    1e140 times larger. A solver that computes Theta as a product of such numbers has zero there.
    """
    return UNDERFLOW + (UNDERFLOW / found.reach if found.reach > 0 else np.inf)


def change(one, other):
    """Distance; that of infinities is not known, and may be anything."""
    distance = abs(one - other)
    return np.where(np.isnan(distance), np.inf, distance)


def are_numbers(problem, task):
    """Whether the label of each observation is a number, and not a class."""
    losses = losses_of(problem, int(task.max()) + 1)
    return np.array(["hinge" not in str(loss) and "logistic" not in str(loss) for loss in losses])[task]


def falls_for_ever(loss, y):
    """Whether there is no best intercept: logistic loss, all labels of one class."""
    return "logistic" in str(loss) and len(set(y.tolist())) == 1


def weight_of_intercepts(kind, c):
    """The number w of the penalty `w b^2 / 2` of every task, if there is one."""
    if kind.startswith("ridge:"):
        return 1 / wide(float(kind.split(":")[1])) ** 2
    if kind.startswith("shrunk:"):
        return wide(c) * wide(float(kind.split(":")[1]))
    return None


def of_intercepts(kind, b, sums, c, without_best, primal, dual):
    """Adds what penalised intercepts cost; free ones cost `c b^2 / 2` where there is no best one."""
    if kind == "free":
        primal.append(c / 2 * (b[without_best] ** 2).sum())
        dual.append(-(sums[without_best] ** 2).sum() / (2 * c))
    weight = weight_of_intercepts(kind, c)
    if weight is not None:
        primal.append(weight / 2 * (b**2).sum())
        dual.append(-(sums**2).sum() / (2 * weight))


def inner(geometry, stored, scores):
    """Inner products of the columns of a point."""
    return stored.T @ stored if geometry.is_linear else stored.T @ scores


def features(about, tensors, data):
    """Inputs of a linear or cosine kernel, with the column of the bias."""
    x = scaled(about, tensors, data.x)
    if about["kernel"]["kind"] == "cosine":
        length = np.sqrt((x**2).sum(axis=1))
        x = x / np.where(length > 0, length, 1)[:, None]
    return np.hstack([x, np.full((len(x), 1), wide(about["bias"]))]) if about["bias"] else x


# --- whether the rest of the file is the certified point ---


def balance_faults(alpha, task, tasks):
    own = [alpha[task == t] for t in tasks]
    wrong = any(abs(duals.sum()) > BALANCE_ROUNDING * abs(duals).sum() for duals in own)
    return ["duals of a task do not add up to zero"] if wrong else []


def function_faults(predictions, geometry, tensors, reach):
    """The stored function, at the training inputs."""
    if "weights" in tensors:
        stored = geometry.x @ wide(tensors["weights"])
    else:
        coefficients = np.zeros((len(predictions), predictions.shape[1]), WIDE)
        rows = tensors.get("support_rows", np.arange(len(tensors["coefficients"])))
        coefficients[rows] = wide(tensors["coefficients"])
        stored = geometry.gram @ coefficients
    size = np.maximum(abs(predictions), reach).max(axis=0)
    # A task that has next to no function of its own has the rounding of the others.
    differs = abs(stored - predictions) > PART_ROUNDING * size + SUM_ROUNDING * size.max() + UNDERFLOW
    return ["the stored function is not that of the point"] if differs.any() else []
