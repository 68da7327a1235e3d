"""Loops: contrib.foreach over symbols against MXNet 1.9.1's numbers, the imperative loop and mathematics."""
import json

import numpy as np
import pytest

import symbind as mx
from symbind import _nested

F, V, S = mx.sym.contrib.foreach, mx.sym.Variable, mx.sym


def bound(symbol, **shapes):
    """An executor whose arguments are drawn in the order of their names, run forward and backward."""
    executor = symbol.simple_bind(mx.cpu(), grad_req="write", **shapes)
    draw = np.random.RandomState(1)
    for name in sorted(executor.arg_dict):
        executor.arg_dict[name][:] = draw.uniform(-1, 1, executor.arg_dict[name].shape)
    heads = [mx.nd.array(draw.uniform(-1, 1, out.shape)) for out in executor.forward(is_train=True)]
    executor.backward(heads)
    return executor, heads


def lstm(x, states):
    gates = S.FullyConnected(x, V("wx"), V("b"), num_hidden=12, name="i") \
        + S.FullyConnected(states[0], V("wh"), no_bias=True, num_hidden=12, name="h")
    i, f, c, o = S.SliceChannel(gates, num_outputs=4, axis=1)
    cell = S.sigmoid(f) * states[1] + S.sigmoid(i) * S.tanh(c)
    hidden = S.sigmoid(o) * S.tanh(cell)
    return hidden, [hidden, cell]


def total(array):
    return float(np.abs(array.asnumpy()).sum())


def test_lstm_has_mxnets_numbers():
    outputs, states = F(lstm, V("data"), [V("h0"), V("c0")])
    loop = S.Group([outputs] + states)
    assert loop.list_arguments() == ["data", "h0", "c0", "wx", "b", "wh"]
    shapes = dict(data=(5, 2, 4), h0=(2, 3), c0=(2, 3))
    assert loop.infer_shape(**shapes)[:2] == (
        [(5, 2, 4), (2, 3), (2, 3), (12, 4), (12,), (12, 3)], [(5, 2, 3), (2, 3), (2, 3)])
    executor, _ = bound(loop, **shapes)
    assert [total(out) for out in executor.outputs] == pytest.approx(LSTM["outputs"], rel=1e-5)
    assert {name: total(grad) for name, grad in executor.grad_dict.items()} \
        == pytest.approx(LSTM["grads"], rel=1e-4)


def test_graph_around_the_loop_has_mxnets_numbers():
    outer = S.exp(V("w"), name="outer")

    def body(x, states):
        y = S.FullyConnected(x[0], num_hidden=3, name="fc") + states[0] * outer + x[1]
        return [y, x[0] * 2], [y * 0.5, states[1]]
    outputs, states = F(body, [V("data"), V("d2")], [V("s0"), V("un")])
    executor, _ = bound(S.Group(outputs + states), data=(4, 2, 5), d2=(4, 2, 3), s0=(2, 3), w=(2, 3), un=(7,))
    assert [total(out) for out in executor.outputs] == pytest.approx(OUTER["outputs"], rel=1e-5)
    assert {name: total(grad) for name, grad in executor.grad_dict.items()} \
        == pytest.approx(OUTER["grads"], rel=1e-4)


def nested(space, loop):
    def inner(y, t):
        return space.broadcast_mul(y, t[0]), [t[0] + y * y]

    def body(x, states):
        outputs, last = loop(inner, x, [states[0]])
        return outputs, [last[0] * 0.5]
    return body


@pytest.mark.parametrize("body, shapes", [
    (lambda space, loop: lambda x, s: (x + s[0], [s[0] * 2 + x]), dict(data=(3, 2, 4), s0=(2, 4))),
    (lambda space, loop: lambda x, s: ([], [s[0] + x * x]), dict(data=(4, 2), s0=(2,))),
    (lambda space, loop: lambda x, s: (space.tanh(x), s), dict(data=(4, 2), s0=(2,))),
    (lambda space, loop: lambda x, s: (x * s[0], [x + s[0]]), dict(data=(4,), s0=(1,))),
    (lambda space, loop: lambda x, s: ([x, [x * s[0]]], [s[0] * x]), dict(data=(1, 3), s0=(3,))),
    (nested, dict(data=(3, 2, 4), s0=(4,))),
], ids=["sum", "states alone", "states pass", "a vector", "one turn", "nested"])
def test_the_imperative_loop_agrees(body, shapes):
    outputs, states = F(body(S, F), V("data"), [V("s0")])
    flat = _nested.flatten(outputs, S.Symbol, "")[0]
    executor, heads = bound(S.Group(flat + states), **shapes)

    arrays = {name: mx.nd.array(value.asnumpy()) for name, value in executor.arg_dict.items()}
    for array in arrays.values():
        array.attach_grad()
    with mx.autograd.record():
        outputs, states = mx.nd.contrib.foreach(body(mx.nd, mx.nd.contrib.foreach), arrays["data"], [arrays["s0"]])
        wanted = _nested.flatten(outputs, mx.nd.NDArray, "")[0] + states
    mx.autograd.backward(wanted, heads)
    for got, want in zip(executor.outputs, wanted):
        np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-6)
    for name, array in arrays.items():
        np.testing.assert_allclose(executor.grad_dict[name].asnumpy(), array.grad.asnumpy(), rtol=1e-5, atol=1e-6)


def test_states_of_operators_are_the_loops():
    outputs, _ = F(lambda x, s: (S.BatchNorm(x, fix_gamma=False, momentum=0.5, name="bn"), []), V("data"), [])
    assert outputs.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    executor = outputs.simple_bind(mx.cpu(), data=(2, 4, 1))
    executor.arg_dict["data"][:] = mx.nd.array([[[1]] * 4, [[3]] * 4])
    executor.forward(is_train=True)
    executor.backward([mx.nd.ones((2, 4, 1))])
    # Backward updates the averages, and it goes from the last turn (mean 3) to the first (mean 1).
    assert executor.aux_dict["bn_moving_mean"].asnumpy().tolist() == [(3 * 0.5) * 0.5 + 1 * 0.5]


def test_a_module_trains_a_loop():
    outputs, states = F(lambda x, s: (s[0] + x, [s[0] + x]), S.transpose(V("data"), axes=(1, 0, 2)), [V("zero")])
    net = S.LinearRegressionOutput(S.FullyConnected(states[0], num_hidden=1, name="fc"), V("label"))
    x = np.random.RandomState(0).uniform(-1, 1, (64, 5, 3)).astype("float32")
    it = mx.io.NDArrayIter({"data": x, "zero": np.zeros((64, 3))}, {"label": x.sum(1) @ [[1], [2], [-1]]}, 16)
    mod = mx.mod.Module(net, ["data", "zero"], ["label"])
    mod.fit(it, num_epoch=30, optimizer_params={"learning_rate": 0.1}, eval_metric="mse")
    np.testing.assert_allclose(mod.get_params()[0]["fc_weight"].asnumpy(), [[1, 2, -1]], atol=0.02)


def test_files_hold_the_body_as_mxnets_do():
    outputs, states = F(lstm, V("data"), [V("h0"), V("c0")])
    loop = S.Group([outputs] + states)
    text = loop.tojson()
    node = json.loads(text)["nodes"][-1]
    assert node["op"] == "_foreach" and list(node) == ["op", "name", "attrs", "inputs", "subgraphs"]
    assert set(node["attrs"]) == {"in_data_locs", "in_state_locs", "remain_locs", "num_args", "num_out_data",
                                  "num_outputs"}
    assert [n["name"] for n in node["subgraphs"][0]["nodes"] if n["op"] == "null"][0] == "data-0"
    again = mx.sym.load_json(text)
    assert again.tojson() == text
    shapes = dict(data=(5, 2, 4), h0=(2, 3), c0=(2, 3))
    for one, two in zip(bound(loop, **shapes)[0].outputs, bound(again, **shapes)[0].outputs):
        assert (one.asnumpy() == two.asnumpy()).all()


def test_a_file_of_mxnets_without_a_version_in_the_body():
    loop = F(lambda x, s: (x * 2 + s[0], [s[0] + 1]), V("data"), [V("s0")])[0]
    read = json.loads(loop.tojson())
    del read["nodes"][-1]["subgraphs"][0]["attrs"]
    out = mx.sym.load_json(json.dumps(read)).eval(data=mx.nd.array([[1], [2]]), s0=mx.nd.array([10]))[0]
    assert out.asnumpy().tolist() == [[12], [15]]


@pytest.mark.parametrize("change", [
    lambda node: node.pop("subgraphs"),
    lambda node: node.update(subgraphs=[3]),
    lambda node: node.update(subgraphs=[{}]),
    lambda node: node.update(subgraphs=node["subgraphs"] * 2),
    lambda node: node["attrs"].update(in_data_locs="(7,)"),
    lambda node: node["attrs"].update(in_data_locs="(0, 0)"),
    lambda node: node["attrs"].update(in_data_locs="()"),
    lambda node: node["attrs"].update(num_outputs="9"),
    lambda node: node["attrs"].update(num_out_data="-1"),
    lambda node: node["subgraphs"][0].update(heads=[[99, 0, 0]]),
], ids=range(10))
def test_bad_files(change):
    read = json.loads(F(lambda x, s: (x + s[0], [x]), V("data"), [V("s0")])[0].tojson())
    change(read["nodes"][-1])
    with pytest.raises(mx.MXNetError):
        mx.sym.load_json(json.dumps(read))


def test_mistakes():
    data, s0 = V("data"), V("s0")
    for body, message in [
            (lambda x, s: (s[0], [s[0]]), "the data arrays have to be used in the loop body"),
            (lambda x, s: (x, [x]), "the state arrays have to be used in the loop body"),
            (lambda x, s: (x + s[0], [x, x]), "loop_vars have different format"),
            (lambda x, s: (x + s[0], [3]), "foreach loop_vars must be .* Symbol")]:
        with pytest.raises(AssertionError, match=message):
            F(body, data, [s0])
    outputs, states = F(lambda x, s: (x + s[0], [x]), data, [s0])
    with pytest.raises(ValueError, match="s0"):
        outputs.simple_bind(mx.cpu(), data=(3, 2), s0=(5,))
    two, _ = F(lambda x, s: (x[0] * x[1], []), [data, s0], [])
    with pytest.raises(ValueError, match="slices"):
        two.simple_bind(mx.cpu(), data=(3, 2), s0=(4, 2))


def test_loops_within_loops_have_an_end():
    """A small file can ask for any number of nodes, and of levels."""
    def many(x, _):
        return F(lambda y, _: (y * x, []), mx.sym.ones((60000, 1)), [])[0].sum(), []

    outputs, _ = F(many, V("data"), [])
    with pytest.raises(mx.MXNetError, match="cannot be unrolled: with 60000 iterations of 3 nodes"):
        outputs.simple_bind(mx.cpu(), data=(1000, 1))

    def deep(level):
        def body(x, _):
            return (F(deep(level - 1), mx.sym.stack(x, x), [])[0] if level else x * 2), []
        return body

    outputs, _ = F(deep(4), V("data"), [])
    out = outputs.simple_bind(mx.cpu(), data=(1, 1)).forward(data=mx.nd.array([[3]]))[0]
    assert out.asnumpy().ravel().tolist() == [6] * 16
    with pytest.raises(mx.MXNetError, match="nested 7 deep"):
        F(deep(6), V("data"), [])


# Sums of absolute values that MXNet 1.9.1 gave for these graphs and arguments.
LSTM = {"outputs": [4.463979, 1.2676986, 2.4965551],
        "grads": {"data": 3.32857, "h0": 0.70552, "c0": 0.55147, "wx": 4.06634, "b": 1.29213, "wh": 1.13159}}
OUTER = {"outputs": [28.228992, 43.862862, 4.455078, 2.680442],
         "grads": {"data": 54.84356, "d2": 19.38183, "s0": 5.33118, "un": 2.77763, "fc_weight": 15.83479,
                   "fc_bias": 10.49125, "w": 11.30847}}
