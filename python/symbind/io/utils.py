"""Converts the arguments of NDArrayIter to one form."""
import sys

import numpy as np

from ..error import TypeError as TypeError_  # MXNet's TypeError and an MXNetError
from ..ndarray import NDArray, array
from ..ndarray.sparse import CSRNDArray, _under


def _is_h5py(value):
    """Whether it is a data set of an HDF5 file; works without h5py."""
    h5py = sys.modules.get('h5py')
    return h5py is not None and isinstance(value, h5py.Dataset)


def _init_data(data, allow_empty, default_name):
    """A list of (name, array), sorted by name."""
    assert data is not None or allow_empty, "no data given"
    if data is None:
        data = []
    if isinstance(data, (np.ndarray, NDArray)) or _is_h5py(data):
        data = [data]
    if isinstance(data, list):
        assert data or allow_empty, "no data given"
        if len(data) == 1:
            data = {default_name: data[0]}
        else:
            data = {'_%d_%s' % (i, default_name): d for i, d in enumerate(data)}
    if not isinstance(data, dict):
        raise TypeError_("Input must be NDArray, numpy.ndarray, h5py.Dataset a list of them or dict "
                         "with them as values, not {}".format(type(data)))
    return sorted((name, _to_array(name, value)) for name, value in data.items())


def _to_array(name, value):
    if isinstance(value, NDArray) or _is_h5py(value):
        return value
    try:
        if hasattr(value, 'tocsr'):  # scipy.sparse
            from ..ndarray import sparse
            return sparse.array(value)
        return array(value)
    except Exception as error:
        raise TypeError_("Invalid type '{}' for {}, should be NDArray, numpy.ndarray or h5py.Dataset"
                         .format(type(value), name)) from error


def _has_instance(data, dtype):
    """Whether some array of a list of (name, array) is of a class."""
    return any(isinstance(value, dtype) for _, value in data)


def _getdata_by_idx(data, idx):
    """The rows `idx` of every array of a list of (name, array), as float32."""
    result = []
    for name, value in data:
        if isinstance(value, CSRNDArray):
            result.append((name, _as_csr(array(value.asnumpy()[idx], value.context))))
        elif _is_h5py(value):
            result.append((name, value))
        else:
            result.append((name, array(value.asnumpy()[idx], value.context)))
    return result


def _as_csr(data):
    """The same memory with storage type csr."""
    return _under("csr", data)


def _rows_of_h5py(dataset, rows):
    """Rows of a data set in any order, which h5py reads in ascending order only."""
    ascending, places = np.unique(rows, return_inverse=True)
    return array(dataset[ascending][places])
