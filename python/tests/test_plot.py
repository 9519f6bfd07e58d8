"""Pictures show what they say."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

from kinfolk import MultiTaskCV, MultiTaskRegressor, plot


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
