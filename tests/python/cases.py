"""What tools/oracle/record_python.py runs under MXNet, and the tests under Symbind: each function
takes the package, so both sides build the same thing. The answers are in tests/golden/python/."""
import contextlib
import io
import json
import os
import sys
import types

import numpy as np

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "python")


def recorded(name):
    """The recording tests/golden/python/<name>.json."""
    with open(os.path.join(GOLDEN, name + ".json")) as file:
        return json.load(file)


def outcome(function, *args, **kwargs):
    """What a call printed, and the error it raised as [class, text], or None."""
    printed, error = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        try:
            function(*args, **kwargs)
        except Exception as e:
            error = [type(e).__name__, str(e)]
    return {"printed": printed.getvalue(), "error": error}


# test_utils.assert_almost_equal: name -> (a, b, options). Arrays of at most four elements, which
# every NumPy writes in full and in the same way.

def comparisons():
    a = np.array([[1, 2], [3, 4]], dtype=np.float32)
    b = np.array([[1, 2.5], [3, 3]], dtype=np.float32)
    nan = np.array([np.nan, 1.0])
    return {
        "equal": (a, a, {}),
        "two places": (a, b, {}),
        "names": (a, b, {"names": ("EXPECTED_x", "BACKWARD_x")}),
        "one place shown": (a, b, {"mismatches": (1, 1)}),
        "all places counted": (a, a + 1, {"mismatches": (2, 0)}),
        "counting stops": (a, a + 1, {"mismatches": (3, 2)}),
        "within float32": (a, a * 1.00005, {}),
        "beyond float64": (a.astype(np.float64), a.astype(np.float64) * 1.00005, {}),
        "the wider type holds": (a.astype(np.float64), (a * 1.005).astype(np.float16), {}),
        "rtol by type": (a, b, {"rtol": {np.dtype(np.float32): 1.0}}),
        "rtol and atol": (a, b, {"rtol": 0.1, "atol": 0.1}),
        "integers": (np.arange(3), np.arange(3) + 1, {}),
        "nan": (nan, nan, {}),
        "nan is nan": (nan, nan, {"equal_nan": True}),
        "infinity": (np.array([np.inf, 1.0]), np.array([np.inf, 2.0]), {}),
        "numbers": (1.0, 2.0, {}),
        "shapes": (a, b[:1], {"use_broadcast": False}),
    }


# Functions of test_utils that draw from NumPy's generator: (function, arguments).

def draws():
    return [
        ("random_arrays", [[2, 3]], {}), ("random_arrays", [[2], []], {}),
        ("random_uniform_arrays", [[2], [3]], {"low": 2, "high": 3}),
        ("random_sample", [list(range(9)), 4], {}),
        ("rand_shape_2d", [], {}), ("rand_shape_3d", [4, 5, 6], {}),
        ("rand_shape_nd", [5], {}), ("rand_shape_nd", [6, 1], {"allow_zero_size": True}),
        ("rand_coord_2d", [0, 9, 10, 19], {}), ("rand_ndarray", [[2, 2]], {}),
    ]


def draw(test_utils, function, args, kwargs):
    """Numbers a draw gives under seed 7, and the next number of the generator."""
    np.random.seed(7)
    result = getattr(test_utils, function)(*args, **kwargs)
    if not isinstance(result, (list, tuple)):
        result = [result]
    flat = [np.asarray(each.asnumpy() if hasattr(each, "asnumpy") else each) for each in result]
    return {"values": [each.ravel().tolist() for each in flat], "next": np.random.rand()}


# Symbol checks: name -> a function of the package that runs one.

def symbol_checks():
    def network(mx):
        x = mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=2, name="fc")
        return mx.sym.Activation(x, act_type="tanh", name="tanh")

    x = np.array([[0.5, -1.0, 2.0]])
    weight = np.array([[1.0, 0.5, -0.25], [0.0, -1.0, 0.5]])
    bias = np.array([0.5, -0.5])
    location = [x, weight, bias]
    output = np.tanh(x.dot(weight.T) + bias)
    head = np.array([[2.0, -1.0]])
    delta = head * (1 - output ** 2)
    grads = {"x": delta.dot(weight), "fc_weight": delta.T.dot(x), "fc_bias": delta.sum(axis=0)}

    def blocked(mx):
        variable = mx.sym.Variable("x")
        return mx.sym.BlockGrad(variable) * variable

    def check(function, *args, **kwargs):
        return lambda mx: getattr(mx.test_utils, function)(network(mx), *args, **kwargs)

    return {
        "forward": check("check_symbolic_forward", location, [output]),
        "forward, another value": check("check_symbolic_forward", location, [output + 0.5]),
        "forward, by name": check("check_symbolic_forward", dict(zip(
            ["x", "fc_weight", "fc_bias"], location)), {"tanh_output": output}),
        "backward": check("check_symbolic_backward", location, [head], grads),
        "backward, add": check("check_symbolic_backward", location, [head], grads, grad_req="add"),
        "backward, null": check("check_symbolic_backward", location, [head],
                                {"fc_bias": bias}, grad_req="null"),
        "backward, another value": check("check_symbolic_backward", location, [head],
                                         {"fc_bias": grads["fc_bias"] + 1}),
        "numeric gradient": check("check_numeric_gradient", location),
        "numeric gradient, float64": check("check_numeric_gradient", location, dtype=np.float64,
                                           numeric_eps=1e-4, rtol=1e-6),
        "numeric gradient, requests": check(
            "check_numeric_gradient", location,
            grad_nodes={"x": "write", "fc_weight": "add", "fc_bias": "null"}),
        "numeric gradient, wrong": lambda mx: mx.test_utils.check_numeric_gradient(
            blocked(mx), [x[:, :2]], dtype=np.float64, numeric_eps=0.5, rtol=0.25, atol=0.25),
        "consistency": lambda mx: mx.test_utils.check_consistency(network(mx), [
            {"ctx": mx.cpu(0), "x": (2, 3), "type_dict": {"x": dtype}}
            for dtype in (np.float32, np.float64)]),
        "consistency, add": lambda mx: mx.test_utils.check_consistency(network(mx), [
            {"ctx": mx.cpu(i), "x": (2, 3)} for i in range(2)], grad_req="add", use_uniform=True),
    }


# Networks for visualization: name -> (symbol, shapes or None).

def viz_networks(mx):
    data = mx.sym.Variable("data")
    x = mx.sym.Embedding(data, input_dim=100, output_dim=28, name="emb1")
    x = mx.sym.Convolution(x, num_filter=32, kernel=(3, 3), stride=(2, 2), name="conv1")
    x = mx.sym.BatchNorm(x, name="bn1")
    x = mx.sym.Activation(x, act_type="relu", name="relu1")
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="mp1")
    x = mx.sym.FullyConnected(x, bias=mx.sym.Variable("fc1_bias"), num_hidden=10, name="fc1")
    embedding = mx.sym.SliceChannel(x, num_outputs=10, squeeze_axis=0, name="slice_1")

    left = mx.sym.Convolution(data, num_filter=4, kernel=(3, 3), num_group=2, no_bias=True,
                              name="left")
    right = mx.sym.Convolution(data, num_filter=6, kernel=(3, 3), name="right_with_a_name_that_"
                               "needs_more_room_than_its_column_has")
    x = mx.sym.LeakyReLU(mx.sym.Concat(left, right, name="concat"), name="leaky")
    x = mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool")
    x = mx.sym.FullyConnected(mx.sym.Flatten(x, name="flat"), num_hidden=3, no_bias=True, name="fc")
    branches = mx.sym.SoftmaxOutput(x, name="softmax")

    a, b = mx.sym.Variable("a"), mx.sym.Variable("b")
    return {
        "embedding": (embedding, {"data": (1, 3, 28)}),
        "embedding, no shape": (embedding, None),
        "branches": (branches, {"data": (2, 4, 8, 8)}),
        "branches, no shape": (branches, None),
        "sum": (mx.sym.elemwise_add(a, b, name="sum"), {"a": (2, 3), "b": (2, 3)}),
        "group": (mx.sym.Group([mx.sym.negative(a, name="minus"), b]), None),
        "variable": (a, {"a": (2, 3)}),
    }


class Digraph:
    """Replaces graphviz.Digraph and records the calls."""

    def __init__(self, **options):
        self.drawn = [["graph", options]]

    def node(self, **attributes):
        self.drawn.append(["node", attributes])

    def edge(self, **attributes):
        self.drawn.append(["edge", attributes])


@contextlib.contextmanager
def fake_graphviz():
    """`import graphviz` gives a module with the Digraph above."""
    before = sys.modules.get("graphviz")
    sys.modules["graphviz"] = types.ModuleType("graphviz")
    sys.modules["graphviz"].Digraph = Digraph
    try:
        yield
    finally:
        if before is None:
            del sys.modules["graphviz"]
        else:
            sys.modules["graphviz"] = before


def summary(mx, symbol, shape):
    """The text of print_summary."""
    return outcome(mx.viz.print_summary, symbol, shape)["printed"]


def drawing(mx, symbol, shape):
    """What plot_network draws, sorted attributes and all."""
    with fake_graphviz():
        options = {} if shape is None else {
            "shape": shape, "dtype": {name: np.float32 for name in shape}, "hide_weights": False}
        return mx.viz.plot_network(symbol, **options).drawn
