"""Initializers: the JSON they write, and what those without chance fill in.

    $PY tools/oracle/record_init.py     # under MXNet -> tests/golden/initializers.json
"""
import json
import os
import warnings

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden",
                      "initializers.json")

# class, keyword arguments: what dumps() writes
DUMPS = [
    ("Zero", {}), ("One", {}), ("Bilinear", {}), ("Constant", {"value": 2}),
    ("Constant", {"value": 0.25}), ("Uniform", {}), ("Uniform", {"scale": 1e-05}), ("Normal", {}),
    ("Normal", {"sigma": 0.5}), ("Orthogonal", {}), ("Orthogonal", {"scale": 2.5, "rand_type": "normal"}),
    ("Xavier", {}), ("Xavier", {"rnd_type": "gaussian", "factor_type": "in", "magnitude": 2.34}),
    ("MSRAPrelu", {}), ("MSRAPrelu", {"factor_type": "out", "slope": 0.125}), ("LSTMBias", {}),
    ("LSTMBias", {"forget_bias": 2.5}),
    ("FusedRNN", {"init": None, "num_hidden": 3, "num_layers": 2, "mode": "lstm"}),
    ("FusedRNN", {"init": "Xavier", "num_hidden": 3, "num_layers": 2, "mode": "gru",
                  "bidirectional": True, "forget_bias": 0.5}),
]

# class, keyword arguments, shape: what _init_weight fills in
FILLS = [
    ("Zero", {}, (2, 3)), ("One", {}, (4,)), ("Constant", {"value": 0.75}, (2, 2)),
    ("Bilinear", {}, (1, 1, 4, 4)), ("Bilinear", {}, (2, 1, 3, 5)), ("Bilinear", {}, (1, 2, 6, 2)),
    ("LSTMBias", {"forget_bias": 1.5}, (8,)), ("LSTMBias", {}, (10,)),
    ("FusedRNN", {"init": "One", "num_hidden": 2, "num_layers": 1, "mode": "lstm"}, (2 * 4 * (3 + 2 + 2),)),
    ("FusedRNN", {"init": "One", "num_hidden": 2, "num_layers": 2, "mode": "lstm",
                  "bidirectional": True, "forget_bias": 3.0},
     (2 * 4 * 2 * (3 + 2 + 2) + 2 * 4 * 2 * (4 + 2 + 2),)),
    ("FusedRNN", {"init": "One", "num_hidden": 2, "num_layers": 2, "mode": "gru"},
     (2 * 3 * (3 + 2 + 2) + 2 * 3 * (2 + 2 + 2),)),
    ("FusedRNN", {"init": "One", "num_hidden": 2, "num_layers": 1, "mode": "rnn_tanh"}, (2 * (3 + 2 + 2),)),
]

NAMES = ["fc_weight", "fc_bias", "bn_gamma", "bn_beta", "q_min", "q_max", "bn_moving_mean",
         "bn_moving_var", "x_moving_inv_var", "x_moving_avg", "upsampling0_weight", "stn_loc_weight",
         "stn_loc_bias", "data", "weight_quantize_not", "fc_bias_quantize", "alpha"]


def make(mx, name, kwargs):
    kwargs = dict(kwargs)
    if isinstance(kwargs.get("init"), str):
        kwargs["init"] = getattr(mx.init, kwargs["init"])()
    return getattr(mx.init, name)(**kwargs)


def shape_for(name):
    return (6,) if name == "stn_loc_bias" else (1, 1, 3, 3)


def filled(mx, call, shape):
    """The numbers, or the error."""
    array = mx.nd.array([7.0]).reshape((1,) * len(shape)).broadcast_to(shape)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            call(array)
        return [float(x) for x in array.asnumpy().ravel()]
    except ValueError as error:
        return ["ValueError", str(error)]


def dispatched(mx, name):
    """By an InitDesc and by a plain name, with a Constant for weights."""
    init = mx.init.Constant(0.5)
    return [filled(mx, lambda a: init(mx.init.InitDesc(name), a), shape_for(name)),
            filled(mx, lambda a: init(name, a), shape_for(name))]


def own(mx):
    """An array whose attribute names its initializer."""
    desc = mx.init.InitDesc("data", {"__init__": '["lstmbias", {"forget_bias": 4.0}]'})
    return filled(mx, lambda a: mx.init.Zero()(desc, a), (4,))


def main():
    import mxnet as mx

    answers = {
        "dumps": [[name, kwargs, make(mx, name, kwargs).dumps()] for name, kwargs in DUMPS],
        "fills": [[name, kwargs, list(shape), make(mx, name, kwargs).dumps(), filled(
            mx, lambda a: make(mx, name, kwargs)._init_weight(mx.init.InitDesc("x"), a), shape)]
                  for name, kwargs, shape in FILLS],
        "names": {name: dispatched(mx, name) for name in NAMES},
        "own": own(mx),
    }
    with open(TARGET, "w") as file:
        file.write("{%s\n}\n" % ",".join(
            "\n%s: %s" % (json.dumps(key), json.dumps(value)) for key, value in answers.items()))


if __name__ == "__main__":
    main()
