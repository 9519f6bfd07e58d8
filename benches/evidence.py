"""kin against simple models, other methods and other software, on the sets of the data folder and generated worlds.

    cargo build --release -p kinfolk-cli
    python benches/evidence.py --out benches/runs/NAME --command target/release/kinfolk --jobs 2
    python benches/evidence.py --report benches/runs/NAME -o docs/evidence.md

Every set of $KINFOLK_DATA or ../shared/data and eight generated worlds (benches/evidencebench/problems.py), three
training sizes, ten splits; all methods have the same rows. Each job is a set, a size and a split, in a process of its
own with one thread. Results are written at once; --resume goes on where a run was ended, also for methods that were not
installed then or failed. A method that takes longer than --method-seconds has no score for that set and size; other
splits of it are not tried. The methods that matter least (--extra-seconds) come last. After --minutes the run ends, and
what there is can be reported. Needs the packages of benches/requirements.txt; lightgbm, catboost and gpytorch
are used if they are there.

For a machine without the data: --pack DIR writes the rows that the splits draw from; there KINFOLK_DATA is DIR.
"""

import os

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"  # before numpy is loaded

import argparse
import importlib
import importlib.metadata
import pathlib
import platform
import shlex
import sys
import time

from evidencebench import page, problems, rivals, runner
from solverbench import files

PACKAGES = ["numpy", "scikit-learn", "lightgbm", "catboost", "gpytorch", "torch"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--out", type=pathlib.Path, help="run, and record here")
    what.add_argument("--report", type=pathlib.Path, metavar="RUN", help="write the page of a recorded run")
    what.add_argument("--pack", type=pathlib.Path, metavar="DIR", help="write the rows that are needed")
    what.add_argument("--plan", action="store_true", help="list problems and sizes")
    parser.add_argument("-o", "--page", type=pathlib.Path, help="the page [default: RUN/summary.md]")
    parser.add_argument("--command", type=pathlib.Path, help="the kinfolk command")
    parser.add_argument("--sets", default=",".join(problems.NAMES))
    parser.add_argument("--sizes", default=",".join(problems.SIZES))
    parser.add_argument("--methods", help="only these")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="at a time")
    parser.add_argument("--method-seconds", type=float, default=120.0, help="limit of a method in a split")
    parser.add_argument("--extra-seconds", type=float, default=60.0, help=f"the same of {', '.join(runner.EXTRA)}")
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--commit", default=files.commit(), help="of the command, for the record")
    return parser.parse_args()


def machine():
    cpu = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    return f"{cpu[0] if cpu else platform.machine()}, {len(cpu)} cores"


def versions():
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found += [f"{name} {importlib.metadata.version(name)}"]
        except importlib.metadata.PackageNotFoundError:
            pass
    return ", ".join(found)


def about_problems(names):
    found = {}
    for name in names:
        if (data := problems.of_split(name, 0)) is not None:
            tasks, features = problems.n_tasks(data), data.x.shape[1]
            found[name] = {"form": data.form, "tasks": tasks, "features": features, "sizes": problems.sizes(data)}
    return found


def start_record(args, names):
    """The words of a run, in its README and as the first line of its record."""
    args.out.mkdir(parents=True, exist_ok=True)
    words = shlex.join(["python", "benches/evidence.py", *sys.argv[1:]])
    absent = [name for name, rival in rivals.RIVALS.items() if not rival.is_here()]
    about = {"machine": machine(), "versions": versions(), "commit": args.commit, "absent": absent}
    files.append(args.out / "raw.jsonl", {"run": about | {"problems": about_problems(names)}})
    readme = args.out / "README.md"
    before = readme.read_text() if readme.exists() else "# Evidence\n\nThe record of docs/evidence.md. Written by\n\n"
    lines = [f"    {words}", "", f"{about['machine']}; {about['versions']}; commit {about['commit']}; not installed: "]
    files.replace(readme, before + "\n".join(lines) + f"{', '.join(absent) or 'nothing'}.\n\n")


def run(args):
    raw = args.out / "raw.jsonl"
    if raw.exists() and not args.resume:
        sys.exit(f"{raw}: there is a record already; --resume goes on with it")
    if args.command is None or not args.command.is_file():
        sys.exit("--command: the path of the kinfolk command is needed")
    deadline = time.monotonic() + 60 * args.minutes
    names, sizes = args.sets.split(","), args.sizes.split(",")
    limits = (args.method_seconds, args.extra_seconds)
    done, hopeless = runner.known(files.read(raw), limits)
    for rival in rivals.RIVALS.values():  # once, before processes are made
        if rival.is_here():
            importlib.import_module(rival.needs)
    waiting = runner.jobs(names, sizes, args.splits, args.methods and args.methods.split(","), done, limits)
    start_record(args, names)
    print(f"{len(waiting)} jobs, {sum(len(job.methods) for job in waiting)} results to find", flush=True)
    left = runner.run(runner.Queue(waiting, hopeless, raw, args.command.resolve()), args.jobs, deadline)
    print(f"{left} results were not reached" if left else "done")


def record_name(folder):
    """As the page names it: seen from the project's folder."""
    parts = folder.resolve().parts
    return "/".join(parts[parts.index("benches") :]) if "benches" in parts else folder.name


def main():
    args = arguments()
    if args.pack:
        problems.pack(args.pack)
    elif args.plan:
        for name, one in about_problems(args.sets.split(",")).items():
            print(name, one["form"], one["tasks"], "tasks", one["features"], "features", one["sizes"])
    elif args.report:
        text = page.written(files.read(args.report / "raw.jsonl"), record_name(args.report))
        files.replace(args.page or args.report / "summary.md", text)
    else:
        run(args)


if __name__ == "__main__":
    main()
