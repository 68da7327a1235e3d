"""Operators written in Python: in symbols and files, their errors, threads and processes."""
import json
import os
import pickle
import threading

import numpy as np
import pytest

import symbind as mx
from custom_op_cases import HEAD, X, bound, register


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
    with pytest.raises(mx.MXNetError, match="infer_shape returned 2 entries for 1 outputs"):
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
    """The result of the failed operator inside was not read."""
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
