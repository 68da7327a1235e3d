"""Random numbers. Parameters that are arrays select one distribution per element."""
from .. import _core
from ..base import _Null
from ..ndarray._draw import make

__all__ = ["uniform", "normal", "randn", "poisson", "exponential", "gamma", "multinomial",
           "negative_binomial", "generalized_negative_binomial", "shuffle", "randint"]

_draw = make(_core.SymbolFunction, _core.Symbol)


def _numbers(op, params, shape, dtype, ctx, out, kwargs):
    return _draw(op, params, {"shape": shape, "dtype": dtype, "out": out, **kwargs},
                 {})


def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Between `low` (included) and `high`."""
    return _numbers("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)


def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Around `loc` with standard deviation `scale`."""
    return _numbers("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)


def randn(*shape, **kwargs):
    """Standard normal numbers in the shape given as arguments; `data` is overlooked, as in MXNet."""
    kwargs.pop("data", None)
    loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
    return normal(loc, scale, shape=shape, **kwargs)


def poisson(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Counts with mean `lam`."""
    return _numbers("poisson", {"lam": lam}, shape, dtype, ctx, out, kwargs)


def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Waiting times with mean `scale`."""
    rate = 1.0 / scale
    return _numbers("exponential", {"lam": rate}, shape, dtype, ctx, out, kwargs)


def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Gamma numbers with shape `alpha` and scale `beta`."""
    return _numbers("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out, kwargs)


def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Failures before the k-th success of probability `p`."""
    return _numbers("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out, kwargs)


def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None,
                                  **kwargs):
    """Counts with mean `mu` and dispersion `alpha`."""
    return _numbers("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape, dtype, ctx,
                    out, kwargs)


def multinomial(data, shape=_Null, get_prob=True, dtype="int32", **kwargs):
    """Classes drawn with the probabilities in the last axis of `data`, and how likely they were."""
    return _core.SymbolFunction("_sample_multinomial")(
        data, get_prob=get_prob, dtype=dtype, **({} if shape is _Null else {"shape": shape}),
        **kwargs)


def shuffle(data, **kwargs):
    """The rows of `data` in random order."""
    return _core.SymbolFunction("_shuffle")(data, **kwargs)


def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
    """Integers from `low` (included) to `high`."""
    return _numbers("randint", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)
