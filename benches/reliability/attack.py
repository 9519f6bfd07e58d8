"""An attacker on the command line: hostile names, columns, spec files, models, paths and numbers, thousands of times.

    python benches/reliability/attack.py --command target/release/kinfolk --seconds 600 --out attack.json

No try may panic, hang, end with a code that is not documented, say more than one error, print the control characters
of a name to the terminal, print broken JSON, change a file that it was not told to write, or leave a hidden file
behind. Pages and pictures of models with hostile names must have no more tags than those with plain ones.
"""

import common
import hashlib
import html.parser
import json
import os
import resource
import subprocess
import xml.etree.ElementTree

import hostile

SECONDS_OF_A_HANG = 60
MOST_MEMORY_BYTES = 6 << 30
MOST_ERROR_CHARACTERS = 4000
CONTROL = {*range(32), 127} - {9, 10, 13}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY_BYTES, MOST_MEMORY_BYTES))


def run(worker, words, stdin=b""):
    """Runs the command with bytes as words; code, output, errors."""
    try:
        done = subprocess.run(
            [worker.command, *words],
            cwd=worker.folder,
            input=stdin,
            capture_output=True,
            timeout=SECONDS_OF_A_HANG,
            preexec_fn=limited,
        )
    except subprocess.TimeoutExpired:
        return None, b"", b""
    except ValueError:
        return 2, b"", b""  # a null character cannot be in a word
    return done.returncode, done.stdout, done.stderr


EMPTY = hashlib.sha256(b"").hexdigest()


def digests(folder):
    found = {}
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink():
            found[path.name] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def judge(worker, words, code, out, err, before, may_write):
    """Counts a try; what is wrong becomes a finding."""
    said = err.decode(errors="replace")
    shown = [word if isinstance(word, str) else repr(word) for word in words]

    def finding(what, **more):
        worker.finding(what, words=[word[:300] for word in shown], code=code, said=said[-700:], **more)

    worker.count("tries", words[0] if words and words[0] in hostile.COMMANDS else "other")
    worker.count("exit codes", code)
    if bad := worker.bad_end(code, said):
        return finding(bad)
    errors = [line for line in said.splitlines() if line.startswith("error")]
    if code in (3, 4) and (len(errors) != 1 or not said.startswith(("error", "note", "warning"))):
        finding("not one error")
    if code in (2, 3, 4) and len(said) > MOST_ERROR_CHARACTERS:
        finding("a long error", characters=len(said))
    if code == 2 and not said.strip():
        finding("wrong usage without a word")
    if any(character in CONTROL for character in err):
        finding("control characters in messages")
    # Predictions as csv are data: names in them are as they were given.
    if "predict" not in shown and any(character in CONTROL and character != 127 for character in out):
        finding("control characters in the output", out=repr(out[-300:]))
    if code in (0, 1) and "--json" in shown and "--help" not in shown and "-h" not in shown and out.strip():
        try:
            json.loads(out)
        except ValueError as error:
            finding("broken JSON", error=str(error), out=out[:300].decode(errors="replace"))
    after = digests(worker.folder)
    for name, was in before.items():
        # An empty file has nothing to lose, and may be replaced by an output of its name.
        empty_output = was == EMPTY and any(str(word).endswith(name) for word in words)
        if after.get(name) != was and name not in may_write and not empty_output:
            finding(f"{name[:80]} was changed")
    for name in set(after) - set(before):
        if name.startswith(".kinfolk-"):
            finding("a hidden file lies around")
        elif code in (2, 3):
            finding(f"a command that failed wrote {name[:80]}")


class Tags(html.parser.HTMLParser):
    """Tags and attributes of a page that can do something."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tags, self.bad = 0, []

    def handle_starttag(self, tag, attributes):
        self.tags += 1
        for name, value in attributes:
            if name == "xmlns":
                continue
            if (
                name.startswith("on")
                or value
                and value.strip().lower().startswith(("javascript:", "http:", "data:text"))
            ):
                self.bad.append(f"{tag} {name}={value}"[:200])


def tags(text):
    parser = Tags()
    parser.feed(text)
    parser.close()
    return parser


def names_attack(worker, plain_tags):
    """Fits a file whose tasks and columns have hostile names, and looks at everything that is written about it."""
    rng = worker.rng
    text, tasks = hostile.table_of_names(rng)
    clean(worker)
    (worker.folder / "n.csv").write_bytes(text)
    before = digests(worker.folder)
    words = ["fit", "n.csv", "--task", "task", "--target", "y", "-o", "n.st", "--c", "1"]
    code, out, err = run(worker, words)
    judge(worker, words, code, out, err, before, {"n.st"})
    if code != 0:
        return worker.count("names", "refused")
    worker.count("names", "fitted")
    for words, output in (
        (["report", "n.st", "n.csv", "-o", "n.html"], "n.html"),
        (["theta", "n.st", "--svg", "n.svg"], "n.svg"),
        (["theta", "n.st", "-o", "n.graphml"], "n.graphml"),
        (["theta", "n.st", "-o", "t.csv"], "t.csv"),
        (["model", "show", "n.st", "--json"], None),
        (["model", "coef", "n.st", "--json"], None),
        (["model", "coef", "n.st"], None),
        (["certify", "n.st", "n.csv", "--json"], None),
        (["predict", "n.st", "n.csv", "-o", "p.jsonl"], "p.jsonl"),
        (["evaluate", "n.st", "n.csv"], None),
        (["data", "convert", "n.csv", "n.npz", "--task", "task", "--target", "y"], "n.npz"),
    ):
        before = digests(worker.folder)
        code, out, err = run(worker, words)
        judge(worker, words, code, out, err, before, {output})
        if code not in (0, 1):
            worker.finding(
                "a model with these names cannot be used",
                words=words,
                said=err.decode(errors="replace")[-500:],
                names=tasks,
            )
        elif output and output.endswith(".html"):
            found = tags((worker.folder / output).read_text())
            if found.bad:
                worker.finding("a name became code", tags=found.bad, names=tasks)
        elif output and output.endswith((".svg", ".graphml")):
            try:
                xml.etree.ElementTree.parse(worker.folder / output)
            except xml.etree.ElementTree.ParseError as error:
                worker.finding(f"{output} is not XML", error=str(error), names=tasks)
        elif output == "p.jsonl":
            for line in (worker.folder / output).read_text().splitlines():
                json.loads(line)


def clean(worker):
    for path in worker.folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            continue
        path.unlink()


def words_attack(worker, place):
    """Words drawn from commands, options, values and files."""
    place.restore()
    before = digests(worker.folder)
    words, may_write = hostile.words(worker.rng, place)
    code, out, err = run(worker, words, stdin=hostile.some_bytes(worker.rng))
    judge(worker, words, code, out, err, before, may_write)
    for path in worker.folder.iterdir():
        if path.name not in place.files and path.name != "sub":
            path.unlink() if not path.is_dir() or path.is_symlink() else None


def file_attack(worker, place):
    """A good file with some bytes changed, as data, model, spec, checkpoint, trace or results."""
    place.restore()
    name, words = hostile.with_broken_file(worker.rng, place)
    before = digests(worker.folder)
    code, out, err = run(worker, words)
    worker.count("broken files", name, code)
    judge(worker, words, code, out, err, before, {"o.st", "o.csv", "o.html", "o.npz", "c.st"})


def work(worker):
    os.makedirs(worker.folder / "sub", exist_ok=True)
    place = hostile.Place(worker)
    while worker.alive():
        kind = worker.rng.random()
        if kind < 0.15:
            names_attack(worker, None)
        elif kind < 0.55:
            file_attack(worker, place)
        else:
            words_attack(worker, place)


if __name__ == "__main__":
    common.main(work, common.parser(__doc__).parse_args())
