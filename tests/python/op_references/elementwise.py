"""Functions of one number, of two, and of one and a constant."""
import math
from statistics import NormalDist

import numpy as np

_erf, _gamma, _lgamma = (np.vectorize(f, otypes=[float]) for f in (math.erf, math.gamma, math.lgamma))
_erfinv = np.vectorize(lambda x: NormalDist().inv_cdf((x + 1) / 2) / math.sqrt(2), otypes=[float])


def _half_away(x):
    return np.sign(x) * np.floor(np.abs(x) + 0.5)


# name: (function, lowest, highest argument)
UNARY = {
    "abs": (np.abs, -2, 2), "arccos": (np.arccos, -1, 1), "arccosh": (np.arccosh, 1, 9),
    "arcsin": (np.arcsin, -1, 1), "arcsinh": (np.arcsinh, -9, 9), "arctan": (np.arctan, -9, 9),
    "arctanh": (np.arctanh, -0.99, 0.99), "cbrt": (np.cbrt, -9, 9), "ceil": (np.ceil, -9, 9),
    "cos": (np.cos, -9, 9), "cosh": (np.cosh, -5, 5), "degrees": (np.degrees, -9, 9),
    "erf": (_erf, -3, 3), "erfinv": (_erfinv, 0.05, 0.99), "exp": (np.exp, -9, 9),
    "expm1": (np.expm1, -3, 3), "fix": (np.trunc, -9, 9), "floor": (np.floor, -9, 9),
    "gamma": (_gamma, 0.1, 9), "gammaln": (_lgamma, 2.5, 50), "log": (np.log, 0.01, 9),
    "log10": (np.log10, 0.01, 9), "log1p": (np.log1p, -0.9, 9), "log2": (np.log2, 0.01, 9),
    "logical_not": (lambda x: (x == 0) * 1.0, -2, 2), "negative": (np.negative, -9, 9),
    "radians": (np.radians, -9, 9), "rcbrt": (lambda x: 1 / np.cbrt(x), 0.1, 9),
    "reciprocal": (lambda x: 1 / x, 0.1, 9), "relu": (lambda x: np.maximum(x, 0), -2, 2),
    "rint": (np.rint, -9, 9), "round": (_half_away, -9, 9),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 0.1, 9), "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), -9, 9),
    "sign": (np.sign, -2, 2), "sin": (np.sin, -9, 9), "sinh": (np.sinh, -5, 5),
    "softsign": (lambda x: x / (1 + np.abs(x)), -5, 5), "sqrt": (np.sqrt, 0, 9),
    "square": (np.square, -9, 9), "tan": (np.tan, -1.4, 1.4), "tanh": (np.tanh, -3, 3),
    "trunc": (np.trunc, -9, 9), "ones_like": (np.ones_like, -1, 1),
    "zeros_like": (np.zeros_like, -1, 1), "identity": (np.copy, -1, 1), "BlockGrad": (np.copy, -1, 1),
    "make_loss": (np.copy, -1, 1), "MakeLoss": (np.copy, -1, 1),
}
_STEPS = {"abs", "ceil", "fix", "floor", "logical_not", "relu", "rint", "round", "sign", "trunc",
          "identity", "BlockGrad", "make_loss", "MakeLoss", "ones_like", "zeros_like"}


def _unary(function, low, high):
    def row(d):
        x = d.uniform(d.shape(), low, high)
        return [x], {}, [function(x)]
    return row


def _truth(function):
    return lambda a, b: function(a, b) * 1.0


# name: (function, lowest of the left, of the right operand; differentiable)
BINARY = {
    "add": (np.add, -2, -2, True), "sub": (np.subtract, -2, -2, True),
    "mul": (np.multiply, -2, -2, True), "div": (np.divide, -2, 0.5, True),
    "mod": (np.mod, -9, 0.5, False), "power": (np.power, 0.1, -2, True),
    "maximum": (np.maximum, -2, -2, False), "minimum": (np.minimum, -2, -2, False),
    "hypot": (np.hypot, 0.1, 0.1, True), "equal": (_truth(np.equal), -2, -2, False),
    "not_equal": (_truth(np.not_equal), -2, -2, False), "greater": (_truth(np.greater), -2, -2, False),
    "greater_equal": (_truth(np.greater_equal), -2, -2, False),
    "lesser": (_truth(np.less), -2, -2, False),
    "lesser_equal": (_truth(np.less_equal), -2, -2, False),
    "logical_and": (_truth(np.logical_and), -2, -2, False),
    "logical_or": (_truth(np.logical_or), -2, -2, False),
    "logical_xor": (_truth(np.logical_xor), -2, -2, False),
}
_DISCRETE = {"equal", "not_equal", "greater", "greater_equal", "lesser", "lesser_equal",
             "logical_and", "logical_or", "logical_xor"}


def _operand(d, name, shape, low):
    """Few different numbers where equality and zero matter."""
    return d.integers(shape, -1, 1) if name in _DISCRETE else d.uniform(shape, low, 3)


def _binary(name, broadcast):
    function, left, right, _ = BINARY[name]

    def row(d):
        shape = d.shape()
        shapes = [tuple(1 if broadcast and d.integer(0, 2) == 0 else n for n in shape)
                  for _ in range(2)]
        a = _operand(d, name, shapes[0], left)
        b = _operand(d, name, shapes[1], right)
        return [a, b], {}, [function(a, b)]
    return row


def _scalar(name, reverse):
    function, left, right, _ = BINARY[name]

    def row(d):
        low, low_scalar = (right, left) if reverse else (left, right)
        x = _operand(d, name, d.shape(), low)
        scalar = float(_operand(d, name, (), low_scalar))
        return [x], {"scalar": scalar}, [function(scalar, x) if reverse else function(x, scalar)]
    return row


def _clip(d):
    x = d.uniform(d.shape())
    low, high = sorted(d.number(-1.5, 1.5) for _ in range(2))
    return [x], {"a_min": low, "a_max": high}, [np.clip(x, low, high)]


def _smooth_l1(d):
    x, s = d.uniform(d.shape()), d.number(0.5, 3)
    near = np.abs(x) < 1 / s ** 2
    return [x], {"scalar": s}, [np.where(near, 0.5 * (s * x) ** 2, np.abs(x) - 0.5 / s ** 2)]


def _hard_sigmoid(d):
    x, alpha, beta = d.uniform(d.shape(), -5, 5), d.number(0.1, 1), d.number(0, 1)
    return [x], {"alpha": alpha, "beta": beta}, [np.clip(alpha * x + beta, 0, 1)]


def _add_n(d):
    shape = d.shape()
    inputs = [d.uniform(shape) for _ in range(d.integer(1, 6))]
    return inputs, {}, [sum(inputs)]


def _where(d):
    shape = d.shape()
    vector = d.flag()
    condition = d.integers(shape[:1] if vector else shape, 0, 1)
    x, y = d.uniform(shape), d.uniform(shape)
    chosen = condition.reshape(condition.shape + (1,) * (len(shape) - condition.ndim)) != 0
    return [condition, x, y], {}, [np.where(chosen, x, y)]


_SCALAR_NAMES = {"add": "plus", "sub": "minus"}

ROWS = {name: _unary(*entry) for name, entry in UNARY.items()}
GRADIENTS = {name: [0] for name in UNARY if name not in _STEPS}
for _name, (_, _, _, _smooth) in BINARY.items():
    _names = [("broadcast_" + _name, True)]
    if _name in ("add", "sub", "mul", "div"):
        _names.append(("elemwise_" + _name, False))
    else:
        _names.append(("_" + _name, False))
    for _full, _broadcast in _names:
        ROWS[_full] = _binary(_name, _broadcast)
        if _smooth:
            GRADIENTS[_full] = [0, 1]
    _scalar_name = _SCALAR_NAMES.get(_name, _name)
    ROWS[f"_{_scalar_name}_scalar"] = _scalar(_name, False)
    if _smooth:
        GRADIENTS[f"_{_scalar_name}_scalar"] = [0]
    if _name in ("sub", "div", "mod", "power"):
        ROWS[f"_r{_scalar_name}_scalar"] = _scalar(_name, True)
        if _smooth:
            GRADIENTS[f"_r{_scalar_name}_scalar"] = [0]
ROWS.update({"clip": _clip, "smooth_l1": _smooth_l1, "hard_sigmoid": _hard_sigmoid, "add_n": _add_n,
             "where": _where})
GRADIENTS.update({"add_n": None, "where": [1, 2]})
