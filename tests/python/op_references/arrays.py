"""References for operators that copy, write, slice, count and describe arrays."""
import numpy as np

from .index import coordinates
from .shape import bounds_of


def _copy(d):
    x = d.uniform(d.shape())
    return [x], {}, [x]


def _like(d):
    x = d.uniform(d.shape())
    return [x, d.uniform(x.shape)], {}, [x]


def _grad_add(d):
    a, b = (d.uniform(s) for s in [d.shape()] * 2)
    return [a, b], {}, [a + b]


def _bounds(d, shape):
    bounds = [bounds_of(d, n) for n in shape[:d.integer(1, len(shape))]]
    begin, end, step = (tuple(part) for part in zip(*bounds))
    return {"begin": begin, "end": end, "step": step}, tuple(slice(*b) for b in bounds)


def _slice_assign(d):
    x = d.uniform(d.shape())
    attrs, key = _bounds(d, x.shape)
    y = x.copy()
    y[key] = new = d.uniform(x[key].shape)
    return [x, new], attrs, [y]


def _slice_assign_scalar(d):
    x = d.uniform(d.shape())
    attrs, key = _bounds(d, x.shape)
    y = x.copy()
    y[key] = attrs["scalar"] = d.number(-2, 2)
    return [x], attrs, [y]


def _split_v2(d):
    axis, squeeze = d.integer(0, 2), d.flag()
    sizes = [d.integer(1, 4), d.integer(1, 4), d.integer(1, 4)]
    if squeeze or d.flag():
        sections = sizes[axis] if squeeze else d.integer(1, 3)
        sizes[axis] = sections * (1 if squeeze else d.integer(1, 3))
        x = d.uniform(tuple(sizes))
        parts = np.split(x, sections, axis)
        attrs = {"indices": (), "sections": sections, "axis": axis, "squeeze_axis": squeeze}
        return [x], attrs, [np.squeeze(p, axis) if squeeze else p for p in parts]
    x = d.uniform(tuple(sizes))
    cuts = sorted({d.integer(1, sizes[axis]) for _ in range(2)} - {sizes[axis]})
    # The operator gets the start of every part, including the first.
    return [x], {"indices": (0, *cuts), "axis": axis}, np.split(x, cuts, axis)


def _scatter_set_nd(d):
    x = d.uniform(d.shape())
    at = coordinates(d, x.shape, unique=True)
    new = d.uniform((at.shape[1], *x.shape[at.shape[0]:]))
    y = x.copy()
    y[tuple(at.astype(int))] = new
    return [x, new, at], {"shape": x.shape}, [y]


def _gathered_gradient(d):
    shape = d.shape()
    at = coordinates(d, shape, unique=False)
    values = d.uniform((at.shape[1], *shape[at.shape[0]:]))
    y = np.zeros(shape)
    np.add.at(y, tuple(at.astype(int)), values)
    return [values, at], {"shape": shape}, [y]


def _set_value(d):
    value, shape = d.number(-2, 2), d.shape()
    return [], {"src": value, "out": d.uniform(shape)}, [np.full(shape, value)]


def _onehot_encode(d):
    rows, columns = d.integer(1, 5), d.integer(1, 5)
    index = d.integers((rows,), 0, columns - 1)
    return [index, d.uniform((rows, columns))], {}, [np.eye(columns)[index.astype(int)]]


def _fill_element(d):
    x = d.uniform(d.shape(2, 2))
    new, index = d.uniform(x.shape[:1]), d.integers(x.shape[:1], 0, x.shape[1] - 1)
    y = x.copy()
    y[np.arange(len(x)), index.astype(int)] = new
    return [x, new, index], {}, [y]


def _index_array(d):
    x = d.uniform(d.shape())
    places = np.moveaxis(np.indices(x.shape), 0, -1)
    if d.flag():
        return [x], {}, [places]
    axes = d.axes(x.ndim)
    return [x], {"axes": axes}, [places[..., list(axes)]]


def _arange_like(d):
    x, start, step = d.uniform(d.shape()), d.number(-2, 2), d.number(-2, 2)
    attrs = {"start": start, "step": step}
    if d.flag():
        return [x], attrs, [start + step * np.arange(x.size, dtype=float).reshape(x.shape)]
    attrs["axis"] = axis = d.axis(x.ndim)
    return [x], attrs, [start + step * np.arange(x.shape[axis], dtype=float)]


def _shape_array(d):
    x = d.uniform(d.shape())
    return [x], {}, [np.array(x.shape)]


def _size_array(d):
    x = d.uniform(d.shape())
    return [x], {}, [np.array([x.size])]


def _histogram(d):
    x = d.uniform(d.shape())
    if d.flag():
        bounds = np.sort(d.uniform((d.integer(2, 6),), -3, 3))
        return [x, bounds], {}, list(np.histogram(x, bounds))
    count, low = d.integer(1, 6), d.number(-2, 0)
    high = d.number(0.5, 2)
    counts, bounds = np.histogram(x, count, (low, high))
    return [x], {"bin_cnt": count, "range": (low, high)}, [counts, bounds]


def _spoiled(d, x):
    """The array, with one element that is no finite number half of the time."""
    if d.flag():
        x.flat[d.integer(0, x.size - 1)] = d.one_of(np.nan, np.inf, -np.inf)
    return x


def _all_finite(d):
    x = _spoiled(d, d.uniform(d.shape()).astype(np.float32))
    return [x], {}, [np.array([np.isfinite(x).all()], float)]


def _multi_all_finite(d):
    arrays = [_spoiled(d, d.uniform(d.shape()).astype(np.float32)) for _ in range(d.integer(1, 3))]
    good = all(np.isfinite(x).all() for x in arrays)
    return arrays, {"num_arrays": len(arrays)}, [np.array([good], float)]


def _allclose(d):
    a = d.uniform(d.shape())
    b = a * (1 + d.one_of(0, 1e-3, 1e-1) * d.uniform(a.shape))
    attrs = {"rtol": d.one_of(1e-4, 1e-2, 1.0), "atol": d.one_of(1e-8, 1e-2), "equal_nan": d.flag()}
    if d.flag():
        place = d.integer(0, a.size - 1)
        a.flat[place] = b.flat[place] = d.one_of(np.nan, np.inf)
    return [a, b], attrs, [np.array(np.allclose(a, b, **attrs), float)]


def _amp_cast(d):
    x = d.uniform(d.shape()).astype(d.one_of(np.float16, np.float32))
    dtype = d.one_of("float16", "float32")
    return [x], {"dtype": dtype}, [x.astype(dtype)]


def _amp_multicast(d):
    arrays = [d.uniform(d.shape()).astype(d.one_of(np.float16, np.float32))
              for _ in range(d.integer(1, 4))]
    narrow = d.flag()
    types = {x.dtype.name for x in arrays}
    dtype = min(types, key=lambda t: np.dtype(t).itemsize * (1 if narrow else -1))
    return arrays, {"num_outputs": len(arrays), "cast_narrow": narrow}, [
        x.astype(dtype) for x in arrays]


ROWS = {
    "_copyto": _copy, "_identity_with_attr_like_rhs": _like,
    "_grad_add": _grad_add, "_slice_assign": _slice_assign,
    "_slice_assign_scalar": _slice_assign_scalar, "_split_v2": _split_v2,
    "_scatter_set_nd": _scatter_set_nd, "_backward_gather_nd": _gathered_gradient,
    "_set_value": _set_value, "_onehot_encode": _onehot_encode, "fill_element_0index": _fill_element,
    "_contrib_index_array": _index_array, "_contrib_arange_like": _arange_like,
    "shape_array": _shape_array, "size_array": _size_array, "_histogram": _histogram,
    "all_finite": _all_finite, "multi_all_finite": _multi_all_finite, "_contrib_allclose": _allclose,
    "amp_cast": _amp_cast, "amp_multicast": _amp_multicast,
}
GRADIENTS = {"_grad_add": None, "_slice_assign": None, "_slice_assign_scalar": [0], "_split_v2": [0],
             "_identity_with_attr_like_rhs": [0], "_backward_gather_nd": [0]}
