"""The page of evidence, from a record alone."""

import math
import statistics
import textwrap

import defaults

from . import ours, problems, rivals

KIN = "kin"
# Scores of `select` that are shares of one.
IN_POINTS = {"pooled-r2", "r2", "auc", "class-accuracy"}
MOST_SHARE_OF_CELLS_LOST, MOST_LOSS_IN_POINTS = 0.05, 0.5
ABOUT = {
    "kin": "the default method: fmtl with the relations `common` and `own`, and RBF kernels where rows allow",
    "fmtl": "the paper's method: the task matrix is learned",
    "stl": "every task by itself",
    "pooled": "one model for all tasks; only where tasks have their own rows",
    "mtl": "tasks near their mean",
    "mtrl": "a covariance of tasks is learned",
    "gmtl": "groups of tasks are searched for",
    "default": "`kinfolk fit` with nothing set, without `select`",
    "stl-kernels": "stl with the kernel chosen too, from those that kin has",
    "fmtl-kernels": "fmtl with the kernel chosen too, from those that kin has",
}
METHODS = [*ours.METHODS, ours.DEFAULT, *ours.WITH_KERNELS, *rivals.RIVALS]


# --- statistics ---


class Record:
    """Results by cell (set and size), split and method."""

    def __init__(self, rows):
        self.run, self.cells, self.faults = {}, {}, []
        last = {}  # a method may have been tried again
        for row in rows:
            if "run" in row:
                self.run |= row["run"]
            else:
                last[row["set"], row["size"], row["split"], row["method"]] = row
        for row in last.values():
            place = self.cells.setdefault((row["set"], row["size"]), {})
            if "score" in row:
                place.setdefault(row["split"], {})[row["method"]] = row
            else:
                self.faults.append(row)
        order = {name: place for place, name in enumerate(problems.NAMES)}
        sizes = list(problems.SIZES)
        self.cells = dict(sorted(self.cells.items(), key=lambda cell: (order[cell[0][0]], sizes.index(cell[0][1]))))
        self.methods = [name for name in METHODS if self.having(name)]

    def having(self, *methods):
        """For each cell that has them, its splits with all of these methods."""
        found = {}
        for cell, of_split in self.cells.items():
            rows = [of_split[split] for split in sorted(of_split) if all(m in of_split[split] for m in methods)]
            if rows:
                found[cell] = rows
        return found

    def gains(self, method, other):
        """Mean and standard error of method's score less other's, for each cell; no error with one split."""
        return {cell: defaults.paired(rows, method, other) for cell, rows in self.having(method, other).items()}

    def hindsight(self):
        """For each cell, the simple method that is best on the test rows, and kin's gain over it with its error."""
        found = {}
        for simple in ours.SIMPLE:
            for cell, (gain, error) in self.gains(KIN, simple).items():
                if cell not in found or gain < found[cell][1]:
                    found[cell] = (simple, gain, error)
        return {cell: found[cell] for cell in self.cells if cell in found}


def average(gains):
    """Mean over cells with at least two splits, if there are any; its standard error over splits, the cells given, and
    over cells."""
    gains = {cell: one for cell, one in gains.items() if not math.isnan(one[1])} or gains
    means, errors = zip(*gains.values())
    over_splits = math.sqrt(sum(error**2 for error in errors)) / len(means)
    over_cells = statistics.stdev(means) / math.sqrt(len(means)) if len(means) > 1 else math.nan
    return statistics.mean(means), over_splits, over_cells


def mean_of(rows, method, what="score"):
    return statistics.mean(row[method][what] for row in rows)


# --- words ---


def yes_or_no(holds):
    return "holds" if holds else "**does not hold**"


def named(cell):
    return f"{cell[0]}, {cell[1]}"


def plus_minus(gain, error):
    return f"{gain:+.2f} ± {error:.2f}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return [*lines, *("| " + " | ".join(map(str, row)) + " |" for row in rows), ""]


def verdicts(record):
    """A line for each thing that is to hold."""
    best = {cell: one for cell, one in record.hindsight().items() if not math.isnan(one[2])}
    if not best:
        return ["- No cell has two splits of `kin` and of a simple method yet: nothing can be judged."]
    lost = {cell: one for cell, one in best.items() if defaults.below(*one[1:])}
    under = [-gain for _, gain, _ in best.values() if gain < 0]
    share = len(lost) / len(best)
    over_all = statistics.mean(max(0.0, -gain) for _, gain, _ in best.values())
    total, by_splits, _ = average({cell: one[1:] for cell, one in best.items()})
    lines = [
        f"- `kin` is below the best simple method in hindsight by more than two standard errors in {len(lost)} of "
        f"{len(best)} cells ({100 * share:.1f} %; at most {100 * MOST_SHARE_OF_CELLS_LOST:.0f} % are wanted): "
        f"{yes_or_no(share <= MOST_SHARE_OF_CELLS_LOST)}.",
        f"- What it loses to that method, 0 where it is above, is {over_all:.2f} points on average over all cells "
        f"(at most {MOST_LOSS_IN_POINTS} is wanted): {yes_or_no(over_all <= MOST_LOSS_IN_POINTS)}. "
        f"Its difference from that method, gains counted too, is {plus_minus(total, by_splits)}.",
    ]
    if under:
        lines += [
            f"- It is below that method, by however little, in {len(under)} cells, there by "
            f"{statistics.mean(under):.2f} points on average and {max(under):.2f} at most."
        ]
    if lost:
        mean = statistics.mean(-gain for _, gain, _ in lost.values())
        listed = "; ".join(f"{named(cell)} ({gain:+.2f} to {name})" for cell, (name, gain, _) in lost.items())
        lines += [f"- The cells where it loses, by {mean:.2f} points on average: {listed}."]
    for other in record.methods:
        gains = record.gains(KIN, other)
        if other in ours.SIMPLE and gains:
            gain, error, over_cells = average(gains)
            more = "also" if gain > 2 * over_cells else "but not"
            lines += [
                f"- Above `{other}` on average by more than two standard errors over splits: "
                f"{plus_minus(gain, error)}, {yes_or_no(gain > 2 * error)} ({more} by more than two standard errors "
                f"over cells, {over_cells:.2f})."
            ]
    return lines


def rival_words(record):
    """A line for each rival that is better on average or in some cells."""
    lines = []
    for other in record.methods:
        gains = record.gains(KIN, other)
        if other in ours.SIMPLE or other == KIN or not gains:
            continue
        gain, error, _ = average(gains)
        lost = [named(cell) for cell, one in gains.items() if defaults.below(*one)]
        words = f"- `kin` less `{other}`: {plus_minus(gain, error)} over {len(gains)} cells; "
        lines += [words + (f"`kin` loses in {len(lost)}: {'; '.join(lost)}." if lost else "`kin` loses in none.")]
    return lines


# --- tables ---


def averages_table(record):
    rows = []
    for other in record.methods:
        gains = record.gains(KIN, other)
        if other == KIN or not gains:
            continue
        gain, error, over_cells = average(gains)
        won = sum(defaults.above(*one) for one in gains.values())
        lost = sum(defaults.below(*one) for one in gains.values())
        median = statistics.median(one[0] for one in gains.values())
        rows += [[other, len(gains), f"{gain:+.2f}", f"{error:.2f}", f"{over_cells:.2f}", f"{median:+.2f}", won, lost]]
    head = ["`kin` less", "cells", "average", "error over splits", "error over cells", "median", "won", "lost"]
    return table(head, rows)


def hindsight_table(record):
    rows = []
    for cell, (name, gain, error) in record.hindsight().items():
        both = record.having(KIN, name)[cell]
        mark = "**loses**" if defaults.below(gain, error) else "wins" if defaults.above(gain, error) else ""
        means = [f"{mean_of(both, method):.2f}" for method in (KIN, name)]
        rows += [[*cell, len(both), means[0], name, means[1], f"{gain:+.2f}", f"{error:.2f}", mark]]
    head = ["set", "size", "splits", "`kin`", "best simple method", "its score", "difference", "error", ""]
    return table(head, rows)


def losses_table(record):
    """What cross-validation saw in the cells that kin loses: had it seen the loss, it would have been a fault of the
    search; if it saw none, it is a fault of the score of few held-out rows."""
    rows = []
    for cell, (name, gain, error) in record.hindsight().items():
        both = record.having(KIN, name)[cell]
        if not defaults.below(gain, error):
            continue
        # Other scores, such as a log-loss, are not in points.
        seen = [row[KIN]["cv"] - row[name]["cv"] for row in both if IN_POINTS & {row[KIN].get("by")}]
        rows += [
            [*cell, name, f"{gain:+.2f}", f"{100 * statistics.mean(seen):+.2f}" if seen else "", most_chosen(both)]
        ]
    head = ["set", "size", "loses to", "on test rows", "on held-out rows of the folds", "chosen most often by `kin`"]
    return table(head, rows) if rows else []


def most_chosen(rows):
    texts = [said(row[KIN].get("chosen", {})) for row in rows]
    top = max(sorted(set(texts)), key=texts.count)
    return f"{top} ({texts.count(top)} of {len(texts)})"


def said(chosen):
    """Parameters and kernel as text, without what differs from split to split: strengths and widths."""
    parts = [chosen.get("method", "?").partition(":")[2], chosen.get("kernel", {}).get("kind")]
    return ", ".join(part for part in parts if part)


def scores_table(record):
    rows = []
    for cell in record.cells:
        means = {}
        for method in record.methods:
            if cell in (having := record.having(method)):
                means[method] = mean_of(having[cell], method)
        top = max(means.values(), default=math.nan)
        cells = [f"{means[m]:.1f}" if m in means else "" for m in record.methods]
        cells = [f"**{text}**" if means.get(m) == top else text for m, text in zip(record.methods, cells)]
        rows += [[*cell, *cells]]
    return table(["set", "size", *record.methods], rows)


def time_table(record):
    rows = []
    for method in record.methods:
        seconds = [statistics.median(row[method]["seconds"] for row in r) for r in record.having(method).values()]
        ratios = []
        for both in record.having(method, "fmtl").values():
            ratios += [mean_of(both, method, "seconds") / max(mean_of(both, "fmtl", "seconds"), 1e-9)]
        ratio = [f"{statistics.median(ratios):.2f}", f"{max(ratios):.2f}"] if ratios else ["", ""]
        rows += [[method, f"{statistics.median(seconds):.2f}", f"{max(seconds):.1f}", *ratio]]
    head = ["method", "median of cells, s", "most, s", "times `fmtl`, median of cells", "times `fmtl`, most"]
    return table(head, rows)


def problems_table(record):
    rows = []
    for name, one in record.run.get("problems", {}).items():
        if any(cell[0] == name for cell in record.cells):
            counts = [one["sizes"][size] for size in problems.SIZES]
            rows += [[name, one["form"], one["tasks"], one["features"], *counts]]
    return table(["set", "form", "tasks", "features", *problems.SIZES], rows)


# --- the page ---


def paragraph(*sentences):
    """Wrapped as other pages are."""
    return [*textwrap.wrap(" ".join(sentences), 118, break_long_words=False, break_on_hyphens=False), ""]


def about(record):
    run, absent = record.run, [name for name in rivals.RIVALS if name not in record.methods]
    return [
        *paragraph(
            "Each set is split at random into training and test rows, and every method has the same rows. The methods",
            "of this project are chosen by `kinfolk select` on the training rows, all on the same folds. It tries the",
            "parameters of the method and the strength C. A cell is a set at one training size. Scores are in percent,",
            "means over tasks: R^2 against the mean of each task's training rows (numbers), AUC (tasks with two",
            "classes), accuracy (classes). A point is one percent. Differences are paired: means over splits, with",
            "their standard errors. Splits of one set share rows, so errors say how sure a result is for this set and",
            "this size, not for other data.",
        ),
        *(f"- `{name}`: {ABOUT[name]}" for name in record.methods if name in ABOUT),
        *(f"- `{name}`: {rivals.RIVALS[name].about}" for name in record.methods if name in rivals.RIVALS),
        "",
        *paragraph(f"Not measured: {', '.join(absent)}." if absent else "Everything that the tool knows was measured."),
        *paragraph(
            "Training rows are those of each task or class, of a table in all. `more` is half of the rows of the",
            f"smallest task or class, at most {problems.MOST_ROWS_PER_TASK} ({problems.MOST_ROWS_OF_TABLE} of a table)",
            f"and at most {problems.MOST_LABELS:,} labels in all (rows times tasks where tasks share rows); `middle`",
            f"is half of that, `few` a quarter, at least {problems.LEAST_ROWS_PER_TASK}. Of sets with more than",
            f"{problems.MOST_CLASSES} classes, {problems.MOST_CLASSES} are drawn anew for each split. Worlds are",
            "generated, fresh for each split: 20 tasks of 30 features whose weights are 80 % common, 80 % those of a",
            "group, 40 % each, or unrelated.",
        ),
        *problems_table(record),
        *paragraph(
            f"Measured on {run.get('machine', 'an unknown machine')}; {run.get('versions', '')}; commit",
            f"{run.get('commit') or 'unknown'}; one thread for each fit, processor seconds.",
        ),
    ]


def faults(record):
    """What has no score, counted by set, size, method and reason."""
    counted = {}
    for row in record.faults:
        why = f"took longer than {row['limit']:g} s" if "limit" in row else row.get("error", "?")
        key = (row["set"], row["size"], row["method"], why)
        counted[key] = counted.get(key, 0) + 1
    return [f"- {name}, {size}, `{method}`: {count} x {why}" for (name, size, method, why), count in counted.items()]


def written(rows, record_name):
    """The page."""
    record = Record(rows)
    failed, losses = faults(record), losses_table(record)
    command = f"python benches/evidence.py --report {record_name} -o docs/evidence.md"
    lines = ["# Evidence", ""]
    lines += paragraph(
        "How good is `kin`, the default method, on data as users have them, against simple models, other methods and",
        "other software? What loses is said as plainly as what wins. Every number on this page comes from the record",
        f"[{record_name}](../{record_name}/README.md), and the page was written by",
    )
    lines += ["```sh", command, "```", "", "## In short", "", *verdicts(record), *rival_words(record), ""]
    lines += ["## What was compared", "", *about(record)]
    lines += ["## Averages over cells", ""]
    lines += ["Won and lost are cells with a difference of more than two standard errors.", "", *averages_table(record)]
    lines += ["## Against the best simple method in hindsight", ""]
    lines += paragraph(
        f"The best of {', '.join(ours.SIMPLE)} is the one with the best mean score on the test rows of the cell.",
        "Nobody can know it before, and it has the luck of these test rows on its side.",
    )
    lines += hindsight_table(record)
    if losses:
        lines += ["## Where it loses", ""]
        lines += paragraph(
            "If `kin` is above on the held-out rows of the folds too, they misled the choice. If it is below there,",
            "the search missed a better setting.",
        )
        lines += losses
    lines += ["## All scores", "", "Means over splits; the best of each cell is bold.", "", *scores_table(record)]
    lines += ["## Time", ""]
    lines += paragraph("Of the choice and the fit; for methods of this project with the start of the command.")
    lines += time_table(record)
    lines += ["## Without a score", "", *failed, ""] if failed else []
    return "\n".join(lines)
