"""Operators written in Python where they are used: on the tape, in modules over devices, beside other
threads, and when what they do is wrong. Values come from the mathematics."""
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest

import symbind as mx
from symbind import autograd, nd
from test_custom_op import HEAD, X, bound, register


def copy_through(self, is_train, req, in_data, out_data, aux):
    self.assign(out_data[0], req[0], in_data[0])


def nothing(self, req, out_grad, in_data, out_data, in_grad, aux):
    pass


def recorded(op_type, values=X, head=HEAD, **kwargs):
    """(value, gradient) of a recorded call."""
    x = nd.array(values)
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type=op_type, **kwargs)
    y.backward(nd.array(head))
    return y, x.grad


# ------------------------------------------------------------------ on the tape


def test_recorded():
    y, grad = recorded("test_square", scale=3)
    np.testing.assert_allclose(y.asnumpy(), 3 * X ** 2)
    np.testing.assert_allclose(grad.asnumpy(), 6 * X * HEAD, rtol=1e-6)


def test_recorded_object_lives_from_forward_to_backward():
    def forward(self, is_train, req, in_data, out_data, aux):
        self.seen = in_data[0].asnumpy().sum()
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * float(self.seen))

    register("use_state", forward, backward)
    a, b = nd.array([1., 2.]), nd.array([5.])
    a.attach_grad()
    b.attach_grad()
    with autograd.record():
        y, z = nd.Custom(a, op_type="use_state"), nd.Custom(b, op_type="use_state")
        total = y.sum() + z.sum()
    total.backward()
    assert a.grad.asnumpy().tolist() == [3, 3] and b.grad.asnumpy().tolist() == [5]


def test_recorded_flags_and_requests():
    log = []

    def forward(self, is_train, req, in_data, out_data, aux):
        log.append((bool(is_train), req, autograd.is_recording(), autograd.is_training()))
        self.assign(out_data[0], req[0], in_data[0] * in_data[1])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        log.append((req, autograd.is_recording()))
        self.assign(in_grad[0], req[0], out_grad[0] * in_data[1])
        self.assign(in_grad[1], req[1], out_grad[0] * in_data[0])

    register("use_flags", forward, backward, list_arguments=lambda self: ["a", "b"])
    a, b = nd.array(X), nd.array(X + 1)
    a.attach_grad("add")
    for train in (True, False):
        with autograd.record(train_mode=train):
            y = nd.Custom(a, b, op_type="use_flags")
        y.backward(train_mode=train)
    assert log == [(True, ["write"], False, True), (["write", "null"], False),
                   (False, ["write"], False, False), (["write", "null"], False)]
    np.testing.assert_allclose(a.grad.asnumpy(), 2 * (X + 1))


def test_recorded_auxiliary_state():
    def forward(self, is_train, req, in_data, out_data, aux):
        if is_train:
            aux[0][:] = aux[0] + in_data[0].sum()
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * aux[0].asscalar())

    register("use_aux", forward, backward, list_auxiliary_states=lambda self: ["sum"],
             infer_shape=lambda self, s: (s, [s[0]], [(1,)]))
    x, total = nd.array([1., 2.]), nd.array([10.])
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, total, op_type="use_aux")
    y.backward()
    assert total.asscalar() == 13 and x.grad.asnumpy().tolist() == [13, 13]


def test_recorded_loss_needs_no_head_gradient():
    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_data[0] - 1)

    class Prop(mx.operator.CustomOpProp):
        def __init__(self):
            super().__init__(need_top_grad=False)

    register("use_loss", copy_through, backward, prop=Prop)
    _, grad = recorded("use_loss")
    np.testing.assert_allclose(grad.asnumpy(), X - 1)


def test_backward_gets_what_it_declared():
    seen = []

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        seen.append([[a is not None and a.shape for a in arrays]
                     for arrays in (out_grad, in_data, out_data)])
        self.assign(in_grad[0], req[0], out_grad[0] * out_data[0])

    register("use_depends", lambda self, is_train, req, i, o, aux: self.assign(o[0], req[0], nd.exp(i[0])),
             backward, declare_backward_dependency=lambda self, dy, x, y: [dy[0], y[0]])
    _, grad = recorded("use_depends")
    np.testing.assert_allclose(grad.asnumpy(), HEAD * np.exp(X), rtol=1e-6)
    assert seen[0][0] == [X.shape] and seen[0][2] == [X.shape]


def test_autograd_inside():
    """backward by recording what forward computes."""
    def forward(self, is_train, req, in_data, out_data, aux):
        self.x = in_data[0].copy()
        self.x.attach_grad()
        with autograd.record(train_mode=is_train):
            self.y = nd.exp(self.x) * self.x
        self.assign(out_data[0], req[0], self.y)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.y.backward(out_grad[0])
        self.assign(in_grad[0], req[0], self.x.grad)

    register("use_inside", forward, backward)
    wanted = HEAD * np.exp(X) * (1 + X)
    np.testing.assert_allclose(recorded("use_inside")[1].asnumpy(), wanted, rtol=1e-5)
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="use_inside"), x=X)
    executor.forward(is_train=True)
    executor.backward(nd.array(HEAD))
    np.testing.assert_allclose(executor.grad_dict["x"].asnumpy(), wanted, rtol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_recorded_types(dtype):
    x = nd.array([1, 2], dtype=dtype)
    x.attach_grad()
    with autograd.record():
        y = nd.Custom(x, op_type="test_square")
    y.backward()
    assert x.grad.dtype == np.dtype(dtype) and x.grad.asnumpy().tolist() == [2, 4]


def test_several_outputs_of_which_one_is_used():
    def forward(self, is_train, req, in_data, out_data, aux):
        for i in (0, 1):
            self.assign(out_data[i], req[i], in_data[0] * (i + 2))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0] * 2 + out_grad[1] * 3)

    register("use_two", forward, backward, list_outputs=lambda self: ["a", "b"])
    x = nd.array(X)
    x.attach_grad()
    with autograd.record():
        _, b = nd.Custom(x, op_type="use_two")
    b.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), np.full(X.shape, 3))


# ------------------------------------------------------------ modules, devices


def softmax_symbol():
    def forward(self, is_train, req, in_data, out_data, aux):
        x = in_data[0].asnumpy()
        y = np.exp(x - x.max(axis=1, keepdims=True))
        self.assign(out_data[0], req[0], nd.array(y / y.sum(axis=1, keepdims=True)))

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        y = out_data[0].asnumpy()
        label = in_data[1].asnumpy().astype(int)
        y[np.arange(label.size), label] -= 1.0
        self.assign(in_grad[0], req[0], nd.array(y))

    class Prop(mx.operator.CustomOpProp):
        def __init__(self):
            super().__init__(need_top_grad=False)

    register("use_softmax", forward, backward, prop=Prop,
             list_arguments=lambda self: ["data", "label"],
             infer_shape=lambda self, s: ([s[0], (s[0][0],)], [s[0]], []))
    fc = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.sym.Custom(data=fc, label=mx.sym.Variable("softmax_label"), op_type="use_softmax",
                         name="softmax")


def fitted(symbol, contexts):
    rng = np.random.RandomState(0)
    data = rng.normal(size=(40, 4)).astype("float32")
    label = data[:, :3].argmax(axis=1).astype("float32")
    module = mx.mod.Module(symbol, context=contexts)
    module.fit(mx.io.NDArrayIter(data, label, batch_size=8), num_epoch=3,
               optimizer_params={"learning_rate": 0.5},
               arg_params={"fc_weight": nd.array(rng.normal(size=(3, 4))), "fc_bias": nd.zeros(3)},
               initializer=None)
    return {name: a.asnumpy() for name, a in module.get_params()[0].items()}


def test_module_over_devices():
    """As SoftmaxOutput, on one device and on two."""
    fc = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    wanted = fitted(mx.sym.SoftmaxOutput(fc, name="softmax"), mx.cpu(0))
    for contexts in (mx.cpu(0), [mx.cpu(0), mx.cpu(1)]):
        found = fitted(softmax_symbol(), contexts)
        for name, array in wanted.items():
            np.testing.assert_allclose(found[name], array, rtol=1e-4, atol=1e-6)


def test_module_survives_an_operator_that_fails_once():
    state = {"fail": True}

    def forward(self, is_train, req, in_data, out_data, aux):
        if state["fail"]:
            raise RuntimeError("not today")
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self.assign(in_grad[0], req[0], out_grad[0])

    register("use_once", forward, backward)
    x = mx.sym.Custom(mx.sym.Variable("data"), op_type="use_once", name="it")
    module = mx.mod.Module(x, label_names=None, context=[mx.cpu(0), mx.cpu(1)])
    module.bind([("data", (4, 3))])
    module.init_params()
    batch = mx.io.DataBatch([nd.ones((4, 3))])
    module.forward(batch)
    with pytest.raises(mx.MXNetError, match="(?s)not today.*Custom 'it'"):
        module.get_outputs()[0].asnumpy()
    for outputs in module.get_outputs(merge_multi_context=False):
        for output in outputs:  # each device keeps its error until it is read
            try:
                output.wait_to_read()
            except mx.MXNetError:
                pass
    state["fail"] = False
    module.forward(batch)
    assert (module.get_outputs()[0].asnumpy() == 1).all()


def test_pickled_and_loaded_symbols_train():
    symbol = softmax_symbol()
    wanted = fitted(symbol, mx.cpu(0))
    for copy in (pickle.loads(pickle.dumps(symbol)), mx.sym.load_json(symbol.tojson())):
        found = fitted(copy, mx.cpu(0))
        for name, array in wanted.items():
            np.testing.assert_array_equal(found[name], array)


# -------------------------------------------------------------------- mistakes


def told(action):
    with pytest.raises(mx.MXNetError) as caught:
        action()
    return str(caught.value)


def test_raising_in_init():
    class Prop(mx.operator.CustomOpProp):
        def __init__(self):
            raise LookupError("no table")

    mx.operator.register("use_init")(Prop)
    for front in (lambda: mx.sym.Custom(mx.sym.Variable("x"), op_type="use_init"),
                  lambda: nd.Custom(nd.array(X), op_type="use_init")):
        text = told(front)
        assert "'use_init'" in text and "LookupError: no table" in text and "Traceback" in text


def test_raising_in_recorded_backward():
    def fail(*_):
        raise KeyError("lost")

    register("use_fails_back", copy_through, fail)
    y, grad = recorded("use_fails_back")
    np.testing.assert_allclose(y.asnumpy(), X)
    text = told(grad.asnumpy)
    for part in ("custom operator 'use_fails_back': backward", "Traceback", "KeyError: 'lost'"):
        assert part in text
    nd.waitall()
    assert recorded("test_square")[1].shape == X.shape  # the next one is fine


def test_raising_in_recorded_forward():
    def fail(*_):
        raise KeyError("lost")

    register("use_fails", fail, nothing)
    y, grad = recorded("use_fails")
    assert "KeyError: 'lost'" in told(y.asnumpy)
    nd.waitall()
    del grad


@pytest.mark.parametrize("written, text", [
    (lambda out: out[0].__setitem__(slice(None), nd.ones((7, 7))), "(7, 7)"),
    (lambda out: out[1].__setitem__(slice(None), 1), "IndexError"),
    (lambda out: out[0].__setitem__(slice(None), "text"), "Error")])
def test_writing_what_does_not_fit(written, text):
    register("use_misfit", lambda self, is_train, req, i, out, aux: written(out), nothing)
    y = nd.Custom(nd.array(X), op_type="use_misfit")
    message = told(y.asnumpy)
    assert text in message and "'use_misfit': forward" in message


@pytest.mark.parametrize("members, text", [
    ({"infer_shape": lambda self, s: ([s[0]], [(-3, 2)])}, "use_bad"),
    ({"infer_shape": lambda self, s: ([s[0]], ["wide"])}, "infer_shape"),
    ({"infer_shape": lambda self, s: 5}, "infer_shape"),
    ({"infer_shape": lambda self, s: ([(9, 9)], [s[0]])}, "(9, 9)"),
    ({"infer_type": lambda self, t: (t, ["float31"])}, "float31"),
    ({"infer_type": lambda self, t: (t, [])}, "infer_type returned 0 entries for 1 outputs"),
    ({"list_arguments": lambda self: "data"}, "4 inputs"),
    ({"list_outputs": lambda self: []}, "no outputs"),
    ({"create_operator": lambda self, ctx, shapes, dtypes: None}, "create returned null"),
    ({"create_operator": lambda self, ctx, shapes, dtypes: 5}, "forward"),
    ({"declare_backward_dependency": lambda self, *_: [99]}, "99"),
    ({"declare_backward_dependency": lambda self, *_: ["x"]}, "declare_backward_dependency")])
def test_descriptions_that_are_wrong(members, text):
    register("use_bad", copy_through, nothing, **members)
    assert text in told(lambda: nd.Custom(nd.array(X), op_type="use_bad").asnumpy())
    nd.waitall()


def test_keyword_arguments_are_strings():
    seen = {}

    class Prop(mx.operator.CustomOpProp):
        def __init__(self, **kwargs):
            super().__init__()
            seen.update(kwargs)

    register("use_kwargs", copy_through, nothing, prop=Prop)
    nd.Custom(nd.array(X), op_type="use_kwargs", a=1, b=(2, 3), c=None, d="text", e=0.5, f=True)
    assert seen == {"a": "1", "b": "(2, 3)", "c": "None", "d": "text", "e": "0.5", "f": "True"}


# ------------------------------------------------------------ threads, processes


def test_an_operator_that_blocks_stops_no_other_thread():
    started, release = threading.Event(), threading.Event()

    def forward(self, is_train, req, in_data, out_data, aux):
        started.set()
        assert release.wait(60)
        self.assign(out_data[0], req[0], in_data[0])

    register("use_blocks", forward, nothing)
    found = []
    thread = threading.Thread(
        target=lambda: found.append(nd.Custom(nd.array(X), op_type="use_blocks").asnumpy()))
    thread.start()
    assert started.wait(60)
    np.testing.assert_allclose(recorded("test_square")[1].asnumpy(), 2 * X * HEAD)
    executor = bound(mx.sym.Custom(mx.sym.Variable("x"), op_type="test_square"), x=X)
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), X ** 2)
    assert not found
    release.set()
    thread.join(60)
    np.testing.assert_array_equal(found[0], X)


def test_recorded_in_threads():
    wrong = []

    def work(number):
        for _ in range(30):
            _, grad = recorded("test_square", X * number)
            if not np.allclose(grad.asnumpy(), 2 * X * number * HEAD, rtol=1e-5):
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not wrong and not any(thread.is_alive() for thread in threads)


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_control_c_returns():
    """A loop of operators written in Python ends where it is."""
    program = textwrap.dedent("""
        import sys, time
        import symbind as mx
        class Op(mx.operator.CustomOp):
            def forward(self, is_train, req, in_data, out_data, aux):
                print("inside", flush=True)
                time.sleep(60)
        @mx.operator.register("sleeps")
        class Prop(mx.operator.CustomOpProp):
            def create_operator(self, *_):
                return Op()
        try:
            mx.nd.Custom(mx.nd.ones((2,)), op_type="sleeps").asnumpy()
        except (KeyboardInterrupt, mx.MXNetError) as reason:
            print("stopped", type(reason).__name__, flush=True)
        print(mx.nd.ones((2,)).asnumpy().sum(), flush=True)
    """)
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout.readline() == "inside\n"
        begun = time.monotonic()
        child.send_signal(signal.SIGINT)
        rest, _ = child.communicate(timeout=30)
    finally:
        child.kill()
    assert time.monotonic() - begun < 20
    assert "stopped" in rest or child.returncode != 0, rest


def _square_in_child(values):
    y, grad = recorded("test_square", values)
    return y.asnumpy(), grad.asnumpy()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_multiprocessing_after_use():
    recorded("test_square")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for number, (y, grad) in enumerate(pool.map(_square_in_child, [X, X + 1, X + 2])):
            np.testing.assert_allclose(y, (X + number) ** 2, rtol=1e-6)
            np.testing.assert_allclose(grad, 2 * (X + number) * HEAD, rtol=1e-5)
