"""Runs symbind.launch with stubs in place of scheduler, servers and workers.

A stub writes its environment to $STUB_FOLDER/ROLE.RANK.GENERATION.ATTEMPT.json. A worker then follows its
word of a plan: `leave` ends it with 0, a number ends it with this status, `kill` by SIGKILL, `wait` sleeps.
The scheduler's stub ends with 0 when all workers left, and in a synchronous job (STUB_SYNC=1) with 75 after
a worker failed. A real scheduler behaves like this.
"""
import json
import os
import pathlib
import subprocess
import sys
import time

PACKAGE = pathlib.Path(__file__).resolve().parents[2] / "python" / "symbind"

STUB = """
import json, os, pathlib, signal, sys, time
folder = pathlib.Path(os.environ["STUB_FOLDER"])
role, rank, generation = (os.environ[n] for n in ("DMLC_ROLE", "SYMBIND_DIST_RANK", "SYMBIND_DIST_GENERATION"))
start = f"{role}.{rank}.{generation}."
attempt = sum(entry.name.startswith(start) for entry in folder.iterdir())
partial = folder / (".partial." + start)
partial.write_text(json.dumps({"environment": dict(os.environ), "pid": os.getpid(), "attempt": attempt,
                               "argv": sys.argv, "folder": os.getcwd()}))
partial.rename(folder / f"{start}{attempt}.json")

def marks(word):
    return sum(1 for entry in folder.iterdir() if entry.name.startswith(f"{word}.{generation}."))

def mark(word):
    (folder / f"{word}.{generation}.{rank}").touch()

if role != "worker":
    while marks("left") < int(os.environ["DMLC_NUM_WORKER"]):
        if os.environ.get("STUB_SYNC") and marks("lost"):
            sys.exit(75)
        time.sleep(0.02)
    sys.exit(0)

def follow(word):
    if word == "leave":
        mark("left")
        sys.exit(0)
    if word == "wait":
        time.sleep(60)
    mark("lost")
    if word == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    sys.exit(int(word))
"""

# The launcher in a process without the extension: the package `symbind` is only a search path here.
RUNNER = """
import json, sys, types
settings = json.loads(sys.argv[1])
package = types.ModuleType("symbind")
package.__path__ = [settings.pop("package")]
sys.modules["symbind"] = package
from symbind.launch import job
service = settings.pop("service")
for name, value in settings.items():
    setattr(job, name, value)
sys.exit(job.main(sys.argv[2:], service=service))
"""

# {rank: [word of the first start, of the second, ...]}; a missing rank or start means `leave`. The start is the
# generation, and in a job that continues the attempt.
FOLLOW_PLAN = """
plan = json.loads(sys.argv[1]).get(rank, [])
start = int(generation) + attempt
follow(plan[start] if start < len(plan) else "leave")
"""


class Stubs:
    """A folder with stubs, and the launcher's runs in it."""

    def __init__(self, folder):
        self.folder = folder
        self.records = folder / "records"
        self.records.mkdir()
        self.service = self.write("service.py", "")
        self.planned = self.write("planned.py", FOLLOW_PLAN)

    def write(self, name, ending):
        path = self.folder / name
        path.write_text(STUB + ending, encoding="utf-8")
        return [sys.executable, "-I", "-S", str(path)]

    def command(self, *arguments, **settings):
        settings = {"package": str(PACKAGE), "service": self.service, **settings}
        return [sys.executable, "-I", "-S", "-c", RUNNER, json.dumps(settings), *arguments]

    def start(self, *arguments, environment=None, settings=None, **options):
        """A running launcher, with an environment that has leftovers of another job."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("SYMBIND_DIST")}
        environment = {**inherited, "STUB_FOLDER": str(self.records), "DMLC_ROLE": "scheduler",
                       "SYMBIND_DIST_RANK": "77", "SYMBIND_DIST_BIND": "203.0.113.9", **(environment or {})}
        return subprocess.Popen(self.command(*arguments, **(settings or {})), env=environment, cwd=self.folder,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

    def run(self, *arguments, **options):
        process = self.start(*arguments, **options)
        try:
            process.stdout, process.stderr = process.communicate(timeout=60)
        finally:
            process.kill()
        return process

    def run_plan(self, plan, *arguments, **options):
        return self.run(*arguments, *self.planned, json.dumps(plan), **options)

    def recorded(self):
        """{(role, rank, generation, attempt): record}"""
        found = {}
        for path in sorted(self.records.glob("*.json")):
            role, rank, generation, attempt = path.stem.split(".")
            found[role, int(rank), int(generation), int(attempt)] = json.loads(path.read_text(encoding="utf-8"))
        return found

    def wait_for(self, count):
        """Waits until `count` stubs run; returns their pids."""
        until(lambda: len(self.recorded()) >= count)
        return [record["pid"] for record in self.recorded().values()]


def until(condition, seconds=20):
    """The first true value of condition()."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = condition()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"not reached in {seconds} s")


def runs(pid):
    """Whether a process runs; a zombie does not."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] not in ("Z", "X")
