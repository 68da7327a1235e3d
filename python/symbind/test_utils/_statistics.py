"""Checking random number generators, and optimizers against one another."""
import copy

import numpy as np

from .. import random
from ..context import current_context
from ._arrays import rand_ndarray
from ._compare import assert_almost_equal, compare_ndarray_tuple


def gen_buckets_probs_with_ppf(ppf, nbuckets):
    """`nbuckets` intervals of equal probability, by the inverse `ppf` of the distribution
    function, and their probabilities."""
    assert nbuckets > 0
    edges = [ppf(i / nbuckets) for i in range(nbuckets + 1)]
    return list(zip(edges[:-1], edges[1:])), [1.0 / nbuckets] * nbuckets


def mean_check(generator, mu, sigma, nsamples=1000000):
    """Whether the mean of `generator(nsamples)` is within three standard errors of `mu`."""
    return bool(abs(np.mean(generator(nsamples)) - mu) < 3 * sigma / np.sqrt(nsamples))


def var_check(generator, sigma, nsamples=1000000):
    """Whether the variance of `generator(nsamples)` is within three standard errors of sigma²."""
    variance = np.var(generator(nsamples), ddof=1)
    return bool(abs(variance - sigma ** 2) < 3 * np.sqrt(2 * sigma ** 4 / (nsamples - 1)))


def chi_square_check(generator, buckets, probs, nsamples=1000000):
    """The p value of a chi-square test of `generator(nsamples)`, with observed and expected counts.

    `buckets` is a list of intervals (low, high) for a continuous distribution, in ascending order,
    or of the values of a discrete one; `probs` are their probabilities.

    The statistic is computed here. SciPy's own chisquare refuses counts whose sums differ, as those
    of samples outside all buckets do, and scaling them to match would hide exactly those.
    """
    try:
        from scipy import stats
    except ImportError:
        raise ImportError("scipy is not available."
                          " Please check if the scipy python bindings are installed.") from None
    assert isinstance(buckets, list)
    assert len(probs) == len(buckets)
    samples = np.asarray(generator(nsamples))
    if isinstance(buckets[0], (list, tuple)):
        edges = np.array(buckets, dtype=np.float32).reshape(-1)
        assert np.all(edges[:-1] <= edges[1:]), "buckets must be in ascending order"
        ids, values = np.searchsorted(edges, samples, side='right') // 2, range(len(buckets))
    else:
        ids, values = samples, buckets
    observed = np.array([np.count_nonzero(ids == value) for value in values], dtype=np.int64)
    expected = nsamples * np.asarray(probs, dtype=np.float64)
    statistic = np.sum((observed - expected) ** 2 / expected)
    return stats.chi2.sf(statistic, len(buckets) - 1), observed, expected


def verify_generator(generator, buckets, probs, nsamples=1000000, nrepeat=5, success_rate=0.2,
                     alpha=0.05):
    """Repeats chi_square_check and raises AssertionError unless a share `success_rate` of the p
    values is above `alpha`; returns the p values."""
    runs = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    p_values, observed, expected = map(list, zip(*runs))
    if sum(p > alpha for p in p_values) < nrepeat * success_rate:
        raise AssertionError(
            "Generator test fails, Chi-square p=%s, obs_freq=%s, expected_freq=%s."
            "\nbuckets=%s, probs=%s" % (p_values, observed, expected, buckets, probs))
    return p_values


def _random_pair(shape, stype, dtype, density=None):
    """A random array and a dense copy of it."""
    if stype == 'default':
        array = random.uniform(shape=shape, ctx=current_context(), dtype=dtype)
    elif stype in ('row_sparse', 'csr'):
        array = rand_ndarray(shape, stype, density=density, dtype=dtype)
    else:
        raise ValueError("unknown storage type %r" % (stype,))
    return array, array.copyto(current_context()).tostype('default')


def compare_optimizer(opt1, opt2, shape, dtype, w_stype='default', g_stype='default',
                      rtol=1e-4, atol=1e-5, compare_states=True, ntensors=1):
    """Updates equal weights with equal gradients by two optimizers and compares weights and states.

    With a list of shapes, `opt1` updates the `ntensors` weights one by one and `opt2` all at once.
    """
    if isinstance(shape, list):
        _compare_aggregated(opt1, opt2, shape, dtype, rtol, atol, compare_states, ntensors)
        return
    assert ntensors == 1
    w2, w1 = _random_pair(shape, w_stype, dtype, density=1)
    g2, g1 = _random_pair(shape, g_stype, dtype)
    state1 = opt1.create_state_multi_precision(0, w1)
    state2 = opt2.create_state_multi_precision(0, w2)
    if compare_states:
        compare_ndarray_tuple(state1, state2)
    opt1.update_multi_precision(0, w1, g1, state1)
    opt2.update_multi_precision(0, w2, g2, state2)
    if compare_states:
        compare_ndarray_tuple(state1, state2, rtol=rtol, atol=atol)
    assert_almost_equal(w1, w2, rtol=rtol, atol=atol)


def _compare_aggregated(opt1, opt2, shapes, dtype, rtol, atol, compare_states, ntensors):
    pairs = [[random.uniform(shape=shape, ctx=current_context(), dtype=dtype) for _ in range(2)]
             for shape in shapes]
    w1, g1 = map(tuple, zip(*pairs))
    w2, g2 = copy.deepcopy(w1), copy.deepcopy(g1)
    states2 = [opt2.create_state_multi_precision(0, weight) for weight in w2[:ntensors]]
    opt2.update_multi_precision(list(range(ntensors)), w2, g2, states2)
    for i in range(ntensors):
        state1 = opt1.create_state_multi_precision(i, w1[i])
        opt1.update_multi_precision(i, w1[i], g1[i], state1)
        if compare_states:
            compare_ndarray_tuple(state1, states2[i], rtol, atol)
        compare_ndarray_tuple(w1[i], w2[i], rtol, atol)
