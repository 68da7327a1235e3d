"""The elementwise families: every operator over ordinary values, special values and integers.

Names are `<operator>: <what>`. Ordinary values stay inside the domain and away from kinks.
"""
from golden import Case, Formula as F, Values as V

NAN, INF = float("nan"), float("inf")
UNIT = (-0.875, 0.875)

# operator -> (lo, hi) of ordinary values, and the special values worth pinning down
UNARY = {
    "relu": ((-3, 3), [0.0, -0.0, NAN, INF, -INF]),
    "sigmoid": ((-4, 4), [0.0, 40.0, -40.0, NAN, INF, -INF]),
    "hard_sigmoid": ((-4, 4), [0.0, 2.5, -2.5, NAN]),
    "softsign": ((-4, 4), [0.0, -0.0, NAN]),
    "exp": ((-3, 3), [0.0, 100.0, -200.0, NAN, INF, -INF]),
    "expm1": ((-3, 3), [0.0, 1e-6, NAN, INF, -INF]),
    "log": ((0.125, 4), [1.0, 0.0, -1.0, NAN, INF]),
    "log2": ((0.125, 4), [8.0, 0.0, -1.0, NAN, INF]),
    "log10": ((0.125, 4), [1000.0, 0.0, -1.0, NAN, INF]),
    "log1p": ((-0.875, 4), [0.0, 1e-6, -1.0, -2.0, NAN, INF]),
    "sqrt": ((0.125, 4), [0.0, -0.0, -1.0, NAN, INF]),
    "rsqrt": ((0.125, 4), [0.0, -1.0, NAN, INF]),
    "cbrt": ((0.125, 4), [8.0, -8.0, 0.0, NAN, INF]),
    "rcbrt": ((0.125, 4), [8.0, -8.0, 0.0, NAN, INF]),
    "square": ((-3, 3), [0.0, -0.0, NAN, INF, -INF]),
    "reciprocal": ((0.125, 4), [-2.0, 0.0, -0.0, NAN, INF]),
    "abs": ((-3, 3), [0.0, -0.0, NAN, INF, -INF]),
    "sign": ((-3, 3), [0.0, -0.0, NAN, INF, -INF]),
    "round": ((-3, 3), [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -0.25, NAN, INF]),
    "rint": ((-3, 3), [0.5, 1.5, 2.5, -0.5, -1.5, -2.5, -0.25, NAN, INF]),
    "ceil": ((-3, 3), [0.5, -0.5, 2.0, -2.0, NAN, INF]),
    "floor": ((-3, 3), [0.5, -0.5, 2.0, -2.0, NAN, INF]),
    "trunc": ((-3, 3), [0.5, -0.5, 2.0, -2.75, NAN, INF]),
    "fix": ((-3, 3), [0.5, -0.5, 2.0, -2.75, NAN, INF]),
    "negative": ((-3, 3), [0.0, -0.0, NAN, INF]),
    "sin": ((-3, 3), [0.0, -0.0, 100.0, NAN, INF]),
    "cos": ((-3, 3), [0.0, 100.0, NAN, INF]),
    "tan": ((-1.25, 1.25), [0.0, -0.0, 100.0, NAN, INF]),
    "arcsin": (UNIT, [1.0, -1.0, 0.0, 2.0, NAN]),
    "arccos": (UNIT, [1.0, -1.0, 0.0, 2.0, NAN]),
    "arctan": ((-3, 3), [0.0, -0.0, NAN, INF, -INF]),
    "sinh": ((-3, 3), [0.0, -0.0, NAN, INF]),
    "cosh": ((-3, 3), [0.0, NAN, INF]),
    "tanh": ((-3, 3), [0.0, -0.0, 20.0, -20.0, NAN, INF]),
    "arcsinh": ((-3, 3), [0.0, -0.0, 1e6, NAN, INF]),
    "arccosh": ((1.125, 4), [1.0, 0.5, 1e6, NAN, INF]),
    "arctanh": (UNIT, [0.0, 1.0, -1.0, 2.0, NAN]),
    "degrees": ((-3, 3), [0.0, NAN, INF]),
    "radians": ((-180, 180), [0.0, NAN, INF]),
    "erf": ((-2, 2), [0.0, -0.0, 6.0, -6.0, NAN, INF]),
    "erfinv": (UNIT, [0.0, 1.0, -1.0, 2.0, NAN]),
    "gamma": ((0.25, 4), [1.0, 5.0, -0.5, -1.5, NAN]),
    "gammaln": ((0.25, 4), [1.0, 2.0, 100.0, -0.5, NAN, INF]),
    "logical_not": ((-3, 3), [0.0, -0.0, NAN, INF]),
    "clip": ((-3, 3), [-1.0, 1.5, NAN, INF, -INF]),
    "smooth_l1": ((-3, 3), [0.25, -0.25, 0.0, NAN, INF]),
}
UNARY_ATTRS = {"clip": {"a_min": -1, "a_max": 1.5}, "smooth_l1": {"scalar": 2}}
# MXNet computes these in float64 with constants or helpers of float32: nothing to learn from
IMPRECISE = ("degrees", "radians", "erf", "erfinv", "gamma", "gammaln")
INTEGER = [16777217, -16777219, 2147483647, 7, -7, 0]
UNARY_INTEGER = ["relu", "square", "abs", "sign", "round", "rint", "ceil", "floor", "trunc", "fix",
                 "negative", "logical_not"]

# the word used in all three binary families, and how each spells it
BINARY = {
    "add": ("elemwise_add", "_plus_scalar", None),
    "sub": ("elemwise_sub", "_minus_scalar", "_rminus_scalar"),
    "mul": ("elemwise_mul", "_mul_scalar", None),
    "div": ("elemwise_div", "_div_scalar", "_rdiv_scalar"),
    "mod": ("_mod", "_mod_scalar", "_rmod_scalar"),
    "power": ("_power", "_power_scalar", "_rpower_scalar"),
}
for word in ("maximum", "minimum", "hypot", "equal", "not_equal", "greater", "greater_equal",
             "lesser", "lesser_equal", "logical_and", "logical_or", "logical_xor"):
    BINARY[word] = ("_" + word, "_%s_scalar" % word, None)

# pairs with ties, zeros, signs and NaN; power keeps away from 0 in its base
PAIRS = [(1.0, 1.0), (0.0, 0.0), (-0.0, 0.0), (2.0, -3.0), (-2.0, 3.0), (-2.0, -3.0), (7.5, 2.0),
         (-7.5, 2.0), (7.5, -2.0), (1.0, 0.0), (0.0, 2.0), (NAN, 1.0), (1.0, NAN), (INF, 2.0),
         (-INF, INF), (1.0, INF)]
INTEGER_PAIRS = [(7, 2), (-7, 2), (7, -2), (-7, -2), (16777217, 1), (3, 3), (0, 5)]
# MXNet broadcasts equal ranks only
SHAPES = [((2, 1, 3), (2, 4, 1)), ((2, 3, 2), (1, 1, 2)), ((1, 3), (2, 1)), ((4, 1), (1, 1))]


def unary():
    for op, ((lo, hi), special) in UNARY.items():
        attrs = UNARY_ATTRS.get(op, {})
        yield Case(op, op, attrs, {"data": F(3, 4, lo=lo, hi=hi)}, train=(True,))
        if op not in IMPRECISE:
            yield Case(op, op + ": float64", attrs,
                       {"data": F(2, 5, lo=lo, hi=hi, dtype="float64")}, train=(True,))
        yield Case(op, op + ": special values", attrs, {"data": V(special)}, train=(True,))
        if op in UNARY_INTEGER:
            values = [7, -7, 0, 4097] if op == "square" else INTEGER
            yield Case(op, op + ": int32", attrs, {"data": V(values, "int32")}, train=(False,),
                       req="null")
    yield Case("hard_sigmoid", "hard_sigmoid: alpha and beta", {"alpha": 0.5, "beta": 0.25},
               {"data": F(3, 4, lo=-3, hi=3)}, train=(True,))
    yield Case("relu", "relu: add", {}, {"data": F(3, 4)}, train=(True,), req="add")


def bounds(word):
    """Ordinary values: positive where a power or a root needs it, never 0 as a divisor."""
    return (0.25, 3) if word in ("power", "div", "mod") else (-3, 3)


def pair(word, left, right, dtype="float32"):
    lo, hi = bounds(word)
    return {"lhs": F(*left, lo=lo, hi=hi, dtype=dtype), "rhs": F(*right, lo=lo, hi=hi, dtype=dtype)}


def values(pairs, dtype="float32"):
    return {"lhs": V([p[0] for p in pairs], dtype), "rhs": V([p[1] for p in pairs], dtype)}


def binary():
    for word, (op, _, _) in BINARY.items():
        for name in (op, "broadcast_" + word):
            yield Case(name, name, {}, pair(word, (3, 4), (3, 4)), train=(True,))
            yield Case(name, name + ": float64", {},
                       pair(word, (2, 3), (2, 3), "float64"), train=(True,))
            yield Case(name, name + ": special values", {}, values(PAIRS), train=(True,))
            if word not in ("power", "hypot"):
                yield Case(name, name + ": int32", {}, values(INTEGER_PAIRS, "int32"),
                           train=(False,), req="null")
        for left, right in SHAPES:
            yield Case("broadcast_" + word, "broadcast_%s: %s and %s" % (word, left, right), {},
                       pair(word, left, right), train=(True,))
        # in MXNet elemwise_add's second gradient is wrong when both are added to
        req = {"lhs": "add"} if word == "add" else "add"
        yield Case(op, op + ": add", {}, pair(word, (2, 3), (2, 3)), train=(True,), req=req)


def scalar():
    for word, (_, plain, reverse) in BINARY.items():
        lo, hi = bounds(word)
        for op in filter(None, (plain, reverse)):
            for value in (1.5, 2, 0.5):
                yield Case(op, "%s: %s" % (op, value), {"scalar": value},
                           {"data": F(3, 4, lo=lo, hi=hi)}, train=(True,))
            yield Case(op, op + ": -2", {"scalar": -2},
                       {"data": V([-3.5, -2.0, -1.0, 0.0, -0.0, 1.0, 2.5, NAN, INF])},
                       train=(True,))
            yield Case(op, op + ": 0", {"scalar": 0},
                       {"data": V([-3.5, -1.0, 0.0, -0.0, 1.0, 2.5, NAN, INF])}, train=(True,))
            yield Case(op, op + ": float64, a scalar not exact in float32", {"scalar": 0.3},
                       {"data": F(2, 3, lo=lo, hi=hi, dtype="float64")}, train=(True,))
            if word != "hypot" and not op.startswith(("_rpower", "_rdiv", "_rmod")):
                for value in (1.5, 2.0) + (() if word == "power" else (-3.0,)):
                    yield Case(op, "%s: int32 and %s" % (op, value), {"scalar": value},
                               {"data": V([7, -7, 2, 0], "int32")}, train=(False,), req="null")


def all_cases():
    return list(unary()) + list(binary()) + list(scalar())
