"""Operators that arrange: reshape, slice, join, repeat."""
import numpy as np


def _reshape(d):
    """Targets written with MXNet's codes: 0 copies, -1 fits, -2 takes the rest, -3 joins, -4 splits."""
    shape = d.shape(1, 4)
    target, result, axis = [], [], 0
    fitted = False
    while axis < len(shape):
        size, code = shape[axis], d.one_of("size", "0", "-1", "-2", "-3", "-4")
        if code == "-2" and d.flag():
            target.append(-2)
            result += shape[axis:]
            axis = len(shape)
            continue
        if code == "-3" and axis + 1 < len(shape):
            target.append(-3)
            result.append(size * shape[axis + 1])
            axis += 2
            continue
        if code == "-4":
            first = d.one_of(*[n for n in range(1, size + 1) if size % n == 0])
            target += [-4, first, d.one_of(-1, size // first)]
            result += [first, size // first]
        elif code == "-1" and not fitted:
            fitted = True
            target.append(-1)
            result.append(size)
        else:
            target.append(0 if code == "0" else size)
            result.append(size)
        axis += 1
    x = d.uniform(shape)
    return [x], {"shape": tuple(target)}, [x.reshape(result)]


def _flatten(d):
    x = d.uniform(d.shape())
    return [x], {}, [x.reshape(x.shape[0], -1)]


def _transpose(d):
    x = d.uniform(d.shape(1, 5))
    if d.integer(0, 3) == 0:
        return [x], {}, [x.T]
    axes = tuple(int(a) for a in d.rng.permutation(x.ndim))
    return [x], {"axes": axes}, [x.transpose(axes)]


def _expand_dims(d):
    x = d.uniform(d.shape())
    axis = d.integer(-x.ndim - 1, x.ndim)
    return [x], {"axis": axis}, [np.expand_dims(x, axis)]


def _squeeze(d):
    shape = tuple(1 if d.flag() else n for n in d.shape(2, 5)) + (1, 3)
    x = d.uniform(shape)
    ones = [a for a, n in enumerate(shape) if n == 1]
    axis = d.one_of(None, d.one_of(*ones), tuple(ones))
    return [x], {} if axis is None else {"axis": axis}, [np.squeeze(x, axis)]


def _swapaxis(d):
    x = d.uniform(d.shape(2, 4))
    a, b = d.integer(0, x.ndim - 1), d.integer(0, x.ndim - 1)
    return [x], {"dim1": a, "dim2": b}, [np.swapaxes(x, a, b)]


def bounds_of(d, size):
    """(begin, end, step) that select something."""
    while True:
        step = d.one_of(None, 1, 2, -1, -2, 3)
        begin, end = (d.one_of(None, d.integer(-size, size - 1)) for _ in range(2))
        if len(range(*slice(begin, end, step).indices(size))):
            return begin, end, step


def _slice(d):
    x = d.uniform(d.shape())
    bounds = [bounds_of(d, n) for n in x.shape[:d.integer(1, x.ndim)]]
    begin, end, step = (tuple(part) for part in zip(*bounds))
    return [x], {"begin": begin, "end": end, "step": step}, [x[tuple(slice(*b) for b in bounds)]]


def _slice_axis(d):
    x = d.uniform(d.shape())
    axis = d.axis(x.ndim)
    size = x.shape[axis]
    begin = d.integer(0, size - 1)
    end = d.one_of(None, d.integer(begin + 1, size))
    key = [slice(None)] * x.ndim
    key[axis] = slice(begin, end)
    if d.flag():
        begin -= size
    return [x], {"axis": axis, "begin": begin, "end": end}, [x[tuple(key)]]


def _slice_like(d):
    x = d.uniform(d.shape())
    like = d.uniform(tuple(d.integer(1, n) for n in x.shape))
    axes = d.axes(x.ndim) if d.flag() else ()
    key = [slice(n) if not axes or a in [b % x.ndim for b in axes] else slice(None)
           for a, n in enumerate(like.shape)]
    return [x, like], {"axes": axes} if axes else {}, [x[tuple(key)]]


def _concat(d):
    shape, axis = list(d.shape()), 0
    axis = d.axis(len(shape))
    parts = []
    for _ in range(d.integer(1, 5)):
        shape[axis] = d.integer(1, 4)
        parts.append(d.uniform(tuple(shape)))
    return parts, {"dim": axis}, [np.concatenate(parts, axis)]


def _rnn_param_concat(d):
    parts = [d.uniform((d.integer(1, 9),)) for _ in range(d.integer(1, 5))]
    return parts, {"dim": 0}, [np.concatenate(parts)]


def _stack(d):
    shape = d.shape(1, 3)
    parts = [d.uniform(shape) for _ in range(d.integer(1, 4))]
    axis = d.integer(-len(shape) - 1, len(shape))
    return parts, {"axis": axis}, [np.stack(parts, axis)]


def _split(d):
    shape = list(d.shape(2, 4))
    axis, count = d.axis(len(shape)), d.integer(1, 4)
    squeeze = d.integer(0, 2) == 0
    shape[axis] = count if squeeze else count * d.integer(1, 3)
    x = d.uniform(tuple(shape))
    parts = np.split(x, count, axis)
    attrs = {"num_outputs": count, "axis": axis, "squeeze_axis": squeeze}
    return [x], attrs, [np.squeeze(p, axis) if squeeze else p for p in parts]


def _tile(d):
    x = d.uniform(d.shape(1, 3))
    reps = tuple(d.integer(1, 3) for _ in range(d.integer(1, 4)))
    return [x], {"reps": reps}, [np.tile(x, reps)]


def _repeat(d):
    x = d.uniform(d.shape())
    count, axis = d.integer(1, 4), d.one_of(None, d.axis(x.ndim))
    attrs = {"repeats": count} if axis is None else {"repeats": count, "axis": axis}
    return [x], attrs, [np.repeat(x, count, axis)]


def _pad(d):
    x = d.uniform(tuple(d.integer(2, 5) for _ in range(d.one_of(4, 5))))
    mode = d.one_of("constant", "edge", "reflect")
    widths = [(0, 0)] * 2 + [(d.integer(0, n - 1), d.integer(0, n - 1)) for n in x.shape[2:]]
    attrs = {"mode": mode, "pad_width": tuple(w for pair in widths for w in pair)}
    extra = {}
    if mode == "constant":
        attrs["constant_value"] = extra["constant_values"] = d.number(-2, 2)
    return [x], attrs, [np.pad(x, widths, mode=mode, **extra)]


def _reverse(d):
    x = d.uniform(d.shape())
    axes = tuple(a % x.ndim for a in d.axes(x.ndim))
    return [x], {"axis": axes}, [np.flip(x, axes)]


def _broadcast(d):
    """(source, result shape, stretched axes)."""
    shape = d.shape()
    stretched = sorted({a % len(shape) for a in d.axes(len(shape))})
    return d.uniform(tuple(1 if a in stretched else n for a, n in enumerate(shape))), shape, stretched


def _broadcast_to(d):
    x, shape, _ = _broadcast(d)
    target = tuple(0 if d.integer(0, 3) == 0 and n == x.shape[a] else n for a, n in enumerate(shape))
    return [x], {"shape": target}, [np.broadcast_to(x, shape)]


def _broadcast_axis(d):
    x, shape, axes = _broadcast(d)
    return [x], {"axis": tuple(axes), "size": tuple(shape[a] for a in axes)}, [
        np.broadcast_to(x, shape)]


def _broadcast_like(d):
    x, shape, _ = _broadcast(d)
    return [x, d.uniform(shape)], {}, [np.broadcast_to(x, shape)]


def _depth_to_space(d):
    b, n, c, h, w = d.integer(1, 3), d.integer(1, 3), d.integer(1, 3), d.integer(1, 4), d.integer(1, 4)
    x = d.uniform((n, b * b * c, h, w))
    y = x.reshape(n, b, b, c, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c, h * b, w * b)
    return [x], {"block_size": b}, [y]


def _space_to_depth(d):
    inputs, attrs, outputs = _depth_to_space(d)
    return [np.ascontiguousarray(outputs[0])], attrs, inputs


def _diag(d):
    x = d.uniform(d.shape(1, 4))
    if x.ndim == 1:
        k = d.integer(-3, 3)
        return [x], {"k": k}, [np.diag(x, k)]
    a, b = (int(v) for v in d.rng.permutation(x.ndim)[:2])
    k = d.integer(1 - x.shape[a], x.shape[b] - 1)
    return [x], {"k": k, "axis1": a, "axis2": b}, [np.diagonal(x, k, a, b)]


def _reshape_like(d):
    x = d.uniform(d.shape(2, 3))
    like = d.uniform(tuple(int(n) for n in d.rng.permutation(x.shape)))
    return [x, like], {}, [x.reshape(like.shape)]


ROWS = {
    "Reshape": _reshape, "Flatten": _flatten, "transpose": _transpose, "expand_dims": _expand_dims,
    "squeeze": _squeeze, "SwapAxis": _swapaxis, "slice": _slice, "slice_axis": _slice_axis,
    "slice_like": _slice_like, "Concat": _concat,
    "_rnn_param_concat": _rnn_param_concat, "stack": _stack, "SliceChannel": _split,
    "tile": _tile, "repeat": _repeat, "Pad": _pad, "reverse": _reverse,
    "broadcast_to": _broadcast_to, "broadcast_axis": _broadcast_axis,
    "broadcast_like": _broadcast_like, "depth_to_space": _depth_to_space,
    "space_to_depth": _space_to_depth, "diag": _diag, "reshape_like": _reshape_like,
}
GRADIENTS = {name: [0] for name in ROWS}
GRADIENTS.update({"Concat": None, "_rnn_param_concat": None, "stack": None})
del GRADIENTS["SliceChannel"]  # several outputs
