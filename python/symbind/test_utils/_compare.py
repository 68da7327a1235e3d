"""Comparing arrays: tolerances that depend on the element type, and reports that say where.

An array is an NDArray, a NumPy array, a list or a number; everything is compared as NumPy arrays.
A float32 result on a GPU has float32's tolerance: Symbind never computes it in TF32 unasked.
"""
import numbers

import numpy as np
import numpy.testing as npt

_EXACT_TYPES = (bool, np.int8, np.uint8, np.int32, np.uint32, np.int64, np.uint64)


def _per_type(float16, float32, float64, exact=None):
    table = {np.dtype(np.float16): float16, np.dtype(np.float32): float32,
             np.dtype(np.float64): float64}
    if exact is not None:
        table.update((np.dtype(dtype), exact) for dtype in _EXACT_TYPES)
    return table


def default_dtype():
    """The element type of test data when none is named."""
    return np.float32


def default_rtols():
    """The relative tolerance of each element type."""
    return _per_type(1e-2, 1e-4, 1e-5, exact=0)


def default_atols():
    """The absolute tolerance of each element type."""
    return _per_type(1e-1, 1e-3, 1e-20, exact=0)


def default_numeric_eps():
    """The step of finite differences for each element type: a power of two, so adding is exact."""
    return _per_type(2.0 ** -6, 2.0 ** -9, 2.0 ** -14)


def effective_dtype(dat):
    """The element type whose tolerance applies to `dat`."""
    return np.dtype(dat.dtype)


def get_tolerance(dat, tol, default_tol):
    """The tolerance for comparing `dat`: `tol` if a number, or its entry, or the default's."""
    if isinstance(tol, numbers.Number):
        return tol
    dtype = effective_dtype(dat)
    return (tol or {}).get(dtype, default_tol.get(dtype, 0))


def get_tols(x, y, rtol, atol):
    """The tolerances for comparing `x` with `y`: the wider of the two where their types differ."""
    both = [value if hasattr(value, "dtype") else np.asarray(value) for value in (x, y)]
    return (max(get_tolerance(value, rtol, default_rtols()) for value in both),
            max(get_tolerance(value, atol, default_atols()) for value in both))


def get_atol(atol=None, dtype=np.dtype(np.float64)):
    """`atol`, or the default of `dtype`."""
    return default_atols()[dtype] if atol is None else atol


def get_rtol(rtol=None, dtype=np.dtype(np.float64)):
    """`rtol`, or the default of `dtype`."""
    return default_rtols()[dtype] if rtol is None else rtol


def get_etol(etol=None):
    """`etol`, the share of elements allowed to differ, or 0."""
    return 0 if etol is None else etol


def _as_numpy(value):
    return value.asnumpy() if hasattr(value, "asnumpy") else value


def same(a, b):
    """Whether two arrays have the same shape and the same elements."""
    return np.array_equal(_as_numpy(a), _as_numpy(b))


def checkShapes(a, b):
    """Raises AssertionError unless the shapes are equal."""
    if a.shape != b.shape:
        text = "a.shape = {} and b.shape = {} are not equal".format(a.shape, b.shape)
        raise AssertionError(npt.build_err_msg([_as_numpy(a), _as_numpy(b)], err_msg=text))


def almost_equal(a, b, rtol=None, atol=None, equal_nan=False, use_broadcast=True):
    """Whether two arrays are equal within a tolerance (float64's, when not given)."""
    if not use_broadcast:
        checkShapes(a, b)
    return np.allclose(_as_numpy(a), _as_numpy(b), rtol=get_rtol(rtol), atol=get_atol(atol),
                       equal_nan=equal_nan)


def _find_max_violation(a, b, rtol, atol):
    """Where the tolerance is exceeded most, and by which factor. Equal infinities are no error."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.where(np.equal(a, b), 0, np.abs(a - b))
        violation = difference / (atol + rtol * np.abs(b) + 1e-20)
    index = np.unravel_index(np.argmax(violation), violation.shape)
    return tuple(int(i) for i in index), np.max(violation)


def locationError(a, b, index, names, maxError=False):
    """One line that says where two arrays differ, and their values there."""
    return "Location of %serror: %s, %s=%.8f, %s=%.8f" % (
        "maximum " if maxError else "", index, names[0], a[index], names[1], b[index])


def _mismatch_report(a, b, rtol, atol, names, equal_nan, mismatches):
    """The text of the AssertionError. Prints the worst `mismatches[0]` places and stops counting
    after `mismatches[1]` (never, when that is 0)."""
    worst_index, worst = index, error = _find_max_violation(a, b, rtol, atol)
    if worst_index == ():
        return "Error %f exceeds tolerance rtol=%e, atol=%e.\n" % (worst, rtol, atol)
    a, b = np.broadcast_arrays(a, b)
    print("\n*** Maximum errors for vector of size {}:  rtol={}, atol={}\n".format(
        a.size, rtol, atol))
    rest_a, rest_b = a.copy(), b.copy()
    shown, counted = mismatches
    found, more = 1, ""
    while True:
        if found <= shown:
            print("%3d: Error %f  %s" % (found, error, locationError(a, b, index, names)))
        rest_a[index] = rest_b[index] = 0
        if almost_equal(rest_a, rest_b, rtol, atol, equal_nan=equal_nan) or found == a.size:
            break
        found += 1
        if 0 < counted < found:
            more = "at least "
            break
        index, error = _find_max_violation(rest_a, rest_b, rtol, atol)
    return "Error %f exceeds tolerance rtol=%e, atol=%e (mismatch %s%f%%).\n%s" % (
        worst, rtol, atol, more, 100 * found / a.size,
        locationError(a, b, worst_index, names, maxError=True))


def _raise_mismatch(a, b, rtol, atol, names, equal_nan, mismatches):
    text = _mismatch_report(np.asarray(a), np.asarray(b), rtol, atol, names, equal_nan, mismatches)
    with np.printoptions(threshold=4, suppress=True):
        raise AssertionError(npt.build_err_msg([a, b], err_msg=text))


def assert_almost_equal(a, b, rtol=None, atol=None, names=('a', 'b'), equal_nan=False,
                        use_broadcast=True, mismatches=(10, 10)):
    """Raises AssertionError unless |a - b| <= atol + rtol * |b| everywhere.

    Tolerances are numbers, or dicts from element type to number, or None for the defaults of the
    two element types. Two NDArrays must have the same shape; otherwise NumPy's broadcasting holds.
    """
    if not use_broadcast or (hasattr(a, "asnumpy") and hasattr(b, "asnumpy")):
        checkShapes(a, b)
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _as_numpy(a), _as_numpy(b)
    if all(getattr(value, "dtype", None) == np.bool_ for value in (a, b)):
        npt.assert_equal(a, b)
    elif not almost_equal(a, b, rtol, atol, equal_nan=equal_nan):
        _raise_mismatch(a, b, rtol, atol, names, equal_nan, mismatches)


def assert_allclose(a, b, rtol=1e-07, atol=0, equal_nan=True):
    """numpy.testing's assert_allclose, also for NDArrays."""
    assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)


def assert_almost_equal_with_err(a, b, rtol=None, atol=None, etol=None, names=('a', 'b'),
                                 equal_nan=False, mismatches=(10, 10)):
    """assert_almost_equal that lets a share `etol` of the elements differ."""
    etol = get_etol(etol)
    if etol <= 0:
        assert_almost_equal(a, b, rtol=rtol, atol=atol, equal_nan=equal_nan)
        return
    rtol, atol = get_tols(a, b, rtol, atol)
    a, b = _as_numpy(a), _as_numpy(b)
    equals = np.isclose(a, b, rtol=rtol, atol=atol)
    if 1 - np.count_nonzero(equals) / equals.size > etol:
        _raise_mismatch(a, b, rtol, atol, names, equal_nan, mismatches)


def assert_almost_equal_ignore_nan(a, b, rtol=None, atol=None, names=('a', 'b')):
    """assert_almost_equal over the places where neither array is NaN."""
    a, b = np.copy(_as_numpy(a)), np.copy(_as_numpy(b))
    either = np.isnan(a) | np.isnan(b)
    a[either] = b[either] = 0
    assert_almost_equal(a, b, rtol, atol, names)


def assert_exception(f, exception_type, *args, **kwargs):
    """Raises AssertionError unless `f(*args, **kwargs)` raises `exception_type`."""
    try:
        f(*args, **kwargs)
    except exception_type:
        return
    raise AssertionError("{} did not raise {}".format(f, exception_type))


def compare_ndarray_tuple(t1, t2, rtol=None, atol=None):
    """Compares arrays in equally nested tuples; None on either side passes."""
    if t1 is None or t2 is None:
        return
    if isinstance(t1, tuple):
        for s1, s2 in zip(t1, t2):
            compare_ndarray_tuple(s1, s2, rtol, atol)
    else:
        assert_almost_equal(t1, t2, rtol=rtol, atol=atol)


def same_array(array1, array2):
    """Whether two NDArrays share their memory: a write to the first must show in the second."""
    array1[:] += 1
    shared = same(array1, array2)
    array1[:] -= 1
    return shared and same(array1, array2)


def np_reduce(dat, axis, keepdims, numpy_reduce_func):
    """`numpy_reduce_func` over the axes `axis` (None: all), one by one, as if it knew keepdims."""
    if axis is None:
        axes = range(dat.ndim)
    else:
        axes = [axis] if isinstance(axis, int) else list(axis)
    reduced = dat
    for i in sorted(axes, reverse=True):
        reduced = numpy_reduce_func(reduced, axis=i)
    if keepdims:
        shape = list(dat.shape)
        for i in axes:
            shape[i] = 1
        reduced = reduced.reshape(tuple(shape))
    return reduced


def collapse_sum_like(a, shape):
    """Sums `a` over the axes that broadcasting an array of `shape` to it would add or stretch."""
    assert len(a.shape) >= len(shape)
    if a.size == 0 or np.prod(shape) == 0:
        return np.zeros(shape, dtype=a.dtype)
    added = a.ndim - len(shape)
    stretched = [added + i for i, size in enumerate(shape) if size != a.shape[added + i]]
    assert all(shape[i - added] == 1 for i in stretched)
    return np.sum(a, axis=(*range(added), *stretched)).reshape(shape)
