#!/usr/bin/env python3
"""Times push and pull of dist_async on this machine: Symbind and MXNet in turns.

    benchmarks/dist/async.py [--workers 2] [--servers 2] [--megabytes 0.04,4,40] [--rounds 3] [--mxnet PYTHON]

Each worker pushes a gradient and pulls the value, as often as it can; the servers run SGD. The output has the
pairs of push and pull per second, of all workers together, medians over the rounds, and the ratio. MXNet is left
out, and the output says so, unless its Python is given.
"""
import argparse
import json
import statistics
import sys

from peers import run_workers

SCRIPT = """
import time
import {module} as mx
kv = mx.kv.create("dist_async")
kv.set_optimizer(mx.optimizer.create("sgd", learning_rate=0.1))
gradient, out = mx.nd.ones(({count},)), mx.nd.zeros(({count},))
kv.init("w", mx.nd.zeros(({count},)))
kv._barrier()
done, start = 0, time.perf_counter()
while time.perf_counter() - start < {seconds}:
    kv.push("w", gradient)
    kv.pull("w", out=out)
    out.wait_to_read()
    done += 1
print("VALUE", done / (time.perf_counter() - start), flush=True)
kv._barrier()
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=2)
    parser.add_argument("--megabytes", default="0.04,4,40")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--mxnet", metavar="PYTHON")
    parser.add_argument("--json", action="store_true")
    o = parser.parse_args()
    libraries = {"symbind": sys.executable}
    if o.mxnet:
        libraries["mxnet"] = o.mxnet
    else:
        print("mxnet is left out: --mxnet names no Python", file=sys.stderr)
    rows = {}
    for megabytes in map(float, o.megabytes.split(",")):
        rates = {name: [] for name in libraries}
        for _ in range(o.rounds):
            for name, python in libraries.items():
                script = SCRIPT.format(module=name, count=int(megabytes * 1e6 / 4), seconds=o.seconds)
                rates[name].append(sum(run_workers(python, script, o.workers, o.servers, name)))
        rows[megabytes] = rates
        for name, values in rates.items():
            ratios = [a / b for a, b in zip(rates["symbind"], values)]
            print("{} workers, {} servers, {:g} MB, {}: {:.0f} pairs/s (from {:.0f} to {:.0f}); Symbind makes {:.2f} "
                  "of them ({:.2f} to {:.2f})".format(o.workers, o.servers, megabytes, name, statistics.median(values),
                                                      min(values), max(values), statistics.median(ratios),
                                                      min(ratios), max(ratios)), flush=True)
    if o.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
