"""The page docs/reliability.md, from the records of a run alone.

    python benches/reliability/page.py benches/runs/NAME -o docs/reliability.md

Records are JSON files of the scripts in this folder; several of one kind (certificates-1.json, certificates-2.json)
are added up.
"""

import argparse
import collections
import json
import pathlib
import textwrap

MOST_COLUMNS = 119
KINDS = ["certificates", "conic", "kills", "soak", "fuzz", "readers", "attack"]


class Records:
    """All records of one kind."""

    def __init__(self, folder, kind):
        self.all = [json.loads(path.read_text()) for path in sorted(folder.glob(f"{kind}*.json"))]

    def __bool__(self):
        return bool(self.all)

    def count(self, *path):
        """A sum over records: of everything below this place of the counts."""
        return sum(total(below(record["counts"], path)) for record in self.all)

    def table(self, *path):
        """Counts by name at this place, added up over records."""
        found = collections.Counter()
        for record in self.all:
            for name, value in (below(record["counts"], path) or {}).items():
                found[name] += total(value)
        return dict(found)

    @property
    def findings(self):
        return sum(len(record["findings"]) for record in self.all)

    @property
    def minutes(self):
        return sum(record["seconds"] for record in self.all) / 60


def below(tree, path):
    for name in path:
        tree = tree.get(name, {}) if isinstance(tree, dict) else {}
    return tree


def total(tree):
    return sum(map(total, tree.values())) if isinstance(tree, dict) else tree


def number(n):
    return f"{n:,}"


def rows(head, lines):
    table = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return [*table, *("| " + " | ".join(map(str, line)) + " |" for line in lines), ""]


def text(*parts):
    """A paragraph."""
    return [*textwrap.wrap(" ".join(parts), MOST_COLUMNS, break_long_words=False, break_on_hyphens=False), ""]


def listed(table):
    return ", ".join(f"{name} {number(n)}" for name, n in sorted(table.items()))


def said(records):
    """Findings in words."""
    return "no findings" if records.findings == 0 else f"**{records.findings} findings**"


def where(records):
    about = records.all[-1]
    commands = [f"    {record['words']}" for record in records.all]
    machine = f"{about['machine']}; {about['versions']}; {records.minutes:.1f} minutes."
    return [*dict.fromkeys(commands), "", *text(machine)]


def certificates(records):
    right, wrong = records.count("certificates", "right"), records.count("certificates", "wrong")
    asked = records.count("kinfolk certify")
    names = {name: name for name in ("method", "loss", "kernel", "intercept")} | {"form": "labels", "rows": "rows"}
    return [
        "## Certificates",
        "",
        *text(
            f"{number(records.count('problems'))} random small problems: all losses, methods, penalties, atoms,",
            "intercepts, kernels, weights, offsets and missing labels, with inputs and labels of sizes from 1e-150",
            f"to 1e150. {number(records.count('status'))} were fitted; the others were refused with a reason, such as",
            "a solver that does not suit the problem. A checker written from [recheck.md](recheck.md) alone, in",
            "extended precision, computed every certificate again:",
            f"{number(right)} right, {number(wrong)} wrong. A certificate is wrong if the gap is larger than it says,",
            "or if objective, bound, Theta or the stored function is not that of the duals, beyond rounding.",
        ),
        *text(
            f"{number(records.count('beyond double precision'))} fits are not in these numbers: changes in the last",
            "digits of their inputs change the objective by more than a thousandth, as with a constant of 1e12",
            "in every",
            "kernel value. A certificate in double precision then holds for the kernel values as they were rounded.",
            f"{number(records.count('beyond double precision', 'certified'))} of them were called certified; with the",
            "inputs as they are, and exact arithmetic,",
            f"{number(records.count('findings', 'certified, not in exact arithmetic'))} have a larger",
            "gap than their tolerance.",
        ),
        *text(
            f"`kinfolk certify` agreed with {number(records.count('kinfolk certify', 'agrees'))} of",
            f"{number(asked)} models",
            "that it was asked about. Ends of the fits:",
            listed(records.table("status")) + ".",
        ),
        *rows(["", "checked"], [(title, listed(records.table("checked", key))) for key, title in names.items()]),
        *where(records),
    ]


def conic(records):
    compared = records.count("optimum")
    inside = records.count("optimum", "between bound and objective")
    never = "never" if records.findings == 0 else f"**{records.findings} times**"
    return [
        "### Against a conic solver",
        "",
        *text(
            f"{number(compared)} problems of moderate scale were solved again by Clarabel, through cvxpy, as",
            "they stand in",
            f"[problem.md](problem.md) and with a positive semidefinite Theta. Its optimum was {never} below our bound",
            "(2e-5 of the objective is its own accuracy).",
            f"In {number(inside)} cases it was between bound and objective; in the other",
            f"{number(compared - inside)} the",
            "solver ended above our objective: it was further from the optimum than we were.",
        ),
        *where(records),
    ]


def kills(records):
    table, signals = records.table("kills"), ["SIGKILL", "SIGTERM", "SIGINT"]
    pairs = [(name, signal) for name in table for signal in signals]
    early = sum(records.count("kills", *pair, "interrupted") for pair in pairs)
    ends = [record.get("seconds_to_end", {}) for record in records.all]
    faults = records.table("faults")
    return [
        "## Kills and faults",
        "",
        *text(
            f"{number(sum(table.values()))} commands were ended by a signal at a random moment, {number(early)}",
            "of them",
            "before they were done. After each: inputs as they were; every output the old file, the whole new one, or",
            f"absent if it was; the exit code one that is documented; {said(records)}. After Ctrl-C a fit may",
            "leave its best",
            f"model so far: {number(records.count('best model so far', 'certified again'))} such models passed",
            "`certify`.",
            f"{number(records.count('resumed', 'from a checkpoint'))} fits went on from a checkpoint, and all",
            "ended with the",
            "bits of a fit that was never interrupted. SIGKILL left",
            f"{number(records.count('hidden files of killed processes'))} hidden files `.kinfolk-*.tmp`, as",
            "documented; the",
            "other signals none.",
        ),
        *rows(
            ["command", *signals],
            [(name, *(number(records.count("kills", name, signal)) for signal in signals)) for name in sorted(table)],
        ),
        *text(
            f"From the signal to the end: {max(one.get('0.5', 0) for one in ends):.3f} s in the middle,",
            f"{max(one.get('1', 0) for one in ends):.2f} s at most.",
        ),
        *rows(
            ["fault", "times", "ends"],
            [(name, number(faults[name]), listed(records.table("faults", name))) for name in sorted(faults)],
        ),
        *text(
            'Exit code 4 is "something cannot be written", 3 "data cannot be used". A command whose input changes',
            "while it",
            "reads may also succeed, with the rows that it had read. Jumps of the clock are not tried: no",
            "result depends on",
            "it.",
        ),
        *where(records),
    ]


def soak(records):
    calls = records.table("calls")
    processes = [one for record in records.all for one in record["memory"] if one]
    minutes = sum(record["seconds"] * len(record["memory"]) for record in records.all) / 60
    return [
        "## Soak",
        "",
        *text(
            f"Random calls of the Python package in {len(processes)} processes, {minutes:.0f} minutes in all:",
            f"{number(sum(calls.values()))} calls; {said(records)}. A call that takes longer than a minute",
            "counts as a hang.",
            "The same call gives the same bits at the end as at the start.",
        ),
        *rows(["call", "times"], [(name.replace("_", " "), number(n)) for name, n in sorted(calls.items())]),
        *rows(
            ["process", "memory in the second quarter", "in the last quarter"],
            [
                (place + 1, f"{one['second_quarter']:.0f} MiB", f"{one['last_quarter']:.0f} MiB")
                for place, one in enumerate(processes)
            ],
        ),
        *where(records),
    ]


def fuzz(records):
    table, seconds, edges = records.table("executions"), collections.Counter(), collections.Counter()
    for record in records.all:
        # Seconds of a core, where they were counted: a busy machine gives a process only a part of one.
        seconds.update(record.get("core_seconds_of_target") or record["seconds_of_target"])
        for name, n in record["edges"].items():
            edges[name] = max(edges[name], n)
    return [
        "## Fuzzing",
        "",
        *text(
            f"{number(sum(table.values()))} executions in {sum(seconds.values()) / 3600:.2f} hours of one core,",
            "with the",
            f"address sanitizer, checks of overflow and debug assertions: {said(records)}. Targets that end in",
            "`-made` build",
            "files that are right in most places; the others get any bytes, starting from small good files.",
            "What must hold:",
            "a table, a model or a page, or an error of one line.",
        ),
        *rows(
            ["target", "executions", "minutes of a core", "edges of the code"],
            [
                (f"`{name}`", number(table[name]), f"{seconds[name] / 60:.1f}", number(edges[name]))
                for name in sorted(table)
            ],
        ),
        *where(records),
    ]


def readers(records):
    files, cells = records.table("files"), records.table("cells")
    refused = sum(records.table("refused", "arrow").values())
    zstd = f"{number(refused)} arrow files compressed with zstd were refused, with what to do." if refused else ""
    return [
        "## Readers against other software",
        "",
        *text(
            f"{number(sum(files.values()))} random files with {number(sum(cells.values()))} numbers, written by",
            "pandas, numpy",
            "and pyarrow and read by them and by `kinfolk data convert`: the same numbers to the last bit, the",
            "same words;",
            f"{said(records)}. {zstd}",
        ),
        *rows(
            ["format", "files", "numbers"],
            [(name, number(files[name]), number(cells.get(name, 0))) for name in sorted(files)],
        ),
        *where(records),
    ]


def attack(records):
    tries, codes = records.table("tries"), records.table("exit codes")
    return [
        "## An attacker on the command line",
        "",
        *text(
            f"{number(sum(tries.values()))} tries: hostile names of tasks and columns, options and numbers,",
            "paths, and damaged",
            f"files of every kind (models with checksums that fit); {said(records)}. No try may panic, hang,",
            "use more than",
            "6 GB, end with an undocumented code, print more than one error or the control characters of a",
            "name, or touch a",
            "file that it was not told to write. No name may become markup in a report.",
        ),
        *rows(["exit code", "tries"], [(code, number(codes[code])) for code in sorted(codes, key=int)]),
        *where(records),
    ]


def written(folder, name):
    """The page."""
    lines = [
        "# Reliability",
        "",
        *text(
            "What was tried to break kinfolk, how often, and what came of it. This page is written from the records in",
            f"[{name}](../{name}/README.md), which also says what was found on the way and how it was mended, by",
        ),
        "```sh",
        f"python benches/reliability/page.py {name} -o docs/reliability.md",
        "```",
        "",
        *text(
            "Every script there takes `--seconds`, `--seed`, `--jobs` and `--command`, so that anyone can run",
            "more. With the",
            "same seed they try the same things.",
        ),
    ]
    sections = {kind: globals()[kind] for kind in KINDS}
    for kind, section in sections.items():
        records = Records(folder, kind)
        if records:
            lines += section(records)
    return "\n".join(lines).rstrip() + "\n"


def record_name(folder):
    """As the page names it: seen from the project's folder."""
    parts = folder.resolve().parts
    return "/".join(parts[parts.index("benches") :]) if "benches" in parts else folder.name


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    options.out.write_text(written(options.folder, record_name(options.folder)))


if __name__ == "__main__":
    main()
