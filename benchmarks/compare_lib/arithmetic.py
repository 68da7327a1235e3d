"""Ratios of times that were measured in turns."""
import math
import statistics

import numpy as np


def quartile(values, share):
    """The value below which this share of the values is, by linear interpolation."""
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def ratios(theirs, ours):
    """How many times as long they took: the median over the rounds, and the quartile that is worst for us."""
    each = [a / b for a, b in zip(theirs, ours)]
    return {"ratio": statistics.median(each), "worst_quartile": quartile(each, 0.25)}


def geometric_mean(values):
    return math.exp(sum(math.log(v) for v in values) / len(values))


def difference_of_arrays(arrays, reference):
    """The largest difference, relative to the range of the reference's values."""
    if len(arrays) != len(reference):
        return math.inf
    worst = 0.0
    for a, b in zip(arrays, reference):
        if a.shape != b.shape or not np.isfinite(a).all():
            return math.inf
        span = float(b.max()) - float(b.min())
        worst = max(worst, float(np.abs(a - b).max()) / (span or 1.0))
    return worst


def difference_of_losses(losses, reference):
    """The largest relative difference of two lists."""
    if len(losses) != len(reference) or not all(map(math.isfinite, losses)):
        return math.inf
    return max(abs(a - b) / max(abs(b), 1e-12) for a, b in zip(losses, reference))
