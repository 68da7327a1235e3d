"""Indices, stretching and cutting, norms and positions: the attribute sets recorded for each."""
from cases_shape import one
from golden import Case, Formula as F, Values as V

NAN, INF = float("nan"), float("inf")


def norms():
    sets = [
        ("all", (2, 3, 4), {}), ("all, keepdims", (2, 3), {"keepdims": True}),
        ("axis 1", (2, 3, 4), {"axis": 1}), ("axis -1, keepdims", (2, 3, 4),
                                             {"axis": -1, "keepdims": True}),
        ("axes (0, 2)", (2, 3, 4), {"axis": (0, 2)}),
        ("ord 1", (2, 3, 4), {"ord": 1}), ("ord 1, axis 0", (4, 3), {"ord": 1, "axis": 0}),
        ("ord 1, axes (1, 2), keepdims", (2, 3, 2), {"ord": 1, "axis": (1, 2), "keepdims": True}),
    ]
    cases = [one("norm", name, shape, attrs) for name, shape, attrs in sets]
    cases += [
        one("norm", "float64", (3, 4), {"axis": 1}, dtype="float64"),
        one("norm", "add", (3, 2), {"axis": 1}, req="add"),
        one("norm", "1-D", (7,), {"axis": 0}),
        Case("norm", "a row of zeros", {"axis": 1}, {"data": V([[0, 0, 0], [3, 4, 0]])},
             train=(False,)),
        Case("norm", "special values", {"axis": 1}, {"data": V([[NAN, 1], [INF, 0], [-INF, 2]])},
             train=(False,)),
    ]
    return cases


def products():
    """prod, and the two that skip NaN."""
    holes = V([[NAN, 2.0, 3.0], [0.5, NAN, -4.0], [1.5, 2.5, -1.0]])
    cases = []
    for op in ("prod", "nansum", "nanprod"):
        cases += [
            one(op, "all", (2, 3)), one(op, "axis 1", (2, 3, 4), {"axis": 1}),
            one(op, "axes (0, 2), keepdims", (2, 3, 2), {"axis": (0, 2), "keepdims": True}),
            one(op, "exclude 1", (2, 3, 2), {"axis": 1, "exclude": True}),
            one(op, "float64, axis -1", (2, 4), {"axis": -1}, dtype="float64"),
            Case(op, "with NaN", {"axis": 1}, {"data": holes}, train=(op != "prod",)),
            Case(op, "with NaN, all", {}, {"data": holes}, train=(False,)),
        ]
    return cases


def positions():
    ties = V([[1, 3, 3, 2], [-1, -2, -2, -1], [0, 0, 0, 0]])
    sets = [("all", (2, 3, 4), {}), ("axis 0", (4, 3), {"axis": 0}),
            ("axis 1, keepdims", (2, 3, 4), {"axis": 1, "keepdims": True}),
            ("axis -1", (2, 3, 4), {"axis": -1}), ("1-D", (6,), {"axis": 0})]
    cases = []
    for op in ("argmax", "argmin"):
        cases += [one(op, name, shape, attrs, req="null") for name, shape, attrs in sets]
        cases += [
            one(op, "float64", (3, 5), {"axis": 1}, dtype="float64", req="null"),
            Case(op, "ties: the first", {"axis": 1}, {"data": ties}, train=(False,), req="null"),
            Case(op, "int32", {"axis": 1}, {"data": V([[3, 9, -4], [-7, -9, 0]], "int32")},
                 train=(False,), req="null"),
        ]
    op = "argmax_channel"
    cases += [
        one(op, "2-D", (3, 5), req="null"), one(op, "2-D, one column", (4, 1), req="null"),
        one(op, "3-D", (2, 3, 4), req="null"),
        one(op, "float64", (2, 6), dtype="float64", req="null"),
        Case(op, "ties: the first", {}, {"data": ties}, train=(False,), req="null"),
    ]
    return cases


def stretches():
    cases = [
        one("broadcast_to", "(2, 3)", (1, 3), {"shape": (2, 3)}),
        one("broadcast_to", "0 keeps", (2, 1, 3), {"shape": (0, 4, 0)}),
        one("broadcast_to", "every axis", (1, 1, 1), {"shape": (2, 3, 2)}),
        one("broadcast_to", "nothing to do", (2, 3), {"shape": (2, 3)}),
        one("broadcast_to", "float64, add", (3, 1), {"shape": (3, 4)}, dtype="float64", req="add"),
        one("broadcast_axis", "axis 1", (2, 1, 3), {"axis": 1, "size": 4}),
        one("broadcast_axis", "axes (0, 2)", (1, 3, 1), {"axis": (0, 2), "size": (2, 4)}),
        one("broadcast_axis", "axes (2, 0), unordered", (1, 2, 1), {"axis": (2, 0), "size": (3, 2)}),
        one("broadcast_axis", "size 1", (2, 1), {"axis": 1, "size": 1}),
        one("broadcast_axis", "float64, add", (1, 3), {"axis": 0, "size": 2}, dtype="float64",
            req="add"),
        one("tile", "(2, 3)", (2, 2), {"reps": (2, 3)}),
        one("tile", "fewer reps than axes", (2, 3, 2), {"reps": (2,)}),
        one("tile", "more reps than axes", (2, 3), {"reps": (2, 1, 2)}),
        one("tile", "once", (3, 2), {"reps": (1, 1)}),
        one("tile", "float64", (3,), {"reps": (4,)}, dtype="float64"),
        one("tile", "add", (2, 2), {"reps": (1, 3)}, req="add"),
        one("repeat", "flattened", (2, 3), {"repeats": 2}),
        one("repeat", "axis 0", (2, 3), {"repeats": 3, "axis": 0}),
        one("repeat", "axis 1 of 3-D", (2, 3, 2), {"repeats": 2, "axis": 1}),
        one("repeat", "axis -1", (2, 2, 3), {"repeats": 2, "axis": -1}),
        one("repeat", "float64", (2, 2), {"repeats": 2, "axis": 1}, dtype="float64"),
        one("repeat", "add", (2, 2), {"repeats": 2, "axis": 0}, req="add"),
    ]

    def like(op, name, left, right, attrs=None, names=("lhs", "rhs"), **more):
        return Case(op, name, attrs, {names[0]: F(*left), names[1]: F(*right)}, train=(True,),
                    **more)

    cases += [
        like("broadcast_like", "all axes", (1, 3, 1), (2, 3, 4)),
        like("broadcast_like", "equal shapes", (2, 3), (2, 3)),
        like("broadcast_like", "given axes", (1, 2, 1), (5, 4, 3),
             {"lhs_axes": (0, 2), "rhs_axes": (1, 2)}),
        like("broadcast_like", "other rank", (2, 1), (3, 1, 4),
             {"lhs_axes": (1,), "rhs_axes": (-1,)}),
        like("broadcast_like", "one axis by negative number", (3, 1), (2, 5),
             {"lhs_axes": (-1,), "rhs_axes": (1,)}),
        like("broadcast_like", "add", (1, 2), (3, 2), req={"lhs": "add"}),
        like("reshape_like", "all axes", (2, 6), (3, 4)),
        like("reshape_like", "other rank", (2, 3, 2), (4, 3)),
        like("reshape_like", "axes 0 to 2 of lhs", (6, 2, 5), (3, 4, 7),
             {"lhs_begin": 0, "lhs_end": 2, "rhs_begin": 0, "rhs_end": 2}),
        like("reshape_like", "the last axis becomes two", (5, 6), (2, 3),
             {"lhs_begin": 1, "lhs_end": "None", "rhs_begin": 0, "rhs_end": "None"}),
        like("reshape_like", "negative ends", (2, 3, 4), (6, 9),
             {"lhs_begin": 0, "lhs_end": -1, "rhs_begin": -2, "rhs_end": -1}),
        like("reshape_like", "add", (2, 3), (3, 2), req={"lhs": "add"}),
    ]
    cut = dict(names=("data", "shape_like"))
    cases += [
        like("slice_like", "all axes", (4, 5), (2, 3), **cut),
        like("slice_like", "axis 1", (3, 5, 2), (9, 2, 7), {"axes": (1,)}, **cut),
        like("slice_like", "axes (0, -1)", (4, 2, 5), (3, 9, 2), {"axes": (0, -1)}, **cut),
        like("slice_like", "axes (2, 1), unordered", (2, 4, 5), (7, 3, 2), {"axes": (2, 1)}, **cut),
        like("slice_like", "nothing cut", (2, 3), (2, 3), **cut),
        like("slice_like", "add", (3, 4), (2, 2), req={"data": "add"}, **cut),
    ]
    return cases


def axes():
    """squeeze and stack: axes of extent 1 dropped and made."""
    cases = [
        one("squeeze", "all", (1, 3, 1, 2)), one("squeeze", "axis 0", (1, 3, 1), {"axis": 0}),
        one("squeeze", "axis -1", (2, 1, 3, 1), {"axis": -1}),
        one("squeeze", "axes (0, 2)", (1, 3, 1, 1), {"axis": (0, 2)}),
        one("squeeze", "axes (-1, 1), unordered", (2, 1, 3, 1), {"axis": (-1, 1)}),
        one("squeeze", "nothing to drop", (2, 3)),
        one("squeeze", "one element", (1, 1, 1)),
        one("squeeze", "float64, add", (2, 1), dtype="float64", req="add"),
    ]

    def stack(name, shape, count, axis=None, dtype="float32", **more):
        return Case("stack", name, {} if axis is None else {"axis": axis},
                    {"arg%d" % i: F(*shape, dtype=dtype) for i in range(count)}, train=(True,),
                    **more)

    cases += [
        stack("axis 0 by default", (2, 3), 3), stack("axis 1", (2, 3), 2, 1),
        stack("axis -1", (2, 3), 4, -1), stack("the last place", (2, 2, 2), 2, 3),
        stack("one input", (3,), 1), stack("vectors", (4,), 3, 1),
        stack("float64", (2, 2), 2, -2, dtype="float64"),
        stack("mixed requests", (2, 2), 3, 1, req={"arg0": "add", "arg1": "null"}),
    ]
    return cases


def pads():
    sets = [
        ("constant 0", (2, 3, 2, 3), {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 1, 1, 1)}),
        ("constant 2.5, uneven", (1, 2, 2, 2),
         {"mode": "constant", "constant_value": 2.5, "pad_width": (0, 0, 0, 0, 1, 2, 0, 3)}),
        ("edge", (2, 1, 2, 3), {"mode": "edge", "pad_width": (0, 0, 0, 0, 1, 2, 2, 1)}),
        ("reflect", (1, 2, 3, 4), {"mode": "reflect", "pad_width": (0, 0, 0, 0, 2, 1, 1, 3)}),
        ("constant, 5-D", (1, 2, 2, 2, 2),
         {"mode": "constant", "pad_width": (0, 0, 0, 0, 1, 0, 0, 1, 1, 1)}),
        ("edge, 5-D", (1, 1, 2, 2, 3),
         {"mode": "edge", "pad_width": (0, 0, 0, 0, 1, 1, 0, 2, 1, 0)}),
        ("reflect, 5-D", (1, 1, 3, 2, 3),
         {"mode": "reflect", "pad_width": (0, 0, 0, 0, 2, 1, 1, 1, 0, 2)}),
        ("nothing to do", (1, 1, 2, 2), {"mode": "constant", "pad_width": (0,) * 8}),
    ]
    return [one("Pad", name, shape, attrs) for name, shape, attrs in sets] + [
        one("Pad", "float64, edge", (1, 1, 3, 2), sets[2][2], dtype="float64")]


def takes():
    def take(name, shape, indices, attrs=None, index_dtype="float32", dtype="float32", **more):
        return Case("take", name, attrs, {"a": F(*shape, dtype=dtype),
                                          "indices": V(indices, index_dtype)},
                    train=(True,), req=more.pop("req", {"indices": "null"}), **more)

    far = [-7, -1, 0, 3, 4, 9]
    cases = [
        take("axis 0", (4, 3), [0, 2, 2, 3]), take("axis 1", (2, 5), [4, 0], {"axis": 1}),
        take("axis -1, 2-D indices", (2, 3, 4), [[0, 3], [1, 1]], {"axis": -1}),
        take("middle axis", (2, 3, 2), [[2], [0]], {"axis": 1}),
        take("clip by default", (4, 2), far), take("wrap", (4, 2), far, {"mode": "wrap"}),
        take("wrap, axis 1", (2, 4), far, {"axis": 1, "mode": "wrap"}),
        take("int32 indices", (4, 3), [1, 3], index_dtype="int32"),
        take("float64", (3, 2), [2, 0, 2], dtype="float64"),
        take("1-D", (5,), [4, 4, 1]), take("add", (3, 2), [1, 1, 0],
                                           req={"a": "add", "indices": "null"}),
    ]

    def pick(name, shape, index, attrs=None, dtype="float32", index_dtype="float32", req=None):
        return Case("pick", name, attrs, {"data": F(*shape, dtype=dtype),
                                          "index": V(index, index_dtype)}, train=(True,),
                    req=req or {"index": "null"})

    cases += [
        pick("last axis", (3, 4), [0, 3, 1]), pick("axis 0", (3, 4), [2, 0, 1, 1], {"axis": 0}),
        pick("keepdims", (3, 4), [[1], [0], [3]], {"keepdims": True}),
        pick("axis 1 of 3-D", (2, 3, 2), [[0, 2], [1, 1]], {"axis": 1}),
        pick("clip by default", (4, 3), [-2, 5, 0, 2]),
        pick("wrap", (4, 3), [-2, 5, 0, 3], {"mode": "wrap"}),
        pick("int32 index", (3, 4), [0, 3, 1], index_dtype="int32"),
        pick("float64", (2, 5), [4, 2], dtype="float64"),
        pick("add", (2, 3), [2, 0], req={"data": "add", "index": "null"}),
    ]

    def one_hot(name, indices, attrs, dtype="float32"):
        return Case("one_hot", name, attrs, {"indices": V(indices, dtype)}, train=(False,),
                    req="null")

    cases += [
        one_hot("plain", [1, 0, 2], {"depth": 3}),
        one_hot("2-D", [[1, 0], [2, 1]], {"depth": 3}),
        one_hot("out of range gives no place", [-1, 3, 5, 1], {"depth": 3}),
        one_hot("on and off", [0, 2], {"depth": 3, "on_value": 8.5, "off_value": -1.5}),
        one_hot("to int32", [1, 1], {"depth": 2, "dtype": "int32"}),
        one_hot("to float64, from int32", [2, 0], {"depth": 4, "dtype": "float64"}, "int32"),
    ]
    return cases


def wheres():
    def where(name, condition, shape, dtype="float32", **more):
        return Case("where", name, {}, {"condition": condition, "x": F(*shape, dtype=dtype),
                                        "y": F(*shape, dtype=dtype)}, train=(True,),
                    req=more.pop("req", {"condition": "null"}), **more)

    return [
        where("elements", V([[1, 0, 2], [0, -1, 0]]), (2, 3)),
        where("rows", V([1, 0, 0.5]), (3, 2, 2)),
        where("int32 condition", V([[0, 1], [3, 0]], "int32"), (2, 2)),
        where("float64", V([[0, 1], [1, 0]], "float64"), (2, 2), dtype="float64"),
        where("all", V([1, 1, 1]), (3,)), where("none", V([0, 0, 0]), (3,)),
        where("mixed requests", V([1, 0, 1]), (3,), req={"condition": "null", "x": "add"}),
    ]


def mixed_precision():
    """SGD on float16 weights with a float32 copy."""
    shape = (3, 5)
    sets = [
        ("plain", {"lr": 0.1}), ("wd", {"lr": 0.1, "wd": 0.01}),
        ("rescale", {"lr": 0.05, "wd": 0.0001, "rescale_grad": 0.125}),
        ("clip after rescale", {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 1.0}),
        ("clip 0 clips to nothing", {"lr": 0.1, "wd": 0.01, "clip_gradient": 0.0}),
    ]
    cases = []
    for name, attrs in sets:
        for op in ("mp_sgd_update", "mp_sgd_mom_update"):
            inputs = {"weight": F(*shape, dtype="float16"),
                      "grad": F(*shape, lo=-4, hi=4, dtype="float16")}
            if op == "mp_sgd_mom_update":
                inputs["mom"] = F(*shape, lo=-0.5, hi=0.5)
                attrs = dict(attrs, momentum=0.9)
            inputs["weight32"] = F(*shape)
            cases.append(Case(op, name, attrs, inputs,
                              out=["weight"] + [k for k in ("mom", "weight32") if k in inputs],
                              repeat=2))
    return cases


def heads():
    """make_loss is a head with or without a head gradient. (MXNet cannot bind _copyto.)"""
    return [one("make_loss", "float64", (2, 3), dtype="float64", heads=None),
            one("make_loss", "3-D", (2, 1, 3), heads=None),
            one("make_loss", "head gradient given", (2, 3)),
            one("make_loss", "add", (4,), heads=None, req="add")]


def ranges():
    """The elementwise operators that have attributes, beyond their sets in families.json."""
    grid = V([-3.0, -1.5, -0.75, -0.25, 0.0, 0.25, 0.75, 1.5, 3.0])
    cases = []
    for lo, hi in ((-1, 1), (0, 2.5), (-0.5, "inf"), ("-inf", 0.5), (1, 1)):
        cases.append(Case("clip", "%s to %s" % (lo, hi), {"a_min": lo, "a_max": hi},
                          {"data": grid}, train=(True,)))
    cases.append(Case("clip", "int32", {"a_min": -2, "a_max": 5},
                      {"data": V([-7, -2, 0, 5, 9], "int32")}, train=(False,), req="null"))
    # no "add": MXNet's clip overwrites what was there
    cases.append(one("clip", "float64", (3, 4), {"a_min": -0.5, "a_max": 0.25}, dtype="float64"))
    for scalar in (0.5, 1, 2, 3):
        cases.append(Case("smooth_l1", "scalar %s" % scalar, {"scalar": scalar}, {"data": grid},
                          train=(True,)))
    cases.append(one("smooth_l1", "float64", (3, 4), {"scalar": 1.5}, dtype="float64"))
    for alpha, beta in ((0.2, 0.5), (0.5, 0), (1, 0.25), (0.125, 0.75)):
        cases.append(Case("hard_sigmoid", "alpha %s, beta %s" % (alpha, beta),
                          {"alpha": alpha, "beta": beta}, {"data": F(3, 4, lo=-4, hi=4)},
                          train=(True,)))
    return cases



ALL = [norms, products, positions, stretches, axes, pads, takes, wheres, mixed_precision, heads,
       ranges]
