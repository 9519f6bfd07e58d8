"""The tool that measures and writes docs/evidence.md, and the page itself."""

import re
import subprocess
import sys
import time

import numpy as np
import pytest

from conftest import ROOT, skipped

sys.path.insert(0, str(ROOT / "benches"))

from evidencebench import page, problems, rivals, runner  # noqa: E402
from solverbench import files, splits  # noqa: E402


def test_the_page_in_the_documentation_was_written_by_the_tool(tmp_path):
    kept = ROOT / "docs" / "evidence.md"
    if not kept.exists():
        skipped("docs/evidence.md is not written yet")
    command = re.search(r"^python (benches/evidence.py --report \S+) -o docs/evidence.md$", kept.read_text(), re.M)
    written = tmp_path / "evidence.md"
    subprocess.run([sys.executable, *command[1].split(), "-o", written], cwd=ROOT, check=True)
    assert written.read_text() == kept.read_text(), (
        f"docs/evidence.md is not what the record says; write it again: python {command[1]} -o docs/evidence.md"
    )


# --- the page's arithmetic ---


def results(name, size, **scores):
    """Lines of a record: for each method its scores, split by split."""
    return [
        {"set": name, "size": size, "split": split, "method": method, "score": score, "seconds": 1.0}
        for method, values in scores.items()
        for split, score in enumerate(values)
    ]


def test_hindsight_takes_the_best_simple_method_of_each_cell_and_pairs_splits():
    rows = results("mtr_jura", "few", kin=[50, 60, 70], stl=[49, 58, 67], fmtl=[40, 70, 40], ridge=[90, 90, 90])
    rows += results("isolet", "more", kin=[50, 51, 52], stl=[40, 40, 40], pooled=[52, 53, 55], mtl=[51, 52, 53])
    found = page.Record(rows).hindsight()
    # Differences 1, 2, 3: mean 2, standard error 1 / sqrt(3). Rivals are no simple methods.
    assert found["mtr_jura", "few"][0] == "stl"
    assert found["mtr_jura", "few"][1:] == pytest.approx((2, 1 / np.sqrt(3)))
    assert found["isolet", "more"][0] == "pooled"
    assert found["isolet", "more"][1:] == pytest.approx((-7 / 3, 1 / 3))


def test_only_splits_that_both_methods_have_are_compared():
    rows = results("mtr_jura", "few", kin=[50, 60], stl=[40, 45, 99])
    assert page.Record(rows).gains("kin", "stl")["mtr_jura", "few"] == pytest.approx((12.5, 2.5))


def test_average_has_the_error_over_splits_and_over_cells():
    mean, over_splits, over_cells = page.average({"a": (1.0, 0.3), "b": (3.0, 0.4)})
    assert (mean, over_splits) == pytest.approx((2, 0.25))
    assert over_cells == pytest.approx(np.sqrt(2) / np.sqrt(2))


def test_what_loses_is_said():
    rows = results("mtr_jura", "few", kin=[50, 60, 70], stl=[52, 62.1, 72], fmtl=[50, 60, 70])
    rows += [{"set": "mtr_jura", "size": "few", "split": 3, "method": "mtl", "limit": 60}]
    text = page.written([{"run": {"commit": "abc"}}, *rows], "benches/runs/somewhere")
    assert "in 1 of 1 cells (100.0 %; at most 5 % are wanted): **does not hold**." in text
    assert "2.03 points on average over all cells (at most 0.5 is wanted): **does not hold**" in text
    assert "mtr_jura, few (-2.03 to stl)" in text
    assert "- mtr_jura, few, `mtl`: 1 x took longer than 60 s" in text
    assert "python benches/evidence.py --report benches/runs/somewhere -o docs/evidence.md" in text


def test_losses_are_shown_with_what_the_folds_saw_and_what_was_chosen():
    rows = results("mtr_jura", "few", kin=[50, 60, 70], stl=[52, 62.1, 72])
    chosen = {"method": "kin:common=10,k=1,own=0", "kernel": {"kind": "rbf", "gamma": 0.1}, "weight": "strength:1"}
    for row in rows:
        row |= {"cv": 0.5 if row["method"] == "kin" else 0.47, "by": "pooled-r2", "chosen": chosen}
    text = page.written(rows, "r")
    assert "| mtr_jura | few | stl | -2.03 | +3.00 | common=10,k=1,own=0, rbf (3 of 3) |" in text


def test_a_record_of_one_split_or_of_nothing_can_be_reported():
    for rows in (results("mtr_jura", "few", kin=[50], stl=[40]), []):
        text = page.written(rows, "r")
        assert "nothing can be judged" in text and "holds" not in text


# --- problems ---


@pytest.fixture
def small_sets(tmp_path, monkeypatch):
    """A folder of data with one set of each form."""
    folder = tmp_path / "data"
    folder.mkdir()
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2400, 3))
    y = rng.choice(np.asarray([-1, 1], np.int8), 2400)
    np.savez(folder / "landmine.npz", X=x, y=y, task=np.repeat(np.arange(3, dtype=np.int32), [30, 970, 1400]))
    np.savez(folder / "mtr_jura.npz", X=x[:50], Y=rng.normal(size=(50, 2)))
    np.savez(folder / "usps.npz", X=x.astype(np.float16), label=np.repeat(np.arange(2, dtype=np.int32), 1200))
    monkeypatch.setenv("KINFOLK_DATA", str(folder))
    problems.loaded.cache_clear()
    yield folder
    problems.loaded.cache_clear()


def test_sizes_follow_from_the_smallest_task(small_sets):
    assert problems.sizes(problems.loaded("landmine")) == {"few": 4, "middle": 8, "more": 15}
    assert problems.sizes(problems.loaded("mtr_jura")) == {"few": 6, "middle": 12, "more": 25}
    assert problems.sizes(problems.loaded("usps")) == {"few": 25, "middle": 50, "more": 100}


def test_packed_rows_give_the_same_splits(small_sets, tmp_path, monkeypatch):
    names = ("landmine", "mtr_jura", "usps")
    before = {name: problems.drawn(name, "middle", 3) for name in names}
    problems.pack(tmp_path / "packed")
    monkeypatch.setenv("KINFOLK_DATA", str(tmp_path / "packed"))
    problems.loaded.cache_clear()
    assert len(problems.loaded("landmine").x) < 2400
    for name in names:
        for one, other in zip(before[name], problems.drawn(name, "middle", 3)):
            assert (one.x == other.x).all() and (one.y == other.y).all()


def test_of_many_classes_some_are_drawn_and_numbered_anew():
    label = np.repeat(np.arange(100, 140), 5)
    whole = splits.Data(label[:, None].astype(float), label, classes=True)
    one, other = problems.some_classes(whole, 0), problems.some_classes(whole, 1)
    assert (np.unique(one.y) == np.arange(problems.MOST_CLASSES)).all()
    assert len(one.y) == 5 * problems.MOST_CLASSES
    assert (np.diff(one.x[:, 0]) >= 0).all() and set(one.x[:, 0]) != set(other.x[:, 0])


def test_training_and_test_rows_of_a_split_are_not_the_same_and_small_sizes_are_part_of_large_ones():
    def rows(data):
        return {tuple(row) for row in data.x}

    few, test = problems.drawn("world-both", "few", 1)
    more, _ = problems.drawn("world-both", "more", 1)
    assert not rows(few) & rows(test)
    assert rows(few) < rows(more)


def test_worlds_differ_from_split_to_split_and_not_from_run_to_run():
    one, again, other = (problems.of_split("world-none", split) for split in (0, 0, 1))
    assert (one.y == again.y).all() and not (one.y == other.y).any()


# --- the runner ---


class Mean:
    def fit(self, data):
        self.mean = {t: data.y[data.task == t].mean() for t in np.unique(data.task)}
        return self

    def answers(self, data):
        return np.asarray([self.mean[t] for t in data.task]), None


class Slow(Mean):
    def fit(self, data):
        time.sleep(60)


class Broken(Mean):
    def fit(self, data):
        raise ValueError("it broke")


LIMITS = (1.0, 1.0)


@pytest.fixture
def known_rivals(monkeypatch):
    forms, makes = (rivals.NUMBERS,), {"slow": Slow, "broken": Broken, "mean": Mean}
    monkeypatch.setattr(rivals, "RIVALS", {name: rivals.Rival(forms, make, "") for name, make in makes.items()})
    return list(makes)


def test_a_slow_or_broken_method_does_not_hold_up_the_others(tmp_path, known_rivals):
    raw = tmp_path / "raw.jsonl"
    jobs = runner.jobs(["world-none"], ["few"], 1, known_rivals, set(), LIMITS)
    assert runner.run(runner.Queue(jobs, set(), raw, None), 2, time.monotonic() + 60) == 0
    found = {row["method"]: row for row in files.read(raw)}
    assert found["slow"]["limit"] == 1.0
    assert found["broken"]["error"] == "ValueError: it broke"
    # R^2 is against this very mean.
    assert found["mean"]["score"] == pytest.approx(0, abs=1e-6)
    # What failed is tried again, what was too slow only with more time.
    done, _ = runner.known(files.read(raw), LIMITS)
    assert [job.methods for job in runner.jobs(["world-none"], ["few"], 1, known_rivals, done, LIMITS)] == [["broken"]]
    done, _ = runner.known(files.read(raw), (2.0, 2.0))
    left = runner.jobs(["world-none"], ["few"], 1, known_rivals, done, (2.0, 2.0))
    assert [job.methods for job in left] == [["slow", "broken"]]


def test_what_was_too_slow_once_is_not_tried_on_other_splits(tmp_path, known_rivals):
    raw = tmp_path / "raw.jsonl"
    jobs = runner.jobs(["world-none"], ["few"], 3, ["slow", "mean"], set(), LIMITS)
    start = time.monotonic()
    assert runner.run(runner.Queue(jobs, set(), raw, None), 1, time.monotonic() + 60) == 0
    assert time.monotonic() - start < 10
    rows = files.read(raw)
    assert [row.get("skipped", False) for row in rows if row["method"] == "slow"] == [False, True, True]
    assert len([row for row in rows if row["method"] == "mean"]) == 3


def test_at_the_deadline_the_run_ends_and_says_what_is_left(tmp_path, known_rivals):
    jobs = runner.jobs(["world-none"], ["few"], 2, ["mean", "slow"], set(), (60.0, 60.0))
    queue = runner.Queue(jobs, set(), tmp_path / "raw.jsonl", None)
    assert runner.run(queue, 1, time.monotonic() + 1) >= 2


def test_jobs_that_matter_come_first_and_all_sets_have_a_split_before_any_has_two():
    jobs = runner.jobs(["mtr_slump", "world-none", "world-both"], ["few"], 2, ["kin", "gmtl"], set(), LIMITS)
    order = [(job.methods[0], job.split) for job in jobs if job.set.startswith("world")]
    assert order == [("kin", 0)] * 2 + [("kin", 1)] * 2 + [("gmtl", 0)] * 2 + [("gmtl", 1)] * 2
