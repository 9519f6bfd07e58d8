"""Pictures as methods. matplotlib is imported by the first of them that is called."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted


class PlotMixin:
    """Pictures of a fitted estimator: what `kinfolk.plot` draws."""

    def plot_theta(self, *, correlation: bool = True, cluster: bool = True, ax: Any = None) -> Any:
        """The task matrix as a heat map, ordered by clustering, with its dendrogram. Returns matplotlib axes."""
        check_is_fitted(self)
        from . import plot

        return plot.theta_heatmap(self, correlation=correlation, cluster=cluster, ax=ax)

    def plot_tree(self, *, n_clusters: int | None = None, ax: Any = None) -> Any:
        """The tasks as a tree, with as many colours as clusters. Returns matplotlib axes."""
        check_is_fitted(self)
        from . import plot

        return plot.task_tree(self, n_clusters=n_clusters, ax=ax)

    def plot_gap(self, *, against: str = "seconds", ax: Any = None) -> Any:
        """The relative duality gap against seconds or passes. Returns matplotlib axes."""
        check_is_fitted(self)
        from . import plot

        return plot.gap_curve(self, against=against, ax=ax)


class SearchPlotMixin:
    """Pictures of a fitted search."""

    def plot_path(self, *, ax: Any = None) -> Any:
        """Score against C, one line for each combination of the other parameters. Returns matplotlib axes."""
        check_is_fitted(self, "cv_results_")
        from . import plot

        return plot.path_plot(self, ax=ax)

    def plot_comparison(self, baseline: str = "stl", *, ax: Any = None) -> Any:
        """What each task gains by joint learning, with `compare=True`: dots are means over folds, bars reach two
        standard errors to either side. Returns matplotlib axes."""
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "comparison_"):
            raise AttributeError("plot_comparison: fit with compare=True")
        from . import plot

        return plot.comparison(self, baseline, ax=ax)
