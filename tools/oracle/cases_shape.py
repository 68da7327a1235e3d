"""Shapes, reductions, sources and copies: the attribute sets recorded for each."""
from golden import Case, Formula as F, Values as V


def one(op, name, shape, attrs=None, dtype="float32", **more):
    """A case with one formula input called data, forward and backward."""
    return Case(op, name, attrs, {"data": F(*shape, dtype=dtype)}, train=(True,), **more)


def flatten():
    return [
        one("Flatten", "2-D", (3, 4)),
        one("Flatten", "3-D", (2, 3, 4)),
        one("Flatten", "4-D", (2, 3, 2, 2)),
        one("Flatten", "1-D becomes a column", (5,)),
        one("Flatten", "float64", (2, 2, 3), dtype="float64"),
        one("Flatten", "add", (2, 2, 2), req="add"),
    ]


def reshape():
    # No -1 after -2 or -4: MXNet computes those wrongly (operators.md 2.5).
    sets = [
        ((2, 3, 4), "(4, 6)", {}), ((2, 3, 4), "(4, -1)", {}), ((2, 3, 4), "(-1,)", {}),
        ((2, 3, 4), "(0, -1)", {}), ((2, 3, 4), "(4, 0, 2)", {}), ((2, 3, 4), "(0, 0, 0)", {}),
        ((2, 3, 4), "(-1, 0, 0)", {}), ((2, 3, 4), "(6, 1, -1)", {}), ((2, 3, 4), "(3, -1, 8)", {}),
        ((2, 3, 4), "(-2,)", {}), ((2, 3, 4), "(2, -2)", {}), ((2, 3, 4), "(-2, 1, 1)", {}),
        ((2, 3, 4), "(-3, 4)", {}), ((2, 3, 4, 5), "(-3, -3)", {}), ((2, 3, 4), "(0, -3)", {}),
        ((2, 3, 4), "(-3, -2)", {}), ((2, 3, 4), "(-4, 1, 2, -2)", {}),
        ((2, 3, 4), "(2, -4, -1, 3, -2)", {}), ((2, 3, 4), "(-4, -1, 2, 3, 4)", {}),
        ((2, 6, 4), "(0, -4, 2, 3, 0)", {}), ((2, 4, 3), "(0, -4, -1, 2, -2)", {}),
        ((8, 3), "(-4, 2, -1, 0)", {}),
        ((10, 5, 4), "(-1, 0)", {}), ((10, 5, 4), "(-1, 0)", {"reverse": True}),
        ((2, 3, 4), "(-3, 0)", {"reverse": True}), ((2, 3, 4), "(0, -1)", {"reverse": True}),
        ((2, 3, 4), "(6, 0)", {"reverse": True}), ((2, 3, 5, 4), "(-1, 0, 0)", {"reverse": True}),
        ((6,), "(1, 2, 3)", {}), ((1, 1, 6), "(-1,)", {}), ((2, 3), "(0, 0, 1)", {}),
    ]
    cases = []
    for shape, codes, more in sets:
        name = "%s to %s%s" % (shape, codes, " reverse" if more else "")
        cases.append(one("Reshape", name, shape, dict(more, shape=codes)))
    cases += [
        one("Reshape", "target_shape", (2, 3, 4), {"target_shape": "(6, 4)"}),
        one("Reshape", "target_shape with 0 infers", (2, 3, 4), {"target_shape": "(0, 4)"}),
        one("Reshape", "target_shape, keep_highest", (2, 3, 4),
            {"target_shape": "(0, 12)", "keep_highest": True}),
        one("Reshape", "target_shape, keep_highest, infers", (2, 3, 4),
            {"target_shape": "(0, 0, 2)", "keep_highest": True}),
        one("Reshape", "float64", (2, 6), {"shape": "(3, 4)"}, dtype="float64"),
        one("Reshape", "add", (2, 3), {"shape": "(3, 2)"}, req="add"),
    ]
    return cases


def concat():
    def case(name, shapes, dim=None, dtype="float32", op="Concat", **more):
        attrs = {} if dim is None else {"dim": dim}
        return Case(op, name, attrs,
                    {"arg%d" % i: F(*s, dtype=dtype) for i, s in enumerate(shapes)},
                    train=(True,), **more)

    return [
        case("axis 1 by default", [(2, 3), (2, 1), (2, 4)]),
        case("axis 0", [(1, 3), (3, 3)], 0),
        case("last axis, 3-D", [(2, 2, 3), (2, 2, 1)], 2),
        case("dim -1", [(2, 3, 1), (2, 3, 2)], -1),
        case("dim -2", [(2, 3, 2), (2, 1, 2)], -2),
        case("one input", [(2, 3)]),
        case("1-D", [(3,), (2,), (1,)], 0),
        case("4-D channels, 16 and 8", [(1, 16, 2, 2), (1, 8, 2, 2)], 1),
        case("float64", [(2, 2), (2, 3)], 1, dtype="float64"),
        case("mixed requests", [(2, 2), (2, 3), (2, 1)], 1, req={"arg0": "add", "arg1": "null"}),
        case("vectors", [(3,), (2,), (6,)], 0, op="_rnn_param_concat"),
        case("one input", [(4,)], 0, op="_rnn_param_concat"),
        case("mixed requests", [(2,), (3,), (1,)], 0, op="_rnn_param_concat",
             req={"arg0": "add", "arg1": "null"}),
        case("float64", [(2,), (3,)], 0, dtype="float64", op="_rnn_param_concat"),
        case("four", [(2,), (3,), (1,), (5,)], 0, op="_rnn_param_concat"),
        case("matrices", [(2, 3), (1, 3)], 0, op="_rnn_param_concat"),
        case("matrices by default", [(2, 3), (2, 1)], op="_rnn_param_concat"),
    ]


def reductions():
    sets = [
        ("all", (2, 3, 4), {}),
        ("all, keepdims", (2, 3, 4), {"keepdims": True}),
        ("axis 1", (2, 3, 4), {"axis": 1}),
        ("axis 0 of 1-D", (5,), {"axis": 0}),
        ("axis -1, keepdims", (2, 3, 4), {"axis": -1, "keepdims": True}),
        ("axes (0, 2)", (2, 3, 4), {"axis": (0, 2)}),
        ("axes (2, 0), unordered", (2, 3, 4), {"axis": (2, 0)}),
        ("axes (-1, -2), keepdims", (2, 3, 4), {"axis": (-1, -2), "keepdims": True}),
        ("exclude 1", (2, 3, 4), {"axis": 1, "exclude": True}),
        ("exclude (0, -1), keepdims", (2, 3, 4),
         {"axis": (0, -1), "exclude": True, "keepdims": True}),
        ("axis ()", (2, 3), {"axis": "()"}),
        ("axis None", (2, 3), {"axis": "None"}),
        ("4-D, spatial", (2, 3, 4, 4), {"axis": (2, 3)}),
        ("size one axis", (3, 1, 2), {"axis": 1}),
    ]
    ties = V([[1, 3, 3, 2], [-1, -1, -2, -1], [0, 0, 0, 0]])
    special = V([["nan", 1, 2], [1, "inf", 0], ["-inf", 0, 1]])
    cases = []
    for op in ("sum", "mean", "max", "min"):
        cases += [one(op, name, shape, attrs) for name, shape, attrs in sets]
        cases += [
            one(op, "float64", (3, 4), {"axis": 1}, dtype="float64"),
            one(op, "float64, all", (3, 4), dtype="float64"),
            Case(op, "ties", {"axis": 1}, {"data": ties}, train=(True,)),
            Case(op, "ties, all", {}, {"data": ties}, train=(True,)),
            Case(op, "special values", {"axis": 1}, {"data": special}, train=(False,)),
            Case(op, "int32", {"axis": 1}, {"data": V([[1, 2, 4], [-7, 3, 1]], "int32")},
                 train=(False,), req="null"),
            one(op, "large", (40, 50), {"axis": 0}),
        ]
        if op != "mean":  # MXNet's mean divides what was there before, too
            cases.append(one(op, "add", (3, 2), {"axis": 1}, req="add"))
    return cases


def transposes():
    cases = [
        one("transpose", "2-D", (3, 4)),
        one("transpose", "3-D, reversed by default", (2, 3, 4)),
        one("transpose", "1-D", (5,)),
        one("transpose", "float64", (2, 3, 2), {"axes": (1, 2, 0)}, dtype="float64"),
        one("transpose", "add", (2, 3), req="add"),
        one("transpose", "5-D", (2, 1, 3, 2, 2), {"axes": (4, 0, 2, 1, 3)}),
        one("transpose", "large", (33, 47)),
    ]
    for axes in ((0, 2, 1), (2, 0, 1), (1, 0, 2), (0, 1, 2)):
        cases.append(one("transpose", "3-D %s" % (axes,), (2, 3, 4), {"axes": axes}))
    for axes in ((0, 2, 3, 1), (0, 3, 1, 2), (1, 0, 3, 2)):
        cases.append(one("transpose", "4-D %s" % (axes,), (2, 3, 2, 4), {"axes": axes}))
    return cases


def slices():
    axis = [(0, 1, 3), (1, 0, 2), (1, 1, "None"), (2, -2, "None"), (-1, 0, 2), (2, -3, -1),
            (-3, 2, 4)]
    cases = [one("slice_axis", "axis %s, %s to %s" % a, (4, 3, 5),
                 {"axis": a[0], "begin": a[1], "end": a[2]}) for a in axis]
    cases += [
        one("slice_axis", "1-D", (6,), {"axis": 0, "begin": 2, "end": 5}),
        one("slice_axis", "float64, add", (3, 4), {"axis": 1, "begin": 1, "end": 3},
            dtype="float64", req="add"),
    ]
    boxes = [("(1,)", "(3,)", None), ("(0, 1)", "(2, 3)", None), ("(None, 1)", "(None, 3)", None),
             ("(-2, 0)", "(None, -1)", None), ("(0, 0, 0)", "(4, 3, 5)", "(2, 1, 2)"),
             ("(None, None, None)", "(None, None, None)", "(None, -1, -2)"),
             ("(3,)", "(0,)", "(-1,)"), ("(1, 1, 1)", "(2, 2, 4)", None)]
    for begin, end, step in boxes:
        attrs = {"begin": begin, "end": end}
        if step:
            attrs["step"] = step
        cases.append(one("slice", "%s to %s step %s" % (begin, end, step), (4, 3, 5), attrs))
    return cases


def add_n():
    def case(name, shape, count, dtype="float32", **more):
        return Case("add_n", name, {}, {"arg%d" % i: F(*shape, dtype=dtype) for i in range(count)},
                    train=(True,), **more)

    return [
        case("two", (2, 3), 2), case("one", (2, 3), 1), case("three", (2, 3, 2), 3),
        case("nine", (4,), 9), case("float64", (3, 2), 3, dtype="float64"),
        case("mixed requests", (2, 2), 3, req={"arg0": "add", "arg2": "null"}),
    ]


def sources():
    def case(op, name, **attrs):
        return Case(op, name, attrs, train=(False,))

    cases = []
    for op, extra in (("_zeros", {}), ("_ones", {}), ("_full", {"value": 2.5})):
        cases.append(case(op, "float32 by default", shape=(2, 3), **extra))
        for dtype in ("float64", "float16", "uint8", "int8", "int32", "int64"):
            cases.append(case(op, dtype, shape=(3,), dtype=dtype, **extra))
        cases.append(case(op, "4-D", shape=(1, 2, 1, 2), dtype="float32", **extra))
    cases += [
        case("_full", "negative to int32", shape=(2,), value=-3.75, dtype="int32"),
        case("_full", "not exact in float32", shape=(2,), value=0.1, dtype="float64"),
        case("_arange", "stop", start=0, stop=5),
        case("_arange", "start alone is the stop", start=4),
        case("_arange", "start and step", start=2, stop=9, step=3),
        case("_arange", "fractions", start=0.5, stop=3, step=0.75),
        case("_arange", "downwards", start=5, stop=0, step=-2),
        case("_arange", "repeat", start=0, stop=6, step=2, repeat=3),
        case("_arange", "int32", start=1, stop=7, step=2, dtype="int32"),
        case("_arange", "float64", start=0, stop=1, step=0.25, dtype="float64"),
    ]
    for op in ("zeros_like", "ones_like"):
        cases += [one(op, "2-D", (2, 3)), one(op, "4-D", (1, 2, 2, 1)),
                  one(op, "float64", (3,), dtype="float64"),
                  Case(op, "int32", {}, {"data": V([[3, -1], [0, 7]], "int32")}, train=(False,),
                       req="null"),
                  Case(op, "special values", {}, {"data": V(["nan", "inf", "-inf"])},
                       train=(True,))]
    return cases


def copies():
    """Identities and what stops or starts a gradient."""
    cases = []
    for op in ("_copy", "BlockGrad"):
        cases += [one(op, "2-D", (2, 3)), one(op, "4-D", (1, 2, 2, 3)),
                  one(op, "float64", (4,), dtype="float64"), one(op, "add", (2, 3), req="add"),
                  Case(op, "int32", {}, {"data": V([1, -2, 3], "int32")}, train=(False,),
                       req="null"),
                  Case(op, "special values", {}, {"data": V(["nan", "-inf", -0.0])},
                       train=(True,))]
    values = V([-2.7, -1.0, -0.5, 0.0, 0.5, 1.0, 2.7, 100.25])
    for dtype in ("float64", "float16", "int32", "int64", "int8", "bool"):
        cases.append(Case("Cast", "float32 to " + dtype, {"dtype": dtype}, {"data": values},
                          train=(True,)))
    cases += [
        Case("Cast", "int32 to float32", {"dtype": "float32"},
             {"data": V([16777217, -3, 0], "int32")}, train=(False,), req="null"),
        Case("Cast", "float64 to float32", {"dtype": "float32"},
             {"data": F(2, 3, dtype="float64")}, train=(True,)),
        Case("Cast", "float32 to uint8", {"dtype": "uint8"}, {"data": V([0.0, 1.9, 254.5])},
             train=(True,)),
    ]
    loss = V([[-1.0, 0.5, 2.0], [0.0, 0.25, -3.0]])
    for attrs in ({}, {"grad_scale": 2.5}, {"normalization": "batch"}, {"normalization": "valid"},
                  {"normalization": "valid", "valid_thresh": 0.3, "grad_scale": 3}):
        cases.append(Case("MakeLoss", str(attrs), attrs, {"data": loss}, train=(True,), heads=None))
    cases.append(Case("make_loss", "plain", {}, {"data": loss}, train=(True,), heads=None))
    return cases


def rearrange():
    cases = [one("expand_dims", "axis %d" % a, (2, 3), {"axis": a}) for a in (0, 1, 2, -1, -2)]
    for a, b in ((0, 1), (0, 2), (1, 2), (2, 1), (1, 1)):
        cases.append(one("SwapAxis", "%d and %d" % (a, b), (2, 3, 4), {"dim1": a, "dim2": b}))
    cases.append(one("SwapAxis", "0 and 3 of 4-D", (2, 3, 1, 4), {"dim1": 0, "dim2": 3}))
    cases += [
        one("SliceChannel", "axis 1 by default", (2, 6, 2), {"num_outputs": 3}),
        one("SliceChannel", "axis 0", (4, 3), {"num_outputs": 2, "axis": 0}),
        one("SliceChannel", "axis -1", (2, 3, 4), {"num_outputs": 2, "axis": -1}),
        one("SliceChannel", "squeeze_axis", (2, 3, 2), {"num_outputs": 3, "squeeze_axis": True}),
        one("SliceChannel", "one output", (2, 3), {"num_outputs": 1}),
        one("SliceChannel", "float64, last axis", (2, 2, 4), {"num_outputs": 4, "axis": 2},
            dtype="float64"),
    ]
    return cases


def dot():
    sets = [("matrices", (3, 4), (4, 2), {}),
            ("transpose_a", (4, 3), (4, 2), {"transpose_a": True}),
            ("transpose_b", (3, 4), (2, 4), {"transpose_b": True}),
            ("both", (4, 3), (2, 4), {"transpose_a": True, "transpose_b": True}),
            ("vectors", (5,), (5,), {}), ("matrix and vector", (3, 4), (4,), {}),
            ("3-D and 2-D", (2, 3, 4), (4, 5), {}), ("2-D and 3-D", (3, 4), (4, 2, 3), {})]
    cases = [Case("dot", name, attrs, {"lhs": F(*a), "rhs": F(*b)}, train=(True,))
             for name, a, b, attrs in sets]
    cases.append(Case("dot", "float64", {}, {"lhs": F(2, 3, dtype="float64"),
                                             "rhs": F(3, 2, dtype="float64")}, train=(True,)))
    return cases


ALL = [flatten, reshape, concat, reductions, transposes, slices, add_n, sources, copies, rearrange,
       dot]
