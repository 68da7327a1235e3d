"""Operators that MXNet calls experimental."""
import numpy as np

__all__ = ["rand_zipfian"]


def rand_zipfian(true_classes, num_sampled, range_max):
    """Samples classes from a log-uniform distribution; see nd.contrib.rand_zipfian."""
    from . import random

    log_range = float(np.log(range_max + 1))
    drawn = random.uniform(0, log_range, shape=(num_sampled,), dtype="float64")
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes):
        classes = classes.astype("float64")
        return ((classes + 2.0) / (classes + 1.0)).log() / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)
