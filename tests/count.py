"""Counts code: lines without tests, comments and blanks, for each part of the project.

python3 tests/count.py              # this work tree
python3 tests/count.py COMMIT       # the tree of a commit
"""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from guards import ROOT, tracked, without_tests

# Parts by the start of their paths. The first list is what users install.
SHIPPED = ("core", "data", "io", "methods", "train", "pictures", "report", "cli")
OTHER = {"eval": "crates/eval/src/", "paper": "crates/paper/src/", "benches": "benches/", "fuzz": "fuzz/"}
PARTS = {name: f"crates/{name}/src/" for name in SHIPPED}
PARTS |= {"python (Rust)": "python/src/", "python (Python)": "python/py_src/"} | OTHER
SUFFIXES = (".rs", ".py", ".js", ".css", ".html", ".pyi")


def code_lines(path: str, text: str) -> int:
    """Lines that are neither blank, comment nor inline test."""
    if path.endswith(".rs"):
        text = without_tests(text)
    elif path.endswith((".py", ".pyi")):
        text = re.sub(r'^\s*[rf]?"""(?:.|\n)*?"""', "", text, flags=re.MULTILINE)
        text = re.sub(r"^\s*#.*", "", text, flags=re.MULTILINE)
    elif path.endswith(".html"):
        text = re.sub(r"<!--(?:.|\n)*?-->", "", text)
    else:
        text = re.sub(r"/\*(?:.|\n)*?\*/|^\s*//.*", "", text, flags=re.MULTILINE)
    return sum(1 for line in text.splitlines() if line.strip())


def sources(commit: str | None) -> tuple[list[str], Callable[[str], str]]:
    """Names of files, and how to read one."""
    if commit is None:
        return tracked(), lambda path: (ROOT / path).read_text()
    names = git("ls-tree", "-r", "--name-only", commit).splitlines()
    return names, lambda path: git("show", f"{commit}:{path}")


def git(*words: str) -> str:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True).stdout


def main() -> None:
    names, read = sources(sys.argv[1] if len(sys.argv) > 1 else None)
    rows, shipped, everything = [], 0, 0
    for part, start in PARTS.items():
        files = [name for name in names if name.startswith(start) and name.endswith(SUFFIXES) and "/runs/" not in name]
        if not files:
            continue
        counts = {name: code_lines(name, read(name)) for name in files}
        longest = max(counts, key=lambda name: counts[name])
        lines = sum(counts.values())
        everything += lines
        shipped += 0 if part in OTHER else lines
        rows.append((part, lines, len(files), f"{Path(longest).relative_to(start.rstrip('/'))} ({counts[longest]})"))
    print(f"{'part':16} {'code':>7} {'files':>6}  longest file (lines of code)")
    for part, lines, files, longest in rows:
        print(f"{part:16} {lines:>7,} {files:>6}  {longest}")
    print(f"{'shipped':16} {shipped:>7,}\n{'all':16} {everything:>7,}")


if __name__ == "__main__":
    main()
