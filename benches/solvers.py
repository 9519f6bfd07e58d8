"""Every solver against every C: seconds to a certified gap, beside coordinate ascent and scikit-learn.

    python benches/solvers.py --out benches/runs/NAME            all of it, many hours
    python benches/solvers.py --out benches/runs/NAME --quick    a subset, under ten minutes

Needs the packages of benches/requirements.txt, cargo, and the data sets in $KINFOLK_DATA or ../shared/data. A
run can be interrupted and called again: what is in raw.jsonl is not measured again. First C is chosen by one
held-out third for each data set, loss and regulariser, and kept in cstar.json; then come `auto` at five values
of C around it, the peers, plain coordinate ascent at the chosen C, and elsewhere. summary.md and misses.md are
written at the end, or alone with --part summary.
"""

import argparse
import json
import math
import os
import pathlib
import re
import sys
import time

from solverbench import files, peers, report, sets
from solverbench.worker import Worker, build

FACTORS = [1e-4, 1e-2, 1.0, 1e2, 1e4]
TOLERANCE = 1e-6
ROUNDS = 3
PARTS = ["cv", "auto", "peers", "sdca-centre", "sdca", "product", "long"]
LONG_CAP = 600
OUTPUTS = {f"k{k}": {"kind": "power", "k": k} for k in (1, 2, 4)} | {o: {"kind": o} for o in ("exp", "cosh")}
FULL = {"sets": list(sets.SETS), "outputs": list(OUTPUTS), "factors": FACTORS, "cap": 30, "peer_cap": 60, "cv_cap": 5}
QUICK = {
    "sets": ["landmine", "parkinson", "usps_lapin14", "banking77-5"],
    "outputs": ["k1", "k4"],
    "factors": [1e-2, 1.0, 1e2],
    "cap": 3,
    "peer_cap": 6,
    "cv_cap": 0.5,
}


class Run:
    """The folder of a run: what is measured already, and the means to measure more."""

    def __init__(self, args, plan):
        self.args, self.plan, self.out = args, plan, args.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.raw = self.out / "raw.jsonl"
        self.rows = files.read(self.raw)
        self.done = {row["key"] for row in self.rows}
        self.only = re.compile(args.only)
        settings = {"threads": args.threads, "tolerance": TOLERANCE, **plan}
        file = self.out / "settings.json"
        if file.exists() and json.loads(file.read_text()) != settings:
            sys.exit(f"{file} is of a run with other settings: give another folder")
        files.replace(file, json.dumps(settings, indent=1) + "\n")
        self.cstar = self.out / "cstar.json"
        if args.cstar and not self.cstar.exists():
            files.replace(self.cstar, args.cstar.read_text())
        self.chosen = json.loads(self.cstar.read_text()) if self.cstar.exists() else {}
        self.commit = files.commit()

    def wanted(self, key):
        """Whether to measure this now."""
        return bool(self.only.search(key)) and (self.args.redo or key not in self.done)

    def record(self, key, **row):
        row = {"key": key, "commit": self.commit, "load": os.getloadavg()[0], **row}
        files.append(self.raw, row)
        self.rows.append(row)
        self.done.add(key)
        print(report.line(row), flush=True)

    def choose(self, key, chosen):
        self.chosen[key] = chosen
        lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in sorted(self.chosen.items()))
        files.replace(self.cstar, "{\n" + lines + "\n}\n")
        print(f"{key}: strength {chosen['strength']:g}, C {chosen['c']:.3g}", flush=True)

    def pairs(self, name):
        """Losses and regularisers of a data set."""
        _, losses, outputs = sets.SETS[name]
        return [(loss, output) for loss in losses for output in outputs if output in self.plan["outputs"]]

    def data(self, name):
        return sets.prepare(self.args.work, name)


def cv(run, executable):
    """C for each data set, loss and regulariser."""
    for name in run.plan["sets"]:
        todo = [pair for pair in run.pairs(name) if key_of(name, *pair) not in run.chosen]
        todo = [pair for pair in todo if run.only.search("cv/" + key_of(name, *pair))]
        if not todo:
            continue
        folder, _ = run.data(name)
        with Worker([executable, folder]) as worker:
            for loss, output in todo:
                request = {"mode": "cv", "loss": loss, "output": OUTPUTS[output], "threads": run.args.threads}
                said = worker.ask({**request, "cap_seconds": run.plan["cv_cap"]}, 600)
                if "c" not in said:
                    print(f"{key_of(name, loss, output)}: no C, {said}", flush=True)
                    continue
                run.choose(key_of(name, loss, output), said)


def key_of(*parts):
    return "/".join(map(str, parts))


def fits(run, executable, part, solver, factors):
    """A solver at some multiples of the chosen C."""
    for name in run.plan["sets"]:
        todo = []
        for loss, output in run.pairs(name):
            for factor in factors:
                key = key_of(part, name, loss, output, f"{factor:g}", solver)
                if not run.wanted(key):
                    continue
                if key_of(name, loss, output) in run.chosen:
                    todo.append((key, loss, output, factor))
                else:
                    print(f"{key}: skipped, no C chosen yet (part cv)", flush=True)
        if not todo:
            continue
        folder, meta = run.data(name)
        with Worker([executable, folder]) as worker:
            for key, loss, output, factor in todo:
                chosen = run.chosen[key_of(name, loss, output)]
                cell = {"loss": loss, "output": OUTPUTS[output], "c": factor * chosen["c"], "lambda": chosen["lambda"]}
                cell |= {"solver": solver, "threads": run.args.threads, "tolerance": TOLERANCE}
                cap = run.plan["cap"]
                if part == "sdca" and factor != 1.0:
                    # Away from the chosen C nothing is waited for that would take ten times the cap at its pace.
                    cell["hopeless_seconds"] = 10 * cap
                said = worker.ask({"mode": "fit", **cell, "cap_seconds": cap, "repeats": 5}, 4 * cap + 120)
                about = {"set": name, "loss": loss, "output": output, "factor": factor, "solver": solver, "part": part}
                run.record(key, **about, unknowns=meta["unknowns"], c=cell["c"], cap=cap, **said)


def peer_fits(run):
    """The peers at the C of independent tasks that our Theta for k = 1 amounts to."""
    auto = {row["key"]: row for row in run.rows}
    for name in run.plan["sets"]:
        todo = []
        for loss in sets.SETS[name][1]:
            for factor in run.plan["factors"]:
                row = auto.get(key_of("auto", name, loss, "k1", f"{factor:g}", "auto"))
                key = key_of("peers", name, loss, f"{factor:g}")
                if run.wanted(key):
                    if row and row.get("theta"):
                        todo.append((key, loss, factor, peer_c(row)))
                    else:
                        print(f"{key}: skipped, no Theta of auto for k = 1 yet", flush=True)
        if not todo:
            continue
        folder, meta = run.data(name)
        command = [sys.executable, pathlib.Path(peers.__file__), folder]
        with Worker(command, hello="hello") as worker:
            for key, loss, factor, c in todo:
                tried, cap = [], run.plan["peer_cap"]
                candidates = peers.names(loss, meta["kernel"])
                for peer, threads in [(p, t) for p in candidates for t in peers.thread_counts(p, run.args.threads)]:
                    said = worker.ask({"peer": peer, "loss": loss, "c": c, "threads": threads}, cap + 2)
                    tried.append({"peer": peer, "threads": threads, "cap": cap, **said})
                    if "seconds" in said and not said["limit"]:
                        # Slower than this does not win.
                        cap = min(cap, max(said["seconds"], 1.0))
                run.record(key, part="peers", set=name, loss=loss, factor=factor, c=c, tried=tried)


def peer_c(row):
    """C Theta_tt, kept where the peers' own arithmetic is sound."""
    return min(max(row["c"] * row["theta"], 1e-12), 1e12)


def product(run, executable):
    """One X'X of the generated set and its squared loss at the chosen C, in turns, so that a noisy moment hurts
    both."""
    key, threads, cap = "product/gen400", run.args.threads, run.plan["cap"]
    if "gen400" not in run.plan["sets"] or not run.wanted(key):
        return
    folder, _ = run.data("gen400")
    row = {"whole": [], "triangle": [], "k1": [], "k4": []}
    with Worker([executable, folder]) as worker:
        for _ in range(ROUNDS):
            said = worker.ask({"mode": "product", "threads": threads}, 600)
            row["whole"].append(said["whole"])
            row["triangle"].append(said["triangle"])
            for output in ("k1", "k4"):
                chosen = run.chosen.get(key_of("gen400", "squared", output))
                if chosen is None:
                    print(f"{key}: {output} skipped, no C chosen yet (part cv)", flush=True)
                    continue
                cell = {"loss": "squared", "output": OUTPUTS[output], "c": chosen["c"], "lambda": chosen["lambda"]}
                cell |= {"solver": "auto", "threads": threads, "tolerance": TOLERANCE, "cap_seconds": cap}
                row[output].append(worker.ask({"mode": "fit", **cell}, 4 * cap + 120).get("seconds_6"))
    run.record(key, part="product", set="gen400", **row)


def long(run, executable):
    """The hinge loss on the generated set at the chosen C, to a gap of 1e-3, beyond the cap of the grid."""
    for output in ("k1", "k4"):
        key, chosen = key_of("long/gen400/hinge", output), run.chosen.get(key_of("gen400", "hinge", output))
        if "gen400" not in run.plan["sets"] or chosen is None or not run.wanted(key):
            continue
        folder, _ = run.data("gen400")
        cell = {
            "loss": "hinge",
            "output": OUTPUTS[output],
            "c": chosen["c"],
            "lambda": chosen["lambda"],
            "solver": "auto",
        }
        cell |= {"threads": run.args.threads, "tolerance": 1e-3, "cap_seconds": LONG_CAP}
        with Worker([executable, folder]) as worker:
            said = worker.ask({"mode": "fit", **cell}, LONG_CAP + 300)
        run.record(
            key, part="long", set="gen400", loss="hinge", output=output, factor=1.0, solver="auto", cap=LONG_CAP, **said
        )


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, type=pathlib.Path, help="folder of the run")
    parser.add_argument("--quick", action="store_true", help="a subset in less than ten minutes")
    parser.add_argument("--part", default=",".join(PARTS), help=f"of {','.join(PARTS)}; or summary alone")
    parser.add_argument("--only", default="", help="regular expression on PART/SET/LOSS/OUTPUT/FACTOR/SOLVER")
    parser.add_argument("--redo", action="store_true", help="measure again what is there; the last row counts")
    parser.add_argument("--solvers", default="", help="measure these solvers too, in the part 'auto'")
    parser.add_argument("--cstar", type=pathlib.Path, help="take the chosen C from this file of another run")
    parser.add_argument("--docs", action="store_true", help="put the main tables into docs/solvers.md")
    parser.add_argument("--threads", type=int, default=2)
    work = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", sets.ROOT / "target")) / "solver-data"
    parser.add_argument("--work", type=pathlib.Path, default=work, help="folder for prepared data")
    args = parser.parse_args()
    args.part = args.part.split(",")
    unknown = set(args.part) - set(PARTS) - {"summary"}
    if unknown:
        parser.error(f"no part {', '.join(sorted(unknown))}")
    return args


def document(summary, out):
    """Puts the main tables of a run into docs/solvers.md, between its marks."""
    page = sets.ROOT / "docs" / "solvers.md"
    begin, end = "<!-- measured: made by benches/solvers.py, do not edit -->\n", "<!-- /measured -->"
    sections = {part.split("\n", 1)[0]: part.split("\n", 1)[1].strip() for part in summary.split("\n## ")[1:]}
    link = f"[{out.name}](../benches/runs/{out.name}/summary.md)"
    text = f"From {link}, which has what was measured and how.\n\n"
    text += f"{sections['Claims']}\n\n{sections['By data set and loss']}\n"
    before, rest = page.read_text().split(begin)
    files.replace(page, before + begin + text + end + rest.split(end, 1)[1])


def main():
    args = arguments()
    run = Run(args, QUICK if args.quick else FULL)
    started = time.time()
    executable = build(sets.ROOT) if set(args.part) - {"peers", "summary"} else None
    others = [f for f in run.plan["factors"] if not math.isclose(f, 1.0)]
    for part in args.part:
        if part == "cv":
            cv(run, executable)
        elif part == "auto":
            for solver in ["auto", *filter(None, args.solvers.split(","))]:
                fits(run, executable, part, solver, run.plan["factors"])
        elif part == "peers":
            peer_fits(run)
        elif part == "sdca-centre":
            fits(run, executable, "sdca", "sdca", [1.0])
        elif part == "sdca":
            fits(run, executable, "sdca", "sdca", others)
        elif part == "product":
            product(run, executable)
        elif part == "long":
            long(run, executable)
    print(f"{time.time() - started:.0f} s", flush=True)
    summary, misses = report.write(run.rows, run.chosen, run.plan, args.threads)
    files.replace(run.out / "summary.md", summary)
    files.replace(run.out / "misses.md", misses)
    if args.docs:
        document(summary, run.out)


if __name__ == "__main__":
    main()
