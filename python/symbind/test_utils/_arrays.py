"""Random arrays and shapes. Every draw comes from NumPy's global generator, in MXNet's order, so a
test that seeds NumPy sees the numbers it saw there. Sizes are Python integers."""
import types

import numpy as np
import numpy.random as rnd

from .. import ndarray as nd
from ..context import current_context
from ._compare import default_dtype


def _dtype(dtype):
    return default_dtype() if dtype is None else dtype


def random_arrays(*shapes):
    """Standard normal NumPy arrays of the given shapes; a single one is returned bare."""
    arrays = [np.array(rnd.randn(*shape), dtype=default_dtype()) for shape in shapes]
    return arrays[0] if len(arrays) == 1 else arrays


def random_uniform_arrays(*shapes, low=0.0, high=1.0, dtype=None):
    """A list of NumPy arrays of the given shapes, uniform in [low, high)."""
    return [rnd.uniform(low, high, size=shape).astype(_dtype(dtype)) for shape in shapes]


def random_sample(population, k):
    """`k` different elements of a sequence, in random order."""
    assert 0 <= k <= len(population)
    shuffled = population[:]
    rnd.shuffle(shuffled)
    return shuffled[:k]


def _random_sizes(limits, allow_zero_size):
    return tuple(int(rnd.randint(0 if allow_zero_size else 1, limit + 1)) for limit in limits)


def rand_shape_2d(dim0=10, dim1=10, allow_zero_size=False):
    """A shape of two axes, each at most as long as given."""
    return _random_sizes((dim0, dim1), allow_zero_size)


def rand_shape_3d(dim0=10, dim1=10, dim2=10, allow_zero_size=False):
    """A shape of three axes, each at most as long as given."""
    return _random_sizes((dim0, dim1, dim2), allow_zero_size)


def rand_shape_nd(num_dim, dim=10, allow_zero_size=False):
    """A shape of `num_dim` axes, each at most `dim` long."""
    sizes = rnd.randint(0 if allow_zero_size else 1, dim + 1, size=num_dim)
    return tuple(int(size) for size in sizes)


def rand_coord_2d(x_low, x_high, y_low, y_high):
    """A point (x, y) with x_low <= x < x_high and y_low <= y < y_high."""
    return (int(rnd.randint(x_low, x_high, dtype=np.int64)),
            int(rnd.randint(y_low, y_high, dtype=np.int64)))


def create_2d_tensor(rows, columns, dtype=np.int64):
    """An NDArray whose row i holds i."""
    column = nd.arange(0, rows, dtype=dtype).reshape((rows, 1))
    return nd.broadcast_to(column, shape=(rows, columns))


def create_vector(size, dtype=np.int64):
    """The NDArray 0, 1, …, size - 1."""
    return nd.arange(0, size, dtype=dtype)


def get_identity_mat(size):
    """The identity matrix as an NDArray."""
    return nd.array(np.eye(size, dtype=np.float32))


def get_identity_mat_batch(size):
    """Two identity matrices, stacked."""
    return nd.array(np.stack([np.eye(size, dtype=np.float32)] * 2))


def rand_ndarray(shape, stype='default', density=None, dtype=None, modifier_func=None,
                 shuffle_csr_indices=False, distribution=None, ctx=None):
    """A random NDArray: standard normal, or of a sparse storage type (rand_sparse_ndarray)."""
    if stype == 'default':
        return nd.array(random_arrays(shape), dtype=dtype, ctx=ctx or current_context())
    return rand_sparse_ndarray(shape, stype, density=density, modifier_func=modifier_func,
                               dtype=dtype, shuffle_csr_indices=shuffle_csr_indices,
                               distribution=distribution, ctx=ctx)[0]


def rand_sparse_ndarray(shape, stype, density=None, dtype=None, distribution=None, data_init=None,
                        rsp_indices=None, modifier_func=None, shuffle_csr_indices=False, ctx=None):
    """A random sparse NDArray and its parts: (values, indices) of a 'row_sparse' one as NumPy
    arrays, (indptr, indices, data) of a 'csr' one.

    `density` is the share of rows or elements present (random when None), `data_init` a value for
    all of them, `distribution` 'uniform' or, for csr, 'powerlaw': rows of doubling length.
    """
    ctx = ctx or current_context()
    density = rnd.rand() if density is None else density
    dtype = _dtype(dtype)
    distribution = distribution or "uniform"
    if stype == 'row_sparse':
        assert distribution == "uniform", \
            "Distribution %s not supported for row_sparse" % distribution
        return _rand_row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx)
    assert stype == 'csr', "unknown storage type"
    assert len(shape) == 2
    assert distribution in ("uniform", "powerlaw"), "Distribution not supported: %s" % distribution
    _check_csr_inputs(*shape, density, distribution)
    if distribution == "uniform":
        csr = _uniform_csr(shape, density, dtype, data_init, shuffle_csr_indices)
    else:
        csr = nd.array(_powerlaw_dense(*shape, density, dtype), dtype=dtype).tostype('csr')
    csr = csr.as_in_context(ctx)
    return csr, (csr.indptr, csr.indices, csr.data)


def _rand_row_sparse(shape, density, dtype, data_init, rsp_indices, modifier_func, ctx):
    if rsp_indices is not None:
        indices = np.asarray(rsp_indices)
        assert len(indices) <= shape[0]
    else:
        indices = np.flatnonzero(rnd.rand(shape[0]) < density)
    if len(indices) == 0:
        empty = nd.zeros(shape, stype='row_sparse', dtype=dtype, ctx=ctx)
        return empty, (np.array([], dtype=dtype), np.array([]))
    values = rnd.rand(len(indices), *shape[1:]).astype(dtype)
    if data_init is not None:
        values.fill(data_init)
    if modifier_func is not None:
        values = assign_each(values, modifier_func)
    array = nd.sparse.row_sparse_array((values, indices), shape=shape, dtype=dtype, ctx=ctx)
    return array, (values, indices)


def _check_csr_inputs(rows, columns, density, distribution):
    if not 0 <= density <= 1:
        raise ValueError("density has to be between 0 and 1")
    if rows <= 0 or columns <= 0:
        raise ValueError("num_rows or num_cols should be greater than 0")
    if distribution == "powerlaw" and int(rows * columns * density) < 2 * rows:
        raise ValueError("not supported for this density: %s for this shape (%s, %s): keep "
                         "num_rows * num_cols * density >= 2 * num_rows" % (density, rows, columns))


def _uniform_csr(shape, density, dtype, data_init, shuffle_csr_indices):
    rows, columns = shape
    chosen = rnd.permutation(rows * columns)[:int(density * rows * columns)]
    column, row = divmod(chosen, rows)
    values = rnd.rand(len(chosen)).astype(dtype)
    if data_init is not None:
        values.fill(data_init)
    order = np.lexsort((column, row))
    parts = types.SimpleNamespace(data=values[order], indices=column[order],
                                  indptr=np.searchsorted(row[order], np.arange(rows + 1)))
    if shuffle_csr_indices:
        shuffle_csr_column_indices(parts)
    return nd.sparse.csr_matrix((parts.data, parts.indices, parts.indptr), shape=shape, dtype=dtype)


def shuffle_csr_column_indices(csr):
    """Shuffles the column indices within each row: a valid csr matrix need not have them sorted."""
    for begin, end in zip(csr.indptr[:-1], csr.indptr[1:]):
        row = np.array(csr.indices[begin:end])
        rnd.shuffle(row)
        csr.indices[begin:end] = row


def _powerlaw_dense(rows, columns, density, dtype):
    """A value at the start of every row, then 2, 4, 8, … in all, until the density is used up.
    Rows that would overflow are filled with one value."""
    def value():
        return 1 + rnd.uniform(0.001, 2)

    left = int(rows * columns * density)
    dense = np.zeros((rows, columns), dtype=dtype)
    for row in range(rows):
        dense[row, 0] = value()
        left -= 1
        if left <= 0:
            return dense
    length = 2
    for row in range(rows):
        width = min(columns, length)
        if width == columns and left > width:
            dense[row] = value()
            left -= width - 1
            continue
        for column in range(1, width):
            dense[row, column] = value()
            left -= 1
            if left <= 0:
                return dense
        length *= 2
    if left > 0:
        raise ValueError("not supported for this density: %s for this shape (%s,%s)"
                         % (density, rows, columns))
    return dense


def create_sparse_array(shape, stype, data_init=None, rsp_indices=None, dtype=None,
                        modifier_func=None, density=.5, shuffle_csr_indices=False):
    """rand_sparse_ndarray without the parts; row indices are sorted first."""
    if stype not in ('row_sparse', 'csr'):
        raise AssertionError("Unknown storage type: " + stype)
    if rsp_indices is not None:
        rsp_indices = np.sort(np.asarray(rsp_indices))
    return rand_sparse_ndarray(shape, stype, density=density, data_init=data_init, dtype=dtype,
                               rsp_indices=rsp_indices if stype == 'row_sparse' else None,
                               modifier_func=modifier_func,
                               shuffle_csr_indices=shuffle_csr_indices)[0]


def create_sparse_array_zd(shape, stype, density, data_init=None, rsp_indices=None, dtype=None,
                           modifier_func=None, shuffle_csr_indices=False):
    """create_sparse_array whose rows, for row_sparse, are exactly `rsp_indices`."""
    if stype == 'row_sparse':
        density = 0.0
        assert rsp_indices is None or len(rsp_indices) <= shape[0]
    return create_sparse_array(shape, stype, data_init=data_init, rsp_indices=rsp_indices,
                               dtype=dtype, modifier_func=modifier_func, density=density,
                               shuffle_csr_indices=shuffle_csr_indices)


def assign_each(the_input, function):
    """`function` of each element, as a NumPy array; a copy when it is None."""
    if function is None:
        return np.array(the_input)
    return np.vectorize(function, otypes=[np.float64])(the_input)


def assign_each2(input1, input2, function):
    """`function` of each pair of elements as a NumPy array; a copy of the first when it is None."""
    if function is None:
        return np.array(input1)
    assert input1.shape == input2.shape
    return np.vectorize(function, otypes=[np.float64])(input1, input2)
