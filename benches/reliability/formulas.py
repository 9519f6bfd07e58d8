"""Losses, regularisers and penalties with their conjugates, as the tables of docs/recheck.md have them."""

import dataclasses

import numpy as np

WIDE = np.longdouble
SPECTRAL = ("trace", "relationship", "clusters")
# By how much, of itself, the largest eigenvalue of a bound may be larger than allowed.
BOUND_ROUNDING = 1e-12


def wide(values):
    return np.asarray(values, dtype=WIDE)


# --- losses: value and conjugate ---


def conjugate_domain(loss, y):
    """Least and largest u for which the conjugate is finite."""
    kind, infinite = loss["kind"], np.full(len(y), np.inf, WIDE)
    if kind in ("hinge", "smoothed_hinge", "logistic"):
        return np.minimum(-y, 0), np.maximum(-y, 0)
    if kind == "squared_hinge":
        return np.where(y > 0, -infinite, 0), np.where(y > 0, 0, infinite)
    if kind in ("epsilon", "absolute"):
        return -np.ones(len(y), WIDE), np.ones(len(y), WIDE)
    if kind == "huber":
        return np.full(len(y), -wide(loss["delta"])), np.full(len(y), wide(loss["delta"]))
    if kind == "quantile":
        q = wide(loss["q"])
        return np.full(len(y), -q), np.full(len(y), 1 - q)
    return -infinite, infinite


def x_log_x(v):
    return np.where(v > 0, v * np.log(np.where(v > 0, v, 1)), 0)


def loss_value(loss, y, z):
    kind, short = loss["kind"], 1 - y * z
    if kind == "squared":
        return (y - z) ** 2 / 2
    if kind == "hinge":
        return np.maximum(0, short)
    if kind == "squared_hinge":
        return np.maximum(0, short) ** 2 / 2
    if kind == "smoothed_hinge":
        g = wide(loss["gamma"])
        return np.where(short <= 0, 0, np.where(short <= g, short**2 / (2 * g), short - g / 2))
    if kind == "logistic":
        return np.logaddexp(wide(0), -y * z)
    if kind == "epsilon":
        return np.maximum(0, abs(y - z) - wide(loss["epsilon"]))
    if kind == "squared_epsilon":
        return np.maximum(0, abs(y - z) - wide(loss["epsilon"])) ** 2 / 2
    if kind == "huber":
        d, r = wide(loss["delta"]), abs(y - z)
        return np.where(r <= d, r**2 / 2, d * r - d**2 / 2)
    if kind == "absolute":
        return abs(y - z)
    if kind == "quantile":
        q = wide(loss["q"])
        return np.where(y >= z, q * (y - z), (1 - q) * (z - y))
    raise ValueError(f"the page has no loss {kind}")


def sigmoid(s):
    small = np.exp(-abs(s))
    return np.where(s >= 0, 1, small) / (1 + small)


def loss_slope(loss, y, z, mu):
    """Of losses with kinks, that of the softened loss."""
    kind, short = loss["kind"], 1 - y * z
    if kind == "squared":
        return z - y
    if kind == "squared_hinge":
        return -y * np.maximum(0, short)
    if kind == "smoothed_hinge":
        return -y * np.clip(short / wide(loss["gamma"]), 0, 1)
    if kind == "logistic":
        return -y * sigmoid(-y * z)
    if kind == "squared_epsilon":
        return -np.sign(y - z) * np.maximum(0, abs(y - z) - wide(loss["epsilon"]))
    if kind == "huber":
        return np.clip(z - y, -wide(loss["delta"]), wide(loss["delta"]))
    if kind == "hinge":
        return -y * sigmoid(short / mu)
    epsilon = wide(loss["epsilon"]) if kind == "epsilon" else 0
    q = wide(loss["q"]) if kind == "quantile" else None
    above, below = (q, 1 - q) if kind == "quantile" else (1, 1)
    return below * sigmoid((z - y - epsilon) / mu) - above * sigmoid((y - z - epsilon) / mu)


def loss_conjugate(loss, y, u):
    kind = loss["kind"]
    if kind == "logistic":
        v = -y * u
        return x_log_x(v) + np.where(v < 1, (1 - v) * np.log1p(-np.where(v < 1, v, 0)), 0)
    square = {
        "squared": 1,
        "squared_hinge": 1,
        "squared_epsilon": 1,
        "huber": 1,
        "smoothed_hinge": loss.get("gamma", 0),
    }
    epsilon = wide(loss["epsilon"]) if kind in ("epsilon", "squared_epsilon") else 0
    return y * u + wide(square.get(kind, 0)) * u**2 / 2 + epsilon * abs(u)


# --- regularisers of Theta, entry by entry ---


@dataclasses.dataclass
class Entries:
    """phi, its slope, and phi*; by the pair of tasks where there is a prior."""

    kind: dict

    def phi(self, z):
        kind, z = self.kind["kind"], wide(z)
        if kind == "power":
            k = self.kind["k"]
            q = wide(2 * k - 1) / k
            return (q * z) ** (2 * k) / (2 * k * q)
        if kind == "exp":
            return self.prior(1) * np.expm1(z)
        if kind == "cosh":
            return 2 * np.sinh(z / 2) ** 2
        if kind == "series":
            return sum(wide(a) * z ** (j + 1) for j, a in enumerate(self.kind["coefficients"]))
        if kind == "frobenius":
            return z**2 / 2 + self.prior(0) * z
        if kind == "fixed":
            return wide(self.kind["theta"]) * z
        raise ValueError(f"the page has no regulariser {kind}")

    def slope(self, z):
        kind, z = self.kind["kind"], wide(z)
        if kind == "power":
            k = self.kind["k"]
            return (wide(2 * k - 1) / k * z) ** (2 * k - 1)
        if kind == "exp":
            return self.prior(1) * np.exp(z)
        if kind == "cosh":
            return np.sinh(z)
        if kind == "series":
            return sum((j + 1) * wide(a) * z**j for j, a in enumerate(self.kind["coefficients"]))
        if kind == "frobenius":
            return self.prior(0) + z
        return wide(self.kind["theta"]) + 0 * z

    def conjugate(self, theta, z):
        """phi*(theta) where theta is phi'(z). Fenchel and Young agree there, which is all there is for a series."""
        kind, theta = self.kind["kind"], wide(theta)
        if kind == "power":
            k = self.kind["k"]
            return abs(theta) ** (wide(2 * k) / (2 * k - 1)) / 2
        if kind == "frobenius":
            return (theta - self.prior(0)) ** 2 / 2
        if kind == "fixed":
            return 0 * theta
        return z * theta - self.phi(z)

    def prior(self, absent):
        found = self.kind.get("prior")
        return wide(absent if found is None else found)


def relation(atom, n_tasks):
    """S of an atom: its Frobenius norm is one."""
    about = atom["relation"]
    kind = about["kind"]
    if kind == "common":
        found = np.ones((n_tasks, n_tasks))
    elif kind == "own":
        found = np.eye(n_tasks)
    elif kind == "groups":
        groups = np.asarray(about["groups"])
        found = groups[:, None] == groups
    else:
        found = np.asarray(about["rows"])
    found = wide(found)
    return found / np.sqrt((found**2).sum())


# --- penalties of Theta as a whole ---


def filled(least, most, total, level):
    """Shares between `least` and `most` that add up to `total`, by bisection over the level that decides about them."""
    low, high = wide(-2000), wide(2000)
    for _ in range(200):
        middle = (low + high) / 2
        if np.clip(level(np.exp(middle)), least, most).sum() > total:
            low = middle
        else:
            high = middle
    return np.clip(level(np.exp(high)), least, most)


def singular_values(matrix):
    """Of a matrix with few columns, by rotations of pairs of columns until all are orthogonal."""
    columns = [wide(column) for column in matrix.T]
    for _ in range(60):
        turned = False
        for i in range(len(columns)):
            for j in range(i):
                a, b = columns[i], columns[j]
                aa, bb, ab = a @ a, b @ b, a @ b
                if abs(ab) <= 1e-18 * np.sqrt(aa * bb):
                    continue
                turned = True
                zeta = (bb - aa) / (2 * ab)
                t = (1 if zeta >= 0 else -1) / (abs(zeta) + np.hypot(wide(1), zeta))
                cosine = 1 / np.sqrt(1 + t**2)
                columns[i], columns[j] = cosine * (a - t * b), cosine * (t * a + b)
        if not turned:
            break
    return np.sqrt(wide([column @ column for column in columns]))


def penalty(output, lam, weights, duals):
    """Omega(W) and H(V'V), for W and V as matrices whose columns are tasks; group by group, if there are groups."""
    groups = output.get("groups")
    if groups is not None:
        own = [np.asarray(groups) == group for group in set(groups)]
        parts = [penalty(output | {"groups": None}, lam, weights[:, some], duals[:, some]) for some in own]
        return tuple(sum(part) for part in zip(*parts))
    kind, n_tasks = output["kind"], weights.shape[1]
    if kind == "trace":
        nu = 2 * lam * wide(output["nu"])
        within = (singular_values(duals) ** 2).max() <= nu * (1 + BOUND_ROUNDING)
        return np.sqrt(nu) * singular_values(weights).sum(), wide(0) if within else wide(np.inf)
    if kind == "relationship":
        l1, l2 = wide(output["l1"]), wide(output["l2"])
        s, r = singular_values(weights), singular_values(duals) ** 2
        omega = l1 * (s**2).sum() / 2 + l2 * s.sum() ** 2 / 2
        if l1 == 0:
            return omega, r.max() / (2 * l2)
        # Shares o of Om: r l2 / (l1 o + l2)^2 is the same wherever o > 0.
        shares = filled(0, 1, 1, lambda level: (np.sqrt(r * l2 / level) - l2) / l1)
        return omega, (r * shares / (l1 * shares + l2)).sum() / 2
    mean, between, within = (wide(output[name]) for name in ("mean", "between", "within"))
    clusters = min(output["clusters"], n_tasks)
    unit = wide(np.ones(n_tasks)) / np.sqrt(wide(n_tasks))

    def apart(matrix):
        """Square of the mean, and of the singular values of what is left; the zero of the mean is left out."""
        of_mean = matrix @ unit
        return of_mean @ of_mean, np.sort(singular_values(matrix - np.outer(of_mean, unit)) ** 2)[1:]

    of_mean, squares = apart(weights)
    total = (clusters - 1) / between + (n_tasks - clusters) / within
    spread = filled(1 / within, 1 / between, total, lambda level: np.sqrt(squares / level))
    omega = (mean * of_mean + (squares / spread).sum()) / 2
    of_mean, r = apart(duals)
    largest = r[::-1][: clusters - 1].sum()
    return omega, (of_mean / mean + r.sum() / within + (1 / between - 1 / within) * largest) / 2
