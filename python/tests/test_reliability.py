"""The scripts that try to break kinfolk: the page agrees with its records, and the checker of certificates can fail."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

from conftest import ROOT

FOLDER = ROOT / "benches" / "reliability"
sys.path.insert(0, str(FOLDER))

import formulas  # noqa: E402
import page  # noqa: E402
import problems  # noqa: E402
import recheck  # noqa: E402


def test_the_page_in_the_documentation_was_written_from_the_records(tmp_path):
    kept = ROOT / "docs" / "reliability.md"
    command = re.search(r"^python (benches/reliability/page.py \S+) -o docs/reliability.md$", kept.read_text(), re.M)
    written = tmp_path / "reliability.md"
    subprocess.run([sys.executable, *command[1].split(), "-o", written], cwd=ROOT, check=True)
    assert written.read_text() == kept.read_text(), (
        f"docs/reliability.md is not what the records say; write it again: python {command[1]} -o docs/reliability.md"
    )


def test_records_of_one_kind_are_added_up_and_findings_are_said(tmp_path):
    record = {"counts": {"tries": {"fit": 3}, "exit codes": {"0": 3}}, "seconds": 60}
    record |= {"words": "python x", "machine": "m", "versions": "v"}
    (tmp_path / "attack-1.json").write_text(json.dumps(record | {"findings": []}))
    (tmp_path / "attack-2.json").write_text(json.dumps(record | {"findings": [{"what": "panic"}]}))
    found = page.written(tmp_path, "r")
    assert "6 tries" in found and "**1 findings**" in found and "| 0 | 6 |" in found


# --- the checker ---


LOSSES = [
    {"kind": "squared"},
    {"kind": "hinge"},
    {"kind": "squared_hinge"},
    {"kind": "smoothed_hinge", "gamma": 0.5},
    {"kind": "logistic"},
    {"kind": "epsilon", "epsilon": 0.3},
    {"kind": "squared_epsilon", "epsilon": 0.3},
    {"kind": "huber", "delta": 0.7},
    {"kind": "absolute"},
    {"kind": "quantile", "q": 0.3},
]
PENALTIES = [
    {"kind": "trace", "nu": 0.8},
    {"kind": "relationship", "l1": 0.0, "l2": 1.0},
    {"kind": "relationship", "l1": 2.0, "l2": 0.5},
    {"kind": "relationship", "l1": 0.0, "l2": 1.0, "groups": [0, 1, 0, 1]},
    {"kind": "clusters", "clusters": 2, "mean": 0.1, "between": 0.2, "within": 1.0},
]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss["kind"])
def test_conjugates_of_the_checker_are_the_largest_values_of_u_z_less_the_loss(loss):
    z = np.linspace(-60, 60, 240_001)
    for y in (-1.0, 1.0):
        label = formulas.wide([y])
        low, high = formulas.conjugate_domain(loss, label)
        for u in np.linspace(max(-2.0, float(low[0])), min(2.0, float(high[0])), 9)[1:-1]:
            largest = (u * z - formulas.loss_value(loss, label, formulas.wide(z))).max()
            assert formulas.loss_conjugate(loss, label, formulas.wide([u]))[0] == pytest.approx(
                float(largest), abs=1e-3
            )


@pytest.mark.parametrize(
    "output", [{"kind": "power", "k": 3}, {"kind": "exp"}, {"kind": "cosh"}, {"kind": "frobenius", "prior": 0.4}]
)
def test_slopes_and_conjugates_of_the_checker_belong_to_phi(output):
    entries = formulas.Entries(output)
    for z in (-0.8, 0.1, 1.3):
        step = 1e-6
        slope = (entries.phi(z + step) - entries.phi(z - step)) / (2 * step)
        assert float(entries.slope(z)) == pytest.approx(float(slope), rel=1e-6)
        young = entries.phi(z) + entries.conjugate(entries.slope(z), z) - z * entries.slope(z)
        assert float(young) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("output", PENALTIES)
def test_penalties_of_the_checker_are_never_below_the_inner_product(output):
    rng = np.random.default_rng(0)
    for _ in range(20):
        weights, duals = rng.normal(size=(2, 5, 4))
        duals *= rng.uniform(0.01, 0.3)
        omega, bound = formulas.penalty(output, formulas.wide(0.5), formulas.wide(weights), formulas.wide(duals))
        assert omega + bound >= (weights * duals).sum() - 1e-12


@pytest.mark.parametrize("kind, weight", [("ridge:0.5", 4.0), ("shrunk:3", 6.0)])
def test_penalised_intercepts_of_the_checker_are_never_below_the_sums_of_duals(kind, weight):
    c, rng = 2.0, np.random.default_rng(0)
    assert float(recheck.weight_of_intercepts(kind, c)) == weight

    def both(b, sums):
        primal, dual = [], []
        recheck.of_intercepts(kind, formulas.wide(b), formulas.wide(sums), c, np.zeros(4, bool), primal, dual)
        return float(sum(primal) - sum(dual))

    for b, sums in rng.normal(size=(20, 2, 4)):
        assert both(b, sums) >= (b * sums).sum()
        assert both(sums / weight, sums) == pytest.approx((sums**2).sum() / weight)


def test_the_checker_adds_the_common_log_odds_of_classes_to_their_offsets():
    problem = {"loss": [{"kind": "squared"}, {"kind": "logistic"}]}
    tensors = {"theta": np.eye(2), "target_scale": np.array([2.0, 1.0]), "target_centre": np.array([3.0, 0.5])}
    task, y, offset = np.array([0, 1]), formulas.wide([7.0, -1.0]), formulas.wide([1.0, 1.0])
    y, offset = recheck.scaled_labels(problem, tensors, task, y, offset)
    assert (y.tolist(), offset.tolist()) == ([2.0, -1.0], [0.5, 1.5])


def test_the_checker_finds_a_certificate_that_was_changed(tmp_path):
    kinfolk = pytest.importorskip("kinfolk")
    rng = np.random.default_rng(0)
    x, task = rng.normal(size=(40, 3)), np.repeat(np.arange(4), 10)
    y = x @ rng.normal(size=3) + rng.normal(size=40)
    kinfolk.MultiTaskRegressor(C=1.0).fit(x, y, task=task).save(str(tmp_path / "m.st"))
    about, tensors = recheck.read_model(tmp_path / "m.st")
    problem = problems.Problem({"X": x, "y": y, "task": task}, [], {})
    data = problems.data_of(problem, about)
    found = recheck.recheck(about, tensors, data)
    assert found.faults == []
    assert float(found.primal) == pytest.approx(about["certificate"]["primal"], rel=1e-12)
    assert float(found.dual) == pytest.approx(about["certificate"]["dual"], rel=1e-12)
    other = recheck.recheck(about, tensors | {"weights": tensors["weights"] * 1.01}, data)
    assert other.faults == ["the stored function is not that of the point"]
    other = recheck.recheck(about, tensors | {"alpha": tensors["alpha"] * 1.1}, data)
    assert other.gap > found.gap and "the stored function is not that of the point" in other.faults
    other = recheck.recheck(about, tensors | {"alpha": tensors["alpha"] + 0.1}, data)
    assert "duals of a task do not add up to zero" in other.faults


def test_the_words_of_the_command_are_drawn_again_from_the_seed():
    one, again = (problems.draw(np.random.default_rng([7, 0, 3])) for _ in range(2))
    assert one.options == again.options
    for name in one.arrays:
        assert np.array_equal(one.arrays[name], again.arrays[name], equal_nan=True)
