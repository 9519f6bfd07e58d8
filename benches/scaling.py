"""How time and memory of `auto` grow with tasks and rows, on generated data.

    python benches/scaling.py --out benches/runs/NAME [--quick]

T = 10 to 1000 tasks on 2,000 shared rows, and 1,000 to 100,000 rows of 20 tasks; 128 features, k = 1, C of the
middle strength; squared, logistic and hinge loss to a gap of 1e-3, squared to 1e-6 too. Each fit is in a
process of its own. Writes raw.jsonl, summary.md with fitted exponents, and scaling.svg; called again, it
measures only what is missing. Needs numpy and cargo.
"""

import argparse
import math
import pathlib
import tempfile

import numpy as np

from solverbench import files, plot, sets
from solverbench.worker import Worker, build

FEATURES, ROWS, TASKS, CAP = 128, 2000, 20, 120
SIZES = {"tasks": [10, 32, 100, 316, 1000], "rows": [1000, 3162, 10_000, 31_623, 100_000]}
QUICK = {"tasks": [10, 32, 100], "rows": [1000, 3162, 10_000]}
CURVES = [("squared", 1e-3), ("squared", 1e-6), ("logistic", 1e-3), ("hinge", 1e-3)]
SLACK = 0.05
OUTPUT = {"kind": "power", "k": 1}


def generate(rows, tasks):
    """Tasks that are kin: their weights lie near five directions. Labels are signs, a tenth of them noise."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, FEATURES)) * (1.0 + np.arange(FEATURES)) ** -0.25
    x = sets.unit(x)
    kin = rng.standard_normal((FEATURES, 5)) @ rng.standard_normal((5, tasks))
    w = kin + 0.5 * rng.standard_normal((FEATURES, tasks))
    y = np.where(x @ w >= 0, 1.0, -1.0)
    y[rng.random(y.shape) < 0.1] *= -1
    return {"x": x, "y": y}


def measure(executable, scan, size, threads, wanted, record):
    """All curves at one size."""
    rows, tasks = (ROWS, size) if scan == "tasks" else (size, TASKS)
    curves = [(loss, tolerance) for loss, tolerance in CURVES if wanted((scan, size, loss, tolerance))]
    if not curves:
        return
    with tempfile.TemporaryDirectory() as folder:
        sets.write(pathlib.Path(folder), generate(rows, tasks))
        for loss, tolerance in curves:
            with Worker([executable, folder]) as worker:
                pair = {"loss": loss, "output": OUTPUT, "threads": threads}
                weights = worker.ask({"mode": "weights", "strength": 1.0, **pair}, 600)
                cell = {**pair, "c": weights["c"], "lambda": weights["lambda"], "solver": "auto"}
                cell |= {"cap_seconds": CAP, "tolerance": tolerance, "repeats": 5}
                said = worker.ask({"mode": "fit", **cell}, 4 * CAP)
            arrays = 8 * (rows * FEATURES + rows * tasks)
            record({"scan": scan, "size": size, "loss": loss, "tolerance": tolerance, "arrays": arrays, **said})


def exponent(points):
    """Slope of log y over log x, by least squares."""
    if len(points) < 2:
        return math.nan
    x, y = np.log(np.array(points)).T
    return float(np.polyfit(x, y, 1)[0])


def solved(row):
    return row.get("status") == "certified"


def summary(rows, threads):
    """The table, the curves of both scans, and whether growth is as claimed."""
    lines = ["# Growth with tasks and rows", ""]
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    lines += [
        f"Commit {commits}; {threads} threads. {ROWS:,} rows where tasks grow, {TASKS} tasks where rows grow; "
        f"{FEATURES}"
    ]
    lines += [
        "features, complete labels, k = 1, strength 1. Peak: resident memory of the process at most, data "
        "included; extra: what"
    ]
    lines += ["the fit added to it. Plot: scaling.svg.", ""]
    panels = []
    for scan, limit in (("tasks", 2.0), ("rows", 1.0)):
        lines += [
            f"## {scan.capitalize()}",
            "",
            f"| loss | gap | {scan} | seconds | passes | ran | peak, MB | extra, MB | X and labels, MB |",
        ]
        lines += ["|" + "---|" * 9]
        exponents = [
            f"| loss | gap | exponent of seconds | of the last three | of extra memory | seconds at most "
            f"{limit:g}, and {SLACK:g} for noise |",
            "|---|---|---|---|---|---|",
        ]
        curves = {"seconds": {}, "peak, MB": {}}
        for loss, tolerance in CURVES:
            here = [r for r in rows if (r["scan"], r["loss"], r["tolerance"]) == (scan, loss, tolerance)]
            here.sort(key=lambda row: row["size"])
            for r in here:
                time = (
                    f"{r['seconds']:.4g}"
                    if solved(r)
                    else f"gap {r['rel_gap']:.1e}"
                    if r.get("rel_gap")
                    else str(r.get("error") or r.get("ended"))
                )
                memory = [r.get("peak", 0), r.get("peak", 0) - r.get("resident", 0), r["arrays"]]
                memory = " | ".join(f"{m / 1e6:.1f}" for m in memory)
                lines += [
                    f"| {loss} | {tolerance:g} | {r['size']} | {time} | {r.get('passes', '-')} | "
                    f"{r.get('ran', '-')} | {memory} |"
                ]
            good = [r for r in here if solved(r)]
            times = [(r["size"], r["seconds"]) for r in good]
            extra = [(r["size"], r["peak"] - r["resident"]) for r in good if r["peak"] > r["resident"]]
            slope, last, memory = exponent(times), exponent(times[-3:]), exponent(extra)
            met = "yes" if max(slope, last) <= limit + SLACK and len(good) == len(here) else "**no**"
            exponents += [f"| {loss} | {tolerance:g} | {slope:.2f} | {last:.2f} | {memory:.2f} | {met} |"]
            name = f"{loss} {tolerance:g}"
            curves["seconds"][f"{name} (exponent {slope:.2f})"] = times
            curves["peak, MB"][name] = [(r["size"], r["peak"] / 1e6) for r in good]
        lines += ["", *exponents, ""]
        panels += [(scan, unit, curves[unit]) for unit in curves]
    return "\n".join(lines), plot.svg(panels, columns=2)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="the smaller sizes")
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    raw, commit = args.out / "raw.jsonl", files.commit()
    rows = files.read(raw)
    executable = build(sets.ROOT)
    key = lambda row: (row["scan"], row["size"], row["loss"], row["tolerance"])
    done = {key(row) for row in rows}

    def record(row):
        row = {"commit": commit, **row}
        files.append(raw, row)
        rows.append(row)
        print(
            f"{' '.join(map(str, key(row)))}: {row.get('seconds')} s, gap {row.get('rel_gap')}, peak {row.get('peak')}",
            flush=True,
        )

    for scan, sizes in (QUICK if args.quick else SIZES).items():
        for size in sizes:
            measure(executable, scan, size, args.threads, lambda k: k not in done, record)
    text, picture = summary(rows, args.threads)
    files.replace(args.out / "summary.md", text)
    files.replace(args.out / "scaling.svg", picture)


if __name__ == "__main__":
    main()
