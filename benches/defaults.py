"""The defaults against scikit-learn, against `select`, and against other units of the same data.

    pip install ./python            # a release build of this very code
    OMP_NUM_THREADS=1 python benches/defaults.py --out benches/runs/$(date +%F)-defaults

Each set (benches/solverbench/splits.py) is split at random into training and test rows. On the same rows:

- defaults: MultiTaskRegressor(), MultiTaskClassifier(), OutputKernelRegressor() or OutputKernelClassifier();
- peer: StandardScaler with RidgeCV (17 strengths, 1e-3 to 1e5) for each task or target, or LogisticRegressionCV
  for each task or for all classes together; tasks with one class predict it;
- select: MultiTaskCV of the same estimator, on all but the largest sets;
- fixed: one fit with the C of the default fit given, for its time.

`--sets drawn` instead takes problems drawn at random (benches/solverbench/drawn.py): each split is another problem.

Scores are R^2 or accuracy, the mean over tasks; the second score is R^2 of all tasks together in units of their
training rows, or AUC. One thread, processor seconds. A set that takes longer than --seconds has fewer splits, at
least two. What is in raw.jsonl is not measured again. Needs the packages of benches/requirements.txt; sets of
$KINFOLK_DATA or ../shared/data that are not there are skipped.
"""

import argparse
import math
import os
import pathlib
import platform
import shlex
import statistics
import sys
import time
import warnings

import numpy as np

from solverbench import drawn, files, splits

ALPHAS = np.logspace(-3, 5, 17)
# Label and feature changes that must not matter: name, shift, factor.
CHANGES = [("+10", 10.0, 1.0), ("+1000", 1000.0, 1.0), ("x1e-6", 0.0, 1e-6), ("x1e6", 0.0, 1e6)]
# Names of kinds of drawn problems begin so; the word alone stands for all of them.
DRAWN = "drawn-"
CHANGED_SETS = ["diabetes-by-age", "linnerud", "iris"]
# A smaller loss than one point is named apart: the spread may be tiny.
ONE_POINT = 0.01


# --- estimators ---


def default_estimator(form, **options):
    import kinfolk

    name = {
        "tasks, numbers": "MultiTaskRegressor",
        "tasks, classes": "MultiTaskClassifier",
        "table, numbers": "OutputKernelRegressor",
        "classes": "OutputKernelClassifier",
    }[form]
    return getattr(kinfolk, name)(n_jobs=1, **options)


class OneClass:
    """For a task whose training rows are all of one class."""

    def __init__(self, label):
        self.label = label

    def predict(self, x):
        return np.full(len(x), self.label)

    def decision_function(self, x):
        return np.zeros(len(x))


def logistic(x, y):
    """Scaled logistic regression with cross-validated strength; folds as many as the smallest class allows."""
    from sklearn.linear_model import LogisticRegression, LogisticRegressionCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    counts = np.unique(y, return_counts=True)[1]
    if len(counts) == 1:
        return OneClass(y[0])
    if counts.min() < 2:
        return make_pipeline(StandardScaler(), LogisticRegression()).fit(x, y)
    return make_pipeline(StandardScaler(), LogisticRegressionCV(cv=int(min(5, counts.min())))).fit(x, y)


def ridge(x, y):
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), RidgeCV(alphas=ALPHAS)).fit(x, y)


class Peer:
    """scikit-learn for each task, each target, or all classes. `learn` makes a model of one of them; None is the one
    that suits the labels."""

    def __init__(self, learn=None):
        self.learn = learn

    def fit(self, data):
        learn = self.learn or (logistic if data.classes else ridge)
        self.form = data.form
        if data.task is not None:
            self.models = {t: learn(data.x[data.task == t], data.y[data.task == t]) for t in np.unique(data.task)}
        elif data.classes:
            self.models = learn(data.x, data.y)
        else:
            self.models = [learn(data.x, column) for column in data.y.T]
        return self

    def answers(self, data):
        """Predictions, and scores of the second class where tasks have two."""
        if data.form == "classes":
            return self.models.predict(data.x), None
        if data.form == "table, numbers":
            return np.column_stack([model.predict(data.x) for model in self.models]), None
        predicted, scores = np.empty(len(data.y), data.y.dtype), np.zeros(len(data.y))
        for t, model in self.models.items():
            rows = data.task == t
            predicted[rows] = model.predict(data.x[rows])
            if data.classes:
                scores[rows] = model.decision_function(data.x[rows])
        return predicted, scores


class Ours:
    """An estimator of this package."""

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, data):
        more = {} if data.task is None else {"task": data.task}
        self.estimator.fit(data.x, data.y, **more)
        return self

    def answers(self, data):
        more = {} if data.task is None else {"task": data.task}
        predicted = self.estimator.predict(data.x, **more)
        scores = self.estimator.decision_function(data.x, **more) if data.form == "tasks, classes" else None
        return predicted, scores


# --- scores ---


def columns(data, values):
    """Labels or predictions of each task."""
    if data.task is not None:
        return [values[data.task == t] for t in np.unique(data.task)]
    return [values] if data.classes else list(values.T)


def second_score(train, test, predicted, scores):
    """R^2 of all tasks together, in units of their training rows and against their means; or AUC, the mean over
    tasks with both classes."""
    from sklearn.metrics import roc_auc_score

    if test.form == "classes":
        return None
    if test.classes:
        pairs = [(y, s) for y, s in zip(columns(test, test.y), columns(test, scores)) if len(set(y)) == 2]
        return float(np.mean([roc_auc_score(y, s) for y, s in pairs]))
    lost = total = 0.0
    known = dict(zip(np.unique(train.task), columns(train, train.y))) if train.task is not None else None
    of_task = list(known.values()) if known else columns(train, train.y)
    for before, y, p in zip(of_task, columns(test, test.y), columns(test, predicted), strict=True):
        unit = before.std() or 1.0
        lost += np.sum(((y - p) / unit) ** 2)
        total += np.sum(((y - before.mean()) / unit) ** 2)
    return float(1 - lost / total)


def scored(train, test, model):
    from sklearn.metrics import accuracy_score, r2_score

    predicted, scores = model.answers(test)
    score = accuracy_score if test.classes else r2_score
    each = [score(y, p) for y, p in zip(columns(test, test.y), columns(test, predicted), strict=True)]
    return {"score": float(np.mean(each)), "second": second_score(train, test, predicted, scores)}


def measured(train, test, model):
    """Scores, and processor seconds of the fit: other work on the machine does not count."""
    start = time.process_time()
    model.fit(train)
    seconds = time.process_time() - start
    return {**scored(train, test, model), "seconds": seconds}


# --- what is run ---


def one_split(train, test, with_select):
    from kinfolk import MultiTaskCV

    ours = Ours(default_estimator(train.form))
    row = {"defaults": measured(train, test, ours), "peer": measured(train, test, Peer())}
    c = ours.estimator.C_
    row |= {"C": c, "fixed": measured(train, test, Ours(default_estimator(train.form, C=c)))}
    if with_select:
        row["select"] = measured(train, test, Ours(MultiTaskCV(default_estimator(train.form), n_jobs=1)))
    return row | {"form": train.form, "train_rows": len(train.x), "test_rows": len(test.x)}


def difference(data, before, after, factor, shift):
    """Largest change of a prediction, in standard deviations of its task's labels; of classes, the share that
    changed."""
    if data.classes:
        return float(np.mean(before != after))
    changes = zip(columns(data, data.y), columns(data, before), columns(data, (after - shift) / factor))
    return float(max(np.max(np.abs(a - b)) / y.std() for y, b, a in changes))


def changed(data, entry):
    """What shifts and units of labels and of features change in predictions of the defaults."""
    train, test = map(data.take, data.draw(entry.train, 0))
    before = Ours(default_estimator(data.form)).fit(train).answers(test)[0]
    found = {}
    for name, shift, factor in CHANGES:
        if not data.classes:
            other = splits.Data(train.x, train.y * factor + shift, train.task)
            after = Ours(default_estimator(data.form)).fit(other).answers(test)[0]
            found[f"labels {name}"] = difference(test, before, after, factor, shift)
        other = splits.Data(train.x * factor + shift, train.y, train.task, data.classes)
        seen = splits.Data(test.x * factor + shift, test.y, test.task, data.classes)
        after = Ours(default_estimator(data.form)).fit(other).answers(seen)[0]
        found[f"features {name}"] = difference(test, before, after, 1.0, 0.0)
    return found


def run(args, raw):
    done = {row["key"] for row in files.read(raw)}

    def record(key, work):
        if key in done:
            return
        started = time.perf_counter()
        try:
            row = {"key": key, "commit": args.commit, "load": round(os.getloadavg()[0], 1), **work()}
        except Exception as error:
            row = {"key": key, "error": f"{type(error).__name__}: {error}"}
        files.append(raw, row)
        print(f"{key}: {time.perf_counter() - started:.1f} s {row.get('error', '')}", flush=True)

    for name in args.sets.split(","):
        if name.startswith(DRAWN):
            for seed in range(args.splits):
                kind = name.removeprefix(DRAWN)
                record(f"{name}/{seed}", lambda: one_split(*drawn.draw(kind, seed), False))
            continue
        data = splits.load(name)
        if data is None:
            print(f"skipped: {name} is not there")
            continue
        entry, started = splits.SETS[name], time.perf_counter()
        for seed in range(args.splits):
            if seed < 2 or time.perf_counter() - started < args.seconds:
                parts = map(data.take, data.draw(entry.train, seed))
                record(f"{name}/{seed}", lambda: one_split(*parts, entry.select))
        if name in CHANGED_SETS:
            record(f"change/{name}", lambda: {"changes": changed(data, entry)})


# --- what is reported ---


def paired(rows, a, b, score="score"):
    """Mean and standard error of a's score less b's."""
    gains = [row[a][score] - row[b][score] for row in rows]
    error = statistics.stdev(gains) / math.sqrt(len(gains)) if len(gains) > 1 else math.nan
    return statistics.mean(gains), error


def below(gain, error):
    """By more than two standard errors."""
    return gain < 0 and gain < -2 * error


def above(gain, error):
    return gain > 0 and gain > 2 * error


def mark(gain, error):
    if below(gain, error):
        return "**below**" if gain < -ONE_POINT else "below by less than a point"
    return "above" if above(gain, error) else " "


def against(rows, a, b, score="score"):
    gain, error = paired(rows, a, b, score)
    return f"{gain:+.4f} | {error:.4f} | {mark(gain, error)}"


def mean(rows, who, what):
    return statistics.mean(row[who][what] for row in rows)


def second_cell(rows):
    if rows[0]["peer"]["second"] is None:
        return "-"
    gain, error = paired(rows, "defaults", "peer", "second")
    return f"{gain:+.4f} ({error:.4f})"


def peer_table(found):
    head = "set | form | training rows | splits | defaults | peer | difference | error | | second score | s | peer s"
    lines = [f"| {head} |"]
    lines += ["|---" * 12 + "|"]
    for name, rows in found.items():
        cells = [name, rows[0]["form"], rows[0]["train_rows"], len(rows)]
        cells += [f"{mean(rows, who, 'score'):.4f}" for who in ("defaults", "peer")]
        cells += [against(rows, "defaults", "peer"), second_cell(rows)]
        cells += [f"{statistics.median(row[who]['seconds'] for row in rows):.3f}" for who in ("defaults", "peer")]
        lines += ["| " + " | ".join(map(str, cells)) + " |"]
    return lines


def selected_by(rows):
    """The score that `select` chooses by: of tasks with two classes, AUC."""
    return "second" if rows[0]["form"] == "tasks, classes" else "score"


def time_ratio(rows, a, b):
    return statistics.median(row[a]["seconds"] / row[b]["seconds"] for row in rows)


def select_table(found):
    lines = ["| set | defaults | select | difference | error | | select less peer | error | | x one fit |"]
    lines += ["|---" * 10 + "|"]
    for name, rows in found.items():
        by = selected_by(rows)
        cells = [f"{mean(rows, who, by):.4f}" for who in ("defaults", "select")]
        cells += [against(rows, "defaults", "select", by), against(rows, "select", "peer", by)]
        lines += ["| " + " | ".join([name, *cells, f"{time_ratio(rows, 'defaults', 'fixed'):.1f}"]) + " |"]
    return lines


def verdicts(found, selected, changes):
    """A line for each thing that is to hold."""
    gains = {name: paired(rows, "defaults", "peer") for name, rows in found.items()}
    lose = {name: f"{name} ({g:+.4f}, error {e:.4f})" for name, (g, e) in gains.items() if below(g, e)}
    far = [text for name, text in lose.items() if gains[name][0] < -ONE_POINT]
    little = [text for name, text in lose.items() if gains[name][0] >= -ONE_POINT]
    average = statistics.mean(gain for gain, _ in gains.values())
    largest = max(gains, key=lambda name: abs(gains[name][0]))
    others = statistics.mean(gain for name, (gain, _) in gains.items() if name != largest)
    lines = [
        f"- Below the peer by more than two standard errors and by more than one point: {', '.join(far) or 'no set'}.",
        f"- Below by more than two standard errors, but by less than one point: {', '.join(little) or 'no set'}.",
        f"- Average difference over {len(gains)} sets: {average:+.4f} "
        f"(median {statistics.median(g for g, _ in gains.values()):+.4f}; without {largest} {others:+.4f}).",
    ]
    if selected:
        better = [n for n, rows in selected.items() if above(*paired(rows, "select", "peer", selected_by(rows)))]
        kept = [n for n in better if above(*paired(found[n], "defaults", "peer", selected_by(found[n])))]
        near = [n for n, rows in selected.items() if not below(*paired(rows, "defaults", "select", selected_by(rows)))]
        missing = ", ".join(sorted(set(selected) - set(near))) or "none"
        lines += [
            f"- `select` is above the peer by two standard errors on {len(better)} sets ({', '.join(better)}); the "
            f"defaults are on {len(kept)} of them ({', '.join(kept)}).",
            f"- Not below `select` by more than two standard errors: {len(near)} of {len(selected)} sets; below: "
            f"{missing}.",
        ]
    ratios = {name: time_ratio(rows, "defaults", "fixed") for name, rows in found.items()}
    slowest = max(ratios, key=ratios.get)
    lines += [
        f"- Default fit in times of one fit with C given: median {statistics.median(ratios.values()):.1f}, most "
        f"{ratios[slowest]:.1f} ({slowest}).",
    ]
    for name, row in changes.items():
        worst = max(row["changes"], key=row["changes"].get)
        lines += [f"- Shifts and units, {name}: largest change {row['changes'][worst]:.1e} ({worst})."]
    return lines


def about(rows):
    import kinfolk
    import sklearn

    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    words = shlex.join(["python", "benches/defaults.py", *sys.argv[1:]])
    commits = ", ".join(sorted({row["commit"] for row in rows if "commit" in row}))
    return [
        "# The defaults",
        "",
        f"Written by `{words}`.",
        f"Commits {commits}; kinfolk {kinfolk.__version__}, scikit-learn {sklearn.__version__},",
        f"numpy {np.__version__}, Python {platform.python_version()};",
        f"{cpu[0]}, {len(cpu)} cores, one thread. Other work ran on the machine: load averages are in raw.jsonl.",
        "",
    ]


def report(rows):
    last = {row["key"]: row for row in rows}
    failed = [f"- {key}: {row['error']}" for key, row in last.items() if "error" in row]
    good = {key: row for key, row in last.items() if "error" not in row}
    changes = {key.split("/")[1]: row for key, row in good.items() if key.startswith("change/")}
    names = [*splits.SETS, *(DRAWN + kind for kind in drawn.KINDS)]
    found = {name: [row for key, row in good.items() if key.startswith(f"{name}/")] for name in names}
    found = {name: rows for name, rows in found.items() if rows}
    selected = {name: rows for name, rows in found.items() if "select" in rows[0]}
    lines = [*about(rows), "## What holds", "", *verdicts(found, selected, changes), ""]
    lines += ["## Defaults against scikit-learn", ""]
    lines += ["Scores are R^2 (numbers) or accuracy (classes), means over tasks and splits; the difference is paired."]
    lines += ["The second score is R^2 of all tasks together, or AUC; its difference, and the standard error.", ""]
    lines += [*peer_table(found), "", "## Defaults against select", ""]
    lines += ["By the score that `select` chooses by: as above, but AUC for tasks with two classes.", ""]
    lines += [*select_table(selected), ""]
    lines += ["## Shifts and units", "", "Largest change of a prediction, in standard deviations of the labels of"]
    lines += ["its task; of classes, the share that changed.", ""]
    for name, row in changes.items():
        lines += [f"- {name}: " + ", ".join(f"{what} {value:.1e}" for what, value in row["changes"].items())]
    lines += ["", "## Failed", "", *failed] if failed else []
    return "\n".join([*lines, ""])


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--sets", default=",".join(splits.SETS))
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=25.0, help="a set that takes longer has fewer splits")
    parser.add_argument("--report-only", action="store_true", help="write summary.md from raw.jsonl")
    args = parser.parse_args()
    if args.sets == DRAWN.rstrip("-"):
        args.sets = ",".join(DRAWN + kind for kind in drawn.KINDS)
    args.commit = files.commit()
    return args


def main():
    args = arguments()
    warnings.simplefilter("ignore")
    args.out.mkdir(parents=True, exist_ok=True)
    raw = args.out / "raw.jsonl"
    if not args.report_only:
        run(args, raw)
    text = report(files.read(raw))
    files.replace(args.out / "summary.md", text)
    print(text)


if __name__ == "__main__":
    main()
