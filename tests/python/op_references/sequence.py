"""Sequences, running sums, and what is left of arranging and resizing."""
import math

import numpy as np


def _sequence(d):
    """(data, lengths or None, attributes, axis): time along the axis, samples along the other."""
    x = d.uniform(d.shape(2, 4))
    use, axis = d.flag(), d.integer(0, 1)
    lengths = d.integers((x.shape[1 - axis],), 1, x.shape[axis])
    attrs = {"use_sequence_length": use, "axis": axis}
    return x, lengths if use else np.full(x.shape[1 - axis], x.shape[axis]), attrs, axis


def _per_sample(x, lengths, axis, function):
    """`function(steps of one sample, length)` for every sample, put together again."""
    rows = np.moveaxis(x, axis, 0)
    parts = [function(rows[:, n], int(length)) for n, length in enumerate(lengths)]
    return parts


def _inputs(x, lengths, attrs):
    return [x, lengths] if attrs["use_sequence_length"] else [x]


def _sequence_mask(d):
    x, lengths, attrs, axis = _sequence(d)
    attrs["value"] = d.number(-2, 2)

    def masked(steps, length):
        steps = steps.copy()
        steps[length:] = attrs["value"]
        return steps
    y = np.stack(_per_sample(x, lengths, axis, masked), axis=1)
    return _inputs(x, lengths, attrs), attrs, [np.moveaxis(y, 0, axis)]


def _sequence_last(d):
    x, lengths, attrs, axis = _sequence(d)
    y = np.stack(_per_sample(x, lengths, axis, lambda steps, n: steps[n - 1]))
    return _inputs(x, lengths, attrs), attrs, [y]


def _sequence_reverse(d):
    x = d.uniform(d.shape(2, 4))
    use = d.flag()
    lengths = d.integers((x.shape[1],), 1, x.shape[0]) if use else np.full(x.shape[1], x.shape[0])
    y = np.stack(_per_sample(x, lengths, 0, lambda s, n: np.concatenate([s[:n][::-1], s[n:]])), axis=1)
    attrs = {"use_sequence_length": use}
    return _inputs(x, lengths, attrs), attrs, [y]


def _cumsum(d):
    x = d.uniform(d.shape())
    axis = d.one_of(None, d.axis(x.ndim))
    return [x], {} if axis is None else {"axis": axis}, [np.cumsum(x, axis)]


def _moments(d):
    x = d.uniform(d.shape(2, 4))
    axes, keepdims = tuple(a % x.ndim for a in d.axes(x.ndim))[:x.ndim - 1], d.flag()
    return [x], {"axes": axes, "keepdims": keepdims}, [
        x.mean(axis=axes, keepdims=keepdims), x.var(axis=axes, keepdims=keepdims)]


def _ravel(d):
    shape = d.shape()
    at = np.stack([d.integers((3,), 0, n - 1) for n in shape])
    flat = np.ravel_multi_index(tuple(at.astype(int)), shape).astype(float)
    return [at], {"shape": shape}, [flat]


def _unravel(d):
    (at,), attrs, (flat,) = _ravel(d)
    return [flat], attrs, [at]


def _eye(d):
    n, m, k = d.integer(1, 5), d.integer(0, 5), d.integer(-3, 3)
    return [], {"N": n, "M": m, "k": k, "dtype": "float64"}, [np.eye(n, m or None, k)]


def _linspace(d):
    start, stop, num, end = d.integer(-4, 4), d.integer(-4, 4), d.integer(2, 7), d.flag()
    return [], {"start": start, "stop": stop, "num": num, "endpoint": end, "dtype": "float64"}, [
        np.linspace(start, stop, num, endpoint=end)]


def _div_sqrt_dim(d):
    x = d.uniform(d.shape())
    return [x], {}, [x / math.sqrt(x.shape[-1])]


def _quadratic(d):
    x, a, b, c = d.uniform(d.shape()), d.number(-2, 2), d.number(-2, 2), d.number(-2, 2)
    return [x], {"a": a, "b": b, "c": c}, [a * x * x + b * x + c]


def _index_copy(d):
    old = d.uniform(d.shape())
    rows = d.rng.permutation(old.shape[0])[:d.integer(1, old.shape[0])]
    new = d.uniform((len(rows), *old.shape[1:]))
    y = old.copy()
    y[rows] = new
    return [old, rows.astype(float), new], {}, [y]


def _boolean_mask(d):
    data = d.uniform(d.shape())
    mask = d.rng.integers(-1, 2, data.shape[0]) / 2
    return [data, mask], {}, [data[mask != 0]]


def _upsampling(d):
    x, scale = d.uniform(d.shape(4, 4, 3)), d.integer(1, 3)
    return [x], {"scale": scale, "sample_type": "nearest"}, [x.repeat(scale, 2).repeat(scale, 3)]


def _adaptive_average(d):
    x = d.uniform(d.shape(4, 4, 6))
    out = tuple(d.integer(1, n) for n in x.shape[2:])
    y = np.empty((*x.shape[:2], *out))
    for i, j in np.ndindex(*out):
        rows = slice(i * x.shape[2] // out[0], -(-(i + 1) * x.shape[2] // out[0]))
        columns = slice(j * x.shape[3] // out[1], -(-(j + 1) * x.shape[3] // out[1]))
        y[:, :, i, j] = x[:, :, rows, columns].mean(axis=(2, 3))
    return [x], {"output_size": out}, [y]


def _deconvolution(d):
    """Every input pixel adds its filter, times its value, to the output."""
    groups = d.one_of(1, 1, 2)
    channels, filters = groups * d.integer(1, 2), groups * d.integer(1, 2)
    kernel, stride = ((d.integer(1, 3), d.integer(1, 3)) for _ in range(2))
    pad = tuple(d.integer(0, k - 1) for k in kernel)
    x = d.uniform((d.integer(1, 2), channels, d.integer(2, 4), d.integer(2, 4)))
    weight = d.uniform((channels, filters // groups, *kernel))
    full = [(n - 1) * s + k for n, s, k in zip(x.shape[2:], stride, kernel)]
    if any(n <= 2 * p for n, p in zip(full, pad)):
        return _deconvolution(d)
    y = np.zeros((x.shape[0], filters, *full))
    per_in, per_out = channels // groups, filters // groups
    for c in range(channels):
        to = slice(c // per_in * per_out, (c // per_in + 1) * per_out)
        for i, j in np.ndindex(*x.shape[2:]):
            y[:, to, i * stride[0]:i * stride[0] + kernel[0],
              j * stride[1]:j * stride[1] + kernel[1]] += x[:, c, i, j][:, None, None, None] * weight[c]
    y = y[:, :, pad[0]:full[0] - pad[0], pad[1]:full[1] - pad[1]]
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "num_filter": filters,
             "num_group": groups, "no_bias": True}
    return [x, weight], attrs, [y]


ROWS = {
    "SequenceMask": _sequence_mask, "SequenceLast": _sequence_last,
    "SequenceReverse": _sequence_reverse, "cumsum": _cumsum, "moments": _moments,
    "_ravel_multi_index": _ravel, "_unravel_index": _unravel, "_eye": _eye, "_linspace": _linspace,
    "_contrib_div_sqrt_dim": _div_sqrt_dim, "_contrib_quadratic": _quadratic,
    "_contrib_index_copy": _index_copy, "_contrib_boolean_mask": _boolean_mask, "UpSampling": _upsampling,
    "_contrib_AdaptiveAvgPooling2D": _adaptive_average, "Deconvolution": _deconvolution,
}
GRADIENTS = {"cumsum": [0], "_contrib_div_sqrt_dim": [0], "_contrib_quadratic": [0],
             "UpSampling": [0], "_contrib_AdaptiveAvgPooling2D": [0], "Deconvolution": None}
