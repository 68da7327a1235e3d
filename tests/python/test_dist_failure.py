"""Lost processes: who notices, how fast, with which words; and a training that resumes with the same bits."""
import os
import re
import signal
import socket
import time

import pytest

from dist_job import Job, check_all_passed
from test_dist_sync import TRAIN, hash_of_one

# Other tests may run at the same time, so the limits are wider than on a quiet machine.
BUSY = 3  # seconds

LOOP = """
import time
import symbind as mx
kv = mx.kv.create("dist_sync")
values = mx.nd.ones((1000, 10))
kv.init("w", values)
print("READY", flush=True)
try:
    while True:
        kv.pushpull("w", values, out=values)
        time.sleep(0.005)
except mx.error.WorkerLostError as error:
    print("RAISED", time.time(), error, flush=True)
    raise
"""


def wait_until(condition, seconds=30):
    """Polls a condition."""
    until = time.time() + seconds
    while not condition():
        assert time.time() < until, "nothing happened within %d s" % seconds
        time.sleep(0.01)


def lose(job, process, how):
    """Signals one process of a running job; returns {rank: (seconds until it raised, its words)}."""
    wait_until(lambda: all("READY" in job.read(worker)[0] for worker in job.workers))
    time.sleep(0.3)
    before = time.time()
    process.send_signal(how)
    others = [worker for worker in job.workers if worker is not process]
    wait_until(lambda: all(worker.poll() is not None for worker in others), 15)
    raised = {}
    for rank, worker in enumerate(job.workers):
        if worker is process:
            continue
        when, words = re.search(r"RAISED ([\d.]+) (.*)", job.read(worker)[0]).groups()
        raised[rank] = (float(when) - before, words)
        assert worker.returncode == 75, job.read(worker)
    job.end()
    return raised


def test_a_killed_worker_is_named_within_a_second():
    job = Job(LOOP, 4)
    pid = job.workers[2].pid
    for seconds, words in lose(job, job.workers[2], signal.SIGKILL).values():
        assert seconds < BUSY
        assert re.match(r"worker 2 \([^,]+, pid %d\) lost at update \d+: its connection is closed" % pid, words), words


def test_a_stopped_worker_is_named_after_dead_after():
    job = Job(LOOP, 3, settings={"SYMBIND_DIST_DEAD_AFTER": "0.8"})
    for seconds, words in lose(job, job.workers[1], signal.SIGSTOP).values():
        assert seconds < 0.8 + BUSY
        assert re.search(r"worker 1 .* lost at update \d+: it is silent for", words), words


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_scheduler_is_named(how):
    job = Job(LOOP, 2, settings={"SYMBIND_DIST_DEAD_AFTER": "0.8"})
    for seconds, words in lose(job, job.scheduler, how).values():
        assert seconds < 0.8 + BUSY
        assert "the scheduler at 127.0.0.1:%d" % job.port in words, words


def test_the_scheduler_ends_with_75_after_a_loss():
    job = Job(LOOP, 2)
    wait_until(lambda: all("READY" in job.read(worker)[0] for worker in job.workers))
    job.workers[0].kill()
    assert job.scheduler.wait(5) == 75
    job.end()


def test_random_bytes_on_the_port_do_not_harm_the_job():
    job = Job(LOOP.replace("while True", "import itertools\n    for i in range(150)").replace(
        "except mx.error.WorkerLostError as error:", "except ZeroDivisionError as error:"), 2)
    wait_until(lambda: all("READY" in job.read(worker)[0] for worker in job.workers))
    for i in range(100):
        with socket.create_connection(("127.0.0.1", job.port), timeout=5) as stranger:
            stranger.sendall(os.urandom(1 + i * 50))
    check_all_passed(job.wait(30))


def test_a_killed_training_resumes_with_the_same_bits(tmp_path):
    values = dict(steps=20, kind="adam", epochs=2, contexts=1)
    options = "checkpoint=mx.callback.Checkpoint({!r}, every_n_batches=5), resume={!r}, " \
        "batch_end_callback=lambda p: time.sleep(0.02)"
    prefix = str(tmp_path / "net")
    script = "import logging, time\nlogging.basicConfig(level=logging.INFO)\n" + TRAIN.format(options=options.format(prefix, prefix), **values)
    job = Job(script, 2)
    wait_until(lambda: any("b0000" in name and "manifest" in name for name in os.listdir(tmp_path)))
    job.workers[1].kill()
    job.workers[0].wait(10)
    words = job.read(job.workers[0])[1]
    job.end()
    assert re.search(r"worker 1 .* lost at update \d+.*; last complete checkpoint .*net-.*manifest.json", words), words
    results = Job(script, 2).wait(60)
    check_all_passed(results)
    assert all("resume: continues from" in result.err for result in results)
    found = {re.search(r"HASH (\w+)", result.out).group(1) for result in results}
    values["contexts"] = 2
    assert found == {hash_of_one(tmp_path, options="", **values)}
