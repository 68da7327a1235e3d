"""Operators that MXNet calls experimental, and loops."""
import itertools

import numpy as np

from .. import _core
from .._nested import flatten, regroup
from ..attribute import AttrScope
from ..name import NameManager
from . import _internal

__all__ = ["foreach", "rand_zipfian", "adamw_update", "mp_adamw_update"]

_loops = itertools.count()


def foreach(body, data, init_states, name="foreach"):
    """A loop: `outs, states = body(slice, states)` for every slice of `data` along its first axis.

    `data`, `init_states` and what the body returns are symbols or nested lists of them. Returns the outputs of all
    turns, stacked, and the states of the last. What the body reads of the graph around it is an input of the loop.
    The number of turns is known when the symbol is bound, and the loop is unrolled then.
    """
    from .symbol import Symbol, var

    data, data_form = flatten(data, Symbol, "foreach input")
    states, state_form = flatten(init_states, Symbol, "foreach states")
    outer = AttrScope.current._attr.get("__subgraph_name__", "")
    scope = "{}{}{}".format(outer and outer + "$", name, next(_loops))
    slice_names = ["{}-{}".format(one.name, i) for i, one in enumerate(data)]
    state_names = ["{}-{}".format(one.name, len(data) + i) for i, one in enumerate(states)]
    with AttrScope(__subgraph_name__=scope):
        outputs, new_states = body(regroup([var(each) for each in slice_names], data_form),
                                   regroup([var(each) for each in state_names], state_form))
    outputs, output_form = flatten(outputs, Symbol, "foreach output")
    new_states, new_form = flatten(new_states, Symbol, "foreach loop_vars")
    assert new_form == state_form, "The input and output loop_vars have different format"
    outputs, states = _core.close_loop(scope, data, slice_names, states, state_names, outputs, new_states,
                                       NameManager.current.get(None, "_foreach"), AttrScope.current.get(None))
    return regroup(outputs, output_form), regroup(states, state_form)


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
