"""The border between Python and the library: no object, buffer or container that comes over it may crash the
process, be written where it must not, or be read as other numbers."""
import ctypes
import gc
import itertools
import operator
import os
import pickle
import struct
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import symbind as mx
from child_process import run
from symbind import _core


def bound_classes():
    """The classes of the extension and those of the package that derive from them."""
    found, waiting = [], [c for c in vars(_core).values() if isinstance(c, type)]
    while waiting:
        each = waiting.pop()
        if each not in found:
            found.append(each)
            waiting += [c for c in each.__subclasses__() if c.__module__.startswith("symbind")]
    return sorted(found, key=lambda c: (c.__module__, c.__qualname__))


# --------------------------------------------------------------- objects that were not initialised

class Skips(mx.nd.NDArray):
    def __init__(self):
        pass


class SkipsSymbol(mx.sym.Symbol):
    def __init__(self):
        pass


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_an_array_that_skipped_init_raises():
    array, other = Skips(), mx.nd.ones(2)
    two_sided = (operator.add, operator.sub, operator.mul, operator.truediv, operator.mod, operator.pow,
                 operator.eq, operator.lt, operator.iadd, operator.imul)
    for function, side in itertools.product(two_sided, (1, 2.5, other, np.ones(2), array)):
        for pair in ((array, side), (side, array)):
            with pytest.raises(TypeError):
                function(*pair)
    calls = (operator.neg, len, bool, float, int, operator.index, list, repr, memoryview, np.asarray, mx.nd.array,
             mx.nd.relu, lambda a: mx.nd.add(other, a), lambda a: mx.nd.relu(other, out=a), mx.nd.from_dlpack,
             lambda a: mx.nd.concat(other, a), lambda a: other.copyto(a), lambda a: other.__setitem__(0, a),
             lambda a: mx.nd.save(os.devnull, [a]), lambda a: a.shape, lambda a: a.asnumpy(), pickle.dumps,
             lambda a: a.attach_grad(), lambda a: mx.sym.var("x").bind(mx.cpu(), {"x": a}),
             lambda a: mx.kv.create("local").init("k", a), lambda a: mx.metric.create("acc").update([a], [a]),
             lambda a: mx.io.NDArrayIter(a))
    for number, call in enumerate(calls):
        with pytest.raises(TypeError):
            call(array)
            pytest.fail("call %d" % number)
    with pytest.raises(TypeError, match=r"super\(\).__init__"):
        1 + array


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_symbol_that_skipped_init_raises():
    for call in (lambda s: s + 1, lambda s: 1 + s, mx.sym.relu, lambda s: mx.sym.add_n(mx.sym.var("x"), s),
                 lambda s: mx.sym.Group([s]), lambda s: mx.sym.var("x")(x=s), lambda s: s.list_arguments(),
                 lambda s: mx.sym.relu(data=s), mx.mod.Module):
        with pytest.raises(TypeError):
            call(SkipsSymbol())


EVERY_MEMBER = """
import itertools, operator, os, tempfile, warnings
import numpy as np
import symbind as mx
from test_bindings import bound_classes

warnings.simplefilter("ignore")
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)  # some of them write files
ARGUMENTS = [(), (1,), ("data",), (None,), ([],), ({},), (mx.nd.ones(2),), (1, 2), (mx.sym.var("x"),), (1, 2, 3)]
NOT_CALLED = {"__class__", "__init__", "__new__", "__subclasshook__", "__init_subclass__", "__dir__", "__del__"}
for cls in bound_classes():
    try:
        thing = cls.__new__(cls)
    except TypeError:
        continue  # made by the library only
    for name in set(dir(cls)) - NOT_CALLED:
        print(cls, name, flush=True)
        for arguments in ARGUMENTS:
            try:
                member = getattr(thing, name)
                if callable(member):
                    member(*arguments)
            except Exception:
                pass
os.chdir("/")
folder.cleanup()
print("done")
"""


def test_no_member_of_any_class_crashes_without_init():
    done = run(EVERY_MEMBER)
    assert done.returncode == 0 and done.stdout.endswith("done\n"), done.stdout[-300:] + done.stderr[-2000:]


# -------------------------------------------------------------------------------- nested containers

def nested(depth, kind=list):
    value = kind()
    for _ in range(depth):
        value = kind([value])
    return value


def dismantle(value):
    """Python destroys a chain of 200,000 lists by itself; NumPy and tracebacks hold on to parts of it."""
    while value:
        value = value.pop()


@pytest.mark.parametrize("kind", ["itself", "list", "tuple"])
def test_attributes_that_nest_too_deeply_are_refused(kind):
    if kind == "itself":
        value = [1]
        value.append(value)
    else:
        value = nested(200_000, {"list": list, "tuple": tuple}[kind])
    x, array = mx.sym.var("x"), mx.nd.ones((2, 3))
    for call in (lambda: mx.nd.sum(array, axis=value), lambda: mx.nd.sum(array, value),
                 lambda: mx.sym.sum(x, axis=value), lambda: mx.sym.FullyConnected(x, num_hidden=value),
                 lambda: _core.invoke("sum", [array], {"axis": value}, None)):
        with pytest.raises(ValueError, match="SYMBIND_LIMIT_NESTING"):
            call()
    for call in (lambda: mx.sym.var("x", attr={"a": value}), lambda: mx.sym.var("x", shape=value),
                 lambda: mx.nd.zeros(value), lambda: mx.nd.array(value), lambda: array[value], lambda: x[value],
                 lambda: mx.sym.relu(x, attr={"a": value}), lambda: mx.sym.Custom(x, op_type="a", b=value),
                 lambda: _core.dump_states(value, lambda each: each), lambda: mx.io.NDArrayIter(value), lambda: array.reshape(value), lambda: array.tile(value),
                 lambda: array.__setitem__(slice(None), value), lambda: _core.invoke("relu", value, {}, None)):
        with pytest.raises((ValueError, TypeError, RecursionError, IndexError)):
            call()
    if kind == "list":
        dismantle(value)


def test_nesting_within_the_limit_is_text():
    with mx.test_utils.environment("SYMBIND_LIMIT_NESTING", "3"):
        assert mx.sym.var("x", attr={"__a__": "[[1]]"}).attr("__a__") == "[[1]]"
        net = mx.sym.transpose(mx.sym.var("x"), axes=(1, 0))
        assert net.attr("axes") == "(1, 0)"
        with pytest.raises(ValueError, match="3 levels"):
            mx.sym.transpose(mx.sym.var("x"), axes=[[[[1]]]])


# ------------------------------------------------------------------------ memory that is shown outside

def test_a_buffer_outlives_setstate():
    """Memory that is being written by another thread stays when the object gets another array."""
    count = 1 << 16
    array, state = mx.nd.zeros(count), mx.nd.zeros(3).__getstate__()
    entrance, exit_ = os.pipe()
    read = []
    with open(entrance, "rb", 0) as pipe:
        thread = threading.Thread(target=lambda: read.append(pipe.readinto(array)))
        thread.start()
        while not read and open("/proc/self/task/%d/syscall" % thread.native_id).read().split()[0] != "0":
            time.sleep(0.01)  # until it waits in read()
        array.__setstate__(state)
        others = [mx.nd.full((count,), 7) for _ in range(8)]  # takes freed memory, if there is any
        os.write(exit_, b"x" * 4096)
        os.close(exit_)
        thread.join()
    assert read == [4096] and array.shape == (3,)
    assert all((other.asnumpy() == 7).all() for other in others)


def test_dlpack_and_views_outlive_setstate():
    for use in (np.from_dlpack, lambda a: a[:100]):
        array = mx.nd.array(np.arange(1 << 16))
        kept = use(array)
        array.__setstate__(mx.nd.zeros(3).__getstate__())
        gc.collect()
        others = [mx.nd.full((1 << 16,), 7) for _ in range(8)]
        kept[5] = 100
        want = np.arange(kept.shape[0], dtype="f")
        want[5] = 100
        np.testing.assert_array_equal(kept.asnumpy() if hasattr(kept, "asnumpy") else kept, want)
        assert all((other.asnumpy() == 7).all() for other in others)


def test_an_array_is_replaced_while_threads_read_it():
    array, stop, errors = mx.nd.ones(1 << 15), threading.Event(), []
    states = [mx.nd.full((n,), 3).__getstate__() for n in (1 << 15, 1 << 14)]

    def read():
        while not stop.is_set():
            values = array.asnumpy()
            if not ((values == 1) | (values == 3)).all():
                errors.append(values)

    threads = [threading.Thread(target=read) for _ in range(2)]
    for each in threads:
        each.start()
    for i in range(300):
        array.__setstate__(states[i % 2])
    stop.set()
    for each in threads:
        each.join()
    assert not errors


def read_only(shape=(2, 3)):
    return mx.nd.NDArray(mx.nd.ones(shape), writable=False)


def test_read_only_arrays_are_not_written():
    array, other = read_only(), mx.nd.full((2, 3), 5)
    store = mx.kv.create("local")
    store.init("k", other)
    sgd = mx.optimizer.SGD()
    writes = {
        "out": lambda a: mx.nd.elemwise_add(other, other, out=a),
        "out in a list": lambda a: mx.nd.split(other, 1, out=[a]),
        "out of a draw": lambda a: mx.nd.random.uniform(out=a),
        "out of zeros": lambda a: mx.nd.zeros((2, 3), out=a),
        "out of full": lambda a: mx.nd.full((2, 3), 4, out=a),
        "invoke": lambda a: _core.invoke("relu", [other], {}, a),
        "in place": lambda a: operator.iadd(a, 1),
        "assignment": lambda a: a.__setitem__(slice(None), 4),
        "one element": lambda a: a.__setitem__((0, 1), 4),
        "some elements": lambda a: a.__setitem__(([0, 1], [1, 2]), 4),
        "copyto": other.copyto,
        "slice_assign": lambda a: a.slice_assign(other, (0, 0), (2, 3), (1, 1)),
        "pull": lambda a: store.pull("k", a),
        "update": lambda a: sgd.update(0, a, other, sgd.create_state(0, other)),
        "initializer": lambda a: mx.init.One()(mx.init.InitDesc("a_weight"), a),
        "gradient": lambda a: mx.sym.var("x").bind(mx.cpu(), {"x": other}, args_grad={"x": a}),
        "gradient of autograd": lambda a: mx.autograd.mark_variables([other.copy()], [a]),
        "clip": lambda a: _core.clip_global_norm([a], 0.1),
        "pack_into": lambda a: struct.pack_into("f", a, 0, 3.0),
        "readinto": lambda a: open("/dev/zero", "rb").readinto(a),
        "DLPack for writing": lambda a: a.to_dlpack_for_write(),
    }
    views = {"itself": lambda a: a, "reshape": lambda a: a.reshape((2, 3)), "slice": lambda a: a[0:2],
             "detach": lambda a: a.detach(), "again": mx.nd.NDArray, "handle": lambda a: mx.nd.NDArray(a.handle),
             "as_in_context": lambda a: a.as_in_context(mx.cpu()), "all": lambda a: a[...],
             "expand": lambda a: a.expand_dims(0, inplace=True).squeeze(0, inplace=True)}
    for (what, write), (how, view) in itertools.product(writes.items(), views.items()):
        target = view(array)
        assert not target.writable, how
        with pytest.raises((ValueError, BufferError, TypeError)):
            write(target)
            pytest.fail("%s through %s" % (what, how))
    np.testing.assert_array_equal(array.asnumpy(), np.ones((2, 3)))
    assert not array[1].writable and array.copy().writable and (array + 1).writable


def test_read_only_arrays_say_so():
    array = read_only()
    memoryview(array).cast("B")[0] = 9  # a reader has the numbers as they were, for itself
    shared = mx.nd.from_dlpack(array)  # the versioned form says it, and who reads it takes a copy
    shared[:] = 9
    old = mx.nd.from_dlpack(array.__dlpack__())
    old[:] = 9
    capsule = mx.nd.from_dlpack(array.to_dlpack_for_read())
    capsule += 9
    with pytest.raises(BufferError):
        array.__dlpack__(copy=False)
    np.testing.assert_array_equal(array.asnumpy(), np.ones((2, 3)))


def test_from_numpy_of_read_only_memory_is_a_copy():
    source = np.arange(6, dtype="f4")
    source.flags.writeable = False
    array = mx.nd.from_numpy(source)
    array[:] = 7
    np.testing.assert_array_equal(source, np.arange(6))
    constant = np.frombuffer(b"\0" * 16, "f4")  # bytes, which Python shares
    array = mx.nd.from_numpy(constant)
    array += 1
    assert constant.tolist() == [0] * 4 and array.asnumpy().tolist() == [1] * 4
    # Writable memory is shared, and becomes read-only for NumPy, as in MXNet; twice is allowed.
    source = np.arange(6, dtype="f4")
    array = mx.nd.from_numpy(source)
    array[0] = 5
    assert source[0] == 5 and not source.flags.writeable
    again = mx.nd.from_numpy(source)
    again[1] = 6
    assert source[1] == 6 and array.asnumpy()[1] == 6 and not source.flags.writeable


def test_from_numpy_takes_arrays_only():
    odd = np.zeros(4 * 5 + 1, "u1")[1:].view("f4")
    assert not odd.flags.aligned
    array = mx.nd.from_numpy(odd)
    array[:] = 3
    assert array.asnumpy().tolist() == [3] * 5
    for bad, kind in (([1, 2], TypeError), (np.arange(6).reshape(2, 3).T, ValueError),
                      (np.arange(3, dtype=">f4"), ValueError), (np.array([None]), TypeError),
                      (np.zeros(2, "c8"), TypeError), (np.array(["a"]), TypeError),
                      (np.zeros(2, "M8[s]"), TypeError)):
        with pytest.raises((kind, ValueError) if kind is TypeError else kind):
            mx.nd.from_numpy(bad)


def test_from_numpy_keeps_the_memory():
    source = np.arange(6, dtype="f4")
    gone = weakref.ref(source)
    array = mx.nd.from_numpy(source)
    del source
    gc.collect()
    assert array.asnumpy().tolist() == [0, 1, 2, 3, 4, 5] and gone() is not None
    del array
    gc.collect()
    assert gone() is None


# ------------------------------------------------------------------------------------- byte order

@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i4", "i8", "i2", "u4"])
def test_big_endian_numbers_are_the_same_numbers(dtype):
    big, want = np.arange(1, 7).astype(">" + dtype), np.arange(1, 7).astype(dtype)
    for array in (mx.nd.array(big), mx.nd.array(big, dtype=big.dtype), mx.nd.array(big, dtype=">" + dtype),
                  mx.nd.array(want, dtype=big.dtype), mx.nd.array(want, dtype=dtype).astype(big.dtype),
                  mx.nd.from_numpy(big, zero_copy=False)):
        np.testing.assert_array_equal(array.asnumpy(), want)
        assert array.asnumpy().dtype.isnative
    array = mx.nd.zeros(6, dtype=dtype)
    array[:] = big
    np.testing.assert_array_equal(array.asnumpy(), want)
    array[::2] = big[::2]
    array[[0, 1]] = big[:2]
    np.testing.assert_array_equal(array.asnumpy(), want)
    batch = next(iter(mx.io.NDArrayIter(big.reshape(3, 2), np.arange(3).astype(">f4"), 3)))
    np.testing.assert_array_equal(batch.data[0].asnumpy(), want.reshape(3, 2))
    np.testing.assert_array_equal(batch.label[0].asnumpy(), [0, 1, 2])
    with pytest.raises(ValueError, match="not supported"):
        mx.nd.from_numpy(big)
    with pytest.raises(TypeError, match="byte order"):
        array._copy_from(big, dtype)


def test_big_endian_numbers_elsewhere():
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, no_bias=True, name="fc")
    weights = {"fc_weight": mx.nd.ones((1, 3))}
    big = np.array([[1, 2, 3]], ">f4")
    predictor = mx.Predictor.from_symbol(net, weights)
    assert predictor(big).asnumpy().tolist() == [[6]]
    with pytest.raises(TypeError, match="byte order"):
        predictor._core.predict({"data": big})
    executor = net.bind(mx.cpu(), {"data": mx.nd.array(big), **weights})
    assert executor.forward()[0].asnumpy().tolist() == [[6]]
    scipy = pytest.importorskip("scipy.sparse")
    csr = scipy.csr_matrix(np.array([[0, 2], [3, 0]], "f4"))
    triple = (csr.data.astype(">f4"), csr.indices.astype(">i4"), csr.indptr.astype(">i4"))
    assert mx.nd.sparse.csr_matrix(triple, shape=(2, 2)).asnumpy().tolist() == [[0, 2], [3, 0]]
    metric = mx.metric.create("mse")
    metric.update([mx.nd.array(np.array([1, 2], ">f4"))], [mx.nd.array(np.array([1, 4], ">f8"))])
    assert metric.get()[1] == 2


# ---------------------------------------------------------------------------------------- handles

def test_handles_keep_no_array_alive():
    arrays = [mx.nd.full((2,), i) for i in range(5000)]
    handles = [a.handle for a in arrays]
    alive = [weakref.ref(a) for a in arrays]
    assert len({h.value for h in handles}) == 5000 and arrays[7].handle.value == handles[7].value
    same = mx.nd.NDArray(handles[7])
    assert same.asnumpy().tolist() == [7, 7]
    arrays[7][:] = 1
    assert same.asnumpy().tolist() == [1, 1]
    copied = pickle.loads(pickle.dumps(arrays[8]))
    assert copied.handle.value != handles[8].value
    del arrays
    gc.collect()
    assert not any(ref() for ref in alive)
    for stale in (handles[3], 0, -1, 2 ** 63, ctypes.c_void_p()):
        with pytest.raises(ValueError, match="handle"):
            mx.nd.NDArray(stale)


# --------------------------------------------------------- what must be another array, and index types

def test_results_are_new_arrays():
    """As MXNet 1.9.1: writing to the result leaves the source as it was."""
    source = mx.nd.ones((2, 3))
    for make in (lambda a: a.broadcast_to((2, 3)), lambda a: a.tostype("default"), lambda a: a.broadcast_like(a),
                 lambda a: mx.nd.broadcast_to(a, shape=(2, 3)), lambda a: mx.nd.sparse.cast_storage(a, "default"),
                 lambda a: a.tostype("csr").tostype("csr"), lambda a: a.astype("float32"), lambda a: a.copy(),
                 lambda a: mx.nd.array(a)):
        result = make(source)
        assert result is not source
        result[:] = 5
        assert source.asnumpy().tolist() == [[1] * 3] * 2
    sparse = source.tostype("csr")
    other = sparse.tostype("csr")
    assert other is not sparse and other.stype == "csr"
    with mx.np_shape():
        scalar = mx.nd.ones(())
        stretched = scalar.broadcast_to(())
        stretched[()] = 4
        assert scalar.asscalar() == 1


def test_new_arrays_are_recorded():
    source = mx.nd.array([[1, 2]])
    source.attach_grad()
    for make in (lambda a: a.broadcast_to((1, 2)), lambda a: a.tostype("default")):
        with mx.autograd.record():
            result = make(source) * 3
        result.backward()
        assert source.grad.asnumpy().tolist() == [[3, 3]]


def test_an_index_is_an_int():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        array = mx.nd.array([2], dtype="int32")
        assert type(operator.index(array)) is int and [5, 6, 7][array] == 7
        assert type(int(array)) is int and type(float(array)) is float
        assert mx.nd.zeros((3, 2))[array].shape in ((2,), (1, 2)) and range(5)[array] == 2
        assert mx.nd.zeros(mx.nd.array([3], dtype="int64")).shape == (3,)
        assert np.zeros(4)[array.asscalar()] == 0 and type(mx.nd.array([2.5]).asscalar() + 1) is float


def test_numbers_that_are_kinds_of_int():
    class Level(int):
        def __str__(self):
            return "a level"

        __repr__ = __str__

    array = mx.nd.ones(2)
    assert (array + Level(3)).asnumpy().tolist() == [4, 4] and (Level(3) - array).asnumpy().tolist() == [2, 2]
    array[Level(1)] = Level(7)
    assert array.asnumpy().tolist() == [1, 7]
