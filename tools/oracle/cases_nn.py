"""Layers and losses: the attribute sets recorded for each, by the facts they show."""
from golden import Case, Formula as F, Values as V


def fully_connected():
    op = "FullyConnected"

    def case(name, attrs, data, weight, bias=None, dtype="float32", **more):
        inputs = {"data": F(*data, dtype=dtype), "weight": F(*weight, dtype=dtype)}
        if bias:
            inputs["bias"] = F(*bias, dtype=dtype)
        return Case(op, name, attrs, inputs, train=(True,), **more)

    return [
        case("plain", {"num_hidden": 4}, (3, 5), (4, 5), (4,)),
        case("no bias", {"num_hidden": 4, "no_bias": True}, (3, 5), (4, 5)),
        case("flatten collapses trailing axes", {"num_hidden": 6}, (2, 3, 2, 2), (6, 12), (6,)),
        case("flatten False keeps leading axes", {"num_hidden": 4, "flatten": False},
             (2, 3, 5), (4, 5), (4,)),
        case("flatten False, 4-D, no bias", {"num_hidden": 3, "flatten": False, "no_bias": True},
             (2, 2, 3, 4), (3, 4)),
        case("1-D data is a column", {"num_hidden": 3}, (4,), (3, 1), (3,)),
        case("float64", {"num_hidden": 7}, (5, 9), (7, 9), (7,), dtype="float64"),
        case("float64, flatten False", {"num_hidden": 2, "flatten": False}, (3, 2, 4), (2, 4), (2,),
             dtype="float64"),
        case("add", {"num_hidden": 4}, (3, 5), (4, 5), (4,), req="add"),
        case("only the weight's gradient", {"num_hidden": 4}, (3, 5), (4, 5), (4,),
             req={"data": "null", "bias": "null"}),
        case("larger", {"num_hidden": 33}, (17, 65), (33, 65), (33,)),
    ]


def activation():
    grid = V([[-30.0, -3.0, -1.0, -0.5, -0.0], [0.0, 0.25, 1.0, 3.0, 30.0]])
    cases = []
    for act in ("relu", "sigmoid", "tanh", "softrelu", "softsign"):
        cases += [
            Case("Activation", act, {"act_type": act}, {"data": F(3, 4, lo=-3, hi=3)}),
            Case("Activation", act + " over the range", {"act_type": act}, {"data": grid}),
            Case("Activation", act + " float64", {"act_type": act},
                 {"data": F(2, 3, 2, lo=-4, hi=4, dtype="float64")}),
        ]
    return cases


def softmax_output():
    op = "SoftmaxOutput"

    def case(name, attrs, data, label, dtype="float32", scale=2, train=(True, False), req=None,
             **more):
        if isinstance(label, list):
            label = V(label, dtype)
        return Case(op, name, attrs, {"data": F(*data, lo=-scale, hi=scale, dtype=dtype),
                                      "label": label}, heads=None, req=req or {"label": "null"},
                    train=train, **more)

    spatial = [[0, 1, 2, 1, 0, 2], [2, 2, 1, 0, 1, 0]]
    cases = [
        case("plain", {}, (4, 5), [0, 4, 2, 2]),
        case("float64", {}, (4, 5), [1, 0, 3, 4], dtype="float64"),
        case("large logits", {}, (3, 4), [0, 1, 2], scale=80),
        case("grad_scale", {"grad_scale": 2.5}, (4, 5), [0, 4, 2, 2]),
        case("label out of range", {}, (4, 3), [3, -2, 1, 7]),
        case("soft label", {"grad_scale": 0.5, "normalization": "batch"}, (3, 4),
             F(3, 4, lo=0, hi=1)),
        case("smooth_alpha", {"smooth_alpha": 0.25}, (4, 5), [0, 4, 2, 2]),
        case("smooth_alpha with use_ignore",
             {"smooth_alpha": 0.125, "use_ignore": True, "ignore_label": 4}, (4, 5), [0, 4, 2, 2]),
        case("out_grad", {"out_grad": True}, (3, 4), [0, 1, 3]),
        case("use_ignore", {"use_ignore": True, "ignore_label": 2}, (4, 5), [0, 4, 2, 2]),
        case("ignore_label without use_ignore, valid",
             {"ignore_label": 2, "normalization": "valid"}, (4, 5), [0, 4, 2, 2]),
        case("3-D without multi_output", {}, (2, 3, 4), [[0, 1, 3], [2, 2, 0]], req="null",
             note="normalised over all but the first axis; MXNet's backward then reads the label "
                  "of shape (2, 3) as if it had 2 elements, so no gradient is recorded"),
        case("preserve_shape", {"preserve_shape": True}, (2, 3, 4), [[0, 1, 3], [2, 2, 0]]),
        case("preserve_shape, batch", {"preserve_shape": True, "normalization": "batch"},
             (2, 3, 4), [[0, 1, 3], [2, 2, 0]], note="divides by the number of rows, 6, not by 2"),
        case("multi_output, label with spatial axes", {"multi_output": True}, (2, 3, 2, 3),
             [[[0, 1, 2], [1, 0, 2]], [[2, 2, 1], [0, 1, 0]]]),
        case("multi_output, use_ignore, valid",
             {"multi_output": True, "use_ignore": True, "ignore_label": 1,
              "normalization": "valid"}, (2, 3, 2, 3), spatial),
        case("multi_output, 3-D, grad_scale", {"multi_output": True, "grad_scale": 3}, (2, 3, 6),
             spatial),
        case("multi_output, smooth_alpha", {"multi_output": True, "smooth_alpha": 0.25}, (2, 3, 6),
             spatial, note="smooth_alpha has no effect with multi_output"),
    ]
    for norm in ("null", "batch", "valid"):
        cases += [
            case("normalization " + norm, {"normalization": norm}, (4, 5), [0, 4, 2, 2]),
            case("multi_output, normalization " + norm,
                 {"multi_output": True, "normalization": norm}, (2, 3, 2, 3), spatial),
            case("use_ignore, normalization " + norm,
                 {"normalization": norm, "use_ignore": True, "ignore_label": 2}, (4, 5),
                 [0, 4, 2, 2]),
        ]
    head = case("a head gradient is not read", {}, (4, 5), [0, 4, 2, 2], train=(True,))
    head.heads = "formula"
    return cases + [head]


def convolution():
    op = "Convolution"

    def case(name, data, filters, kernel, group=1, dtype="float32", req="write", **attrs):
        bias = not attrs.get("no_bias", False)
        inputs = {"data": F(*data, dtype=dtype),
                  "weight": F(filters, data[1] // group, *kernel, dtype=dtype)}
        if bias:
            inputs["bias"] = F(filters, dtype=dtype)
        attrs = dict(attrs, num_filter=filters, kernel=kernel)
        if group > 1:
            attrs["num_group"] = group
        return Case(op, name, attrs, inputs, train=(True,), req=req)

    return [
        case("3x3", (2, 3, 6, 7), 4, (3, 3)),
        case("no bias, pad", (2, 3, 5, 5), 4, (3, 3), pad=(1, 1), no_bias=True),
        case("stride and pad, uneven", (1, 2, 9, 8), 3, (3, 2), stride=(2, 3), pad=(1, 2)),
        case("stride leaves a rest", (2, 2, 8, 8), 3, (3, 3), stride=(3, 3)),
        case("1x1", (2, 5, 4, 3), 6, (1, 1)),
        case("1x1, stride 2, no bias", (2, 4, 5, 6), 3, (1, 1), stride=(2, 2), no_bias=True),
        case("dilate", (1, 2, 9, 9), 2, (3, 3), dilate=(2, 3), pad=(2, 1)),
        case("groups", (2, 6, 5, 5), 4, (3, 3), group=2, pad=(1, 1)),
        case("depthwise, multiplier 2", (2, 3, 5, 6), 6, (3, 3), group=3, stride=(2, 1)),
        case("7x7 stem", (1, 3, 15, 15), 8, (7, 7), stride=(2, 2), pad=(3, 3), no_bias=True),
        case("kernel of the whole image", (2, 3, 4, 4), 5, (4, 4)),
        case("1-D", (2, 3, 8), 4, (3,), stride=(2,), pad=(1,)),
        case("1-D, dilate, groups, no bias", (2, 4, 11), 6, (3,), group=2, dilate=(2,),
             no_bias=True),
        case("3-D", (1, 2, 4, 5, 4), 3, (2, 3, 2), stride=(1, 2, 1), pad=(1, 0, 1)),
        case("3-D, groups, dilate", (2, 4, 5, 5, 4), 2, (3, 2, 2), group=2, dilate=(2, 1, 3)),
        case("float64", (2, 3, 6, 5), 4, (3, 3), dtype="float64", pad=(1, 1), stride=(2, 2)),
        case("float64, groups, dilate", (1, 4, 7, 7), 4, (3, 3), group=2, dtype="float64",
             dilate=(2, 2), no_bias=True),
        case("accepted and ignored", (1, 2, 5, 5), 3, (3, 3), workspace=512, cudnn_tune="off",
             cudnn_off=True, layout="NCHW"),
        case("add", (2, 3, 5, 5), 4, (3, 3), req="add"),
        case("only the weight's gradient", (2, 3, 5, 5), 4, (3, 3),
             req={"data": "null", "bias": "null"}),
        case("16 channels, as blocked layouts like them", (2, 16, 8, 8), 32, (3, 3), pad=(1, 1)),
        case("more than one block, a rest", (1, 19, 6, 6), 21, (3, 3), pad=(1, 1)),
    ]


def pooling():
    op = "Pooling"

    def case(name, data, dtype="float32", values=None, req="write", **attrs):
        spec = V(values, dtype) if values is not None else F(*data, dtype=dtype)
        return Case(op, name, attrs, {"data": spec}, train=(True,), req=req)

    image = (2, 3, 7, 8)
    ties = [[[[1, 1, 0, 2], [1, 1, 2, 2], [0, -1, 3, 3], [-1, 0, 3, 3]]]]
    cases = []
    for kind in ("max", "avg", "sum"):
        cases += [
            case(kind, image, kernel=(2, 2), stride=(2, 2), pool_type=kind),
            case(kind + ", stride 1 by default", (1, 2, 5, 5), kernel=(3, 2), pool_type=kind),
            case(kind + ", valid, pad", image, kernel=(3, 3), stride=(2, 2), pad=(1, 1),
                 pool_type=kind),
            case(kind + ", full, pad", image, kernel=(3, 3), stride=(2, 2), pad=(1, 1),
                 pool_type=kind, pooling_convention="full"),
            case(kind + ", full, a window past the edge", (1, 2, 6, 7), kernel=(3, 3),
                 stride=(2, 2), pool_type=kind, pooling_convention="full"),
            case(kind + ", stride over kernel", (1, 2, 9, 9), kernel=(2, 2), stride=(3, 4),
                 pool_type=kind),
            case(kind + ", global", image, global_pool=True, pool_type=kind),
            case(kind + ", global, a kernel is ignored", image, global_pool=True, kernel=(2, 2),
                 stride=(2, 2), pad=(1, 1), pool_type=kind),
            case(kind + ", 1-D", (2, 3, 9), kernel=(3,), stride=(2,), pad=(1,), pool_type=kind),
            case(kind + ", 1-D, full", (2, 3, 8), kernel=(3,), stride=(2,), pool_type=kind,
                 pooling_convention="full"),
            case(kind + ", 3-D", (1, 2, 5, 4, 6), kernel=(2, 2, 3), stride=(2, 1, 2), pad=(0, 1, 1),
                 pool_type=kind),
            case(kind + ", 3-D, global", (2, 2, 3, 2, 4), kernel=(1, 1, 1), global_pool=True,
                 pool_type=kind),
            case(kind + ", float64", image, dtype="float64", kernel=(3, 2), stride=(2, 2),
                 pad=(1, 0), pool_type=kind),
            case(kind + ", 16 channels", (2, 16, 6, 6), kernel=(3, 3), stride=(2, 2), pad=(1, 1),
                 pool_type=kind),
        ]
    for convention in ("valid", "full"):
        for include in (True, False):
            cases.append(case("avg, %s, count_include_pad %s" % (convention, include), (1, 2, 6, 7),
                              kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="avg",
                              pooling_convention=convention, count_include_pad=include))
            cases.append(case("avg, 1-D, %s, count_include_pad %s" % (convention, include),
                              (1, 2, 8), kernel=(3,), stride=(2,), pad=(1,), pool_type="avg",
                              pooling_convention=convention, count_include_pad=include))
    cases += [
        case("avg, 3-D, count_include_pad False", (1, 2, 4, 4, 4), kernel=(3, 3, 3),
             stride=(2, 2, 2), pad=(1, 1, 1), pool_type="avg", count_include_pad=False),
        case("max, ties go to the first", None, values=ties, kernel=(2, 2), stride=(2, 2),
             pool_type="max"),
        case("max, overlapping windows, ties", None, values=ties, kernel=(3, 3), pool_type="max"),
        case("max, all negative with pad", (1, 2, 4, 4), kernel=(3, 3), stride=(2, 2), pad=(1, 1),
             pool_type="max"),
        case("max, add", (1, 2, 5, 5), kernel=(2, 2), pool_type="max", req="add"),
        case("avg, add", (1, 2, 5, 5), kernel=(2, 2), pool_type="avg", req="add"),
    ]
    for p in (1, 2, 3):
        cases.append(case("lp, p_value %d" % p, (1, 2, 6, 6), kernel=(2, 2), stride=(2, 2),
                          pool_type="lp", p_value=p))
    cases.append(case("lp, global", (2, 2, 3, 3), kernel=(1, 1), pool_type="lp", p_value=2,
                      global_pool=True))
    for c in cases:
        if c.name.startswith(("lp", "max, all negative")):
            data = c.inputs["data"]
            data.lo, data.hi = (0.25, 1.0) if c.name[0] == "l" else (-2.0, -1.0)
    return cases


def batch_norm():
    op = "BatchNorm"

    def case(name, data, axis=1, dtype="float32", lo=-1, hi=3, heads="formula", req="write",
             train=(True, False), **attrs):
        c = data[axis]
        if axis != 1:
            attrs["axis"] = axis
        side = lambda lo, hi: F(c, lo=lo, hi=hi, dtype=dtype)
        return Case(op, name, attrs,
                    {"data": F(*data, lo=lo, hi=hi, dtype=dtype), "gamma": side(0.5, 1.5),
                     "beta": side(-1, 1)},
                    {"moving_mean": side(-0.5, 0.5), "moving_var": side(0.5, 1.5)},
                    heads=heads, req=req, train=train)

    image = (3, 4, 3, 2)
    return [
        case("fix_gamma by default", image),
        case("fix_gamma False", image, fix_gamma=False),
        case("eps", image, fix_gamma=False, eps=0.5),
        case("eps, fix_gamma", image, eps=2e-05),
        case("momentum", image, fix_gamma=False, momentum=0.5),
        case("momentum 0", image, fix_gamma=False, momentum=0.0),
        case("use_global_stats", image, fix_gamma=False, use_global_stats=True),
        case("use_global_stats, fix_gamma", image, use_global_stats=True, eps=0.25),
        case("2-D data", (6, 5), fix_gamma=False),
        case("2-D data, fix_gamma", (6, 5)),
        case("3-D data", (3, 4, 5), fix_gamma=False),
        case("5-D data", (2, 3, 2, 2, 3), fix_gamma=False),
        case("axis 3", (2, 3, 2, 4), axis=3, fix_gamma=False),
        case("axis -1", (2, 3, 2, 4), axis=-1, fix_gamma=False),
        case("axis 0", (4, 3, 2), axis=0, fix_gamma=False),
        case("output_mean_var", image, fix_gamma=False, output_mean_var=True, eps=0.125),
        case("output_mean_var, use_global_stats", image, fix_gamma=False, output_mean_var=True,
             use_global_stats=True, eps=0.125),
        case("float64", image, fix_gamma=False, dtype="float64", eps=2e-05),
        case("float64, fix_gamma", image, dtype="float64", momentum=0.7),
        case("float64, use_global_stats", image, dtype="float64", use_global_stats=True,
             fix_gamma=False),
        case("gradients null", image, req="null"),
        case("gamma's gradient null", image, req={"gamma": "null"}),
        case("16 channels, as blocked layouts like them", (2, 16, 4, 4), fix_gamma=False),
        case("far from zero", image, fix_gamma=False, lo=9, hi=11),
        case("data add", image, fix_gamma=False, req={"data": "add"}),
    ]


def dropout():
    op = "Dropout"
    data = lambda dtype="float32": {"data": F(3, 4, dtype=dtype)}
    return [
        Case(op, "identity in inference", {"p": 0.5}, data(), train=(False,)),
        Case(op, "p 0", {"p": 0.0}, data()),
        Case(op, "p 0, mode always", {"p": 0.0, "mode": "always"}, data()),
        Case(op, "default p, inference", {}, data(), train=(False,)),
        Case(op, "axes, inference", {"p": 0.3, "axes": "(1,)"}, data(), train=(False,)),
        Case(op, "float64, p 0", {"p": 0.0}, data("float64")),
    ]


def embedding():
    op = "Embedding"

    def case(name, indices, rows, columns, dtype="float32", index_dtype="float32", **more):
        attrs = {"input_dim": rows, "output_dim": columns}
        if dtype != "float32":
            attrs["dtype"] = dtype
        req = more.pop("req", {})
        return Case(op, name, attrs, {"data": V(indices, index_dtype),
                                      "weight": F(rows, columns, dtype=dtype)},
                    train=(True,), req=dict({"data": "null"}, **req), **more)

    return [
        case("1-D", [1, 0, 4, 2], 5, 3),
        case("2-D", [[0, 3, 1], [2, 2, 0]], 4, 5),
        case("3-D", [[[0], [1]], [[2], [0]]], 3, 2),
        case("repeated rows add up", [2, 2, 2, 0, 2], 4, 3),
        case("out of range is clipped", [-3, 7, 1, 5], 5, 2),
        case("fractions are cut", [0.9, 1.5, 2.99], 4, 2),
        case("float64", [3, 1, 0], 4, 3, dtype="float64"),
        case("int32 indices", [[1, 2], [0, 3]], 4, 3, index_dtype="int32"),
        case("int64 indices", [3, 3, 1], 4, 3, index_dtype="int64"),
        case("add", [1, 1, 3], 4, 2, req={"weight": "add"}),
    ]


def optimizers():
    shape = (3, 5)

    def case(op, name, attrs, dtype="float32", repeat=2):
        inputs = {"weight": F(*shape, dtype=dtype), "grad": F(*shape, lo=-4, hi=4, dtype=dtype)}
        if op == "sgd_mom_update":
            inputs["mom"] = F(*shape, lo=-0.5, hi=0.5, dtype=dtype)
        out = ["weight"] + (["mom"] if "mom" in inputs else [])
        return Case(op, name, attrs, inputs, out=out, repeat=repeat)

    sets = [
        ("plain", {"lr": 0.1}, {}),
        ("wd", {"lr": 0.1, "wd": 0.01}, {}),
        ("rescale", {"lr": 0.05, "wd": 0.0001, "rescale_grad": 0.125}, {}),
        ("clip after rescale",
         {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 1.0}, {}),
        ("clip 0 clips to nothing", {"lr": 0.1, "wd": 0.01, "clip_gradient": 0.0}, {}),
        ("clip -1 is off", {"lr": 0.1, "clip_gradient": -1.0}, {}),
        ("float64", {"lr": 0.1, "wd": 0.001, "rescale_grad": 0.3, "clip_gradient": 0.7},
         {"dtype": "float64"}),
    ]
    cases = []
    for name, attrs, more in sets:
        cases.append(case("sgd_update", name, attrs, **more))
        cases.append(case("sgd_mom_update", name, dict(attrs, momentum=0.9), **more))
    cases.append(case("sgd_mom_update", "momentum 0 by default", {"lr": 0.1}))
    return cases


ALL = [fully_connected, convolution, pooling, batch_norm, activation, softmax_output, dropout,
       embedding, optimizers]
