"""Processes killed at random moments under --max-restarts: no job hangs, and the results are those of an undisturbed one.

    SYMBIND_KILLS=50 pytest tests/python/test_dist_kills.py -m slow -s

SYMBIND_KILLS is the number of kills of each kind of job (10).
"""
import os
import random
import re
import signal
import subprocess
import sys
import time

import pytest

KILLS = int(os.environ.get("SYMBIND_KILLS", "10"))
LIMIT = 120  # seconds of one job

# Starts, meets at a barrier, trains with checkpoints, saves, ends.
SYNC = """
import hashlib, os
import numpy as np
import symbind as mx
kv = mx.kv.create("dist_sync")
kv._barrier()
rng = np.random.RandomState(3)
x, y = rng.rand(96, 1, 8, 8).astype("float32"), rng.randint(0, 4, 96).astype("float32")
rows = slice(kv.rank * 48, kv.rank * 48 + 48)
data = mx.io.NDArrayIter(x[rows], y[rows], batch_size=4, shuffle=False)
net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=4, name="c")
net = mx.sym.BatchNorm(net, fix_gamma=False, name="bn")
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=4, name="fc"), name="softmax")
mx.random.seed(5)
module = mx.mod.Module(net)
module.fit(data, optimizer="adam", kvstore=kv, num_epoch=4, initializer=mx.init.Xavier(), resume="net",
           checkpoint=mx.callback.Checkpoint("net", every_n_batches=3))
args, aux = module.get_params()
digest = hashlib.sha256()
for name, array in sorted({**args, **aux}.items()):
    digest.update(array.asnumpy().tobytes())
if kv.rank == 0:
    print("HASH", digest.hexdigest(), flush=True)
kv._barrier()
"""

# Every life of a worker has its own element of the value, and writes down what it tries and what is done.
ASYNC = """
import os, time
import numpy as np
import symbind as mx
kv = mx.kv.create("dist_async")
kv.set_optimizer(mx.optimizer.create("test"))
kv.init("w", mx.nd.zeros((64,)))
life = 0
while os.path.exists("life.%d.%d" % (kv.rank, life)):
    life += 1
place = 8 * kv.rank + life
log = open("life.%d.%d" % (kv.rank, life), "w")
gradient = np.zeros(64, "float32")
gradient[place] = 1
gradient, out = mx.nd.array(gradient), mx.nd.zeros((64,))
until = time.time() + 4
while time.time() < until:
    print("try", time.time(), file=log, flush=True)
    kv.push("w", gradient)
    kv.pull("w", out=out)
    print("done", time.time(), out.asnumpy()[place], file=log, flush=True)
    time.sleep(0.002)
kv._barrier()
kv.pull("w", out=out)
print("values", " ".join(str(v) for v in out.asnumpy()), file=log, flush=True)
"""


def role_of(pid):
    """The role of a process of a job, from its environment."""
    try:
        with open("/proc/%d/environ" % pid, "rb") as file:
            found = re.search(rb"DMLC_ROLE=(\w+)", file.read())
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            runs = b"symbind.launch" not in file.read()
        return found.group(1).decode() if found and runs else None
    except OSError:
        return None


def descendants(pid):
    """All processes below one."""
    found, open_ = [], [pid]
    while open_:
        try:
            with open("/proc/{0}/task/{0}/children".format(open_.pop()), encoding="ascii") as file:
                children = [int(child) for child in file.read().split()]
        except OSError:
            continue
        found += children
        open_ += children
    return found


def run(folder, script, servers, kill=None, restarts=6):
    """Runs a job of two workers; `kill(launcher)` kills some of it. Returns the output and the seconds it took."""
    folder.mkdir()
    (folder / "job.py").write_text(script)
    before = time.time()
    with open(folder / "log", "w+", encoding="utf-8") as log:
        launcher = subprocess.Popen(
            [sys.executable, "-m", "symbind.launch", "-n", "2", "-s", str(servers), "--max-restarts", str(restarts),
             sys.executable, "job.py"], cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        try:
            if kill:
                kill(launcher.pid)
            status = launcher.wait(LIMIT)
        finally:
            if launcher.poll() is None:
                for pid in descendants(launcher.pid) + [launcher.pid]:
                    os.kill(pid, signal.SIGKILL)
                launcher.wait()
        log.seek(0)
        text = log.read()
    assert status == 0, text
    return text, time.time() - before


def kill_one(rng, seconds, roles, killed):
    """Kills a process of a random role at a random moment of a job that takes `seconds`."""
    def kill(launcher):
        time.sleep(rng.uniform(0.05, 0.8 * seconds))  # the launcher ends after the workers
        role = rng.choice(roles)
        found = [pid for pid in descendants(launcher) if role_of(pid) == role]
        if found:
            os.kill(rng.choice(found), signal.SIGKILL)
            killed.append((role, time.time()))
    return kill


def kill_after_a_checkpoint(folder, killed):
    """Kills a worker when the job in `folder` has saved."""
    def kill(launcher):
        until = time.time() + 30
        while not list(folder.glob("net-*.json")):
            assert time.time() < until, "no checkpoint"
            time.sleep(0.001)
        found = [pid for pid in descendants(launcher) if role_of(pid) == "worker"]
        if found:
            os.kill(found[-1], signal.SIGKILL)
            killed.append(found[-1])
    return kill


def kill_sync_jobs(folder, kills, roles):
    """Kills a process of each of `kills` jobs, whose hashes must be that of an undisturbed one. Returns what it did."""
    text, seconds = run(folder / "undisturbed", SYNC, 1)
    expected, = re.findall(r"HASH (\w+)", text)
    rng, killed, slowest, restarted = random.Random(1), [], 0, 0
    for i in range(kills):
        text, took = run(folder / str(i), SYNC, 1, kill_one(rng, seconds, roles, killed))
        assert set(re.findall(r"HASH (\w+)", text)) == {expected}, text
        slowest, restarted = max(slowest, took), restarted + ("restart 1 of" in text)
    counts = ", ".join("%s %d" % (role, sum(r == role for r, _ in killed)) for role in roles)
    print("\n%d jobs of %.1f s, killed: %d (%s), restarted: %d, slowest %.1f s" % (
        kills, seconds, len(killed), counts, restarted, slowest))
    return restarted


def test_a_killed_worker_changes_no_bit(tmp_path):
    text, _ = run(tmp_path / "undisturbed", SYNC, 1)
    killed = []
    slow = SYNC.replace("num_epoch=4,", "num_epoch=4, batch_end_callback=lambda _: time.sleep(0.03),")
    disturbed, _ = run(tmp_path / "disturbed", "import time" + slow, 1, kill_after_a_checkpoint(tmp_path / "disturbed", killed))
    assert killed and "restart 1 of" in disturbed, disturbed
    assert re.findall(r"HASH (\w+)", disturbed)[-1:] == re.findall(r"HASH (\w+)", text)


@pytest.mark.slow
def test_dist_sync_ends_with_the_hash_of_an_undisturbed_job(tmp_path):
    assert kill_sync_jobs(tmp_path, KILLS, ["worker", "server", "scheduler"]) > KILLS // 4


@pytest.mark.slow
def test_dist_async_counts_every_push_of_killed_workers_exactly(tmp_path):
    _, seconds = run(tmp_path / "undisturbed", ASYNC, 2)
    rng, killed, back, rates = random.Random(2), [], [], []
    for i in range(KILLS):
        before = len(killed)
        run(tmp_path / str(i), ASYNC, 2, kill_one(rng, seconds, ["worker"], killed))
        lives = {}
        for path in (tmp_path / str(i)).glob("life.*"):
            rank, life = map(int, path.name.split(".")[1:])
            lives[rank, life] = path.read_text().splitlines()
        ends = [map(float, line.split()[1:]) for lines in lives.values() for line in lines if line.startswith("values")]
        values = [max(column) for column in zip(*ends)]  # values only grow, and each life ends with its own
        for (rank, life), lines in lives.items():
            tried = sum(line.startswith("try") for line in lines)
            done = sum(line.startswith("done") for line in lines)
            assert values[8 * rank + life] in (done, tried) and tried - done <= 1, (rank, life, tried, done, values)
        if len(killed) == before:
            continue
        when = killed[-1][1]
        for (rank, life), lines in lives.items():
            times = [float(line.split()[1]) for line in lines if line.startswith("done")]
            if life > 0 and times:
                back.append(times[0] - when)
            elif times and times[-1] > when + 1.5 and times[0] < when - 1:
                rates.append(sum(when < t < when + 1 for t in times) / sum(when - 1 < t < when for t in times))
    print("\n%d jobs, killed %d workers; back after %.1f s at most; the rate of the others in the second after: median "
          "%.2f of the second before" % (KILLS, len(killed), max(back, default=0),
                                         sorted(rates)[len(rates) // 2] if rates else float("nan")))
    assert max(back) < 10
