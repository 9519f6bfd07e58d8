"""All methods on generated tasks: is kinship found where there is some, and is nothing lost where there is none;
and what do they cost.

    python benches/methods.py --out benches/runs/NAME [--quick] [--first SEED] [--repeats N]

Kin: 20 tasks of 20 features, in four groups, or related to nobody; 15 rows of each with numbers, or 30 with two
classes, which say less; ten seeds. Each method selects its parameters and strength by three folds on the
training rows, cut twice, as `kinfolk select` does for anybody, and is scored on 200 fresh rows of each task.
Groups are read off Theta by average linkage, cut at the true number, and compared with the truth (adjusted Rand
index). Times: 40 tasks, 2,000 rows, 50 features, default parameters, middle strength, gap 1e-3. Needs the
packages of benches/requirements.txt and cargo. What is in raw.jsonl is not measured again.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np

from solverbench import files, sets

METHODS = ["stl", "pooled", "mtl", "cmtl", "mtfl", "gmtl", "mtrl", "mtl-sdca", "okl", "convex-okl", "fmtl"]
STRENGTHS = "0.01,0.1,1,10,100"
KIN = {"clustered": 4, "unrelated": 20}
# Also selected by the score of the rows of all folds together.
QUICK = ["stl", "mtl", "mtrl", "convex-okl", "fmtl"]
TEST, TASKS, FEATURES = 200, 20, 20
# Rows to learn from: numbers, classes.
TRAIN = {False: 15, True: 30}
# Two-sided 5 % of Student's distribution with nine degrees of freedom.
NOISE = 2.262


def build():
    """The command."""
    subprocess.run(["cargo", "build", "--release", "-p", "kinfolk-cli"], cwd=sets.ROOT, check=True)
    return pathlib.Path(os.environ.get("CARGO_TARGET_DIR", sets.ROOT / "target")) / "release" / "kinfolk"


def say(command, *words):
    """What the command answers, as JSON."""
    done = subprocess.run([command, *map(str, words), "--json", "--quiet"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def generate(command, folder, kinship, binary, seed):
    """A file with training rows in part 0 and test rows in part 1; the group of each task."""
    file = folder / "kin.npz"
    words = ["--tasks", TASKS, "--groups", KIN[kinship], "--rows", TRAIN[binary] + TEST, "--features", FEATURES]
    words += ["--noise", 0.5, "--own", 0.3, "--seed", seed] + (["--binary"] if binary else [])
    said = say(command, "data", "generate", file, *words)
    with np.load(file) as stored:
        arrays = {key: stored[key] for key in stored.files}
    place = np.zeros(len(arrays["task"]), int)
    for task in range(TASKS):
        rows = np.flatnonzero(arrays["task"] == task)
        place[rows] = np.arange(len(rows))
    np.savez(file, **arrays, split=np.where(place < TRAIN[binary], 0, 1))
    return file, said["groups"]


def recovered(command, model, folder, truth):
    """Adjusted Rand index of the groups that Theta shows."""
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import squareform
    from sklearn.metrics import adjusted_rand_score

    subprocess.run([command, "theta", model, "--correlation", "-o", folder / "theta.npy", "--quiet"], check=True)
    distance = 1 - np.abs(np.load(folder / "theta.npy"))
    np.fill_diagonal(distance, 0)
    tree = linkage(squareform(np.maximum(distance, 0), checks=False), "average")
    return adjusted_rand_score(truth, fcluster(tree, len(set(truth)), "maxclust"))


def kin(command, kinship, binary, seed, method, folder, repeats=1, scored="by-fold"):
    if binary and method == "okl":
        raise RuntimeError("okl can do the squared loss only; for two classes see convex-okl, the same problem")
    file, truth = generate(command, folder, kinship, binary, seed)
    model = folder / "model.safetensors"
    loss = ["--loss", "hinge" if binary else "squared"]
    words = [
        "--method",
        method,
        "--grid",
        f"strength={STRENGTHS}",
        "--folds",
        3,
        "--repeats",
        repeats,
        "--split",
        0,
        "--scored",
        scored,
        "-o",
        model,
        *loss,
    ]
    said = say(command, "select", file, *words)
    score = say(command, "evaluate", model, file, "--split", 1)
    value = score["metrics"]["auc" if binary else "r2"]["mean"]
    found = recovered(command, model, folder, truth) if kinship == "clustered" else None
    return {
        "score": value,
        "ari": found,
        "method": said["winner"]["method"],
        "seconds": sum(row["seconds"] for row in said["rows"]),
    }


def timed(command, method, loss, folder):
    file = folder / "times.npz"
    if not file.exists():
        say(
            command, "data", "generate", file, "--tasks", 40, "--groups", 4, "--rows", 50, "--features", 50, "--seed", 1
        )
    said = say(command, "fit", file, "--method", method, "--loss", loss, "-o", folder / "model.safetensors")
    return {key: said[key] for key in ("seconds", "status", "rel_gap", "solver", "passes")}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="two seeds")
    parser.add_argument("--first", type=int, default=0, help="the first of the seeds")
    parser.add_argument("--seeds", type=int, default=10, help="how many; several may be at work in one folder")
    parser.add_argument("--repeats", type=int, default=2, help="how often folds are cut")
    parser.add_argument("--methods", default=",".join(METHODS))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    raw = args.out / "raw.jsonl"
    rows = files.read(raw)
    done = {row["key"] for row in rows}
    command = build()

    def record(key, work):
        if key in done:
            return
        try:
            row = {"key": key, "commit": files.commit(), "load": os.getloadavg()[0], **work()}
        except RuntimeError as error:
            row = {"key": key, "error": str(error)}
        files.append(raw, row)
        rows.append(row)
        print(row, flush=True)

    methods = args.methods.split(",")
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for method in methods:
            for loss in ("squared", "epsilon:0.1"):
                record(f"time/{method}/{loss}", lambda: timed(command, method, loss, folder))
        for seed in range(args.first, args.first + (2 if args.quick else args.seeds)):
            for kinship in KIN:
                for binary in (False, True):
                    for method in methods:
                        key = f"kin/{kinship}/{'auc' if binary else 'explained variance'}/{seed}/{method}"
                        record(key, lambda: kin(command, kinship, binary, seed, method, folder, args.repeats))
                        if method in QUICK:
                            key = key.replace("kin/", "together/")
                            record(
                                key,
                                lambda: kin(command, kinship, binary, seed, method, folder, args.repeats, "together"),
                            )
    files.replace(args.out / "summary.md", summary(rows, methods))


# What the claim is about: groups are in the problem, or the problem learns who is related to whom.
CLUSTER_AWARE = {
    "cmtl": "clusters are in its problem",
    "mtfl": "groups are in its problem",
    "gmtl": "groups are in its problem",
    "mtrl": "learns who is related to whom",
    "okl": "learns who is related to whom; fmtl with k = 1",
    "convex-okl": "learns who is related to whom; fmtl with k = 1",
    "fmtl": "learns who is related to whom",
}
OTHERS = {"pooled": "no: one model", "mtl": "no: one mean", "mtl-sdca": "no: one subspace for all"}


def mean_and_error(values):
    error = statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return statistics.mean(values), error


def gains(last, methods):
    """By kinship and score, for each method: its scores, gains over independent tasks in the same seed, and
    groups found."""
    found = {}
    for kinship in KIN:
        for score in ("explained variance", "auc"):
            of = {m: {} for m in methods}
            for key, row in last.items():
                kind, *where = key.split("/")
                if kind == "kin" and where[:2] == [kinship, score] and where[3] in of:
                    of[where[3]][where[2]] = row
            for method in methods:
                common = sorted(set(of[method]) & set(of.get("stl", {})))
                if common:
                    rows = [of[method][seed] for seed in common]
                    mean, error = mean_and_error(
                        [row["score"] - of["stl"][seed]["score"] for seed, row in zip(common, rows)]
                    )
                    ari = [row["ari"] for row in rows if row["ari"] is not None]
                    found[kinship, score, method] = {
                        "score": statistics.mean(row["score"] for row in rows),
                        "gain": mean,
                        "error": error,
                        # No gain and no error: the very same models.
                        "ratio": mean / error if error else 0.0,
                        "ari": statistics.mean(ari) if ari else None,
                    }
    return found


def verdict(found, method):
    """A row of the table of claims: more than two standard errors gained where there is kinship, and nothing
    lost beyond noise where there is none."""
    cells, holds = [], []
    for kinship, least in (("clustered", 2), ("unrelated", -NOISE)):
        cell = {score: found.get((kinship, score, method)) for score in ("explained variance", "auc")}
        ratios = [one["ratio"] for one in cell.values() if one]
        cells += [f"{one['ratio']:+.2f}" if one else "-" for one in cell.values()]
        holds += ["yes" if ratios and all(ratio > least for ratio in ratios) else "no"]
    aware = {**OTHERS, **CLUSTER_AWARE}.get(method, "no")
    return f"| {method} | {aware} | {cells[0]} | {cells[1]} | {holds[0]} | {cells[2]} | {cells[3]} | {holds[1]} |"


def together(last):
    """Does it help to select by the rows of all folds together: scores on fresh rows, both ways, over the same
    seeds."""
    lines = ["## Selected by the rows of all folds together (`--scored together`) instead of the mean over folds", ""]
    lines += [
        "| method | kinship | score | mean over folds | together | gain | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for method in QUICK:
        for kinship in KIN:
            for score in ("explained variance", "auc"):
                keys = [
                    key for key in last if key.startswith(f"together/{kinship}/{score}/") and key.endswith(f"/{method}")
                ]
                pairs = [
                    (last[key.replace("together/", "kin/")]["score"], last[key]["score"])
                    for key in keys
                    if key.replace("together/", "kin/") in last
                ]
                if pairs:
                    before, after = (statistics.mean(side) for side in zip(*pairs))
                    mean, error = mean_and_error([b - a for a, b in pairs])
                    lines += [
                        f"| {method} | {kinship} | {score} | {before:.4f} | {after:.4f} | {mean:+.4f} | {error:.4f} |"
                    ]
    return [*lines, ""]


def summary(rows, methods):
    """Gains over independent tasks in the same seed, with standard errors; groups found; seconds."""
    last = {row["key"]: row for row in rows if "error" not in row}
    found = gains(last, methods)
    lines = ["# Methods on generated tasks", "", __doc__.strip().split("\n\n")[2].replace("\n", " "), ""]
    lines += ["## What holds", ""]
    lines += [
        "Gain over `stl` in standard errors over the same seeds. Claimed of methods that know of groups or "
        "relations: more than 2 where tasks are clustered,"
    ]
    lines += [
        f"and where they are unrelated no loss beyond noise: more than -{NOISE}, Student's 5 % for ten seeds, "
        f"by both scores. The others are there to"
    ]
    lines += ["be compared with.", ""]
    lines += [
        "| method | knows of groups or relations | clustered: explained variance | auc | gains | unrelated: "
        "explained variance | auc | loses nothing |"
    ]
    lines += ["|---|---|---|---|---|---|---|---|"]
    lines += [verdict(found, method) for method in methods if method != "stl"] + [""]
    for kinship in KIN:
        for score in ("explained variance", "auc"):
            lines += [
                f"## {kinship}, {score}",
                "",
                "| method | score | gain | error | gain / error | adjusted Rand index |",
                "|---|---|---|---|---|---|",
            ]
            for method in methods:
                one = found.get((kinship, score, method))
                if not one:
                    lines += [f"| {method} | - | | | | |"]
                    continue
                ratio = "-" if method == "stl" else f"{one['ratio']:+.1f}"
                ari = "-" if one["ari"] is None else f"{one['ari']:.2f}"
                lines += [
                    f"| {method} | {one['score']:.4f} | {one['gain']:+.4f} | {one['error']:.4f} | {ratio} | {ari} |"
                ]
            lines += [""]
    lines += together(last) + [
        "## Seconds: 40 tasks, 2,000 rows, 50 features",
        "",
        "| method | loss | seconds | gap | solver, passes |",
        "|---|---|---|---|---|",
    ]
    for key, row in last.items():
        if key.startswith("time/"):
            _, method, loss = key.split("/")
            gap = "none" if row["rel_gap"] is None else f"{row['rel_gap']:.1e}"
            lines += [f"| {method} | {loss} | {row['seconds']:.3f} | {gap} | {row['solver']}, {row['passes']} |"]
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    sys.exit(main())
