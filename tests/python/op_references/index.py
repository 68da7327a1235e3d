"""Operators that look numbers up by position, and those that make arrays."""
import numpy as np


def _take(d):
    x = d.uniform(d.shape())
    axis, mode = d.axis(x.ndim), d.one_of("clip", "wrap")
    index = d.integers(d.shape(1, 3), -3, x.shape[axis] + 2)
    return [x, index], {"axis": axis, "mode": mode}, [
        np.take(x, index.astype(int), axis=axis, mode=mode)]


def _batch_take(d):
    x = d.uniform(d.shape(2, 2))
    index = d.integers(x.shape[:1], 0, x.shape[1] - 1).astype(np.int32)
    return [x, index], {}, [x[np.arange(len(x)), index]]


def _embedding(d):
    rows, columns = d.integer(1, 6), d.integer(1, 5)
    weight, index = d.uniform((rows, columns)), d.integers(d.shape(1, 3), 0, rows - 1)
    return [index, weight], {"input_dim": rows, "output_dim": columns}, [weight[index.astype(int)]]


def _pick(d):
    x = d.uniform(d.shape(2, 4))
    axis, keepdims, mode = d.axis(x.ndim), d.flag(), d.one_of("clip", "wrap")
    size = x.shape[axis]
    shape = tuple(n for a, n in enumerate(x.shape) if a != axis % x.ndim)
    index = d.integers(shape, -2, size + 1)
    inside = (np.clip(index, 0, size - 1) if mode == "clip" else index % size).astype(int)
    picked = np.take_along_axis(x, np.expand_dims(inside, axis), axis)
    return [x, index], {"axis": axis, "keepdims": keepdims, "mode": mode}, [
        picked if keepdims else np.squeeze(picked, axis)]


def _one_hot(d):
    depth = d.integer(1, 6)
    index = d.integers(d.shape(1, 3), -1, depth)
    on, off = d.number(-2, 2), d.number(-2, 2)
    hot = index.astype(int)[..., None] == np.arange(depth)
    return [index], {"depth": depth, "on_value": on, "off_value": off, "dtype": "float64"}, [
        np.where(hot, on, off)]


def coordinates(d, shape, unique):
    """Positions over the first few axes of `shape`, one per column."""
    axes, count = d.integer(1, len(shape)), d.integer(1, 5)
    size = int(np.prod(shape[:axes]))
    flat = d.rng.permutation(size)[:count] if unique else d.rng.integers(size, size=count)
    return np.stack(np.unravel_index(flat, shape[:axes])).astype(float)


def _gather_nd(d):
    x = d.uniform(d.shape())
    at = coordinates(d, x.shape, unique=False)
    return [x, at], {}, [x[tuple(at.astype(int))]]


def _scatter_nd(d):
    shape = d.shape()
    at = coordinates(d, shape, unique=True)
    values = d.uniform((at.shape[1],) + shape[at.shape[0]:])
    y = np.zeros(shape)
    y[tuple(at.astype(int))] = values
    return [values, at], {"shape": shape}, [y]


def _arange(d):
    start, step, repeat = d.integer(-5, 5), d.one_of(1, 0.5, -1, 2), d.integer(1, 3)
    stop = start + step * d.integer(1, 6)
    return [], {"start": start, "stop": stop, "step": step, "repeat": repeat, "dtype": "float64"}, [
        np.repeat(np.arange(start, stop, step, dtype=float), repeat)]


def _constant(name, value=None):
    def row(d):
        shape = d.shape()
        number = d.number(-2, 2) if value is None else value
        attrs = {"shape": shape, "dtype": "float64"}
        if name == "_full":
            attrs["value"] = number
        return [], attrs, [np.full(shape, number)]
    return row


def _cast(d):
    x = d.uniform(d.shape(), -100, 100)
    dtype = d.one_of("float32", "float16", "int32", "int64", "int8", "float64")
    return [x], {"dtype": dtype}, [x.astype(dtype).astype(float)]


ROWS = {
    "take": _take, "batch_take": _batch_take, "Embedding": _embedding, "pick": _pick,
    "one_hot": _one_hot, "gather_nd": _gather_nd, "scatter_nd": _scatter_nd, "_arange": _arange,
    "_full": _constant("_full"), "_zeros": _constant("_zeros", 0.0), "_ones": _constant("_ones", 1.0),
    "Cast": _cast,
}
GRADIENTS = {"take": [0], "Embedding": [1], "pick": [0], "gather_nd": [0], "scatter_nd": [0]}
