"""Random numbers. Parameters that are arrays select one distribution per element."""
from .. import _core
from ..base import _Null
from ..context import current_context
from ._draw import samplers

__all__ = ["uniform", "normal", "randn", "poisson", "exponential", "gamma", "multinomial",
           "negative_binomial", "generalized_negative_binomial", "shuffle", "randint"]

_shared = samplers(__name__, _core.ArrayFunction, _core.NDArray,
                   lambda ctx: {"ctx": ctx if ctx is not None else current_context()})
globals().update(_shared)


def randn(*shape, **kwargs):
    """Standard normal numbers in the shape given as arguments."""
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    return _shared["normal"](loc, scale, shape=shape, **kwargs)


def multinomial(data, shape=_Null, get_prob=False, out=None, dtype="int32", **kwargs):
    """Classes drawn with the probabilities in the last axis of `data`."""
    return _core.ArrayFunction("_sample_multinomial")(
        data, get_prob=get_prob, out=out, dtype=dtype,
        **({} if shape is _Null else {"shape": shape}), **kwargs)
