"""What free intercepts cost: the same fits with and without them, in turns, and the median ratio of their seconds.

    python benches/intercepts.py --out benches/runs/$(date +%F)-intercepts

Takes every so many of the cells that solvers.py recorded as solved, at the C of that run, and solves each to 1e-6
without intercepts and with free ones. Needs numpy, cargo, and the data sets in $KINFOLK_DATA or ../shared/data.
Writes raw.csv and summary.md into the folder given.
"""

import argparse
import csv
import pathlib
import re
import statistics
import tempfile

from before_after import Solvers
from solverbench import sets
from solverbench.worker import build

KINDS = ("none", "free")


class Cells(Solvers):
    """The cells of solvers.py, with both kinds of intercepts in one process."""

    def measure(self, kind, request):
        name, cell = request
        return super().measure("", (name, cell | {"intercept": kind}))[""]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the record")
    parser.add_argument("--every", type=int, default=10, help="takes one cell in so many (default 10)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, each with both kinds (default 3)")
    parser.add_argument("--cap", type=float, default=30, help="seconds that a fit may take (default 30)")
    parser.add_argument("--only", default="", help="cells whose name has this regular expression")
    parser.add_argument("--executable", help="the bench `solvers`, if it was built before")
    return parser.parse_args()


def summary(seconds):
    ratios, lost, both = {}, [], []
    for cell, of in seconds.items():
        unsolved = [kind for kind in KINDS if None in of[kind]]
        if unsolved == ["free"]:
            lost.append(cell)
        elif unsolved:
            both.append(cell)
        else:
            ratios[cell] = statistics.median(of["free"]) / statistics.median(of["none"])
    values = sorted(ratios.values())
    lines = ["# Free intercepts against none", ""]
    if values:
        low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
        lines += [f"Median ratio of seconds over {len(values)} cells: **{statistics.median(values):.3f}**"]
        lines += [f"(quartiles {low:.3f} to {high:.3f}, least {values[0]:.3f}, largest {values[-1]:.3f}).", ""]
    lines += [f"Solved without intercepts, not with free ones: {len(lost)}.", *(f"- {cell}" for cell in lost), ""]
    lines += [f"Not solved without intercepts: {len(both)}.", *(f"- {cell}" for cell in both), "", "All ratios:", ""]
    for cell, ratio in sorted(ratios.items(), key=lambda item: -item[1]):
        times = ", ".join(f"{kind} {statistics.median(seconds[cell][kind]):.4g} s" for kind in KINDS)
        lines += [f"- {ratio:.3f}: {cell} ({times})"]
    return "\n".join(lines) + "\n"


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    executable = args.executable or build(sets.ROOT)
    seconds = {}
    with tempfile.TemporaryDirectory() as work, open(args.out / "raw.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["cell", "round", "intercept", "seconds"])
        cells = Cells({"": executable}, pathlib.Path(work), args)
        for cell, request in cells.cells():
            if not re.search(args.only, cell):
                continue
            of = seconds.setdefault(cell, {kind: [] for kind in KINDS})
            for number in range(args.rounds):
                for kind in KINDS if number % 2 == 0 else KINDS[::-1]:
                    value = cells.measure(kind, request)
                    of[kind].append(value)
                    writer.writerow([cell, number, kind, "" if value is None else f"{value:.6g}"])
                file.flush()
            (args.out / "summary.md").write_text(summary(seconds))
            print(cell, of, flush=True)
        cells.close("")


if __name__ == "__main__":
    main()
