"""Operators written in Python, against NumPy and against what MXNet 1.9.1 was seen to do."""
import gc
import weakref

import numpy as np
import pytest

import symbind as mx
from custom_op_cases import HEAD, SquareOp, X, bound, register


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
