"""Random numbers. Parameters that are arrays select one distribution per element."""
from .. import _core
from ..base import _Null
from ..context import current_context
from . import _draw

__all__ = list(_draw.NAMES)

globals().update(_draw.samplers(
    __name__, _core.ArrayFunction, _core.NDArray,
    lambda ctx: {"ctx": ctx if ctx is not None else current_context()}))


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """Classes drawn with the probabilities in the last axis of `data`."""
    return _core.ArrayFunction("_sample_multinomial")(
        data, get_prob=get_prob, out=out, dtype=dtype,
        **({} if shape is _Null else {"shape": shape}), **kwargs)
