"""Layers by their definitions."""
import math

import numpy as np

_erf = np.vectorize(math.erf, otypes=[float])


def _fully_connected(d):
    x = d.uniform(d.shape(2, 4))
    flatten, no_bias, hidden = d.flag(), d.flag(), d.integer(1, 6)
    rows = x.reshape(x.shape[0], -1) if flatten else x
    weight, bias = d.uniform((hidden, rows.shape[-1])), d.uniform((hidden,))
    y = rows @ weight.T + (0 if no_bias else bias)
    attrs = {"num_hidden": hidden, "flatten": flatten, "no_bias": no_bias}
    return [x, weight] + ([] if no_bias else [bias]), attrs, [y]


def _windows(x, kernel, stride, dilate, out):
    """Every window of the spatial axes: (N, C, *out, *kernel)."""
    n, c = x.shape[:2]
    result = np.empty((n, c, *out, *kernel))
    for place in np.ndindex(*out):
        key = tuple(slice(p * s, p * s + (k - 1) * g + 1, g)
                    for p, s, k, g in zip(place, stride, kernel, dilate))
        result[(slice(None), slice(None), *place)] = x[(slice(None), slice(None), *key)]
    return result


def _convolution(d):
    axes, groups = d.integer(1, 2), d.one_of(1, 1, 2, 3)
    channels, filters = groups * d.integer(1, 2), groups * d.integer(1, 2)
    kernel = tuple(d.integer(1, 3) for _ in range(axes))
    stride, dilate, pad = (tuple(d.integer(low, 2) for _ in range(axes)) for low in (1, 1, 0))
    size = tuple((k - 1) * g + d.integer(1, 4) for k, g in zip(kernel, dilate))
    n, no_bias = d.integer(1, 2), d.flag()
    x = d.uniform((n, channels, *size))
    weight, bias = d.uniform((filters, channels // groups, *kernel)), d.uniform((filters,))
    padded = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in pad])
    out = tuple((m - (k - 1) * g - 1) // s + 1
                for m, k, g, s in zip(padded.shape[2:], kernel, dilate, stride))
    y = np.zeros((n, filters, *out))
    per_in, per_out = channels // groups, filters // groups
    for g in range(groups):
        windows = _windows(padded[:, g * per_in:(g + 1) * per_in], kernel, stride, dilate, out)
        part = weight[g * per_out:(g + 1) * per_out]
        contracted = [1] + [2 + axes + a for a in range(axes)]
        product = np.tensordot(windows, part, axes=(contracted, list(range(1, part.ndim))))
        y[:, g * per_out:(g + 1) * per_out] = np.moveaxis(product, -1, 1)
    if not no_bias:
        y += bias.reshape((1, -1) + (1,) * axes)
    attrs = {"kernel": kernel, "stride": stride, "dilate": dilate, "pad": pad, "num_group": groups,
             "num_filter": filters, "no_bias": no_bias}
    return [x, weight] + ([] if no_bias else [bias]), attrs, [y]


def _pooling(d):
    axes, kind = d.integer(1, 3), d.one_of("max", "avg", "sum")
    kernel = tuple(d.integer(1, 3) for _ in range(axes))
    stride = tuple(d.integer(1, 3) for _ in range(axes))
    pad = tuple(d.integer(0, k // 2) for k in kernel)
    size = tuple(k + d.integer(0, 4) for k in kernel)
    x = d.apart((d.integer(1, 2), d.integer(1, 2), *size))
    spatial = tuple(range(2, 2 + axes))
    if d.integer(0, 4) == 0:
        function = {"max": np.max, "avg": np.mean, "sum": np.sum}[kind]
        return [x], {"kernel": kernel, "pool_type": kind, "global_pool": True}, [
            function(x, axis=spatial, keepdims=True)]
    convention, include = d.one_of("valid", "full"), d.flag()
    rounded = math.floor if convention == "valid" else math.ceil
    out = tuple(rounded((m + 2 * p - k) / s) + 1 for m, k, s, p in zip(size, kernel, stride, pad))
    y = np.empty((*x.shape[:2], *out))
    for place in np.ndindex(*out):
        starts = [i * s - p for i, s, p in zip(place, stride, pad)]
        # The divisor counts the padding too, but nothing beyond it.
        counted = [min(b + k, m + p) - b for b, k, m, p in zip(starts, kernel, size, pad)]
        inside = [slice(max(b, 0), min(b + k, m)) for b, k, m in zip(starts, kernel, size)]
        window = x[(slice(None), slice(None), *inside)]
        if 0 in window.shape:
            return _pooling(d)  # a window wholly in the padding has no maximum
        if kind == "max":
            value = window.max(axis=spatial)
        else:
            value = window.sum(axis=spatial)
            if kind == "avg":
                value = value / (math.prod(counted) if include else math.prod(window.shape[2:]))
        y[(slice(None), slice(None), *place)] = value
    attrs = {"kernel": kernel, "stride": stride, "pad": pad, "pool_type": kind,
             "pooling_convention": convention, "count_include_pad": include}
    return [x], attrs, [y]


def _along(vector, ndim, axis):
    return vector.reshape([-1 if a == axis % ndim else 1 for a in range(ndim)])


def _batch_norm(d, axis=None):
    x = d.uniform(d.shape(2, 4))
    axis = d.integer(0, x.ndim - 1) if axis is None else axis
    fix_gamma, eps = d.flag(), d.number(1e-4, 1e-2)
    gamma, beta, mean = (d.uniform(x.shape[axis:axis + 1]) for _ in range(3))
    var = d.uniform(gamma.shape, 0.5, 2)
    scale = np.ones_like(gamma) if fix_gamma else gamma
    g, b, m, v = (_along(p, x.ndim, axis) for p in (scale, beta, mean, var))
    return [x, gamma, beta, mean, var], {"axis": axis, "fix_gamma": fix_gamma, "eps": eps}, [
        (x - m) / np.sqrt(v + eps) * g + b]


def _normalise(x, axes, eps):
    mean = x.mean(axis=axes, keepdims=True)
    return (x - mean) / np.sqrt(np.square(x - mean).mean(axis=axes, keepdims=True) + eps)


def _layer_norm(d):
    x = d.uniform(d.shape(2, 4) + (4,))
    axis, eps = d.one_of(-1, x.ndim - 1), d.number(1e-4, 1e-2)
    gamma, beta = d.uniform(x.shape[-1:]), d.uniform(x.shape[-1:])
    return [x, gamma, beta], {"axis": axis, "eps": eps}, [_normalise(x, -1, eps) * gamma + beta]


def _instance_norm(d):
    x = d.uniform(d.shape(2, 3) + (4,))
    eps = d.number(1e-3, 1e-2)
    gamma, beta = d.uniform(x.shape[1:2]), d.uniform(x.shape[1:2])
    y = _normalise(x, tuple(range(2, x.ndim)), eps)
    return [x, gamma, beta], {"eps": eps}, [
        y * _along(gamma, x.ndim, 1) + _along(beta, x.ndim, 1)]


def _l2_normalization(d):
    mode = d.one_of("instance", "channel", "spatial")
    x, eps = d.uniform(d.shape(3, 4)), d.number(1e-10, 1e-3)
    axes = {"instance": tuple(range(1, x.ndim)), "channel": (1,),
            "spatial": tuple(range(2, x.ndim))}[mode]
    return [x], {"mode": mode, "eps": eps}, [
        x / np.sqrt(np.square(x).sum(axis=axes, keepdims=True) + eps)]


def _lrn(d):
    x = d.uniform((d.integer(1, 2), d.integer(1, 6), d.integer(1, 3), d.integer(1, 3)))
    size, (alpha, beta, knorm) = d.one_of(1, 3, 5), [d.number(0.1, 1) for _ in range(3)]
    y = np.empty_like(x)
    for c in range(x.shape[1]):
        near = np.square(x[:, max(c - size // 2, 0):c + size // 2 + 1]).sum(axis=1)
        y[:, c] = x[:, c] / (knorm + alpha / size * near) ** beta
    return [x], {"nsize": size, "alpha": alpha, "beta": beta, "knorm": knorm}, [y]


def _group_norm(d):
    groups, per = d.integer(1, 3), d.integer(1, 3)
    x, eps = d.uniform((d.integer(1, 3), groups * per, *d.shape(1, 2), 2)), d.number(1e-3, 1e-2)
    parts = x.reshape(x.shape[0], groups, -1)
    gamma, beta = d.uniform((groups,)), d.uniform((groups,))
    y = _normalise(parts, -1, eps) * gamma[:, None] + beta[:, None]
    return [x, gamma, beta], {"num_groups": groups, "eps": eps}, [y.reshape(x.shape)]


def _fused_batch_norm(d):
    inputs, attrs, (y,) = _batch_norm(d, axis=1)
    return inputs, attrs, [np.maximum(y, 0)]


def _fused_fully_connected(d):
    inputs, attrs, (y,) = _fully_connected(d)
    return inputs, attrs, [np.maximum(y, 0)]


def _fused_convolution(d):
    inputs, attrs, (y,) = _convolution(d)
    more = d.uniform(y.shape)
    return [*inputs, more], attrs, [y + more]


def _softmax_along(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _softmax(function):
    def row(d):
        x = d.uniform(d.shape())
        axis, temperature = d.axis(x.ndim), d.one_of(None, d.number(0.5, 3))
        attrs = {"axis": axis} if temperature is None else {"axis": axis, "temperature": temperature}
        return [x], attrs, [function(x / (temperature or 1.0), axis)]
    return row


def _softmax_activation(d):
    x, mode = d.uniform(d.shape(3, 4)), d.one_of("instance", "channel")
    # Measured on MXNet 1.9.1: an instance is a row of the last axis, not all of a sample.
    return [x], {"mode": mode}, [_softmax_along(x, 1 if mode == "channel" else -1)]


def _softmax_output(d):
    x = d.uniform(d.shape(2, 2))
    return [x, d.integers(x.shape[:1], 0, x.shape[1] - 1)], {}, [_softmax_along(x, 1)]


def _softmax_cross_entropy(d):
    x = d.uniform(d.shape(2, 2))
    label = d.integers(x.shape[:1], 0, x.shape[1] - 1)
    chosen = _softmax_along(x, 1)[np.arange(len(x)), label.astype(int)]
    return [x, label], {}, [np.array([-np.log(chosen).sum()])]


def _activation(d):
    x = d.uniform(d.shape(), -4, 4)
    kind = d.one_of("relu", "sigmoid", "tanh", "softrelu", "softsign")
    function = {"relu": lambda v: np.maximum(v, 0), "sigmoid": lambda v: 1 / (1 + np.exp(-v)),
                "tanh": np.tanh, "softrelu": lambda v: np.log1p(np.exp(v)),
                "softsign": lambda v: v / (1 + np.abs(v))}[kind]
    return [x], {"act_type": kind}, [function(x)]


def _leaky_relu(d):
    x, slope = d.uniform(d.shape(2, 4), -4, 4), d.number(0.1, 0.5)
    kind = d.one_of("leaky", "elu", "selu", "gelu", "prelu")
    if kind == "prelu":
        gamma = d.uniform((x.shape[1],), 0.1, 0.5)
        return [x, gamma], {"act_type": kind}, [np.where(x > 0, x, x * _along(gamma, x.ndim, 1))]
    scale, alpha = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717
    y = {"leaky": np.where(x > 0, x, slope * x), "elu": np.where(x > 0, x, slope * np.expm1(x)),
         "selu": scale * np.where(x > 0, x, alpha * np.expm1(x)),
         "gelu": x / 2 * (1 + _erf(x / math.sqrt(2)))}[kind]
    return [x], {"act_type": kind, "slope": slope}, [y]


def _regression(function):
    def row(d):
        x = d.uniform(d.shape())
        return [x, d.uniform(x.shape)], {}, [function(x)]
    return row


def _hinge(d):
    x = d.uniform(d.shape(2, 2))
    attrs = {"margin": d.number(0.5, 2), "regularization_coefficient": d.number(0.5, 2),
             "use_linear": d.flag()}
    return [x, d.integers(x.shape[:1], 0, x.shape[1] - 1)], attrs, [x]


def _sparse_activations(d):
    x = d.uniform(d.shape(2, 2), 0.1, 0.9)
    return [x, d.uniform(x.shape[1:], 0.1, 0.9)], {"sparseness_target": d.number(0.1, 0.5)}, [x]


def _dropout(d):
    x = d.uniform(d.shape())
    return [x], {"p": d.number(0, 0.9)}, [x]


ROWS = {
    "FullyConnected": _fully_connected, "Convolution": _convolution, "Pooling": _pooling,
    "BatchNorm": _batch_norm, "LayerNorm": _layer_norm, "InstanceNorm": _instance_norm,
    "L2Normalization": _l2_normalization, "LRN": _lrn, "softmax": _softmax(_softmax_along),
    "softmin": _softmax(lambda x, axis: _softmax_along(-x, axis)),
    "log_softmax": _softmax(lambda x, axis: np.log(_softmax_along(x, axis))),
    "GroupNorm": _group_norm, "SVMOutput": _hinge, "IdentityAttachKLSparseReg": _sparse_activations,
    "SoftmaxActivation": _softmax_activation, "SoftmaxOutput": _softmax_output,
    "softmax_cross_entropy": _softmax_cross_entropy, "Activation": _activation,
    "LeakyReLU": _leaky_relu, "LinearRegressionOutput": _regression(np.copy),
    "MAERegressionOutput": _regression(np.copy),
    "LogisticRegressionOutput": _regression(lambda x: 1 / (1 + np.exp(-x))), "Dropout": _dropout,
}
# What a pass makes one operator of, which users cannot name: how it is written, and its row.
FUSED_ROWS = {
    "_fused_BatchNorm": (_fused_batch_norm, lambda sym, x, attrs: sym.Activation(
        sym.BatchNorm(*x, **attrs), act_type="relu")),
    "_fused_FullyConnected": (_fused_fully_connected, lambda sym, x, attrs: sym.Activation(
        sym.FullyConnected(*x, **attrs), act_type="relu")),
    "_fused_Convolution": (_fused_convolution, lambda sym, x, attrs: sym.elemwise_add(
        sym.Convolution(*x[:-1], **attrs), x[-1])),
}
GRADIENTS = {"FullyConnected": None, "Convolution": None, "Pooling": [0], "LayerNorm": [0, 1, 2],
             "InstanceNorm": [0, 1, 2], "GroupNorm": [0, 1, 2],
             "L2Normalization": [0], "LRN": [0], "softmax": [0],
             "softmin": [0], "log_softmax": [0], "SoftmaxActivation": [0],
             "softmax_cross_entropy": [0], "Activation": [0], "LeakyReLU": None}
