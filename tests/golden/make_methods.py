"""Make methods.json: optima of regularisers and methods on toy problems, by a conic solver.

    pip install -r requirements.txt
    python make_methods.py

Every problem is sum_i L(y_i, f_i) + penalty(W), f_i = <w_(t_i), x_i>, on data that are formulas: the same as in the
tests of crates/core, crates/train and crates/paper that read methods.json. cvxpy and Clarabel solve it, so nothing here
shares an algorithm with the crates. Where the penalty has a closed form, it is evaluated with numpy at the solver's W:
an upper bound whatever the solver did. A problem is written only if that value and the solver's dual bound agree.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import clarabel
import cvxpy as cp
import numpy as np

HERE = Path(__file__).resolve().parent
TASKS = 3
WEIGHTS = np.array([[1.0, 0.5, 0.0], [1.0, 0.0, -0.5], [-1.0, 0.5, 0.5]])
# Relative distance of the upper and the lower bound at most.
MAX_GAP = 2e-8

# A penalty: an expression of W (features x tasks) with constraints, and the same in numpy if it has a closed form.
Penalty = Callable[[cp.Expression], tuple[cp.Expression, list]]
ClosedForm = Callable[[np.ndarray], float] | None


def inputs(n: int) -> np.ndarray:
    """Row i, feature j: sin((i + 1) (j + 1)), from 0."""
    return np.sin(np.outer(np.arange(1, n + 1), np.arange(1, 4)))


def own_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Twelve rows, row i of task i mod 3: inputs, tasks, labels."""
    x, task = inputs(12), np.arange(12) % TASKS
    return x, task, (x * WEIGHTS[task]).sum(1) + 0.1 * np.cos(5.0 * np.arange(1, 13))


def shared_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Six inputs with a label for each of the three tasks."""
    row, task = np.divmod(np.arange(18), TASKS)
    x = inputs(6)[row]
    return x, task, (x * WEIGHTS[task]).sum(1) + 0.1 * np.cos(5.0 * (row + 1) + task)


def losses(y: np.ndarray) -> dict[str, tuple[Callable, Callable]]:
    """Sum of losses at predictions f, for cvxpy and for numpy."""
    sign = np.sign(y)
    return {
        "squared": (lambda f: cp.sum_squares(y - f) / 2, lambda f: np.sum((y - f) ** 2) / 2),
        "hinge": (
            lambda f: cp.sum(cp.pos(1 - cp.multiply(sign, f))),
            lambda f: np.sum(np.maximum(1 - sign * f, 0)),
        ),
        "epsilon:0.1": (
            lambda f: cp.sum(cp.pos(cp.abs(y - f) - 0.1)),
            lambda f: np.sum(np.maximum(np.abs(y - f) - 0.1, 0)),
        ),
    }


# --------------------------------------------------------------------------- penalties


def given(theta: np.ndarray) -> tuple[Penalty, ClosedForm]:
    """tr(W Theta^-1 W') / 2."""
    root = np.linalg.cholesky(np.linalg.inv(theta))
    return (lambda w: (cp.sum_squares(w @ root) / 2, [])), (lambda w: np.sum((w @ root) ** 2) / 2)


def nuclear(w: np.ndarray) -> float:
    return float(np.linalg.svd(w, compute_uv=False).sum())


def relationship(l1: float, l2: float, groups: list[list[int]]) -> tuple[Penalty, ClosedForm]:
    """l1 |W|^2 / 2 + l2 / 2 times the sum over groups of the squared trace norm of their columns."""
    return (
        lambda w: (
            l1 / 2 * cp.sum_squares(w) + l2 / 2 * sum(cp.square(cp.normNuc(w[:, group])) for group in groups),
            [],
        ),
        lambda w: l1 / 2 * np.sum(w**2) + l2 / 2 * sum(nuclear(w[:, group]) ** 2 for group in groups),
    )


def trace_norm(weight: float) -> tuple[Penalty, ClosedForm]:
    return (lambda w: (weight * cp.normNuc(w), [])), (lambda w: weight * nuclear(w))


def clusters(number: int, mean: float, between: float, within: float) -> tuple[Penalty, ClosedForm]:
    """[mean |W U|^2 + tr(W Pi S^-1 Pi W')] / 2 over S on the space of Pi = I - U, where all entries of U are 1/T;
    1/within <= S <= 1/between, tr S = (number - 1) / between + (T - number) / within."""
    basis = np.linalg.svd(np.eye(TASKS) - 1 / TASKS)[0][:, : TASKS - 1]
    ones = np.full((TASKS, 1), TASKS**-0.5)

    def penalty(w: cp.Expression) -> tuple[cp.Expression, list]:
        s = cp.Variable((TASKS - 1, TASKS - 1), symmetric=True)
        one = np.eye(TASKS - 1)
        trace = (number - 1) / between + (TASKS - number) / within
        limits = [s - one / within >> 0, one / between - s >> 0, cp.trace(s) == trace]
        return (mean * cp.sum_squares(w @ ones) + cp.matrix_frac((w @ basis).T, s)) / 2, limits

    return penalty, None


def learned(lam: float, k: int) -> tuple[Penalty, ClosedForm]:
    """tr(W Theta^-1 W') / 2 + lam / 2 sum_rs |Theta_rs|^p over Theta, p = 2k / (2k - 1)."""

    def penalty(w: cp.Expression) -> tuple[cp.Expression, list]:
        theta = cp.Variable((TASKS, TASKS), PSD=True)
        power = cp.sum_squares(theta) if k == 1 else cp.sum(cp.power(cp.abs(theta), 2 * k / (2 * k - 1)))
        return cp.matrix_frac(w.T, theta) / 2 + lam / 2 * power, []

    # For k = 1 the best Theta is known: a Schatten norm of W remains.
    def norm(w: np.ndarray) -> float:
        squares = np.linalg.svd(w, compute_uv=False) ** 2
        return 1.5 * lam * float(np.sum((squares / (2 * lam)) ** (2 / 3)))

    return penalty, norm if k == 1 else None


def lattice(mu: float, b: float, apart: bool) -> tuple[Penalty, ClosedForm]:
    """Functions f_w of all groups w of tasks, W their sum, |f|^2 = tr(F (1 1' / mu + I)^-1 F') within a group, and
    q_v = sum of |f_w|^2 over w that contain v: (sum_v b^|v| sqrt(q_v))^2 / 2, or, with single tasks apart,
    [sum_t b^2 q_t + (sum_(|v| > 1) b^|v| sqrt(q_v))^2 / T] / 2."""
    groups = [g for size in range(1, TASKS + 1) for g in itertools.combinations(range(TASKS), size)]

    def penalty(w: cp.Expression) -> tuple[cp.Expression, list]:
        parts = {g: cp.Variable((3, len(g))) for g in groups}
        total, rooted = 0, {}
        for g in groups:
            place = np.eye(TASKS)[list(g)]
            total = total + parts[g] @ place
            inverse = np.linalg.inv(np.ones((len(g), len(g))) / mu + np.eye(len(g)))
            rooted[g] = cp.vec(parts[g] @ np.linalg.cholesky(inverse), order="F")
        above = {v: cp.hstack([rooted[g] for g in groups if set(v) <= set(g)]) for v in groups}
        grouped = [v for v in groups if len(v) > 1 or not apart]
        norm = cp.square(sum(b ** len(v) * cp.norm(above[v]) for v in grouped))
        single = sum(b**2 * cp.sum_squares(above[v]) for v in groups if len(v) == 1)
        return (single + norm / TASKS if apart else norm) / 2, [w == total]

    return penalty, None


def problems() -> Iterator[tuple[str, tuple[Penalty, ClosedForm]]]:
    """Names that the tests use, and penalties."""
    yield "independent", given(np.eye(TASKS))
    yield "mean mu=2", given(np.ones((TASKS, TASKS)) / 2 + np.eye(TASKS))
    yield "clusters 2 mean=0.2 between=0.5 within=2", clusters(2, 0.2, 0.5, 2.0)
    yield "clusters 2 mean=0.1 between=0.25 within=1", clusters(2, 0.1, 0.25, 1.0)
    yield "relationship l1=0 l2=0.4", relationship(0.0, 0.4, [[0, 1, 2]])
    yield "relationship l1=0.3 l2=0.4", relationship(0.3, 0.4, [[0, 1, 2]])
    yield "relationship l1=0 l2=0.4 groups=0,0,1", relationship(0.0, 0.4, [[0, 1], [2]])
    yield "trace norm 0.4", trace_norm(0.4)
    yield "learned k=1 lambda=0.5", learned(0.5, 1)
    yield "learned k=2 lambda=0.5", learned(0.5, 2)
    for alone, b in (("with-groups", 1.3), ("apart", 1.3), ("apart", 0.5)):
        yield f"lattice mu=0.5 b={b} {alone}", lattice(0.5, b, alone == "apart")


# --------------------------------------------------------------------------- solving


def solve(name: str, data: tuple, loss: str, pair: tuple[Penalty, ClosedForm], weight: float = 1.0) -> dict:
    """The optimum of weight times the losses plus a penalty."""
    x, task, y = data
    conic, plain = losses(y)[loss]
    w = cp.Variable((3, TASKS))
    penalty, closed = pair
    paid, constraints = penalty(w)
    predictions = cp.sum(cp.multiply(x @ w, np.eye(TASKS)[task]), axis=1)
    problem = cp.Problem(cp.Minimize(weight * conic(predictions) + paid), constraints)
    tight = {option: 1e-12 for option in ("tol_gap_abs", "tol_gap_rel", "tol_feas")}
    prepared, chain, inverse = problem.get_problem_data(cp.CLARABEL, solver_opts=tight)
    solution = chain.solve_via_data(problem, prepared, solver_opts=tight)
    problem.unpack_results(solution, chain, inverse)
    # cvxpy keeps constants of the objective from the solver.
    upper, lower = problem.value, solution.obj_val_dual + problem.value - solution.obj_val
    if closed is not None:
        upper = weight * plain((x @ w.value)[np.arange(len(task)), task]) + closed(w.value)
    gap = abs(upper - lower) / abs(upper)
    assert gap <= MAX_GAP, f"{name}, {loss}: bounds {upper} and {lower}"
    print(f"{name}, {loss}: {upper:.10f}, bounds differ by {gap:.0e}")
    return {"name": name, "loss": loss, "optimum": round(upper, 10), "gap": float(f"{gap:.1e}")}


def main() -> None:
    own, shared = own_rows(), shared_rows()
    instances = [solve(name, own, loss, pair) for name, pair in problems() for loss in losses(own[2])]
    # On shared inputs, in our scale and in that of output kernel learning: ld = lambda^(1/3), |L|^2 / 2.
    instances.append(solve("shared rows, learned k=1 lambda=0.5", shared, "squared", learned(0.5, 1)))
    ld = 0.5 ** (1 / 3)
    instances.append(solve("shared rows, output kernel", shared, "squared", learned(1.0, 1), 1 / ld))
    made_with = {"cvxpy": cp.__version__, "clarabel": clarabel.__version__, "numpy": np.__version__}
    text = json.dumps({"made_with": made_with, "instances": instances}, indent=1)
    (HERE / "methods.json").write_text(text + "\n")
    print(f"{len(instances)} instances")


if __name__ == "__main__":
    main()
