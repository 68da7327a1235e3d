"""Creates arrays from numbers, NumPy, DLPack and files."""
import warnings
import weakref

import numpy as np

from .. import _core, error
from ..base import integer_types, mx_real_t
from ..context import current_context
from .ndarray import NDArray, _op

__all__ = ["empty", "zeros", "ones", "full", "array", "arange", "linspace", "eye", "from_numpy",
           "from_dlpack", "to_dlpack_for_read", "to_dlpack_for_write", "waitall", "save", "load",
           "load_frombuffer"]


def _new_empty_handle():
    return NDArray()


def _legacy_shape(shape):
    return (shape,) if isinstance(shape, integer_types) else tuple(shape)


def empty(shape, ctx=None, dtype=None, stype=None):
    """Memory with undetermined contents."""
    if stype not in (None, "default"):
        from . import sparse

        return sparse.empty(stype, shape, ctx, dtype)
    return _core.empty(_legacy_shape(shape), ctx, mx_real_t if dtype is None else dtype)


def zeros(shape, ctx=None, dtype=None, stype=None, **kwargs):
    """Zeros."""
    if stype not in (None, "default"):
        from . import sparse

        return sparse.zeros(stype, shape, ctx, dtype, **kwargs)
    return _filled("_zeros", shape, ctx, dtype, kwargs)


def ones(shape, ctx=None, dtype=None, **kwargs):
    """Ones."""
    return _filled("_ones", shape, ctx, dtype, kwargs)


def full(shape, val, ctx=None, dtype=mx_real_t, out=None):
    """One value everywhere."""
    result = empty(shape, ctx, dtype) if out is None else out
    result[:] = val
    return result


def _filled(op, shape, ctx, dtype, kwargs):
    out = kwargs.get("out")
    if out is None and _core.profiler_records_imperative():  # run an operator so that it is recorded
        return _op(op)(shape=_legacy_shape(shape), dtype=np.dtype(dtype or mx_real_t).name,
                       ctx=str(ctx or current_context()))
    if out is None:
        shape = _legacy_shape(shape)
        if not _core.is_np_shape() and (not shape or 0 in shape):
            raise error.ValueError(f"{op[1:]}: the shape {shape} is not known in full: 0 and () stand for "
                                   "that; inside mx.np_shape() they mean no elements and no axes")
        out = empty(shape, ctx, dtype)
    if out.size:
        out._fill(0 if op == "_zeros" else 1)
    return out


def array(source_array, ctx=None, dtype=None):
    """An array from anything NumPy reads: float32 unless said otherwise, or an NDArray's own type."""
    if isinstance(source_array, _core.NDArray):
        dtype = source_array.dtype if dtype is None else dtype
        return source_array.as_in_context(ctx or current_context()).astype(dtype)
    stype = _scipy_stype(source_array)
    if stype is not None:
        from . import sparse

        return sparse.array(source_array, ctx, dtype)
    if dtype is None:
        dtype = getattr(source_array, "dtype", None) if hasattr(source_array, "__sparse__") else None
        dtype = mx_real_t if dtype is None else dtype
    if hasattr(source_array, "asnumpy"):
        source_array = source_array.asnumpy()
    try:
        values = np.asarray(source_array)
        if values.dtype == object:
            values = np.asarray(_plain(source_array))
        store = dtype if isinstance(dtype, np.dtype) and dtype.names else np.dtype(dtype)
    except (TypeError, ValueError) as reason:
        if isinstance(dtype, str) and dtype == "bfloat16":
            return array(source_array, ctx).astype("bfloat16")
        raise error.TypeError(f"source_array must be array like object: {reason}") from None
    store = store.newbyteorder("=")
    if store.names is None and values.dtype != store:
        values = values.astype(store)
    result = _core.empty(values.shape, ctx, store)
    if values.size:
        result._copy_from(np.ascontiguousarray(values), store)
    return result


def _plain(value):
    """Nested lists that hold NDArrays, as nested lists of NumPy arrays."""
    if hasattr(value, "asnumpy"):
        return value.asnumpy()
    return [_plain(v) for v in value] if isinstance(value, (list, tuple)) else value


def _scipy_stype(value):
    if type(value).__module__.startswith("scipy.sparse"):
        return value.format
    return None


def arange(start, stop=None, step=1.0, repeat=1, infer_range=None, ctx=None, dtype=mx_real_t):
    """Numbers from `start` up to `stop`, each `repeat` times."""
    if infer_range is not None:
        warnings.warn("`infer_range` argument has been deprecated", DeprecationWarning)
    return _op("_arange")(start=start, stop=stop, step=step, repeat=repeat, infer_range=False,
                          dtype=dtype, ctx=ctx or current_context())


def linspace(start, stop, num, endpoint=True, ctx=None, dtype=mx_real_t):
    """`num` numbers at equal distances."""
    return _op("_linspace")(start=start, stop=stop, num=num, endpoint=endpoint, dtype=dtype,
                            ctx=ctx or current_context())


def eye(N, M=0, k=0, ctx=None, dtype=None, **kwargs):
    """Ones on the k-th diagonal."""
    return _op("_eye")(N=N, M=M, k=k, ctx=ctx or current_context(),
                       dtype=mx_real_t if dtype is None else dtype, **kwargs)


_shared = weakref.WeakValueDictionary()  # NumPy arrays that from_numpy itself made read-only, by id


def from_numpy(ndarray, zero_copy=True, array_cls=NDArray):
    """An array that shares a NumPy array's memory; with zero_copy the source becomes read-only. Memory
    that is already read-only, or not aligned, is copied, because NDArrays are writable."""
    if not isinstance(ndarray, np.ndarray):
        raise error.TypeError(f"from_numpy takes a NumPy array, not {type(ndarray)}")
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise error.ValueError("Only c-contiguous arrays are supported for zero-copy")
    if not ndarray.dtype.isnative:
        raise error.ValueError(f"{ndarray.dtype.str} is not supported for zero-copy: its byte order is not "
                               "this machine's")
    ours = _shared.get(id(ndarray)) is ndarray
    if not (ndarray.flags["WRITEABLE"] or ours) or not ndarray.flags["ALIGNED"]:
        return array(ndarray, dtype=ndarray.dtype)
    ndarray.flags["WRITEABLE"] = True
    try:
        result = _core.from_numpy(ndarray, ndarray.dtype)
        _shared[id(ndarray)] = ndarray
        return result
    finally:
        ndarray.flags["WRITEABLE"] = False


def from_dlpack(dlpack):
    """An array that shares the memory of a DLPack capsule, or of an object with __dlpack__."""
    return _core.from_dlpack(dlpack)


def to_dlpack_for_read(data):
    """A DLPack capsule for reading."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data):
    """A DLPack capsule for writing."""
    return data.to_dlpack_for_write()


def waitall():
    """Waits for everything; raises the first error that was not raised yet."""
    _core.waitall()


def save(fname, data):
    """Writes an array, a list or a dict of arrays in MXNet's format."""
    if isinstance(data, NDArray):
        data = [data]
    if isinstance(data, dict):
        if any(not isinstance(k, str) or not isinstance(v, NDArray) for k, v in data.items()):
            raise error.TypeError("save only accept dict str->NDArray or list of NDArray")
    elif isinstance(data, (list, tuple)):
        if any(not isinstance(v, NDArray) for v in data):
            raise error.TypeError("save only accept dict str->NDArray or list of NDArray")
        data = list(data)
    else:
        raise error.ValueError("data needs to either be a NDArray, dict of str, NDArray pairs or a list "
                               "of NDarrays.")
    for one in data.values() if isinstance(data, dict) else data:
        if one._defined:
            _core.set_storage_type(one, one.stype)
    _core.save(str(fname), data)


def _list_or_dict(loaded):
    from .sparse import _as_stored

    arrays, names = [_as_stored(one) for one in loaded[0]], loaded[1]
    return dict(zip(names, arrays)) if names else arrays


def load(fname):
    """Reads a list or a dict of arrays."""
    if not isinstance(fname, str):
        raise error.TypeError("fname required to be a string")
    return _list_or_dict(_core.load(fname))


def load_frombuffer(buf):
    """Reads a list or a dict of arrays from bytes."""
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise error.TypeError("buf required to be a string or bytes")
    return _list_or_dict(_core.load_frombuffer(bytes(buf)))
