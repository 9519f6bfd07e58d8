"""Is every problem solved? Random problems, realistic and nasty, at seven strengths.

    python benches/zoo.py --seed 1 --problems 100 --out benches/runs/NAME [--seconds 60] [--jobs 1]

Everything about a problem is drawn from its seed: own or shared rows, missing labels, dummies, counts, bits,
near-duplicates, heavy tails, bad scales, separable classes, rare positives, weights, sparse inputs, kernels, losses,
methods. Each problem runs in a process of its own. Writes raw.jsonl and summary.md; called again, it runs only what is
missing. Needs the Python package.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import time
import warnings

from solverbench import files

STRENGTHS = [1e-3, 1e-2, 1e-1, 1.0, 1e1, 1e2, 1e3]
# Seconds over the limit of a fit that count as holding it.
SLACK = 1.0


def fit_one(seed, strength, seconds, tolerance):
    """How the fit of one problem ended."""
    import kinfolk
    from zoobench import problems

    problem = problems.draw(seed)
    kind = kinfolk.MultiTaskClassifier if problem.is_classification else kinfolk.MultiTaskRegressor
    model = kind(C=f"strength:{strength:g}", tol=tolerance, max_seconds=seconds, n_jobs=2, max_passes=10**6)
    model.set_params(**problem.settings)
    began = time.perf_counter()
    said = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            extra = {} if problem.task is None else {"task": problem.task}
            model.fit(problem.x, problem.y, sample_weight=problem.weight, **extra)
            said = {"status": model.status_, "gap": model.rel_gap_, "solver": model.solver_, "passes": model.n_passes_}
        except Exception as error:  # the record says what happened
            said = {"status": "error", "error": f"{type(error).__name__}: {error}"[:300]}
    return {"strength": strength, "seconds": time.perf_counter() - began, **said}


def child(arguments):
    """Prints one line for each strength."""
    for strength in arguments.strengths:
        print(json.dumps(fit_one(arguments.seed, strength, arguments.seconds, arguments.tolerance)), flush=True)


def answers(seed, arguments):
    """The rows of one problem, from a process of its own."""
    command = [sys.executable, __file__, "--child", "--seed", str(seed), "--seconds", str(arguments.seconds)]
    command += ["--tolerance", str(arguments.tolerance)]
    limit = len(STRENGTHS) * (arguments.seconds + 30)
    try:
        ended = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        text, why = ended.stdout, ended.stderr[-300:]
    except subprocess.TimeoutExpired as error:
        text, why = (error.stdout or b"").decode(), "no answer"
    rows = [json.loads(line) for line in text.splitlines()]
    lost = {"status": "crashed", "error": why, "seconds": limit}
    return rows + [{"strength": strength, **lost} for strength in STRENGTHS[len(rows) :]]


def run(arguments):
    """All problems, some at a time."""
    from zoobench import problems

    raw = arguments.out / "raw.jsonl"
    done = collections.Counter(row["seed"] for row in files.read(raw))
    seeds = [arguments.seed * 1_000_000 + number for number in range(arguments.problems)]
    seeds = [seed for seed in seeds if done[seed] < len(STRENGTHS)]
    until = time.monotonic() + 60 * arguments.minutes
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        in_time = lambda seed: answers(seed, arguments) if time.monotonic() < until else []
        started = {pool.submit(in_time, seed): seed for seed in seeds}
        for future in concurrent.futures.as_completed(started):
            words = problems.draw(started[future]).words
            for row in future.result():
                files.append(raw, {**words, **row})
            files.replace(arguments.out / "summary.md", summary(files.read(raw), arguments))


def summary(rows, arguments):
    """What was solved, and what was not."""
    solved = [row for row in rows if row["status"] == "certified"]
    late = [row for row in rows if row["seconds"] > arguments.seconds + SLACK]
    lines = [f"# {len(solved)} of {len(rows)} fits certified ({100 * len(solved) / max(1, len(rows)):.1f} %)", ""]
    settings = f"Tolerance {arguments.tolerance:g}, {arguments.seconds:g} s for each fit, two threads"
    lines += [f"{settings}, {files.commit()}.", ""]
    lines += [f"Fits that took over {SLACK:g} s more than their limit: {len(late)}.", ""]
    for key in ("loss", "kernel", "method", "form", "kind", "intercept", "strength"):
        count = collections.Counter(str(row[key]) for row in rows)
        good = collections.Counter(str(row[key]) for row in solved)
        parts = [f"{name} {good[name]}/{count[name]}" for name in sorted(count)]
        lines += [f"- {key}: " + ", ".join(parts)]
    lines += ["", "## Not certified", ""]
    lines += ["| seed | strength | problem | ended | gap | seconds | solver |", "|---|---|---|---|---|---|---|"]
    lines += [missed(row) for row in rows if row["status"] != "certified"]
    return "\n".join(lines) + "\n"


def missed(row):
    """A line of the table of fits that were not certified."""
    what = f"{row['form']}, {row['rows']} x {row['features']}, {row['tasks']} tasks, {row['kind']}, {row['labels']}; "
    what += f"{row['loss']}, {row['method']}, {row['kernel']}, intercept {row['intercept']}, scale {row['scale']}"
    ended = row["status"] + (f" ({row['error'][:80]})" if "error" in row else "")
    gap = f"{row['gap']:.1e}" if "gap" in row else ""
    cells = [row["seed"], f"{row['strength']:g}", what, ended, gap, f"{row['seconds']:.1f}", row.get("solver", "")]
    return "| " + " | ".join(map(str, cells)) + " |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--jobs", type=int, default=1, help="problems at a time, two threads each")
    parser.add_argument("--minutes", type=float, default=1e9, help="start no problem later")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--child", action="store_true")
    arguments = parser.parse_args()
    arguments.strengths = STRENGTHS
    if arguments.child:
        child(arguments)
    elif arguments.out is None:
        parser.error("--out is needed")
    else:
        arguments.out.mkdir(parents=True, exist_ok=True)
        run(arguments)
