"""The tape: values, lifetime, errors, threads. Numeric gradients of many operators are in
test_autograd_numeric.py, what MXNet computes in test_autograd_golden.py."""
import gc
import resource
import threading
import traceback
import weakref

import numpy as np
import pytest

import symbind as mx
from symbind import autograd, nd

RNG = np.random.RandomState


def variable(values, grad_req="write", dtype="float64"):
    x = nd.array(values, dtype=dtype)
    x.attach_grad(grad_req)
    return x


def rand(*shape, seed=3):
    return RNG(seed).uniform(-1, 1, shape)


def test_second_order():
    x = variable([0.3, -0.7, 1.1])
    with autograd.record():
        y = x ** 3
        first, = autograd.grad(y, x, create_graph=True)
        again = first * x
    again.backward()
    np.testing.assert_allclose(first.asnumpy(), 3 * x.asnumpy() ** 2)
    np.testing.assert_allclose(x.grad.asnumpy(), 9 * x.asnumpy() ** 2, rtol=1e-6)


def test_what_has_no_second_gradient_says_so():
    x = variable(rand(1, 1, 4, 4), dtype="float32")
    with autograd.record():
        y = nd.Pooling(x, kernel=(2, 2), stride=(2, 2))
        first, = autograd.grad(y, x, create_graph=True)
    with pytest.raises(mx.MXNetError, match="_backward_Pooling.*has no gradient"):
        first.backward()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_types(dtype):
    x = variable([[1, 2], [3, 4]], dtype=dtype)
    with autograd.record():
        y = nd.FullyConnected(x, nd.array([[1, 2], [3, 4]], dtype=dtype), no_bias=True, num_hidden=2)
    y.backward()
    assert x.grad.dtype == np.dtype(dtype)
    assert x.grad.asnumpy().tolist() == [[4, 6], [4, 6]]


def test_scalars_and_empty_arrays():
    with mx.np_shape():
        x = nd.array(3.0)
        x.attach_grad()
        assert x.grad.shape == ()
        with autograd.record():
            y = x * x
        y.backward()
        assert float(x.grad.asnumpy()) == 6
        none = nd.zeros((0, 3))
        none.attach_grad()
        with autograd.record():
            y = (none * 2).sum() + 1
        y.backward()
        assert none.grad.shape == (0, 3)


# ------------------------------------------------------------- variables


def test_the_gradient_array_stays_the_same():
    g = nd.zeros((2,))
    x = nd.array([1, 2])
    autograd.mark_variables(x, g)
    for factor in (2, 5):
        with autograd.record():
            y = x * factor
        y.backward()
        assert g.asnumpy().tolist() == [factor, factor]
    g[:] = 9
    assert x.grad.asnumpy().tolist() == [9, 9]


def test_attach_grad_leaves_what_was_recorded():
    x = variable([1., 2.])
    with autograd.record():
        y = x * 3
        y.attach_grad()
        z = y * y
    z.backward()
    assert y.grad.asnumpy().tolist() == [6, 12]
    assert x.grad.asnumpy().tolist() == [0, 0]


def test_grad_is_none_until_attached_and_after_dropping():
    x = nd.ones((2,))
    assert x.grad is None
    x.attach_grad()
    assert x.grad.asnumpy().tolist() == [0, 0]
    assert x.detach().grad is None
    x.drop_grad()
    assert x.grad is None


def test_a_view_shares_memory_and_carries_the_gradient():
    x = variable([[1., 2.], [3., 4.]])
    with autograd.record():
        row = x[1]
        y = row * row
    x[:] = 10
    assert row.asnumpy().tolist() == [10, 10]
    y.backward()
    assert x.grad.asnumpy().tolist() == [[0, 0], [20, 20]]


def test_where_nothing_flows_the_gradient_is_zero():
    x, y = variable([1., 2.]), variable([3., 4.])
    x.grad[:] = 7
    with autograd.record():
        z = nd.BlockGrad(x) * y
    z.backward()
    assert x.grad.asnumpy().tolist() == [0, 0] and y.grad.asnumpy().tolist() == [1, 2]


def test_samplers_are_recorded():
    """Numbers drawn like an array lead nowhere; the score of a draw leads to its parameters."""
    x = variable([[0.2, 0.8], [0.5, 0.5]], dtype="float32")
    with autograd.record():
        y = nd.random.uniform_like(x) * x
    noise = y / x
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), noise.asnumpy(), rtol=1e-5)
    with autograd.record():
        drawn, score = nd.random.multinomial(x, get_prob=True)
    score.backward()
    picked = drawn.asnumpy().astype(int)
    wanted = np.zeros((2, 2))
    wanted[np.arange(2), picked] = 1 / x.asnumpy()[np.arange(2), picked]
    np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-4)


# ------------------------------------------------------------ life and death


def watched():
    """An array over memory whose end can be seen."""
    memory = np.ones((4,), dtype="float32")
    return nd.from_numpy(memory, zero_copy=True), weakref.ref(memory)


def test_the_tape_dies_with_its_heads():
    x = variable([1., 2., 3., 4.], dtype="float32")
    held, seen = watched()
    with autograd.record():
        y = (x * held) * 2
    del held
    gc.collect()
    assert seen() is not None
    del y
    gc.collect()
    assert seen() is None


def test_backward_frees_the_tape_unless_retained():
    x = variable([1., 2., 3., 4.], dtype="float32")
    held, seen = watched()
    with autograd.record():
        y = (x * held) * 2
    del held
    y.backward(retain_graph=True)
    gc.collect()
    assert seen() is not None
    y.backward()
    gc.collect()
    assert seen() is None
    with pytest.raises(mx.MXNetError, match="retain_graph=True"):
        y.backward()


def test_only_what_the_gradient_reads_is_kept():
    x = variable([1., 2., 3., 4.], dtype="float32")
    held, seen = watched()
    with autograd.record():
        y = x + held
    del held
    gc.collect()
    assert seen() is None
    y.backward()
    assert x.grad.asnumpy().tolist() == [1] * 4


def test_a_part_that_was_freed_says_so():
    x = variable([1., 2.])
    with autograd.record():
        h = nd.exp(x)
        a, b = h * 2, h * 3
    a.backward()
    with pytest.raises(mx.MXNetError, match="(?s)not in a computational graph.*freed by an earlier"):
        b.backward()


def test_a_long_training_does_not_grow():
    w = variable(rand(64, 256), dtype="float32")
    x = nd.array(rand(64, 256, seed=1))

    def steps(count):
        for _ in range(count):
            with autograd.record():
                loss = nd.square(nd.FullyConnected(x, w, no_bias=True, num_hidden=64)).mean()
            loss.backward()
            w[:] -= 0.01 * w.grad
            with autograd.record():
                nd.square(w * 2).sum()  # never walked
        nd.waitall()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = steps(2500)  # a sanitizer keeps freed memory, up to 256 MB
    assert steps(1500) - before < 20_000  # KB; a leak of one array of each step would be 96 MB


def test_a_long_chain():
    x = variable([1.], dtype="float32")
    with autograd.record():
        y = x
        for _ in range(20000):
            y = y + 1
    y.backward()
    assert x.grad.asnumpy().tolist() == [1] and y.asnumpy().tolist() == [20001]
    with autograd.record():
        for _ in range(20000):
            y = y * x
    del y  # thousands of nodes end one after the other


# ------------------------------------------------------------------ refusals


def test_bad_calls():
    x = variable([1., 2.])
    with autograd.record():
        y = x * 2
    for action, kind, text in [
            (lambda: y.backward(nd.ones((3,))), ValueError, "head 0 has shape (2,)"),
            (lambda: autograd.backward([y], [None, None]), ValueError, "same length"),
            (lambda: autograd.backward([y, nd.ones((2,))]), mx.MXNetError, "head 1 of 2"),
            (lambda: x.attach_grad("wirte"), ValueError, "'write', 'add' or 'null'"),
            (lambda: autograd.mark_variables([x], [nd.zeros((3,))]), ValueError, "(3,)"),
            (lambda: autograd.mark_variables([x, y], [nd.zeros((2,))]), ValueError, "2 variables"),
            (lambda: autograd.backward([3]), TypeError, "NDArray"),
            (lambda: autograd.grad(y, []), ValueError, "no variables"),
            (lambda: autograd.get_symbol(3), TypeError, "NDArray")]:
        with pytest.raises(kind) as caught:
            action()
        assert text in str(caught.value) and isinstance(caught.value, mx.MXNetError)
    y.backward()  # nothing was lost
    assert x.grad.asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize("write", [
    lambda x: x.__iadd__(1), lambda x: x.__imul__(x), lambda x: x.__setitem__(slice(None), 0),
    lambda x: x.__setitem__(0, 5.), lambda x: x.__setitem__([0], 5.), lambda x: x[0:1].__isub__(1),
    lambda x: nd.zeros_like(x, out=x), lambda x: nd.ones((2,)).copyto(x),
    lambda x: x.reshape((2, 1)).__setitem__(0, 1), lambda x: nd.sgd_update(x, x * 1, lr=1, out=x)])
def test_writes_on_recorded_arrays_are_refused(write):
    x = variable([1., 2.], dtype="float32")
    with autograd.record():
        y = x * x
        for array in (x, y):
            before = array.asnumpy().tolist()
            with pytest.raises(mx.MXNetError, match="Inplace operations .* when recording with"):
                write(array)
            assert array.asnumpy().tolist() == before
        with autograd.pause():
            z = x * 1
            write(z)
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4]
    write(x)
    with autograd.record():
        write(nd.ones((2,)))


def test_what_a_gradient_will_read_cannot_be_written():
    """As in MXNet; a constant that no gradient reads can be written, and any constant after backward."""
    x, c, d = variable([1., 2.], dtype="float32"), nd.array([3, 4]), nd.array([5, 6])
    with autograd.record():
        y = x * c + d
        z = nd.broadcast_mul(lhs=y, rhs=d)
        d2 = nd.array([1, 1])
        z = z + d2
        for read in (c, d):
            with pytest.raises(mx.MXNetError, match="Inplace operations"):
                read[:] = 0
        d2 += 1
        assert c.grad is None
    z.backward()
    assert x.grad.asnumpy().tolist() == [15, 24]
    with autograd.record():
        c[:] = 0
    assert c.asnumpy().tolist() == [0, 0]


def test_recordings_that_share_a_constant():
    x, c = variable([1., 2.], dtype="float32"), nd.array([3, 4])
    with autograd.record():
        y = x * c
        z = x * c * c
    y.backward()
    assert x.grad.asnumpy().tolist() == [3, 4]
    with autograd.record():
        with pytest.raises(mx.MXNetError, match="Inplace operations"):
            c[:] = 0  # z still reads it
    z.backward()
    assert x.grad.asnumpy().tolist() == [9, 16]
    with autograd.record():
        y = x * c
        del y
        c[:] = 0


def test_an_error_of_an_operator_reaches_the_gradient():
    """The error is raised at the read, as for any operator."""
    x = variable([[1., 2.], [3., 4.]])
    with autograd.record():
        y = nd.linalg.potrf(x * -1)  # not positive definite
        z = y * 2
    z.backward()
    with pytest.raises(mx.MXNetError):
        x.grad.asnumpy()
    with autograd.record():
        y = x * 2
    y.backward()
    assert x.grad.asnumpy().tolist() == [[2, 2], [2, 2]]


# ------------------------------------------------------------------ Function


class Scale(autograd.Function):
    def __init__(self, backward=None, forward=None):
        self._backward, self._forward = backward, forward

    def forward(self, x):
        assert not autograd.is_recording()
        return self._forward(x) if self._forward else x * 3

    def backward(self, dy):
        assert not autograd.is_recording()
        return self._backward(dy) if self._backward else dy * 3


def test_function_unrecorded_and_without_super_init():
    x = variable([1., 2.])
    assert Scale()(x).asnumpy().tolist() == [3, 6]
    with autograd.record():
        y = Scale()(x) * x
    y.backward()
    assert x.grad.asnumpy().tolist() == [6, 12]


def test_function_that_gives_its_input_back():
    x = variable([1., 2.])
    with autograd.record():
        y = Scale(lambda dy: dy * 7, lambda x: x)(x)
        z = y + x
    z.backward()
    assert x.grad.asnumpy().tolist() == [8, 8] and x.asnumpy().tolist() == [1, 2]


def test_function_is_for_one_call():
    f, x = Scale(), nd.ones((2,))
    f(x)
    with pytest.raises(AssertionError, match="only be called once"):
        f(x)


def test_function_mistakes():
    def broken(_):
        raise KeyError("lost")

    x = variable([1., 2.])
    with autograd.record():
        with pytest.raises(KeyError, match="lost"):
            Scale(forward=broken)(x)
        assert autograd.is_recording()
        with pytest.raises(TypeError, match="NDArray"):
            Scale(forward=lambda x: [x, 3])(x)
    for backward, text in [(broken, "KeyError: 'lost'"), (lambda dy: [dy, dy], "2 gradients for 1"),
                           (lambda dy: nd.ones((5,)), "shape (5,)"), (lambda dy: 3, "not iterable")]:
        with autograd.record():
            y = Scale(backward)(x)
        y.backward()
        with pytest.raises(mx.MXNetError) as caught:
            x.grad.asnumpy()
        assert text in str(caught.value)


def test_function_objects_die():
    f = Scale()
    seen, x = weakref.ref(f), variable([1., 2.])
    with autograd.record():
        y = f(x)
    del f
    gc.collect()
    assert seen() is not None
    y.backward()
    gc.collect()
    assert seen() is None


# --------------------------------------------------------- beside other things


def test_executors_and_modules_run_unrecorded():
    x = variable(rand(4, 3), dtype="float32")
    symbol = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(symbol, name="softmax"))
    module.bind([("data", (4, 3))], [("softmax_label", (4,))])
    module.init_params()
    module.init_optimizer()
    executor = symbol.simple_bind(mx.cpu(), data=(4, 3))
    store = mx.kv.create("local")
    with autograd.record():
        for _ in range(2):
            executor.forward(is_train=True, data=x)
            executor.backward(nd.ones((4, 2)))
            module.forward_backward(mx.io.DataBatch([x], [nd.zeros((4,))]))
            module.update()
        store.init(0, x)
        store.push(0, x)
        store.pull(0, out=nd.zeros((4, 3)))
        y = x * 2
    y.backward()
    assert (x.grad.asnumpy() == 2).all()


def test_threads_record_for_themselves():
    """Each thread has its modes and its tape; errors would show in `failed`."""
    failed = []

    def train(seed):
        try:
            assert not autograd.is_recording() and not autograd.is_training()
            x = variable(rand(8, seed=seed), dtype="float32")
            for _ in range(200):
                with autograd.record():
                    y = nd.exp(x) * shared
                    assert autograd.is_recording() and autograd.is_training()
                y.backward()
                wanted = np.exp(x.asnumpy()) * shared.asnumpy()
                np.testing.assert_allclose(x.grad.asnumpy(), wanted, rtol=1e-5)
        except Exception:  # pylint: disable=broad-except
            failed.append(traceback.format_exc())

    shared = nd.array(rand(8, seed=99))
    threads = [threading.Thread(target=train, args=(seed,)) for seed in range(4)]
    with autograd.record():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert autograd.is_recording()
    assert not failed, failed[0]


def test_a_tape_walked_by_another_thread():
    x = variable([1., 2.])
    with autograd.record():
        y = x * x
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert x.grad.asnumpy().tolist() == [2, 4]


def test_backward_inside_record_continues_recording():
    x = variable([1., 2.])
    with autograd.record():
        y = x * x
        y.backward()
        assert autograd.is_recording() and autograd.is_training()
        z = x * 3
    z.backward()
    assert x.grad.asnumpy().tolist() == [3, 3]


def test_the_symbol_of_a_recording():
    x, w = variable(rand(2, 3), dtype="float32"), variable(rand(4, 3), dtype="float32")
    with autograd.record():
        y = nd.FullyConnected(nd.relu(x[0:1] * 2), w, no_bias=True, num_hidden=4)
    symbol = autograd.get_symbol(y)
    assert len(symbol.list_arguments()) == 2
    reloaded = mx.sym.load_json(symbol.tojson())
    executor = reloaded.bind(mx.cpu(), dict(zip(reloaded.list_arguments(), [x, w])))
    np.testing.assert_allclose(executor.forward()[0].asnumpy(), y.asnumpy(), rtol=1e-6)
    y.backward()  # the recording is as it was
    with pytest.raises(mx.MXNetError, match="not in a computational graph"):
        autograd.get_symbol(nd.ones((2,)))
