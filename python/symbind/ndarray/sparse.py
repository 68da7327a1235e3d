"""Arrays that remember a storage type.

All numbers are stored densely here. An array made as csr or row_sparse has a class and an `stype` of
that name and has its parts (indices, data, indptr), so that scripts run; it saves neither memory nor
time. Files contain it in its storage type, as in MXNet.
"""
import numpy as np

from .. import _core
from ..base import mx_real_t
from .ndarray import NDArray
from .creation import array as _dense_array
from .creation import zeros as _dense_zeros
from .functions import add, divide, multiply, subtract  # noqa: F401

__all__ = ["BaseSparseNDArray", "CSRNDArray", "RowSparseNDArray", "csr_matrix", "row_sparse_array",
           "cast_storage", "retain"]


class BaseSparseNDArray(NDArray):
    """An array that goes by a sparse storage type."""

    def __repr__(self):
        shape = "x".join(str(n) for n in self.shape)
        return f"\n<{type(self).__name__} {shape} @{self.context}>"

    __str__ = __repr__

    def copyto(self, other):
        if isinstance(other, NDArray):
            return super().copyto(other)
        return cast_storage(super().copyto(other), self.stype)

    def astype(self, dtype, copy=True):
        result = super().astype(dtype, copy)
        return result if result is self else cast_storage(result, self.stype)

    def check_format(self, full_check=True):
        """Dense storage has no format to be wrong."""


class CSRNDArray(BaseSparseNDArray):
    """A matrix that goes by compressed rows."""

    stype = "csr"

    def _rows(self):
        values = self.asnumpy()
        return values, [np.flatnonzero(row) for row in values]

    @property
    def indices(self):
        """Columns of the numbers that are not 0, row after row."""
        return _dense_array(np.concatenate(self._rows()[1] or [[]]), dtype=np.int64)

    @property
    def indptr(self):
        """Where each row begins in `data`."""
        return _dense_array(np.cumsum([0] + [len(r) for r in self._rows()[1]]), dtype=np.int64)

    @property
    def data(self):
        """The numbers that are not 0."""
        values, rows = self._rows()
        return _dense_array(np.concatenate([v[r] for v, r in zip(values, rows)]), dtype=self.dtype)

    def asscipy(self):
        """A scipy.sparse.csr_matrix."""
        from scipy.sparse import csr_matrix as scipy_csr

        return scipy_csr(self.asnumpy())


class RowSparseNDArray(BaseSparseNDArray):
    """An array most of whose rows are 0."""

    stype = "row_sparse"

    def _nonzero(self):
        values = self.asnumpy()
        return values, np.flatnonzero(values.reshape(len(values), -1).any(axis=1))

    @property
    def indices(self):
        """The rows that are not 0."""
        return _dense_array(self._nonzero()[1], dtype=np.int64)

    @property
    def data(self):
        """The rows that are not 0, stacked."""
        values, rows = self._nonzero()
        return _dense_array(values[rows], dtype=self.dtype)

    def retain(self, *args, **kwargs):
        """Only the given rows, the others 0."""
        return retain(self, *args, **kwargs)


_CLASSES = {"default": NDArray, "csr": CSRNDArray, "row_sparse": RowSparseNDArray}


def cast_storage(data, stype):
    """The same numbers under another storage type."""
    if stype not in _CLASSES:
        raise ValueError(f"storage type '{stype}' is unknown; there are {', '.join(_CLASSES)}")
    if stype == "csr" and data.ndim != 2:
        raise ValueError(f"csr is for matrices; this array has shape {data.shape}")
    return _under(stype, data._copy())


def _under(stype, data):
    """The same memory under another storage type."""
    result = _CLASSES[stype].__new__(_CLASSES[stype])
    _core.NDArray.__init__(result)
    result._assign(data)
    return result


def _as_stored(data):
    """An array of a file under the storage type it has there."""
    stype = "default" if data is None else _core.storage_type(data)
    return data if stype == "default" else _under(stype, data)


def zeros(stype, shape, ctx=None, dtype=None, **kwargs):
    """Zeros of a storage type."""
    return cast_storage(_dense_zeros(shape, ctx, dtype, **kwargs), stype)


def empty(stype, shape, ctx=None, dtype=None):
    """As zeros: an array without stored numbers is 0."""
    return zeros(stype, shape, ctx, dtype)


def array(source_array, ctx=None, dtype=None):
    """From a sparse array of ours or of SciPy."""
    if isinstance(source_array, NDArray):
        return cast_storage(_dense_array(source_array, ctx, dtype), source_array.stype)
    dtype = dtype or source_array.dtype
    return cast_storage(_dense_array(source_array.toarray(), ctx, dtype), "csr")


def csr_matrix(arg1, shape=None, ctx=None, dtype=None):
    """From a dense array, a shape, (data, indices, indptr) or (data, (row, col)), as SciPy's."""
    if isinstance(arg1, tuple) and len(arg1) == 2 and not isinstance(arg1[1], (tuple, list)):
        return zeros("csr", arg1, ctx, dtype)
    if isinstance(arg1, tuple):
        from scipy.sparse import coo_matrix
        from scipy.sparse import csr_matrix as scipy_csr

        def plain(value):
            return value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)

        kind = getattr(arg1[0], "dtype", None)
        if len(arg1) == 3:
            if shape is None:
                raise ValueError("csr_matrix((data, indices, indptr)) needs a shape")
            matrix = scipy_csr(tuple(plain(a) for a in arg1), shape=shape)
        else:
            matrix = coo_matrix((plain(arg1[0]), tuple(plain(a) for a in arg1[1])), shape=shape)
        return cast_storage(_dense_array(matrix.toarray(), ctx, dtype or kind or mx_real_t), "csr")
    if isinstance(arg1, NDArray) or not hasattr(arg1, "toarray"):
        kind = getattr(arg1, "dtype", None) if isinstance(arg1, NDArray) else None
        return cast_storage(_dense_array(arg1, ctx, dtype or kind), "csr")
    return array(arg1, ctx, dtype)


def row_sparse_array(arg1, shape=None, ctx=None, dtype=None):
    """From a dense array, a shape, or (data, indices of its rows)."""
    if isinstance(arg1, tuple) and len(arg1) == 2 and not all(
            isinstance(a, (int, np.integer)) for a in arg1):
        data, rows = (a.asnumpy() if hasattr(a, "asnumpy") else np.asarray(a) for a in arg1)
        rows = rows.astype(np.int64)
        kind = dtype or getattr(arg1[0], "dtype", None) or mx_real_t
        height = shape[0] if shape else int(rows.max()) + 1 if rows.size else 0
        values = np.zeros((height,) + tuple(shape[1:] if shape else data.shape[1:]))
        values[rows] = data
        return cast_storage(_dense_array(values, ctx, kind), "row_sparse")
    if isinstance(arg1, tuple):
        return zeros("row_sparse", arg1, ctx, dtype)
    kind = dtype or (arg1.dtype if isinstance(arg1, NDArray) else None)
    return cast_storage(_dense_array(arg1, ctx, kind), "row_sparse")


def retain(data, indices):
    """Only the given rows, the others 0."""
    values = np.zeros(data.shape, data.dtype)
    rows = indices.asnumpy().astype(np.int64) if hasattr(indices, "asnumpy") else indices
    values[rows] = data.asnumpy()[rows]
    return cast_storage(_dense_array(values, data.context, data.dtype), "row_sparse")
