"""The functions that mx.nd.random and mx.sym.random share.

Parameters that are arrays (or symbols) select one distribution per element and go to the operators
_sample_*; numbers go to _random_*.
"""
from ..base import _Null, numeric_types

NAMES = ["uniform", "normal", "randn", "poisson", "exponential", "gamma", "multinomial",
         "negative_binomial", "generalized_negative_binomial", "shuffle", "randint"]


def samplers(module, function, array_class, place):
    """The functions by name, as those of a module, over operators made by `function`.

    place(ctx) gives the device keywords of an operator without inputs."""

    def draw(distribution, params, shape, dtype, ctx, out, kwargs):
        given = {"shape": shape, "dtype": dtype, "out": out, **kwargs}
        given = {k: v for k, v in given.items() if v is not _Null and v is not None}
        are_arrays = [isinstance(p, array_class) for p in params.values()]
        if all(are_arrays):
            return function(f"_sample_{distribution}")(*params.values(), **given)
        if any(are_arrays):
            raise ValueError(
                f"Distribution parameters must all have the same type, but got both "
                f"{' and '.join(sorted({str(type(p)) for p in params.values()}))}.")
        for value in params.values():
            if not isinstance(value, numeric_types):
                raise ValueError(f"Distribution parameters must be either {array_class.__name__} or "
                                 f"numbers, but got {type(value)}.")
        if "out" not in given:
            given = {"shape": 1, **given, **place(ctx)}
        return function(f"_random_{distribution}")(**params, **given)

    def uniform(low=0, high=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
        """Between `low` (included) and `high`."""
        return draw("uniform", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)

    def normal(loc=0, scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
        """Around `loc` with standard deviation `scale`."""
        return draw("normal", {"loc": loc, "scale": scale}, shape, dtype, ctx, out, kwargs)

    def randn(*shape, **kwargs):
        """Standard normal numbers in the shape given as arguments."""
        loc, scale = kwargs.pop("loc", 0), kwargs.pop("scale", 1)
        return normal(loc, scale, shape=shape, **kwargs)

    def poisson(lam=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
        """Counts with mean `lam`."""
        return draw("poisson", {"lam": lam}, shape, dtype, ctx, out, kwargs)

    def exponential(scale=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
        """Waiting times with mean `scale`."""
        return draw("exponential", {"lam": 1.0 / scale}, shape, dtype, ctx, out, kwargs)

    def gamma(alpha=1, beta=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
        """Gamma numbers with shape `alpha` and scale `beta`."""
        return draw("gamma", {"alpha": alpha, "beta": beta}, shape, dtype, ctx, out, kwargs)

    def negative_binomial(k=1, p=1, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
        """Failures before the k-th success of probability `p`."""
        return draw("negative_binomial", {"k": k, "p": p}, shape, dtype, ctx, out, kwargs)

    def generalized_negative_binomial(mu=1, alpha=1, shape=_Null, dtype=_Null, ctx=None, out=None,
                                      **kwargs):
        """Counts with mean `mu` and dispersion `alpha`."""
        return draw("generalized_negative_binomial", {"mu": mu, "alpha": alpha}, shape, dtype, ctx,
                    out, kwargs)

    def shuffle(data, **kwargs):
        """The rows of `data` in random order."""
        return function("_shuffle")(data, **kwargs)

    def randint(low, high, shape=_Null, dtype=_Null, ctx=None, out=None, **kwargs):
        """Integers from `low` (included) to `high`."""
        return draw("randint", {"low": low, "high": high}, shape, dtype, ctx, out, kwargs)

    shared = (uniform, normal, randn, poisson, exponential, gamma, negative_binomial,
              generalized_negative_binomial, shuffle, randint)
    for one in shared:
        one.__module__, one.__qualname__ = module, one.__name__
    return {one.__name__: one for one in shared}
