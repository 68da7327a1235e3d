"""Operators that MXNet calls experimental."""
import numpy as np

from . import _internal

__all__ = ["rand_zipfian", "adamw_update", "mp_adamw_update"]


def rand_zipfian(true_classes, num_sampled, range_max):
    """Samples classes from a log-uniform distribution; see nd.contrib.rand_zipfian."""
    from . import random

    log_range = float(np.log(range_max + 1))
    drawn = random.uniform(0, log_range, shape=(num_sampled,), dtype="float64")
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes):
        classes = classes.astype("float64")
        return ((classes + 2.0) / (classes + 1.0)).log() / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def _as_symbol(rescale_grad):
    """The scale of the gradients as AdamW wants it: an array of one."""
    from .symbol import Symbol, full

    return rescale_grad if isinstance(rescale_grad, Symbol) else full((1,), rescale_grad)


def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999,
                 epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """A step of Adam with weight decay apart; `rescale_grad` is a number or a symbol."""
    return _internal._adamw_update(
        weight, grad, mean, var, _as_symbol(rescale_grad), lr=lr, eta=eta, beta1=beta1,
        beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name,
        **kwargs)


def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9,
                    beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None,
                    **kwargs):
    """adamw_update with the weight kept in float32 beside it."""
    return _internal._mp_adamw_update(
        weight, grad, mean, var, weight32, _as_symbol(rescale_grad), lr=lr, eta=eta, beta1=beta1,
        beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name,
        **kwargs)
