"""The paper's largest shape on a GPU: seconds of upload, fit and certificate, beside cupy's bare X'X, X'Y and eigh.

    cargo test --release -p kinfolk-gpu --no-run && cargo bench -p kinfolk-gpu --no-run
    python benches/gpu.py --largest PROGRAM [--agreement PROGRAM] [--command kinfolk] [--out DIR]

Needs a CUDA device, and cupy for the comparison. PROGRAM is what the two cargo commands name; both programs run on
machines without cargo. Writes raw.jsonl and prints tables.
"""

import argparse
import json
import pathlib
import statistics
import subprocess
import time

SHAPE = {"rows": 19_850, "features": 4_096, "tasks": 397}


def lines(command: list[str]) -> list[dict]:
    print("$", " ".join(command), flush=True)
    done = subprocess.run(command, capture_output=True, text=True)
    print(done.stdout[-3000:], done.stderr[-3000:], flush=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def cupy_seconds(repeats: int) -> dict:
    """Median seconds of X'X, X'Y and the eigenvectors of X'X, in double precision."""
    import cupy

    x = cupy.random.standard_normal((SHAPE["rows"], SHAPE["features"]))
    y = cupy.random.standard_normal((SHAPE["rows"], SHAPE["tasks"]))
    seconds: dict[str, list[float]] = {"xtx": [], "xty": [], "eigh": []}
    for _ in range(repeats + 1):
        for name, work in (
            ("xtx", lambda: x.T @ x),
            ("xty", lambda: x.T @ y),
            ("eigh", lambda: cupy.linalg.eigh(square)),
        ):
            cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            result = work()
            cupy.cuda.Device().synchronize()
            seconds[name].append(time.perf_counter() - start)
            if name == "xtx":
                square = result
    return {name: statistics.median(values[1:]) for name, values in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--largest", required=True)
    parser.add_argument("--agreement")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cpu", action="store_true", help="the processor too, once")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("."))
    args = parser.parse_args()
    shape = [str(n) for n in SHAPE.values()]
    if args.agreement:
        subprocess.run([args.agreement, "--nocapture", "--test-threads=1"])
    raw = []
    for losses in ([], ["others"]):
        raw += [{"place": "gpu"} | row for row in lines([args.largest, *shape, str(args.repeats), *losses])]
    if args.cpu:
        raw += [{"place": "cpu"} | row for row in lines([args.largest, *shape, "1", "cpu"])]
    try:
        raw.append({"place": "cupy"} | cupy_seconds(args.repeats))
        print(raw[-1])
    except ImportError:
        print("cupy is not installed: no comparison")
    (args.out / "raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in raw))
    cells: dict[tuple, list[dict]] = {}
    for row in raw:
        if "fit_seconds" in row:
            key = ("place", "loss", "tolerance", "k", "relative_c")
            cells.setdefault(tuple(row[name] for name in key), []).append(row)
    print(
        "| place | loss | tolerance | k | relative C | upload | fit | certificate again | fit, least to most | status "
        "| gap |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for (place, loss, tolerance, k, relative), rows in cells.items():
        median = {key: statistics.median(row[key] for row in rows) for key in rows[0] if key.endswith("_seconds")}
        fits = [row["fit_seconds"] for row in rows]
        print(
            f"| {place} | {loss} | {tolerance:g} | {k} | {relative:g} | {median['upload_seconds']:.3f} s "
            f"| {median['fit_seconds']:.3f} s "
            f"| {median['certificate_seconds']:.3f} s | {min(fits):.3f} to {max(fits):.3f} s "
            f"| {rows[0]['status']} | {max(row['gap'] for row in rows):.1e} |"
        )


if __name__ == "__main__":
    main()
