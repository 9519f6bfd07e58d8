"""Random calls of the Python package, for soak.py."""

import common
import copy
import os
import pickle
import signal
import threading
import time

import numpy as np

SECONDS_OF_A_HANG = 60


class Calls:
    """The calls of one process, with the data they need."""

    def __init__(self, rng, folder):
        import kinfolk

        self.kinfolk, self.rng, self.folder = kinfolk, rng, folder
        self.x = rng.normal(size=(240, 6))
        self.task = np.repeat(np.arange(8), 30)
        self.y = self.x @ rng.normal(size=6) + 0.1 * rng.normal(size=240)
        self.sign = np.where(self.y > 0, "yes", "no")
        self.first = {}
        self.model = self.fresh().fit(self.x, self.y, task=self.task)

    def fresh(self, kind="MultiTaskRegressor", **more):
        settings = {"C": 1.0, "n_jobs": 1, "random_state": 0} | more
        return getattr(self.kinfolk, kind)(**settings)

    def expect_same(self, name, values):
        """The same call gives the same bits, today and in an hour."""
        kept = self.first.setdefault(name, np.array(values))
        if not np.array_equal(kept, values):
            raise AssertionError(f"{name}: other bits than at first")

    def fit(self):
        kernel = ["linear", "rbf", "laplacian", "cosine"][self.rng.integers(4)]
        loss = ["squared", "huber:1", "epsilon:0.1"][self.rng.integers(3)]
        model = self.fresh(kernel=kernel, loss=loss).fit(self.x, self.y, task=self.task)
        self.expect_same(f"fit {kernel} {loss}", model.predict(self.x, task=self.task))

    def classify(self):
        model = self.fresh("MultiTaskClassifier").fit(self.x, self.sign, task=self.task)
        self.expect_same("classify", model.decision_function(self.x, task=self.task))

    def output_kernel(self):
        model = self.fresh("OutputKernelClassifier").fit(self.x, self.task)
        self.expect_same("output kernel", model.theta_)

    def choose_c(self):
        model = self.fresh(C="auto").fit(self.x[:90], self.y[:90], task=self.task[:90])
        self.expect_same("choose C", model.coef_)

    def predict(self):
        self.expect_same("predict", self.model.predict(self.x, task=self.task))

    def update(self):
        model = self.fresh(keep_data=True).fit(self.x[:200], self.y[:200], task=self.task[:200])
        model.update(self.x[100:120], self.y[100:120], task=self.task[100:120])
        model.partial_fit(self.x[:5], self.y[:5], task=self.task[:5])
        model.add_task(self.x[210:220], self.y[210:220], "new" if model.theta_names_[0] == "0" else 99)
        model.remove_task(model.theta_names_[0])

    def pickled(self):
        again = pickle.loads(pickle.dumps(self.model))
        self.expect_same("predict", again.predict(self.x, task=self.task))

    def copied(self):
        again = copy.deepcopy(self.model)
        self.expect_same("predict", again.predict(self.x, task=self.task))

    def file(self):
        path = str(self.folder / "model.safetensors")
        self.model.save(path)
        again = self.kinfolk.load(path)
        self.expect_same("predict", again.predict(self.x, task=self.task))

    def threads(self):
        failed = []

        def call():
            try:
                found = self.fresh().fit(self.x, self.y, task=self.task).predict(self.x, task=self.task)
                if not np.array_equal(found, self.model.predict(self.x, task=self.task)):
                    failed.append("other bits in a thread")
            except BaseException as error:
                failed.append(repr(error))

        threads = [threading.Thread(target=call) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failed:
            raise AssertionError(failed[0])

    def fork(self):
        child = os.fork()
        if child == 0:
            try:
                found = self.fresh(n_jobs=2).fit(self.x, self.y, task=self.task).predict(self.x, task=self.task)
                os._exit(0 if np.allclose(found, self.first.get("predict", found)) else 3)
            except BaseException:
                os._exit(4)
        clock = common.OwnClock(child)
        while True:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                break
            if clock.seconds() > SECONDS_OF_A_HANG / 2:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                raise AssertionError("a fit in a forked process hangs")
            time.sleep(0.005)
        if status != 0:
            raise AssertionError(f"a fit in a forked process ended with {status}")

    def interrupted(self):
        """Ctrl-C at a random moment of a long fit: KeyboardInterrupt soon after, and the best model so far."""
        rows = self.rng.normal(size=(3000, 40))
        labels = np.where(self.rng.random(3000) > 0.5, 1.0, -1.0)
        model = self.fresh("MultiTaskClassifier", loss="hinge", C=100.0, tol=1e-9, solver="sdca", max_passes=10**6)
        delay = float(self.rng.uniform(0.01, 0.5))
        timer = threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT))
        clock = common.OwnClock(os.getpid())
        timer.start()
        try:
            model.fit(rows, labels, task=np.arange(3000) % 10)
            timer.join()
            time.sleep(0.05)
        except KeyboardInterrupt:
            pass
        timer.join()
        if clock.seconds() > delay + 10:
            raise AssertionError(f"Ctrl-C took {clock.seconds() - delay:.1f} s")

    def report(self):
        self.model.report(str(self.folder / "page.html"), self.x, self.y, task=self.task)

    def refused(self):
        """Wrong arguments are errors that say so, and leave nothing behind."""
        wrong = [
            lambda: self.fresh(C=-1.0).fit(self.x, self.y, task=self.task),
            lambda: self.fresh().fit(self.x[:5], self.y, task=self.task),
            lambda: self.fresh().fit(self.x * np.nan, self.y, task=self.task),
            lambda: self.model.predict(self.x[:, :2], task=self.task),
            lambda: self.model.predict(self.x, task=np.full(240, 77)),
            lambda: self.kinfolk.load(str(self.folder / "not-there.safetensors")),
            lambda: pickle.loads(pickle.dumps(self.model)[:-20]),
            lambda: self.fresh(method="no-such").fit(self.x, self.y, task=self.task),
        ]
        try:
            wrong[self.rng.integers(len(wrong))]()
        except (ValueError, OSError, TypeError, EOFError, pickle.UnpicklingError):
            return
        raise AssertionError("something wrong was accepted")


CALLS = {
    "fit": 6,
    "classify": 3,
    "output_kernel": 2,
    "choose_c": 1,
    "predict": 6,
    "update": 2,
    "pickled": 4,
    "copied": 4,
    "file": 3,
    "threads": 1,
    "fork": 1,
    "interrupted": 1,
    "report": 1,
    "refused": 4,
}
