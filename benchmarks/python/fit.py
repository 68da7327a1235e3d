"""Measures fit from Python, interleaved with the same fit from C++.

    python benchmarks/python/fit.py build/release/bin/bench_module

Run it with the Python that has symbind. The exit status is the number of targets missed.
"""
import logging
import statistics
import subprocess
import sys
import time

import numpy as np

import symbind as mx

BATCHES, PAIRS, TARGET = 400, 15, 1.03


def mlp():
    """The network of bench_module."""
    net = mx.sym.Variable("data")
    for i, hidden in enumerate((128, 64)):
        net = mx.sym.FullyConnected(net, num_hidden=hidden, name="fc%d" % (i + 1))
        net = mx.sym.Activation(net, act_type="relu", name="relu%d" % (i + 1))
    net = mx.sym.FullyConnected(net, num_hidden=10, name="fc3")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def main():
    logging.disable(logging.CRITICAL)
    rows = np.random.rand(100 * BATCHES, 784).astype("float32")
    data = mx.io.NDArrayIter(rows, np.zeros(100 * BATCHES), 100)
    module = mx.mod.Module(mlp())
    module.bind(data.provide_data, data.provide_label)
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer_params={"learning_rate": 1e-4, "momentum": 0.9})

    def fit():
        start = time.perf_counter()
        module.fit(data, num_epoch=1)
        return time.perf_counter() - start

    program = subprocess.Popen([sys.argv[1], "--serve", str(BATCHES)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdout.readline() == "ready\n"

    def fit_in_cpp():
        program.stdin.write("fit\n")
        program.stdin.flush()
        return float(program.stdout.readline())

    fit()
    pairs = [(fit(), fit_in_cpp()) for _ in range(PAIRS)]
    program.stdin.close()
    program.wait()
    ratio = statistics.median(a / b for a, b in pairs)
    ours, theirs = (statistics.median(side) / BATCHES * 1e6 for side in zip(*pairs))
    print("MLP b100: fit from Python %.1f us a batch, from C++ %.1f us" % (ours, theirs))
    print("%s  %.3fx  (target %.2fx)" % ("ok    " if ratio <= TARGET else "MISSED", ratio, TARGET))
    return int(ratio > TARGET)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
