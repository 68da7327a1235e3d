"""Random programs of indexing, run on NDArrays and on NumPy arrays side by side.

A program starts from one array and reads, writes and updates it and what it read before. NumPy says
which values, shapes and errors are right; three rules are MXNet's own (api.md 3.20-32): a basic
selection shares memory when it is contiguous and is a copy otherwise, a result without axes has
shape (1,) unless np_shape is on, and a mask of truth values is read as integer positions.
"""
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import symbind as mx

DTYPES = ["float32", "float64", "float16", "int32", "int64", "uint8", "int8", "bool"]


@st.composite
def integers_for(draw, size):
    """An index into an axis: nearly always a valid one."""
    if size and draw(st.integers(0, 39)):
        return draw(st.integers(-size, size - 1))
    return draw(st.integers(-size - 2, size + 1))


@st.composite
def slices_for(draw, size):
    bound = st.one_of(st.none(), st.integers(-size - 2, size + 2))
    step = draw(st.sampled_from([None, None, None, 1, 1, 2, 3, -1, -2, 7, -9, 2 ** 40]))
    return slice(draw(bound), draw(bound), step)


@st.composite
def arrays_for(draw, size, common):
    """An array of indices whose shape mostly broadcasts with `common`."""
    shape = list(common[draw(st.integers(0, len(common))):])
    shape = [1 if draw(st.integers(0, 5)) == 0 else n for n in shape]
    if draw(st.integers(0, 29)) == 0:
        shape = shape + [draw(st.integers(2, 4))]
    count = int(np.prod(shape, dtype=int))
    flat = [draw(integers_for(size)) for _ in range(count)]
    return np.array(flat, dtype=np.int64).reshape(shape)


@st.composite
def keys(draw, shape):
    """(key for an NDArray, key for NumPy): they differ in how an array of indices is given."""
    axes = len(shape)
    used = draw(st.integers(0, axes)) if draw(st.integers(0, 24)) else axes + 1
    advanced = draw(st.integers(0, 2)) == 0
    common = draw(st.lists(st.integers(1, 3), max_size=2))
    ours, theirs = [], []

    def add(one, other):
        ours.append(one)
        theirs.append(other)

    behind = draw(st.integers(0, used))  # axes indexed after the ellipsis
    ellipsis = draw(st.booleans())
    for i in range(used):
        if ellipsis and i == used - behind:
            add(Ellipsis, Ellipsis)
        if draw(st.integers(0, 9)) == 0:
            add(None, None)
        axis = axes - used + i if ellipsis and i >= used - behind else i
        size = shape[axis] if 0 <= axis < axes else 1
        if advanced and draw(st.booleans()):
            index = draw(arrays_for(size, common))
            form = draw(st.sampled_from(["list", "numpy", "int32", "nd", "nd float"]))
            if form == "list" and index.ndim:
                add(index.tolist(), index if index.size else index.tolist())
            elif form == "int32":
                add(index.astype(np.int32), index)
            elif form.startswith("nd") and index.ndim and index.size:
                add(mx.nd.array(index, dtype="float32" if "float" in form else "int64"), index)
            else:
                add(index, index)
        elif draw(st.booleans()):
            index = draw(integers_for(size))
            add(draw(st.sampled_from([int, np.int64, np.int32]))(index), index)
        else:
            chosen = draw(slices_for(size))
            add(chosen, chosen)
    if ellipsis and behind == 0:
        add(Ellipsis, Ellipsis)
    if len(ours) == 1 and draw(st.booleans()):
        return ours[0], theirs[0]
    return tuple(ours), tuple(theirs)


@st.composite
def numbers(draw, dtype):
    """A number every type of the test holds, or one that only `dtype` has to hold."""
    if dtype == "int64" and draw(st.integers(0, 3)) == 0:
        return draw(st.integers(-2 ** 63, 2 ** 63 - 1))
    if dtype in ("float32", "float64") and draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from([0.5, -1.25, float("inf"), float("nan")]))
    return draw(st.integers(0, 100))


@st.composite
def values_for(draw, shape, dtype):
    """(value for an NDArray, value for NumPy) that mostly broadcasts to `shape`."""
    form = draw(st.sampled_from(["number", "numpy", "nd", "list", "other type"]))
    if form == "number":
        value = draw(numbers(dtype))
        wrap = draw(st.sampled_from([lambda v: v, np.dtype(dtype).type]))
        return wrap(value), value
    shape = [1 if draw(st.integers(0, 4)) == 0 else n for n in shape]
    shape = shape[draw(st.integers(0, len(shape))) if draw(st.booleans()) else 0:]
    if draw(st.integers(0, 19)) == 0:
        shape = [1] + shape
    if draw(st.integers(0, 19)) == 0 and shape:
        shape[-1] += 1
    count = int(np.prod(shape, dtype=int))
    start = draw(st.integers(0, 100))
    value = ((np.arange(count) * 7 + start) % 101).astype(dtype).reshape(shape)
    if form == "nd" and value.ndim:
        return mx.nd.array(value, dtype=dtype), value
    if form == "list" and value.ndim:
        return value.tolist(), np.array(value.tolist())
    if form == "other type":
        value = value.astype(draw(st.sampled_from(DTYPES)))
        return (mx.nd.array(value, dtype=value.dtype) if value.ndim else value), value
    return value, value


class Pair:
    """An NDArray and the NumPy array it has to equal. What one shares, the other shares."""

    def __init__(self, ours, theirs):
        self.ours, self.theirs = ours, theirs

    def check(self):
        assert self.ours.shape == self.theirs.shape
        assert self.ours.dtype == self.theirs.dtype
        np.testing.assert_array_equal(self.ours.asnumpy(), self.theirs)


def attempt(function):
    """(result, None) or (None, the kind of error)."""
    try:
        return function(), None
    except IndexError:
        return None, IndexError
    except ValueError:
        return None, ValueError


def in_numpy(pair, key):
    """NumPy's key. Integers alone would select a number, outside the rules of arrays: for MXNet it
    is an array of one element, which NumPy gives for the same key followed by an ellipsis."""
    key = key[1] if isinstance(key[1], tuple) else (key[1],)
    return key + (Ellipsis,) if isinstance(pair.theirs[key], np.generic) else key


def read(pair, key, np_shape):
    """The pair a key selects, or None where both refuse it."""
    ours, error = attempt(lambda: pair.ours[key[0]])
    theirs, expected = attempt(lambda: pair.theirs[in_numpy(pair, key)])
    assert error is expected, (pair.theirs.shape, key)
    if expected:
        return None
    shares = theirs.size > 0 and np.shares_memory(theirs, pair.theirs)
    if not (shares and theirs.flags.c_contiguous):
        theirs = theirs.copy()
    if theirs.ndim == 0 and not np_shape:
        theirs = theirs.reshape((1,))
    result = Pair(ours, theirs)
    result.check()
    return result


def write(pair, key, value):
    if pair.theirs.ndim == 0 and isinstance(key[1], slice):
        key = (key[0], ()) if key[1] == slice(None) else key  # x[:] = v is for every array
    _, error = attempt(lambda: pair.ours.__setitem__(key[0], value[0]))
    _, expected = attempt(lambda: pair.theirs.__setitem__(in_numpy(pair, key), value[1]))
    assert error is expected, (pair.theirs.shape, key, value)


def update(pair, operator, value):
    """v += w and its like, for numbers and for arrays that broadcast."""
    ours, theirs = pair.ours, pair.theirs
    if operator == "+=":
        ours += value[0]
        theirs += value[1]
    elif operator == "-=":
        ours -= value[0]
        theirs -= value[1]
    else:
        ours *= value[0]
        theirs *= value[1]
    assert ours is pair.ours


def run_program(data, np_shape):
    dtype = data.draw(st.sampled_from(DTYPES), label="dtype")
    sizes = st.integers(0 if np_shape else 1, 4)
    shape = tuple(data.draw(st.lists(sizes, min_size=0 if np_shape else 1, max_size=5), label="shape"))
    count = int(np.prod(shape, dtype=int))
    start = (np.arange(count) % 113).astype(dtype).reshape(shape)
    pairs = [Pair(mx.nd.array(start, dtype=dtype), start.copy())]
    for _ in range(data.draw(st.integers(1, 4), label="steps")):
        pair = data.draw(st.sampled_from(pairs), label="of")
        what = data.draw(st.sampled_from(["get", "get", "set", "set", "update"]), label="what")
        if what == "get":
            got = read(pair, data.draw(keys(pair.theirs.shape), label="key"), np_shape)
            if got is not None:
                pairs.append(got)
        elif what == "set":
            key = data.draw(keys(pair.theirs.shape), label="key")
            selected, _ = attempt(lambda: np.asarray(pair.theirs[key[1]]))
            inner = selected.shape if selected is not None else (1,)
            write(pair, key, data.draw(values_for(inner, dtype), label="value"))
        elif dtype != "bool":
            operator = data.draw(st.sampled_from(["+=", "-=", "*="]), label="operator")
            number = data.draw(st.integers(0, 3), label="number")
            rows = pair.theirs.shape[-1:] if pair.theirs.size else ()
            if rows and data.draw(st.booleans(), label="array"):
                other = np.full(rows, number, dtype)
                update(pair, operator, (mx.nd.array(other, dtype=dtype), other))
            else:
                update(pair, operator, (number, number))
        for each in pairs:
            each.check()


QUIET = dict(deadline=None, suppress_health_check=list(HealthCheck), database=None)


@settings(max_examples=150, derandomize=True, **QUIET)
@given(data=st.data(), np_shape=st.booleans())
def test_programs(data, np_shape):
    with mx.np_shape(np_shape), np.errstate(all="ignore"):
        run_program(data, np_shape)


@pytest.mark.slow
@settings(max_examples=10000, **QUIET)
@given(data=st.data(), np_shape=st.booleans())
def test_ten_thousand_programs(data, np_shape):
    with mx.np_shape(np_shape), np.errstate(all="ignore"):
        run_program(data, np_shape)
