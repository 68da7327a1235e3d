"""What forward_backward, update and update_metric cost from Python, beside fit's fused step of the same
batch, interleaved.

    python benchmarks/python/verbs.py

Run it with the Python that has symbind. The exit status is the number of bars missed.
"""
import logging
import statistics
import sys
import time

import numpy as np

import symbind as mx

CHUNKS = 15
# name: (network, shape of a batch, steps a chunk, bar as a ratio, bar as microseconds more)
NETS = {
    "LeNet b64": ("lenet", (64, 1, 28, 28), 40, 1.05, None),
    "MLP b10": ("mlp", (10, 784), 2000, None, 15.0),
}


def measure(network, shape, steps):
    """Microseconds a step, medians of the chunks: by the verbs, fused; the median of their ratios."""
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
    for name, (network, shape, steps, ratio_bar, more_bar) in NETS.items():
        apart, together, ratio = measure(network, shape, steps)
        met = ratio <= ratio_bar if ratio_bar else apart - together <= more_bar
        bar = "%.2fx" % ratio_bar if ratio_bar else "%.0f us more" % more_bar
        print("%s  %s: verbs %.1f us, fused %.1f us: %.3fx, %.1f us more (bar %s)" % (
            "ok    " if met else "MISSED", name, apart, together, ratio, apart - together, bar))
        missed += not met
    return missed


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
