"""Hostile words, names, tables and files."""

import json
import os
import struct
import zlib

import numpy as np

COMMANDS = [
    "fit", "predict", "certify", "evaluate", "select", "theta", "report", "methods", "model", "data", "explain", "man",
    "completions", "help", "demo",
]
NAMES = [
    "<script>alert(1)</script>", "</script><script>alert(1)//", "\"><img src=x onerror=alert(1)>", "'; DROP TABLE x; --",
    "javascript:alert(1)", "{{7*7}}", "{% raw %}", "${x}", "%s%n", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x08\x08", "\x7f",
    "a\tb", "=1+1", "@SUM(A1)", "-1", "+1", "", " ", "  x  ", "NA", "nan", "None", "null", "true", "1e400", "0", "00", "1.0",
    "\u202egnp.exe", "\u200b", "\ufeff", "ﷺ", "👩‍👩‍👧", "a\u0301", "á", "İ", "ß", "x" * 300, "é" * 2000, "..", "../../etc/passwd", "/dev/null",
    "a/b", "a\\b", "a,b", "a;b", "a\"b", "a'b", "a|b", "a&b", "a<b", "a>b", "a=b", "a:b", "a*b", "a?b", "[a]", "a]]>b", "<!--", "-->", "&amp;",
    "\r", "line\nbreak", "#", "//", "task", "y", "x0", "x0=a", "(missing)", "x=(other)", "common", "own", "CON", "\ud7ff", "\U0010ffff",
]
NUMBERS = [
    "0", "-0", "1", "-1", "2", "1e308", "-1e308", "1e309", "1e-320", "nan", "NaN", "inf", "-inf", "18446744073709551615", "18446744073709551616",
    "9223372036854775808", "4294967296", "1e18", "0.1", "1e-18", "0x10", "1_000", "1,5", "٣", "", " ", "1 ", "--1", "1e", "9" * 400, "100000",
]
TEXTS = [
    "auto", "none", "free", "ridge:0", "ridge:-1", "ridge:nan", "ridge:1e308", "ridge:1e-308", "strength:0", "strength:nan", "strength:1e308",
    "strength:1e-308", "rbf", "rbf:0", "rbf:-1", "rbf:1e308", "rbf:nan", "polynomial:0", "polynomial:1000", "polynomial:2,1e308,1e308",
    "polynomial:-1", "laplacian:1e-308", "cosine", "precomputed", "linear", "squared", "hinge", "huber:0", "huber:-1", "huber:1e308", "quantile:0",
    "quantile:1", "quantile:2", "epsilon:-1", "epsilon:1e308", "smoothed_hinge:0", "logistic,hinge", "squared," * 40 + "squared", "kin", "stl", "fmtl",
    "fmtl:k=0", "fmtl:k=65", "fmtl:k=1.5", "fmtl:output=fixed", "fmtl:output=fixed,theta=[[1]]", "fmtl:output=fixed,theta=[[nan]]",
    "fmtl:output=series,coefficients=[-1]", "fmtl:output=series,coefficients=[1e308,1e308]", "fmtl:theta=m.st", "fmtl:prior=d.csv", "kin:common=-1",
    "kin:common=1e300", "mtl:mu=0", "cmtl:clusters=0", "cmtl:clusters=1000000", "gmtl:groups=0", "gmtl:restarts=1000000", "mtfl:largest=12", "mtrl:l1=1e9",
    "kin:" + ",".join(["k=1"] * 50), "group:task", "time:x0", "group:", "time:nowhere", ":", "=", ",", ",,,", "task", "y", "x0", "x*", "*", "**", "?", "[",
    "month", "dmy", "mean", "drop", "error", "balanced", "standard", "unit", "spread", "groups=g.csv:g", "groups=g.csv", "matrix=g.csv", "graph=g.csv",
    "distance=d.csv", "tree=g.csv", "features=g.csv", "groups=missing.csv:g,weight=-1", "common,weight=1e300", "common,weight=nan", "own,name=common",
    "4GB", "1B", "0", "99999999999GB", "1e30GB", "-1GB", "accuracy", "top-0", "top-99999999999", "pooled-r2", "r2,auc", "k=", "k=1,2,x", "strength=", "c=",
    "0.5", "0.9", "1.0", "0", "k=1", "strength=0.1,1", "true", "false", "csv", "json",
]
OPTIONS = [
    "--task", "--target", "--features", "--drop", "--keep", "--one-hot", "--max-levels", "--missing", "--missing-word", "--date-parts", "--date-order",
    "--decimal", "--weight", "--offset", "--split-column", "--classes", "--zero-based", "--dense", "--method", "--output", "--k", "--theta", "--prior",
    "--c", "--spec", "--split", "--folds-by", "--loss", "--lambda", "--target-scale", "--class-weight", "--atom", "--kernel", "--gamma", "--degree",
    "--coef0", "--scale", "--intercept", "--bias", "--solver", "--tol", "--max-passes", "--max-seconds", "--memory", "--checkpoint",
    "--checkpoint-every", "--resume", "--json", "-q", "-v", "-vv", "--force", "--threads", "--seed", "-o", "--trace", "--strict", "--select", "--results",
    "--folds", "--repeats", "--splits", "--train-share", "--grid", "--metric", "--compare", "--whole-tasks", "--scored", "--labels", "--proba",
    "--interval", "--unknown-task", "--correlation", "--svg", "--parts", "--weighted", "--tasks", "--rows", "--groups", "--noise", "--kind", "--help",
    "--no-such-option", "--", "-",
]
OUTPUT_OPTIONS = {"-o", "--trace", "--checkpoint", "--results", "--svg"}


def any_of(rng, values):
    return values[rng.integers(len(values))]


def some_bytes(rng):
    return any_of(rng, [b"", b"x,y\n1,2\n3,4\n", b"\x00" * 100, b"\xff\xfe1\n", bytes(rng.integers(0, 256, 200, dtype=np.uint8))])


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def table_of_names(rng):
    """A csv file of three tasks with hostile names, two columns of numbers and one of words."""
    tasks = [any_of(rng, NAMES) + any_of(rng, ["", str(place)]) for place in range(3)]
    columns = [any_of(rng, NAMES) for _ in range(2)]
    words = [any_of(rng, NAMES) for _ in range(3)]
    lines = [",".join(map(quoted, ["task", "y", *columns, any_of(rng, NAMES)]))]
    for row in range(18):
        lines.append(",".join([quoted(tasks[row % 3]), *(repr(float(v)) for v in rng.normal(size=3)), quoted(words[row % 3])]))
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
            "empty.csv": b"", "head.csv": b"a,b,c\n", "zeros.csv": b"\x00" * 5000, "wide.csv": b",".join([b"x"] * 20000) + b"\n1\n",
            "spec.toml": b'method = "kin"\nc = 1.0\n', "spec.json": b'{"method": "kin", "c": 1.0}', "odd name;$(id).csv": b"a,b\n1,2\n",
            "p.svm": b"1 qid:1 1:0.5 3:2\n-1 qid:2 2:1\n1 qid:1 1:1\n-1 qid:2 3:1\n",
        }
        self.restore()
        for words in (
            ["data", "convert", "d.csv", "d.npz", "--task", "task", "--target", "y"],
            ["data", "convert", "d.csv", "d.parquet", "--task", "task", "--target", "y"],
            ["fit", "d.csv", "--task", "task", "--target", "y", "-o", "m.st", "--c", "1", "--trace", "t.csv"],
            ["fit", "d.csv", "--task", "task", "--target", "y", "-o", "k.st", "--c", "1", "--kernel", "rbf"],
            ["fit", "d.npz", "-o", "n.st", "--c", "1", "--checkpoint", "c.st", "--checkpoint-every", "0"],
            ["select", "d.csv", "--task", "task", "--target", "y", "--method", "stl,fmtl", "--grid", "strength=1", "--results", "r.json"],
        ):
            code, _, said = worker.run([*words, "--quiet"])
            if code != 0:
                raise RuntimeError(f"{words}: {said}")
        self.files = {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file() and not path.is_symlink()}

    def restore(self):
        for name, content in self.files.items():
            path = self.folder / name
            if path.is_symlink() or not path.exists() or path.read_bytes() != content:
                path.unlink(missing_ok=True)
                path.write_bytes(content)
        for name, target in (("link.csv", "d.csv"), ("dangling.csv", "nowhere"), ("loop", "loop"), ("zero", "/dev/zero")):
            path = self.folder / name
            if not path.is_symlink():
                os.symlink(target, path)


def path(rng, place):
    return any_of(rng, [*place.files, "link.csv", "dangling.csv", "loop", "zero", "sub", ".", "/", "", "missing.csv", "sub/new.csv", "./d.csv",
                        "sub/../d.csv", "new.st", "new.csv", "new.npz", "new.html", "new.parquet", "*.csv", "/dev/null", "/dev/full", "/proc/self/mem",
                        "x" * 300, "new\n.csv", "-", "d.csv/inside", "/nowhere/x.st"])


def value(rng, place):
    kind = rng.random()
    if kind < 0.3:
        return any_of(rng, NUMBERS)
    if kind < 0.65:
        return any_of(rng, TEXTS)
    return path(rng, place) if kind < 0.85 else any_of(rng, NAMES)


STARTS = [
    ["fit", "d.csv", "--task", "task", "--target", "y", "-o", "o.st"], ["fit", "d.npz", "-o", "o.st"], ["fit", "d.parquet", "--task", "task", "--target", "y", "-o", "o.st"],
    ["select", "d.csv", "--task", "task", "--target", "y", "-o", "o.st", "--method", "stl", "--grid", "strength=1"], ["predict", "m.st", "d.csv"],
    ["predict", "m.st", "d.csv", "-o", "o.csv"], ["certify", "m.st", "d.csv"], ["evaluate", "m.st", "d.csv"], ["theta", "m.st"], ["report", "m.st", "-o", "o.html"],
    ["report", "m.st", "d.csv", "--trace", "t.csv", "--select", "r.json", "-o", "o.html"], ["model", "show", "m.st"], ["model", "coef", "m.st"], ["data", "info", "d.csv"],
    ["data", "convert", "d.csv", "o.npz"], ["data", "generate", "o.csv"], ["methods"], ["explain"], ["fit", "d.csv", "--spec", "spec.toml", "-o", "o.st", "--task", "task", "--target", "y"],
    ["fit", "p.svm", "-o", "o.st"], ["certify", "k.st", "d.csv"], ["predict", "k.st", "d.csv"],
]


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
    may_write |= {name.removeprefix("./").removeprefix("sub/../") for name in may_write} if "--force" in start else may_write
    own = {"m.st", "k.st", "n.st", "c.st", "t.csv", "r.json"}  # of kinfolk: they are replaced by files of the same kind
    allowed = may_write if "--force" in start else may_write & own
    if "--force" in start and start[:2] == ["data", "convert"] or start[:2] == ["data", "generate"] and "--force" in start:
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
            data[place:place] = any_of(rng, [b"\x00", b"\xff", b"1e999", b"\n", b"\"", b"-", b"{", b"[", b"nan", b",", b"99999999999999999999", "ä".encode("latin-1")])
        else:
            end = min(len(data), place + 8)
            data[place:end] = struct.pack("<d", float(any_of(rng, [np.nan, np.inf, 1e308, -1.0, 0.0, 5e-324])))[: end - place]
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


USES = {
    "m.st": [["predict", "m.st", "d.csv"], ["certify", "m.st", "d.csv"], ["theta", "m.st"], ["report", "m.st", "-o", "o.html"], ["model", "show", "m.st"],
             ["evaluate", "m.st", "d.csv"], ["model", "coef", "m.st"], ["predict", "m.st", "d.csv", "--interval", "0.9"], ["model", "show", "m.st", "--spec"]],
    "k.st": [["predict", "k.st", "d.csv"], ["certify", "k.st", "d.csv"], ["theta", "k.st", "--correlation"]],
    "d.csv": [["fit", "d.csv", "--task", "task", "--target", "y", "-o", "o.st", "--c", "1"], ["data", "info", "d.csv"], ["predict", "m.st", "d.csv", "-o", "o.csv"],
              ["data", "convert", "d.csv", "o.npz"]],
    "d.npz": [["fit", "d.npz", "-o", "o.st", "--c", "1"], ["data", "info", "d.npz"]],
    "d.parquet": [["fit", "d.parquet", "--task", "task", "--target", "y", "-o", "o.st", "--c", "1"], ["data", "info", "d.parquet"]],
    "p.svm": [["fit", "p.svm", "-o", "o.st", "--c", "1"]],
    "g.csv": [["fit", "d.csv", "--task", "task", "--target", "y", "-o", "o.st", "--c", "1", "--method", "fmtl", "--atom", "groups=g.csv:g"]],
    "spec.toml": [["fit", "d.csv", "--spec", "spec.toml", "--task", "task", "--target", "y", "-o", "o.st"]],
    "spec.json": [["fit", "d.csv", "--spec", "spec.json", "--task", "task", "--target", "y", "-o", "o.st"]],
    "c.st": [["fit", "d.npz", "-o", "o.st", "--c", "1", "--checkpoint", "c.st", "--resume"]],
    "t.csv": [["report", "m.st", "--trace", "t.csv", "-o", "o.html"]],
    "r.json": [["report", "m.st", "--select", "r.json", "-o", "o.html"]],
}


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
            data[place : place + 8] = struct.pack("<d", float(any_of(rng, [np.nan, np.inf, 1e308, -1.0, 0.0, 5e-324, 1e-200])))
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
        tree[key] = any_of(rng, [None, True, 0, -1, 1e308, 1e-308, 2**63, 2**64, 10**30, "", "x", "free", [], {}, [1, 2], "\x1b[31m", "<b>", float("nan"), "a" * 5000])
        return
