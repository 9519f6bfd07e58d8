"""Every snippet of the documentation and every example runs."""

import doctest
import importlib
import pathlib
import re
import runpy

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "docs" / "python.md", ROOT / "python" / "README.md", ROOT / "README.md"]
MODULES = ["kinfolk", "kinfolk._regressor", "kinfolk._classifier", "kinfolk._output_kernel", "kinfolk._cv"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_pages(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    snippets = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    assert snippets
    rng = np.random.default_rng(0)
    rows = {"X": rng.normal(size=(40, 3)), "y": rng.normal(size=40), "sensor": np.repeat([1, 2], 20)}
    world = rows | {"X_new": rows["X"], "sensor_new": rows["sensor"]}  # what a page takes for granted
    for number, snippet in enumerate(snippets, 1):
        try:
            exec(compile(snippet, f"{page.name}, snippet {number}", "exec"), world)
        except Exception as error:
            pytest.fail(f"snippet {number} of {page.name}: {error!r}\n{snippet}")


@pytest.mark.parametrize("example", sorted((ROOT / "python" / "examples").glob("*.py")), ids=lambda path: path.name)
def test_examples(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


@pytest.mark.parametrize("name", MODULES)
def test_docstrings(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.failed == 0 and found.attempted > 0
