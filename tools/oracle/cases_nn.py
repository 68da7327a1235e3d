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

    def case(name, attrs, data, label, dtype="float32", scale=2, train=(True, False), **more):
        if isinstance(label, list):
            label = V(label, dtype)
        return Case(op, name, attrs, {"data": F(*data, lo=-scale, hi=scale, dtype=dtype),
                                      "label": label}, heads=None, req={"label": "null"},
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
        case("ignore_label without use_ignore, valid", {"ignore_label": 2, "normalization": "valid"},
             (4, 5), [0, 4, 2, 2]),
        case("3-D without multi_output", {}, (2, 3, 4), [[0, 1, 3], [2, 2, 0]], train=(True,)),
        case("preserve_shape", {"preserve_shape": True}, (2, 3, 4), [[0, 1, 3], [2, 2, 0]]),
        case("preserve_shape, batch", {"preserve_shape": True, "normalization": "batch"},
             (2, 3, 4), [[0, 1, 3], [2, 2, 0]]),
        case("multi_output, label with spatial axes", {"multi_output": True}, (2, 3, 2, 3),
             [[[0, 1, 2], [1, 0, 2]], [[2, 2, 1], [0, 1, 0]]]),
        case("multi_output, use_ignore, valid",
             {"multi_output": True, "use_ignore": True, "ignore_label": 1, "normalization": "valid"},
             (2, 3, 2, 3), spatial),
        case("multi_output, 3-D, grad_scale", {"multi_output": True, "grad_scale": 3}, (2, 3, 6),
             spatial),
        case("multi_output, smooth_alpha", {"multi_output": True, "smooth_alpha": 0.25}, (2, 3, 6),
             spatial),
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
        ("clip after rescale", {"lr": 0.1, "wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 1.0}, {}),
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


ALL = [fully_connected, activation, softmax_output, optimizers]
