"""Runs jobs side by side, each in a process of its own, and writes every result down at once.

A job is a set, a size and a split. It does its methods one after another. A method that takes too long is ended with
its process, and a new process does the others.
"""

import dataclasses
import multiprocessing
import multiprocessing.connection
import os
import resource
import signal
import time
import warnings

import numpy as np

import defaults
from solverbench import files

from . import ours, problems, rivals

# Every set has its first splits before any set has more: the rounds start with these.
FIRST_SPLITS_OF_ROUNDS = (0, 1, 4)
POLL_SECONDS, NEWS_SECONDS = 0.2, 20.0
# Told apart from the others: they are done last, and have less time.
EXTRA = ["mtrl", "gmtl", *ours.WITH_KERNELS]


def methods_for(data):
    """Names of the methods that suit a problem, the ones that matter most first. One model for all tasks makes no sense
    where tasks share their rows: there it would give one prediction for all."""
    own_rows = data.task is not None
    simple = [name for name in ours.METHODS if own_rows or name != "pooled"]
    first = ["kin", "fmtl", "stl", "pooled", "mtl"]
    names = [name for name in first if name in simple] + [ours.DEFAULT]
    names += [name for name, rival in rivals.RIVALS.items() if rival.suits(data) and rival.is_here()]
    return names + [name for name in simple if name not in first] + list(ours.WITH_KERNELS)


def model_of(method, command):
    if method in rivals.RIVALS:
        return rivals.RIVALS[method].make()
    return ours.Command(command, method)


# --- one method ---


def score(train, test, model):
    """In percent: R^2 against the mean of each task's training rows, or AUC, means over tasks; or accuracy."""
    predicted, scores = model.answers(test)
    if test.form == "classes":
        return 100 * float(np.mean(predicted == test.y))
    if test.classes:
        return 100 * defaults.second_score(train, test, predicted, scores)
    each = []
    parts = (defaults.columns(train, train.y), defaults.columns(test, test.y), defaults.columns(test, predicted))
    for before, y, p in zip(*parts, strict=True):
        each += [1 - np.sum((y - p) ** 2) / np.sum((y - before.mean()) ** 2)]
    return 100 * float(np.mean(each))


def processor_seconds():
    """Of this process and of commands that it ran."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def measured(train, test, method, command):
    model = model_of(method, command)
    start = processor_seconds()
    model.fit(train)
    seconds = processor_seconds() - start
    found = score(train, test, model)
    if not np.isfinite(found):
        raise ValueError(f"the score is {found}")
    about = model.about() if hasattr(model, "about") else {}
    return {"score": round(found, 4), "seconds": round(seconds, 4), **about}


# --- one job ---


@dataclasses.dataclass
class Job:
    set: str
    size: str
    split: int
    methods: list
    cost: float = 0.0
    seconds: float = 60.0
    """Limit of each method."""

    def key(self, method):
        return {"set": self.set, "size": self.size, "split": self.split, "method": method}

    def order(self):
        """The methods that matter most, on all sets, then the others. In each round the longest jobs come first, but in
        the last the shortest: if time runs out, the small sets have all their splits."""
        rounds = sum(self.split >= first for first in FIRST_SPLITS_OF_ROUNDS)
        is_last = rounds == len(FIRST_SPLITS_OF_ROUNDS)
        return (self.methods[0] in EXTRA, rounds, self.cost if is_last else -self.cost, self.set, self.split)


def work(job, command, sender):
    """In a process of its own, the leader of a group, so that it can be ended together with its command."""
    os.setsid()
    warnings.simplefilter("ignore")
    train, test = problems.drawn(job.set, job.size, job.split)
    for method in job.methods:
        sender.send(("start", method, None))
        try:
            row = measured(train, test, method, command)
        except Exception as error:
            row = {"error": f"{type(error).__name__}: {error}"[:300]}
        sender.send(("done", method, row))
    sender.close()


class Running:
    """A job at work."""

    def __init__(self, context, job, command):
        self.job, self.left = job, list(job.methods)
        self.receiver, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=work, args=(job, command, sender))
        self.process.start()
        sender.close()
        self.started = time.monotonic()

    def end(self):
        """Kills the process and the command that it runs."""
        if self.process.is_alive():
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:  # it has not made its group yet, or it has just ended
                self.process.kill()
        self.process.join()
        self.receiver.close()


# --- all jobs ---


def known(rows, limits):
    """What a record has, so that it is not measured again: results, and methods that took longer than the limit would
    be now. What failed is tried again."""
    done, hopeless = set(), set()
    for row in rows:
        if "set" in row and ("score" in row or row.get("limit", 0) >= limit_of(row["method"], limits)):
            done.add((row["set"], row["size"], row["split"], row["method"]))
            if "limit" in row:
                hopeless.add((row["set"], row["size"], row["method"]))
    return done, hopeless


def limit_of(method, limits):
    """Seconds; `limits` are those of the methods that matter most and of the others."""
    return limits[method in EXTRA]


def jobs(names, sizes, n_splits, methods, done, limits):
    """What is to be done, in order."""
    found = []
    for name in names:
        data = problems.of_split(name, 0)
        if data is None:
            print(f"skipped: {name} is not there")
            continue
        for size in sizes:
            suits, cost = methods_for(problems.drawn(name, size, 0)[0]), problems.cost(name, size)
            wanted = [method for method in suits if methods is None or method in methods]
            for split in range(n_splits):
                left = [method for method in wanted if (name, size, split, method) not in done]
                for part in ([m for m in left if m not in EXTRA], [m for m in left if m in EXTRA]):
                    if part:
                        found += [Job(name, size, split, part, cost, limit_of(part[0], limits))]
    return sorted(found, key=Job.order)


class Queue:
    """Jobs that wait, jobs at work, and what they find. A method that took too long is not tried on other splits of
    the same set and size."""

    def __init__(self, waiting, hopeless, raw, command):
        self.waiting, self.hopeless, self.raw, self.command = list(waiting), set(hopeless), raw, command
        self.running, self.count = [], 0
        self.context = multiprocessing.get_context("fork")

    def record(self, job, method, row):
        files.append(self.raw, job.key(method) | row)
        self.count += 1
        if "limit" in row:
            self.hopeless.add((job.set, job.size, method))

    def start(self):
        """Starts the next job, unless nothing of it is left."""
        job = self.waiting.pop(0)
        left = [method for method in job.methods if (job.set, job.size, method) not in self.hopeless]
        for method in job.methods:
            if method not in left:
                self.record(job, method, {"limit": job.seconds, "skipped": True})
        if left:
            self.running.append(Running(self.context, dataclasses.replace(job, methods=left), self.command))

    def look(self, one):
        """Takes what a job has found, and ends it if it is done or too slow."""
        alive = one.process.is_alive()
        closed = not self.heard(one)
        late = bool(one.left) and time.monotonic() - one.started > one.job.seconds
        if alive and not closed and not late:
            return
        one.end()
        self.running.remove(one)
        if one.left:
            method = one.left.pop(0)
            late_row = {"limit": one.job.seconds}
            self.record(one.job, method, late_row if late else {"error": "the process ended without a result"})
        if one.left:
            self.waiting.insert(0, dataclasses.replace(one.job, methods=one.left))

    def heard(self, one):
        """Whether there may be more."""
        try:
            while one.receiver.poll():
                kind, method, row = one.receiver.recv()
                one.started = time.monotonic()
                if kind == "done":
                    one.left.remove(method)
                    self.record(one.job, method, row)
        except EOFError:
            return False
        return True


def run(queue, at_once, deadline):
    """Does the jobs until the deadline; returns how many results were not reached."""
    shown = time.monotonic()
    while (queue.waiting or queue.running) and time.monotonic() < deadline:
        while queue.waiting and len(queue.running) < at_once:
            queue.start()
        multiprocessing.connection.wait([one.receiver for one in queue.running], POLL_SECONDS)
        for one in list(queue.running):
            queue.look(one)
        if time.monotonic() - shown > NEWS_SECONDS:
            shown = time.monotonic()
            print(f"{queue.count} results, {len(queue.waiting)} jobs wait, {deadline - shown:.0f} s left", flush=True)
    for one in queue.running:
        one.end()
    return sum(len(job.methods) for job in queue.waiting) + sum(len(one.left) for one in queue.running)
