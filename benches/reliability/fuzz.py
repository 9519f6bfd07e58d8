"""Runs the fuzz targets in turns for a time, and records how many executions each had.

    fuzz/build fuzz/target/texts texts
    python benches/reliability/fuzz.py --program fuzz/target/texts --seconds 600 --jobs 2 --out fuzz-texts.json

All targets have the same time, in rounds: what one round has found is where the next one begins, with a seed of its
own. Corpora are kept in --corpus between runs, and begin with those of the tree (fuzz/corpora, written by --keep). A
crash, a run out of memory or a hang is a finding, with the input that does it; the target then goes on with another
seed. The record is written after every turn.
"""

import common
import base64
import collections
import concurrent.futures
import gzip
import os
import pathlib
import re
import resource
import subprocess
import sys
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
SEEDS = ROOT / "fuzz" / "seeds"
CORPORA = ROOT / "fuzz" / "corpora"
FIXTURES = ROOT / "crates" / "io" / "tests" / "fixtures"
# Targets without a folder of seeds of their own name.
SEEDS_OF = {"tsv": SEEDS / "csv", "parquet": FIXTURES, "page": SEEDS / "page"}
# Longer files say little more, and take longer.
MOST_BYTES = {"parquet": 4096, "arrow": 4096, "model": 4096, "npz": 2048, "bzip2": 512, "gzip": 512, "zstd": 512}
USUAL_MOST_BYTES = 256
SECONDS_OF_A_HANG, MEMORY_MIB = 20, 2048
MOST_FINDINGS_OF_A_TURN = 5
# Stacks of allocations are for reports, and a finding is run again for its report. The code has no pointers into
# stacks, so that none can be used after its return. Freed memory waits in a quarantine that fits into a cache.
ASAN = ":".join(
    [
        "detect_leaks=0",
        "allocator_may_return_null=1",
        "detect_stack_use_after_return=0",
        "malloc_context_size=0",
        "quarantine_size_mb=1",
        "thread_local_quarantine_size_kb=64",
        "max_malloc_fill_size=0",
    ]
)


def targets(program):
    """The names that the program knows: it lists them if it is given none."""
    none = os.environ | {"KINFOLK_TARGET": ""}
    with tempfile.TemporaryDirectory() as folder:  # it takes the question for a crash, and writes a file about it
        said = subprocess.run([program, "-runs=0"], capture_output=True, text=True, env=none, cwd=folder)
    return re.search(r"must be one of ([\w, -]+)", said.stderr)[1].strip().split(", ")


def corpus_of(target, corpus):
    """The folder of what earlier runs found."""
    own = corpus / target
    known = CORPORA / f"{target}.tar.gz"
    if not own.exists() and known.exists():
        with tarfile.open(known) as packed:
            packed.extractall(own, filter="data")
    own.mkdir(parents=True, exist_ok=True)
    return own


def one(program, target, seed, seconds, folder, corpus):
    """Runs one target until it ends or finds something; what it did."""
    work = folder / f"{target}-{seed}"
    work.mkdir(parents=True)
    own = corpus_of(target, corpus)
    seeds = SEEDS_OF.get(target, SEEDS / target)
    words = [
        program,
        own,
        *([seeds] if seeds.is_dir() else []),
        f"-max_total_time={int(seconds)}",
        f"-seed={seed}",
        f"-max_len={MOST_BYTES.get(target, USUAL_MOST_BYTES)}",
        f"-timeout={SECONDS_OF_A_HANG}",
        f"-rss_limit_mb={MEMORY_MIB}",
        f"-artifact_prefix={work}/",
        "-print_final_stats=1",
        "-verbosity=1",
        "-reload=0",
        "-detect_leaks=0",
        # Names of new functions, and a schedule by rare features, take more time than they save.
        "-print_funcs=0",
        "-entropic=0",
        # So do counts of how often an edge was passed, and a look at each input that may be a shorter one.
        "-use_counters=0",
        "-reduce_inputs=0",
        # A program that counts functions alone would leave out most of what one that counts edges has found.
        "-keep_seed=1",
    ]
    limits = {"KINFOLK_TARGET": target, "ASAN_OPTIONS": ASAN}
    start = time.monotonic()
    with (work / "said").open("wb") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said, cwd=work, env=os.environ | limits)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    said = (work / "said").read_text(errors="replace")
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
    # On a busy machine an input may wait for its core for long; a hang works.
    late = [one for one in found if one["what"] == "timeout" and not hangs(program, target, one["input"], work)]
    found = [one for one in found if one not in late]
    if process.returncode != 0 and not found and not late:
        found.append({"what": "the target ended early", "target": target, "seed": seed, "said": said[-1500:]})
    return {
        "target": target,
        "executions": int(runs[0]) if runs else 0,
        "edges": int(covered[-1]) if covered else 0,
        "seconds": time.monotonic() - start,
        "core seconds": used.ru_utime + used.ru_stime,
        "findings": found,
        "late": len(late),
    }


def hangs(program, target, text, folder):
    """Whether an input takes so many seconds of a core."""
    (folder / "again").write_bytes(base64.b64decode(text))
    about = os.environ | {"KINFOLK_TARGET": target, "ASAN_OPTIONS": ASAN}
    process = subprocess.Popen(
        [program, folder / "again"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=about,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_OF_A_HANG, SECONDS_OF_A_HANG)),
    )
    return process.wait() != 0


def turn(program, target, seed, seconds, folder, corpus):
    """Runs one target for so long, on after findings."""
    deadline, done = time.monotonic() + seconds, []
    while len(done) < MOST_FINDINGS_OF_A_TURN:
        left = max(1, deadline - time.monotonic())
        done.append(one(program, target, seed + len(done), left, folder, corpus))
        if not (done[-1]["findings"] or done[-1]["late"]) or time.monotonic() > deadline:
            break
    return done


class Record:
    """What all turns did so far."""

    def __init__(self, options):
        self.options, self.start, self.findings = options, time.monotonic(), []
        self.executions, self.edges = collections.Counter(), {}
        self.seconds, self.core_seconds = collections.Counter(), collections.Counter()

    def add(self, done):
        for part in done:
            target = part["target"]
            self.executions[target] += part["executions"]
            self.seconds[target] += part["seconds"]
            self.core_seconds[target] += part["core seconds"]
            self.edges[target] = max(part["edges"], self.edges.get(target, 0))
            self.findings += part["findings"]

    def write(self):
        def rounded(table):
            return {name: round(value, 1) for name, value in sorted(table.items())}

        record = common.about_run(self.options) | {
            "seconds": round(time.monotonic() - self.start, 1),
            "counts": {"executions": dict(sorted(self.executions.items())), "all": sum(self.executions.values())},
            "seconds_of_target": rounded(self.seconds),
            "core_seconds_of_target": rounded(self.core_seconds),
            "edges": dict(sorted(self.edges.items())),
            "findings": self.findings,
        }
        common.write_record(self.options, record)


def keep(program, names, corpus):
    """Puts the corpora into the tree: of all inputs, the fewest that pass every edge. One archive for each target."""
    CORPORA.mkdir(exist_ok=True)
    for target in names:
        with tempfile.TemporaryDirectory() as folder:
            most = f"-max_len={MOST_BYTES.get(target, USUAL_MOST_BYTES)}"
            words = [program, "-merge=1", "-use_counters=0", most, folder, corpus_of(target, corpus)]
            about = os.environ | {"KINFOLK_TARGET": target, "ASAN_OPTIONS": ASAN}
            subprocess.run(words, check=True, capture_output=True, cwd=folder, env=about)
            inputs = sorted(path for path in pathlib.Path(folder).iterdir() if path.is_file())
            with gzip.GzipFile(CORPORA / f"{target}.tar.gz", "wb", mtime=0) as file:
                with tarfile.open(fileobj=file, mode="w", format=tarfile.USTAR_FORMAT) as packed:
                    for path in inputs:
                        member = tarfile.TarInfo(path.name[:12])
                        member.size = path.stat().st_size
                        packed.addfile(member, path.open("rb"))
        print(f"{target}: {len(inputs)} inputs", flush=True)


def main():
    parser = common.parser(__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True, help="what fuzz/build wrote")
    parser.add_argument("--targets", help="only these, with commas")
    parser.add_argument("--rounds", type=int, default=1, help="turns of each target")
    parser.add_argument("--keep", action="store_true", help="put the corpora into the tree, and do nothing else")
    parser.add_argument("--corpus", type=pathlib.Path, default=ROOT / "fuzz" / "corpus")
    options = parser.parse_args()
    options.command = None
    # A crash leaves its input, not its memory.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    program = options.program.resolve()
    options.corpus = options.corpus.resolve()
    names = options.targets.split(",") if options.targets else targets(program)
    if options.keep:
        keep(program, names, options.corpus)
        return
    plan = [(name, options.seed + 1000 * number) for number in range(options.rounds) for name in names]
    # Zero seconds would mean no limit.
    share = max(1, options.seconds * options.jobs / len(plan))
    record = Record(options)
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        folder = pathlib.Path(folder)
        turns = [pool.submit(turn, program, name, seed, share, folder, options.corpus) for name, seed in plan]
        for done in concurrent.futures.as_completed(turns):
            record.add(done.result())
            record.write()
            parts = done.result()
            executions, found = sum(part["executions"] for part in parts), sum(len(part["findings"]) for part in parts)
            about = f"{executions:,} executions, {parts[-1]['edges']} edges, {found} findings"
            print(f"{parts[-1]['target']}: {about}", flush=True)
    print(f"{sum(record.executions.values()):,} executions, {len(record.findings)} findings; {options.out}")
    sys.exit(1 if record.findings else 0)


if __name__ == "__main__":
    main()
