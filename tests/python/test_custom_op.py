"""Operators written in Python, against NumPy and against what MXNet 1.9.1 was seen to do."""
import gc
import json
import os
import pickle
import threading
import weakref

import numpy as np
import pytest

import symbind as mx


def register(name, forward=None, backward=None, prop=None, **members):
    """A CustomOp of two functions and its property; `members` go to the property."""
    class Op(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            forward(self, is_train, req, in_data, out_data, aux)

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            backward(self, req, out_grad, in_data, out_data, in_grad, aux)

    base = prop or mx.operator.CustomOpProp
    made = {"create_operator": lambda self, ctx, shapes, dtypes: Op(), **members}
    return mx.operator.register(name)(type(name, (base,), made))


class SquareOp(mx.operator.CustomOp):
    """scale * x ** 2"""

    def __init__(self, scale):
        self.scale = scale

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] * in_data[0] * self.scale)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], 2 * self.scale * in_data[0] * out_grad[0])


@mx.operator.register("test_square")
class SquareProp(mx.operator.CustomOpProp):
    def __init__(self, scale="1"):
        super().__init__(need_top_grad=True)
        assert isinstance(scale, str)
        self.scale = float(scale)

    def create_operator(self, ctx, shapes, dtypes):
        return SquareOp(self.scale)


X = np.array([[1., -2., 3.], [0.5, 0., -1.5]], dtype=np.float32)
HEAD = np.array([[1., 2., -1.], [0.25, 3., 2.]], dtype=np.float32)


def bound(symbol, grad_req="write", **values):
    executor = symbol.simple_bind(mx.cpu(), grad_req=grad_req,
                                  **{name: value.shape for name, value in values.items()})
    for name, value in values.items():
        executor.arg_dict[name][:] = value
    return executor


# ------------------------------------------------------------------ values


def test_forward_and_backward():
    symbol = mx.sym.Custom(data=mx.sym.Variable("x"), op_type="test_square", scale=3, name="sq")
    assert symbol.list_outputs() == ["sq_output"]
    executor = bound(symbol, x=X)
    np.testing.assert_allclose(executor.forward(is_train=True)[0].asnumpy(), 3 * X ** 2)
    executor.backward(mx.nd.array(HEAD))
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), 6 * X * HEAD)


def test_imperative():
    np.testing.assert_allclose(mx.nd.Custom(mx.nd.array(X), op_type="test_square").asnumpy(), X ** 2)
    by_keyword = mx.nd.Custom(data=mx.nd.array(X), op_type="test_square", scale=0.5)
    np.testing.assert_allclose(by_keyword.asnumpy(), X ** 2 / 2)
    out = mx.nd.zeros(X.shape)
    assert mx.nd.Custom(mx.nd.array(X), op_type="test_square", out=out) is out
    np.testing.assert_allclose(out.asnumpy(), X ** 2)


def test_inside_a_network():
    """Inputs that die and outputs that live in the executor's memory."""
    x = mx.sym.Variable("x")
    y = mx.sym.Custom(mx.sym.exp(x), op_type="test_square") + mx.sym.sin(x)
    executor = bound(y, x=X)
    executor.forward(is_train=True)
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), np.exp(X) ** 2 + np.sin(X), rtol=1e-6)
    executor.backward(mx.nd.array(HEAD))
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(),
                               HEAD * (2 * np.exp(X) ** 2 + np.cos(X)), rtol=1e-5)


@pytest.mark.parametrize("grad_req", ["add", "null"])
def test_grad_req(grad_req):
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="test_square"), grad_req, x=X)
    if grad_req == "add":
        executor.grad_dict["x"][:] = 5
    for _ in range(2):
        executor.forward(is_train=True)
        executor.backward(mx.nd.array(HEAD))
    if grad_req == "null":
        assert executor.grad_dict["x"] is None
    else:
        np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), 5 + 4 * X * HEAD, rtol=1e-6)


def test_dtypes():
    for dtype in (np.float16, np.float64, np.int32):
        y = mx.nd.Custom(mx.nd.array([2, 3], dtype=dtype), op_type="test_square")
        assert y.dtype == dtype
        np.testing.assert_array_equal(y.asnumpy(), np.array([4, 9], dtype))


def test_several_inputs_and_outputs():
    def forward(self, is_train, req, in_data, out_data, aux):
        a, b = in_data
        self.assign(out_data[0], req[0], mx.nd.dot(a, b))
        self.assign(out_data[1], req[1], a.sum(axis=1))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        a, b = in_data
        self.assign(in_grad[0], req[0], mx.nd.dot(out_grad[0], b.T) + out_grad[1].expand_dims(1))
        self.assign(in_grad[1], req[1], mx.nd.dot(a.T, out_grad[0]))

    def infer_shape(self, in_shape):
        assert all(isinstance(shape, list) for shape in in_shape)
        return in_shape, [(in_shape[0][0], in_shape[1][1]), (in_shape[0][0],)]

    register("test_dot", forward, backward, infer_shape=infer_shape,
             list_arguments=lambda self: ["a", "b"],
             list_outputs=lambda self: ["product", "row_sums"])
    symbol = mx.sym.Custom(b=mx.sym.Variable("right"), a=mx.sym.Variable("left"),
                           op_type="test_dot", name="d")
    assert symbol.list_arguments() == ["left", "right"]
    assert symbol.list_outputs() == ["d_product", "d_row_sums"]
    rng = np.random.default_rng(3)
    a, b = rng.normal(size=(2, 3)).astype("f"), rng.normal(size=(3, 4)).astype("f")
    ga, gb = rng.normal(size=(2, 4)).astype("f"), rng.normal(size=2).astype("f")
    executor = bound(symbol, left=a, right=b)
    product, sums = executor.forward(is_train=True)
    np.testing.assert_allclose(product.asnumpy(), a @ b, rtol=1e-5)
    np.testing.assert_allclose(sums.asnumpy(), a.sum(1), rtol=1e-5)
    executor.backward([mx.nd.array(ga), mx.nd.array(gb)])
    np.testing.assert_allclose(executor.grad_dict["left"].asnumpy(), ga @ b.T + gb[:, None],
                               rtol=1e-5)
    np.testing.assert_allclose(executor.grad_dict["right"].asnumpy(), a.T @ ga, rtol=1e-5)
    results = mx.nd.Custom(b=mx.nd.array(b), a=mx.nd.array(a), op_type="test_dot")
    np.testing.assert_allclose(results[0].asnumpy(), a @ b, rtol=1e-5)


def test_auxiliary_states():
    def forward(self, is_train, req, in_data, out_data, aux):
        if is_train:
            aux[0][:] += in_data[0]
        self.assign(out_data[0], req[0], in_data[0] + aux[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        aux[0][:] *= 10
        self.assign(in_grad[0], req[0], out_grad[0])

    register("test_running", forward, backward,
             list_auxiliary_states=lambda self: ["total"],
             infer_shape=lambda self, s: (s, [s[0]], [s[0]]))
    symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_running", name="run")
    assert symbol.list_arguments() == ["x"]
    assert symbol.list_auxiliary_states() == ["run_total"]
    assert symbol.infer_shape(x=(2, 3)) == ([(2, 3)], [(2, 3)], [(2, 3)])
    executor = bound(symbol, x=X)
    executor.aux_dict["run_total"][:] = 1
    np.testing.assert_allclose(executor.forward(is_train=True)[0].asnumpy(), 2 * X + 1)
    np.testing.assert_allclose(executor.forward(is_train=False)[0].asnumpy(), 2 * X + 1)
    executor.backward(mx.nd.array(HEAD))
    np.testing.assert_allclose(executor.aux_dict["run_total"].asnumpy(), (X + 1) * 10, rtol=1e-6)
    x, total = mx.nd.array(X), mx.nd.ones(X.shape)
    with mx.autograd.train_mode():
        mx.nd.Custom(x, total, op_type="test_running")
    np.testing.assert_allclose(total.asnumpy(), X + 1)


def test_a_loss():
    """MXNet's example: softmax and its own gradient, no head gradient needed."""
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], mx.nd.array(y / y.sum(axis=1, keepdims=True)))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        assert out_grad[0].shape == ()
        y = out_data[0].asnumpy()
        y[np.arange(len(y)), in_data[1].asnumpy().astype(int)] -= 1
        self.assign(in_grad[0], req[0], mx.nd.array(y))

    class LossProp(mx.operator.CustomOpProp):
        def __init__(self):
            super().__init__(need_top_grad=False)

    register("test_softmax", forward, backward, LossProp,
             list_arguments=lambda self: ["data", "label"],
             infer_shape=lambda self, s: ([s[0], (s[0][0],)], [s[0]], []))
    symbol = mx.sym.Custom(mx.sym.Variable("data"), op_type="test_softmax", name="softmax")
    assert symbol.list_arguments() == ["data", "softmax_label"]
    reference = mx.sym.SoftmaxOutput(mx.sym.Variable("data"), name="softmax")
    grads = []
    for each in (symbol, reference):
        executor = bound(each, data=X, softmax_label=np.array([2, 0]))
        executor.forward(is_train=True)
        executor.backward()
        grads.append((executor.outputs[0].asnumpy(), executor.grad_dict["data"].asnumpy()))
    np.testing.assert_allclose(grads[0][0], grads[1][0], rtol=1e-5)
    np.testing.assert_allclose(grads[0][1], grads[1][1], rtol=1e-5, atol=1e-7)


def test_a_head_gradient_is_required():
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="test_square"), x=X)
    executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match="head"):
        executor.backward()


def test_property_without_super_init():
    """A quarter of the public subclasses never call it."""
    class Bare(mx.operator.CustomOpProp):
        def __init__(self, factor):  # pylint: disable=super-init-not-called
            self.factor = factor

        def create_operator(self, ctx, shapes, dtypes):
            return SquareOp(float(self.factor))

    mx.operator.register("test_bare")(Bare)
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="test_bare", factor=2), x=X)
    executor.forward(is_train=True)
    executor.backward(mx.nd.array(HEAD))
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), 4 * X * HEAD)


def test_old_operators():
    class Sigmoid(mx.operator.NumpyOp):
        def forward(self, in_data, out_data):
            assert isinstance(in_data[0], np.ndarray)
            out_data[0][:] = 1 / (1 + np.exp(-in_data[0]))

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = out_grad[0] * out_data[0] * (1 - out_data[0])

    class Double(mx.operator.NDArrayOp):
        def forward(self, in_data, out_data):
            out_data[0][:] = in_data[0] * 2

        def backward(self, out_grad, in_data, out_data, in_grad):
            in_grad[0][:] = out_grad[0] * 2

    with pytest.warns(UserWarning, match="CustomOp"):
        sigmoid, double = Sigmoid(), Double()
    symbol = double(sigmoid(data=mx.sym.Variable("x"), name="old"))
    assert symbol.get_internals().list_outputs()[:2] == ["x", "old_output"]
    executor = bound(symbol, x=X)
    y = 1 / (1 + np.exp(-X))
    np.testing.assert_allclose(executor.forward(is_train=True)[0].asnumpy(), 2 * y, rtol=1e-6)
    executor.backward(mx.nd.array(HEAD))
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), 2 * HEAD * y * (1 - y), rtol=1e-5)


def test_an_old_loss_gets_no_gradient_of_its_output():
    """As in MXNet: with need_top_grad=False the list is empty, in NumpyOp."""
    got = []

    class Softmax(mx.operator.NumpyOp):
        def __init__(self):
            super().__init__(need_top_grad=False)

        def list_arguments(self):
            return ["data", "label"]

        def infer_shape(self, in_shape):
            return [in_shape[0], in_shape[0]], [in_shape[0]]

        def forward(self, in_data, out_data):
            out_data[0][:] = np.exp(in_data[0]) / np.exp(in_data[0]).sum(axis=1, keepdims=True)

        def backward(self, out_grad, in_data, out_data, in_grad):
            got.append(out_grad)
            in_grad[0][:] = out_data[0] - in_data[1]

    with pytest.warns(UserWarning, match="CustomOp"):
        symbol = Softmax()(data=mx.sym.Variable("x"), name="softmax")
    executor = symbol.simple_bind(mx.cpu(), x=X.shape)
    executor.arg_dict["x"][:] = X
    executor.arg_dict["softmax_label"][:] = HEAD
    executor.forward(is_train=True)
    executor.backward()
    expected = np.exp(X) / np.exp(X).sum(axis=1, keepdims=True) - HEAD
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), expected, rtol=1e-5)
    assert got == [[]]


# ------------------------------------------------------ what the methods get


def test_what_is_passed():
    """As MXNet 1.9.1 passes it."""
    log = []

    def forward(self, is_train, req, in_data, out_data, aux):
        log.append((bool(is_train), req, mx.autograd.is_training(), mx.current_context(),
                    mx.nd.zeros(1).context))
        with pytest.raises(ValueError, match="readonly"):
            in_data[0][:] = 1

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        log.append((req, len(out_grad), [g.shape for g in in_grad]))

    def create_operator(self, ctx, shapes, dtypes):
        log.append((ctx, shapes, dtypes))
        return original(self, ctx, shapes, dtypes)

    def infer_type(self, in_type):
        log.append(in_type)
        return in_type, [in_type[0]], []

    prop = register("test_passed", forward, backward, infer_type=infer_type,
                    list_arguments=lambda self: ["data", "label"],
                    infer_shape=lambda self, s: ([s[0], s[0]], [s[0]]))
    original = prop.create_operator
    prop.create_operator = create_operator
    symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_passed", name="c")
    executor = symbol.simple_bind(mx.cpu(1), grad_req={"x": "write"}, x=(2, 3))
    assert [np.float32, np.float32] in log
    assert log[-1] == (mx.cpu(1), [[2, 3], [2, 3]], [0, 0])
    executor.forward(is_train=True)
    assert log[-1] == (True, ["write"], True, mx.cpu(1), mx.cpu(1))
    executor.backward(mx.nd.zeros((2, 3), ctx=mx.cpu(1)))
    assert log[-1] == (["write", "null"], 1, [(2, 3), (2, 3)])
    executor.forward(is_train=False)
    assert log[-1][:3] == (False, ["write"], False)
    assert mx.current_context() == mx.cpu(0)


def test_state_lives_from_forward_to_backward():
    def forward(self, is_train, req, in_data, out_data, aux):
        self.seen = in_data[0].asnumpy().sum()

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], mx.nd.ones(in_grad[0].shape) * float(self.seen))

    register("test_state", forward, backward)
    symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_state")
    one, two = bound(symbol, x=np.array([3.])), bound(symbol, x=np.array([4.]))
    for executor in (one, two):
        executor.forward(is_train=True)
    for executor in (one, two):
        executor.backward(mx.nd.ones(1))
    assert one.grad_dict["x"].asscalar() == 3
    assert two.grad_dict["x"].asscalar() == 4


def test_arrays_stay_valid():
    kept = []

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0] + 1)
        kept.extend([in_data[0], out_data[0]])

    register("test_kept", forward)
    x = mx.sym.Variable("x")
    executor = bound(mx.sym.Custom(x * 2, op_type="test_kept") * 3, x=X)
    for factor in (1, 2):
        executor.forward(x=mx.nd.array(factor * X))
    del executor
    gc.collect()
    mx.nd.ones((1000,)).wait_to_read()
    for factor, (given, written) in zip((1, 2), (kept[:2], kept[2:])):
        np.testing.assert_allclose(given.asnumpy(), 2 * factor * X)
        np.testing.assert_allclose(written.asnumpy(), 2 * factor * X + 1)


def test_objects_are_released():
    operators = []

    def forward(self, is_train, req, in_data, out_data, aux):
        operators.append(weakref.ref(self))

    register("test_released", forward)
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="test_released"), x=X)
    executor.forward()
    assert operators[0]() is not None
    del executor
    mx.nd.Custom(mx.nd.array(X), op_type="test_released").wait_to_read()
    gc.collect()
    assert len(operators) == 2 and all(each() is None for each in operators)


def test_nested_operators():
    """A whole network, and another custom operator, inside."""
    def forward(self, is_train, req, in_data, out_data, aux):
        inner = mx.nd.Custom(in_data[0], op_type="test_square")
        executor = bound(mx.sym.sum(mx.sym.Variable("y"), axis=1), y=inner.asnumpy())
        self.assign(out_data[0], req[0], executor.forward()[0])

    register("test_nested", forward, infer_shape=lambda self, s: (s, [(s[0][0],)]))
    symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_nested")
    np.testing.assert_allclose(bound(symbol, x=X).forward()[0].asnumpy(), (X ** 2).sum(1), rtol=1e-6)


def test_no_input():
    register("test_none", lambda self, is_train, req, i, out, aux: self.assign(out[0], req[0], 7),
             list_arguments=lambda self: [],
             infer_shape=lambda self, s: ([], [(2, 2)], []),
             infer_type=lambda self, t: ([], [np.float64], []))
    y = mx.nd.Custom(op_type="test_none")
    assert y.dtype == np.float64
    np.testing.assert_array_equal(y.asnumpy(), np.full((2, 2), 7.))


# -------------------------------------------------------------- symbols


def test_json_and_pickle():
    symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_square", scale=(2), name="sq")
    node = json.loads(symbol.tojson())["nodes"][-1]
    assert (node["op"], node["attrs"]) == ("Custom", {"op_type": "test_square", "scale": "2"})
    for again in (mx.sym.load_json(symbol.tojson()), pickle.loads(pickle.dumps(symbol))):
        assert again.tojson() == symbol.tojson()
        np.testing.assert_allclose(bound(again, x=X).forward()[0].asnumpy(), 2 * X ** 2)


def test_json_is_mxnets():
    """The text MXNet 1.9.1 wrote for the same symbol (the lines that differ from node to node)."""
    register("test_p", list_arguments=lambda self: ["data", "label"],
             list_outputs=lambda self: ["a", "b"], __init__=lambda self, n="1": None,
             infer_shape=lambda self, s: ([s[0], s[0]], [s[0]] * 2))
    graph = json.loads(mx.sym.Custom(data=mx.sym.Variable("data"), op_type="test_p", n=2,
                                     name="c").tojson())
    attrs = {"n": "2", "op_type": "test_p"}
    assert graph["nodes"] == [
        {"op": "null", "name": "data", "inputs": []},
        {"op": "null", "name": "c_label", "attrs": attrs, "inputs": []},
        {"op": "Custom", "name": "c", "attrs": attrs, "inputs": [[0, 0, 0], [1, 0, 0]]}]
    assert graph["node_row_ptr"] == [0, 1, 2, 4]
    assert graph["heads"] == [[2, 0, 0], [2, 1, 0]]


def test_user_attributes_are_not_the_operators():
    with mx.AttrScope(ctx_group="dev1"):
        symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_square", scale=2, lr_mult=3)
    assert symbol.attr("ctx_group") == "dev1" and symbol.attr("lr_mult") == "3"
    np.testing.assert_allclose(bound(symbol, x=X).forward()[0].asnumpy(), 2 * X ** 2)


def test_signature():
    arguments = mx.operator.get_operator_arguments("Custom")
    assert arguments.names == ["data", "op_type"]
    assert arguments.types[0] == "NDArray-or-Symbol[]"
    assert mx.sym.Custom(mx.sym.Variable("x"), op_type="test_square").name.startswith("custom")


def test_infer_without_shapes():
    """infer_shape is written for shapes that are known: what it raises before says nothing."""
    def infer_shape(self, in_shape):
        return in_shape, [(in_shape[0][0], 7)]

    register("test_infer", infer_shape=infer_shape)
    symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_infer")
    assert symbol.infer_type(x="float64")[1] == [np.float64]
    assert symbol.infer_shape_partial()[1] == [()]
    assert symbol.infer_shape(x=(3, 2))[1] == [(3, 7)]


def test_registering_again():
    for factor in (2, 3):
        register("test_again", lambda self, is_train, req, i, out, aux, factor=factor:
                 self.assign(out[0], req[0], i[0] * factor))
        np.testing.assert_allclose(
            mx.nd.Custom(mx.nd.array(X), op_type="test_again").asnumpy(), X * factor)


# --------------------------------------------------------------- errors


def fail(*_):
    raise KeyError("what the user forgot")


def test_errors_in_forward():
    register("test_fails", fail)
    y = mx.nd.Custom(mx.nd.array(X), op_type="test_fails")
    with pytest.raises(mx.MXNetError) as caught:
        y.asnumpy()
    for part in ("custom operator 'test_fails': forward", "Traceback", "in fail",
                 "KeyError: 'what the user forgot'", "in Custom"):
        assert part in str(caught.value)
    mx.nd.waitall()  # read once, gone everywhere
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="test_fails", name="it") + 1, x=X)
    executor.forward()
    with pytest.raises(mx.MXNetError, match="Custom 'it'"):
        executor.outputs[0].wait_to_read()


def test_errors_in_backward():
    register("test_fails_back", lambda self, is_train, req, i, out, aux:
             self.assign(out[0], req[0], i[0]), fail)
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="test_fails_back", name="it"), x=X)
    executor.forward(is_train=True)
    executor.backward(mx.nd.array(HEAD))
    np.testing.assert_allclose(executor.outputs[0].asnumpy(), X)
    with pytest.raises(mx.MXNetError, match="(?s)backward raised.*KeyError"):
        executor.grad_dict["x"].asnumpy()


@pytest.mark.parametrize("kind", [ValueError, TypeError, IndexError, NotImplementedError, OSError])
def test_errors_keep_their_kind(kind):
    def forward(*_):
        raise kind("mine")

    register("test_kinds", forward)
    y = mx.nd.Custom(mx.nd.array(X), op_type="test_kinds")
    with pytest.raises(kind, match="mine") as caught:
        y.asnumpy()
    assert isinstance(caught.value, mx.MXNetError)


def test_errors_in_the_description():
    register("test_shape_fails", infer_shape=fail)
    symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_shape_fails", name="it")
    with pytest.raises(mx.MXNetError, match="(?s)infer_shape raised.*KeyError.*Custom 'it'"):
        symbol.infer_shape(x=(2,))
    register("test_create_fails", create_operator=fail)
    symbol = mx.sym.Custom(mx.sym.Variable("x"), op_type="test_create_fails")
    with pytest.raises(mx.MXNetError, match="(?s)create_operator raised.*KeyError"):
        symbol.simple_bind(mx.cpu(), x=(2,))
    register("test_counts", infer_shape=lambda self, s: (s, [s[0], s[0]]))
    with pytest.raises(mx.MXNetError, match="infer_shape gave 2 entries for 1 outputs"):
        mx.nd.Custom(mx.nd.array(X), op_type="test_counts")
    register("test_lists", infer_shape=lambda self, s: (s,))
    with pytest.raises(mx.MXNetError, match="infer_shape must return 2 or 3 lists, not 1"):
        mx.nd.Custom(mx.nd.array(X), op_type="test_lists")
    register("test_names", list_outputs=lambda self: [1])
    with pytest.raises(mx.MXNetError, match="list_outputs gave something of another type"):
        mx.nd.Custom(mx.nd.array(X), op_type="test_names")


def test_errors_in_the_call():
    x = mx.nd.array(X)
    with pytest.raises(mx.MXNetError, match="^Cannot find custom operator test_sqare, did you mean "
                                            "test_square.*register makes one$"):
        mx.nd.Custom(x, op_type="test_sqare")
    with pytest.raises(mx.MXNetError, match="op_type is required"):
        mx.sym.Custom(mx.sym.Variable("x"))
    with pytest.raises(mx.MXNetError, match="(?s)TypeError.*unexpected keyword argument 'scal'"):
        mx.nd.Custom(x, op_type="test_square", scal=2)
    with pytest.raises(mx.MXNetError, match=r"takes 1 inputs \(data\), 2 were given"):
        mx.nd.Custom(x, x, op_type="test_square")
    with pytest.raises(mx.MXNetError, match="has no input 'dta'"):
        mx.sym.Custom(dta=mx.sym.Variable("x"), op_type="test_square")


def test_an_error_left_inside():
    """Nobody waited for the operator inside that failed."""
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], mx.nd.Custom(in_data[0], op_type="test_fails"))

    register("test_fails", fail)
    register("test_outer", forward)
    y = mx.nd.Custom(mx.nd.array(X), op_type="test_outer")
    with pytest.raises(mx.MXNetError, match="KeyError"):
        y.wait_to_read()
    mx.nd.waitall()


# ------------------------------------------------------ threads and processes


def test_threads():
    symbol = mx.sym.Custom(mx.sym.exp(mx.sym.Variable("x")), op_type="test_square")
    wrong = []

    def work(number):
        executor = bound(symbol, x=X * number)
        for _ in range(30):
            executor.forward(is_train=True)
            executor.backward(mx.nd.ones(X.shape))
            got = executor.grad_dict["x"].asnumpy()
            if not np.allclose(got, 2 * np.exp(X * number) ** 2, rtol=1e-5):
                wrong.append(number)
            if mx.nd.Custom(mx.nd.array([number]), op_type="test_square").asscalar() != number ** 2:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in (0.5, 1, 1.5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_after_fork():
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="test_square"), x=X)
    executor.forward(is_train=True)
    child = os.fork()
    if child == 0:
        try:
            executor.forward(is_train=True)
            executor.backward(mx.nd.array(HEAD))
            fine = np.allclose(executor.grad_dict["x"].asnumpy(), 2 * X * HEAD)
            y = mx.nd.Custom(mx.nd.array(X), op_type="test_square")
            fine = fine and np.allclose(y.asnumpy(), X ** 2)
        except BaseException:  # the child must not run the rest of the tests
            fine = False
        os._exit(0 if fine else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
