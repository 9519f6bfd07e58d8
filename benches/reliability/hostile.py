"""Hostile words, names, tables and files."""

import json
import os
import pathlib
import shlex
import struct
import zlib

import numpy as np

LISTS = json.loads(pathlib.Path(__file__).with_suffix(".json").read_text())
COMMANDS, NUMBERS, TEXTS, NAMES, OPTIONS = (
    LISTS[name] for name in ("COMMANDS", "NUMBERS", "TEXTS", "NAMES", "OPTIONS")
)
# Long ones.
NUMBERS = [*NUMBERS, "9" * 400]
TEXTS = [*TEXTS, "squared," * 40 + "squared", "kin:" + ",".join(["k=1"] * 50)]
NAMES = [*NAMES, "x" * 300, "\u00e9" * 2000]
STARTS = [shlex.split(words) for words in LISTS["STARTS"]]
# What a file is read by.
USES = {name: [shlex.split(words) for words in uses] for name, uses in LISTS["USES"].items()}
OUTPUT_OPTIONS = {"-o", "--trace", "--checkpoint", "--results", "--svg"}


def any_of(rng, values):
    return values[rng.integers(len(values))]


def some_bytes(rng):
    return any_of(
        rng, [b"", b"x,y\n1,2\n3,4\n", b"\x00" * 100, b"\xff\xfe1\n", bytes(rng.integers(0, 256, 200, dtype=np.uint8))]
    )


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def table_of_names(rng):
    """A csv file of three tasks with hostile names, two columns of numbers and one of words."""
    tasks = [any_of(rng, NAMES) + any_of(rng, ["", str(place)]) for place in range(3)]
    columns = [any_of(rng, NAMES) for _ in range(2)]
    words = [any_of(rng, NAMES) for _ in range(3)]
    lines = [",".join(map(quoted, ["task", "y", *columns, any_of(rng, NAMES)]))]
    for row in range(18):
        lines.append(
            ",".join([quoted(tasks[row % 3]), *(repr(float(v)) for v in rng.normal(size=3)), quoted(words[row % 3])])
        )
    return ("\n".join(lines) + "\n").encode("utf-8", "surrogatepass"), tasks


class Place:
    """A folder with good files and strange ones; they are put back after each try."""

    def __init__(self, worker):
        self.worker, self.folder = worker, worker.folder
        rng = np.random.default_rng(1)
        rows = [f"t{row % 3},{row % 2},{row},{rng.normal()!r},{any_of(rng, ['u', 'v', ''])}" for row in range(24)]
        self.files = {
            "d.csv": ("task,y,day,x0,w\n" + "\n".join(rows) + "\n").encode(),
            "g.csv": b"task,g\nt0,a\nt1,a\nt2,b\n",
            "\udcff.csv": b"a,b\n1,2\n3,5\n",  # a name that is not UTF-8
            "empty.csv": b"",
            "head.csv": b"a,b,c\n",
            "zeros.csv": b"\x00" * 5000,
            "wide.csv": b",".join([b"x"] * 20000) + b"\n1\n",
            "spec.toml": b'method = "kin"\nc = 1.0\n',
            "spec.json": b'{"method": "kin", "c": 1.0}',
            "odd name;$(id).csv": b"a,b\n1,2\n",
            "p.svm": b"1 qid:1 1:0.5 3:2\n-1 qid:2 2:1\n1 qid:1 1:1\n-1 qid:2 3:1\n",
        }
        self.restore()
        for words in (
            ["data", "convert", "d.csv", "d.npz", "--task", "task", "--target", "y"],
            ["data", "convert", "d.csv", "d.parquet", "--task", "task", "--target", "y"],
            ["fit", "d.csv", "--task", "task", "--target", "y", "-o", "m.st", "--c", "1", "--trace", "t.csv"],
            ["fit", "d.csv", "--task", "task", "--target", "y", "-o", "k.st", "--c", "1", "--kernel", "rbf"],
            ["fit", "d.npz", "-o", "n.st", "--c", "1", "--checkpoint", "c.st", "--checkpoint-every", "0"],
            [
                "select",
                "d.csv",
                "--task",
                "task",
                "--target",
                "y",
                "--method",
                "stl,fmtl",
                "--grid",
                "strength=1",
                "--results",
                "r.json",
            ],
        ):
            code, _, said = worker.run([*words, "--quiet"])
            if code != 0:
                raise RuntimeError(f"{words}: {said}")
        self.files = {
            path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file() and not path.is_symlink()
        }

    def restore(self):
        for name, content in self.files.items():
            path = self.folder / name
            if path.is_symlink() or not path.exists() or path.read_bytes() != content:
                path.unlink(missing_ok=True)
                path.write_bytes(content)
        for name, target in (
            ("link.csv", "d.csv"),
            ("dangling.csv", "nowhere"),
            ("loop", "loop"),
            ("zero", "/dev/zero"),
        ):
            path = self.folder / name
            if not path.is_symlink():
                os.symlink(target, path)


def path(rng, place):
    return any_of(rng, [*place.files, *LISTS["PATHS"], "x" * 300])


def value(rng, place):
    kind = rng.random()
    if kind < 0.3:
        return any_of(rng, NUMBERS)
    if kind < 0.65:
        return any_of(rng, TEXTS)
    return path(rng, place) if kind < 0.85 else any_of(rng, NAMES)


def words(rng, place):
    """A command that is right in most places; and the files that it may write."""
    start = list(any_of(rng, STARTS)) if rng.random() < 0.9 else [any_of(rng, COMMANDS)]
    if start[0] in ("fit", "select") and "--c" not in start and rng.random() < 0.7:
        start += ["--c", "1"] if start[0] == "fit" else []
    for _ in range(rng.integers(1, 4)):
        kind = rng.random()
        if kind < 0.55:
            option = any_of(rng, OPTIONS)
            start += [option] if rng.random() < 0.25 else [option, value(rng, place)]
        elif kind < 0.75 and len(start) > 1:
            start[rng.integers(1, len(start))] = value(rng, place)
        elif kind < 0.85:
            start.append(value(rng, place))
        elif kind < 0.9 and len(start) > 2:
            del start[rng.integers(1, len(start))]
        else:
            start += ["--json"]
    start = [word.replace("\x00", "") for word in start]
    # Numbers that ask for much work are no attack; they get what they ask for.
    may_write = {start[place + 1] for place in range(len(start) - 1) if start[place] in OUTPUT_OPTIONS}
    may_write |= (
        {name.removeprefix("./").removeprefix("sub/../") for name in may_write} if "--force" in start else may_write
    )
    own = {"m.st", "k.st", "n.st", "c.st", "t.csv", "r.json"}  # of kinfolk: they are replaced by files of the same kind
    allowed = may_write if "--force" in start else may_write & own
    if (
        "--force" in start
        and start[:2] == ["data", "convert"]
        or start[:2] == ["data", "generate"]
        and "--force" in start
    ):
        allowed |= set(start)
    return start, allowed


def broken(rng, content):
    """Some bytes changed, removed, repeated or cut."""
    data = bytearray(content)
    for _ in range(rng.integers(1, 4)):
        if not data:
            break
        place, kind = int(rng.integers(len(data))), rng.integers(6)
        if kind == 0:
            data[place] = int(rng.integers(256))
        elif kind == 1:
            del data[place : place + int(rng.integers(1, 50))]
        elif kind == 2:
            data[place:place] = data[place : place + int(rng.integers(1, 50))]
        elif kind == 3:
            data = data[:place]
        elif kind == 4:
            data[place:place] = any_of(
                rng,
                [
                    b"\x00",
                    b"\xff",
                    b"1e999",
                    b"\n",
                    b'"',
                    b"-",
                    b"{",
                    b"[",
                    b"nan",
                    b",",
                    b"99999999999999999999",
                    "ä".encode("latin-1"),
                ],
            )
        else:
            end = min(len(data), place + 8)
            data[place:end] = struct.pack("<d", float(any_of(rng, [np.nan, np.inf, 1e308, -1.0, 0.0, 5e-324])))[
                : end - place
            ]
    return bytes(data)


def repaired(content):
    """A model file with checksums that fit again, where it can still be read."""
    try:
        (length,) = struct.unpack("<Q", content[:8])
        header = json.loads(content[8 : 8 + length])
        outer = json.loads(header["__metadata__"]["kinfolk"])
        start = 8 + length
        for name, one in header.items():
            if name != "__metadata__":
                first, last = one["data_offsets"]
                outer["tensors"][name] = zlib.crc32(content[start + first : start + last])
        for name in ("about", "attachments"):
            text = json.dumps(outer[name], separators=(",", ":"), ensure_ascii=False)
            outer[f"{name}_crc32"] = zlib.crc32(text.encode())
        header["__metadata__"]["kinfolk"] = json.dumps(outer, separators=(",", ":"), ensure_ascii=False)
        text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
        return struct.pack("<Q", len(text)) + text + content[start:]
    except (ValueError, KeyError, TypeError, AttributeError, struct.error, IndexError):
        return content


def with_broken_file(rng, place):
    name = any_of(rng, list(USES))
    content = broken(rng, place.files[name])
    if name in ("m.st", "k.st") and rng.random() < 0.8:
        content = repaired(content if rng.random() < 0.3 else changed_numbers(rng, place.files[name]))
    (place.folder / name).write_bytes(content)
    return name, list(any_of(rng, USES[name]))


def changed_numbers(rng, content):
    """A model file in which settings or numbers are others."""
    (length,) = struct.unpack("<Q", content[:8])
    header = json.loads(content[8 : 8 + length])
    outer = json.loads(header["__metadata__"]["kinfolk"])
    data = bytearray(content[8 + length :])
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.4:
            place = 8 * int(rng.integers(len(data) // 8))
            data[place : place + 8] = struct.pack(
                "<d", float(any_of(rng, [np.nan, np.inf, 1e308, -1.0, 0.0, 5e-324, 1e-200]))
            )
        else:
            change(rng, any_of(rng, [outer["about"], outer["attachments"], header]))
    header["__metadata__"] = {"kinfolk": json.dumps(outer)}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(data)


def change(rng, tree):
    """One value somewhere in a tree of JSON becomes another."""
    while True:
        keys = list(tree) if isinstance(tree, dict) else list(range(len(tree)))
        if not keys:
            return
        key = any_of(rng, keys)
        if isinstance(tree[key], (dict, list)) and tree[key] and rng.random() < 0.85:
            tree = tree[key]
            continue
        tree[key] = any_of(
            rng,
            [
                None,
                True,
                0,
                -1,
                1e308,
                1e-308,
                2**63,
                2**64,
                10**30,
                "",
                "x",
                "free",
                [],
                {},
                [1, 2],
                "\x1b[31m",
                "<b>",
                float("nan"),
                "a" * 5000,
            ],
        )
        return
