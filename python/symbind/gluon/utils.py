"""Gluon's helpers for plain arrays; scripts that train with a Module use them too."""
from .. import ndarray
from .._absent import front
from ..ndarray import NDArray, array, clip_global_norm  # pylint: disable=unused-import
from ..test_utils import download  # pylint: disable=unused-import


def split_data(data, num_slice, batch_axis=0, even_split=True):
    """`num_slice` slices of `data` along `batch_axis` whose sizes differ by at most one; the first ones
    are the larger. With `even_split` all must have the same size."""
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
    """`data` split into one slice per context, each on its context."""
    if not isinstance(data, NDArray):
        data = array(data, ctx=ctx_list[0])
    slices = split_data(data, len(ctx_list), batch_axis, even_split)
    return [part.as_in_context(ctx) for part, ctx in zip(slices, ctx_list)]


__getattr__ = front(__name__)
