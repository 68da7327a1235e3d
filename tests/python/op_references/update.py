"""Optimizer steps, as their papers and MXNet's formulas give them.

A step is a function of (weight, gradient, states, attributes) that returns the new weight and the
new states. The variants of it (on float32 master copies, on several weights, with the rates in
arrays) are one step written once.
"""
import numpy as np

CLIP = "clip_gradient"


def _clipped(g, bound):
    return np.clip(g, -bound, bound) if bound >= 0 else g


def _gradient(g, attrs):
    """The gradient as the step sees it, before weight decay."""
    return _clipped(attrs["rescale_grad"] * g, attrs[CLIP])


def _decayed(w, g, attrs, clip=CLIP):
    """The same, with the weight decay in what is clipped."""
    return _clipped(attrs["rescale_grad"] * g + attrs["wd"] * w, attrs[clip])


def _sgd(w, g, states, a):
    return w - a["lr"] * (_gradient(g, a) + a["wd"] * w), []


def _sgd_mom(w, g, states, a):
    mom = a["momentum"] * states[0] - a["lr"] * (_gradient(g, a) + a["wd"] * w)
    return w + mom, [mom]


def _nag(w, g, states, a):
    def step(at):
        return a["lr"] * (_gradient(g, a) + a["wd"] * at)
    new = w + a["momentum"] * (a["momentum"] * states[0] - step(w)) - step(w)
    return new, [a["momentum"] * states[0] - step(w)]


def _mp_nag(w, g, states, a):
    """The master copy is written before the momentum, which decays the new one."""
    new, _ = _nag(w, g, states, a)
    return new, [a["momentum"] * states[0] - a["lr"] * (_gradient(g, a) + a["wd"] * new)]


def _adam(w, g, states, a):
    g = _decayed(w, g, a)
    mean = a["beta1"] * states[0] + (1 - a["beta1"]) * g
    var = a["beta2"] * states[1] + (1 - a["beta2"]) * g ** 2
    return w - a["lr"] * mean / (np.sqrt(var) + a["epsilon"]), [mean, var]


def _ftml(w, g, states, a):
    d, v, z = states
    g, t = _decayed(w, g, a, "clip_grad"), a["t"]
    v = a["beta2"] * v + (1 - a["beta2"]) * g ** 2
    new_d = (1 - a["beta1"] ** t) / a["lr"] * (np.sqrt(v / (1 - a["beta2"] ** t)) + a["epsilon"])
    z = a["beta1"] * z + (1 - a["beta1"]) * g - (new_d - a["beta1"] * d) * w
    return -z / new_d, [new_d, v, z]


def _ftrl(w, g, states, a):
    z, n = states
    g = _gradient(g, a)
    z = z + g - (np.sqrt(n + g ** 2) - np.sqrt(n)) / a["lr"] * w
    n = n + g ** 2
    shrunk = np.sign(z) * np.maximum(np.abs(z) - a["lamda1"], 0)
    return -shrunk / ((a["beta"] + np.sqrt(n)) / a["lr"] + a["wd"]), [z, n]


def _weights_clipped(w, a):
    return _clipped(w, a["clip_weights"])


def _rmsprop(w, g, states, a):
    g = _decayed(w, g, a)
    n = a["gamma1"] * states[0] + (1 - a["gamma1"]) * g ** 2
    return _weights_clipped(w - a["lr"] * g / np.sqrt(n + a["epsilon"]), a), [n]


def _rmspropalex(w, g, states, a):
    n, average, delta = states
    g = _decayed(w, g, a)
    n = a["gamma1"] * n + (1 - a["gamma1"]) * g ** 2
    average = a["gamma1"] * average + (1 - a["gamma1"]) * g
    delta = a["gamma2"] * delta - a["lr"] * g / np.sqrt(n - average ** 2 + a["epsilon"])
    return _weights_clipped(w + delta, a), [n, average, delta]


def _signsgd(w, g, states, a):
    return (1 - a["lr"] * a["wd"]) * w - a["lr"] * np.sign(g), []


def _signum(w, g, states, a):
    mom = a["momentum"] * states[0] - (1 - a["momentum"]) * (_gradient(g, a) + a["wd"] * w)
    return (1 - a["lr"] * a["wd_lh"]) * w + a["lr"] * np.sign(mom), [mom]


def _adamw(w, g, states, a):
    g = _gradient(g, a)
    mean = a["beta1"] * states[0] + (1 - a["beta1"]) * g
    var = a["beta2"] * states[1] + (1 - a["beta2"]) * g ** 2
    step = a["lr"] * mean / (np.sqrt(var) + a["epsilon"]) + a["wd"] * w
    return w - a["eta"] * step, [mean, var]


def _lamb_direction(w, g, states, a):
    g = _gradient(g, a)
    mean = a["beta1"] * states[0] + (1 - a["beta1"]) * g
    var = a["beta2"] * states[1] + (1 - a["beta2"]) * g ** 2
    first, second = 1.0, 1.0
    if a["bias_correction"]:
        first, second = 1 - a["beta1"] ** a["t"], 1 - a["beta2"] ** a["t"]
    return mean / first / (np.sqrt(var / second) + a["epsilon"]) + a["wd"] * w, [mean, var]


def _trust(weight_norm, direction_norm, a):
    """LAMB's trust ratio: the weight's norm, kept in bounds, over the direction's."""
    if a["lower_bound"] >= 0:
        weight_norm = max(weight_norm, a["lower_bound"])
    if a["upper_bound"] >= 0:
        weight_norm = min(weight_norm, a["upper_bound"])
    return 1.0 if weight_norm == 0 or direction_norm == 0 else weight_norm / direction_norm


def _lamb(w, g, states, a):
    direction, states = _lamb_direction(w, g, states, a)
    # On a master copy the norm is that of the float16 weight.
    seen = w.astype(np.float16).astype(float) if a.get("master") else w
    ratio = _trust(np.linalg.norm(seen), np.linalg.norm(direction), a)
    return w - a["lr"] * ratio * direction, states


# What is drawn for each attribute: its range, and how often it is off (-1) where it can be.
_RANGES = {"lr": (0.01, 0.5), "wd": (0, 0.2), "momentum": (0, 0.95), "rescale_grad": (0.2, 2),
           "beta1": (0.1, 0.9), "beta2": (0.3, 0.99), "epsilon": (1e-4, 1e-2), "gamma1": (0.3, 0.95),
           "gamma2": (0.3, 0.95), "lamda1": (0.01, 0.5), "beta": (0.5, 2), "wd_lh": (0, 0.2),
           "eta": (0.3, 1.5), CLIP: (0.1, 1), "clip_grad": (0.1, 1), "clip_weights": (0.5, 1.5),
           "lower_bound": (0.5, 1), "upper_bound": (1, 3)}
_MAY_BE_OFF = (CLIP, "clip_grad", "clip_weights", "lower_bound", "upper_bound")

_SGD = ["lr", "wd", "rescale_grad", CLIP]
_ADAM = [*_SGD, "beta1", "beta2", "epsilon"]
_LAMB = ["wd", "rescale_grad", CLIP, "beta1", "beta2", "epsilon", "t", "bias_correction"]
_BOUNDS = ["lower_bound", "upper_bound"]


def _value(d, name):
    if name == "t":
        return d.integer(1, 9)
    if name == "bias_correction":
        return d.flag()
    if name in _MAY_BE_OFF and d.flag():
        return -1.0
    return d.number(*_RANGES[name])


def _values(d, names):
    return {name: _value(d, name) for name in names}


def _states(d, count, shape):
    """Positive, as sums of squares are; a mean's square must stay below the mean of squares."""
    return [d.uniform(shape, 0.3, 0.5) for _ in range(count)]


def _step(function, states, names):
    """A row on one weight, which writes its states."""
    def row(d):
        shape, attrs = d.shape(), _values(d, names)
        w, g, old = d.uniform(shape), d.uniform(shape), _states(d, states, shape)
        new, written = function(w, g, old, attrs)
        return [w, g, *old], attrs, [new], {2 + i: s for i, s in enumerate(written)}
    return row


def _half(x):
    return x.astype(np.float16)


def _single(arrays):
    return [x.astype(np.float32) for x in arrays]


def _master(d, function, states, attrs):
    """A float16 weight and its gradient, the states and the master copy in float32.

    Returns the inputs in that order, the new weight, and the new states and copy."""
    shape = d.shape()
    copy, = _single([d.uniform(shape)])
    w, g, old = _half(copy), _half(d.uniform(shape)), _single(_states(d, states, shape))
    new, written = function(*(x.astype(float) for x in (copy, g)), [s.astype(float) for s in old],
                            attrs)
    return [w, g, *old, copy], _half(new), _single([*written, new])


def _mp(function, states, names):
    def row(d):
        attrs = _values(d, names)
        inputs, new, written = _master(d, function, states, attrs)
        return inputs, attrs, [new], {2 + i: s for i, s in enumerate(written)}
    return row


def _mp_lamb_direction(d):
    """The direction is in float32; the master copy is only read."""
    attrs = _values(d, _LAMB)
    inputs, _, (mean, var, direction) = _master(d, _lamb_direction, 2, attrs)
    return inputs, attrs, [direction], {2: mean, 3: var}


def _phase2(single):
    def row(d):
        shape, attrs = d.shape(), _values(d, ["lr", *_BOUNDS])
        w, g = d.uniform(shape), d.uniform(shape)
        r1, r2 = (np.array([d.one_of(0.0, d.number(0.3, 4))]) for _ in range(2))
        if single:
            w, g, r1, r2 = _single([w, g, r1, r2])
        new = w - attrs["lr"] * _trust(float(r1[0]), float(r2[0]), attrs) * g.astype(float)
        if single:
            return [_half(w), g, r1, r2, w], attrs, [_half(new)], {4: new.astype(np.float32)}
        return [w, g, r1, r2], attrs, [new], {}
    return row


def _scaled(kind):
    """AdamW of a kind, _step or _mp. Its rescale_grad is an array, and one that is 0 or no finite
    number (the gradients overflowed) skips the step."""
    def row(d):
        attrs = _values(d, [*_ADAM, "eta"])
        skip = d.integer(0, 4) == 0
        step = kind(lambda w, g, s, _: (w, s) if skip else _adamw(w, g, s, attrs), 2, [])
        inputs, _, expected, written = step(d)
        rescale = np.array([attrs.pop("rescale_grad")])
        if skip:
            rescale[:] = d.one_of(0.0, np.inf, np.nan)
        return [*inputs, *_single([rescale])], attrs, expected, written
    return row


def _several(function, states, common, each, *, master=False, preloaded=False, last=None,
             count="num_weights"):
    """A row on several weights: their inputs one after the other, the attributes `each` as tuples."""
    def row(d):
        number, attrs = d.integer(1, 3), _values(d, common)
        inputs, expected, written = [], [], {}
        lists = {name: [] for name in each}
        for _ in range(number):
            own = _values(d, [name for name, _ in each.values()])
            for key, (name, _) in each.items():
                lists[key].append(own[name])
            first = len(inputs)
            if master:
                more, new, after = _master(d, function, states, {**attrs, **own, "master": True})
            else:
                shape = d.shape()
                w, g, old = d.uniform(shape), d.uniform(shape), _states(d, states, shape)
                more, (new, after) = [w, g, *old], function(w, g, old, {**attrs, **own})
            inputs += more
            expected.append(new)
            written.update({first + 2 + i: s for i, s in enumerate(after)})
        for key, (_, kind) in each.items():
            if preloaded:
                inputs.append(np.array(lists[key], np.float32))
            else:
                attrs[key] = tuple(kind(v) for v in lists[key])
        if last is not None:
            inputs.append(np.array([attrs.pop(last)], np.float32))
        return inputs, {**attrs, count: number}, expected, written
    return row


def _family(name, function, states, common, each, **more):
    """`name` with {} where the master copy's letters go."""
    return {name.format(""): _several(function, states, common, each, **more),
            name.format("mp_"): _several(function, states, common, each, master=True, **more)}


def _multi_sum_sq(d):
    arrays = [d.uniform(d.shape()) for _ in range(d.integer(1, 4))]
    total = np.array([np.square(x).sum() for x in arrays], np.float32)
    return arrays, {"num_arrays": len(arrays)}, [total]


def _multi_lars(d):
    n = d.integer(1, 5)
    lrs, wds = _single([d.uniform((n,), 0.01, 1), d.uniform((n,), 0, 0.1)])
    weights, grads = _single(
        d.uniform((n,), 0.1, 4) * d.integers((n,), 0, 3).clip(0, 1) for _ in range(2))
    eta, eps, rescale = d.number(0.01, 1), d.number(1e-6, 1e-2), d.number(0.3, 2)
    norm = np.sqrt(weights)
    rate = lrs * eta * norm / (rescale * np.sqrt(grads) + wds * norm + eps)
    return [lrs, weights, grads, wds], {"eta": eta, "eps": eps, "rescale_grad": rescale}, [
        np.where((weights > 0) & (grads > 0), rate, lrs).astype(np.float32)]


_RATES = {"lrs": ("lr", float), "wds": ("wd", float)}
_ONE = ["rescale_grad", CLIP]

ROWS = {
    "sgd_update": _step(_sgd, 0, _SGD), "mp_sgd_update": _mp(_sgd, 0, _SGD),
    "sgd_mom_update": _step(_sgd_mom, 1, [*_SGD, "momentum"]),
    "mp_sgd_mom_update": _mp(_sgd_mom, 1, [*_SGD, "momentum"]),
    "nag_mom_update": _step(_nag, 1, [*_SGD, "momentum"]),
    "mp_nag_mom_update": _mp(_mp_nag, 1, [*_SGD, "momentum"]),
    "adam_update": _step(_adam, 2, _ADAM),
    "ftml_update": _step(_ftml, 3, ["lr", "wd", "rescale_grad", "clip_grad", "beta1", "beta2",
                                    "epsilon", "t"]),
    "ftrl_update": _step(_ftrl, 2, [*_SGD, "lamda1", "beta"]),
    "rmsprop_update": _step(_rmsprop, 1, [*_SGD, "gamma1", "epsilon", "clip_weights"]),
    "rmspropalex_update": _step(_rmspropalex, 3, [*_SGD, "gamma1", "gamma2", "epsilon",
                                                  "clip_weights"]),
    "signsgd_update": _step(_signsgd, 0, _SGD),
    "signum_update": _step(_signum, 1, [*_SGD, "momentum", "wd_lh"]),
    "_adamw_update": _scaled(_step), "_mp_adamw_update": _scaled(_mp),
    "lamb_update_phase1": _step(_lamb_direction, 2, _LAMB),
    "mp_lamb_update_phase1": _mp_lamb_direction,
    "lamb_update_phase2": _phase2(False), "mp_lamb_update_phase2": _phase2(True),
    "multi_sum_sq": _multi_sum_sq, "multi_lars": _multi_lars,
    **_family("multi_{}sgd_update", _sgd, 0, _ONE, _RATES),
    **_family("multi_{}sgd_mom_update", _sgd_mom, 1, [*_ONE, "momentum"], _RATES),
    **_family("preloaded_multi_{}sgd_update", _sgd, 0, _ONE, _RATES, preloaded=True),
    **_family("preloaded_multi_{}sgd_mom_update", _sgd_mom, 1, [*_ONE, "momentum"], _RATES,
              preloaded=True),
    **_family("_multi_{}adamw_update", _adamw, 2, [*_ONE, "beta1", "beta2", "epsilon"],
              {**_RATES, "etas": ("eta", float)}, last="rescale_grad"),
    **_family("_multi_{}lamb_update", _lamb, 2,
              [*_ONE, "beta1", "beta2", "epsilon", "bias_correction", *_BOUNDS],
              {"learning_rates": ("lr", float), "wds": ("wd", float), "step_count": ("t", int)},
              count="num_tensors"),
}
GRADIENTS = {}
