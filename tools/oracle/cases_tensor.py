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


ALL = [products, orders, tuples, moves]
