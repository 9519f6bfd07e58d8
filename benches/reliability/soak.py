"""Random calls of the Python package for a long time: memory stays flat, nothing hangs, and results stay the same bits.

    python benches/reliability/soak.py --seconds 3600 --jobs 4 --out soak.json

Every job is a process that calls fit, predict, update, pickle, deepcopy, files, threads, forks and Ctrl-C at random.
The parent looks at its memory every second, and at when its last call ended: a call that takes too long is a hang,
and where it hangs is in the record. Memory is flat if the last quarter of the run needs at most a little more than
the second one.
"""

import common
import faulthandler
import gc
import json
import multiprocessing
import os
import pathlib
import signal
import statistics
import sys
import tempfile
import time
import traceback
import warnings

import numpy as np

from calls import CALLS, SECONDS_OF_A_HANG, Calls

# Allowed growth from the second to the last quarter.
MOST_GROWTH, MOST_GROWTH_MIB = 0.05, 24
SECONDS_OF_WARMING_UP = 30


def child(seed, number, folder, seconds, pipe):
    """A process of calls: tells its parent what it starts, and what went wrong."""
    faulthandler.register(signal.SIGUSR1, file=open(folder / "where", "w"), all_threads=True)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng([seed, number])
    calls = Calls(rng, folder)
    names, weights = list(CALLS), np.array(list(CALLS.values()), float)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        name = names[rng.choice(len(names), p=weights / weights.sum())]
        pipe.send(("start", name))
        try:
            getattr(calls, name)()
        except KeyboardInterrupt:
            pipe.send(("late", name))  # the signal of an earlier call
        except BaseException:
            pipe.send(("failed", name + ": " + traceback.format_exc()[-1500:]))
        gc.collect()
    pipe.send(("done", ""))


def memory_mib(pid):
    with open(f"/proc/{pid}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def watch(options):
    """Starts the jobs and looks after them; counts, findings and a memory curve for each."""
    context = multiprocessing.get_context("spawn")
    counts, findings, curves = {}, [], [[] for _ in range(options.jobs)]
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for number in range(options.jobs):
            own = pathlib.Path(folder) / str(number)
            own.mkdir()
            ours, theirs = context.Pipe(duplex=False)
            process = context.Process(target=child, args=(options.seed, number, own, options.seconds, theirs))
            process.start()
            theirs.close()
            clock = common.OwnClock(process.pid)
            jobs.append({"process": process, "pipe": ours, "folder": own, "clock": clock, "doing": "start"})
        start, next_look = time.monotonic(), 0.0
        while any(job["process"].is_alive() for job in jobs):
            for number, job in enumerate(jobs):
                hear(job, counts, findings, number)
            now = time.monotonic() - start
            if now >= next_look:
                next_look = now + max(1.0, options.seconds / 600)
                for curve, job in zip(curves, jobs):
                    if job["process"].is_alive():
                        curve.append((round(now, 1), round(memory_mib(job["process"].pid), 1)))
            time.sleep(0.05)
        for number, job in enumerate(jobs):
            hear(job, counts, findings, number)
            if job["doing"] != "done" and not job.get("hung"):
                findings.append({"what": "a process died", "doing": job["doing"], "code": job["process"].exitcode})
    return counts, findings, curves


def hear(job, counts, findings, number):
    """What a process says, and whether it still says something."""
    try:
        while job["pipe"].poll():
            kind, text = job["pipe"].recv()
            job["clock"].restart()
            if kind == "start":
                job["doing"] = text
                counts[text] = counts.get(text, 0) + 1
            elif kind == "failed":
                findings.append({"what": "a call failed", "worker": number, "call": text})
            else:
                job["doing"] = kind
    except (EOFError, OSError):
        return
    process = job["process"]
    if process.is_alive() and job["clock"].seconds() > SECONDS_OF_A_HANG:
        os.kill(process.pid, signal.SIGUSR1)
        time.sleep(1)
        where = (job["folder"] / "where").read_text()[-3000:]
        findings.append({"what": "hang", "worker": number, "doing": job["doing"], "where": where})
        job["hung"] = True
        process.kill()
        process.join()


def growth(curve):
    """Median memory in the second and the last quarter, in MiB, and whether it grew."""
    curve = [one for one in curve if one[0] >= SECONDS_OF_WARMING_UP] or curve
    if len(curve) < 8:
        return None
    quarter = len(curve) // 4
    early = statistics.median(memory for _, memory in curve[quarter : 2 * quarter])
    late = statistics.median(memory for _, memory in curve[-quarter:])
    return {
        "second_quarter": early,
        "last_quarter": late,
        "flat": late - early <= max(MOST_GROWTH * early, MOST_GROWTH_MIB),
    }


def thinned(curve, most=60):
    step = max(1, len(curve) // most)
    return curve[::step]


def main():
    parser = common.parser(__doc__)
    parser.set_defaults(command=None)
    options = parser.parse_args()
    if options.command and not options.command.is_file():
        options.command = None  # the package is imported, not run
    start = time.monotonic()
    counts, findings, curves = watch(options)
    grown = [growth(curve) for curve in curves]
    for number, one in enumerate(grown):
        if one and not one["flat"]:
            findings.append({"what": "memory grows", "worker": number} | one)
    record = common.about_run(options) | {
        "kinfolk": __import__("kinfolk").__version__,
        "seconds": round(time.monotonic() - start, 1),
        "counts": {"calls": dict(sorted(counts.items()))},
        "findings": findings,
        "memory": grown,
        "curves": [thinned(curve) for curve in curves],
    }
    common.write_record(options, record)
    print(json.dumps({"calls": record["counts"], "memory": grown}, indent=1))
    print(f"{len(findings)} findings; {options.out}")
    for one in findings[:10]:
        print(one)
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
