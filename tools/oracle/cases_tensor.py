"""Products, orders, indices by tuples, sequences and matrices: the attribute sets recorded for each."""
from cases_shape import one
from golden import Case, Formula as F, Values as V


def two(op, name, left, right, attrs=None, names=("lhs", "rhs"), dtype="float32", **more):
    return Case(op, name, attrs, {names[0]: F(*left, dtype=dtype), names[1]: F(*right, dtype=dtype)},
                train=(True,), **more)


def products():
    ta, tb = {"transpose_a": True}, {"transpose_b": True}
    both = dict(ta, **tb)
    return [  # cases_shape.py has the plain ones
        two("dot", "vector and matrix", (4,), (4, 3)),
        two("dot", "matrix transposed and vector", (4, 3), (4,), ta),
        two("dot", "vector and matrix transposed", (4,), (3, 4), tb),
        two("dot", "3-D and 3-D", (2, 3, 4), (4, 2, 3)),
        two("dot", "3-D transposed", (4, 2, 3), (4, 5), ta),
        two("dot", "3-D by 3-D transposed", (2, 4), (3, 2, 4), tb),
        two("dot", "3-D, both transposed", (4, 2, 3), (2, 3, 4), both),
        two("dot", "mixed requests", (2, 3), (3, 2), req={"lhs": "add", "rhs": "null"}),
        two("dot", "larger", (37, 53), (53, 41)),
        two("batch_dot", "plain", (2, 3, 4), (2, 4, 5)),
        two("batch_dot", "a transposed", (2, 4, 3), (2, 4, 5), ta),
        two("batch_dot", "b transposed", (2, 3, 4), (2, 5, 4), tb),
        two("batch_dot", "both transposed", (2, 4, 3), (2, 5, 4), both),
        two("batch_dot", "4-D", (2, 2, 3, 4), (2, 2, 4, 1)),
        two("batch_dot", "float64", (3, 1, 2), (3, 2, 2), dtype="float64"),
        two("batch_dot", "add", (2, 2, 2), (2, 2, 2), req="add"),
    ]


def orders():
    ties = V([[3, 1, 2, 3], [5, 7, 5, 7]])
    cases = []
    for ret in ("value", "both", "indices", "mask"):
        req = "write" if ret in ("value", "both") else "null"
        for name, shape, attrs in [
                ("k 2", (3, 5), {"k": 2}), ("rising", (3, 5), {"k": 3, "is_ascend": True}),
                ("axis 0", (4, 3), {"k": 2, "axis": 0}), ("axis 1", (2, 5, 3), {"k": 3, "axis": 1}),
                ("the whole array", (2, 4), {"k": 5, "axis": None}),
                ("k 0 is all", (2, 4), {"k": 0})]:
            cases.append(one("topk", "%s, %s" % (ret, name), shape, dict(attrs, ret_typ=ret),
                             req=req))
        cases.append(Case("topk", "%s, ties" % ret, {"k": 3, "ret_typ": ret}, {"data": ties},
                          train=(False,), req="null"))
    cases += [
        one("topk", "one index", (3, 4), req="null"),
        one("topk", "int32 indices", (3, 4), {"k": 2, "dtype": "int32"}, req="null"),
        one("topk", "both, int64 indices", (3, 4), {"k": 2, "ret_typ": "both", "dtype": "int64"},
            req="null"),
        one("topk", "value, float64", (3, 4), {"k": 2, "ret_typ": "value"}, dtype="float64"),
        Case("topk", "value, int32", {"k": 2, "ret_typ": "value"},
             {"data": V([[3, -9, 4], [7, 9, 0]], "int32")}, train=(False,), req="null"),
        one("topk", "value, add", (2, 4), {"k": 2, "ret_typ": "value"}, req="add"),
        # without an axis MXNet cannot bind a gradient
        one("sort", "last axis", (3, 4), req="null"),
        one("sort", "last axis, falling", (3, 4), {"is_ascend": False}, req="null"),
        one("sort", "axis 0", (4, 3), {"axis": 0}), one("sort", "axis -2", (2, 4, 3), {"axis": -2}),
        one("sort", "axis 1, falling", (2, 5, 2), {"axis": 1, "is_ascend": False}),
        one("sort", "the whole array", (2, 4), {"axis": None}),
        one("sort", "float64", (3, 4), {"axis": 1}, dtype="float64"),
        one("sort", "add", (3, 4), {"axis": 1}, req="add"),
        one("argsort", "last axis", (3, 4), req="null"),
        one("argsort", "falling", (3, 4), {"is_ascend": False}, req="null"),
        one("argsort", "axis 0", (4, 3), {"axis": 0}, req="null"),
        one("argsort", "axis 1 of 3-D", (2, 4, 3), {"axis": 1}, req="null"),
        one("argsort", "the whole array, int32", (2, 4), {"axis": None, "dtype": "int32"},
            req="null"),
        Case("argsort", "ties", {}, {"data": ties}, train=(False,), req="null"),
    ]
    return cases


def tuples():
    def gather(name, shape, indices, index_dtype="float32", dtype="float32", req=None):
        return Case("gather_nd", name, {}, {"data": F(*shape, dtype=dtype),
                                            "indices": V(indices, index_dtype)}, train=(True,),
                    req=req or {"indices": "null"})

    cases = [
        gather("every axis", (3, 4), [[0, 2, 1], [1, 3, 1]]), gather("rows", (3, 4), [[2, 0]]),
        gather("places twice", (3, 2), [[1, 1, 0]]),
        # MXNet's gradient writes outside for negative indices
        gather("negative counts from the end", (3, 4), [[-1, 2], [1, -4]], req="null"),
        gather("2-D places, int32", (3, 4), [[[0, 2], [1, 1]], [[3, 1], [0, 0]]], "int32"),
        gather("3-D", (2, 3, 2), [[0, 1, 1], [2, 0, 0]]),
        gather("float64, int64", (4,), [[3, 3, 0]], "int64", "float64"),
        gather("add", (3, 2), [[0, 1]], req={"data": "add", "indices": "null"}),
    ]
    for op in ("scatter_nd", "_backward_gather_nd"):
        def scatter(name, data, indices, shape, index_dtype="float32", dtype="float32", req=None):
            return Case(op, name, {"shape": shape}, {"data": F(*data, dtype=dtype),
                                                     "indices": V(indices, index_dtype)},
                        train=(True,), req=req or {"indices": "null"})
        cases += [
            scatter("every axis", (3,), [[0, 1, 1], [1, 0, 2]], (2, 3)),
            scatter("rows", (2, 3), [[3, 0]], (4, 3)),
            scatter("2-D places, int32", (2, 2), [[[0, 2], [1, 3]]], (5,), "int32"),
            scatter("float64", (2, 2), [[1, 0], [0, 2]], (2, 3, 2), dtype="float64"),
            scatter("add", (2,), [[1, 0]], (3,), req={"data": "add", "indices": "null"}),
        ]
        if op != "scatter_nd":
            cases.append(scatter("places twice", (3, 2), [[1, 1, 0]], (3, 2)))

    def put(name, shape, right, indices):
        return Case("_scatter_set_nd", name, {"shape": shape},
                    {"lhs": F(*shape), "rhs": F(*right), "indices": V(indices)}, out=["lhs"])

    cases += [
        put("every axis", (2, 3), (3,), [[0, 1, 1], [1, 0, 2]]), put("rows", (4, 3), (2, 3), [[3, 0]]),
        put("a vector", (5,), (2,), [[4, 1]]), put("2-D places", (6,), (2, 2), [[[0, 2], [1, 3]]]),
    ]

    def batch(name, shape, indices, dtype="float32"):
        return Case("batch_take", name, {}, {"a": F(*shape, dtype=dtype),
                                             "indices": V(indices, "int32")}, train=(False,),
                    req="null")

    cases += [
        batch("plain", (3, 4), [0, 3, 1]), batch("one column", (3, 1), [0, 0, 0]),
        batch("out of range is clipped", (3, 2), [-5, 2, 1]),
        batch("float64", (2, 3), [2, 0], "float64"),
    ]
    return cases


def moves():
    """Elements in other places: reverse, diag, depth_to_space and back."""
    cases = [
        one("reverse", "axis 0", (3, 4), {"axis": 0}), one("reverse", "axis 1", (2, 3, 2), {"axis": 1}),
        one("reverse", "axes (0, 2)", (2, 3, 4), {"axis": (0, 2)}),
        one("reverse", "float64", (5,), {"axis": (0,)}, dtype="float64"),
        one("reverse", "2-D, both axes", (3, 2), {"axis": (1, 0)}),  # no "add": MXNet overwrites
        one("diag", "main", (3, 4)), one("diag", "above", (3, 4), {"k": 1}),
        one("diag", "below", (4, 3), {"k": -2}), one("diag", "corner", (3, 4), {"k": 3}),
        one("diag", "of a vector", (3,)), one("diag", "of a vector, above", (3,), {"k": 2}),
        one("diag", "of a vector, below", (2,), {"k": -1}),
        one("diag", "3-D", (2, 3, 4)), one("diag", "3-D, axes 2 and 0", (2, 3, 4),
                                           {"axis1": 2, "axis2": 0, "k": -1}),
        one("diag", "4-D, negative axes", (2, 3, 2, 3), {"axis1": -3, "axis2": -1, "k": 1}),
        one("diag", "float64", (3, 3), {"k": -1}, dtype="float64"),
        one("diag", "add", (3, 3), {"k": 1}, req="add"),
    ]
    for op, shapes in (("depth_to_space", [(1, 4, 2, 3), (2, 8, 1, 2), (1, 9, 2, 2), (2, 3, 2, 2)]),
                       ("space_to_depth", [(1, 2, 4, 6), (2, 1, 2, 4), (1, 2, 3, 6), (2, 3, 2, 2)])):
        for shape, block in zip(shapes, (2, 2, 3, 1)):
            cases.append(one(op, "%s by %d" % (shape, block), shape, {"block_size": block}))
        cases.append(one(op, "4 by 4", (1, 16, 4, 4), {"block_size": 4}))
        cases.append(one(op, "float64, add", (1, 4, 2, 2), {"block_size": 2}, dtype="float64",
                         req="add"))
    return cases


def parts():
    """Parts of an array cut out, or written."""
    def split(name, shape, attrs, **more):
        return one("_split_v2", name, shape, attrs, **more)

    cases = [
        split("at places", (3, 5), {"indices": (0, 1, 3)}),
        split("axis 0", (5, 2), {"indices": (0, 2), "axis": 0}),
        split("axis -1 of 3-D", (2, 3, 4), {"indices": (0, 1, 3), "axis": -1}),
        split("one part", (2, 3), {"indices": (0,)}),
        split("squeezed", (2, 3), {"indices": (0, 1, 2), "squeeze_axis": True}),
        split("sections", (2, 6), {"indices": "()", "sections": 3}),
        split("sections, squeezed, axis 0", (3, 2),
              {"indices": "()", "sections": 3, "axis": 0, "squeeze_axis": True}),
        split("float64", (2, 4), {"indices": (0, 3)}, dtype="float64"),
        # no "add": MXNet overwrites
    ]

    def assign(name, left, right, attrs, dtype="float32"):
        return Case("_slice_assign", name, attrs,
                    {"lhs": F(*left, dtype=dtype), "rhs": F(*right, dtype=dtype)},
                    train=(False,), req="null")

    sets = [
        ("rows", (4, 3), (2, 3), {"begin": (1,), "end": (3,)}),
        ("a block", (3, 4), (2, 2), {"begin": (0, 1), "end": (2, 3)}),
        ("steps", (5, 4), (3, 2), {"begin": (0, 1), "end": (5, 4), "step": (2, 2)}),
        ("backwards", (5, 2), (3, 2), {"begin": (4, None), "end": (None, None), "step": (-2, 1)}),
        ("negative bounds", (4, 3), (2, 1), {"begin": (-3, -1), "end": (-1, 3)}),
    ]
    cases += [assign(*each) for each in sets]
    cases.append(assign("float64", *sets[1][1:], dtype="float64"))
    for (name, left, _, attrs), scalar in zip(sets, (1.5, -2, 0, 3.25, 7)):
        cases.append(one("_slice_assign_scalar", name, left, dict(attrs, scalar=scalar),
                         req="null"))
    cases += [
        one("_slice_assign_scalar", "nothing", (3, 2), {"scalar": 1, "begin": (1,), "end": (1,)},
            req="null"),
        Case("_slice_assign_scalar", "int32", {"scalar": 9, "begin": (1,), "end": (3,)},
             {"data": V([1, 2, 3, 4], "int32")}, train=(False,), req="null"),
    ]
    return cases


def numbers():
    """Arrays that say something of a shape, or are made of nothing."""
    none = dict(train=(False,), req="null")
    cases = []
    for op in ("shape_array", "size_array"):
        cases += [one(op, name, shape, req="null") for name, shape in
                  (("1-D", (5,)), ("2-D", (2, 3)), ("4-D", (2, 1, 3, 2)))]
        cases.append(one(op, "float64", (3, 2), dtype="float64", req="null"))
    cases += [Case("_linspace", name, attrs, {}, **none) for name, attrs in [
        ("to the end", {"start": 0, "stop": 1, "num": 5}),
        ("before the end", {"start": 0, "stop": 1, "num": 5, "endpoint": False}),
        ("falling", {"start": 3, "stop": -2, "num": 11}),
        ("one", {"start": 2, "stop": 7, "num": 1}),
        ("int32", {"start": 0, "stop": 10, "num": 4, "dtype": "int32"}),
        ("float64", {"start": 0.1, "stop": 0.9, "num": 7, "dtype": "float64"})]]
    cases += [Case("_eye", name, attrs, {}, **none) for name, attrs in [
        ("square", {"N": 3}), ("wide, above", {"N": 2, "M": 4, "k": 1}),
        ("tall, below", {"N": 4, "M": 2, "k": -2}), ("outside", {"N": 2, "M": 2, "k": 5}),
        ("int32", {"N": 3, "M": 3, "dtype": "int32"})]]
    for op, table in (("_ravel_multi_index", [
            ("2-D", [[1, 0, 2], [2, 3, 0]], (3, 4)), ("1-D", [[3, 1]], (5,)),
            ("3-D", [[1, 0], [2, 1], [0, 1]], (2, 3, 2)), ("first extent open", [[7], [2]], (-1, 4))]),
                      ("_unravel_index", [
            ("2-D", [6, 3, 11], (3, 4)), ("1-D", [3, 1], (5,)), ("3-D", [11, 0, 5], (2, 3, 2)),
            ("first extent open", [30], (-1, 4))])):  # 2-D places: MXNet's shape is wrong
        cases += [Case(op, name, {"shape": shape}, {"data": V(data)}, **none)
                  for name, data, shape in table]
        cases.append(Case(op, "int64", {"shape": (2, 3)}, {"data": V(table[1][1], "int64")
                                                          if op == "_unravel_index" else
                                                          V([[1, 0], [2, 1]], "int64")}, **none))
    data = F(4, 7, lo=-1.5, hi=1.5, seed=11)
    cases += [
        Case("_histogram", "equal bins", {"bin_cnt": 5, "range": (-1, 1)}, {"data": data}, **none),
        Case("_histogram", "one bin", {"bin_cnt": 1, "range": (-2, 2)}, {"data": data}, **none),
        Case("_histogram", "the ends", {"bin_cnt": 4, "range": (1, 5)},
             {"data": V([1, 2, 3, 4, 5, 0, 6, 4.99])}, **none),
        Case("_histogram", "int32", {"bin_cnt": 3, "range": (0, 6)},
             {"data": V([[0, 1, 2], [5, 6, 7]], "int32")}, **none),
        Case("_histogram", "float64", {"bin_cnt": 10, "range": (0, 1)},
             {"data": V([0.1, 0.2, 0.3, 0.6, 0.7, 0.9999], "float64")}, **none),
        Case("_histogram", "given bounds", {}, {"data": data, "bins": V([-1, -0.25, 0.5, 1])},
             **none),
        Case("_histogram", "given bounds, the ends", {},
             {"data": V([1, 2, 3, 5, 0, 6]), "bins": V([1, 2, 5])}, **none),
    ]
    return cases


def given_as_out():
    cases = [Case("_onehot_encode", name, {}, {"lhs": V(index), "rhs": F(len(index), width)},
                  out=["rhs"]) for name, index, width in
             [("plain", [1, 0, 3], 4), ("one row", [2], 3), ("one column", [0, 0], 1),
              ("out of range", [-1, 1, 5], 3)]]
    cases += [Case("fill_element_0index", name, {},
                   {"lhs": F(*shape), "mhs": F(shape[0]), "rhs": V(index)}, out=["lhs"])
              for name, shape, index in [("plain", (3, 4), [0, 2, 3]), ("one row", (1, 3), [1]),
                                         ("one column", (3, 1), [0, 0, 0]),
                                         ("wide", (2, 9), [8, 0])]]
    cases += [two("_identity_with_attr_like_rhs", name, shape, shape, **more) for name, shape, more in
              [("2-D", (2, 3), {}), ("1-D", (4,), {}), ("float64", (2, 2), {"dtype": "float64"}),
               ("add", (3, 2), {"req": {"lhs": "add", "rhs": "null"}})]]
    return cases


def sequences():
    def case(op, name, shape, lengths=None, attrs=None, dtype="float32", req=None):
        inputs = {"data": F(*shape, dtype=dtype)}
        attrs = dict(attrs or {})
        if lengths is not None:
            inputs["sequence_length"] = V(lengths, dtype)
            attrs["use_sequence_length"] = True
        return Case(op, name, attrs, inputs, train=(True,),
                    req=dict({"sequence_length": "null"}, **(req or {})) if lengths else
                    (req or "write"))

    cases = []
    for op in ("SequenceMask", "SequenceLast", "SequenceReverse"):
        cases += [
            case(op, "lengths", (4, 3, 2), [1, 4, 2]), case(op, "whole", (3, 2, 2)),
            case(op, "2-D", (4, 2), [3, 1]), case(op, "4-D", (3, 2, 2, 2), [2, 3]),
            case(op, "float64", (3, 2, 1), [3, 2], dtype="float64"),
        ]
        if op != "SequenceReverse":
            cases += [case(op, "axis 1", (3, 4, 2), [1, 4, 2], {"axis": 1}),
                      case(op, "axis 1, whole", (2, 3, 2), None, {"axis": 1}),
                      case(op, "axis 1, 2-D", (3, 4), [4, 2, 1], {"axis": 1})]
        cases.append(case(op, "add", (3, 2), [2, 1], None, req={"data": "add"}))
    cases += [
        case("SequenceMask", "a value", (4, 3, 2), [1, 3, 2], {"value": -2.5}),
        case("SequenceMask", "a value, axis 1", (2, 4), [0, 3], {"value": 1, "axis": 1}),
        case("SequenceReverse", "nothing to turn", (3, 2, 1), [1, 1]),
        Case("SequenceReverse", "axis 0 said", {"axis": 0}, {"data": F(3, 2)}, train=(True,)),
        Case("SequenceReverse", "axis 0 said, lengths", {"axis": 0, "use_sequence_length": True},
             {"data": F(3, 2), "sequence_length": V([2, 3])}, train=(True,),
             req={"sequence_length": "null"}),
    ]
    return cases


def sums():
    cases = [one("moments", name, shape, attrs, **more) for name, shape, attrs, more in [
        ("axis 1", (3, 4), {"axes": (1,)}, {}), ("axis 0", (3, 4), {"axes": (0,)}, {}),
        ("all axes", (2, 3), {"axes": (0, 1)}, {}),
        ("axes (0, 2), keepdims", (2, 3, 4), {"axes": (0, 2), "keepdims": True}, {}),
        ("axis -1", (2, 3, 2), {"axes": (-1,)}, {}),
        ("float64", (3, 5), {"axes": (1,)}, {"dtype": "float64"})]]
    cases += [Case("cumsum", name, attrs, {"a": F(*shape, dtype=dtype)}, train=(True,), req=req)
              for name, shape, attrs, dtype, req in [
                  ("all", (2, 3), {}, "float32", "write"),
                  ("axis 0", (3, 4), {"axis": 0}, "float32", "write"),
                  ("axis 1", (2, 5, 3), {"axis": 1}, "float32", "write"),
                  ("axis 2", (2, 2, 3), {"axis": 2}, "float32", "write"),  # no negative axis there
                  ("float64", (3, 4), {"axis": 1}, "float64", "write"),
                  ("to float64", (3, 4), {"axis": 1, "dtype": "float64"}, "float32", "null")]]
    # no "add": MXNet overwrites
    cases.append(Case("cumsum", "int32", {"axis": 0}, {"a": V([[1, 2], [3, 4]], "int32")},
                      train=(False,), req="null"))
    return cases


def matrices():
    """The linalg operators. MXNet's gemm2 overwrites where it should add."""
    ta, tb = {"transpose_a": True}, {"transpose_b": True}

    def gemm(op, name, shapes, attrs=None, dtype="float32"):
        return Case(op, name, attrs, {n: F(*s, dtype=dtype) for n, s in zip("ABC", shapes)},
                    train=(True,))

    cases = [
        gemm("_linalg_gemm2", "plain", [(3, 4), (4, 2)]),
        gemm("_linalg_gemm2", "A transposed, alpha", [(2, 4, 3), (2, 4, 2)], dict(ta, alpha=1.5)),
        gemm("_linalg_gemm2", "B transposed", [(2, 3, 4), (2, 2, 4)], tb),
        gemm("_linalg_gemm2", "both transposed", [(4, 3), (2, 4)], dict(ta, alpha=-2, **tb)),
        gemm("_linalg_gemm2", "axis 0", [(3, 2, 4), (4, 2, 2)], {"axis": 0}),
        gemm("_linalg_gemm2", "axis 1, A transposed", [(2, 4, 3, 2), (2, 4, 3, 3)],
             dict(ta, axis=1)),
        gemm("_linalg_gemm2", "float64", [(2, 2, 3), (2, 3, 2)], dtype="float64"),
        gemm("_linalg_gemm", "plain", [(3, 4), (4, 2), (3, 2)]),
        gemm("_linalg_gemm", "alpha, beta", [(2, 3, 4), (2, 4, 2), (2, 3, 2)],
             {"alpha": 2, "beta": -0.5}),
        gemm("_linalg_gemm", "both transposed", [(4, 3), (2, 4), (3, 2)], dict(ta, **tb)),
        gemm("_linalg_gemm", "beta 0", [(3, 4), (4, 2), (3, 2)], {"beta": 0}),
        gemm("_linalg_gemm", "axis 0", [(3, 2, 4), (4, 2, 2), (3, 2, 2)], {"axis": 0, "beta": 2}),
        gemm("_linalg_gemm", "float64", [(2, 3), (3, 2), (2, 2)], {"alpha": 0.5}, "float64"),
    ]

    def single(op, name, data, attrs=None):
        return Case(op, name, attrs, {"A": data}, train=(True,))

    cases += [
        single("_linalg_syrk", "plain", F(3, 4)),
        single("_linalg_syrk", "transposed", F(3, 4), {"transpose": True}),
        single("_linalg_syrk", "alpha, batch", F(2, 2, 3), {"alpha": 0.5}),
        single("_linalg_syrk", "transposed, alpha, float64", F(2, 3, 2, dtype="float64"),
               {"transpose": True, "alpha": -1.5}),
    ]
    lower = [[2, 9, 7], [1, 3, -8], [-1, 0.5, 1.5]]
    for op in ("_linalg_trmm", "_linalg_trsm"):
        def tri(name, b, attrs=None, a=lower, dtype="float32"):
            return Case(op, name, attrs, {"A": V(a, dtype), "B": F(*b, dtype=dtype)}, train=(True,))
        cases += [
            tri("left, lower", (3, 2)), tri("left, lower, transposed", (3, 2), {"transpose": True}),
            tri("right, lower", (2, 3), {"rightside": True}),
            tri("right, lower, transposed, alpha", (2, 3),
                {"rightside": True, "transpose": True, "alpha": 1.5}),
            tri("left, upper, alpha", (3, 2), {"lower": False, "alpha": -2}),
            tri("right, upper, transposed", (2, 3),
                {"rightside": True, "transpose": True, "lower": False}),
            tri("batch", (2, 2, 3), {"alpha": 0.5}, [[[2, 0], [1, 3]], [[1, 5], [4, 2]]]),
            tri("float64", (3, 3), {"transpose": True, "lower": False}, dtype="float64"),
        ]
    positive = [[4, 1, 0.5], [1, 3, -1], [0.5, -1, 5]]
    cases += [
        single("_linalg_potrf", "one", V([[4, 1], [1, 3]])), single("_linalg_potrf", "three", V(positive)),
        single("_linalg_potrf", "batch", V([[[2, 0.5], [0.5, 1]], [[1, 0], [0, 9]]])),
        single("_linalg_potrf", "float64", V(positive, "float64")),
        single("_linalg_potrf", "upper", V(positive), {"lower": False}),
        single("_linalg_potrf", "lower", V(positive), {"lower": True}),
        single("_linalg_potri", "lower", V(lower), {"lower": True}),
        single("_linalg_potri", "upper", V([[2, 1, -1], [7, 3, 0.5], [9, 9, 1.5]]), {"lower": False}),
        single("_linalg_syevd", "one", V([[4, 1], [1, 3]])), single("_linalg_syevd", "three", V(positive)),
        single("_linalg_syevd", "batch", V([[[2, 0.5], [0.5, 1]], [[1, -3], [-3, 9]]])),
        single("_linalg_syevd", "float64", V(positive, "float64")),
        single("_linalg_potri", "one", V([[2, 0], [1, 3]])), single("_linalg_potri", "three", V(lower)),
        single("_linalg_potri", "batch", V([[[2, 0], [0.5, 1]], [[1, 0], [-2, 3]]])),
        single("_linalg_potri", "float64", V(lower, "float64")),
        single("_linalg_sumlogdiag", "one", V(positive)),
        single("_linalg_sumlogdiag", "batch", F(2, 3, 3, lo=0.5, hi=2)),
        single("_linalg_sumlogdiag", "4-D", F(2, 2, 2, 2, lo=0.5, hi=2)),
        single("_linalg_sumlogdiag", "float64", V(positive, "float64")),
        single("_linalg_gelqf", "wide", F(2, 4)), single("_linalg_gelqf", "square", F(3, 3)),
        single("_linalg_gelqf", "batch", F(2, 2, 3)),
        single("_linalg_gelqf", "float64", F(3, 5, dtype="float64")),
        single("_linalg_gelqf", "one row", F(1, 3)),
    ]
    for attrs in ({}, {"offset": 1}, {"offset": -2}, {"offset": 2}):
        text = "offset %d" % attrs.get("offset", 0)
        cases += [single("_linalg_extractdiag", text, F(2, 4, 4), attrs),
                  single("_linalg_makediag", text, F(2, 3), attrs)]
    for attrs in ({}, {"lower": False}, {"offset": 1}, {"offset": -1, "lower": False}):
        text = ", ".join("%s %s" % each for each in attrs.items()) or "plain"
        cases += [single("_linalg_extracttrian", text, F(2, 3, 3), attrs),
                  single("_linalg_maketrian", text, F(2, 6), attrs)]
    cases += [single(op, "float64", F(*shape, dtype="float64")) for op, shape in
              (("_linalg_extractdiag", (3, 3)), ("_linalg_makediag", (3,)),
               ("_linalg_extracttrian", (4, 4)), ("_linalg_maketrian", (3,)))]
    general = [[1, 2, 0.5], [3, -1, 2], [0, 4, 1]]
    for op in ("_linalg_inverse", "_linalg_det", "_linalg_slogdet"):
        cases += [single(op, "one", V([[1, 2], [3, 4]])), single(op, "three", V(general)),
                  single(op, "batch", V([[[2, 0.5], [0.5, 1]], [[0, 1], [4, 9]]])),
                  single(op, "float64", V(general, "float64"))]
    return cases


ALL = [products, orders, tuples, moves, parts, numbers, given_as_out, sequences, sums,
       matrices]
