"""Files of a run: written so that an interruption loses nothing."""

import json
import os
import subprocess

from . import sets


def replace(path, text):
    """Writes beside and renames."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text)
    os.replace(beside, path)


def append(path, row):
    """A line of JSON, on the disk when this returns; on a line of its own even after a line that was cut short."""
    with open(path, "ab+") as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            if file.read(1) != b"\n":
                file.write(b"\n")
        file.write(json.dumps(row).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read(path):
    """The rows there are; one that was cut short is left out."""
    rows = []
    if path.exists():
        for line in path.read_text().splitlines():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                pass
    return rows


def commit():
    """Of the code that runs."""
    command = ["git", "describe", "--always", "--dirty"]
    return subprocess.run(command, cwd=sets.ROOT, capture_output=True, text=True).stdout.strip()
