"""Python's values as plain data that checkpoints hold, and back: nothing in it can run.

NumPy arrays become a dictionary of their bytes; everything else is as it is, or refused.
"""
import numpy as np

from . import error
from .ndarray import NDArray, array

_NUMPY = "__numpy__"
_SMALL = 4096  # bytes that are as well off in the manifest


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
        data = value["data"]
        data = data.asnumpy().tobytes() if isinstance(data, NDArray) else data
        return np.frombuffer(data, np.dtype(value[_NUMPY])).reshape(value["shape"]).copy()
    return {from_plain(key): from_plain(item) for key, item in value.items()}


def plain_attributes(thing):
    """Those of an object's own attributes that are plain data."""
    result = {}
    for name, value in getattr(thing, "__dict__", {}).items():
        try:
            result[name] = to_plain(value)
        except error.TypeError:
            continue
    return result


def set_plain_attributes(thing, attributes):
    """Takes them back."""
    for name, value in attributes.items():
        setattr(thing, name, from_plain(value))
