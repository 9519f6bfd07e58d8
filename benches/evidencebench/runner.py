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

# Every set has these splits before any set has more.
SPLITS_OF_FIRST_ROUND = 4
POLL_SECONDS = 0.2


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

    def key(self, method):
        return {"set": self.set, "size": self.size, "split": self.split, "method": method}


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


def jobs(names, sizes, n_splits, methods, done):
    """What is to be done. Every set gets its first splits before any gets more, the longest jobs first."""
    found = []
    for name in names:
        data = problems.of_split(name, 0)
        if data is None:
            print(f"skipped: {name} is not there")
            continue
        for size in sizes:
            cost = problems.cost(name, size)
            for split in range(n_splits):
                train, _ = problems.drawn(name, size, split) if split == 0 else (train, None)
                wanted = [method for method in methods_for(train) if methods is None or method in methods]
                left = [method for method in wanted if (name, size, split, method) not in done]
                if left:
                    found += [Job(name, size, split, left, cost)]
    return sorted(found, key=lambda job: (job.split >= SPLITS_OF_FIRST_ROUND, -job.cost, job.set, job.split))


def run(waiting, raw, command, at_once, method_seconds, deadline):
    """Does the jobs until the deadline; returns how many methods were left undone."""
    context = multiprocessing.get_context("fork")
    waiting, running, count = list(waiting), [], 0

    def record(one, method, row):
        nonlocal count
        files.append(raw, one.job.key(method) | row)
        count += 1

    def again(one):
        if one.left:
            waiting.insert(0, dataclasses.replace(one.job, methods=one.left))

    shown = time.monotonic()
    while (waiting or running) and time.monotonic() < deadline:
        while waiting and len(running) < at_once:
            running.append(Running(context, waiting.pop(0), command))
        multiprocessing.connection.wait([one.receiver for one in running], POLL_SECONDS)
        for one in list(running):
            alive = one.process.is_alive()
            closed = not heard(one, record)
            late = one.left and time.monotonic() - one.started > method_seconds
            if not (closed or late or not alive):
                continue
            one.end()
            running.remove(one)
            if one.left:
                method = one.left.pop(0)
                row = {"limit": method_seconds} if late else {"error": "the process ended without a result"}
                record(one, method, row)
                again(one)
        if time.monotonic() - shown > 20:
            shown = time.monotonic()
            print(f"{count} results, {len(waiting)} jobs wait, {deadline - shown:.0f} s left", flush=True)
    left = sum(len(job.methods) for job in waiting) + sum(len(one.left) for one in running)
    for one in running:
        one.end()
    return left


def heard(one, record):
    """Takes what a job says; whether there may be more."""
    try:
        while one.receiver.poll():
            kind, method, row = one.receiver.recv()
            one.started = time.monotonic()
            if kind == "done":
                one.left.remove(method)
                record(one, method, row)
    except EOFError:
        return False
    return True
