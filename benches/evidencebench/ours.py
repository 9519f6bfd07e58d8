"""The methods of this project, through its command: `select` on the training rows, `predict` on the test rows."""

import json
import pathlib
import subprocess
import tempfile

import numpy as np

# Chosen by `select`; each has the same folds.
METHODS = ["kin", "fmtl", "stl", "pooled", "mtl", "mtrl", "gmtl"]
# The best of these in hindsight is what kin must not be worse than.
SIMPLE = ["stl", "pooled", "mtl", "fmtl"]
DEFAULT = "default"
# With the kernel chosen too, to tell what kin owes to kernels.
WITH_KERNELS = {"stl-kernels": "stl", "fmtl-kernels": "fmtl"}
# As `select` tries them for kin.
WIDTHS_IN_MEDIAN_DISTANCES = (3.0, 1.0, 1 / 3)


class Command:
    """A model that the command selects and fits."""

    def __init__(self, command, method):
        self.command, self.method = str(command), method

    def fit(self, data):
        self.folder = tempfile.TemporaryDirectory()
        file, self.model = self.path("train.npz"), self.path("model.safetensors")
        np.savez(file, **arrays(data))
        if self.method == DEFAULT:
            words = ["fit", file]
        else:
            words = ["select", file, "--method", WITH_KERNELS.get(self.method, self.method)]
        if self.method in WITH_KERNELS:
            words += ["--grid", f"kernel={','.join(kernels(data.x))}"]
        self.said = json.loads(self.run(*words, "-o", self.model, "--threads", "1", "--json", "--quiet"))
        return self

    def answers(self, data):
        """Predictions, and scores of the second class where tasks have two."""
        file, out = self.path("test.npz"), self.path("answers.npy")
        np.savez(file, **arrays(data, labels=False))
        self.run("predict", self.model, file, "-o", out, "--quiet")
        found = np.load(out)
        if data.form == "classes":
            return found.argmax(axis=1), None
        if data.form == "table, numbers":
            return found.reshape(data.y.shape), None
        found = found.reshape(-1)
        return (np.where(found > 0, 1, -1), found) if data.classes else (found, None)

    def about(self):
        """What was chosen, and its score of held-out rows."""
        winner = self.said.get("winner")
        if not winner:
            return {}
        chosen = {key: winner[key] for key in ("method", "kernel", "weight") if winner.get(key) is not None}
        return {"chosen": chosen, "cv": winner["score"], "by": self.said["metric"]}

    def path(self, name):
        return pathlib.Path(self.folder.name) / name

    def run(self, *words):
        done = subprocess.run([self.command, *map(str, words)], capture_output=True, text=True)
        if done.returncode:
            lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
            raise RuntimeError(lines[-1])
        return done.stdout


def arrays(data, labels=True):
    """As the command reads them. Names of tasks and classes sort like their numbers."""
    found = {"X": data.x}
    if data.task is not None:
        found |= {"task": data.task.astype(np.int32)}
        return found | ({"y": data.y.astype(float)} if labels else {})
    if not labels:
        return found
    if not data.classes:
        return found | {"Y": data.y}
    return found | {"label": data.y.astype(np.int32)}


def kernels(x):
    """The linear kernel and RBF kernels of a few widths, as text."""
    spread = x.std(axis=0)
    some = x[np.linspace(0, len(x) - 1, min(len(x), 200)).astype(int)] / np.where(spread > 0, spread, 1)
    square = ((some[:, None] - some[None]) ** 2).sum(axis=2)
    median = np.sqrt(np.median(square[square > 0]))
    return ["linear", *(f"rbf:{0.5 / (width * median) ** 2:.1e}" for width in WIDTHS_IN_MEDIAN_DISTANCES)]
