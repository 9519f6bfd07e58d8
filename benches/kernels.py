"""Kernel machines beside scikit-learn: squared loss against KernelRidge, hinge loss against one SVC for each class.

    python benches/kernels.py --out benches/runs/NAME [--rows 2000,6000,13083] [--seconds 60] [--command kinfolk]

RBF kernels of the same width on the same rows. "generated": 20 smooth functions of eight features with noise.
"banking77": embeddings of sentences of 77 classes ($KINFOLK_DATA, else ../shared/data; left out if it is not there),
13,083 rows at most. kinfolk learns all tasks jointly with intercepts at three strengths and is certified at 1e-6
(hinge, with --hinge: 1e-3); its time is the one that its command reports, Gram matrix included. KernelRidge gets one
alpha, since its time does not depend on it; SVC gets C = 1. Writes raw.jsonl and README.md.
"""

import argparse
import json
import math
import os
import pathlib
import subprocess
import tempfile
import time
import warnings

import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

METHODS = ["kin", "fmtl:k=1", "fmtl:k=4"]
STRENGTHS = [0.1, 1.0, 10.0]


def data(name, rows):
    """Inputs, numbers to predict, class of each row if there are classes; None if the data are not there."""
    rng = np.random.default_rng(rows)
    if name == "generated":
        x = rng.uniform(-1, 1, size=(rows, 8))
        common = np.sin(3 * x[:, 0]) + x[:, 1] * x[:, 2]
        y = common[:, None] + 0.5 * np.tanh(2 * x @ rng.normal(size=(8, 20))) + 0.3 * rng.normal(size=(rows, 20))
        return x, y, None
    folder = pathlib.Path(os.environ.get("KINFOLK_DATA", pathlib.Path(__file__).parents[2] / "shared" / "data"))
    path = folder / f"{name}.npz"
    if not path.exists():
        print(f"SKIPPED {name}: {path} is not there")
        return None
    with np.load(path) as file:
        x, label = np.asarray(file["X"], dtype=float), file["label"]
    chosen = np.sort(rng.permutation(len(x))[:rows])
    x, label = x[chosen] / np.linalg.norm(x[chosen], axis=1, keepdims=True), label[chosen]
    classes = np.unique(label)
    return x, 2.0 * (label[:, None] == classes) - 1.0, label


def timed(fit):
    began = time.perf_counter()
    model = fit()
    return model, time.perf_counter() - began


def ours(args, file, gamma, *options):
    """One fit by the command."""
    command = [args.command, "fit", file, "-o", file.with_name("model"), "--force", "--json", "--scale", "none"]
    command += options
    command += ["--kernel", "rbf", "--gamma", str(gamma)]
    command += ["--threads", str(args.threads), "--max-seconds", str(args.seconds)]
    found = json.loads(subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout)
    return {name: found[name] for name in ["seconds", "status", "solver"]} | dict(gap=found["rel_gap"])


def measure(args, folder):
    for rows in args.rows:
        for name in ["generated", "banking77"]:
            if (found := data(name, rows)) is None:
                continue
            x, y, label = found
            gamma = 1.0 if name == "banking77" else 0.3
            cell = dict(set=name, rows=len(x), tasks=y.shape[1])
            file = pathlib.Path(folder) / "table.npz"
            np.savez(file, X=x, Y=y)
            _, peer = timed(lambda: KernelRidge(kernel="rbf", gamma=gamma, alpha=1.0).fit(x, y))
            for method in METHODS:
                for strength in STRENGTHS:
                    options = ["--loss", "squared", "--method", method, "--c", f"strength:{strength}", "--tol", "1e-6"]
                    cell |= dict(loss="squared", method=method, strength=strength, peer=peer)
                    yield cell | ours(args, file, gamma, *options)
            if label is None or not args.hinge:
                continue
            np.savez(file, X=x, label=label)
            svc = OneVsRestClassifier(SVC(kernel="rbf", gamma=gamma, C=1.0, cache_size=2000), n_jobs=args.threads)
            _, peer = timed(lambda: svc.fit(x, label))
            cell |= dict(loss="hinge", method="kin", strength=1.0, peer=peer)
            yield cell | ours(args, file, gamma, "--loss", "hinge", "--c", "strength:1", "--tol", "1e-3")


def page(cells, args):
    rows = ",".join(map(str, args.rows))
    command = f"python benches/kernels.py --rows {rows} --seconds {args.seconds:g} --threads {args.threads}"
    lines = ["# Kernel machines beside scikit-learn", "", f"`{command}{' --hinge' * args.hinge}`", "",
             "Seconds of one fit, Gram matrix included; ratio: kinfolk / KernelRidge, or one SVC for each class.",
             "",
             "| set | rows | tasks | loss | method | strength | kinfolk | scikit-learn | ratio | status | gap |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for c in cells:
        ratio = c["seconds"] / c["peer"]
        lines.append(f"| {c['set']} | {c['rows']} | {c['tasks']} | {c['loss']} | {c['method']} | {c['strength']:g} | "
                     f"{c['seconds']:.2f} | {c['peer']:.2f} | {ratio:.2f} | {c['status']} | {c['gap']:.1e} |")
    lines.append("")
    for loss in ["squared", "hinge"]:
        ratios = [c["seconds"] / c["peer"] for c in cells if c["loss"] == loss and c["status"] == "certified"]
        missed = sum(c["loss"] == loss and c["status"] != "certified" for c in cells)
        if ratios or missed:
            mean = f"{math.exp(np.mean(np.log(ratios))):.2f}" if ratios else "none"
            worst = f"{max(ratios):.2f}" if ratios else "none"
            counts = f"{len(ratios)} ratios {mean}, largest {worst}; not certified: {missed}."
            lines.append(f"- {loss}: geometric mean of {counts}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--rows", type=lambda text: [int(n) for n in text.split(",")], default=[2000, 6000, 13083])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--command", default="kinfolk")
    parser.add_argument("--hinge", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    cells = []
    with tempfile.TemporaryDirectory() as folder:
        for cell in measure(args, folder):
            cells.append(cell)
            print(json.dumps(cell), flush=True)
            (args.out / "raw.jsonl").write_text("".join(json.dumps(c) + "\n" for c in cells))
            (args.out / "README.md").write_text(page(cells, args))


if __name__ == "__main__":
    main()
