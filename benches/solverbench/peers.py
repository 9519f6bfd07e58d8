"""scikit-learn on the tasks one by one: what a user would run otherwise.

Run as a process: `python peers.py FOLDER` answers a request `{"peer": NAME, "loss": LOSS, "c": C, "threads":
N}` per line. C is the peer's own in our units: 1/2 |w|^2 + C sum of losses, with (y - z)^2 / 2 and max(0, 1 -
yz)^2 / 2.
"""

import json
import pathlib
import sys
import time
import warnings

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import numpy as np

from solverbench import sets

TOLERANCE = 1e-6
LONG = 1.0
REPEATS = 5


def names(loss, kernel):
    """Candidates for a loss; the best one counts. The likely fastest comes first and sets the limit for the others."""
    loss = loss.split(":")[0]
    if kernel != "linear":
        return {
            "squared": ["KernelRidge"],
            "hinge": ["SVC"],
            "logistic": ["Nystroem+LogisticRegression lbfgs", "Nystroem+LogisticRegression newton-cholesky"],
            "squared_hinge": ["Nystroem+LinearSVC primal", "Nystroem+LinearSVC dual"],
        }[loss]
    return {
        "squared": ["Ridge"],
        "hinge": ["LinearSVC dual"],
        "squared_hinge": ["LinearSVC primal", "LinearSVC dual"],
        "logistic": [f"LogisticRegression {s}" for s in ("liblinear", "lbfgs", "newton-cholesky")],
        "epsilon": ["LinearSVR", "SVR"],
    }[loss]


def thread_counts(name, threads):
    """With all threads, and with one where that may be faster: small products, or a machine that others use
    too. What comes from liblinear and libsvm has one thread."""
    alone = name.startswith(("SVC", "SVR", "LinearSV", "LogisticRegression liblinear"))
    return [1] if alone else sorted({threads, 1}, reverse=True)


def estimator(name, loss, c, kernel):
    """An estimator of one task, or of all of them at once where it can do that."""
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR

    kind, *how = name.removeprefix("Nystroem+").split(" ")
    gamma = float(kernel.split(":")[1]) if ":" in kernel else None
    epsilon = float(loss.split(":")[1]) if ":" in loss else 0.0
    many = 100_000
    if kind == "Ridge":
        return Ridge(alpha=1 / c, fit_intercept=False)
    if kind == "KernelRidge":
        return KernelRidge(alpha=1 / c, kernel="rbf", gamma=gamma)
    if kind == "SVC":
        return SVC(C=c, kernel="rbf", gamma=gamma, tol=TOLERANCE, cache_size=1000)
    if kind == "SVR":
        return SVR(C=c, kernel="linear", epsilon=epsilon, tol=TOLERANCE, cache_size=1000)
    if kind == "LinearSVR":
        return LinearSVR(C=c, epsilon=epsilon, fit_intercept=False, tol=TOLERANCE, max_iter=many, random_state=0)
    if kind == "LinearSVC":
        half = 0.5 if loss == "squared_hinge" else 1.0
        dual = how == ["dual"]
        return LinearSVC(
            C=half * c, loss=loss, dual=dual, fit_intercept=False, tol=TOLERANCE, max_iter=many, random_state=0
        )
    return LogisticRegression(C=c, solver=how[0], fit_intercept=False, tol=TOLERANCE, max_iter=many, random_state=0)


def jobs(meta, x, group, y):
    """The tasks one by one: inputs and labels of each. Inputs that all share are the same object."""
    if meta["form"] == "tasks":
        return [(x[group == t], y[group == t]) for t in range(meta["tasks"])]
    return [(x, np.where(group == t, 1.0, -1.0)) for t in range(meta["tasks"])]


class Peer:
    """A data set, ready for any peer."""

    def __init__(self, folder):
        self.meta, self.x, group, y = sets.load(folder)
        self.group, self.jobs = group, jobs(self.meta, self.x, group, y)
        self.shared = self.meta["form"] == "classes"
        if self.shared:
            self.table = np.stack([label for _, label in self.jobs], axis=1)

    def fit(self, name, loss, c):
        """Fits all tasks, and says which with what; iterations at a limit show as warnings."""
        kernel, x = self.meta["kernel"], self.x
        if name.startswith("Nystroem+"):
            from sklearn.kernel_approximation import Nystroem

            # All rows: the exact kernel as features.
            gamma = float(kernel.split(":")[1])
            x = Nystroem(kernel="rbf", gamma=gamma, n_components=len(x), random_state=0).fit_transform(x)
        new = lambda: estimator(name, loss, c, kernel)
        if self.shared and name in ("Ridge", "KernelRidge"):
            return [(new().fit(x, self.table), x, self.table)]
        if self.shared and "LinearSVC" in name and self.meta["tasks"] > 2:
            return [(new().fit(x, self.group), x, self.table)]
        if self.shared:
            return [(new().fit(x, label), x, label) for _, label in self.jobs]
        # Of a task with one class there is nothing to learn, and most peers refuse it.
        real = loss == "squared" or loss.startswith("epsilon")
        tasks = [(x, label) for x, label in self.jobs if real or len(set(label)) == 2]
        return [(new().fit(x, label), x, label) for x, label in tasks]

    def answer(self, request):
        from threadpoolctl import threadpool_limits

        loss, c, seconds = request["loss"], request["c"], []
        with threadpool_limits(request["threads"]), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            while len(seconds) < REPEATS and sum(seconds) < LONG:
                start = time.perf_counter()
                fitted = self.fit(request["peer"], loss, c)
                seconds.append(time.perf_counter() - start)
            said = {warning.category.__name__ for warning in caught}
        limit = "ConvergenceWarning" in said
        answer = {"seconds": sorted(seconds)[len(seconds) // 2], "limit": limit, "warnings": sorted(said)}
        return {**answer, "objective": objective(fitted, loss, c)}


def objective(fitted, loss, c):
    """C sum of losses + 1/2 |w|^2 over all tasks: tells a peer that ended early. None where there are no
    weights, or an intercept."""
    total = 0.0
    for model, x, y in fitted:
        if not hasattr(model, "coef_") or np.any(getattr(model, "intercept_", 0.0)):
            return None
        w = model.coef_
        z = (x @ np.atleast_2d(w).T).reshape(y.shape)
        values = {
            "squared": lambda: 0.5 * (y - z) ** 2,
            "hinge": lambda: np.maximum(0, 1 - y * z),
            "squared_hinge": lambda: 0.5 * np.maximum(0, 1 - y * z) ** 2,
            "logistic": lambda: np.logaddexp(0, -y * z),
            "epsilon": lambda: np.maximum(0, np.abs(y - z) - float(loss.split(":")[1])),
        }[loss.split(":")[0]]()
        total += c * values.sum() + 0.5 * (w**2).sum()
    return float(total)


def warm_up():
    """The first call of a library pays for its loading."""
    x, y = np.random.default_rng(0).standard_normal((2, 20, 3))
    for loss in ("squared", "hinge", "squared_hinge", "logistic", "epsilon:0.1"):
        for kernel in ("linear",) if loss.startswith("epsilon") else ("linear", "rbf:1.0"):
            for name in names(loss, kernel):
                label = y[:, 0] if loss in ("squared", "epsilon:0.1") else np.sign(y[:, 0])
                estimator(name, loss, 1.0, kernel).fit(x, label)
    return {}


def main():
    peer = Peer(pathlib.Path(sys.argv[1]))
    for line in sys.stdin:
        request = json.loads(line)
        try:
            said = warm_up() if request == "hello" else peer.answer(request)
        except Exception as error:  # A peer that fails is a result too.
            said = {"error": f"{type(error).__name__}: {error}"[:300]}
        print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main()
