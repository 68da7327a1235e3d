"""NDArrays beside NumPy, DLPack, pickle, copy, threads, and MXNet's own pickles."""
import copy
import os
import pickle
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import symbind as mx

DTYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool", "int16", "uint16",
          "uint32", "uint64"]
VALUES = np.arange(6).reshape(2, 3)


def array(dtype="float32"):
    return mx.nd.array(VALUES, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_buffer(dtype):
    view = memoryview(array(dtype))
    assert view.shape == (2, 3) and view.c_contiguous
    assert np.asarray(view).dtype == np.dtype(dtype)
    np.testing.assert_array_equal(np.asarray(view), VALUES.astype(dtype))


def test_a_buffer_is_what_the_array_was():
    x = array()
    before = np.asarray(x)
    x[:] = 9
    np.testing.assert_array_equal(before, VALUES)


def test_asarray_and_array():
    x = array()
    assert np.asarray(x).dtype == np.float32
    for dtype in DTYPES:
        y = np.array(x, dtype=dtype)
        assert y.dtype == np.dtype(dtype)
        np.testing.assert_array_equal(y, VALUES.astype(dtype))
    y = np.array(x, copy=True)
    y[:] = 7
    np.testing.assert_array_equal(x.asnumpy(), VALUES)
    with pytest.raises(ValueError):
        x.__array__(copy=False)
    np.testing.assert_array_equal(np.array([x, x]).shape, (2, 2, 3))


def test_functions_of_numpy_that_call_methods():
    """np.f(x) looks for x.f and calls it with out=None: an NDArray comes back, as in MXNet."""
    x = mx.nd.array([[3, 1, 2], [4, 6, 5]])
    for result, expected in [
            (np.argmax(x, axis=1), [0, 1]), (np.argmin(x, axis=0), [0, 0, 0]),
            (np.sum(x, axis=1), [6, 15]), (np.mean(x, axis=0), [3.5, 3.5, 3.5]),
            (np.max(x, axis=1), [3, 6]), (np.min(x, axis=1), [1, 4]), (np.prod(x, axis=1), [6, 120]),
            (np.clip(x, 2, 4), [[3, 2, 2], [4, 4, 4]]), (np.transpose(x), [[3, 4], [1, 6], [2, 5]]),
            (np.squeeze(x.expand_dims(0)), [[3, 1, 2], [4, 6, 5]]),
            (np.repeat(x, 2, axis=1), [[3, 3, 1, 1, 2, 2], [4, 4, 6, 6, 5, 5]]),
            (np.round(x / 2), [[2, 1, 1], [2, 3, 3]]), (np.sum(x), [21])]:
        assert isinstance(result, mx.nd.NDArray)
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result.asnumpy(), np.array(expected, np.float32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_to_numpy_shares_memory(dtype):
    x = array(dtype)
    y = np.from_dlpack(x)
    assert y.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(y, VALUES.astype(dtype))
    x[:] = 1
    np.testing.assert_array_equal(y, np.ones((2, 3), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_dlpack_from_numpy_shares_memory(dtype):
    source = VALUES.astype(dtype)
    x = mx.nd.from_dlpack(source)
    assert x.dtype == np.dtype(dtype) and x.shape == (2, 3)
    source[:] = 1
    np.testing.assert_array_equal(x.asnumpy(), np.ones((2, 3), dtype))


def test_dlpack_capsules():
    x = array()
    assert x.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(x.__dlpack__())
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    for capsule in (x.to_dlpack_for_read(), x.to_dlpack_for_write(), x.__dlpack__(max_version=(1, 0))):
        y = mx.nd.from_dlpack(capsule)
        y[0, 0] = 5
        assert x[0, 0].asscalar() == 5
        with pytest.raises(mx.MXNetError):
            mx.nd.from_dlpack(capsule)  # a capsule is used once
        x[0, 0] = 0


def test_dlpack_keeps_the_memory():
    x = array()
    y, z = np.from_dlpack(x), mx.nd.from_dlpack(np.full((2, 3), 4.0))
    del x
    np.testing.assert_array_equal(y, VALUES)
    np.testing.assert_array_equal(z.asnumpy(), np.full((2, 3), 4.0))


def test_dlpack_of_read_only_memory():
    """What may not be written is not: it is refused, copied, or the NDArray is read-only."""
    source = VALUES.astype("float32")
    source.flags.writeable = False
    try:
        x = mx.nd.from_dlpack(source)
    except (mx.MXNetError, BufferError):
        return
    try:
        x[:] = 7
    except ValueError:
        pass
    np.testing.assert_array_equal(source, VALUES)


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "bool"])
def test_pickle(protocol, dtype):
    x = array(dtype)
    x.note = {"k": 1}
    y = pickle.loads(pickle.dumps(x, protocol))
    assert type(y) is mx.nd.NDArray and y.dtype == np.dtype(dtype) and y.note == {"k": 1}
    np.testing.assert_array_equal(y.asnumpy(), x.asnumpy())
    y[:] = 0
    np.testing.assert_array_equal(x.asnumpy(), VALUES.astype(dtype))


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickle_of_a_symbol(protocol):
    net = mx.sym.FullyConnected(mx.sym.Variable("data", lr_mult=2.0), num_hidden=3, name="fc")
    back = pickle.loads(pickle.dumps(net, protocol))
    assert back.tojson() == net.tojson()
    assert back.infer_shape(data=(2, 5))[1] == [(2, 3)]


def test_copies():
    x = array()
    for made in (copy.copy(x), copy.deepcopy(x), copy.deepcopy([x])[0], x.copy()):
        made[:] = 5
        np.testing.assert_array_equal(x.asnumpy(), VALUES)
    net = mx.sym.Variable("a") + 1
    assert copy.deepcopy(net).tojson() == net.tojson()


def test_weak_references_and_extra_attributes():
    for make in (array, lambda: mx.sym.Variable("a"),
                 lambda: mx.sym.Variable("a").simple_bind(mx.cpu(), a=(1,))):
        thing = make()
        thing.note = 5
        seen = weakref.ref(thing)
        assert seen() is thing and seen().note == 5
        del thing
        assert seen() is None


def test_contexts_as_managers():
    assert mx.current_context() == mx.cpu(0)
    with mx.cpu(1):
        assert mx.current_context() == mx.cpu(1)
        assert mx.nd.zeros((1,)).context == mx.cpu(1)
        with mx.Context("cpu", 2):
            assert mx.nd.array([1]).context == mx.cpu(2)
        assert mx.current_context() == mx.cpu(1)
    with pytest.raises(KeyError):
        with mx.cpu(3):
            raise KeyError
    assert mx.current_context() == mx.cpu(0)


@pytest.mark.parametrize("dtype, kind", [("float32", float), ("float16", float), ("int32", int),
                                         ("uint8", int), ("int64", int), ("bool", bool)])
def test_asscalar_is_a_python_number(dtype, kind):
    number = mx.nd.array([1], dtype=dtype).asscalar()
    assert isinstance(number, kind) and number == 1
    assert "%d" % number == "1"
    assert [10, 20][number if kind is int else int(number)] == 20
    with pytest.raises(ValueError):
        mx.nd.ones((2,)).asscalar()


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "uint8", "float16"])
def test_asscalar_answers_as_a_numpy_number(dtype):
    """MXNet's asscalar gives one, and scripts call its methods."""
    number = mx.nd.array([3], dtype=dtype).asscalar()
    assert number.dtype == dtype and (number.shape, number.ndim, number.size) == ((), 0, 1)
    assert type(number.item()) in (int, float) and number.item() == number.mean() == 3
    assert number.astype("float64").dtype == np.float64 and number.tolist() == 3
    for again in (pickle.loads(pickle.dumps(number)), copy.deepcopy(number)):
        assert again == 3 and again.dtype == dtype
    with pytest.raises(AttributeError):
        number.no_such_thing


def test_eight_threads():
    """Each computes with its own arrays and reads a shared one; the results are exact."""
    shared = mx.nd.array(np.arange(10000).reshape(100, 100) % 7)
    expected = np.square(shared.asnumpy() @ shared.asnumpy())
    wrong = []

    def work(number):
        try:
            for _ in range(20):
                mine = shared * number
                product = mx.nd.dot(mine, shared) / number
                result = mx.nd.square(product).asnumpy()
                if not np.allclose(result, expected, rtol=1e-6):
                    wrong.append(number)
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(2 ** i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_interpreter_is_free_while_c_plus_plus_works():
    a = mx.nd.ones((1500, 1500))
    done, ticks = threading.Event(), 0
    thread = threading.Thread(target=lambda: (mx.nd.dot(a, a).wait_to_read(), done.set()))
    thread.start()
    while not done.wait(0.001):
        ticks += 1
    thread.join()
    assert ticks > 0


# pickle.dumps(mx.nd.array([[1, 2]]), protocol) of MXNet 1.9.1.
OF_MXNET = {
    2: (
        "8002636d786e65742e6e6461727261792e6e6461727261790a4e4441727261790a71004e8571015271027d71"
        "03580600000068616e646c657104635f5f6275696c74696e5f5f0a6279746561727261790a7105635f636f64"
        "6563730a656e636f64650a71065835000000c389c3bac293c3b9000000000200000001000000000000000200"
        "0000000000000100000000000000000000000000c2803f00000040710758060000006c6174696e3171088671"
        "0952710a85710b52710c73622e"),
    4: (
        "80049587000000000000008c156d786e65742e6e6461727261792e6e646172726179948c074e444172726179"
        "9493944e859452947d948c0668616e646c65948c086275696c74696e73948c09627974656172726179949394"
        "4330c9fa93f90000000002000000010000000000000002000000000000000100000000000000000000000000"
        "803f00000040948594529473622e"),
}


@pytest.mark.parametrize("protocol", OF_MXNET)
def test_pickle_of_mxnet(protocol):
    code = """if True:
    import pickle, sys
    import symbind.as_mxnet
    import mxnet as mx
    x = pickle.loads(bytes.fromhex(sys.argv[1]))
    assert type(x) is mx.nd.NDArray
    print(x.dtype.__name__, x.asnumpy().tolist())
    """
    result = subprocess.run([sys.executable, "-c", code, OF_MXNET[protocol]], text=True,
                            capture_output=True)
    assert result.stdout == "float32 [[1.0, 2.0]]\n", result.stderr


def test_a_script_of_2017_learns():
    """Unedited: import mxnet, np.float, simple_bind, SGD by hand. Chance is 0.1."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts", "train_mlp_2017.py")
    result = subprocess.run([sys.executable, "-m", "symbind", script, "--num-epochs", "8"], text=True,
                            capture_output=True, timeout=300)
    assert result.returncode == 0, result.stderr
    lines = result.stdout.strip().split("\n")
    assert len(lines) == 9 and lines[0].startswith("epoch 0: train accuracy")
    assert float(lines[-1].split()[-1]) > 0.9, result.stdout
