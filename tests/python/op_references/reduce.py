"""Reductions, orderings and products of matrices."""
import numpy as np


def _reduction_axes(d, ndim, single=False):
    """(attributes, axes as NumPy takes them)."""
    exclude = False
    if d.integer(0, 3) == 0:
        axis = None
    elif single or d.flag():
        axis = d.axis(ndim)
    else:
        axis = d.axes(ndim)
        exclude = d.integer(0, 3) == 0 and len(axis) < ndim
    attrs = {} if axis is None and d.flag() else {"axis": axis}
    keepdims = d.flag()
    attrs["keepdims"] = keepdims
    if exclude:
        attrs["exclude"] = True
        axis = tuple(a for a in range(ndim) if a not in [b % ndim for b in axis])
    return attrs, axis, keepdims


def _legacy(result):
    """Without axes a result has shape (1,)."""
    return np.reshape(result, (1,)) if np.ndim(result) == 0 else result


def _reduce(function, draw=None):
    def row(d):
        shape = d.shape()
        x = draw(d, shape) if draw else d.uniform(shape, 0.3, 2)
        attrs, axis, keepdims = _reduction_axes(d, len(shape))
        return [x], attrs, [_legacy(function(x, axis=axis, keepdims=keepdims))]
    return row


def _with_nans(d, shape):
    x = d.uniform(shape, 0.3, 2)
    x[d.rng.random(shape) < 0.2] = np.nan
    return x


def _norm(d):
    shape = d.shape(2)
    x = d.uniform(shape)
    order, keepdims = d.one_of(1, 2), d.flag()
    attrs = {"ord": order, "keepdims": keepdims}
    axis = d.one_of(None, d.axis(len(shape)), d.axes(len(shape))[:2])
    if axis is not None:
        attrs["axis"] = axis
    if order == 1:
        result = np.abs(x).sum(axis=axis, keepdims=keepdims)
    else:
        result = np.sqrt(np.square(x).sum(axis=axis, keepdims=keepdims))
    return [x], attrs, [_legacy(result)]


def _arg(function):
    def row(d):
        shape = d.shape()
        x = d.integers(shape, -2, 2)  # ties: the first one counts
        axis, keepdims = d.axis(len(shape)), d.flag()
        return [x], {"axis": axis, "keepdims": keepdims}, [
            _legacy(function(x, axis=axis, keepdims=keepdims).astype(float))]
    return row


def _argmax_channel(d):
    x = d.apart(d.shape(2, 2))
    return [x], {}, [np.argmax(x, axis=1).astype(float)]


def _sort(d):
    x = d.apart(d.shape())
    axis, ascend = d.one_of(None, d.axis(x.ndim)), d.flag()
    y = np.sort(x, axis=axis)
    return [x], {"axis": axis, "is_ascend": ascend}, [y if ascend else np.flip(y, axis or 0)]


def _argsort(d):
    x = d.apart(d.shape())
    axis, ascend = d.one_of(None, d.axis(x.ndim)), d.flag()
    order = np.argsort(x if ascend else -x, axis=axis)
    return [x], {"axis": axis, "is_ascend": ascend, "dtype": "float64"}, [order.astype(float)]


def _topk(d):
    x = d.apart(d.shape())
    axis, ascend = d.one_of(None, d.axis(x.ndim)), d.flag()
    size = x.size if axis is None else x.shape[axis]
    k = d.integer(1, size)
    flat = x.ravel() if axis is None else x
    at = 0 if axis is None else axis
    order = np.take(np.argsort(flat if ascend else -flat, axis=at), range(k), axis=at)
    kind = d.one_of("indices", "value", "both", "mask")
    attrs = {"axis": axis, "k": k, "is_ascend": ascend, "ret_typ": kind, "dtype": "float64"}
    values = np.take_along_axis(flat, order, axis=at)
    if kind == "mask":
        mask = np.zeros_like(flat)
        np.put_along_axis(mask, order, 1, axis=at)
        return [x], attrs, [mask.reshape(x.shape)]
    return [x], attrs, {"indices": [order.astype(float)], "value": [values],
                        "both": [values, order.astype(float)]}[kind]


def _dot(d):
    k = d.integer(1, 5)
    left, right = d.shape(0, 2), d.shape(0, 2)
    ta, tb = (d.flag(), d.flag()) if left or right else (False, False)
    if not left and ta or not right and tb:
        ta = tb = False
    a = d.uniform((k, *left) if ta else (*left, k))
    b = d.uniform((*right, k) if tb else (k, *right))
    result = np.tensordot(a, b, axes=(0 if ta else -1, -1 if tb else 0))
    return [a, b], {"transpose_a": ta, "transpose_b": tb}, [_legacy(result)]


def _batch_dot(d):
    n, m, k, r = (d.integer(1, 5) for _ in range(4))
    ta, tb = d.flag(), d.flag()
    a, b = d.uniform((n, m, k)), d.uniform((n, k, r))
    expected = np.matmul(a, b)
    a = a.swapaxes(1, 2) if ta else a
    b = b.swapaxes(1, 2) if tb else b
    return [a.copy(), b.copy()], {"transpose_a": ta, "transpose_b": tb}, [expected]


ROWS = {
    "sum": _reduce(np.sum, lambda d, s: d.uniform(s)), "mean": _reduce(np.mean), "prod": _reduce(np.prod),
    "nansum": _reduce(np.nansum, _with_nans), "nanprod": _reduce(np.nanprod, _with_nans),
    "max": _reduce(np.max, lambda d, s: d.apart(s)), "min": _reduce(np.min, lambda d, s: d.apart(s)),
    "norm": _norm, "argmax": _arg(np.argmax), "argmin": _arg(np.argmin),
    "argmax_channel": _argmax_channel, "sort": _sort, "argsort": _argsort, "topk": _topk,
    "dot": _dot, "batch_dot": _batch_dot,
}
GRADIENTS = {"sum": [0], "mean": [0], "prod": [0], "max": [0], "min": [0], "norm": [0], "sort": [0],
             "dot": [0, 1], "batch_dot": [0, 1]}
