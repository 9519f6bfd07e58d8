"""Pictures show what they say."""

import subprocess
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest

from kinfolk import MultiTaskCV, MultiTaskRegressor, plot
from kinfolk._labelled import LabelledResults


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_heat_map_puts_kin_side_by_side(regression, tmp_path):
    theta = np.kron(np.array([[1.0, 0.1], [0.1, 1.0]]), np.ones((3, 3)))
    mixed = [0, 3, 1, 4, 2, 5]
    ax = plot.theta_heatmap(theta[np.ix_(mixed, mixed)], names=list("adbecf"))
    first = {"adbecf"[i] for i in ax.task_order[:3]}
    assert first in ({"a", "b", "c"}, {"d", "e", "f"})
    ax.figure.savefig(tmp_path / "theta.png")
    # Colours are for pairs: the diagonal has none, and noise is not blown up.
    (image,) = ax.images
    assert np.ma.getmaskarray(image.get_array()).sum() == 6 and image.get_clim() == pytest.approx((-1, 1))
    for size, limit in [(0.3, 0.3), (0.001, plot.LEAST_CORRELATION)]:
        weak = plot.theta_heatmap(np.eye(4) + size * (1 - np.eye(4)))
        assert weak.images[0].get_clim() == pytest.approx((-limit, limit))
    model = MultiTaskRegressor().fit(regression.X, regression.y, task=regression.task)
    labels = [text.get_text() for text in plot.theta_heatmap(model, correlation=False).get_yticklabels()]
    assert sorted(labels) == sorted(regression.names)


def test_curves(regression):
    d = regression
    model = MultiTaskRegressor(solver="sdca", tol=1e-6).fit(d.X, d.y, task=d.task)
    line = plot.gap_curve(model).lines[0]
    assert line.get_ydata()[-1] == pytest.approx(model.rel_gap_)
    search = MultiTaskCV(cv=3, param_grid={"k": [1, 2]}).fit(d.X, d.y, task=d.task)
    ax = plot.path_plot(search)
    assert len(ax.lines[0].get_xdata()) == 13 and {t.get_text() for t in ax.get_legend().get_texts()} == {"k=1", "k=2"}


def test_gains_are_sorted():
    ax = plot.task_gain({"a": 0.5, "b": 0.9, "c": float("nan")}, {"a": 0.6, "b": 0.4, "c": 0.1})
    assert [patch.get_height() for patch in ax.patches] == pytest.approx([0.5, -0.1])
    with pytest.raises(ValueError, match="no task with a score in both"):
        plot.task_gain({"a": 1.0}, {"b": 1.0})


def test_pictures_as_methods(regression):
    d = regression
    model = MultiTaskRegressor(C=1.0).fit(d.X, d.y, task=d.task)
    assert len(model.plot_theta().task_order) == 5
    assert model.plot_gap(against="passes").get_xlabel() == "passes"
    ax = model.plot_tree(n_clusters=2)
    assert sorted(text.get_text() for text in ax.get_yticklabels()) == sorted(d.names)
    with pytest.raises(ValueError, match="n_clusters = 6"):
        model.plot_tree(n_clusters=6)
    alone = MultiTaskRegressor(C=1.0).fit(d.X, d.y)
    with pytest.raises(ValueError, match="two tasks"):
        alone.plot_tree()


@pytest.mark.parametrize("n_clusters", [1, 2, 3])
def test_the_tree_has_a_colour_for_each_cluster(n_clusters):
    theta = np.kron(np.diag([1.0, 1.0, 1.0]) + 0.2, np.ones((3, 3))) + 0.01 * np.eye(9)
    theta[:6, :6] += 0.2

    class Model(LabelledResults):
        theta_names_ = list("abcdefghi")
        task_correlation_ = theta / np.sqrt(np.outer(np.diag(theta), np.diag(theta)))

    ax = plot.task_tree(Model(), n_clusters=n_clusters)
    colours = {tuple(map(float, colour)) for lines in ax.collections for colour in lines.get_colors()}
    grey = (0.4, 0.4, 0.4, 1.0)
    assert len(colours - {grey}) == n_clusters and (grey in colours) == (n_clusters > 1)


def test_the_comparison_of_a_search(regression):
    d = regression
    search = MultiTaskCV(cv=2, compare=True, Cs=[0.1, 1.0], param_grid={}).fit(d.X, d.y, task=d.task)
    ax = search.plot_comparison("pooled")
    gains = search.comparison_["pooled"]["per_task"]
    assert [text.get_text() for text in ax.get_yticklabels()] == sorted(gains, key=gains.get)
    assert search.plot_path().get_xlabel() == "C" and len(search.plot_theta().task_order) == 5
    with pytest.raises(ValueError, match="'none': it must be one of stl, pooled"):
        search.plot_comparison("none")


def test_of_many_lines_the_best_have_colours(regression):
    d = regression
    search = MultiTaskCV(cv=2).fit(d.X, d.y, task=d.task)
    labels = {text.get_text() for text in search.plot_path().get_legend().get_texts()}

    def label(params):
        return ", ".join(f"{name}={value}" for name, value in params.items() if name not in ("C", "lam"))

    assert len(set(map(label, search.cv_results_["params"]))) > plot.MAX_COLOURED_LINES == len(labels)
    assert label(search.best_params_) in labels


def test_matplotlib_is_loaded_by_the_first_picture_only():
    script = "import sys, kinfolk; assert 'matplotlib' not in sys.modules; kinfolk.MultiTaskRegressor().plot_theta"
    subprocess.run([sys.executable, "-c", script + "; assert 'matplotlib' not in sys.modules"], check=True)
