"""Runs the fuzz targets side by side for a time, and records how many executions each had.

    fuzz/build fuzz/target/any
    python benches/reliability/fuzz.py --program fuzz/target/any --seconds 600 --jobs 16 --out fuzz.json

Every target runs `jobs / targets` times at least once, with seeds of its own; corpora are kept in --corpus between
runs. A crash, a run out of memory or a hang is a finding, with the input that does it.
"""

import common
import base64
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = ROOT / "fuzz" / "seeds"
FIXTURES = ROOT / "crates" / "io" / "tests" / "fixtures"
# Targets without a folder of seeds of their own name.
SEEDS_OF = {"tsv": SEEDS / "csv", "parquet": FIXTURES, "page": SEEDS / "page"}
MOST_BYTES = {"parquet": 8192, "arrow": 8192, "model": 4096}
SECONDS_OF_A_HANG, MEMORY_MIB = 20, 2048


def targets(program):
    """The names that the program knows: it lists them if it is given none."""
    none = os.environ | {"KINFOLK_TARGET": ""}
    with tempfile.TemporaryDirectory() as folder:  # it takes the question for a crash, and writes a file about it
        said = subprocess.run([program, "-runs=0"], capture_output=True, text=True, env=none, cwd=folder)
    return re.search(r"must be one of ([\w, -]+)", said.stderr)[1].strip().split(", ")


def one(program, target, seed, seconds, folder, corpus):
    """Runs one target; its executions, edges covered and findings."""
    work = folder / f"{target}-{seed}"
    work.mkdir(parents=True)
    own = corpus / target
    own.mkdir(parents=True, exist_ok=True)
    seeds = SEEDS_OF.get(target, SEEDS / target)
    words = [
        program,
        own,
        *([seeds] if seeds.is_dir() else []),
        f"-max_total_time={int(seconds)}",
        f"-seed={seed + 1}",
        f"-max_len={MOST_BYTES.get(target, 1024)}",
        f"-timeout={SECONDS_OF_A_HANG}",
        f"-rss_limit_mb={MEMORY_MIB}",
        f"-artifact_prefix={work}/",
        "-print_final_stats=1",
        "-verbosity=1",
        "-reload=0",
    ]
    limits = {"KINFOLK_TARGET": target, "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
    start = time.monotonic()
    done = subprocess.run(words, capture_output=True, cwd=work, env=os.environ | limits)
    said = done.stderr.decode(errors="replace")
    runs = re.findall(r"stat::number_of_executed_units:\s*(\d+)", said) or re.findall(r"^#(\d+)", said, re.M)[-1:]
    covered = re.findall(r"cov: (\d+)", said)
    found = [
        {
            "what": path.name.split("-")[0],
            "target": target,
            "seed": seed,
            "input": base64.b64encode(path.read_bytes()).decode(),
            "said": "\n".join(
                line for line in said.splitlines() if "panicked" in line or "ERROR" in line or "SUMMARY" in line
            )[:1500],
        }
        for path in work.iterdir()
        if path.name.startswith(("crash-", "oom-", "timeout-"))
    ]
    if done.returncode != 0 and not found:
        found.append({"what": "the target ended early", "target": target, "said": said[-1500:]})
    return target, int(runs[0]) if runs else 0, int(covered[-1]) if covered else 0, time.monotonic() - start, found


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="what fuzz/build wrote")
    parser.add_argument("--targets", help="only these, with commas")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "fuzz" / "corpus")
    parser.set_defaults(command=None)
    options = parser.parse_args()
    options.command = None
    program = options.program.resolve()
    names = options.targets.split(",") if options.targets else targets(program)
    # With fewer jobs than targets, they take turns.
    rounds = -(-len(names) // options.jobs)
    copies = max(1, options.jobs // len(names))
    plan = [(name, options.seed + copy) for copy in range(copies) for name in names]
    plan += [(name, options.seed + copies) for name in names[: options.jobs - len(plan)]] if rounds == 1 else []
    counts, coverage, seconds, findings = collections.Counter(), {}, collections.Counter(), []
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # Zero seconds would mean no limit.
        share = max(1, options.seconds / rounds)
        runs = [
            pool.submit(one, program, name, seed, share, pathlib.Path(folder), options.corpus) for name, seed in plan
        ]
        for run in concurrent.futures.as_completed(runs):
            target, executions, covered, took, found = run.result()
            counts[target] += executions
            seconds[target] += round(took, 1)
            coverage[target] = max(covered, coverage.get(target, 0))
            findings += found
            print(f"{target}: {executions:,} executions, {covered} edges, {len(found)} findings", flush=True)
    record = common.about_run(options) | {
        "seconds": round(time.monotonic() - start, 1),
        "counts": {"executions": dict(sorted(counts.items())), "all": sum(counts.values())},
        "seconds_of_target": dict(sorted(seconds.items())),
        "edges": dict(sorted(coverage.items())),
        "findings": findings,
    }
    common.write_record(options, record)
    print(f"{sum(counts.values()):,} executions, {len(findings)} findings; {options.out}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
