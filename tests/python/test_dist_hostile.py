"""Random bytes on every port of a running job: it ends with the right values.

SYMBIND_RANDOM_MESSAGES is the number of messages of the slow test (1,000,000).
"""
import os
import random
import socket
import time

import pytest

from dist_job import Job, check_all_passed

SCRIPT = """
import os, time
import symbind as mx
kv = mx.kv.create({kind!r})
if {kind!r} == "dist_async":
    kv.set_optimizer(mx.optimizer.create("test"))
kv.init("w", mx.nd.zeros((1000,)))
out, steps = mx.nd.zeros((1000,)), 0
print("READY", flush=True)
while steps < 20 or not os.path.exists("enough"):
    kv.push("w", mx.nd.ones((1000,)))
    kv.pull("w", out=out)
    steps += 1
    if {kind!r} == "dist_sync":
        assert (out.asnumpy() == kv.num_workers).all()
        stop = mx.nd.array([os.path.exists("enough")])
        kv.init("stop%d" % steps, mx.nd.zeros((1,)))
        kv.push("stop%d" % steps, stop)
        kv.pull("stop%d" % steps, out=stop)
        if stop.asscalar() == kv.num_workers:
            break
    time.sleep(0.01)
print("STEPS", steps, flush=True)
if {kind!r} == "dist_async":
    kv._barrier()
    kv.pull("w", out=out)
    print("VALUE", out.asnumpy()[0], flush=True)
kv._barrier()
"""


def listening(job):
    """The ports at which processes of the job listen, and the addresses."""
    sockets = {}
    for family in ("tcp", "tcp6"):
        with open("/proc/net/" + family, encoding="ascii") as file:
            for line in list(file)[1:]:
                fields = line.split()
                if fields[3] == "0A":
                    sockets[fields[9]] = fields[1].split(":")
    found = set()
    for process in job.processes():
        for name in os.listdir("/proc/%d/fd" % process.pid):
            target = os.readlink("/proc/%d/fd/%s" % (process.pid, name))
            if target.startswith("socket:[") and target[8:-1] in sockets:
                address, port = sockets[target[8:-1]]
                found.add((address, int(port, 16)))
    return found


def send_random(rng, port, messages):
    """Up to 100 messages over one connection; returns how many were sent."""
    sent = 0
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
            for _ in range(min(messages, 100)):
                size = rng.choice((1, 16, 24, 64, 108, 300))
                connection.sendall(rng.randbytes(size))
                sent += 1
    except OSError:  # the job closes what proves nothing
        sent += 1
    return sent


def attack(kind, servers, messages, seconds):
    job = Job(SCRIPT.format(kind=kind), 2, servers=servers)
    try:
        until = time.time() + 30
        while not all("READY" in job.read(worker)[0] for worker in job.workers):
            assert time.time() < until, [job.read(p) for p in job.processes()]
            time.sleep(0.01)
        ports = listening(job)
        loopback = {"0100007F", "0000000000000000FFFF00000100007F"}  # as IPv4, and as IPv6 has it
        assert {address for address, _ in ports} <= loopback, "only the named address: %s" % ports
        rng, sent = random.Random(4), 0
        while sent < messages:
            sent += send_random(rng, rng.choice(sorted(ports))[1], messages - sent)
        with open(os.path.join(job.folder, "enough"), "w", encoding="ascii"):
            pass
    except BaseException:
        job.end()
        raise
    results = job.wait(seconds)
    check_all_passed(results)
    if kind == "dist_async":
        steps = sum(int(r.out.split("STEPS ")[1].split()[0]) for r in results)
        assert float(results[0].out.split("VALUE ")[1]) == steps
    return len(ports)


@pytest.mark.parametrize("kind, servers", [("dist_sync", 0), ("dist_async", 2)])
def test_random_bytes_do_not_harm_a_job(kind, servers):
    assert attack(kind, servers, 2000, 60) == 1 + servers


@pytest.mark.slow
@pytest.mark.parametrize("kind, servers", [("dist_sync", 0), ("dist_async", 2)])
def test_a_million_random_messages_do_not_harm_a_job(kind, servers):
    attack(kind, servers, int(os.environ.get("SYMBIND_RANDOM_MESSAGES", "1000000")) // 2, 600)
