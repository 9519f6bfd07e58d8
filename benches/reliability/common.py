"""What all scripts of this folder share: options, workers with a deadline, and the record of a run.

Every script takes --seconds, --seed, --jobs, --command and --out, and writes one JSON record: what was run, how
often each thing happened (`counts`) and what must not happen (`findings`). It ends with exit code 1 if there are
findings.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")  # before numpy is loaded

import argparse
import collections
import importlib.metadata
import json
import multiprocessing
import pathlib
import platform
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import numpy as np

# A shell that starts a job in the background has it ignore Ctrl-C, and so would everything that is started here.
signal.signal(signal.SIGINT, signal.default_int_handler)

MOST_FINDINGS_KEPT = 200
SECONDS_FOR_ONE_COMMAND = 120
# What the command promises: docs/command.md, "Exit codes".
EXIT_CODES = {0, 1, 2, 3, 4, 130}


def parser(doc):
    found = argparse.ArgumentParser(description=doc.splitlines()[0])
    found.add_argument("--seconds", type=float, default=60.0, help="after which no new try is started")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    found.add_argument("--command", type=pathlib.Path, default=pathlib.Path("target/release/kinfolk"))
    found.add_argument("--out", type=pathlib.Path, required=True, help="the record, a JSON file")
    return found


def machine():
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{cpu[0] if cpu else platform.machine()}, {len(cpu)} cores"


def versions(names=("numpy", "scipy", "scikit-learn", "pandas", "pyarrow", "cvxpy", "clarabel")):
    found = [f"Python {platform.python_version()}"]
    for name in names:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            pass
    return ", ".join(found)


TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def seconds_of_work(pid):
    """Seconds of all cores that a process has used."""
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_SECOND


def is_idle(pid):
    """Whether no thread of a process runs or could run."""
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            if path.read_text().rpartition(")")[2].split()[0] in "RD":
                return False
        except (OSError, IndexError):
            pass  # the thread has ended
    return True


class OwnClock:
    """Seconds that a process has worked, or was idle while others could have had its core.

    A process that hangs is idle for ever, or works for ever. On a busy machine one may wait long for a core, and that
    is neither. Idle time is counted between looks at this clock, so it has to be looked at often.
    """

    def __init__(self, pid):
        self.pid = pid
        self.restart()

    def restart(self):
        self.last_look, self.idle, self.before = time.monotonic(), 0.0, seconds_of_work(self.pid)

    def seconds(self):
        now = time.monotonic()
        if is_idle(self.pid):
            self.idle += now - self.last_look
        self.last_look = now
        return self.idle + seconds_of_work(self.pid) - self.before


class Worker:
    """One of several processes that try things until the time is over: random numbers, a folder, counts, findings."""

    def __init__(self, number, options, deadline):
        self.number, self.options, self.deadline = number, options, deadline
        self.rng = np.random.default_rng([options.seed, number])
        self.command = str(options.command.resolve()) if options.command else None
        self.counts, self.findings, self.more = collections.Counter(), [], {}
        self.folder = None

    def alive(self):
        return time.monotonic() < self.deadline

    def count(self, *names):
        """Something happened; names are a path in the tree of counts."""
        self.counts["/".join(map(str, names))] += 1

    def finding(self, what, **about):
        self.count("findings", what)
        if len(self.findings) < MOST_FINDINGS_KEPT:
            self.findings.append({"what": what, "worker": self.number} | about)

    def run(self, words, **how):
        """The command with these words: exit code, standard output and error as text. A hang has the code None."""
        how = {"cwd": self.folder, "timeout": SECONDS_FOR_ONE_COMMAND, "stdin": subprocess.DEVNULL} | how
        try:
            done = subprocess.run([self.command, *words], capture_output=True, **how)
        except subprocess.TimeoutExpired:
            return None, "", "no end"
        return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")

    def bad_end(self, code, said):
        """Why an end is one that must not happen, if it is."""
        if code is None:
            return "hang"
        if code == 101 or "panicked" in said:
            return "panic"
        if code not in EXIT_CODES:
            return f"exit code {code}"
        return None


def _work(job):
    work, number, options, deadline = job
    worker = Worker(number, options, deadline)
    with tempfile.TemporaryDirectory(prefix="kinfolk-reliability-", dir=options.__dict__.get("folder")) as folder:
        worker.folder = pathlib.Path(folder)
        try:
            work(worker)
        except Exception:
            worker.finding("the script failed", trace=traceback.format_exc())
        for path, names, _ in os.walk(folder):
            for name in names:
                os.chmod(os.path.join(path, name), 0o700)
    return worker.counts, worker.findings, worker.more


def tree(counts):
    """Counts by path, as nested tables."""
    found = {}
    for path, number in sorted(counts.items()):
        *folders, name = path.split("/")
        place = found
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = number
    return found


def about_run(options):
    command = options.command and shutil.which(str(options.command.resolve()))
    version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout.strip() if command else None
    words = [pathlib.Path(word).name if "/" in word and not word.startswith("benches") else word for word in sys.argv]
    return {
        "script": pathlib.Path(sys.argv[0]).name,
        "words": shlex.join(["python", f"benches/reliability/{pathlib.Path(sys.argv[0]).name}", *words[1:]]),
        "seed": options.seed,
        "jobs": options.jobs,
        "machine": machine(),
        "versions": versions(),
        "kinfolk": version,
    }


def write_record(options, record):
    options.out.parent.mkdir(parents=True, exist_ok=True)
    beside = options.out.with_name(options.out.name + ".new")
    beside.write_text(json.dumps(record, indent=1, default=float) + "\n")
    os.replace(beside, options.out)


def main(work, options, more=None):
    """Runs `work(worker)` in every process, writes the record, and ends with 1 if there are findings."""
    if options.command and not options.command.is_file():
        sys.exit(f"{options.command}: there is no such command")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    start = time.monotonic()
    jobs = [(work, number, options, start + options.seconds) for number in range(options.jobs)]
    with multiprocessing.get_context("fork").Pool(options.jobs) as pool:
        parts = pool.map(_work, jobs, chunksize=1)
    counts, findings, extra = collections.Counter(), [], {}
    for of_worker, found, about in parts:
        counts += of_worker
        findings += found
        for name, values in about.items():
            extra.setdefault(name, []).extend(values)
    record = about_run(options) | {"seconds": round(time.monotonic() - start, 1), "counts": tree(counts)}
    record |= {"findings": findings} | (more(extra) if more else extra)
    write_record(options, record)
    print(json.dumps(record["counts"], indent=1))
    print(f"{len(findings)} findings; {options.out}")
    for one in findings[:20]:
        print(json.dumps(one, default=float)[:1500])
    sys.exit(1 if findings else 0)
