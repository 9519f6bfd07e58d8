"""Problems of the evidence: sets of the data folder and generated worlds, each at three training sizes.

How many rows are learned from follows from one rule for all sets; see `sizes`.
"""

import functools
import pathlib

import numpy as np

from solverbench import sets, splits

# Of each task or class; of a table, whose targets share their rows, in all.
MOST_ROWS_PER_TASK, MOST_ROWS_OF_TABLE = 100, 200
# Rows x tasks where tasks share their rows, rows where they do not: what a fit costs grows with them.
MOST_LABELS = 5_000
# Of sets with more, so many are drawn anew for each split.
MOST_CLASSES = 20
LEAST_ROWS_PER_TASK = 3
# Parts of the largest size.
SIZES = {"few": 4, "middle": 2, "more": 1}

WORLDS = {
    # Shares of the variance of weights: common to all tasks, to a group, of the task alone.
    "common": (0.8, 0.0, 0.2),
    "groups": (0.0, 0.8, 0.2),
    "both": (0.4, 0.4, 0.2),
    "none": (0.0, 0.0, 1.0),
}
WORLD_TASKS, WORLD_GROUPS, WORLD_FEATURES, WORLD_ROWS_PER_TASK = 20, 4, 30, 300
WORLD_NOISE_DEVIATION = 0.7
WORLD_NAMES = [f"world-{kind}{ending}" for ending in ("", "-classes") for kind in WORLDS]
SET_NAMES = [name for name, entry in splits.SETS.items() if entry.load is None]
NAMES = [*SET_NAMES, *WORLD_NAMES]


def world(kind, binary, seed):
    """Tasks with linear truths. Weights of all tasks have variance 1 in total; each task has its own level."""
    rng = np.random.default_rng([21, list(WORLDS).index(kind), int(binary), seed])
    tasks, features, rows = WORLD_TASKS, WORLD_FEATURES, WORLD_ROWS_PER_TASK
    group = rng.permutation(np.arange(tasks) % WORLD_GROUPS)
    parts = [np.tile(rng.normal(size=features), (tasks, 1)), rng.normal(size=(WORLD_GROUPS, features))[group]]
    parts += [rng.normal(size=(tasks, features))]
    weights = sum(np.sqrt(share) * part for share, part in zip(WORLDS[kind], parts)) / np.sqrt(features)
    task = np.repeat(np.arange(tasks), rows)
    x = rng.normal(size=(tasks * rows, features))
    y = (x * weights[task]).sum(axis=1) + WORLD_NOISE_DEVIATION * rng.normal(size=len(x))
    y += (0.3 if binary else 3.0) * rng.normal(size=tasks)[task]
    return splits.Data(x, np.where(y > 0, 1, -1) if binary else y, task, classes=binary)


def groups(data):
    """What rows are counted by: tasks, or classes; all rows of a table are of one group."""
    if data.task is not None:
        return data.task
    return data.y if data.classes else np.zeros(len(data.x), int)


def n_tasks(data):
    """How many there are at a time."""
    if data.form == "table, numbers":
        return data.y.shape[1]
    count = len(np.unique(groups(data)))
    return min(count, MOST_CLASSES) if data.form == "classes" else count


def sizes(data):
    """Training rows of each task or class (of a table, in all). `more` is half of the rows of the smallest task or
    class, but no more than the limits above; `middle` is half of that and `few` a quarter."""
    smallest = np.unique(groups(data), return_counts=True)[1].min()
    most = MOST_ROWS_OF_TABLE if data.form == "table, numbers" else MOST_ROWS_PER_TASK
    tasks = n_tasks(data)
    labels = tasks**2 if data.form == "classes" else tasks  # that one more row of each brings
    most = min(int(smallest) // 2, most, MOST_LABELS // labels)
    return {name: max(LEAST_ROWS_PER_TASK, round(most / part)) for name, part in SIZES.items()}


def pool(data):
    """The rows that splits draw from: enough of each task or class, always the same, so that they can be packed."""
    group = groups(data)
    names = np.unique(group)
    test = splits.MOST_TEST_PER_TASK if data.task is not None else -(-splits.MOST_TEST // len(names))
    most = 2 * sizes(data)["more"] + test
    rng = np.random.default_rng(21)
    rows = []
    for own in names:
        own_rows = np.flatnonzero(group == own)
        rows += [own_rows if len(own_rows) <= most else rng.choice(own_rows, most, replace=False)]
    return np.sort(np.concatenate(rows))


@functools.cache
def loaded(name):
    """A set of the data folder, cut to its pool; None if it is not there. Single precision, as in packed files."""
    data = splits.load(name)
    if data is None:
        return None
    data = data.take(pool(data))
    data.x = data.x.astype(np.float32).astype(float)
    return data


def of_split(name, split):
    """The problem from which the rows of this split are drawn: a fresh world for each split."""
    if not name.startswith("world-"):
        return loaded(name)
    kind, _, binary = name.removeprefix("world-").partition("-")
    return world(kind, bool(binary), split)


def some_classes(data, split):
    """Some classes of many, numbered anew."""
    names = np.unique(data.y)
    if len(names) <= MOST_CLASSES:
        return data
    names = np.sort(np.random.default_rng([21, split]).choice(names, MOST_CLASSES, replace=False))
    data = data.take(np.isin(data.y, names))
    data.y = np.searchsorted(names, data.y)
    return data


def drawn(name, size, split):
    """Training rows and test rows."""
    data = of_split(name, split)
    if data.form == "classes":
        data = some_classes(data, split)
    return tuple(map(data.take, data.draw(sizes(data)[size], split)))


def cost(name, size):
    """For the order of jobs only: labels times what one row costs."""
    data = of_split(name, 0)
    count, tasks = sizes(data)[size], n_tasks(data)
    rows = count if data.form == "table, numbers" else count * tasks
    labels = rows if data.task is not None else rows * tasks
    return labels * min(rows, data.x.shape[1])


def pack(folder):
    """Writes the pools of all sets, as $KINFOLK_DATA has them."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for name in SET_NAMES:
        whole = splits.load(name)
        if whole is None:
            print(f"skipped: {name} is not there")
            continue
        rows, file = pool(whole), sets.read(name)
        kept = {key: file[key][rows] for key in ("X", "y", "Y", "task", "label") if key in file}
        if kept["X"].dtype == np.float64:
            kept["X"] = kept["X"].astype(np.float32)
        np.savez_compressed(folder / f"{name}.npz", **kept)
        print(f"{name}: {len(rows)} of {len(whole.x)} rows")
