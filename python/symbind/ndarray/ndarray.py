"""NDArray: a contiguous array on a device. C++ does the computations."""
import warnings

import numpy as np

from .. import _core, error
from ..base import integer_types, mx_real_t, numeric_types
from ..context import Context
from . import _methods
from ._handles import array_of, handle_of
from .indexing import block_key, flat_positions, row_positions, split_key

__all__ = ["NDArray", "_DTYPE_NP_TO_MX", "_DTYPE_MX_TO_NP", "_GRAD_REQ_MAP"]

py_slice = slice

_DTYPE_NP_TO_MX = {
    None: -1, np.float32: 0, np.float64: 1, np.float16: 2, np.uint8: 3, np.int32: 4, np.int8: 5,
    np.int64: 6, np.bool_: 7, np.int16: 8, np.uint16: 9, np.uint32: 10, np.uint64: 11,
}
_DTYPE_MX_TO_NP = {flag: dtype for dtype, flag in _DTYPE_NP_TO_MX.items()}
_STORAGE_TYPE_UNDEFINED, _STORAGE_TYPE_DEFAULT = -1, 0
_STORAGE_TYPE_ROW_SPARSE, _STORAGE_TYPE_CSR = 1, 2
_GRAD_REQ_MAP = {"null": 0, "write": 1, "add": 3}


def _op(name):
    return _core.ArrayFunction(name)


_take, _scatter_set_nd = _op("take"), _op("_scatter_set_nd")


class _Scalar:
    """The result of asscalar: a Python number with the attributes of a NumPy number, which MXNet
    returns: shape, dtype, astype(), mean(), ..."""

    dtype = None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.dtype.type(self), name)


class _Float(_Scalar, float):
    """A float of an array: it prints the digits that its type has."""

    def __repr__(self):
        return str(self.dtype.type(self))

    __str__ = __repr__


class _Int(_Scalar, int):
    """An int of an array."""


class NDArray(_core.NDArray):
    """A dense array of numbers on one device.

    Slices along the first axes, reshapes and `copy=False` forms share memory with their source;
    errors of the operator that should have written it are raised when it is read.
    """

    __array_priority__ = 1000.0
    writable = True
    stype = "default"
    _fresh_grad = False

    def __init__(self, handle=None, writable=True):
        super().__init__()
        if handle is not None:
            source = handle if isinstance(handle, _core.NDArray) else array_of(handle)
            self._assign(source)
            writable = writable and getattr(source, "writable", True)
        if not writable:
            self.writable = False

    # ------------------------------------------------------------- properties

    @property
    def _as_parameter_(self):
        """The ctypes conversion of an array: old monitor code casts its argument to a handle."""
        return self.handle

    @property
    def handle(self):
        """A number that NDArray(handle) accepts while this array exists."""
        return handle_of(self)

    ctx = property(lambda self: self.context, doc="The device, as `context`.")

    @property
    def T(self):
        """The axes in reverse order; of a vector, the vector itself."""
        return self if self.ndim < 2 else self.transpose()

    def __len__(self):
        if self.ndim == 0:
            raise error.TypeError("len() of an array without axes")
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
        raise error.ValueError("The truth value of an NDArray with multiple elements is ambiguous.")

    def __float__(self):
        return float(self._only_number("float"))

    def __int__(self):
        return int(self._only_number("int"))

    def __index__(self):
        value = self._only_number("index")
        if not isinstance(value, int):
            raise error.TypeError("only an integer array of size 1 can be an index")
        return int(value)  # a plain int: Python deprecates subclasses of int here

    def _only_number(self, what):
        if self.size != 1:
            raise error.TypeError(f"only an NDArray of size 1 has {what}(); this one has shape {self.shape}")
        return self.asscalar()

    def __abs__(self):
        return self.abs()

    # ---------------------------------------------------------------- numbers

    def asscalar(self):
        """The only number of an array of size 1, as a Python number."""
        if self.size != 1:
            raise error.ValueError("The current array is not a scalar")
        value = self.asnumpy()
        number = value.item()
        if isinstance(number, bool):
            return number
        number = _Float(number) if isinstance(number, float) else _Int(number)
        number.dtype = value.dtype
        return number

    item = asscalar

    def tolist(self):
        """Nested lists of Python numbers."""
        return self.asnumpy().tolist()

    def __array__(self, dtype=None, copy=None):
        if copy is False:
            raise error.ValueError("an NDArray becomes a NumPy array by copying; pass copy=None or True")
        array = self.asnumpy()
        return array if dtype is None else array.astype(dtype, copy=False)

    # --------------------------------------------------------------- indexing

    def __getitem__(self, key):
        """What NumPy selects by `key`; without axes left, an array of shape (1,) in legacy mode.

        Integers, slices, None and Ellipsis that select neighbouring elements give a view that
        writes through; everything else gives a copy. An array of truth values is no mask: as in
        MXNet it is read as the positions 0 and 1 (contrib.boolean_mask selects by truth).
        """
        if type(key) is int and self.ndim > 1:
            return self._at(key)
        if key is Ellipsis or isinstance(key, tuple) and not key:
            return self
        entries, is_basic = split_key(key, self.ndim)
        if is_basic:
            block, shape = block_key(entries, self.shape)
            return self._index(block)._view(_result_shape(shape))
        if isinstance(entries[0], np.ndarray) and all(
                isinstance(e, slice) and e == slice(None) for e in entries[1:]):
            rows = array(row_positions(entries[0], self.shape[0]), self.context, np.int64)
            if rows.size and self.size:
                return _take(self, rows, axis=0)._view(
                    _result_shape(rows.shape + self.shape[1:]))
        positions = flat_positions(self.shape, entries)
        if positions.size == 0:
            return empty(positions.shape, self.context, self.dtype)
        index = array(positions.reshape(-1), ctx=self.context, dtype=np.int64)
        return _take(self._view((self.size,)), index)._view(_result_shape(positions.shape))

    def __setitem__(self, key, value):
        """Writes a number, or what broadcasts to the selection; keys are those of __getitem__."""
        self._check_writable()
        is_number = isinstance(value, numeric_types) and _fits_double(value)
        if key is Ellipsis or isinstance(key, slice) and key == slice(None):
            if is_number:
                self._fill(value)
            else:
                self._write(self._as_value(value, self.shape))
            return
        entries, is_basic = split_key(key, self.ndim)
        if is_basic:
            block, shape = block_key(entries, self.shape)
            if is_number:
                self._set_number(block, value)
                return
            value = self._as_value(value, shape)
            axes = [e for e in entries if not isinstance(e, int)]
            self._set(block, value._view(tuple(
                n for n, e in zip(value.shape, axes) if e is not None)))
            return
        positions = flat_positions(self.shape, entries)
        value = self._as_value(value, positions.shape).astype(self.dtype, copy=False)
        if positions.size == 0:
            return
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
        missing = len(shape) - len(given)
        aligned = (1,) * missing + given[max(-missing, 0):]
        if any(n != 1 for n in given[:max(-missing, 0)]) or any(
                n not in (1, m) for n, m in zip(aligned, shape)):
            raise error.ValueError(
                f"could not broadcast an array of shape {given} into shape {shape}")
        return value._view(aligned)

    def _check_writable(self):
        if not self.writable:
            raise error.ValueError("trying to assign to a readonly NDArray")

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
            raise error.ValueError(f"a key for {len(slc_key)} axes, an array of {len(shape)}")
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
                raise error.TypeError("reshape() needs a shape")
            shape = (shape,) if isinstance(shape, integer_types) else tuple(shape)
        unknown = set(kwargs) - {"shape", "reverse"}
        if unknown:
            raise error.TypeError(f"Got unknown keywords in reshape: {', '.join(sorted(unknown))}. "
                                  "Accepted keyword arguments are 'shape' and 'reverse'.")
        return self._reshape([int(n) for n in shape], bool(kwargs.get("reverse", False)))

    def reshape_view(self, *shape, **kwargs):
        """As reshape: a view always."""
        return self.reshape(*shape, **kwargs)

    def flatten(self, inplace=False):
        """Flattens all axes after the first into one."""
        return self.reshape((0, -1)) if inplace else _op("Flatten")(self)

    def expand_dims(self, axis, inplace=False):
        """A new axis of extent 1."""
        if not inplace:
            return _op("expand_dims")(self, axis=axis)
        if not -self.ndim - 1 <= axis <= self.ndim:
            raise error.ValueError(f"axis {axis} is out of range for a result of {self.ndim + 1} axes")
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
            raise error.ValueError(f"cannot squeeze shape {self.shape} along {axis}: an extent is not 1")
        shape = tuple(n for a, n in enumerate(self.shape) if a not in axes)
        return self._view(shape or (1,))

    def broadcast_to(self, shape):
        """Stretched to `shape`; missing leading axes are added."""
        if isinstance(shape, integer_types):
            shape = (shape,)
        shape = tuple(shape)
        given = self.shape
        missing = len(shape) - len(given)
        refusal = error.ValueError(
            f"operands could not be broadcast together with remapped shapes [original->remapped]: "
            f"{given} and requested shape {shape}")
        if missing < 0:
            raise refusal
        source = self._view((1,) * missing + given) if missing else self
        if any(n not in (1, m) and m != 0 for n, m in zip(source.shape, shape)):
            raise refusal
        return _op("broadcast_to")(source, shape=shape)

    def transpose(self, *axes, **kwargs):
        """The axes in another order; reversed when none is given."""
        if len(axes) == 1 and not isinstance(axes[0], integer_types):
            axes = axes[0]
        axes = kwargs.get("axes", axes)
        return _op("transpose")(self, axes=tuple(axes) if axes else ())

    def mean(self, *args, dtype=None, **kwargs):
        """The mean over axes. `dtype` is what np.mean passes on; another type than the array's own
        is computed in that type."""
        source = self if dtype is None else self.astype(dtype, copy=False)
        return _op("mean")(source, *args, **kwargs)

    def round(self, decimals=0, **kwargs):
        """Rounded to integers, halves away from zero; np.round passes `decimals` on."""
        if decimals != 0:
            raise error.ValueError(f"round is to integers: decimals={decimals} is not offered")
        return _op("round")(self, **kwargs)

    def split(self, *args, **kwargs):
        """Parts of equal size along an axis."""
        return _op("SliceChannel")(self, *args, **kwargs)

    # ------------------------------------------------------------------ copies

    def copy(self):
        """A copy."""
        return self.copyto(self.context)

    def copyto(self, other):
        """Copies into an array of the same shape, or to a context."""
        if isinstance(other, Context):
            return self._as_in_context(other) if other != self.context else self._copy()
        if not isinstance(other, NDArray):
            raise error.TypeError(f"copyto does not support type {type(other)}")
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
        return self._astype(dtype)

    def tostype(self, stype):
        """Storage is dense here; an array only remembers the name of its storage type."""
        from .sparse import cast_storage

        return cast_storage(self, stype)

    def __copy__(self):
        return self.copy()

    def __deepcopy__(self, memo):
        return self.copy()

    def __getstate__(self):
        state = {k: v for k, v in self.__dict__.items() if k not in ("handle", "_handle_number")}
        if self._defined:
            _core.set_storage_type(self, self.stype)
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
        """A DLPack capsule over this memory, for reading; over a copy if this array is read-only."""
        return _core.to_dlpack(self, False)

    def to_dlpack_for_write(self):
        """A DLPack capsule over this memory, for writing."""
        return _core.to_dlpack(self, True)

    # ---------------------------------------------------------------- autograd

    def attach_grad(self, grad_req="write", stype=None):
        """Makes this a variable: backward writes its gradient ('write'), adds to it ('add') or does not
        change it ('null'). Its recorded history is dropped. Gradients are dense."""
        _core.attach_grad(self, grad_req)

    @property
    def grad(self):
        """The gradient of a variable; None if it has none."""
        return _core.grad_of(self)

    def drop_grad(self):
        """Makes this an ordinary array."""
        self._stand_as(_core.NDArray())

    def backward(self, out_grad=None, retain_graph=False, train_mode=True):
        """Writes the gradients of the variables this was recorded from; see autograd.backward."""
        _core.backward([self], [out_grad], bool(retain_graph), bool(train_mode))

    def split_v2(self, *args, **kwargs):
        """Parts along an axis; see nd.split_v2."""
        from .functions import split_v2

        return split_v2(self, *args, **kwargs)

    def as_nd_ndarray(self):
        """Itself: there is no other kind of array here."""
        return self

    def detach(self):
        """The same memory, outside any recording."""
        return self._detach()


for _name in _methods.FLUENT:
    if _name not in NDArray.__dict__:
        setattr(NDArray, _name, _op(_name))


def _result_shape(shape):
    return shape if shape or _core.is_np_shape() else (1,)


def _fits_double(number):
    """Whether C++, which takes numbers as doubles, gets this one as it is."""
    return not isinstance(number, integer_types) or -2 ** 53 <= number <= 2 ** 53


def _same_dtype(a, b):
    try:
        return np.dtype(a) == np.dtype(b)
    except TypeError:
        return a == b


_core.register_types({"NDArray": NDArray})

# The functions beside the class, under the name scripts import them by; they need the class above.
from .creation import *  # noqa: E402,F403
from .creation import _new_empty_handle, array, empty, full  # noqa: E402
from .functions import *  # noqa: E402,F403
