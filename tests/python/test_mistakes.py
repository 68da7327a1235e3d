"""Mistakes of docs/mistakes.md, by their numbers there, and what the message must contain.

Every error is the Python exception MXNet raises there and an MXNetError.
"""
import json
import pickle
import re

import pytest

import symbind as mx

sym, cpu = mx.sym, mx.cpu()
data = sym.Variable("data")


def check(call, kind, *parts):
    """`call` raises `kind`, which is an MXNetError too, with all of `parts` in its text."""
    with pytest.raises(kind) as raised:
        call()
    assert isinstance(raised.value, mx.MXNetError)
    text = str(raised.value)
    for part in parts:
        assert part in text, f"{part!r} is not in:\n{text}"
    return text


def mlp():
    net = sym.FullyConnected(data, num_hidden=128, name="fc1")
    net = sym.Activation(net, act_type="relu", name="relu1")
    net = sym.FullyConnected(net, num_hidden=10, name="fc2")
    return sym.SoftmaxOutput(net, name="softmax")


ARGUMENTS = ["data", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias", "softmax_label"]


def arrays(**other):
    shapes = {"data": (100, 784), "fc1_weight": (128, 784), "fc1_bias": (128,),
              "fc2_weight": (10, 128), "fc2_bias": (10,), "softmax_label": (100,)}
    return {name: mx.nd.zeros(shape) for name, shape in {**shapes, **other}.items()}


def test_1_parameter_with_a_typo():
    parts = ["FullyConnected", "num_hiden", "num_hidden", "no_bias", "flatten"]
    check(lambda: sym.FullyConnected(data, num_hiden=10), ValueError, *parts)
    one = mx.nd.ones((1, 1))
    check(lambda: mx.nd.FullyConnected(one, one, one, num_hiden=10), ValueError, *parts)


def test_2_parameter_missing():
    check(lambda: sym.FullyConnected(data), ValueError, "FullyConnected", "num_hidden is required")


def test_3_kernel_with_too_few_axes():
    net = sym.Convolution(data, kernel=3, num_filter=8, name="conv1")
    check(lambda: net.infer_shape(data=(1, 3, 8, 8)), ValueError, "conv1",
          "kernel (3,) is 1-D but the data has 2 spatial axes; give (3, 3)")


def test_4_choice_with_a_typo():
    check(lambda: sym.Activation(data, act_type="rely"), ValueError, "rely", "did you mean 'relu'",
          "sigmoid", "softrelu", "softsign", "tanh")


@pytest.mark.parametrize("module", [mx.sym, mx.nd])
def test_5_operator_with_a_typo(module):
    check(lambda: module.Convolutoin(data, kernel=3), AttributeError, "Convolutoin", "'Convolution'")
    assert not hasattr(module, "Convolutoin")
    assert not hasattr(module, "__wrapped__")


def test_6_weight_of_another_size():
    check(lambda: mlp().bind(cpu, arrays(fc1_weight=(128, 100))), ValueError, "FullyConnected 'fc1'",
          "fc1_weight  given (128, 100)   needed (128, 784)    because",
          "path: data (100, 784) → fc1", "fix:")


def test_7_sum_of_unequal_shapes():
    total = sym.Variable("a") + sym.Variable("b")
    text = check(lambda: total.infer_shape(a=(2, 3), b=(2, 4)), ValueError, "a (2, 3)", "b  given (2, 4)")
    assert "broadcast_add" not in text
    check(lambda: total.infer_shape(a=(2, 3), b=(2, 1)), ValueError, "a (2, 3)", "b  given (2, 1)",
          "use broadcast_add")


def test_8_concat_of_unequal_shapes():
    net = sym.Concat(sym.Variable("a"), sym.Variable("b"), dim=1, name="cat")
    check(lambda: net.infer_shape(a=(2, 3, 8, 8), b=(2, 3, 7, 7)), ValueError, "Concat 'cat'",
          "b  given (2, 3, 7, 7)", "axis 2 differs")


def test_9_reshape_that_does_not_fit():
    net = sym.Reshape(data, shape=(4, 5), name="rs")
    parts = ["(2, 3)", "(4, 5)", "6", "20"]
    check(lambda: net.infer_shape(data=(2, 3)), ValueError, "Reshape 'rs'", *parts)
    check(lambda: mx.nd.ones((2, 3)).reshape((4, 5)), ValueError, *parts)


def test_10_bind_without_shapes():
    check(lambda: mlp().simple_bind(cpu), ValueError, "data", "fc1_weight", "softmax_label",
          "give data=…")


def test_11_shape_for_a_name_with_a_typo():
    check(lambda: mlp().infer_shape(dta=(1, 2)), ValueError, "dta", "did you mean 'data'", *ARGUMENTS)


def test_12_argument_missing():
    check(lambda: mlp().bind(cpu, {"data": mx.nd.zeros((100, 784))}), ValueError,
          "argument 'fc1_weight' is missing", ", ".join(ARGUMENTS))


def test_13_auxiliary_states_missing():
    three = mx.nd.ones((3,))
    net = sym.BatchNorm(data, name="bn")
    check(lambda: net.bind(cpu, [mx.nd.ones((2, 3)), three, three]), ValueError,
          "bn_moving_mean (3,)", "bn_moving_var (3,)", "aux_states")


@pytest.mark.parametrize("grad_req", ["wirte", ["wirte"] * 6, {"data": "wirte"}])
def test_14_gradient_request_with_a_typo(grad_req):
    check(lambda: mlp().simple_bind(cpu, grad_req=grad_req, data=(2, 3)), ValueError, "wirte",
          "write, add, null")


def test_15_backward_without_a_loss():
    executor = sym.FullyConnected(data, num_hidden=2, name="fc").simple_bind(cpu, data=(2, 3))
    executor.forward(is_train=True)
    check(executor.backward, ValueError, "fc_output", "head gradient", "MakeLoss")


def test_16_forward_with_another_shape():
    executor = mlp().simple_bind(cpu, data=(2, 3))
    check(lambda: executor.forward(data=mx.nd.ones((3, 3))), ValueError, "Shape not match!", "data",
          "(2, 3)", "(3, 3)", "reshape")
    check(lambda: executor.forward(dta=mx.nd.ones((2, 3))), TypeError, "dta")
    check(lambda: executor.forward(data=[1, 2]), ValueError)


def test_17_forward_twice_warns_once(caplog):
    executor = mlp().simple_bind(cpu, data=(2, 3))
    for _ in range(3):
        executor.forward(is_train=True)
    text = ("Calling forward the second time after forward(is_train=True) without calling backward "
            "first. Is this intended?")
    assert caplog.messages.count(text) == 1


def test_18_backward_first_warns_once(caplog):
    executor = mlp().simple_bind(cpu, data=(2, 3))
    executor.backward()
    executor.backward()
    text = "Calling backward without calling forward(is_train=True) first. Behavior is undefined."
    assert caplog.messages.count(text) == 1


@pytest.mark.skipif(mx.context.num_gpus() > 0, reason="there is a GPU")
def test_19_no_such_device():
    parts = ["gpu(0)", "no CUDA device", "devices: 0", "fix:"]
    text = check(lambda: mx.nd.ones((2,), ctx=mx.gpu(0)), ValueError, *parts)
    assert re.search("CPU build|driver", text)
    check(lambda: mlp().simple_bind(mx.gpu(0), data=(2, 3)), ValueError, *parts)


def test_20_a_net_too_large():
    net = sym.FullyConnected(data, num_hidden=10 ** 6, name="big")
    net = sym.FullyConnected(net, num_hidden=2 * 10 ** 6, name="bigger")
    check(lambda: net.simple_bind(cpu, data=(10, 2)), MemoryError, "GB are free", "bigger_weight",
          "bigger_bias", "big_weight")


def test_30_files_that_are_no_params(tmp_path):
    path = str(tmp_path / "x.params")
    mx.nd.save(path, {"a": mx.nd.ones((10, 10))})
    with open(path, "rb") as file:
        whole = file.read()

    def load(content, *parts):
        with open(path, "wb") as file:
            file.write(content)
        check(lambda: mx.nd.load(path), OSError, path, *parts)

    load(whole[:200], "ends too early", "at byte 64")
    load(b"\x89PNG\r\n\x1a\n" + bytes(100), "at byte 8", "PNG")
    load(pickle.dumps({"a": 1}), "at byte 8", "pickle")
    load(b"", "at byte 0")
    check(lambda: mx.nd.load(str(tmp_path / "absent.params")), OSError, "absent.params", "No such file")


def test_31_unknown_operators():
    nodes = [{"op": "null", "name": "data", "inputs": []}]
    nodes += [{"op": f"Foo{i}", "name": f"node{i}", "inputs": [[i, 0, 0]]} for i in range(5)]
    text = json.dumps({"nodes": nodes, "arg_nodes": [0], "heads": [[5, 0, 0]]})
    check(lambda: sym.load_json(text), ValueError,
          *(part for i in range(5) for part in (f"Foo{i}", f"node{i}")))


def test_38_index_out_of_range():
    x = mx.nd.ones((3, 4))
    check(lambda: x[5], IndexError, "index 5", "axis 0", "size 3")
    check(lambda: x[:, 9], IndexError, "index 9", "axis 1", "size 4")
    check(lambda: x[[0, 7]], IndexError, "index 7", "axis 0", "size 3")
    check(lambda: x[1, [0, -6]], IndexError, "index -6", "axis 1", "size 4")
    check(lambda: x[0, 0, 0], IndexError, "2 axes", "3 were indexed")
    check(lambda: x[None, "a"], TypeError, "'a'")


def test_39_error_of_an_operator_comes_once():
    label = sym.Variable("label")
    executor = sym.softmax_cross_entropy(data, label, name="loss").bind(
        cpu, {"data": mx.nd.ones((2, 2)), "label": mx.nd.array([0, 7])})
    executor.forward()
    check(executor.outputs[0].asnumpy, IndexError, "softmax_cross_entropy 'loss'", "row 1 is 7",
          "2 classes")
    assert executor.outputs[0].asnumpy().shape == (1,)
    mx.nd.waitall()


def test_40_a_custom_operator_raises():
    class Broken(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            raise TypeError("no such thing")

    @mx.operator.register("test_broken")
    class BrokenProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, in_shapes, in_dtypes):
            return Broken()

    executor = sym.Custom(data, op_type="test_broken", name="mine").simple_bind(cpu, data=(2, 2))
    executor.forward()
    check(executor.outputs[0].asnumpy, TypeError, "Custom 'mine'", "'test_broken'",
          "Traceback (most recent call last)", "in forward", 'raise TypeError("no such thing")',
          "TypeError: no such thing")
    assert executor.outputs[0].asnumpy().shape == (2, 2)
    mx.nd.waitall()
