"""Functions on arrays that are more than one operator."""
import math
import warnings

import numpy as np

from .. import _core, error
from ..base import MXNetError, integer_types, numeric_types
from .creation import array
from .indexing import split_key
from .ndarray import NDArray, _op

__all__ = ["clip_global_norm", "concatenate", "moveaxis", "onehot_encode", "histogram", "split_v2",
           "imdecode", "indexing_key_expand_implicit_axes", "add", "subtract", "multiply",
           "divide", "true_divide", "modulo", "power", "maximum", "minimum", "equal",
           "not_equal", "greater", "greater_equal", "lesser", "lesser_equal",
           "logical_and", "logical_or", "logical_xor"]


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scales arrays so that the norm of all their numbers is at most `max_norm`; returns the previous
    norm. If the norm is not finite, the arrays are unchanged and a warning is issued, unless
    `check_isfinite` is off; then the norm is an NDArray."""
    assert len(arrays) > 0
    norm = _core.clip_global_norm(list(arrays), float(max_norm))
    if not check_isfinite:
        return array([norm])
    if not math.isfinite(norm):
        warnings.warn(UserWarning("nan or inf is detected. The arrays are not clipped: their norm "
                                  "is {}.".format(norm)), stacklevel=2)
    return norm


def concatenate(arrays, axis=0, always_copy=True):
    """Arrays one after another along an axis."""
    if not isinstance(arrays, list) or not arrays or not isinstance(arrays[0], NDArray):
        raise error.TypeError("concatenate wants a non-empty list of NDArrays")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    result = _op("Concat")(*arrays, dim=axis)
    return result.astype(arrays[0].dtype, copy=False)


def moveaxis(tensor, source, destination):
    """Axes moved to other places, the rest in order."""
    source = [source] if isinstance(source, integer_types) else list(source)
    destination = [destination] if isinstance(destination, integer_types) else list(destination)
    if len(source) != len(destination):
        raise error.ValueError("`source` and `destination` arguments must have the same number of elements")
    for axes, what in ((source, "source"), (destination, "destination")):
        for axis in axes:
            if not -tensor.ndim <= axis < tensor.ndim:
                raise error.ValueError(f"{what} axis {axis} is out of range for {tensor.ndim} axes")
    source = [a % tensor.ndim for a in source]
    destination = [a % tensor.ndim for a in destination]
    if len(set(source)) != len(source) or len(set(destination)) != len(destination):
        raise error.ValueError("an axis was named twice")
    order = [a for a in range(tensor.ndim) if a not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return _op("transpose")(tensor, axes=tuple(order))


def onehot_encode(indices, out):
    """Writes ones into `out` at the columns `indices`."""
    return _op("_onehot_encode")(indices, out, out=out)


def histogram(a, bins=10, range=None):
    """(counts, edges) of the numbers of an array."""
    if isinstance(bins, NDArray):
        return _op("_histogram")(a, bins)
    if range is None:
        warnings.warn("range is not specified, using numpy's result to ensure consistency with numpy")
        counts, edges = np.histogram(a.asnumpy(), bins=bins)
        return array(counts, dtype=np.int64), array(edges)
    return _op("_histogram")(a, bin_cnt=bins, range=range)


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts along an axis: so many equal ones, or cut at the given places."""
    size = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        if size % indices_or_sections:
            raise error.ValueError("array split does not result in an equal division")
        indices = [i * (size // indices_or_sections) for i in range(indices_or_sections)]
    else:
        indices = [0] + [int(i) for i in indices_or_sections]
    return _op("_split_v2")(ary, indices, axis, squeeze_axis)


def imdecode(*_args, **_kwargs):
    """Decoding images."""
    raise MXNetError("imdecode is not in Symbind: decode with an image library and nd.array the result")


def indexing_key_expand_implicit_axes(key, shape):
    """A key with one entry per axis, Ellipsis and missing axes written out."""
    return tuple(split_key(key, len(shape))[0])


def _binary(name, arrays, scalar, reverse, doc):
    arrays, scalar, reverse = _op(arrays), _op(scalar), _op(reverse)

    def function(lhs, rhs):
        is_array = [isinstance(side, _core.NDArray) for side in (lhs, rhs)]
        if all(is_array):
            return arrays(lhs, rhs)
        number = rhs if is_array[0] else lhs
        if not isinstance(number, numeric_types):
            raise error.TypeError(f"type {type(number)} not supported")
        if is_array[0]:
            return scalar(lhs, scalar=number)
        if is_array[1]:
            return reverse(rhs, scalar=number)
        return _on_numbers[name](lhs, rhs)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


_on_numbers = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b, "modulo": lambda a, b: a % b, "power": lambda a, b: a ** b,
    "maximum": lambda a, b: a if a > b else b, "minimum": lambda a, b: a if a < b else b,
    "equal": lambda a, b: 1 if a == b else 0, "not_equal": lambda a, b: 1 if a != b else 0,
    "greater": lambda a, b: 1 if a > b else 0, "greater_equal": lambda a, b: 1 if a >= b else 0,
    "lesser": lambda a, b: 1 if a < b else 0, "lesser_equal": lambda a, b: 1 if a <= b else 0,
    "logical_and": lambda a, b: 1 if a and b else 0, "logical_or": lambda a, b: 1 if a or b else 0,
    "logical_xor": lambda a, b: 1 if bool(a) != bool(b) else 0,
    "hypot": lambda a, b: float(np.hypot(a, b)),
}

# name: (arrays, array and number, number and array)
_BINARY = {
    "add": ("broadcast_add", "_plus_scalar", "_plus_scalar"),
    "subtract": ("broadcast_sub", "_minus_scalar", "_rminus_scalar"),
    "multiply": ("broadcast_mul", "_mul_scalar", "_mul_scalar"),
    "divide": ("broadcast_div", "_div_scalar", "_rdiv_scalar"),
    "modulo": ("broadcast_mod", "_mod_scalar", "_rmod_scalar"),
    "power": ("broadcast_power", "_power_scalar", "_rpower_scalar"),
    "maximum": ("broadcast_maximum", "_maximum_scalar", "_maximum_scalar"),
    "minimum": ("broadcast_minimum", "_minimum_scalar", "_minimum_scalar"),
    "equal": ("broadcast_equal", "_equal_scalar", "_equal_scalar"),
    "not_equal": ("broadcast_not_equal", "_not_equal_scalar", "_not_equal_scalar"),
    "greater": ("broadcast_greater", "_greater_scalar", "_lesser_scalar"),
    "greater_equal": ("broadcast_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"),
    "lesser": ("broadcast_lesser", "_lesser_scalar", "_greater_scalar"),
    "lesser_equal": ("broadcast_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"),
    "logical_and": ("broadcast_logical_and", "_logical_and_scalar", "_logical_and_scalar"),
    "logical_or": ("broadcast_logical_or", "_logical_or_scalar", "_logical_or_scalar"),
    "logical_xor": ("broadcast_logical_xor", "_logical_xor_scalar", "_logical_xor_scalar"),
}
for _name, _names in _BINARY.items():
    globals()[_name] = _binary(_name, *_names, f"{_name}, with broadcasting, of arrays and numbers.")
true_divide = divide  # noqa: F821 - made by the loop above
_power = power  # noqa: F821


def power(base, exp):
    """One to the power of the other, with broadcasting, of arrays and numbers."""
    return _power(base, exp)
