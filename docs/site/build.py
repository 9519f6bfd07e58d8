"""Builds the documentation as a web site, with warnings as errors: python docs/site/build.py [--out FOLDER]

Needs the installed package and docs/site/requirements.txt. The pages are those of docs/; the gallery is made by running
the scripts of docs/gallery; the reference of Python is made from the docstrings. All is written below the folder.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
REPOSITORY = "https://github.com/kinfolk-learn/kinfolk/blob/main"
PAGES = {
    "Getting started": ["command", "python"],
    "User guide": ["problem", "methods", "solvers", "scale", "gpu", "evidence", "reliability", "reproduction"],
    "How it works": ["math", "recheck", "architecture"],
    "Extending": ["add-a-loss", "add-a-regularizer", "add-a-solver", "add-a-backend"],
}
RUN = """
import contextlib, io, runpy, sys
import matplotlib
matplotlib.use("Agg")
runpy.run_path(sys.argv[1], run_name="__main__")
import matplotlib.pyplot as plt
assert plt.get_fignums(), "a page of the gallery ends with a picture"
plt.savefig(sys.argv[2], dpi=110, bbox_inches="tight")
"""


def absolute_links(text: str) -> str:
    """Links to files outside of docs/ lead to the repository."""
    text = re.sub(r"\]\(\.\./([^)#]+)", rf"]({REPOSITORY}/\1", text)
    return re.sub(r"\]\(((?:gallery|site)/[^)#]+)", rf"]({REPOSITORY}/docs/\1", text)


def gallery(source: pathlib.Path) -> list[str]:
    """A page for each script: its text, what it prints, and its picture."""
    folder = source / "gallery"
    folder.mkdir()
    names = []
    for script in sorted((ROOT / "docs" / "gallery").glob("*.py")):
        text = script.read_text()
        about, code = text.removeprefix('"""').split('"""', 1)
        start = time.perf_counter()
        picture = folder / f"{script.stem}.png"
        command = [sys.executable, "-W", "error::DeprecationWarning:kinfolk", "-c", RUN, str(script), str(picture)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{script.name} failed:\n{done.stderr}")
        seconds = time.perf_counter() - start
        print(f"{script.name}: {seconds:.1f} s", flush=True)
        page = f"{about.strip()}\n\n```python\n{code.strip()}\n```\n\n```text\n{done.stdout.rstrip()}\n```\n\n"
        (folder / f"{script.stem}.md").write_text(page + f"![The picture]({script.stem}.png)\n")
        names.append(script.stem)
    return names


def contents(caption: str, pages: list[str], depth: int = 1) -> str:
    listed = "\n".join(pages)
    return f"```{{toctree}}\n:caption: {caption}\n:maxdepth: {depth}\n\n{listed}\n```\n\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "target" / "site")
    out = parser.parse_args().out
    source = out / "source"
    shutil.rmtree(out, ignore_errors=True)
    source.mkdir(parents=True)
    (source / "static").mkdir()
    shutil.copy(ROOT / "docs" / "site" / "conf.py", source)
    shutil.copy(ROOT / "docs" / "site" / "site.css", source / "static")
    listed = {page for pages in PAGES.values() for page in pages}
    for path in sorted((ROOT / "docs").glob("*.md")):
        (source / path.name).write_text(absolute_links(path.read_text()))
        if path.stem not in listed:
            PAGES["User guide"].append(path.stem)
    for other in (ROOT / "docs").iterdir():
        if other.is_dir() and other.name not in ("gallery", "site"):
            shutil.copytree(other, source / other.name)
        elif other.is_file() and other.suffix != ".md":
            shutil.copy(other, source)
    shutil.copy(ROOT / "docs" / "site" / "reference.md", source)
    first = (ROOT / "README.md").read_text()
    first = re.sub(r"\]\(docs/", "](", first)
    first = re.sub(r"\]\((?!https?:|#|[\w-]+\.(?:md|svg|png))([^)]+)\)", rf"]({REPOSITORY}/\1)", first)
    first = re.sub(r"\]\(((?:CHANGELOG|CONTRIBUTING|SECURITY|README)\.md)", rf"]({REPOSITORY}/\1", first)
    index = first + "\n\n" + "".join(contents(caption, pages) for caption, pages in PAGES.items())
    index += contents("Gallery", [f"gallery/{name}" for name in gallery(source)])
    index += contents("Reference", ["reference"])
    (source / "index.md").write_text(index)
    html = out / "html"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", str(source), str(html)]
    subprocess.run(command, check=True)
    print(f"open {html / 'index.html'}")


if __name__ == "__main__":
    main()
