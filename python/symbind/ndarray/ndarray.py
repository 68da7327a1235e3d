"""NDArray: a contiguous array on a device. What it computes, C++ computes."""
import ctypes
import warnings

import numpy as np

from .. import _core
from ..base import MXNetError, _Null, integer_types, mx_real_t, numeric_types
from ..context import Context, cpu, current_context
from . import _methods
from .indexing import block_key, flat_positions, split_key

__all__ = [
    "NDArray", "concatenate", "_DTYPE_NP_TO_MX", "_DTYPE_MX_TO_NP", "_GRAD_REQ_MAP", "ones", "add",
    "arange", "linspace", "eye", "divide", "equal", "full", "greater", "greater_equal",
    "imdecode", "lesser", "lesser_equal", "logical_and", "logical_or", "logical_xor", "maximum",
    "minimum", "moveaxis", "modulo", "multiply", "not_equal", "onehot_encode", "power", "subtract",
    "true_divide", "waitall", "_new_empty_handle", "histogram", "split_v2",
    "to_dlpack_for_read", "to_dlpack_for_write", "from_dlpack", "from_numpy", "zeros", "empty",
    "array", "save", "load", "load_frombuffer", "indexing_key_expand_implicit_axes",
]

py_slice = slice

_DTYPE_NP_TO_MX = {
    None: -1, np.float32: 0, np.float64: 1, np.float16: 2, np.uint8: 3, np.int32: 4, np.int8: 5,
    np.int64: 6, np.bool_: 7, np.int16: 8, np.uint16: 9, np.uint32: 10, np.uint64: 11,
}
_DTYPE_MX_TO_NP = {flag: dtype for dtype, flag in _DTYPE_NP_TO_MX.items()}
_STORAGE_TYPE_UNDEFINED, _STORAGE_TYPE_DEFAULT = -1, 0
_STORAGE_TYPE_ROW_SPARSE, _STORAGE_TYPE_CSR = 1, 2
_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}

_RECORDING_ERROR = ("Inplace operations (+=, -=, x[:]=, etc) are not supported when recording with "
                    "autograd.")


def _op(name):
    return _core.ArrayFunction(name)


_take, _scatter_set_nd = _op("take"), _op("_scatter_set_nd")


class _Float(float):
    """What asscalar gives: a float that also answers for its shape, as MXNet's answer does."""

    shape, ndim, size = (), 0, 1


class _Int(int):
    """An int of the same kind."""

    shape, ndim, size = (), 0, 1


class NDArray(_core.NDArray):
    """A dense array of numbers on one device.

    Slices along the first axes, reshapes and `copy=False` forms share memory with their source;
    errors of the operator that should have written it are raised when it is read.
    """

    __array_priority__ = 1000.0
    writable = True
    stype = "default"
    grad = None
    _fresh_grad = False

    def __init__(self, handle=None, writable=True):
        super().__init__()
        if handle is not None:
            if isinstance(handle, _core.NDArray):
                self._assign(handle)
            else:
                self._assign(_core.from_handle(getattr(handle, "value", handle)))
        if not writable:
            self.writable = False

    # ------------------------------------------------------------- properties

    @property
    def handle(self):
        """A number that NDArray(handle) takes; only the latest few thousand are remembered."""
        return ctypes.c_void_p(self._handle())

    ctx = property(lambda self: self.context, doc="The device, as `context`.")

    @property
    def T(self):
        """The axes in reverse order; of a vector, the vector itself."""
        return self if self.ndim < 2 else self.transpose()

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("len() of an array without axes")
        return self.shape[0]

    def __hash__(self):
        return id(self) // 16

    def __repr__(self):
        return self._text()

    __str__ = __repr__

    def __bool__(self):
        if self.size == 0:
            return False
        if self.size == 1:
            return bool(self.asscalar())
        raise ValueError("The truth value of an NDArray with multiple elements is ambiguous.")

    def __float__(self):
        return float(self._only_number("float"))

    def __int__(self):
        return int(self._only_number("int"))

    def __index__(self):
        value = self._only_number("index")
        if not isinstance(value, int):
            raise TypeError("only an integer array of size 1 can be an index")
        return value

    def _only_number(self, what):
        if self.size != 1:
            raise TypeError(f"only an NDArray of size 1 has {what}(); this one has shape {self.shape}")
        return self.asscalar()

    def __abs__(self):
        return self.abs()

    # ---------------------------------------------------------------- numbers

    def asscalar(self):
        """The only number of an array of size 1, as a Python number."""
        if self.size != 1:
            raise ValueError("The current array is not a scalar")
        number = self.asnumpy().item()
        return _Float(number) if isinstance(number, float) else (
            number if isinstance(number, bool) else _Int(number))

    item = asscalar

    def tolist(self):
        """Nested lists of Python numbers."""
        return self.asnumpy().tolist()

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise ValueError("an NDArray becomes a NumPy array by copying; pass copy=None or True")
        array = self.asnumpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    # --------------------------------------------------------------- indexing

    def __getitem__(self, key):
        if type(key) is int and self.ndim > 1:
            return self._at(key)
        if key is Ellipsis or isinstance(key, tuple) and not key:
            return self
        entries, is_basic = split_key(key, self.ndim)
        if is_basic:
            block, shape = block_key(entries, self.shape)
            if not shape and not _core.is_np_shape():
                shape = (1,)
            return self._index(block)._view(shape)
        if len(entries) and isinstance(entries[0], np.ndarray) and all(
                isinstance(e, slice) and e == slice(None) for e in entries[1:]):
            size = self.shape[0]
            if entries[0].size and not (-size <= entries[0].min() and entries[0].max() < size):
                raise IndexError(f"index out of bounds for axis 0 with size {size}")
            index = array(entries[0] % max(size, 1), ctx=self.context, dtype=np.int64)
            return _take(self, index, axis=0)
        positions = flat_positions(self.shape, entries)
        index = array(positions.reshape(-1), ctx=self.context, dtype=np.int64)
        if positions.size == 0:
            return empty(positions.shape, self.context, self.dtype)
        return _take(self._view((self.size,)), index)._view(positions.shape or (1,))

    def __setitem__(self, key, value):
        self._check_writable()
        if key is Ellipsis or isinstance(key, slice) and key == slice(None):
            if isinstance(value, numeric_types) and not isinstance(value, np.ndarray):
                self._fill(value)
            else:
                self._write(self._as_value(value, self.shape))
            return
        entries, is_basic = split_key(key, self.ndim)
        if is_basic:
            block, shape = block_key(entries, self.shape)
            if isinstance(value, numeric_types):
                self._set_number(block, value)
                return
            inner = tuple(n for n, e in zip(shape, [e for e in entries if not isinstance(e, int)])
                          if e is not None)
            value = self._as_value(value, shape)
            if value.shape != inner:
                value = value.broadcast_to(shape)._view(inner) if shape != value.shape else (
                    value._view(inner))
            self._set(block, value)
            return
        positions = flat_positions(self.shape, entries)
        if positions.size == 0:
            return
        if isinstance(value, numeric_types):
            value = full(positions.shape or (1,), value, self.context, self.dtype)
        value = self._as_value(value, positions.shape).astype(self.dtype, copy=False)
        flat = self._view((self.size,))
        _scatter_set_nd(flat, value.broadcast_to(positions.shape)._view((positions.size,)),
                        array(positions.reshape(1, -1), ctx=self.context, dtype=np.int64),
                        shape=(self.size,), out=flat)

    def _as_value(self, value, shape):
        """`value` as an array with as many axes as `shape`, ready to be broadcast to it."""
        if not isinstance(value, _core.NDArray):
            value = array(np.asarray(value), ctx=self.context, dtype=self.dtype)
        elif value.context != self.context:
            value = value.as_in_context(self.context)
        given = value.shape
        if given == shape:
            return value
        aligned = (1,) * (len(shape) - len(given)) + given[max(len(given) - len(shape), 0):]
        if len(given) > len(shape) and any(n != 1 for n in given[:len(given) - len(shape)]) or any(
                n not in (1, m) for n, m in zip(aligned, shape)):
            raise ValueError(f"could not broadcast an array of shape {given} into shape {shape}")
        return value._view(aligned)

    def _check_writable(self):
        if not self.writable:
            raise ValueError("trying to assign to a readonly NDArray")

    def __iter__(self):
        return (self[i] for i in range(len(self)))

    def __contains__(self, value):
        return bool((self.asnumpy() == value).any())

    def slice_assign(self, rhs, begin, end, step):
        """Writes `rhs` into the block from `begin` to `end`."""
        _op("_slice_assign")(self, rhs, begin=begin, end=end, step=step, out=self)

    def slice_assign_scalar(self, value, begin, end, step):
        """Fills the block from `begin` to `end`."""
        _op("_slice_assign_scalar")(self, scalar=float(value), begin=begin, end=end, step=step,
                                    out=self)

    @staticmethod
    def _basic_indexing_slice_is_contiguous(slc_key, shape):
        """Whether a key of integers and slices selects neighbouring elements."""
        if len(slc_key) != len(shape):
            raise ValueError(f"a key for {len(slc_key)} axes, an array of {len(shape)}")
        ranges = [range(n)[k:k + 1 or None] if isinstance(k, integer_types) else range(n)[k]
                  for k, n in zip(slc_key, shape)]
        if any(len(r) == 0 for r in ranges):
            return False
        open_axis = False  # an axis before this one selects more than one element
        for chosen, size in zip(ranges, shape):
            if open_axis and (len(chosen) != size or size > 1 and chosen.step != 1):
                return False
            if len(chosen) > 1:
                if chosen.step != 1:
                    return False
                open_axis = True
        return True

    # ------------------------------------------------------------ shape, views

    def reshape(self, *shape, **kwargs):
        """A view of another shape; 0, -1, -2, -3, -4 mean what they mean in nd.reshape."""
        if len(shape) == 1 and not isinstance(shape[0], integer_types):
            shape = tuple(shape[0])
        elif not shape:
            shape = kwargs.get("shape")
            if shape is None:
                raise TypeError("reshape() needs a shape")
            shape = (shape,) if isinstance(shape, integer_types) else tuple(shape)
        unknown = set(kwargs) - {"shape", "reverse"}
        if unknown:
            raise TypeError(f"Got unknown keywords in reshape: {', '.join(sorted(unknown))}. "
                            "Accepted keyword arguments are 'shape' and 'reverse'.")
        result = self._reshape([int(n) for n in shape], bool(kwargs.get("reverse", False)))
        return result if self.writable else NDArray(result, writable=False)

    def reshape_view(self, *shape, **kwargs):
        """As reshape: a view always."""
        return self.reshape(*shape, **kwargs)

    def flatten(self, inplace=False):
        """All axes behind the first as one."""
        return self.reshape((0, -1)) if inplace else _op("Flatten")(self)

    def expand_dims(self, axis, inplace=False):
        """A new axis of extent 1."""
        if not inplace:
            return _op("expand_dims")(self, axis=axis)
        if not -self.ndim - 1 <= axis <= self.ndim:
            raise ValueError(f"axis {axis} is out of range for a result of {self.ndim + 1} axes")
        shape = list(self.shape)
        shape.insert(axis if axis >= 0 else axis + self.ndim + 1, 1)
        return self._view(tuple(shape))

    def squeeze(self, axis=None, inplace=False):
        """Without axes of extent 1."""
        if not inplace:
            return _op("squeeze")(self, axis=axis)
        axes = range(self.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
        axes = {a % self.ndim for a in axes if axis is not None or self.shape[a] == 1}
        if any(self.shape[a] != 1 for a in axes):
            raise ValueError(f"cannot squeeze shape {self.shape} along {axis}: an extent is not 1")
        shape = tuple(n for a, n in enumerate(self.shape) if a not in axes)
        return self._view(shape or (1,))

    def broadcast_to(self, shape):
        """Stretched to `shape`; missing leading axes are added."""
        if isinstance(shape, integer_types):
            shape = (shape,)
        shape = tuple(shape)
        given = self.shape
        if shape == given:
            return self
        missing = len(shape) - len(given)
        error = ValueError(f"operands could not be broadcast together with remapped shapes "
                           f"[original->remapped]: {given} and requested shape {shape}")
        if missing < 0:
            raise error
        source = self._view((1,) * missing + given) if missing else self
        if any(n not in (1, m) and m != 0 for n, m in zip(source.shape, shape)):
            raise error
        return _op("broadcast_to")(source, shape=shape)

    def transpose(self, *axes, **kwargs):
        """The axes in another order; reversed when none is given."""
        if len(axes) == 1 and not isinstance(axes[0], integer_types):
            axes = axes[0]
        axes = kwargs.get("axes", axes)
        return _op("transpose")(self, axes=tuple(axes) if axes else ())

    def split(self, *args, **kwargs):
        """Parts of equal size along an axis."""
        return _op("SliceChannel")(self, *args, **kwargs)

    # ------------------------------------------------------------------ copies

    def copy(self):
        """The numbers in memory of their own."""
        return self.copyto(self.context)

    def copyto(self, other):
        """Copies into an array of the same shape, or to a context."""
        if isinstance(other, Context):
            return self._as_in_context(other) if other != self.context else self._copy()
        if not isinstance(other, NDArray):
            raise TypeError(f"copyto does not support type {type(other)}")
        if other is self:
            warnings.warn("You are attempting to copy an array to itself", RuntimeWarning)
            return False
        if other.shape != self.shape and self.size == other.size and 0 in (self.ndim, other.ndim):
            self._view(other.shape)._copy_to(other)
        else:
            self._copy_to(other)
        return other

    def as_in_context(self, context):
        """This array if it is there already, else a copy there."""
        return self if self.context == context else self._as_in_context(context)

    as_in_ctx = as_in_context

    def astype(self, dtype, copy=True):
        """The numbers in another type."""
        if dtype is None:
            dtype = mx_real_t
        if not copy and _same_dtype(dtype, self.dtype):
            return self
        return self._astype(dtype, True)

    def tostype(self, stype):
        """Storage is dense here; an array only remembers the name of its storage type."""
        from .sparse import cast_storage

        return cast_storage(self, stype)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __getstate__(self):
        state = {k: v for k, v in self.__dict__.items() if k not in ("handle",)}
        state["handle"] = bytearray(self._record()) if self._defined else None
        return state

    def __setstate__(self, state):
        if not _core.is_ready(self):
            _core.NDArray.__init__(self)
        state = dict(state)
        handle = state.pop("handle", None)
        if handle is not None:
            self._assign(_core.from_record(bytes(handle)))
        self.__dict__.update(state)

    def to_dlpack_for_read(self):
        """A DLPack capsule over this memory, for reading."""
        return _core.to_dlpack(self)

    def to_dlpack_for_write(self):
        """A DLPack capsule over this memory, for writing."""
        return _core.to_dlpack(self)

    # ---------------------------------------------------------------- autograd

    def attach_grad(self, grad_req="write", stype=None):
        """Makes room for a gradient; gradients of the tape are not in Symbind yet."""
        from . import zeros_like

        self.grad = zeros_like(self)
        self._grad_req = grad_req

    def drop_grad(self):
        """Forgets the gradient."""
        self.grad = None

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Gradients of recorded operations."""
        from .. import autograd

        autograd.backward([self], [out_grad], retain_graph, train_mode)

    def detach(self):
        """The same memory, outside any recording."""
        return NDArray(self)


for _name in _methods.FLUENT:
    if _name not in NDArray.__dict__ and _name in _core.list_ops():
        setattr(NDArray, _name, _op(_name))


def _same_dtype(a, b):
    try:
        return np.dtype(a) == np.dtype(b)
    except TypeError:
        return a == b


# -------------------------------------------------------------------- creation


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
    if out is None:
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
    except (TypeError, ValueError) as error:
        if isinstance(dtype, str) and dtype == "bfloat16":
            return array(source_array, ctx).astype("bfloat16")
        raise TypeError(f"source_array must be array like object: {error}") from None
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


def from_numpy(ndarray, zero_copy=True, array_cls=NDArray):
    """An array over a NumPy array's memory; with zero_copy the source becomes read-only."""
    if not zero_copy:
        return array(ndarray, dtype=ndarray.dtype)
    if not ndarray.flags["C_CONTIGUOUS"]:
        raise ValueError("Only c-contiguous arrays are supported for zero-copy")
    ndarray.flags["WRITEABLE"] = False
    return _core.from_numpy(ndarray, ndarray.dtype)


def from_dlpack(dlpack):
    """An array over the memory of a DLPack capsule, or of an object with __dlpack__."""
    return _core.from_dlpack(dlpack)


def to_dlpack_for_read(data):
    """A DLPack capsule for reading."""
    return data.to_dlpack_for_read()


def to_dlpack_for_write(data):
    """A DLPack capsule for writing."""
    return data.to_dlpack_for_write()


def waitall():
    """Waits for everything; raises the first error nobody has read."""
    _core.waitall()


# ------------------------------------------------------------------- functions


def concatenate(arrays, axis=0, always_copy=True):
    """Arrays one after another along an axis."""
    if not isinstance(arrays, list) or not arrays or not isinstance(arrays[0], NDArray):
        raise TypeError("concatenate wants a non-empty list of NDArrays")
    if len(arrays) == 1 and not always_copy:
        return arrays[0]
    result = _op("Concat")(*arrays, dim=axis)
    return result.astype(arrays[0].dtype, copy=False)


def moveaxis(tensor, source, destination):
    """Axes moved to other places, the rest in order."""
    source = [source] if isinstance(source, integer_types) else list(source)
    destination = [destination] if isinstance(destination, integer_types) else list(destination)
    if len(source) != len(destination):
        raise ValueError("`source` and `destination` arguments must have the same number of elements")
    for axes, what in ((source, "source"), (destination, "destination")):
        for axis in axes:
            if not -tensor.ndim <= axis < tensor.ndim:
                raise ValueError(f"{what} axis {axis} is out of range for {tensor.ndim} axes")
    source = [a % tensor.ndim for a in source]
    destination = [a % tensor.ndim for a in destination]
    if len(set(source)) != len(source) or len(set(destination)) != len(destination):
        raise ValueError("an axis was named twice")
    order = [a for a in range(tensor.ndim) if a not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return _op("transpose")(tensor, axes=tuple(order))


def onehot_encode(indices, out):
    """Ones in `out` at the columns `indices` names."""
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
            raise ValueError("array split does not result in an equal division")
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
            raise TypeError(f"type {type(number)} not supported")
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


# ----------------------------------------------------------------------- files


def save(fname, data):
    """Writes an array, a list or a dict of arrays in MXNet's format."""
    if isinstance(data, NDArray):
        data = [data]
    if isinstance(data, dict):
        if any(not isinstance(k, str) or not isinstance(v, NDArray) for k, v in data.items()):
            raise TypeError("save only accept dict str->NDArray or list of NDArray")
    elif isinstance(data, (list, tuple)):
        if any(not isinstance(v, NDArray) for v in data):
            raise TypeError("save only accept dict str->NDArray or list of NDArray")
        data = list(data)
    else:
        raise ValueError("data needs to either be a NDArray, dict of str, NDArray pairs or a list "
                         "of NDarrays.")
    _core.save(str(fname), data)


def _list_or_dict(loaded):
    arrays, names = loaded
    return dict(zip(names, arrays)) if names else arrays


def load(fname):
    """Reads a list or a dict of arrays."""
    if not isinstance(fname, str):
        raise TypeError("fname required to be a string")
    return _list_or_dict(_core.load(fname))


def load_frombuffer(buf):
    """Reads a list or a dict of arrays from bytes."""
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError("buf required to be a string or bytes")
    return _list_or_dict(_core.load_frombuffer(bytes(buf)))


_core.register_types({"NDArray": NDArray})
