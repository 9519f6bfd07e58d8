"""Tasks with different losses under every penalty of Theta as a whole: is every fit certified?

    cargo build --release -p kinfolk-cli
    python benches/mixed_losses.py --out benches/runs/$(date +%F)-mixed-losses

Three mixes of losses, four penalties and three values of C are 36 fits of the command, once with free intercepts and
once with none. Each model must be certified by `fit` and hold by `certify`. Needs the release build of the command and
nothing else. Writes raw.csv, summary.md and README.md into the folder given.
"""

import argparse
import csv
import itertools
import json
import pathlib
import random
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
COMMAND = ROOT / "target" / "release" / "kinfolk"
TASKS, ROWS, FEATURES, SEED = 3, 25, 5, 1
TOLERANCE = 1e-6
# Losses of the three tasks: with and without kinks, for two classes and for numbers.
MIXES = (
    "logistic,hinge,logistic",
    "squared,epsilon:0.1,huber:1",
    "logistic,squared,smoothed_hinge:0.5",
)
PENALTIES = ("mtrl", "mtrl:l1=0.3", "cmtl", "convex-okl:structure=trace")
WEIGHTS = ("0.01", "1000", "1000000")
INTERCEPTS = ("free", "none")


def rows():
    """Related tasks; labels are signs, which every loss takes."""
    rng = random.Random(SEED)
    common = [rng.gauss(0, 1) for _ in range(FEATURES)]
    own = [[w + 0.5 * rng.gauss(0, 1) for w in common] for _ in range(TASKS)]
    yield ["task", *(f"x{j}" for j in range(FEATURES)), "y"]
    for task, weights in enumerate(own):
        for _ in range(ROWS):
            x = [rng.gauss(0, 1) for _ in range(FEATURES)]
            score = sum(w * v for w, v in zip(weights, x, strict=True)) + rng.gauss(0, 0.5)
            yield [f"task{task}", *x, 1 if score > 0 else -1]


def command(folder, *words):
    """The exit code and the JSON object of a command, or its error."""
    done = subprocess.run([COMMAND, *words, "--json", "--threads", "1"], cwd=folder, capture_output=True, text=True)
    return done.returncode, json.loads(done.stdout) if done.stdout else {"status": done.stderr.strip()}


def measure(folder):
    for intercept, losses, method, c in itertools.product(INTERCEPTS, MIXES, PENALTIES, WEIGHTS):
        options = ["--loss", losses, "--method", method, "--c", c, "--intercept", intercept, "--tol", str(TOLERANCE)]
        limits = ["--max-passes", "20000", "--target-scale", "none"]
        columns = ["--task", "task", "--target", "y"]
        _, fit = command(folder, "fit", "d.csv", *columns, *options, *limits, "-o", "m.safetensors")
        code, check = command(folder, "certify", "m.safetensors", "d.csv") if "primal" in fit else (1, {})
        yield {
            "intercept": intercept,
            "losses": losses,
            "method": method,
            "C": c,
            "status": fit["status"],
            "rel_gap": fit.get("rel_gap"),
            "holds": code == 0 and check["holds"],
            "solver": fit.get("solver"),
            "passes": fit.get("passes"),
        }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/d.csv", "w", newline="") as file:
            csv.writer(file).writerows(rows())
        results = list(measure(folder))
    with open(out / "raw.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, results[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(results)
    lines = ["# Mixed losses under every penalty", "", "| intercept | certified by fit | hold by certify | of |"]
    lines.append("|---|---|---|---|")
    for intercept in INTERCEPTS:
        own = [row for row in results if row["intercept"] == intercept]
        certified = sum(row["status"] == "certified" for row in own)
        hold = sum(row["holds"] for row in own)
        lines.append(f"| {intercept} | {certified} | {hold} | {len(own)} |")
    wrong = [row for row in results if row["status"] != "certified" or not row["holds"]]
    lines += ["", "Not certified:" if wrong else "All are certified."]
    lines += [f"- {row}" for row in wrong]
    (out / "summary.md").write_text("\n".join(lines) + "\n")
    (out / "README.md").write_text(
        f"# Run of {out.name[:10]}: mixed losses\n\n"
        "```sh\ncargo build --release -p kinfolk-cli\npython benches/mixed_losses.py --out FOLDER\n```\n\n"
        f"{TASKS} related tasks of {ROWS} rows and {FEATURES} features with labels -1 and +1, seed {SEED}; "
        f"relative gap {TOLERANCE:g}, one thread. `raw.csv` has every fit, `summary.md` the counts.\n"
    )
    print((out / "summary.md").read_text())


if __name__ == "__main__":
    main()
