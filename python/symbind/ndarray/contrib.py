"""Operators that MXNet calls experimental."""
import numpy as np

__all__ = ["rand_zipfian", "isinf", "isfinite", "isnan"]


def rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """Samples classes from a log-uniform distribution.

    Returns the samples, and how often each true class and each sample is expected among them.
    """
    from ..context import current_context
    from . import random

    log_range = float(np.log(range_max + 1))
    drawn = random.uniform(0, log_range, shape=(num_sampled,), dtype="float64",
                           ctx=ctx or current_context())
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes):
        classes = classes.astype("float64")
        return ((classes + 2.0) / (classes + 1.0)).log() / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def isinf(data):
    """1 where a number is infinite."""
    return data.abs() == np.inf


def isfinite(data):
    """1 where a number is neither infinite nor NaN."""
    is_number = data == data
    return is_number * (data.abs() != np.inf)


def isnan(data):
    """1 where a number is NaN."""
    return data != data
