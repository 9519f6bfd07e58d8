"""A user's script passes strict type checkers."""

import ast
import pathlib
import re
import subprocess
import sys

import pytest
from conftest import skipped

SCRIPT = pathlib.Path(__file__).with_name("user_script.py")


def test_mypy():
    pytest.importorskip("mypy")
    config = SCRIPT.parents[1] / "pyproject.toml"
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", config, SCRIPT]
    found = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_pyright():
    pyright = [sys.executable, "-m", "pyright"]
    if subprocess.run([*pyright, "--version"], capture_output=True).returncode:
        skipped("no pyright")
    found = subprocess.run([*pyright, "--pythonpath", sys.executable, SCRIPT], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_the_script_uses_every_public_name():
    from test_attributes import attributes

    import kinfolk
    from kinfolk import cluster, plot

    used = {node.attr for node in ast.walk(ast.parse(SCRIPT.read_text())) if isinstance(node, ast.Attribute)}
    used |= {node.id for node in ast.walk(ast.parse(SCRIPT.read_text())) if isinstance(node, ast.Name)}
    kinds = [getattr(kinfolk, name) for name in kinfolk.__all__ if isinstance(getattr(kinfolk, name), type)]
    public = {name for module in (kinfolk, plot, cluster) for name in module.__all__}
    for kind in kinds:
        own = {name for each in kind.__mro__ if each.__module__.startswith("kinfolk") for name in vars(each)}
        methods = {name for name in own if not name.startswith("_") and callable(getattr(kind, name, None))}
        public |= {name for name in methods if not re.fullmatch("set_.*_request", name)}
        if "Attributes" in (kind.__doc__ or ""):
            public |= set(attributes(kind.__doc__))
    assert len(public) > 60 and not public - used, sorted(public - used)


def test_it_runs(tmp_path):
    import matplotlib.pyplot as plt
    import user_script

    assert user_script.regression(tmp_path / "m") and user_script.classification()
    assert user_script.choice(tmp_path / "s") and user_script.statistics(tmp_path / "t")
    assert user_script.shards(tmp_path / "none")
    plt.close("all")
