"""A user's script passes strict type checkers."""

import pathlib
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
    pyright = pathlib.Path(sys.executable).with_name("pyright")
    if not pyright.exists() or subprocess.run([pyright, "--version"], capture_output=True).returncode:
        skipped("no pyright")
    found = subprocess.run([pyright, "--pythonpath", sys.executable, SCRIPT], capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_it_runs(tmp_path):
    import matplotlib.pyplot as plt
    import user_script

    assert user_script.regression(tmp_path / "m") and user_script.classification() and user_script.choice()
    plt.close("all")
