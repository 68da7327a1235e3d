#!/usr/bin/env python3
"""Which part of the wire's speed a sum over workers reaches, on links of limited speed. Needs root.

    benchmarks/dist/wire.py [--workers 4] [--megabytes 25] [--gbits 1] [--rounds 3]

Every worker runs in a network namespace with one link to a bridge, limited to --gbits in each direction (tbf).
The namespaces are removed at the end. A sum of b bytes sends and receives 2 (n - 1) / n * b bytes per worker;
the share is that over the link's speed and the time of the sum. The output also has the share of a plain TCP
connection between two workers, in both directions at once: TCP/IP headers make it less than 1.

With --predict, the output also has the time that the simulation bench_scale predicts for such links.
--workers takes a list. A worker sums with kv.pushpull in place, --repeats times, and takes the median.
"""
import argparse
import contextlib
import json
import os
import secrets
import statistics
import subprocess
import sys
import time

SUM = """
import time
import symbind as mx
kv = mx.kv.create("dist_sync")
values = mx.nd.ones(({count},))
kv.init(0, mx.nd.zeros(({count},)))
times = []
for i in range({repeats} + 1):
    kv._barrier()
    start = time.perf_counter()
    kv.pushpull(0, values, out=values)
    times.append(time.perf_counter() - start)
if kv.rank == 0:
    print(sorted(times[1:])[{repeats} // 2], flush=True)
kv._barrier()
"""

# Both sides send and receive `count` bytes at once; the listening side prints the seconds.
PLAIN = """
import socket, sys, threading, time
listens, address, count = {listens}, {address!r}, {count}
if listens:
    listener = socket.create_server((address, 7077))
    print("ready", flush=True)
    end = listener.accept()[0]
else:
    end = socket.create_connection((address, 7077))
start = time.perf_counter()
sender = threading.Thread(target=end.sendall, args=(bytes(count),))
sender.start()
left, into = count, bytearray(1 << 20)
while left:
    left -= end.recv_into(into, min(left, len(into)))
sender.join()
if listens:
    print(time.perf_counter() - start, flush=True)
"""


def tool(*words):
    subprocess.run(words, check=True)


class Links:
    """A bridge in one namespace and a worker's namespace per link."""

    def __init__(self, workers, gbits):
        self.hub = "symbind-wire-{}".format(os.getpid())
        self.spaces = ["{}-{}".format(self.hub, i) for i in range(workers)]
        self.address = ["10.77.0.{}".format(10 + i) for i in range(workers)]
        self.hub_address = "10.77.0.1"
        self.gbits = gbits

    def __enter__(self):
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self):
        tool("ip", "netns", "add", self.hub)
        tool("ip", "-n", self.hub, "link", "add", "bridge0", "type", "bridge")
        tool("ip", "-n", self.hub, "addr", "add", self.hub_address + "/24", "dev", "bridge0")
        for device in ("lo", "bridge0"):
            tool("ip", "-n", self.hub, "link", "set", device, "up")
        for i, (space, address) in enumerate(zip(self.spaces, self.address)):
            end = "to{}".format(i)
            tool("ip", "netns", "add", space)
            tool("ip", "-n", self.hub, "link", "add", end, "type", "veth", "peer", "name", "wire", "netns", space)
            tool("ip", "-n", self.hub, "link", "set", end, "master", "bridge0", "up")
            tool("ip", "-n", space, "addr", "add", address + "/24", "dev", "wire")
            for device in ("lo", "wire"):
                tool("ip", "-n", space, "link", "set", device, "up")
            for where, device in ((space, "wire"), (self.hub, end)):
                tool("tc", "-n", where, "qdisc", "add", "dev", device, "root", "tbf", "rate",
                     "{:g}gbit".format(self.gbits), "burst", "256k", "latency", "20ms")

    def __exit__(self, *_):
        for space in self.spaces + [self.hub]:
            subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL, check=False)

    def start(self, space, script, **options):
        return subprocess.Popen(["ip", "netns", "exec", space, sys.executable, "-c", script], text=True, **options)

    def plain(self, count):
        """Seconds of a plain TCP connection that sends `count` bytes each way between workers 0 and 1."""
        script = PLAIN.format(listens=True, address=self.address[0], count=count)
        listener = self.start(self.spaces[0], script, stdout=subprocess.PIPE)
        listener.stdout.readline()
        other = self.start(self.spaces[1], PLAIN.format(listens=False, address=self.address[0], count=count))
        text = listener.communicate(timeout=300)[0]
        other.wait(60)
        return float(text)

    def sum(self, count, repeats):
        """Seconds of a sum of `count` float32 over all workers."""
        base = dict(os.environ, OMP_NUM_THREADS="1", DMLC_PS_ROOT_URI=self.hub_address, DMLC_PS_ROOT_PORT="7076",
                    DMLC_NUM_WORKER=str(len(self.spaces)), DMLC_NUM_SERVER="0",
                    SYMBIND_DIST_TOKEN=secrets.token_hex(32))
        with contextlib.ExitStack() as running:
            scheduler = self.start(self.hub, "import symbind",
                                   env=dict(base, DMLC_ROLE="scheduler", SYMBIND_DIST_BIND=self.hub_address))
            running.callback(scheduler.kill)
            workers = []
            for rank, (space, address) in enumerate(zip(self.spaces, self.address)):
                own = dict(base, DMLC_ROLE="worker", SYMBIND_DIST_RANK=str(rank), SYMBIND_DIST_BIND=address)
                workers.append(self.start(space, SUM.format(count=count, repeats=repeats), env=own,
                                          stdout=subprocess.PIPE))
                running.callback(workers[-1].kill)
            texts = [worker.communicate(timeout=300)[0] for worker in workers]
            scheduler.wait(60)
        if any(worker.returncode for worker in workers):
            raise SystemExit("a worker failed")
        return float(texts[0])


def predicted(program, workers, o, efficiency):
    """Seconds of the sum in the simulation, where plain TCP reaches `efficiency` of the link's speed."""
    words = [program, "--no-ring", "--workers", str(workers), "--megabytes", str(o.megabytes), "--gbits", str(o.gbits),
             "--efficiency", str(efficiency)]
    last = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1]
    return float(last.split()[2]) / 1e3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="4")
    parser.add_argument("--megabytes", type=float, default=25)
    parser.add_argument("--gbits", type=float, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--predict", metavar="BENCH_SCALE", help="the program bench_scale")
    parser.add_argument("--json", action="store_true")
    o = parser.parse_args()
    if os.geteuid() != 0:
        raise SystemExit("network namespaces need root: run it with sudo")
    count = int(o.megabytes * 1e6 / 4)
    bytes_per_second = o.gbits * 1e9 / 8
    rows = {}
    for workers in map(int, o.workers.split(",")):
        crossed = 2 * (workers - 1) / workers * count * 4
        with Links(workers, o.gbits) as links:
            time.sleep(1)  # the bridge learns its ports
            plain, sums = [], []
            for _ in range(o.rounds):
                plain.append(links.plain(int(crossed)))
                sums.append(links.sum(count, o.repeats))
        seconds, reference = statistics.median(sums), statistics.median(plain)
        rows[workers] = {"sum_s": sums, "plain_s": plain}
        print("{} workers, {:g} MB, {:g} Gbit/s: {:.1f} ms (from {:.1f} to {:.1f}), {:.3f} of the wire's speed; "
              "plain TCP reaches {:.3f}, the sum {:.3f} of that".format(
                  workers, o.megabytes, o.gbits, 1e3 * seconds, 1e3 * min(sums), 1e3 * max(sums),
                  crossed / bytes_per_second / seconds, crossed / bytes_per_second / reference, reference / seconds))
        if o.predict:
            seconds_there = predicted(o.predict, workers, o, crossed / bytes_per_second / reference)
            rows[workers]["predicted_s"] = seconds_there
            print("    predicted: {:.1f} ms, {:.3f} of what was measured".format(1e3 * seconds_there,
                                                                               seconds_there / seconds))
    if o.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
