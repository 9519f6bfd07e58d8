"""Pictures on matplotlib axes. Needs matplotlib: the extra `plot` of this package installs it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import dendrogram

from ._labelled import tree

try:
    import matplotlib.pyplot as plt
except ImportError as error:  # pragma: no cover
    raise ImportError("kinfolk.plot needs matplotlib; the extra kinfolk[plot] installs it") from error

__all__ = ["comparison", "gap_curve", "path_plot", "task_gain", "task_tree", "theta_heatmap"]

MAX_LABELLED_TASKS = 60
"""Largest number of tasks with labels in a plot: more would not be readable."""

LEAST_CORRELATION = 0.1
"""The end of the colours, if no correlation is larger."""

MAX_COLOURED_LINES = 6
"""Largest number of lines with a colour and a name in a plot."""


def _axes(ax: Any, size: tuple[float, float]) -> Any:
    return plt.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def theta_heatmap(
    model: Any,
    *,
    correlation: bool = True,
    names: Sequence[Any] | None = None,
    cluster: bool = True,
    ax: Any = None,
) -> Any:
    """The task matrix as a heat map, ordered by clustering, with its dendrogram. The diagonal of correlations is grey.

    Parameters
    ----------
    model : fitted estimator, or a matrix
    correlation : bool, default=True
        Whether to show correlations instead of the matrix itself.
    names : list, default=None
        Names of the tasks; None takes the model's.
    cluster : bool, default=True
        Whether to order tasks so that similar ones are side by side, and to draw the tree.
    ax : matplotlib axes, default=None

    Returns
    -------
    ax, with the order of the tasks as `ax.task_order`
    """
    is_model = hasattr(model, "theta_")
    matrix = np.asarray(model.theta_ if is_model else model, dtype=float)
    names = list(model.theta_names_ if is_model and names is None else range(len(matrix)) if names is None else names)
    size = np.sqrt(np.maximum(np.diag(matrix), 0))
    scale = np.outer(size, size)
    related = np.divide(matrix, scale, out=np.zeros_like(matrix), where=scale > 0)
    shown = related if correlation else matrix
    ax = _axes(ax, (6.5, 6.0))
    order = np.arange(len(matrix))
    if cluster and len(matrix) > 2:
        linkage = tree(related)
        above = ax.inset_axes([0, 1.01, 1, 0.18])
        drawn = dendrogram(linkage, ax=above, no_labels=True, color_threshold=0, above_threshold_color="0.4")
        above.set_axis_off()
        # Without the empty part below the first join.
        low, high = linkage[:, 2].min(), linkage[:, 2].max()
        if high > low:
            above.set_ylim(max(0.0, low - 0.2 * (high - low)), high + 0.02 * (high - low))
        order = np.asarray(drawn["leaves"])
    if correlation:  # of a task with itself it is always 1: in its colours the others would not be seen
        shown = np.ma.masked_array(shown, mask=np.eye(len(shown), dtype=bool))
        limit = max(LEAST_CORRELATION, float(np.abs(shown).max()) if len(shown) > 1 else 1.0)
    else:
        limit = float(np.abs(shown).max()) or 1.0
    colours = plt.get_cmap("RdBu_r").with_extremes(bad="0.8")
    image = ax.imshow(shown[np.ix_(order, order)], cmap=colours, vmin=-limit, vmax=limit, interpolation="nearest")
    if len(matrix) <= MAX_LABELLED_TASKS:
        labels = [str(names[i]) for i in order]
        ax.set_xticks(range(len(labels)), labels, rotation=90, fontsize=8)
        ax.set_yticks(range(len(labels)), labels, fontsize=8)
    else:
        ax.set_xlabel(f"{len(matrix)} tasks")
        ax.set_xticks([])
        ax.set_yticks([])
    ax.figure.colorbar(image, ax=ax, shrink=0.7, label="correlation of tasks" if correlation else "Theta")
    ax.task_order = order
    return ax


def task_tree(model: Any, *, n_clusters: int | None = None, ax: Any = None) -> Any:
    """The tree of the tasks of a fitted estimator, by 1 - |correlation|, with a colour for each of so many clusters."""
    names, linkage = [str(name) for name in model.theta_names_], model.task_tree_["linkage"]
    if len(names) < 2:
        raise ValueError("a tree needs two tasks")
    if n_clusters is not None:
        model.task_clusters(n_clusters)  # raises an error if there cannot be so many
    # The last joins are those between clusters: joins below the first of them have the colour of their cluster.
    heights = np.append(linkage[:, 2], np.inf)
    threshold = 0.0 if n_clusters is None else float(heights[len(names) - n_clusters])
    ax = _axes(ax, (4.5, max(2.5, min(12.0, 0.22 * len(names) + 1))))
    readable = len(names) <= MAX_LABELLED_TASKS
    style = {"color_threshold": threshold, "above_threshold_color": "0.4", "orientation": "left", "leaf_font_size": 8}
    dendrogram(linkage, ax=ax, labels=names if readable else None, no_labels=not readable, **style)
    ax.set_xlabel("1 - |correlation of tasks|")
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def gap_curve(*models: Any, labels: Sequence[str] | None = None, against: str = "seconds", ax: Any = None) -> Any:
    """Convergence: relative duality gap against seconds or passes."""
    if against not in ("seconds", "passes"):
        raise ValueError(f"against = {against!r}: it must be seconds or passes")
    ax = _axes(ax, (6.0, 4.0))
    for i, model in enumerate(models):
        trace = model.trace_
        size = np.maximum(np.abs(trace["primal"]), np.abs(trace["dual"]))
        gap = np.divide(trace["gap"], size, out=np.full(len(size), np.nan), where=size > 0)
        label = labels[i] if labels is not None else f"{type(model).__name__}, {model.solver_}"
        ax.plot(trace[against], np.maximum(gap, 1e-17), marker="o", markersize=3, label=label)
        ax.axhline(model.tol, color="0.7", linewidth=0.8, linestyle="--")
    ax.set_yscale("log")
    ax.set_xlabel(against)
    ax.set_ylabel("relative duality gap")
    ax.legend(frameon=False)
    return ax


def path_plot(search: Any, *, ax: Any = None) -> Any:
    """Score against C of a fitted `MultiTaskCV`, with a band of one standard error over folds. One line for each
    combination of the other parameters; of many, the best have colours and the others are grey."""
    results = search.cv_results_
    ax = _axes(ax, (6.0, 4.0))
    lines: dict[str, list[int]] = {}
    for row, params in enumerate(results["params"]):
        other = ", ".join(f"{name}={value}" for name, value in params.items() if name not in ("C", "lam"))
        lines.setdefault(other, []).append(row)
    best = sorted(lines, key=lambda label: -np.nanmax([-np.inf, *results["mean_test_score"][lines[label]]]))
    for label, rows in lines.items():
        c = np.asarray([results["params"][row]["C"] for row in rows], dtype=float)
        mean = results["mean_test_score"][rows]
        error = results["std_test_score"][rows] / np.sqrt(max(search.n_splits_ - 1, 1))
        if label not in best[:MAX_COLOURED_LINES]:
            ax.plot(c, mean, color="0.8", linewidth=0.8, zorder=1)
            continue
        (line,) = ax.plot(c, mean, marker="o", markersize=3, label=label or None)
        ax.fill_between(c, mean - error, mean + error, color=line.get_color(), alpha=0.15, linewidth=0)
    ax.axvline(search.best_C_, color="0.5", linewidth=0.8, linestyle="--")
    ax.set_xscale("log")
    ax.set_xlabel("C")
    ax.set_ylabel("score")
    if any(lines):
        ax.legend(frameon=False)
    return ax


def comparison(search: Any, baseline: str = "stl", *, ax: Any = None) -> Any:
    """What each task gains against independent tasks ("stl") or one model for all ("pooled"), from a `MultiTaskCV` with
    `compare=True`. Dots are means over folds, bars reach two standard errors to either side; grey ones may be noise."""
    known = search.comparison_
    if baseline not in known:
        raise ValueError(f"baseline = {baseline!r}: it must be one of {', '.join(known)}")
    found = known[baseline]
    gains = {name: gain for name, gain in found["per_task"].items() if np.isfinite(gain)}
    names = sorted(gains, key=lambda name: gains[name])
    ax = _axes(ax, (5.0, max(2.5, min(12.0, 0.22 * len(names) + 1))))
    for place, name in enumerate(names):
        error = 2 * found["per_task_standard_error"][name]
        colour = "tab:blue" if name in found["helped"] else "tab:red" if name in found["hurt"] else "0.6"
        bar = None if np.isnan(error) else error
        ax.errorbar(gains[name], place, xerr=bar, fmt="o", markersize=4, color=colour, linewidth=1)
    ax.axvline(0, color="0.3", linewidth=0.8)
    ax.axvline(found["gain"], color="0.5", linewidth=0.8, linestyle="--", label=f"mean {found['gain']:+.4f}")
    readable = len(names) <= MAX_LABELLED_TASKS
    ax.set_yticks(range(len(names)) if readable else [], [str(name) for name in names] if readable else [], fontsize=8)
    ax.set_xlabel(f"gain in score over {baseline}")
    ax.legend(frameon=False)
    return ax


def task_gain(joint: Mapping[Any, float], alone: Mapping[Any, float], *, ax: Any = None) -> Any:
    """Which tasks gain from joint learning: scores of one model (`score_per_task`) minus scores of another, say with
    method="stl", from the largest gain to the largest loss."""
    names = [name for name in joint if name in alone and np.isfinite(joint[name]) and np.isfinite(alone[name])]
    if not names:
        raise ValueError("there is no task with a score in both")
    gain = np.asarray([joint[name] - alone[name] for name in names])
    order = np.argsort(-gain)
    ax = _axes(ax, (max(4.0, min(12.0, 0.25 * len(names) + 2)), 4.0))
    ax.bar(range(len(names)), gain[order], color=np.where(gain[order] >= 0, "tab:blue", "tab:red"))
    ax.axhline(0, color="0.3", linewidth=0.8)
    ax.axhline(gain.mean(), color="0.5", linewidth=0.8, linestyle="--", label=f"mean {gain.mean():+.4f}")
    if len(names) <= MAX_LABELLED_TASKS:
        ax.set_xticks(range(len(names)), [str(names[i]) for i in order], rotation=90, fontsize=8)
    else:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(names)} tasks")
    ax.set_ylabel("gain in score")
    ax.legend(frameon=False)
    return ax
