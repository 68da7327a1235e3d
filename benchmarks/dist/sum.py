#!/usr/bin/env python3
"""Times the sum of an array over the workers of this machine: Symbind, PyTorch (Gloo) and MXNet in turns.

    benchmarks/dist/sum.py [--workers 2,4] [--megabytes 100] [--rounds 5] [--torch PYTHON] [--mxnet PYTHON]

Each library runs in the Python given for it; a library without one is left out, and the output says so.
Every round runs each library once, in new processes, with one thread per worker. A process sums a few
times in place (all_reduce; kv.pushpull with the same array as value and out) and takes the median. With
--pair, Symbind and MXNet call push and pull with two arrays. The output has the medians over the rounds and
the ratios to Symbind.
"""
import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile

SYMBIND = """
import os, sys, time
import numpy as np
import {module} as mx
kv = mx.kv.create("dist_sync")
values = mx.nd.array(np.random.RandomState(kv.rank).rand({count}).astype("float32"))
kv.init(0, mx.nd.zeros(({count},)))
out = mx.nd.zeros(({count},)) if {pair} else values
times = []
for i in range({repeats} + 1):
    kv._barrier()
    start = time.perf_counter()
    if {pair}:
        kv.push(0, values)
        kv.pull(0, out=out)
    else:
        kv.pushpull(0, values, out=values)
    out.wait_to_read()
    times.append(time.perf_counter() - start)
if kv.rank == 0:
    print("MS", 1000 * sorted(times[1:])[len(times[1:]) // 2], flush=True)
kv._barrier()
"""

TORCH = """
import os, time
import torch
import torch.distributed as dist
torch.set_num_threads(1)
dist.init_process_group("gloo")
values = torch.rand({count})
times = []
for i in range({repeats} + 1):
    dist.barrier()
    start = time.perf_counter()
    dist.all_reduce(values)
    times.append(time.perf_counter() - start)
if dist.get_rank() == 0:
    print("MS", 1000 * sorted(times[1:])[len(times[1:]) // 2], flush=True)
dist.barrier()
dist.destroy_process_group()
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def milliseconds(python, script, workers, servers, roles):
    """Runs the workers (and, with roles, scheduler and servers); the time that worker 0 prints."""
    port = str(free_port())
    base = dict(os.environ, OMP_NUM_THREADS="1", DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=port,
                DMLC_NUM_WORKER=str(workers), DMLC_NUM_SERVER=str(servers), MASTER_ADDR="127.0.0.1",
                MASTER_PORT=port, WORLD_SIZE=str(workers), GLOO_SOCKET_IFNAME="lo")
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(script)
        file.flush()
        others = []
        if roles:
            module = "mxnet" if "import mxnet" in script else "symbind"
            for role in ["scheduler"] + ["server"] * servers:
                others.append(subprocess.Popen([python, "-c", "import " + module],
                                               env=dict(base, DMLC_ROLE=role)))
        processes = []
        for rank in range(workers):
            own = dict(base, RANK=str(rank), **({"DMLC_ROLE": "worker"} if roles else {}))
            processes.append(subprocess.Popen([python, file.name], env=own, stdout=subprocess.PIPE, text=True))
        texts = [process.communicate(timeout=300)[0] for process in processes]
        for process in others:
            process.wait(60)
    found = [line for text in texts for line in text.splitlines() if line.startswith("MS ")]
    if len(found) != 1 or any(process.returncode for process in processes):
        raise SystemExit("a worker failed: " + " ".join(texts))
    return float(found[0].split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", default="2,4")
    parser.add_argument("--megabytes", type=float, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--mxnet", metavar="PYTHON")
    parser.add_argument("--pair", action="store_true", help="push and pull instead of pushpull in place")
    parser.add_argument("--json", action="store_true")
    o = parser.parse_args()
    count = int(o.megabytes * 1e6 / 4)
    values = dict(count=count, repeats=o.repeats, pair=o.pair)
    libraries = {"symbind": (sys.executable, SYMBIND.format(module="symbind", **values), True)}
    for name, python, script in (("torch", o.torch, TORCH.format(**values)),
                                 ("mxnet", o.mxnet, SYMBIND.format(module="mxnet", **values))):
        if python:
            libraries[name] = (python, script, name == "mxnet")
        else:
            print("{} is left out: --{} names no Python".format(name, name), file=sys.stderr)
    rows = {}
    for workers in map(int, o.workers.split(",")):
        times = {name: [] for name in libraries}
        for _ in range(o.rounds):
            for name, (python, script, roles) in libraries.items():
                times[name].append(milliseconds(python, script, workers, workers if name == "mxnet" else 0, roles))
        rows[workers] = times
        for name, all_of in times.items():
            ratios = [a / b for a, b in zip(times["symbind"], all_of)]
            print("{} workers, {:g} MB, {}: {:.0f} ms (from {:.0f} to {:.0f}); Symbind takes {:.2f} of it "
                  "({:.2f} to {:.2f})".format(workers, o.megabytes, name, statistics.median(all_of), min(all_of),
                                              max(all_of), statistics.median(ratios), min(ratios), max(ratios)))
    if o.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
