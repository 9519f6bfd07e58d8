"""What free intercepts cost: the same fits with and without them, in turns, and the median ratio of their seconds.

    python benches/intercepts.py --jobs 8 --out benches/runs/$(date +%F)-intercepts

Takes the cells that solvers.py recorded as solved, at the C of that run, and solves each to 1e-6 without intercepts
and with free ones. Each fit has two threads; `--jobs` cells are measured at the same time, each in a process of its
own, both kinds one right after the other. Needs numpy (digits-rbf: scikit-learn), the data sets in $KINFOLK_DATA or
../shared/data, and cargo, or an executable that was built before. Writes raw.csv and summary.md into the folder given.
"""

import argparse
import csv
import json
import pathlib
import queue
import re
import statistics
import threading

from before_after import RECORDED, Solvers
from solverbench import files, sets
from solverbench.worker import build

KINDS = ("none", "free")


class Cells(Solvers):
    """The cells of solvers.py, with both kinds of intercepts in one process."""

    def answer(self, kind, request):
        name, cell = request
        return self.ask("", (name, cell | {"intercept": kind}))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the record")
    parser.add_argument("--every", type=int, default=1, help="takes one cell in so many (default 1: all)")
    parser.add_argument("--rounds", type=int, default=1, help="rounds, each with both kinds (default 1)")
    parser.add_argument("--cap", type=float, default=40, help="seconds that a fit may take (default 40)")
    parser.add_argument("--jobs", type=int, default=1, help="cells at the same time (default 1)")
    parser.add_argument("--threads", type=int, default=2, help="threads of a fit (default 2)")
    parser.add_argument("--only", default="", help="cells whose name has this regular expression")
    parser.add_argument("--executable", help="the bench `solvers`, if it was built before")
    parser.add_argument("--work", type=pathlib.Path, default=sets.ROOT / "target" / "solver-data", help="prepared data")
    return parser.parse_args()


def parts(cell):
    """Data set, loss, output and factor of C, from a cell's name."""
    return cell.split("/")[1:5]


def median_line(values):
    values = sorted(values)
    low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
    return f"{statistics.median(values):.3f} | {low:.3f} to {high:.3f} | {values[0]:.3f} | {values[-1]:.3f}"


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
    lines = ["# Free intercepts against none", ""]
    if ratios:
        counted = sorted([*ratios.values(), *(float("inf") for _ in lost)])
        lines += [f"Median ratio of seconds over {len(counted)} cells: **{statistics.median(counted):.3f}**", ""]
        lines += ["(cells that only fits without intercepts solve count as infinite).", ""]
        lines += ["| cells | number | median | quartiles | least | largest |", "|---|---|---|---|---|---|"]
        groups = {"all": list(ratios.values())}
        for place, title in ((1, "loss"), (3, "C /"), (0, "data")):
            for cell, ratio in sorted(ratios.items()):
                groups.setdefault(f"{title} {parts(cell)[place]}", []).append(ratio)
        lines += [f"| {name} | {len(own)} | {median_line(own)} |" for name, own in groups.items()]
        lines += [""]
    lines += [f"Solved without intercepts, not with free ones: {len(lost)}.", *(f"- {cell}" for cell in lost), ""]
    lines += [f"Not solved without intercepts: {len(both)}.", *(f"- {cell}" for cell in both), "", "All ratios:", ""]
    for cell, ratio in sorted(ratios.items(), key=lambda item: -item[1]):
        times = ", ".join(f"{kind} {statistics.median(seconds[cell][kind]):.4g} s" for kind in KINDS)
        lines += [f"- {ratio:.3f}: {cell} ({times})"]
    return "\n".join(lines) + "\n"


def by_length(cells):
    """Cells with the longest first, one data set after the other: jobs then end at about the same time."""
    last = {row["key"]: row for row in files.read(RECORDED / "raw.jsonl")}
    took = {cell: last["auto/" + cell.removeprefix("solvers/")]["seconds_6"] for cell, _ in cells}
    of_set = {}
    for cell, (name, _) in cells:
        of_set[name] = of_set.get(name, 0.0) + took[cell]
    return sorted(cells, key=lambda item: (-of_set[item[1][0]], -took[item[0]]))


def main():
    args = arguments()
    args.out.mkdir(parents=True, exist_ok=True)
    executable = args.executable or build(sets.ROOT)
    cells = [item for item in Cells({}, args.work, args).cells() if re.search(args.only, item[0])]
    for name in dict.fromkeys(name for _, (name, _) in cells):
        sets.prepare(args.work, name)
    waiting, lock, seconds = queue.SimpleQueue(), threading.Lock(), {}
    for item in by_length(cells):
        waiting.put(item)
    with open(args.out / "raw.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["cell", "round", "intercept", "seconds", "gap", "solver", "passes", "reason"])

        def work():
            own = Cells({"": executable}, args.work, args)
            while True:
                try:
                    cell, request = waiting.get_nowait()
                except queue.Empty:
                    return own.close("")
                of, rows = {kind: [] for kind in KINDS}, []
                for number in range(args.rounds):
                    for kind in KINDS if number % 2 == 0 else KINDS[::-1]:
                        answer = own.answer(kind, request)
                        of[kind].append(answer.get("seconds_6"))
                        shown = [answer.get(key, "") for key in ("seconds_6", "rel_gap", "ran", "passes", "reason")]
                        rows.append([cell, number, kind, *("" if value is None else value for value in shown)])
                with lock:
                    seconds[cell] = of
                    writer.writerows(rows)
                    file.flush()
                    (args.out / "summary.md").write_text(summary(seconds))
                    print(len(seconds), "of", len(cells), cell, json.dumps(of), flush=True)

        jobs = [threading.Thread(target=work) for _ in range(args.jobs)]
        [job.start() for job in jobs]
        [job.join() for job in jobs]


if __name__ == "__main__":
    main()
