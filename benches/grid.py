"""Where the cross-validated C lies on the default grid, on real data.

    python benches/grid.py --out benches/runs/NAME

Runs `kinfolk select` with its default grid of 13 strengths on every data set found in $KINFOLK_DATA or
../shared/data, for k = 1, 2, 4, on one random training part of each (the share is in the table), and writes
raw.jsonl (what the command said) and summary.md (which point won). Needs cargo and nothing but Python itself.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Name, share of the rows to select on, options. Shares near the size that the data are used with in the literature.
SETS = [
    ("landmine", 0.2, ["--class-weight", "balanced", "--scale", "standard"]),
    ("yale", 0.5, ["--scale", "standard"]),
    ("mhci", 0.05, []),
    ("letter", 0.02, []),
    ("sarcos", 0.02, ["--scale", "standard"]),
    ("parkinson", 0.2, ["--scale", "standard"]),
    ("mnist_lapin14", 0.75, ["--scale", "unit"]),
    ("usps_lapin14", 0.75, ["--scale", "unit"]),
    ("usps", 0.2, ["--kernel", "rbf"]),
    ("banking77", 0.3, []),
    ("miniplaces100", 0.3, []),
    ("caltech101", 0.3, []),
    ("flowers102", 0.3, []),
]
METHODS = "fmtl:k=1,fmtl:k=2,fmtl:k=4"


def data_folder():
    """Where the data sets are, or an honest exit."""
    for folder in (os.environ.get("KINFOLK_DATA"), ROOT.parent / "shared" / "data"):
        if folder and (pathlib.Path(folder) / "landmine.npz").exists():
            return pathlib.Path(folder)
    sys.exit("skipped: the data sets are neither in $KINFOLK_DATA nor in ../shared/data")


def select(command, file, share, options):
    """What `kinfolk select` says about one file."""
    started = time.time()
    line = [command, "select", str(file), "--method", METHODS, "--folds", "3", "--splits", "1", "--json"]
    line += ["--train-share", str(share), "--max-seconds", "5", *options]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    return {"data": file.stem, "options": options, "seconds": round(time.time() - started, 1), **said}


def summary(records, version):
    """The table, and whether every best point is inside."""
    lines = [
        "# Best strength on the default grid",
        "",
        f"{version}. The grid is 10^-3, 10^-2.5, ..., 10^3; 3 folds on one random training part; fits capped at 5 s.",
        "Entries: log10 of the strength that won, and C in brackets.",
        "",
        "| data | options | share | metric | k = 1 | k = 2 | k = 4 |",
        "|---|---|---|---|---|---|---|",
    ]
    outside = []
    for record in records:
        cells = []
        for split in record["splits"]:
            place = math.log10(float(split["weight"].removeprefix("strength:")))
            if abs(place) > 2.99:
                outside.append((record["data"], split["method"]))
            cells.append(f"{place:.1f} ({split['c']:.2g})")
        options = " ".join(record["options"]) or "-"
        share = record["train_share"]
        lines.append(f"| {record['data']} | {options} | {share} | {record['metric']} | {' | '.join(cells)} |")
    verdict = "Every best point lies inside the grid." if not outside else f"At an end of the grid: {outside}."
    return "\n".join([*lines, "", verdict, ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True)
    out = parser.parse_args().out
    folder = data_folder()
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "kinfolk-cli"], cwd=ROOT, check=True)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    command = target / "release" / "kinfolk"
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True)
    records = []
    for name, share, options in SETS:
        if not (folder / f"{name}.npz").exists():
            print(f"skipped: {name}.npz is not there", file=sys.stderr)
            continue
        records.append(select(command, folder / f"{name}.npz", share, options))
        print(f"{name}: {records[-1]['seconds']} s", file=sys.stderr)
    out.mkdir(parents=True, exist_ok=True)
    (out / "raw.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    text = summary(records, f"Commit {commit.stdout.strip()}")
    (out / "summary.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
