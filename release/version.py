"""One version everywhere.

    python3 release/version.py 0.2.0            sets it: Cargo.toml of all crates, CITATION.cff, CHANGELOG.md
    python3 release/version.py --check [0.2.0]  whether all places agree (and are this version)
    python3 release/version.py --notes 0.2.0    the section of CHANGELOG.md
"""

from __future__ import annotations

import argparse
import datetime
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
VERSION = r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.]+)?"


def places() -> list[tuple[pathlib.Path, re.Pattern[str]]]:
    """Files with the version, and where in them: the part between the two groups."""
    own = [(ROOT / "Cargo.toml", re.compile(rf'(\[workspace\.package\]\nversion = "){VERSION}(")'))]
    own.append((ROOT / "CITATION.cff", re.compile(rf"(^version: ){VERSION}($)", re.M)))
    for path in sorted([*ROOT.glob("crates/*/Cargo.toml"), ROOT / "python" / "Cargo.toml"]):
        own.append((path, re.compile(rf'(^kinfolk(?:-\w+)? = \{{ path = "[^"]*", version = "){VERSION}(")', re.M)))
    return own


def found() -> dict[str, set[str]]:
    """Versions and the files that have them."""
    versions: dict[str, set[str]] = {}
    for path, pattern in places():
        for match in pattern.finditer(path.read_text()):
            text = match[0][len(match[1]) : len(match[0]) - len(match[2])]
            versions.setdefault(text, set()).add(str(path.relative_to(ROOT)))
    return versions


def check(expected: str | None) -> int:
    versions = found()
    if len(versions) == 1 and (expected is None or expected in versions):
        print(f"version {next(iter(versions))} in {sum(map(len, versions.values()))} files")
        return 0
    for version, files in sorted(versions.items()):
        print(f"{version}: {', '.join(sorted(files))}", file=sys.stderr)
    print(f"expected {expected or 'one version'} everywhere", file=sys.stderr)
    return 1


def set_to(version: str) -> int:
    if not re.fullmatch(VERSION, version):
        print(f"{version!r} is not a version such as 0.2.0", file=sys.stderr)
        return 2
    for path, pattern in places():
        text = path.read_text()
        path.write_text(pattern.sub(rf"\g<1>{version}\g<2>", text))
    changes = ROOT / "CHANGELOG.md"
    text, day = changes.read_text(), datetime.datetime.now(datetime.UTC).date().isoformat()
    if f"## [{version}]" not in text:
        changes.write_text(text.replace("## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {day}\n", 1))
    print("now run `cargo update --workspace --offline` and look at `git diff`")
    return check(version)


def notes(version: str) -> int:
    text = (ROOT / "CHANGELOG.md").read_text()
    match = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", text, re.M | re.S)
    if match is None:
        print(f"CHANGELOG.md has no section [{version}]", file=sys.stderr)
        return 1
    print(match[1].strip())
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("version", nargs="?")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--notes", action="store_true")
    args = parser.parse_args()
    if args.check:
        return check(args.version)
    if args.version is None:
        parser.error("which version?")
    return notes(args.version) if args.notes else set_to(args.version)


if __name__ == "__main__":
    sys.exit(main())
