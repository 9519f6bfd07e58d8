"""Readers against other software: random files, read by `kinfolk data convert` and by pandas, numpy and pyarrow.

    python benches/reliability/readers.py --command target/release/kinfolk --seconds 600 --out readers.json

The same numbers to the last bit, the same words, the same rows. Formats whose peer is not installed are left out.
"""

import common
import csv
import gzip
import io
import json
import warnings

import numpy as np
import pandas as pd

try:
    import pyarrow
    import pyarrow.feather
    import pyarrow.parquet
except ImportError:
    pyarrow = None

warnings.simplefilter("ignore")
# What cannot be read, and says so with a cure.
KNOWN_REFUSALS = ["compressed with zstd; write it again with compression lz4"]
WORDS = ["red", "green", "dark blue", "Zoë", "x;y", "a,b", 'say "hi"', "O'Neil", "<b>", "ok"]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def any_of(rng, values):
    return values[rng.integers(len(values))]


def numbers(rng, rows):
    """A column of floating-point numbers of some kind."""
    kind = rng.integers(6)
    values = rng.normal(size=rows)
    if kind == 0:
        return np.round(values * 1000) / 8
    if kind == 1:
        return values * 10.0 ** rng.integers(-300, 300)
    if kind == 2:
        return np.round(values * 50)
    if kind == 3:
        return 10.0 ** rng.uniform(-12, 12, rows)
    if kind == 4:
        return np.frombuffer(rng.bytes(8 * rows), np.float64).copy()  # any bits
    return values


def table(rng, typed):
    """A frame: columns of numbers, some with gaps, and columns of words; y is last."""
    rows = int(rng.integers(1, 60))
    frame = {}
    for place in range(rng.integers(1, 6)):
        values = numbers(rng, rows)
        values[~np.isfinite(values)] = 0.5
        if typed and rng.random() < 0.4:
            kind = any_of(rng, INTEGERS)
            about = np.iinfo(kind)
            values = rng.integers(about.min, about.max, rows, dtype=kind, endpoint=True)
        elif typed and rng.random() < 0.2:
            values = values.astype("float32")
            values[~np.isfinite(values)] = 0.5
        elif typed and rng.random() < 0.1:
            values = rng.random(rows) < 0.5
        elif rng.random() < 0.3:
            values = np.where(rng.random(rows) < 0.2, np.nan, values)
            if np.isnan(values).all():
                values[:] = 1.0
        frame[f"x{place}"] = values
    if rng.random() < 0.4 and rows >= 8:
        words = [any_of(rng, WORDS) for _ in range(3)]
        frame["w"] = [words[row % 3] if row < 6 else any_of(rng, words) for row in range(rows)]
    frame["y"] = rng.normal(size=rows)
    return pd.DataFrame(frame)


# --- writers: a file and the frame that the peer reads from it ---


def as_csv(rng, frame, path):
    separator, decimal = any_of(rng, [(",", "."), (";", "."), ("\t", "."), (";", ","), ("|", ".")])
    buffer = io.StringIO()
    frame.to_csv(
        buffer,
        index=False,
        sep=separator,
        decimal=decimal,
        lineterminator=any_of(rng, ["\n", "\r\n"]),
        quoting=any_of(rng, [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC]),
        na_rep=any_of(rng, ["", "NA", "nan"]),
        float_format=any_of(rng, [None, None, "%.17g", "%.6e", "%.3f"]),
    )
    data = any_of(rng, ["", "\ufeff"]).encode() + buffer.getvalue().encode() + any_of(rng, [b"", b"\n"])
    if rng.random() < 0.3:
        path = path.with_name(path.name + ".gz")
        path.write_bytes(gzip.compress(data))
    else:
        path.write_bytes(data)
    # Words such as "NA" are none of the words above.
    peer = pd.read_csv(
        io.BytesIO(data), sep=separator, decimal=decimal, float_precision="round_trip", encoding="utf-8-sig"
    )
    return path, peer, ["--decimal", decimal]


def as_jsonl(rng, frame, path):
    text = frame.to_json(orient="records", lines=True, double_precision=15, force_ascii=bool(rng.random() < 0.5))
    path.write_text(text)
    rows = [json.loads(line) for line in text.splitlines() if line]
    return path, pd.DataFrame(rows), []


def as_npy(rng, frame, path):
    kind = any_of(
        rng,
        [
            "<f8",
            "<f4",
            ">f8",
            ">f4",
            "<f2",
            "|b1",
            *(f"{end}{kind}" for end in "<>" for kind in ("i2", "i4", "i8", "u4", "u8")),
        ],
    )
    rows, columns = int(rng.integers(1, 40)), int(rng.integers(1, 6))
    values = rng.normal(size=(rows, columns)) * 100
    values = (rng.integers(0, 2**63, (rows, columns)) if kind[1:] in ("i8", "u8") else abs(values)).astype(kind)
    array = np.asfortranarray(values) if rng.random() < 0.3 else values
    np.save(path, array)
    again = np.load(path)
    return path, pd.DataFrame(again.astype(float), columns=[f"x{place}" for place in range(columns)]), None


def as_npz(rng, frame, path):
    rows = len(frame)
    x = np.stack([np.nan_to_num(np.asarray(frame[name], float)) for name in frame if name not in ("w", "y")], axis=1)
    x = x.astype(any_of(rng, ["<f8", "<f8", ">f8"]))
    (np.savez_compressed if rng.random() < 0.5 else np.savez)(path, X=x, y=frame["y"], task=np.arange(rows) % 2)
    again = np.load(path)
    return (
        path,
        pd.DataFrame(again["X"].astype(float)).rename(columns=lambda place: f"x{place}").assign(y=again["y"]),
        None,
    )


def as_parquet(rng, frame, path):
    arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
    pyarrow.parquet.write_table(
        arrow,
        path,
        compression=any_of(rng, ["none", "snappy", "gzip", "zstd", "lz4"]),
        use_dictionary=bool(rng.random() < 0.5),
        data_page_version=any_of(rng, ["1.0", "2.0"]),
        row_group_size=int(rng.integers(1, 80)),
        data_page_size=int(rng.integers(64, 4096)),
        version=any_of(rng, ["1.0", "2.4", "2.6"]),
    )
    return path, pyarrow.parquet.read_table(path).to_pandas(), []


def as_arrow(rng, frame, path):
    arrow = pyarrow.Table.from_pandas(frame, preserve_index=False)
    if rng.random() < 0.5:
        pyarrow.feather.write_feather(
            arrow, path, compression=any_of(rng, ["lz4", "zstd", "uncompressed"]), chunksize=int(rng.integers(1, 80))
        )
    else:
        with pyarrow.OSFile(str(path), "wb") as sink, pyarrow.ipc.new_file(sink, arrow.schema) as writer:
            writer.write_table(arrow, max_chunksize=int(rng.integers(1, 80)))
    return path, frame, []


FORMATS = {"csv": as_csv, "jsonl": as_jsonl, "npy": as_npy, "npz": as_npz}
if pyarrow:
    FORMATS |= {"parquet": as_parquet, "arrow": as_arrow}


def expected_columns(peer):
    """What the command must make of a frame, by the rules of docs/command.md: gaps are zero, words are features."""
    found = {}
    for name in peer:
        if name == "y":
            continue
        if not pd.api.types.is_numeric_dtype(peer[name]):
            for word in peer[name].unique():
                found[f"{name}={word}"] = (peer[name] == word).to_numpy(float)
        else:
            found[name] = np.nan_to_num(peer[name].to_numpy(float))
    return found


def differences(peer, out, named):
    """What the converted file has otherwise than the peer."""
    x = out["X"]
    names = (
        [str(name) for name in out["feature_names"]]
        if "feature_names" in out
        else [f"x{place}" for place in range(x.shape[1])]
    )
    if named and "feature_names" not in out:
        return ["there are no names"]
    wanted = expected_columns(peer)
    wrong = [f"{name} is missing" for name in set(wanted) - set(names)]
    wrong += [f"{name} is new" for name in set(names) - set(wanted) if not name.endswith("=(missing)")]
    for place, name in enumerate(names):
        if name in wanted and not np.array_equal(x[:, place], wanted[name]):
            row = int(np.flatnonzero(x[:, place] != wanted[name])[0]) if len(x) == len(wanted[name]) else -1
            wrong.append(f"{name}, row {row}: {x[row, place]!r} and not {wanted[name][row]!r}")
    if "y" in peer and not np.array_equal(out["y"], peer["y"].to_numpy(float)):
        wrong.append("y differs")
    return wrong


def work(worker):
    rng = worker.rng
    while worker.alive():
        kind = any_of(rng, list(FORMATS))
        for old in worker.folder.iterdir():
            old.unlink()
        frame = table(rng, kind in ("parquet", "arrow"))
        path, peer, options = FORMATS[kind](rng, frame, worker.folder / f"d.{kind}")
        named = options is not None
        target = "npy" if kind == "npy" else "npz"
        words = ["data", "convert", path.name, f"out.{target}", "--dense", "--quiet"]
        words += ["--target", "y", "--missing", "zero", *options] if named else []
        code, _, said = worker.run(words)
        worker.count("files", kind)
        about = {
            "format": kind,
            "words": words,
            "said": said[-400:],
            "first_bytes": path.read_bytes()[:600].decode("latin-1"),
        }
        if bad := worker.bad_end(code, said):
            worker.finding(bad, **about)
        elif code != 0:
            worker.count("refused", kind, said.strip().split(": ")[-1][:60])
            if not any(known in said for known in KNOWN_REFUSALS):
                worker.finding("refused", **about)
        else:
            out = np.load(worker.folder / f"out.{target}")
            wrong = differences(peer, {"X": out} if kind == "npy" else out, named)
            for one in wrong[:3]:
                worker.finding("differs", difference=one, **about)
            worker.count("numbers compared", kind)
            worker.counts[f"cells/{kind}"] += int(np.size(out if kind == "npy" else out["X"]))


if __name__ == "__main__":
    common.main(work, common.parser(__doc__).parse_args())
