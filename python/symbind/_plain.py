"""Converts Python values to plain data for checkpoints, and back. The data contains no code.

NumPy arrays become a dictionary of their bytes; other values are unchanged or refused.
"""
import numpy as np

from . import error
from .ndarray import NDArray, array

_NUMPY = "__numpy__"
_SMALL = 4096  # arrays up to this many bytes are stored in the manifest


def to_plain(value):
    """Plain data of numbers, texts, bytes, arrays and containers; error.TypeError for others."""
    if value is None or isinstance(value, (bool, int, float, str, bytes, NDArray)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise error.TypeError("a state holds an array of objects, which is not saved")
        data = np.ascontiguousarray(value).tobytes()
        if len(data) > _SMALL:
            data = array(np.frombuffer(data, np.uint8), dtype=np.uint8)
        return {_NUMPY: value.dtype.str, "shape": list(value.shape), "data": data}
    if isinstance(value, tuple):
        return tuple(to_plain(item) for item in value)
    if isinstance(value, list):
        return [to_plain(item) for item in value]
    if isinstance(value, dict):
        return {to_plain(key): to_plain(item) for key, item in value.items()}
    raise error.TypeError(
        "a state holds a {}.{}: only numbers, texts, bytes, NumPy arrays, NDArrays and tuples, lists "
        "and dicts of them are saved".format(type(value).__module__, type(value).__qualname__))


def from_plain(value):
    """The way back."""
    if isinstance(value, tuple):
        return tuple(from_plain(item) for item in value)
    if isinstance(value, list):
        return [from_plain(item) for item in value]
    if not isinstance(value, dict):
        return value
    if _NUMPY in value:
        return _numpy_array(value)
    return {from_plain(key): from_plain(item) for key, item in value.items()}


def _numpy_array(value):
    """The NumPy array of such a dictionary; error.OSError if it is invalid."""
    data, kind, shape = value.get("data"), value[_NUMPY], value.get("shape")
    data = data.asnumpy().tobytes() if isinstance(data, NDArray) else data
    try:
        dtype = np.dtype(kind)
        if dtype.hasobject or dtype.kind not in "biufcSUmM?":
            raise ValueError("no array of numbers or texts")
        return np.frombuffer(data, dtype).reshape(shape).copy()
    except (TypeError, ValueError, AttributeError) as failure:
        raise error.OSError("a checkpoint's NumPy array of type {!r} and shape {!r} cannot be made: {}".format(
            kind, shape, failure)) from None


def random_state(state):
    """NumPy's global generator as a checkpoint has it, checked: NumPy itself reads past its numbers if the position is
    beyond them."""
    if isinstance(state, dict) and state.get("bit_generator") in ("PCG64", "PCG64DXSM", "SFC64"):
        return state  # they have no position
    inner = state.get("state") if isinstance(state, dict) else None
    key, place = (inner.get("key"), inner.get("pos")) if isinstance(inner, dict) else (None, None)
    good = isinstance(inner, dict) and state.get("bit_generator") == "MT19937" \
        and isinstance(key, np.ndarray) and key.dtype == np.uint32 and key.shape == (624,)
    if not good:
        raise error.OSError("the checkpoint's state of NumPy's generator is none of MT19937: 624 numbers and a position")
    if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place <= 624:
        raise error.OSError("the checkpoint's position in NumPy's generator is {!r}; it is from 0 to 624".format(place))
    gauss = state.get("gauss", 0.0)
    if state.get("has_gauss", 0) not in (0, 1) or not isinstance(gauss, (int, float)):
        raise error.OSError("the checkpoint's kept number of NumPy's generator is {!r}, {!r}".format(
            state.get("has_gauss"), gauss))
    return {"bit_generator": "MT19937", "state": {"key": key, "pos": place},
            "has_gauss": state.get("has_gauss", 0), "gauss": float(gauss)}


def plain_attributes(thing):
    """The attributes of an object that are plain data."""
    result = {}
    for name, value in getattr(thing, "__dict__", {}).items():
        try:
            result[name] = to_plain(value)
        except error.TypeError:
            continue
    return result


def set_plain_attributes(thing, attributes):
    """Takes back those that the object has now as plain data; a file adds no attribute and replaces nothing else. The
    names of the others."""
    known = plain_attributes(thing)
    for name in known.keys() & attributes.keys():
        setattr(thing, name, from_plain(attributes[name]))
    return sorted(attributes.keys() - known.keys())
