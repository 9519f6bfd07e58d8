"""Pages of `kinfolk report` in a real browser: Chromium without a window, driven by the chromedriver of the system."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from page import Browser

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "target" / "report-screenshots"


def needed(*names):
    """The first of these programs that is here."""
    found = next((shutil.which(name) for name in names if shutil.which(name)), None)
    if found is None:
        pytest.skip(f"{names[0]} was not found: the report is not looked at in a browser", allow_module_level=True)
    return found


@pytest.fixture(scope="session")
def command():
    """The command that `cargo test` built."""
    path = Path(os.environ.get("KINFOLK_COMMAND", ROOT / "target" / "debug" / "kinfolk"))
    if not path.exists():
        pytest.skip(f"{path} was not found: build it with cargo, or set KINFOLK_COMMAND")

    def run(*words, cwd):
        done = subprocess.run([path, *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    chromium, driver = needed("chromium", "chromium-browser", "google-chrome"), needed("chromedriver")
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    browser = Browser(chromium, driver, tmp_path_factory.mktemp("profile"), SCREENSHOTS)
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def demo(command, tmp_path_factory):
    """A folder with all that the demo writes, in `kinfolk-demo`."""
    folder = tmp_path_factory.mktemp("demo")
    command("demo", cwd=folder)
    return folder / "kinfolk-demo"
