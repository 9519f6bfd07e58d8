"""Random small problems, fitted by the command; every certificate is computed again by a checker of its own.

    python benches/reliability/certificates.py --command target/release/kinfolk --seconds 600 --out certificates.json

A certificate is false if the model's objective less the bound is larger than the gap in the file, beyond rounding,
or if the point is none: duals outside their domain, another Theta or other weights than the duals say. Some models
are also given to `kinfolk certify`.
"""

import common
import numpy as np
import problems
import recheck

# Of the objective. If rounding may change it by more, the last digits of the inputs decide about it.
MOST_ROUNDING = 1e-3
# Of the gap: rounding that may add less to it does not count.
NEGLIGIBLE = 0.01
# Of the objective: a bound that far below it says as little as none.
NO_BOUND = 1e100
SHARE_CERTIFIED_BY_THE_COMMAND = 0.1


def differs(here, there, allowed):
    """Infinities of the same sign agree: no bound is the honest answer where the dual overflows double precision."""
    with np.errstate(over="ignore"):
        same = float(here) == there
    return not same and not abs(here - there) <= allowed


def size_of(primal):
    """An objective, but not zero."""
    return max(abs(primal), recheck.UNDERFLOW)


def grade(worker, problem, words):
    """Compares a model with its certificate."""
    about, tensors = recheck.read_model(worker.folder / "m.st")
    stored = {name: float(about["certificate"][name]) for name in ("primal", "dual", "gap")}
    data = problems.data_of(problem, about)
    found = recheck.recheck(about, tensors, data)
    worker.count("status", about["status"])
    for name, value in problem.about.items():
        worker.count("checked", name, value)
    worker.count("checked", "form of the certificate", about["certificate"]["form"])
    of_primal, of_dual, of_theta = recheck.rounding(about, tensors, data, found)
    rounding = of_primal + of_dual
    wrong = list(found.faults)
    tolerance = float(words[words.index("--tol") + 1])
    size = max(abs(found.primal), abs(found.dual))
    if not rounding <= MOST_ROUNDING * size + recheck.UNDERFLOW:
        false = about["status"] == "certified" and not found.gap <= (1 + NEGLIGIBLE) * tolerance * size
        if false and found.primal <= recheck.ZERO_OBJECTIVE * found.zero + recheck.UNDERFLOW:
            worker.count("beyond double precision", "objective zero up to rounding")
        else:
            worker.count("beyond double precision", about["status"])
            if false:
                worker.finding("certified, not in exact arithmetic", about=problem.about, words=words, draw=worker.draw)
        return
    # What the file itself says about rounding counts: a fit is certified only if that is within the tolerance, too.
    said = float(about["certificate"]["rounding"])
    if not found.gap <= stored["gap"] * (1 + 1e-6) + max(rounding, said):
        wrong.append("the gap is larger than stored")
    no_bound = stored["dual"] == -np.inf and found.dual < -NO_BOUND * size_of(found.primal)
    if differs(found.primal, stored["primal"], max(of_primal, said)):
        wrong.append("objective differs")
    if differs(found.dual, stored["dual"], max(of_dual, said)) and not no_bound:
        wrong.append("bound differs")
    allowed = recheck.PART_ROUNDING * np.sqrt(np.outer(np.diag(found.theta), np.diag(found.theta)))
    allowed = allowed + recheck.theta_underflow(found)
    if (abs(tensors["theta"] - found.theta) > allowed + of_theta).any():
        wrong.append("theta is not that of the point")
    if about["status"] == "certified" and not found.gap <= tolerance * size + rounding:
        wrong.append("certified beyond its tolerance")
    numbers = {"primal": found.primal, "dual": found.dual, "gap": found.gap, "rounding": rounding, "stored": stored}
    for what in wrong:
        worker.finding(what, about=problem.about, words=words, numbers=numbers, draw=worker.draw)
    worker.count("certificates", "wrong" if wrong else "right")


def one(worker):
    problem = problems.draw(worker.rng)
    for old in worker.folder.iterdir():
        old.unlink()
    problem.save(worker.folder)
    words = ["fit", "data.npz", "-o", "m.st", "--quiet", "--threads", "1", "--max-seconds", "5", *problem.options]
    code, _, said = worker.run(words)
    worker.count("problems")
    if bad := worker.bad_end(code, said):
        worker.finding(bad, about=problem.about, words=words, said=said[-500:], draw=worker.draw)
    elif code != 0:
        lines = said.strip().splitlines()
        why = lines[-1].partition(": ")[2] if lines else ""
        worker.count("refused", why.replace("/", " or ")[:70] or "without a word")
        if (worker.folder / "m.st").exists():
            worker.finding("a model of a fit that failed", words=words, said=said)
    else:
        grade(worker, problem, words)
        if worker.rng.random() < SHARE_CERTIFIED_BY_THE_COMMAND:
            code, said, error = worker.run(["certify", "m.st", "data.npz"])
            agrees = code in (0, 1) and "model and data agree" in said  # 1: they do, but the gap is not within --tol
            worker.count("kinfolk certify", "agrees" if agrees else "differs")
            if not agrees:
                said += error
                worker.finding("kinfolk certify differs", words=words, said=said[-500:], draw=worker.draw)


def work(worker):
    worker.draw = 0
    first = worker.options.only
    while worker.alive():
        # A problem depends on the seed, the worker and its number alone, so that one can be drawn again.
        worker.rng = np.random.default_rng([worker.options.seed, worker.number, worker.draw])
        if first is None or worker.draw == first:
            one(worker)
        if worker.draw == first or worker.options.problems and worker.draw + 1 >= worker.options.problems:
            break
        worker.draw += 1


if __name__ == "__main__":
    parser = common.parser(__doc__)
    parser.add_argument("--problems", type=int, help="most problems of a job")
    parser.add_argument("--only", type=int, metavar="DRAW", help="only this problem of each job")
    common.main(work, parser.parse_args())
