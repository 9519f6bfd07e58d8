"""Faults other than signals: no room, no permission, inputs that change while they are read."""

import os
import resource
import shutil
import signal
import subprocess
import time

NOBODY = 65534
# What a command is to be told by: one line, at most this long.
MOST_CHARACTERS_OF_A_LINE = 2000


def start(place, words, **how):
    return subprocess.Popen(
        [place.worker.command, *words, "--quiet"],
        stdin=place.stdin(words),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        **({"cwd": place.folder} | how),
    )


def end(place, kind, words, child, allowed):
    """Waits for a command: its code, after a look at what it said."""
    worker = place.worker
    try:
        said = child.communicate(timeout=120)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        child.kill()
        worker.finding("hang", kind=kind, words=words)
        return None, ""
    code = child.returncode
    worker.count("faults", kind, f"exit code {code}")
    if bad := worker.bad_end(code, said):
        worker.finding(bad, kind=kind, words=words, said=said[-800:])
    elif code not in allowed:
        worker.finding("exit code", kind=kind, code=code, words=words, said=said[-800:])
    errors = [line for line in said.splitlines() if line.startswith("error")]
    if code not in (0, None) and (len(errors) != 1 or len(errors[0]) > MOST_CHARACTERS_OF_A_LINE):
        worker.finding("not one line of an error", kind=kind, words=words, said=said[-800:])
    return code, said


def check_outputs(place, kind, name, words, outputs, folder, before, code):
    for output in outputs:
        path = folder / output
        now = path.read_bytes() if path.exists() else None
        new = place.whole[name][output]
        if now not in (before.get(output), new) or code == 0 and now != new:
            place.worker.finding(f"{output} is neither old nor new", kind=kind, words=words, code=code)
    for other in folder.iterdir():
        if other.name.startswith(".kinfolk-"):
            place.worker.finding("a hidden file lies around", kind=kind, words=words, code=code)


def old_outputs(place, folder, outputs):
    before = {}
    for output in outputs:
        if place.worker.rng.random() < 0.6:
            before[output] = place.old(output)
            (folder / output).write_bytes(before[output])
    return before


def no_room(place, name, words, outputs):
    """Files may not grow beyond a limit: as if the disk were full."""
    before = old_outputs(place, place.folder, outputs)
    most = max(len(new) for new in place.whole[name].values())
    limit = int(place.worker.rng.uniform(0, 1.2 * most))

    def limited():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    code, _ = end(place, "no room", words, start(place, words, preexec_fn=limited), {0, 4})
    check_outputs(place, "no room", name, words, outputs, place.folder, before, code)


def full_disk(place, name, words, outputs):
    """A file system in memory that is too small; only where mounting is allowed."""
    folder = place.folder / "small"
    folder.mkdir()
    most = max(len(new) for new in place.whole[name].values())
    size = int(place.worker.rng.uniform(4096, 1.2 * most + 8192))
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True).returncode != 0:
        place.worker.count("faults", "full disk", "mounting is not allowed here")
        return
    try:
        inside = [str(folder / word) if word in outputs else word for word in words]
        code, _ = end(place, "full disk", words, start(place, inside), {0, 4})
        check_outputs(place, "full disk", name, words, outputs, folder, {}, code)
    finally:
        subprocess.run(["umount", str(folder)], capture_output=True)


def without_permission(place, name, words, outputs):
    """The folder of the output may not be written to, from the start or from some moment on."""
    folder = place.folder / "closed"
    folder.mkdir()
    before = old_outputs(place, folder, outputs)
    how = {}
    if os.geteuid() == 0:  # for whom nothing is forbidden
        for path in (folder, *folder.iterdir()):
            os.chown(path, NOBODY, NOBODY)
        place.folder.chmod(0o755)
        how = {"user": NOBODY, "group": NOBODY}
    late = place.worker.rng.random() < 0.5
    kind = "permission lost" if late else "read-only folder"
    inside = [str(folder / word) if word in outputs else word for word in words]
    # Files beside the outputs would be written to the folder of the inputs, which is not nobody's.
    for option in ("--trace", "--results", "--checkpoint"):
        if option in inside:
            place_of = inside.index(option)
            del inside[place_of : place_of + 2]
    if "--checkpoint-every" in inside:
        place_of = inside.index("--checkpoint-every")
        del inside[place_of : place_of + 2]
    if not late:
        folder.chmod(0o555)
    child = start(place, inside, **how)
    if late:
        time.sleep(place.worker.rng.uniform(0, place.seconds[name]))
        folder.chmod(0o555)
    code, _ = end(place, kind, words, child, {0, 4} if late else {4})
    folder.chmod(0o755)
    if code is not None:
        check = [other for other in folder.iterdir() if other.name.startswith(".kinfolk-")]
        for other in check if late else []:  # it may not be removed any more
            place.worker.count("hidden files where nothing may be removed")
            other.unlink()
        check_outputs(place, kind, name, words, outputs, folder, before, code)


def changing_input(place, name, words, outputs):
    """The file is cut short, grows or changes while it is read."""
    inputs = [word for word in words if word in place.inputs]
    changed = inputs[place.worker.rng.integers(len(inputs))] if inputs else None
    if changed is None:
        return
    kind = ["cut short", "overwritten", "grown", "removed"][place.worker.rng.integers(4)]
    path, kept = place.folder / changed, (place.folder / changed).read_bytes()
    before = old_outputs(place, place.folder, outputs)
    child = start(place, words)
    time.sleep(place.worker.rng.uniform(0, 0.6 * place.seconds[name]))
    if kind == "cut short":
        os.truncate(path, int(place.worker.rng.uniform(0, len(kept))))
    elif kind == "overwritten":
        with open(path, "r+b") as file:
            file.seek(int(place.worker.rng.uniform(0, len(kept))))
            file.write(b'\x00\xff,;\n"' * 200)
    elif kind == "grown":
        with open(path, "ab") as file:
            file.write(kept[: len(kept) // 2])
    else:
        path.unlink()
    code, _ = end(place, f"input {kind}", words, child, {0, 3})
    path.write_bytes(kept)
    for output in outputs:
        there = place.folder / output
        if code != 0 and (there.read_bytes() if there.exists() else None) != before.get(output):
            place.worker.finding(f"{output} was changed by a command that failed", kind=kind, words=words, code=code)


def one(place, scenarios):
    """A fault of some kind."""
    rng = place.worker.rng
    name, words, outputs = scenarios[rng.integers(len(scenarios))]
    place.clear()
    kind = [no_room, full_disk, without_permission, changing_input][rng.integers(4)]
    kind(place, name, words, outputs)
    if shutil.disk_usage(place.folder).free < 1 << 28:
        raise RuntimeError("the disk of this machine is full")
