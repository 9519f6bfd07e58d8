"""Kills and faults: commands are ended by signals at random moments, and run out of disk, permissions and input.

    python benches/reliability/kills.py --command target/release/kinfolk --seconds 600 --out kills.json

After each: inputs are as they were; an output is the old file, or the whole new one, or absent if it was; after
Ctrl-C a fit may also have left its best model so far, which must pass `certify`; nothing else lies around, but for
the hidden file of a process that was killed without warning; and the exit code is a documented one. A fit with
checkpoints goes on to the same bits as one that was never interrupted.
"""

import common
import hashlib
import os
import shutil
import signal
import subprocess
import time

import faults

SIGNALS = {"SIGKILL": signal.SIGKILL, "SIGTERM": signal.SIGTERM, "SIGINT": signal.SIGINT}
# Of its own: on a busy machine it may wait for its core for longer.
SECONDS_TO_END, SECONDS_OF_A_HANG = 5.0, 60.0
# Before anything is killed; a busy machine takes long.
SECONDS_OF_A_WHOLE_RUN = 1800
BY_NAME = ["--task", "task", "--target", "y"]
FIT = ["--c", "strength:3", "--threads", "1", "--seed", "3"]
SLOW_FIT = [*FIT, "--solver", "sdca", "--tol", "1e-9", "--max-passes", "100000"]
# Name, words, outputs. Every output is there already in some trials, with other contents.
SCENARIOS = [
    ("fit", ["fit", "data.npz", "-o", "m.st", *FIT, "--trace", "trace.csv"], ["m.st"]),
    ("fit, C chosen", ["fit", "data.csv", "-o", "m.st", *BY_NAME, "--threads", "1"], ["m.st"]),
    (
        "fit a stream",
        ["fit", "data.csv", "-o", "m.st", *BY_NAME, "--c", "1", "--threads", "1", "--stream", "--loss", "huber:0.5"],
        ["m.st"],
    ),
    ("fit with a kernel", ["fit", "data.npz", "-o", "m.st", *FIT, "--kernel", "rbf"], ["m.st"]),
    (
        "fit, resumed",
        ["fit", "slow.npz", "-o", "m.st", *SLOW_FIT, "--checkpoint", "c.st", "--checkpoint-every", "0.01"],
        ["m.st"],
    ),
    (
        "select",
        [
            "select",
            "data.csv",
            *BY_NAME,
            "--method",
            "fmtl,stl",
            "--grid",
            "strength=0.1,1",
            "--folds",
            "3",
            "--threads",
            "1",
            "--results",
            "r.json",
            "-o",
            "m.st",
        ],
        ["m.st"],
    ),
    ("predict to csv", ["predict", "model.st", "big.csv", "-o", "p.csv", "--force"], ["p.csv"]),
    ("predict to parquet", ["predict", "model.st", "big.csv", "-o", "p.parquet", "--force"], ["p.parquet"]),
    ("predict a stream", ["predict", "model.st", "-", "-o", "p.csv", "--force"], ["p.csv"]),
    ("predict to npy", ["predict", "model.st", "big.csv", "-o", "p.npy", "--force"], ["p.npy"]),
    ("report", ["report", "old.st", "data.npz", "-o", "page.html"], ["page.html"]),
    ("theta", ["theta", "model.st", "--svg", "theta.svg", "-o", "theta.csv", "--force"], ["theta.svg", "theta.csv"]),
    *(
        (f"convert to {end}", ["data", "convert", "big.csv", f"out.{end}", *BY_NAME, "--force"], [f"out.{end}"])
        for end in ("parquet", "npz", "svm", "csv.gz", "jsonl", "arrow")
    ),
    ("generate", ["data", "generate", "gen.csv", "--tasks", "20", "--rows", "1500", "--force"], ["gen.csv"]),
]
# Files that hold times, and are not the same in two runs.
TIMED = {"trace.csv", "r.json", "c.st"}


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def contents(folder):
    return {path.name: digest(path) for path in folder.iterdir() if path.is_file()}


class Place:
    """A folder with inputs, and for every scenario what an uninterrupted run writes and how long it takes."""

    def __init__(self, worker):
        self.worker, self.folder = worker, worker.folder
        for words in (
            ["data", "generate", "data.npz", "--tasks", "8", "--rows", "60", "--features", "20"],
            ["data", "generate", "slow.npz", "--tasks", "12", "--rows", "80", "--features", "20", "--binary"],
            ["data", "convert", "data.npz", "data.csv"],
            ["data", "generate", "big.csv", "--tasks", "20", "--rows", "1500", "--features", "10"],
            ["fit", "big.csv", "-o", "model.st", *BY_NAME, "--c", "strength:1"],
            ["fit", "data.npz", "-o", "old.st", "--method", "stl", "--c", "1"],
            ["report", "old.st", "-o", "old.html"],
        ):
            code, _, said = worker.run([*words, "--quiet"])
            if code != 0:
                raise RuntimeError(f"{words}: {said}")
        self.inputs = contents(self.folder)
        self.whole, self.seconds = {}, {}
        for name, words, outputs in SCENARIOS:
            for _ in range(2):  # the first is slower than all others
                self.clear()
                start = time.monotonic()
                code, _, said = worker.run([*words, "--quiet"], stdin=self.stdin(words), timeout=SECONDS_OF_A_WHOLE_RUN)
                self.seconds[name] = time.monotonic() - start
                if code != 0:
                    raise RuntimeError(f"{words}: {said}")
                whole = {out: (self.folder / out).read_bytes() for out in outputs}
                if self.whole.setdefault(name, whole) != whole:
                    worker.finding("two runs have other bits", words=words)
        self.clear()

    def clear(self):
        for path in self.folder.iterdir():
            if path.is_dir():
                path.chmod(0o700)
                shutil.rmtree(path)
            elif path.name not in self.inputs:
                path.unlink()

    def old(self, output):
        """Other contents of an output: of the same kind where the command looks, else text."""
        if output.endswith(".st"):
            return (self.folder / "old.st").read_bytes()
        return (self.folder / "old.html").read_bytes() if output.endswith(".html") else b"old contents\n"

    def stdin(self, words):
        """The large table, for commands that read a stream."""
        return open(self.folder / "big.csv", "rb") if "-" in words else subprocess.DEVNULL


def moment(rng, seconds):
    """Anywhere in a run, and in half of the trials near its end, where files are written."""
    share = rng.uniform(0, 1.05) if rng.random() < 0.5 else rng.uniform(0.7, 1.05)
    return share * seconds


def left_behind(place, name, words, outputs, before, with_model):
    """What is wrong with the files after an interrupted run."""
    worker, after = place.worker, contents(place.folder)
    for path, was in place.inputs.items():
        if after.get(path) != was:
            yield f"the input {path} was changed"
    for output in outputs:
        now = (place.folder / output).read_bytes() if (place.folder / output).exists() else None
        if now is None and before.get(output) is not None:
            yield f"the old {output} is gone"
        elif now is not None and now not in (before.get(output), place.whole[name][output]):
            if not (with_model and output.endswith(".st")):
                yield f"{output} is neither old nor new"
            else:
                data = next(word for word in words if word.split(".")[0] in ("data", "slow"))
                code, said, error = worker.run(["certify", output, data])
                worker.count("best model so far", "certified again" if code in (0, 1) else "refused")
                if code not in (0, 1) or "model and data agree" not in said:
                    yield f"the model after Ctrl-C does not pass: {said}{error}"
    known = {*place.inputs, *outputs, *TIMED}
    for other in set(after) - known:
        yield f"{other} lies around"


def one_kill(place):
    worker, rng = place.worker, place.worker.rng
    name, words, outputs = SCENARIOS[rng.integers(len(SCENARIOS))]
    sent = list(SIGNALS)[rng.integers(3)]
    place.clear()
    before = {}
    for output in outputs:
        if rng.random() < 0.6:
            before[output] = place.old(output)
            (place.folder / output).write_bytes(before[output])
    child = subprocess.Popen(
        [worker.command, *words, "--quiet"],
        cwd=place.folder,
        stdin=place.stdin(words),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    time.sleep(moment(rng, place.seconds[name]))
    clock = common.OwnClock(child.pid)
    child.send_signal(SIGNALS[sent])
    start, own = time.monotonic(), 0.0
    while child.poll() is None and own < SECONDS_OF_A_HANG:
        own = clock.seconds()
        time.sleep(0.002)
    if child.poll() is None:
        child.kill()
        child.communicate()
        worker.finding("it does not end after a signal", words=words, signal=sent)
        return
    seconds, said = time.monotonic() - start, child.communicate()[1].decode(errors="replace")
    worker.more.setdefault("seconds_to_end", []).append(seconds)
    code = child.returncode
    worker.count("kills", name, sent, "in time" if code == 0 else "interrupted")
    allowed = {0, -9} if sent == "SIGKILL" else {0, 130}
    # Before the program listens to signals, they end it as they end any program.
    if code == -SIGNALS[sent] and sent != "SIGKILL":
        worker.count("ended before it listened", sent)
        allowed.add(code)
    if code not in allowed:
        worker.finding("exit code", code=code, words=words, signal=sent, said=said[-300:])
    if own > SECONDS_TO_END:
        worker.finding("slow to end", seconds=own, words=words, signal=sent)
    for wrong in left_behind(place, name, words, outputs, before, sent != "SIGKILL"):
        if sent == "SIGKILL" and wrong.startswith(".kinfolk-") and wrong.endswith(".tmp lies around"):
            worker.count("hidden files of killed processes")
        else:
            worker.finding(wrong, words=words, signal=sent, code=code, old_file=list(before))
    if name == "fit, resumed":
        resume(place, name, words)


def resume(place, name, words):
    """The same command goes on, and ends with the same bits."""
    worker = place.worker
    there = (place.folder / "c.st").exists()
    code, _, said = worker.run([*words, "--resume", "--quiet"])
    worker.count("resumed", "from a checkpoint" if there else "from the beginning")
    if code != 0:
        worker.finding("resuming failed", code=code, said=said, words=words)
    elif (place.folder / "m.st").read_bytes() != place.whole[name]["m.st"]:
        worker.finding("other bits after resuming", words=words, checkpoint=there)


def work(worker):
    place = Place(worker)
    while worker.alive() and (not worker.options.kills or worker.counts["tries"] < worker.options.kills):
        worker.count("tries")
        if worker.rng.random() < worker.options.faults:
            faults.one(place, SCENARIOS)
        else:
            one_kill(place)


def summary(extra):
    """The times to end, as quantiles."""
    seconds = sorted(extra.get("seconds_to_end", []))
    at = [0.5, 0.99, 1.0]
    return {
        "seconds_to_end": {f"{q:g}": round(seconds[min(int(q * len(seconds)), len(seconds) - 1)], 3) for q in at}
        if seconds
        else {}
    }


if __name__ == "__main__":
    parser = common.parser(__doc__)
    parser.add_argument("--kills", type=int, help="most tries of a job")
    parser.add_argument("--faults", type=float, default=0.25, help="share of tries that are faults other than signals")
    parser.add_argument("--folder", help="where to work [default: the folder for temporary files]")
    os.environ.pop("KINFOLK_THREADS", None)
    common.main(work, parser.parse_args(), summary)
