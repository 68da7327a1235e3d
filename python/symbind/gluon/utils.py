"""What Gluon's helpers do with plain arrays: scripts that train with a Module use these too."""
import math
import warnings

from .. import ndarray
from .._absent import front
from ..ndarray import NDArray, array
from ..test_utils import download  # pylint: disable=unused-import


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """`num_slice` slices of `data` along `batch_axis`, as equal as can be: the first ones have one
    more. With `even_split` all must have the same size."""
    size = data.shape[batch_axis]
    if num_slice < 1 or (not even_split and num_slice > size):
        raise ValueError("data with shape {} cannot be split into {} slices along axis {}".format(
            data.shape, num_slice, batch_axis))
    each, more = divmod(size, num_slice)
    if even_split and more:
        raise ValueError(
            "data with shape {} cannot be evenly split into {} slices along axis {}: take a batch size "
            "that is a multiple of {}, or even_split=False".format(
                data.shape, num_slice, batch_axis, num_slice))
    ends = [(i + 1) * each + min(i + 1, more) for i in range(num_slice)]
    pairs = zip([0] + ends[:-1], ends)
    if batch_axis == 0:
        return [data[begin:end] for begin, end in pairs]
    return [ndarray.slice_axis(data, axis=batch_axis, begin=begin, end=end) for begin, end in pairs]


def split_and_load(data, ctx_list, batch_axis=0, even_split=True):
    """`data` cut into one slice a context, each on its own."""
    if not isinstance(data, NDArray):
        data = array(data, ctx=ctx_list[0])
    slices = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(slices, ctx_list)]


def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scales `arrays` in place so that the 2-norm of them all together is at most `max_norm`.

    Returns the norm before that: a number, or with check_isfinite=False an array of shape (1,),
    which is not waited for.
    """
    if not arrays:
        raise AssertionError("clip_global_norm: there are no arrays")
    ctx = arrays[0].context
    squares = [ndarray.sum(ndarray.square(each)).as_in_context(ctx) for each in arrays]
    norm = ndarray.sqrt(ndarray.add_n(*squares))
    if check_isfinite and not math.isfinite(norm.asscalar()):
        warnings.warn("nan or inf is detected. Clipping results will be undefined.", UserWarning,
                      stacklevel=2)
    scale = ndarray.minimum(max_norm / (norm + 1e-8), 1)
    for each in arrays:
        each *= scale.as_in_context(each.context)
    return norm.asscalar() if check_isfinite else norm


__getattr__ = front(__name__)
