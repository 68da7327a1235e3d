"""Random numbers. Parameters that are symbols select one distribution per element."""
from .. import _core
from ..base import _Null
from ..ndarray import _draw

__all__ = list(_draw.NAMES)

# The device of a symbol is that of its executor: ctx is accepted and ignored, as in MXNet.
_shared = _draw.samplers(__name__, _core.SymbolFunction, _core.Symbol, lambda ctx: {})
globals().update(_shared)


def randn(*shape, **kwargs):
    """Standard normal numbers in the shape given as arguments; `data` is ignored, as in MXNet."""
    kwargs.pop("data", None)
    return _shared["randn"](*shape, **kwargs)


def multinomial(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """Classes drawn with the probabilities in the last axis of `data`, and how likely they were."""
    return _core.SymbolFunction("_sample_multinomial")(
        data, get_prob=get_prob, dtype=dtype, **({} if shape is _Null else {"shape": shape}),
        **kwargs)
