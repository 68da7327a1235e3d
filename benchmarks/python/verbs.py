"""Measures forward_backward, update and update_metric from Python, interleaved with fit's fused step of
the same batch.

    python benchmarks/python/verbs.py

Run it with the Python that has symbind. The exit status is the number of targets missed.
"""
import logging
import statistics
import sys
import time

import numpy as np

import symbind as mx

CHUNKS = 15
# name: (network, shape of a batch, steps a chunk, target as a ratio, target as microseconds more)
NETS = {
    "LeNet b64": ("lenet", (64, 1, 28, 28), 40, 1.05, None),
    "MLP b10": ("mlp", (10, 784), 2000, None, 15.0),
}


def measure(network, shape, steps):
    """Microseconds per step, medians over the chunks: separate calls, fused; and the median ratio."""
    module = mx.mod.Module(mx.models.create(network, num_classes=10))
    labels = [("softmax_label", shape[:1])]
    module.bind([("data", shape)], labels)
    module.init_params(mx.init.Xavier())
    module.init_optimizer(optimizer_params={"learning_rate": 1e-4, "momentum": 0.9})
    batch = mx.io.DataBatch([mx.nd.array(np.random.rand(*shape))], [mx.nd.zeros(shape[:1])])
    metric = mx.metric.create("acc")
    fused = module._stepper(metric)

    def verbs(batch):
        module.forward_backward(batch)
        module.update()
        module.update_metric(metric, batch.label)

    def chunk(step):
        start = time.perf_counter()
        for _ in range(steps):
            step(batch)
        mx.nd.waitall()
        return (time.perf_counter() - start) / steps * 1e6

    chunk(verbs), chunk(fused)
    pairs = [(chunk(verbs), chunk(fused)) for _ in range(CHUNKS)]
    apart, together = (statistics.median(side) for side in zip(*pairs))
    return apart, together, statistics.median(a / b for a, b in pairs)


def main():
    logging.disable(logging.CRITICAL)
    missed = 0
    for name, (network, shape, steps, ratio_target, more_target) in NETS.items():
        apart, together, ratio = measure(network, shape, steps)
        met = ratio <= ratio_target if ratio_target else apart - together <= more_target
        target = "%.2fx" % ratio_target if ratio_target else "%.0f us more" % more_target
        print("%s  %s: verbs %.1f us, fused %.1f us: %.3fx, %.1f us more (target %s)" % (
            "ok    " if met else "MISSED", name, apart, together, ratio, apart - together, target))
        missed += not met
    return missed


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
