"""Problems drawn at random: tasks, rows, features, noise, how related tasks are, how correlated features are.

`draw(kind, seed)` gives training and test rows. Each seed is another problem, not another split of the same.
"""

import numpy as np

from .splits import Data

TEST_ROWS = 1500


def between(rng, low, high):
    """A number between, uniform in its logarithm."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def count(rng, low, high):
    return round(between(rng, low, high))


def features(rng, rows, n, unit_length=False):
    """Correlated features: variances fall as a random power along random directions; features have other units.

    With `unit_length`, all rows have length one, as embeddings have."""
    spectrum = np.arange(1, n + 1) ** -rng.uniform(0.0, 1.2)
    turn = np.linalg.qr(rng.normal(size=(n, n)))[0]
    x = rng.normal(size=(rows, n)) * spectrum @ turn
    if unit_length:
        return x / np.linalg.norm(x, axis=1, keepdims=True)
    return x * np.exp(rng.normal(size=n)) + rng.normal(size=n)


def weights(rng, tasks, x):
    """Weights of tasks: a part that all share, one that a few hidden tasks share, one of their own. Of features,
    all or some count. Signals have variance one."""
    n = x.shape[1]
    shares = rng.dirichlet([0.7, 0.7, 0.7])
    hidden = rng.integers(1, 4)
    common = rng.normal(size=(1, n)) * np.ones((tasks, 1))
    few = rng.normal(size=(tasks, hidden)) @ rng.normal(size=(hidden, n)) / np.sqrt(hidden)
    w = np.sqrt(shares) @ np.stack([common, few, rng.normal(size=(tasks, n))]).reshape(3, -1)
    w = w.reshape(tasks, n) * (rng.random(n) < rng.choice([1.0, 0.3]))
    signal = (x - x.mean(0)) / (x.std(0) + 1e-12) @ w.T
    return signal / (signal.std(0) + 1e-12)


def tasks(rng, rows_of_task, wide, classes):
    n_tasks = count(rng, 2, 25)
    own = [count(rng, *rows_of_task) for _ in range(n_tasks)]
    n = count(rng, 1.2 * max(own), 5 * max(own)) if wide else count(rng, 3, max(4, 0.7 * max(own)))
    train = np.repeat(np.arange(n_tasks), own)
    test = np.arange(TEST_ROWS) % n_tasks
    task = np.concatenate([train, test])
    x = features(rng, len(task), n)
    signal = weights(rng, n_tasks, x)[np.arange(len(task)), task]
    if classes:
        scores = between(rng, 1, 8) * signal + rng.normal(size=n_tasks)[task] + rng.logistic(size=len(task))
        y = np.where(scores > 0, 1, -1)
    else:
        y = signal + between(rng, 0.1, 3) * rng.normal(size=len(task)) + 10 * rng.normal(size=n_tasks)[task]
    return Data(x, y, task, classes), len(train)


def table(rng, rows, wide):
    n_rows, n_tasks = count(rng, *rows), count(rng, 2, 12)
    n = count(rng, 1.2 * n_rows, 5 * n_rows) if wide else count(rng, 3, max(4, 0.5 * n_rows))
    x = features(rng, n_rows + TEST_ROWS, n)
    signal = weights(rng, n_tasks, x)
    noise = between(rng, 0.1, 3) * rng.normal(size=signal.shape) * np.exp(0.3 * rng.normal(size=n_tasks))
    return Data(x, signal + noise + 10 * rng.normal(size=n_tasks)), n_rows


def classes(rng, n_classes, rows_of_class, n, spread):
    """Classes around centres, some of which are near to each other; some directions do not help."""
    n_classes, rows_of_class = count(rng, *n_classes), count(rng, *rows_of_class)
    label = np.concatenate([np.repeat(np.arange(n_classes), rows_of_class), np.arange(TEST_ROWS) % n_classes])
    parents = rng.normal(size=(max(2, n_classes // 5), n))
    relatedness = rng.uniform(0, 0.8)
    centre = np.sqrt(relatedness) * parents[rng.integers(len(parents), size=n_classes)]
    centre += np.sqrt(1 - relatedness) * rng.normal(size=(n_classes, n))
    centre *= np.arange(1, n + 1) ** -rng.uniform(0.0, 1.0)
    inside = rng.normal(size=(len(label), n)) * np.arange(1, n + 1) ** -rng.uniform(0.0, 0.8)
    # Distances within classes against those between centres.
    noise = between(rng, *spread) * np.sqrt(np.sum(centre**2, 1).mean() / np.sum(inside**2, 1).mean())
    return label, centre[label] + noise * inside, n_classes * rows_of_class


def few_classes(rng):
    label, x, n_train = classes(rng, (2, 10), (5, 40), count(rng, 4, 60), (0.5, 3))
    return Data(x * np.exp(rng.normal(size=x.shape[1])) + rng.normal(size=x.shape[1]), label, classes=True), n_train


def many_classes(rng):
    """Five rows of each, embeddings of length one."""
    label, x, n_train = classes(rng, (15, 80), (5, 5.4), count(rng, 64, 384), (1.2, 5))
    return Data(x / np.linalg.norm(x, axis=1, keepdims=True), label, classes=True), n_train


KINDS = {
    "table": lambda rng: table(rng, (20, 150), False),
    "table-wide": lambda rng: table(rng, (20, 100), True),
    "tasks": lambda rng: tasks(rng, (5, 60), False, False),
    "tasks-wide": lambda rng: tasks(rng, (5, 30), True, False),
    "tasks-classes": lambda rng: tasks(rng, (8, 60), False, True),
    "tasks-classes-wide": lambda rng: tasks(rng, (8, 30), True, True),
    "classes": few_classes,
    "classes-many": many_classes,
}


def draw(kind, seed):
    data, n_train = KINDS[kind](np.random.default_rng([list(KINDS).index(kind), seed]))
    rows = np.arange(len(data.x))
    return data.take(rows[:n_train]), data.take(rows[n_train:])
