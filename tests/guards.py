"""Guards of the code's shape. Run `python3 tests/guards.py` from anywhere; plain Python 3.11, no packages.

Checked are: modules of crates/core use only modules above them in docs/architecture.md, type names are not defined
twice more often than now, every module is on the map in docs/architecture.md, and lines have at most 120 columns.
Faults are listed with file and line. The exit code is 1 if there are any.
"""

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MAP = "docs/architecture.md"
MAX_COLUMNS = 120
# Type names that are defined more than once. Lower it when there are fewer; never raise it.
MAX_SHARED_TYPE_NAMES = 4
# Folders of crates/core/src whose files are on the map one by one. The files of other folders (losses, regularisers,
# kernels) are lists of equals: adding one must not need an edit of the map.
DETAILED = ("backend", "solver", "certificate")
# Files that are no modules of their own.
NOT_MODULES = {"lib", "main", "mod"}
CRATE_PATH = re.compile(r"(?<![\w$])crate::")


def tracked(*patterns: str) -> list[str]:
    """Files of the repository, those not yet committed included, by patterns of git."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *patterns]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return sorted(name for name in set(names) if (ROOT / name).is_file())


def without_tests(text: str) -> str:
    """Rust source with comments and inline test modules blanked out; line numbers stay."""
    text = re.sub(r"//[^\n]*", "", text)
    for start in [match.start() for match in re.finditer(r"#\[cfg\(test\)\]\s*(pub(\(\w+\))? )?mod \w+ \{", text)]:
        end = closing_brace(text, text.index("{", start))
        text = text[:start] + re.sub(r"[^\n]", " ", text[start:end]) + text[end:]
    return text


def closing_brace(text: str, opening: int) -> int:
    """The place after the brace that closes the one at `opening`. Braces in text literals come in pairs in our code."""
    depth = 0
    for place in range(opening, len(text)):
        depth += {"{": 1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def line_of(text: str, place: int) -> int:
    return text.count("\n", 0, place) + 1


def expanded(name: str) -> list[str]:
    """`src/{a,b}.rs` is `src/a.rs` and `src/b.rs`."""
    match = re.fullmatch(r"(.*)\{(.*)\}(.*)", name)
    return [match[1] + part + match[3] for part in match[2].split(",")] if match else [name]


def tables() -> dict[str, list[tuple[int, str]]]:
    """Rows of the map by crate, with the number of their group (bold rows start one)."""
    rows: dict[str, list[tuple[int, str]]] = defaultdict(list)
    crate, group = "", 0
    for line in (ROOT / MAP).read_text().splitlines():
        if heading := re.match(r"\| `(crates/\w+|python)` \|", line):
            crate, group = heading[1], 0
        elif line.startswith("`crates/core/src`"):
            crate, group = "crates/core", 0
        elif line.startswith("## "):
            crate = ""
        elif crate and line.startswith("| **"):
            group += 1
        elif crate and line.startswith("|"):
            rows[crate].append((group, line))
    return rows


def names_in(line: str) -> Iterator[str]:
    """Modules that a row of the map names: `solver/auto/` is `solver/auto`."""
    for name in re.findall(r"`([^`]+)`", line):
        for one in expanded(name):
            yield re.sub(r"^src/|(/mod)?\.rs$|/$", "", one.strip())


def module_order() -> Iterator[str]:
    """A module of core uses only modules of its own group or above."""
    group_of: dict[str, int] = {}
    for group, line in tables()["crates/core"]:
        for name in names_in(line.split("|")[1]):
            group_of.setdefault(name.split("/")[0], group)
    source = "crates/core/src"
    root_text = without_tests((ROOT / source / "lib.rs").read_text())
    exported = {}
    for module, names in re.findall(r"pub use (\w+)(?:::\w+)*::(\{[^}]*\}|\w+)", root_text):
        exported |= {name: module for name in re.findall(r"\w+", names)}
    for path in tracked(f"{source}/*.rs"):
        own = path.removeprefix(f"{source}/").split("/")[0].removesuffix(".rs")
        if own in NOT_MODULES or own not in group_of:
            continue
        text = without_tests((ROOT / path).read_text())
        for match in CRATE_PATH.finditer(text):
            for name in first_names(text, match.end()):
                used = exported.get(name, name)
                if group_of.get(used, 0) > group_of[own]:
                    yield (
                        f"{path}:{line_of(text, match.start())}: `{own}` uses `{name}` of `{used}`, which is below it "
                        f"in {MAP}. Move what is shared up, or the row of a module."
                    )


def first_names(text: str, place: int) -> list[str]:
    """The names right after `crate::`, one or those in braces."""
    if text[place] != "{":
        match = re.match(r"\w+", text[place:])
        return [match[0]] if match else []
    inner = text[place + 1 : closing_brace(text, place) - 1]
    while re.search(r"\{[^{}]*\}", inner):
        inner = re.sub(r"\{[^{}]*\}", "", inner)
    return [match[1] for part in inner.split(",") if (match := re.match(r"\s*(\w+)", part))]


def shared_type_names() -> Iterator[str]:
    """Names of structs, enums and traits that are defined more than once."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in tracked("crates/*/src/**/*.rs", "crates/*/src/*.rs", "python/src/*.rs"):
        text = without_tests((ROOT / path).read_text())
        for match in re.finditer(r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait) (\w+)", text, re.MULTILINE):
            places[match[1]].append(f"{path}:{line_of(text, match.start(1))}")
    shared = {name: where for name, where in sorted(places.items()) if len(where) > 1}
    print(f"{len(shared)} type names are defined more than once (at most {MAX_SHARED_TYPE_NAMES})")
    if len(shared) > MAX_SHARED_TYPE_NAMES:
        for name, where in shared.items():
            yield f"{where[0]}: `{name}` is also defined at {', '.join(where[1:])}. Give one of them its own name."


def modules_on_the_map() -> Iterator[str]:
    rows = tables()
    for crate in sorted({path.split("/src/")[0] for path in tracked("crates/*/src/*.rs", "python/src/*.rs")}):
        named = {name for _, line in rows[crate] for name in names_in(line)}
        for module, path in modules(crate):
            if module not in named:
                yield f"{path}:1: `{module}` is not on the map. Add it to a row of {crate} in {MAP}."


def modules(crate: str) -> Iterator[tuple[str, str]]:
    """Modules that must be on the map, with a file of each."""
    seen = {}
    for path in tracked(f"{crate}/src/*.rs", f"{crate}/src/**/*.rs"):
        parts = path.removeprefix(f"{crate}/src/").removesuffix(".rs").split("/")
        seen.setdefault(parts[0], path)
        if crate == "crates/core" and parts[0] in DETAILED and len(parts) > 1 and parts[1] not in NOT_MODULES:
            seen.setdefault("/".join(parts[:2]), path)
    yield from ((module, path) for module, path in seen.items() if module not in NOT_MODULES)


def long_lines() -> Iterator[str]:
    for path in tracked("*.rs", "*.py"):
        for number, line in enumerate((ROOT / path).read_text().splitlines(), 1):
            if len(line) > MAX_COLUMNS:
                yield f"{path}:{number}: {len(line)} columns; wrap it at {MAX_COLUMNS} or less."


def main() -> int:
    faults = 0
    for guard in (module_order, shared_type_names, modules_on_the_map, long_lines):
        found = list(guard())
        faults += len(found)
        print("\n".join(found) if found else f"{guard.__name__.replace('_', ' ')}: fine")
    if faults:
        print(f"{faults} faults")
    return int(faults > 0)


if __name__ == "__main__":
    sys.exit(main())
