"""Processes that take a line of JSON and answer with one, ended if they take too long."""

import json
import selectors
import subprocess
import sys


class Worker:
    """A process started when needed and again after it had to be ended."""

    def __init__(self, command, hello=None):
        self.command, self.hello, self.process = [str(part) for part in command], hello, None

    def start(self):
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(self.command, stdin=pipe, stdout=pipe, text=True, bufsize=1)
        if self.hello is not None:
            self.exchange(self.hello, 300)

    def ask(self, request, patience):
        """The answer, or `{"ended": why}` if there was none within so many seconds; starting does not count."""
        if self.process is None:
            self.start()
        return self.exchange(request, patience)

    def exchange(self, request, patience):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return self.lost()
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            if not selector.select(patience):
                self.close()
                return {"ended": "no answer in time"}
        line = self.process.stdout.readline()
        return json.loads(line) if line.strip() else self.lost()

    def lost(self):
        code = self.process.wait()
        self.process = None
        return {"ended": f"died with {code}"}

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def build(root, name="solvers"):
    """The bench executable."""
    command = ["cargo", "bench", "-p", "kinfolk", "--bench", name, "--no-run", "--message-format=json"]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit("cargo could not build the bench")
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if message.get("reason") == "compiler-artifact" and message["target"]["name"] == name:
            if message.get("executable"):
                return message["executable"]
    sys.exit(f"cargo built no bench named {name}")
