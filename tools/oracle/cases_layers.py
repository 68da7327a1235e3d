"""Softmaxes, leaky activations, normalisations and losses: the attribute sets recorded for each."""
from golden import Case, Formula as F, Values as V


def softmax():
    def case(op, name, attrs, data, lo=-2, hi=2, dtype="float32", length=None, **more):
        inputs = {"data": F(*data, lo=lo, hi=hi, dtype=dtype)}
        if length is not None:
            inputs["length"] = V(length, "int32")
            more["req"] = {"length": "null"}
        return Case(op, name, attrs, inputs, train=(True,), **more)

    cases = []
    for op in ("softmax", "log_softmax", "softmin"):
        cases += [
            case(op, "last axis", {}, (3, 5)),
            case(op, "axis 0", {"axis": 0}, (4, 3)),
            case(op, "axis 1 of 4-D", {"axis": 1}, (2, 4, 3, 2)),
            case(op, "axis -2", {"axis": -2}, (2, 3, 4)),
            case(op, "temperature", {"temperature": 2.5}, (3, 5)),
            case(op, "temperature, axis 0", {"temperature": 0.5, "axis": 0}, (3, 5)),
            case(op, "1-D", {}, (7,)),
            case(op, "large values", {}, (2, 4), lo=-80, hi=80),
            case(op, "float64", {"axis": 1}, (2, 5, 3), dtype="float64"),
            case(op, "dtype float64 of float64", {"dtype": "float64"}, (2, 5), dtype="float64"),
            case(op, "add", {}, (3, 4), req={"data": "add"}),
            case(op, "wide rows", {}, (16, 100)),
        ]
    cases += [
        case("softmax", "use_length", {"use_length": True}, (4, 5), length=[5, 1, 3, 2]),
        case("softmax", "use_length, axis 1", {"use_length": True, "axis": 1}, (2, 4, 3),
             length=[[4, 1, 2], [3, 0, 1]]),
        case("softmax", "use_length, temperature", {"use_length": True, "temperature": 0.75},
             (3, 4), length=[2, 4, 3], dtype="float64"),
    ]
    op = "SoftmaxActivation"
    cases += [
        case(op, "instance by default", {}, (3, 4)),
        case(op, "instance, 4-D", {"mode": "instance"}, (2, 3, 2, 2), req="null",
             note="normalised along the last axis; MXNet's gradient then is not that of it"),
        case(op, "channel", {"mode": "channel"}, (2, 3, 2, 2)),
        case(op, "channel, 3-D", {"mode": "channel"}, (2, 5, 4)),
        case(op, "instance, large values", {}, (2, 5), lo=-60, hi=60),
    ]
    return cases


def leaky_relu():
    op = "LeakyReLU"
    grid = V([[-30.0, -3.0, -1.0, -0.5, -0.0], [0.0, 0.25, 1.0, 3.0, 30.0]])
    cases = []
    # MXNet's gradient of selu is wrong (its slope below 0 is λ(α + y), not λα + y): not recorded.
    # In float64 it computes selu, gelu and prelu with float32 constants or products.
    for act in ("leaky", "elu", "selu", "gelu"):
        more = {"req": "null"} if act == "selu" else {}
        cases += [
            Case(op, act, {"act_type": act}, {"data": F(3, 4, lo=-3, hi=3)}, **more),
            Case(op, act + " over the range", {"act_type": act}, {"data": grid}, **more),
            Case(op, act + ", 4-D", {"act_type": act}, {"data": F(2, 16, 6, 3, lo=-3, hi=3)},
                 **more),
        ]
    for act in ("leaky", "elu"):
        cases.append(Case(op, act + " float64", {"act_type": act},
                          {"data": F(2, 3, 2, lo=-4, hi=4, dtype="float64")}))
    cases += [
        Case(op, "default", {}, {"data": F(3, 4)}),
        Case(op, "leaky, slope", {"act_type": "leaky", "slope": 0.01}, {"data": F(3, 4)}),
        Case(op, "leaky, slope 0", {"act_type": "leaky", "slope": 0}, {"data": F(3, 4)}),
        Case(op, "elu, slope", {"act_type": "elu", "slope": 1.5}, {"data": F(3, 4, lo=-2, hi=2)}),
        Case(op, "leaky, add", {"act_type": "leaky"}, {"data": F(3, 4)}, req="add"),
    ]

    def prelu(name, data, gamma, **more):
        return Case(op, "prelu, " + name, {"act_type": "prelu"},
                    {"data": F(*data, lo=-2, hi=2), "gamma": F(*gamma, lo=0.1, hi=0.5)}, train=(True,), **more)

    cases += [
        prelu("a slope per channel", (2, 3, 2, 2), (3,)),
        prelu("2-D", (4, 3), (3,)),
        prelu("one slope", (2, 3, 4), (1,)),
        prelu("a slope per sample", (2, 3, 4), (2,)),
        prelu("a slope per sample and channel", (2, 3, 4), (2, 3)),
        prelu("add", (2, 3, 4), (3,), req="add"),
    ]
    return cases


def lrn():
    case = lambda name, attrs, *data, **more: Case("LRN", name, attrs, {"data": F(*data, lo=-3, hi=3)},
                                                   train=(True,), **more)
    return [
        case("nsize 5", {"nsize": 5}, 2, 8, 3, 2),
        case("alpha and beta", {"nsize": 3, "alpha": 0.5, "beta": 0.6}, 2, 6, 2, 3),
        case("knorm", {"nsize": 3, "alpha": 0.25, "knorm": 1}, 1, 5, 3, 3),
        case("nsize 1", {"nsize": 1, "alpha": 0.5}, 2, 4, 2, 2),
        case("a window of all channels", {"nsize": 5, "alpha": 1, "beta": 0.75}, 1, 5, 2, 2),
    ]


def regression():
    cases = []
    for op in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"):
        def case(name, attrs, data, label, dtype="float32"):
            return Case(op, name, attrs, {"data": F(*data, lo=-2, hi=2, dtype=dtype),
                                          "label": F(*label, lo=-2, hi=2, dtype=dtype)},
                        heads=None, req={"label": "null"})
        cases += [
            case("plain", {}, (4, 3), (4, 3)),
            case("grad_scale", {"grad_scale": 2.5}, (4, 3), (4, 3)),
            case("a column with labels (N,)", {"grad_scale": 0.5}, (4, 1), (4,)),
            case("1-D", {}, (5,), (5,)),
            case("4-D", {"grad_scale": 3}, (2, 3, 2, 2), (2, 3, 2, 2)),
            case("float64", {"grad_scale": 0.25}, (3, 4), (3, 4), dtype="float64"),
        ]
    return cases


def svm_output():
    op = "SVMOutput"

    def case(name, attrs, data, label, dtype="float32"):
        return Case(op, name, attrs, {"data": F(*data, lo=-2, hi=2, dtype=dtype),
                                      "label": V(label, dtype)}, heads=None,
                    req={"label": "null"})

    return [
        case("squared by default", {}, (4, 5), [0, 4, 2, 2]),
        case("linear", {"use_linear": True}, (4, 5), [0, 4, 2, 2]),
        case("margin", {"margin": 0.5}, (4, 5), [1, 4, 0, 2]),
        case("linear, coefficient", {"use_linear": True, "margin": 0.25,
                                     "regularization_coefficient": 0.125}, (3, 4), [3, 1, 0]),
        case("coefficient", {"regularization_coefficient": 2}, (3, 4), [3, 1, 0]),
        case("float64", {"margin": 1.5}, (3, 4), [3, 1, 0], dtype="float64"),
    ]


def softmax_cross_entropy():
    op = "softmax_cross_entropy"

    def case(name, data, label, scale=2, dtype="float32"):
        return Case(op, name, {}, {"data": F(*data, lo=-scale, hi=scale, dtype=dtype),
                                   "label": V(label, dtype)}, train=(True,), req={"label": "null"})

    return [
        case("plain", (4, 5), [0, 4, 2, 2]),
        case("large logits", (3, 4), [0, 1, 2], scale=60),
        case("float64", (3, 4), [3, 1, 2], dtype="float64"),
        case("one row", (1, 3), [1]),
        case("one class", (3, 1), [0, 0, 0]),
    ]


def l2_normalization():
    op = "L2Normalization"

    def case(name, attrs, *data, dtype="float32", lo=-2, hi=2, **more):
        return Case(op, name, attrs, {"data": F(*data, lo=lo, hi=hi, dtype=dtype)}, train=(True,),
                    **more)

    cases = []
    for mode in ("instance", "channel", "spatial"):
        cases += [
            case(mode, {"mode": mode}, 2, 3, 2, 2),
            case(mode + ", 3-D", {"mode": mode, "eps": 0.25}, 2, 4, 3),
            case(mode + ", float64", {"mode": mode}, 2, 3, 4, dtype="float64"),
            case(mode + ", small values", {"mode": mode, "eps": 1e-5}, 2, 3, 4, lo=-0.01, hi=0.01),
        ]
    return cases + [case("instance by default, 2-D", {}, 3, 4),
                    case("add", {"mode": "spatial"}, 2, 3, 4, req="add")]


def layer_norms():
    def case(op, name, attrs, data, parameter, dtype="float32", lo=-1, hi=3, **more):
        side = lambda lo, hi: F(parameter, lo=lo, hi=hi, dtype=dtype)
        return Case(op, name, attrs, {"data": F(*data, lo=lo, hi=hi, dtype=dtype),
                                      "gamma": side(0.5, 1.5), "beta": side(-1, 1)},
                    train=(True,), **more)

    layer = lambda *a, **k: case("LayerNorm", *a, **k)
    instance = lambda *a, **k: case("InstanceNorm", *a, **k)
    group = lambda *a, **k: case("GroupNorm", *a, **k)
    shown = {"output_mean_var": True}
    return [
        layer("last axis", {}, (3, 5), 5),
        layer("3-D", {}, (2, 3, 4), 4),
        layer("axis 1", {"axis": 1}, (2, 4, 3), 4),
        layer("axis 0", {"axis": 0}, (4, 3), 4),
        layer("eps", {"eps": 0.5}, (3, 5), 5),
        layer("float64", {"eps": 0.25}, (2, 3, 4), 4, dtype="float64"),
        layer("output_mean_var", dict(shown, eps=0.125), (3, 5), 5, req="null"),
        layer("wide rows", {}, (6, 70), 70),
        layer("far from zero", {}, (3, 5), 5, lo=9, hi=11),
        layer("only the parameters' gradients", {}, (3, 5), 5, req={"data": "null"}),
        instance("4-D", {}, (2, 3, 3, 2), 3),
        instance("3-D", {}, (2, 4, 5), 4),
        instance("eps", {"eps": 0.5}, (2, 3, 3, 2), 3),
        instance("eps, 5-D", {"eps": 0.01}, (2, 3, 2, 2, 3), 3),
        instance("far from zero", {"eps": 0.25}, (2, 3, 4), 3, lo=9, hi=11),
        group("one group by default", {}, (2, 4, 3), 1),
        group("two groups", {"num_groups": 2}, (2, 4, 3, 2), 2),
        group("a group per channel", {"num_groups": 4}, (2, 4, 5), 4),
        group("eps", {"num_groups": 2, "eps": 0.5}, (2, 6, 2, 2), 2),
        group("float64", {"num_groups": 3, "eps": 0.25}, (2, 6, 2), 3, dtype="float64"),
        group("output_mean_var", dict(shown, num_groups=2, eps=0.125), (2, 4, 3), 2, req="null"),
    ]


ALL = [softmax, leaky_relu, lrn, regression, svm_output, softmax_cross_entropy, l2_normalization,
       layer_norms]
