"""Measures the cost of calls from Python, interleaved with the same calls in MXNet 1.9.1.

    python benchmarks/python/calls.py [--mxnet PYTHON] [--bind-program build/release/bin/bench_bind]

Run it with the Python that has symbind. `--mxnet` is a Python with mxnet 1.9.1; without it MXNet is
skipped. Each figure is printed with its target; the exit status is the number of targets missed.
"""
import argparse
import os
import statistics
import subprocess
import sys

# Run in a process of each side: prints one number per line for each request on its standard input.
WORKER = r"""
import sys, time, timeit
import numpy as np
import {module} as mx
a, b = mx.nd.ones((64,)), mx.nd.ones((64,))
raw = np.ones(64, 'float32')
work = {{
    'add': ('c = a + b', 5000),
    'add and wait': ('c = a + b; c.wait_to_read()', 5000),
    'asnumpy': ('a.asnumpy()', 5000),
    'copy': ('raw.copy()', 5000),
    'scalar': ('c = a * 2.0; c.wait_to_read()', 5000),
    'row': ('a[3:5]', 5000),
    'array': ('mx.nd.array(raw)', 2000),
}}
for request in sys.stdin:
    code, count = work[request.strip()]
    taken = timeit.timeit(code, globals=globals(), number=count)
    mx.nd.waitall()
    print(taken / count * 1e6, flush=True)
"""

BIND = r"""
import sys, time
import symbind as mx
symbol = mx.sym.load(sys.argv[1])
for _ in range(int(sys.argv[2])):
    start = time.perf_counter()
    symbol.simple_bind(mx.cpu(), data=tuple(int(n) for n in sys.argv[3:7]))
    print((time.perf_counter() - start) * 1e3, flush=True)
"""


class Worker:
    """A Python process that measures one side."""

    def __init__(self, python, module):
        self.process = subprocess.Popen(
            [python, "-W", "ignore", "-c", WORKER.format(module=module)], text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def measure(self, what):
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def import_times(python, module, rounds=9):
    """Median milliseconds of a process that imports NumPy, and of one that imports `module` too."""
    code = ("import time; t = time.perf_counter(); import numpy; n = time.perf_counter() - t;"
            "{} print(n * 1e3, (time.perf_counter() - t) * 1e3)")
    results = [subprocess.run([python, "-W", "ignore", "-c", code.format(f"import {module};")],
                              text=True, capture_output=True, check=True).stdout.split()
               for _ in range(rounds)]
    return [statistics.median(float(r[i]) for r in results) for i in range(2)]


def interleave(workers, what, rounds=15):
    times = {name: [] for name in workers}
    for _ in range(rounds):
        for name, worker in workers.items():
            times[name].append(worker.measure(what))
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mxnet", help="a Python with mxnet 1.9.1")
    parser.add_argument("--bind-program", help="bench_bind of a build, for binding from C++")
    options = parser.parse_args()
    missed = 0

    def show(what, figure, target, good):
        nonlocal missed
        missed += not good
        print(f"{what:48s} {figure:>28s}   {target:32s} {'met' if good else 'MISSED'}", flush=True)

    numpy_ms, both_ms = import_times(sys.executable, "symbind")
    show("import symbind beyond NumPy", f"{both_ms - numpy_ms:.0f} ms", "at most 150 ms",
         both_ms - numpy_ms <= 150)

    workers = {"symbind": Worker(sys.executable, "symbind")}
    if options.mxnet:
        workers["mxnet"] = Worker(options.mxnet, "mxnet")
    add = interleave(workers, "add and wait")
    show("add of 64 floats", f"{add['symbind']:.2f} us", "at most 1.5 us", add["symbind"] <= 1.5)
    if options.mxnet:
        ratio = add["mxnet"] / add["symbind"]
        show("  MXNet's time over ours", f"{add['mxnet']:.2f} us, {ratio:.1f} x", "at least 8 x",
             ratio >= 8)
    copies = interleave({"symbind": workers["symbind"]}, "copy")["symbind"]
    asnumpy = interleave(workers, "asnumpy")
    show("asnumpy of 64 floats beyond NumPy's copy", f"{asnumpy['symbind'] - copies:.2f} us",
         "at most 0.7 us", asnumpy["symbind"] - copies <= 0.7)
    for what in ("asnumpy", "scalar", "row", "array"):
        times = interleave(workers, what)
        print(f"  {what:46s} " + ", ".join(f"{k} {v:.2f} us" for k, v in times.items()))
    for worker in workers.values():
        worker.close()

    if options.bind_program:
        root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        symbol = os.path.join(root, "tests", "golden", "nets", "resnet50-symbol.json")
        arguments = [symbol, "5", "8", "3", "64", "64"]
        times = {"Python": [], "C++": []}
        for _ in range(5):
            for name, command in (("Python", [sys.executable, "-c", BIND]),
                                  ("C++", [options.bind_program])):
                out = subprocess.run(command + arguments, text=True, capture_output=True, check=True)
                times[name] += [float(line) for line in out.stdout.split()]
        python, cpp = (statistics.median(times[k]) for k in ("Python", "C++"))
        show("binding ResNet-50, Python over C++", f"{python:.0f} / {cpp:.0f} ms, {python / cpp:.2f} x",
             "at most 1.1 x", python / cpp <= 1.1)
    print(f"{missed} targets missed")
    return missed


if __name__ == "__main__":
    sys.exit(main())
