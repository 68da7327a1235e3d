"""Handles of arrays: indices into a table, never pointers. An invalid handle is an error, not a crash, and
the table keeps no array alive."""
import ctypes
import itertools
import weakref

from .. import error

_arrays = weakref.WeakValueDictionary()
_numbers = itertools.count(1)


def handle_of(array):
    """The array's handle, the same every time."""
    number = array.__dict__.get("_handle_number")
    if number is None:
        number = array._handle_number = next(_numbers)
        _arrays[number] = array
    return ctypes.c_void_p(number)


def array_of(handle):
    """The array that a handle names; error.ValueError if it is gone."""
    array = _arrays.get(getattr(handle, "value", handle))
    if array is None:
        raise error.ValueError("this is not a handle of an existing NDArray")
    return array
