"""Indexing as NumPy does it.

Basic keys (integers, slices, Ellipsis, None) select a block, which is a view when it is contiguous.
For all other keys NumPy finds the selected positions: the key indexes the coordinates of every axis,
which are broadcast views and so cost no memory.
"""
import numpy as np

from .. import error

__all__ = ["split_key", "block_key", "row_positions", "flat_positions"]


def _is_array_like(entry):
    return isinstance(entry, (list, np.ndarray, range)) or hasattr(entry, "asnumpy") or (
        isinstance(entry, tuple))


def _as_index_array(entry):
    if hasattr(entry, "asnumpy"):
        entry = entry.asnumpy()
    entry = np.asarray(entry)
    if entry.dtype.kind not in "iufb" and entry.size:
        raise error.IndexError(f"an index array must hold integers, not {entry.dtype}")
    return entry.astype(np.int64)


def split_key(key, ndim):
    """(entries, is_basic): one entry per axis and per None, Ellipsis written out.

    An Ellipsis that stands for no axis is kept if there are arrays among the entries: it separates
    them, which affects where NumPy puts their axes.
    """
    if not isinstance(key, tuple):
        key = (key,)
    entries, is_basic, ellipsis_at, used = [], True, None, 0
    for entry in key:
        if entry is Ellipsis:
            if ellipsis_at is not None:
                raise error.IndexError("an index can only have a single ellipsis ('...')")
            ellipsis_at = len(entries)
            continue
        if entry is None:
            entries.append(None)
            continue
        if isinstance(entry, slice):
            entries.append(slice(*(_bound(b) for b in (entry.start, entry.stop, entry.step))))
        elif _is_array_like(entry):
            entries.append(_as_index_array(entry))
            is_basic = False
        else:
            entries.append(_integer(entry))
        used += 1
    if used > ndim:
        raise error.IndexError(f"too many indices: the array has {ndim} axes, {used} were indexed")
    fill = [slice(None)] * (ndim - used)
    if not is_basic and ellipsis_at is not None and not fill:
        fill = [Ellipsis]
    at = len(entries) if ellipsis_at is None else ellipsis_at
    return entries[:at] + fill + entries[at:], is_basic


def _integer(entry):
    try:
        return entry.__index__()
    except AttributeError:
        raise error.TypeError(
            f"only integers, slices (`:`), ellipsis (`...`), None and integer arrays are valid "
            f"indices, not {entry!r}") from None


def _bound(value):
    return None if value is None else _integer(value)


def block_key(entries, shape):
    """Basic entries without None, for C++, and the shape of the result."""
    key, result, axis = [], [], 0
    for entry in entries:
        if entry is None:
            result.append(1)
            continue
        size = shape[axis]
        if isinstance(entry, slice):
            start, stop, step = entry.indices(size)
            count = len(range(start, stop, step))
            key.append((start, stop if stop >= 0 else None, step) if count else (0, 0, 1))
            result.append(count)
        else:
            if not -size <= entry < size:
                raise error.IndexError(f"index {entry} is out of bounds for axis {axis} with size {size}")
            key.append(entry % size)
        axis += 1
    return key, tuple(result)


def row_positions(index, size):
    """The rows an index array names, none of them negative."""
    outside = (index < -size) | (index >= size)
    if outside.any():
        raise error.IndexError(
            f"index {index[outside][0]} is out of bounds for axis 0 with size {size}")
    return np.where(index < 0, index + size, index)


def flat_positions(shape, entries):
    """The positions in the flattened array that a key selects."""
    key, flat, stride = tuple(entries), 0, 1
    try:
        for axis in reversed(range(len(shape))):
            along = np.arange(shape[axis]).reshape((-1,) + (1,) * (len(shape) - axis - 1))
            flat = flat + np.broadcast_to(along, shape)[key] * stride
            stride *= shape[axis]
    except IndexError as reason:
        raise error.IndexError(str(reason)) from None
    return flat
