"""Operators that MXNet calls experimental."""
import numpy as np

from .._nested import flatten, regroup
from . import _internal

__all__ = ["foreach", "rand_zipfian", "isinf", "isfinite", "isnan", "adamw_update", "mp_adamw_update",
           "multi_adamw_update", "multi_mp_adamw_update", "multi_lamb_update",
           "multi_mp_lamb_update"]


def foreach(body, data, init_states):
    """A loop: `outs, states = body(slice, states)` for every slice of `data` along its first axis.

    `data`, `init_states` and what the body returns are arrays or nested lists of them. Returns the outputs of all
    turns, stacked, and the states of the last.
    """
    from .ndarray import NDArray
    from .op import stack

    flat, form = flatten(data, NDArray, "foreach input")
    flatten(init_states, NDArray, "foreach states")
    states, turns, output_form = init_states, [], []
    for turn in range(flat[0].shape[0]):
        outputs, states = body(regroup([one[turn] for one in flat], form), states)
        outputs, output_form = flatten(outputs, NDArray, "foreach output")
        turns.append(outputs)
    return regroup([stack(*outputs) for outputs in zip(*turns)], output_form), states


def rand_zipfian(true_classes, num_sampled, range_max, ctx=None):
    """Samples classes from a log-uniform distribution.

    Returns the samples, and how often each true class and each sample is expected among them.
    """
    from ..context import current_context
    from . import random

    log_range = float(np.log(range_max + 1))
    drawn = random.uniform(0, log_range, shape=(num_sampled,), dtype="float64",
                           ctx=ctx or current_context())
    sampled = (drawn.exp() - 1).astype("int64") % range_max

    def expected(classes):
        classes = classes.astype("float64")
        return ((classes + 2.0) / (classes + 1.0)).log() / log_range * num_sampled

    return sampled, expected(true_classes), expected(sampled)


def isinf(data):
    """1 where a number is infinite."""
    return data.abs() == np.inf


def isfinite(data):
    """1 where a number is neither infinite nor NaN."""
    is_number = data == data
    return is_number * (data.abs() != np.inf)


def isnan(data):
    """1 where a number is NaN."""
    return data != data


def _as_array(rescale_grad, like):
    """The scale of the gradients as AdamW wants it: an array of one."""
    from .creation import full
    from .ndarray import NDArray

    if isinstance(rescale_grad, NDArray):
        return rescale_grad.as_in_context(like.context)
    return full((1,), rescale_grad, ctx=like.context)


def adamw_update(weight, grad, mean, var, rescale_grad, lr, eta, beta1=0.9, beta2=0.999,
                 epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None, **kwargs):
    """A step of Adam with weight decay apart; `rescale_grad` is a number or an array of one."""
    return _internal._adamw_update(
        weight, grad, mean, var, _as_array(rescale_grad, weight), lr=lr, eta=eta, beta1=beta1,
        beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out, name=name,
        **kwargs)


def mp_adamw_update(weight, grad, mean, var, weight32, rescale_grad, lr, eta, beta1=0.9,
                    beta2=0.999, epsilon=1e-8, wd=0, clip_gradient=-1, out=None, name=None,
                    **kwargs):
    """adamw_update with the weight kept in float32 beside it."""
    return _internal._mp_adamw_update(
        weight, grad, mean, var, weight32, _as_array(rescale_grad, weight), lr=lr, eta=eta,
        beta1=beta1, beta2=beta2, epsilon=epsilon, wd=wd, clip_gradient=clip_gradient, out=out,
        name=name, **kwargs)


def _in_turn(*lists):
    return [array for group in zip(*lists) for array in group]


def multi_adamw_update(weights, grads, mean, var, rescale_grad, lrs, wds, etas, out=None, name=None,
                       size=0, **kwargs):
    """adamw_update of several weights in one call."""
    return _internal._multi_adamw_update(
        *_in_turn(weights, grads, mean, var), _as_array(rescale_grad, weights[0]), out=out,
        num_weights=size or len(weights), lrs=lrs, wds=wds, etas=etas, name=name, **kwargs)


def multi_mp_adamw_update(weights, grads, mean, var, weights32, rescale_grad, lrs, wds, etas,
                          out=None, name=None, size=0, **kwargs):
    """mp_adamw_update of several weights in one call."""
    return _internal._multi_mp_adamw_update(
        *_in_turn(weights, grads, mean, var, weights32), _as_array(rescale_grad, weights[0]),
        out=out, num_weights=size or len(weights), lrs=lrs, wds=wds, etas=etas, name=name,
        **kwargs)


def multi_lamb_update(weights, grads, mean, var, step_count, lrs, wds, out=None, num_tensors=0,
                      **kwargs):
    """A step of LAMB for several weights in one call."""
    return _internal._multi_lamb_update(
        *_in_turn(weights, grads, mean, var), out=out, num_tensors=num_tensors or len(weights),
        step_count=step_count, learning_rates=lrs, wds=wds, **kwargs)


def multi_mp_lamb_update(weights, grads, mean, var, weights32, step_count, lrs, wds, out=None,
                         num_tensors=0, **kwargs):
    """multi_lamb_update with the weights kept in float32 beside them."""
    return _internal._multi_mp_lamb_update(
        *_in_turn(weights, grads, mean, var, weights32), out=out,
        num_tensors=num_tensors or len(weights), step_count=step_count, learning_rates=lrs,
        wds=wds, **kwargs)
