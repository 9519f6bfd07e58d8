"""From the rows of a run to its tables."""

import math
import platform
import statistics
import subprocess

from . import sets

SMALL = 2500
LOSSES = ["squared", "logistic", "squared_hinge", "hinge", "epsilon:0.1"]
ALLOWED = {"squared": 1.5, "logistic": 1.0, "squared_hinge": 1.0, "hinge": 1.5, "epsilon:0.1": 1.5}
NEVER = math.inf
# An objective this far above the least, relative to it, is not a solution.
EARLY = 1e-3


def line(row):
    """A row on the screen."""
    if row["part"] == "peers":
        said = [f"{t['peer']} ({t['threads']}) {seconds_text(t)}" for t in row["tried"]]
        return f"{row['key']} C={row['c']:.1e}: " + ", ".join(said)
    if row["part"] == "product":
        return f"{row['key']}: X'X {row['whole']} s, squared loss {row['k1']} and {row['k4']} s"
    if "rel_gap" not in row:
        return f"{row['key']}: {row.get('error') or row.get('ended')}"
    times = ", ".join(f"1e-{e} {short(row[f'seconds_{e}'])} s ({row[f'passes_{e}']})" for e in (3, 6))
    gap = math.inf if row["rel_gap"] is None else row["rel_gap"]
    return f"{row['key']}: {times}, gap {gap:.1e}, {row['status']} {row['ran']}"


def seconds_text(tried):
    if "seconds" in tried:
        return f"{tried['seconds']:.3g} s" + (" (limit)" if tried["limit"] else "")
    return f"> {tried['cap']:g} s" if "ended" in tried else tried["error"]


def short(number):
    return "-" if number is None or number == NEVER else f"{number:.3g}"


def seconds(row, exponent):
    """Seconds to the gap 10^-exponent, or never within the cap."""
    value = row.get(f"seconds_{exponent}")
    return value if value is not None and value <= row["cap"] else NEVER


def best_peer(row):
    """Seconds of the fastest peer, whether they are only a lower bound, and its name. One that ended early,
    by its own account or with an objective above that of another, does not count."""
    good = [t for t in row["tried"] if "seconds" in t and not t["limit"]]
    least = min((t["objective"] for t in row["tried"] if t.get("objective")), default=0.0)
    good = [t for t in good if not t.get("objective") or t["objective"] <= (1 + EARLY) * least]
    if good:
        best = min(good, key=lambda t: t["seconds"])
        return best["seconds"], False, best["peer"]
    rest = [(t.get("seconds", t["cap"]), t["peer"]) for t in row["tried"] if "error" not in t]
    if not rest:
        return None, False, "none"
    bound, name = min(rest)
    return bound, True, name


def cell(row):
    return row["set"], row["loss"], row["output"], row["factor"]


class Cells:
    """The last row of each cell, by part."""

    def __init__(self, rows):
        last = {row["key"]: row for row in rows}
        self.fits = {}
        for row in last.values():
            if row["part"] in ("auto", "sdca"):
                self.fits.setdefault(row["solver"], {})[cell(row)] = row
        self.auto, self.sdca = self.fits.get("auto", {}), self.fits.get("sdca", {})
        self.peers = {(r["set"], r["loss"], r["factor"]): r for r in last.values() if r["part"] == "peers"}
        self.product = next((r for r in last.values() if r["part"] == "product"), None)
        self.long = [r for r in last.values() if r["part"] == "long"]


def ratios(cells, exponent=6):
    """(cell, ours over theirs, whether theirs was cut short) wherever a peer was measured."""
    found = []
    for key, row in cells.auto.items():
        peer = cells.peers.get((key[0], key[1], key[3]))
        if peer is None:
            continue
        theirs, bound, _ = best_peer(peer)
        if theirs is not None:
            found.append((key, seconds(row, exponent) / theirs, bound))
    return found


def speedups(cells):
    """(cell, coordinate ascent over auto at 1e-6, kind) at the chosen C: kind is '', '>' or '<' for bounds."""
    found, neither = [], 0
    for key, row in cells.auto.items():
        other = cells.sdca.get(key)
        if other is None or key[3] != 1.0:
            continue
        ours, theirs = seconds(row, 6), seconds(other, 6)
        if ours == theirs == NEVER:
            neither += 1
        elif theirs == NEVER:
            found.append((key, other["cap"] / ours, ">"))
        elif ours == NEVER:
            found.append((key, theirs / row["cap"], "<"))
        else:
            found.append((key, theirs / ours, ""))
    return found, neither


def share(rows, exponent):
    reached = sum(seconds(row, exponent) < NEVER for row in rows)
    return reached, len(rows), 100 * reached / len(rows) if rows else math.nan


def verdicts(cells):
    """Each claim with its aim and what was measured."""
    yes = lambda ok: "yes" if ok else "**no**"
    rows = list(cells.auto.values())
    small = [row for row in rows if row["unknowns"] <= SMALL]
    lines = ["| claim | aim | measured | met |", "|---|---|---|---|"]
    a, b, percent = share(small, 6)
    lines += [f"| cells of at most {SMALL} unknowns at 1e-6 | all | {a} of {b} | {yes(a == b)} |"]
    for exponent, aim in ((3, 95), (6, 85)):
        a, b, percent = share(rows, exponent)
        lines += [f"| cells at 1e-{exponent} | {aim} % | {a} of {b}, {percent:.1f} % | {yes(percent >= aim)} |"]
    for loss in LOSSES:
        values = [(r, bound) for key, r, bound in ratios(cells) if key[1] == loss]
        if values:
            middle, worst = statistics.median(r for r, _ in values), max(values)
            cut = sum(bound for _, bound in values)
            text = f"{short(middle)}, worst {short(worst[0])}; {len(values)} cells, peer cut short in {cut}"
            never = sum(r == NEVER for r, _ in values)
            text += f", not solved by us in {never} (counted as infinite)" if never else ""
            lines += [
                f"| auto / best peer, {loss}, median | {ALLOWED[loss]:g} | {text} | {yes(middle <= ALLOWED[loss])} |"
            ]
    found, neither = speedups(cells)
    if found:
        low, middle = min(s for _, s, _ in found), statistics.median(s for _, s, _ in found)
        bounds = sum(kind == ">" for *_, kind in found)
        text = f"{len(found)} cells, sdca cut short in {bounds}; neither solved {neither}"
        lines += [f"| sdca / auto at the chosen C, least | 0.67 | {low:.2f} | {yes(low >= 0.67)} |"]
        lines += [f"| sdca / auto at the chosen C, median | 3 | {middle:.3g} ({text}) | {yes(middle >= 3)} |"]
    lines += generated(cells, yes)
    return [*lines, ""]


def generated(cells, yes):
    """The 400-class figures."""
    lines = []
    row = cells.product
    if row:
        whole, triangle = statistics.median(row["whole"]), statistics.median(row["triangle"])
        ratio = lambda times: statistics.median(t or NEVER for t in times) / whole
        at = {f"k = {k[1]}": ratio(row[k]) for k in ("k1", "k4") if row[k]}
        text = ", ".join(f"{short(r)} for {k}" for k, r in at.items()) + " at the chosen C"
        squared = [seconds(r, 6) for k, r in cells.auto.items() if k[:2] == ("gen400", "squared")]
        text += f", at most {short(max(squared) / whole)} at any C of the grid" if squared else ""
        text += f" (X'X {whole:.2f} s; its triangle alone {triangle:.2f} s)"
        met = bool(at) and max(at.values()) <= 3
        lines += [f"| gen400, squared, seconds to 1e-6 over one X'X | 3 | {text} | {yes(met)} |"]
    hinge = [r for k, r in cells.auto.items() if k[0] == "gen400" and k[1] == "hinge"]
    if hinge:
        a, b, _ = share(hinge, 3)
        lines += [f"| gen400, hinge, cells at 1e-3 within the cap | all | {a} of {b} | {yes(a == b)} |"]
    if cells.long:
        times = [f"{r['output']} {short(seconds(r, 3))} s (gap {r['rel_gap']:.1e})" for r in cells.long]
        met = all(seconds(r, 3) < NEVER for r in cells.long)
        aim, text = f"within {cells.long[0]['cap']} s", ", ".join(times)
        lines += [f"| gen400, hinge, at 1e-3 at the chosen C, without the cap | {aim} | {text} | {yes(met)} |"]
    return lines


def per_set(cells):
    lines = ["| data | loss | unknowns | cells | 1e-3 | 1e-6 | median s to 1e-3 | to 1e-6 | worst | ran | peak, MB |"]
    lines += ["|---|---|---|---|---|---|---|---|---|---|---|"]
    for name in sets.SETS:
        for loss in LOSSES:
            rows = [row for key, row in cells.auto.items() if key[:2] == (name, loss)]
            if not rows:
                continue
            times = {e: [seconds(row, e) for row in rows] for e in (3, 6)}
            ran = ", ".join(sorted({row.get("ran", "failed") for row in rows}))
            peak = max(row.get("peak", 0) for row in rows) / 1e6
            numbers = [len(rows), share(rows, 3)[0], share(rows, 6)[0]]
            numbers += [short(statistics.median(times[e])) for e in (3, 6)] + [short(max(times[6]))]
            cells_text = " | ".join(map(str, numbers))
            lines += [f"| {name} | {loss} | {rows[0]['unknowns']} | {cells_text} | {ran} | {peak:.0f} |"]
    return [*lines, ""]


def per_peer(cells, factors):
    lines = [
        "Seconds to 1e-6 over those of the best peer, for k = 1 and k = 4 (or what there is), per factor of C; "
        "in brackets the"
    ]
    lines += [
        "peer's seconds. `<`: the peer was cut short, so this is an upper bound. `-`: not solved within the cap.",
        "",
    ]
    lines += [
        "| data | loss | " + " | ".join(f"{f:g} C*" for f in factors) + " | peers |",
        "|" + "---|" * (len(factors) + 3),
    ]
    by_key = {key: (ratio, bound) for key, ratio, bound in ratios(cells)}
    for name in sets.SETS:
        for loss in LOSSES:
            entries, names = [], set()
            for factor in factors:
                peer = cells.peers.get((name, loss, factor))
                if peer is None:
                    entries.append("")
                    continue
                theirs, bound, who = best_peer(peer)
                names.add(who)
                mine = [by_key.get((name, loss, o, factor)) for o in ("k1", "k4")]
                text = ", ".join(("<" if b and r < NEVER else "") + short(r) for r, b in filter(None, mine))
                entries.append(f"{text} ({'>' if bound else ''}{short(theirs)})")
            if names:
                lines += [f"| {name} | {loss} | {' | '.join(entries)} | {', '.join(sorted(names))} |"]
    return [*lines, ""]


def per_sdca(cells):
    lines = [
        "| data | loss | output | auto, s | sdca, s | sdca / auto | passes, auto | passes, sdca |",
        "|---|---|---|---|---|---|---|---|",
    ]
    by_key = {key: (ratio, kind) for key, ratio, kind in speedups(cells)[0]}
    for key, row in cells.auto.items():
        other = cells.sdca.get(key)
        if other is None or key[3] != 1.0:
            continue
        ratio, kind = by_key.get(key, (None, ""))
        passes = " | ".join(str(r.get("passes_6") or "-") for r in (row, other))
        times = " | ".join(short(seconds(r, 6)) for r in (row, other))
        lines += [f"| {key[0]} | {key[1]} | {key[2]} | {times} | {kind}{short(ratio)} | {passes} |"]
    return [*lines, ""]


def fixed_choices(cells):
    """Auto against the best of the solvers measured at the same cells."""
    worst = []
    for key, row in cells.auto.items():
        rest = [
            (seconds(rows[key], 6), solver) for solver, rows in cells.fits.items() if solver != "auto" and key in rows
        ]
        if rest and min(rest)[0] < NEVER:
            worst.append((seconds(row, 6) / min(rest)[0], min(rest)[1], key))
    if not worst:
        return []
    worst.sort(reverse=True)
    above = sum(r > 1.5 for r, *_ in worst)
    solvers = ", ".join(sorted(set(cells.fits) - {"auto"}))
    lines = ["## Auto against fixed choices", ""]
    lines += [
        f"Seconds to 1e-6 over those of the best of {solvers}: above 1.5 in {above} of {len(worst)} cells. The worst:",
        "",
    ]
    lines += [f"- {short(r)} ({solver}): {' '.join(map(str, key))}" for r, solver, key in worst[:10]]
    return [*lines, ""]


def head(rows, threads):
    import numpy as np
    import sklearn

    loads = [row["load"] for row in rows] or [0.0]
    commits = ", ".join(sorted({row["commit"] for row in rows}))
    rust = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    cpu = [text.split(":")[1].strip() for text in open("/proc/cpuinfo") if text.startswith("model name")]
    return [
        "# Solvers: seconds to a certified gap",
        "",
        f"Commit {commits}; {rust}; {cpu[0]}, {len(cpu)} cores, {threads} threads; Python {platform.python_version()},",
        f"numpy {np.__version__}, scikit-learn {sklearn.__version__}. Command: `python benches/solvers.py "
        f"--out ...`. Load average after a",
        f"measurement: median {statistics.median(loads):.1f}, at most {max(loads):.1f}; more than {threads} "
        f"means that others used the machine too.",
        "",
    ]


def write(rows, chosen, plan, threads):
    """summary.md and misses.md."""
    cells = Cells(rows)
    planned = len(plan["factors"]) * sum(
        len(sets.SETS[name][1]) * len(set(sets.SETS[name][2]) & set(plan["outputs"])) for name in plan["sets"]
    )
    lines = head(rows, threads)
    lines += [
        "Cells: data set x loss x output regulariser x factor of C*, the C of the best strength (of 1e-3, "
        "1e-2, ..., 1e3) on a"
    ]
    lines += [
        f"held-out third. Everything is inside the clock: data set, Gram or eigenbasis, solve, certificates. "
        f"Cap {plan['cap']} s. The peers"
    ]
    lines += [
        "learn the tasks one by one with C* x factor x the mean diagonal of our Theta for k = 1 (the same grid "
        "place for the"
    ]
    lines += [
        f"other regularisers), each to tolerance 1e-6, the best of one and all threads, cap {plan['peer_cap']} "
        f"s; SVC and SVR have an intercept that cannot be left out."
    ]
    lines += ["Times below a second are medians of up to five runs.", "", *sets.PREPARED.splitlines(), ""]
    lines += [
        "## Claims",
        "",
        f"{len(cells.auto)} of {planned} cells measured.",
        "",
        *verdicts(cells),
        "## By data set and loss",
        "",
        *per_set(cells),
    ]
    lines += ["## Against peers", "", *per_peer(cells, plan["factors"])]
    lines += ["## Against coordinate ascent, at C*, to 1e-6", "", *per_sdca(cells), *fixed_choices(cells)]
    return "\n".join(lines), "\n".join(misses(cells))


def misses(cells):
    lines = ["# Cells that did not reach their gap within the cap", ""]
    lines += [
        "| data | loss | output | factor | 1e-3 | gap | status | ran | seconds | why this solver |",
        "|" + "---|" * 10,
    ]
    for key, row in sorted(cells.auto.items()):
        if seconds(row, 6) < NEVER:
            continue
        gap = row.get("rel_gap")
        gap = f"{gap:.1e}" if gap is not None else row.get("error") or row.get("ended") or "inf"
        rest = [short(seconds(row, 3)), gap, row.get("status", "-"), row.get("ran", "-"), short(row.get("seconds"))]
        name, loss, output, factor = key
        reason = (row.get("reason") or "").replace("|", "/")
        lines += [f"| {name} | {loss} | {output} | {factor:g} | {' | '.join(rest)} | {reason} |"]
    lines += ["", f"{len(lines) - 4} of {len(cells.auto)} cells.", ""]
    return lines
