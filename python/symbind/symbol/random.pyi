# Written by tools/stubgen; do not edit.
from typing import Any
from ..symbol.symbol import Symbol

Out = None

def exponential(scale=1, shape=..., dtype=..., ctx=None, out=None, **kwargs):
    """Waiting times with mean `scale`."""
def gamma(alpha=1, beta=1, shape=..., dtype=..., ctx=None, out=None, **kwargs):
    """Gamma numbers with shape `alpha` and scale `beta`."""
def generalized_negative_binomial(mu=1, alpha=1, shape=..., dtype=..., ctx=None, out=None,
                                  **kwargs):
    """Counts with mean `mu` and dispersion `alpha`."""
def multinomial(data, shape=..., get_prob=True, dtype='int32', **kwargs):
    """Classes drawn with the probabilities in the last axis of `data`, and how likely they were."""
def negative_binomial(k=1, p=1, shape=..., dtype=..., ctx=None, out=None, **kwargs):
    """Failures before the k-th success of probability `p`."""
def normal(loc=0, scale=1, shape=..., dtype=..., ctx=None, out=None, **kwargs):
    """Around `loc` with standard deviation `scale`."""
def poisson(lam=1, shape=..., dtype=..., ctx=None, out=None, **kwargs):
    """Counts with mean `lam`."""
def randint(low, high, shape=..., dtype=..., ctx=None, out=None, **kwargs):
    """Integers from `low` (included) to `high`."""
def randn(*shape, **kwargs):
    """Standard normal numbers in the shape given as arguments; `data` is ignored, as in MXNet."""
def shuffle(data, **kwargs):
    """The rows of `data` in random order."""
def uniform(low=0, high=1, shape=..., dtype=..., ctx=None, out=None, **kwargs):
    """Between `low` (included) and `high`."""
def exponential_like(data: Symbol | None = None, lam: float = 1, name: str | None = None,
                     attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution exponential, as many and of the type that data has."""
def gamma_like(data: Symbol | None = None, alpha: float = 1, beta: float = 1,
               name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
               **kwargs: Any) -> Symbol:
    """Samples of the distribution gamma, as many and of the type that data has."""
def generalized_negative_binomial_like(data: Symbol | None = None, mu: float = 1, alpha: float = 1,
                                       name: str | None = None, attr: dict[str, str] | None = None,
                                       out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution generalized_negative_binomial, as many and of the type that data has."""
def negative_binomial_like(data: Symbol | None = None, k: int = 1, p: float = 1,
                           name: str | None = None, attr: dict[str, str] | None = None,
                           out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution negative_binomial, as many and of the type that data has."""
def normal_like(data: Symbol | None = None, loc: float = 0, scale: float = 1,
                name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                **kwargs: Any) -> Symbol:
    """Samples of the distribution normal, as many and of the type that data has."""
def poisson_like(data: Symbol | None = None, lam: float = 1, name: str | None = None,
                 attr: dict[str, str] | None = None, out: Out = None, **kwargs: Any) -> Symbol:
    """Samples of the distribution poisson, as many and of the type that data has."""
def uniform_like(data: Symbol | None = None, low: float = 0, high: float = 1,
                 name: str | None = None, attr: dict[str, str] | None = None, out: Out = None,
                 **kwargs: Any) -> Symbol:
    """Samples of the distribution uniform, as many and of the type that data has."""
