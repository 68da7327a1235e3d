"""Runs one row of scripts.py under a given Python and reads its metric from what it prints."""
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import threading
import time

from . import source

LAUNCH = pathlib.Path(__file__).with_name("launch.py")
DATA = pathlib.Path(__file__).with_name("data.py")
GRACE = 10  # seconds for a stopped script to end by itself

Outcome = collections.namedtuple("Outcome", "metric seconds error output")


def prepare(script, python, sources, hashes, folder, mxnet):
    """Writes the script, its modules and its data below `folder`; returns where it runs.

    `python` makes the data, with the packages that the script itself will have, `mxnet` among them.
    """
    for file in script.files:
        sources.place(script.release, file, folder, hashes)
    place = os.path.join(folder, script.place)
    done = subprocess.run([*interpreter(python, mxnet), str(DATA), place, json.dumps(script.data)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
    if done.returncode != 0:
        raise source.Refused("its data cannot be made: " + last_line(done.stdout))
    return place


def interpreter(python, mxnet):
    """How `python` runs a program in which `import mxnet` works."""
    return [python] if mxnet else [python, "-m", "symbind"]


def command(script, python, seed, mxnet):
    """The command line; `mxnet` says that `python` holds MXNet itself."""
    options = ["absent=" + name for name in script.absent]
    if mxnet and script.gpu:
        options.append("gpu-as-cpu")
    inside = os.path.relpath(script.script, script.place)
    arguments = [word.replace("{seed}", str(seed)) for word in script.arguments]
    return [*interpreter(python, mxnet), str(LAUNCH), str(seed), *options, "--", inside, *arguments]


def environment(script, threads, mxnet):
    settings = dict(os.environ, OMP_NUM_THREADS=str(threads), MPLBACKEND="Agg", PYTHONHASHSEED="0",
                    PYTHONUNBUFFERED="1", PYTHONIOENCODING="utf-8", PYTHONUTF8="1", **script.environment)
    if script.gpu and not mxnet:
        settings["SYMBIND_GPU_AS_CPU"] = str(script.gpu)
    return settings


def stop(process):
    """Ctrl-C for the script and whatever it started; then an end."""
    for number, patience in ((signal.SIGINT, GRACE), (signal.SIGKILL, GRACE)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(patience)
            return
        except subprocess.TimeoutExpired:
            continue


def run(script, python, sources, hashes, seed=1, threads=1, timeout=600, mxnet=False):
    """Runs a script in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory(prefix="mxnet_example_") as folder:
        try:
            place = prepare(script, python, sources, hashes, folder, mxnet)
        except source.Refused as error:
            return Outcome(None, 0.0, str(error), "")
        start = time.time()
        process = subprocess.Popen(command(script, python, seed, mxnet), cwd=place,
                                   env=environment(script, threads, mxnet), stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True,
                                   encoding="utf-8", errors="replace")
        late = threading.Event()
        timer = threading.Timer(timeout, lambda: (late.set(), stop(process)))
        timer.start()
        try:
            output, stopped = follow(process, script)
            seconds = time.time() - start
            if stopped:
                stop(process)
            process.wait()
        finally:
            timer.cancel()
            if process.poll() is None:
                stop(process)
        return judge(script, output, seconds, stopped, process.returncode, late.is_set(), timeout)


def follow(process, script):
    """What the script prints, to its end or to its metric's `stop_after`th line; and whether it was the latter."""
    lines = []
    pattern = re.compile(script.metric)
    found = 0
    for line in process.stdout:
        lines.append(line)
        if script.stop_after and pattern.search(line):
            found += 1
            if found == script.stop_after:
                return "".join(lines), True
    return "".join(lines), False


def judge(script, output, seconds, stopped, status, late, timeout):
    matches = re.findall(script.metric, output, re.MULTILINE)
    metric = None
    if matches:
        metric = matches[-1] if script.exact else float(matches[-1])
    error = ""
    if late:
        error = "still running after {} s".format(timeout)
    elif not stopped and status != 0:
        error = "ended with status {}: {}".format(status, last_line(output))
    elif metric is None:
        error = "printed no metric"
    elif script.stop_after and not stopped:
        error = "ended before its metric was printed {} times".format(script.stop_after)
    return Outcome(metric, seconds, error, output)


def last_line(output):
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    return lines[-1][:200] if lines else "no output"
