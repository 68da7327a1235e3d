"""The border between Python and the library: no object, buffer or container that comes over it may crash the
process, be written where it must not, or be read as other numbers."""
import ctypes
import gc
import itertools
import operator
import os
import pickle
import struct
import subprocess
import sys
import threading
import time
import warnings
import weakref

import numpy as np
import pytest

import symbind as mx
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
import itertools, operator, warnings
import numpy as np
import symbind as mx
from test_bindings import bound_classes

warnings.simplefilter("ignore")
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
print("done")
"""


def run(program, **environment):
    path = os.pathsep.join([os.path.dirname(os.path.abspath(__file__)), os.path.dirname(os.path.dirname(mx.__file__))])
    return subprocess.run([sys.executable, "-X", "faulthandler", "-c", program], text=True, capture_output=True,
                          timeout=300,
                          env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", **environment})


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


# ---------------------------------------------------------------------------------------- DLPack

class Device(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("id", ctypes.c_int32)]


class Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", Device), ("ndim", ctypes.c_int32), ("dtype", Type),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("manager", ctypes.c_void_p),
                ("deleter", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("flags", ctypes.c_uint64),
                ("tensor", Tensor)]


class Capsule:
    """A versioned DLPack capsule whose every field a test chooses."""

    def __init__(self, **fields):
        self.memory = np.arange(12, dtype="f4")
        self.deleted = 0
        self.shape = (ctypes.c_int64 * 2)(*fields.pop("shape", (2, 3)))
        strides = fields.pop("strides", None)
        self.strides = strides and (ctypes.c_int64 * 2)(*strides)
        self.managed = m = Managed(1, 0)
        m.deleter = self.deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self._delete)
        m.tensor = Tensor(self.memory.ctypes.data, Device(1, 0), 2, Type(2, 32, 1), self.shape, self.strides, 0)
        for name, value in fields.items():
            setattr(m if hasattr(m, name) else m.tensor, name, value)
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.capsule = make(ctypes.addressof(m), b"dltensor_versioned", None)

    def _delete(self, _):
        self.deleted += 1


def test_dlpack_tensors_are_taken():
    made = Capsule()
    array = mx.nd.from_dlpack(made.capsule)
    assert array.asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    array[0, 0] = 8
    assert made.memory[0] == 8 and made.deleted == 0
    del array
    assert made.deleted == 1
    made = Capsule(byte_offset=8, minor=7, strides=(3, 1))
    assert mx.nd.from_dlpack(made.capsule).asnumpy().tolist() == [[2, 3, 4], [5, 6, 7]]
    made = Capsule(flags=1)  # read-only
    array = mx.nd.from_dlpack(made.capsule)
    array[:] = 9
    assert made.memory[0] == 0 and made.deleted == 1
    made = Capsule(byte_offset=2, dtype=Type(0, 32, 1))  # not aligned
    want = np.frombuffer(made.memory.tobytes(), "i4", 6, 2).reshape(2, 3)
    np.testing.assert_array_equal(mx.nd.from_dlpack(made.capsule).asnumpy(), want)
    assert made.deleted == 1


@pytest.mark.parametrize("fields, text", [
    (dict(major=2), "2.0"), (dict(major=0, minor=8), "0.8"), (dict(device=Device(2, 0)), "CUDA|GPU|CPU"),
    (dict(device=Device(10, 0)), "10"), (dict(device=Device(13, 0)), "13"), (dict(device=Device(2, -1)), "-1|CUDA"),
    (dict(dtype=Type(2, 32, 4)), "4 lanes"), (dict(dtype=Type(5, 64, 1)), "code 5"), (dict(dtype=Type(2, 31, 1)), "31"),
    (dict(strides=(1, 2)), "contiguous"), (dict(ndim=-1), "-1 axes"), (dict(ndim=10_000), "10000 axes"),
    (dict(shape=(2, -3)), "-3"), (dict(shape=(1 << 40, 1 << 40)), "larger"), (dict(data=None), "memory"),
    (dict(shape=(1 << 31, 1 << 31)), "larger"), (dict(byte_offset=(1 << 64) - 8), "byte_offset"),
    (dict(shape=None), "shape")])
def test_dlpack_tensors_that_are_refused(fields, text):
    made = Capsule(**{name: value for name, value in fields.items() if (name, value) != ("shape", None)})
    if fields.get("shape", ()) is None:
        made.managed.tensor.shape = ctypes.POINTER(ctypes.c_int64)()
    with pytest.raises((ValueError, TypeError, mx.MXNetError), match=text):
        mx.nd.from_dlpack(made.capsule)
    assert made.deleted == 0 and "dltensor_versioned" in repr(made.capsule)  # still its maker's


def test_dlpack_asks_and_answers():
    array = mx.nd.ones((2, 3))
    assert array.__dlpack_device__() == (1, 0)
    assert '"dltensor"' in repr(array.__dlpack__(max_version=(0, 8)))
    for version in ((1, 0), (1, 5), (2, 0)):
        assert "versioned" in repr(array.__dlpack__(max_version=version))
    np.testing.assert_array_equal(mx.nd.from_dlpack(array.__dlpack__(dl_device=(1, 0), copy=True)).asnumpy(), 1)
    for bad in (dict(stream=1), dict(dl_device=(2, 0)), dict(dl_device=(1, 1))):
        with pytest.raises(BufferError):
            array.__dlpack__(**bad)
    for bad in (dict(max_version=1), dict(max_version="10"), dict(dl_device=5), dict(max_version=(1,))):
        with pytest.raises(TypeError):
            array.__dlpack__(**bad)
    with pytest.raises(mx.MXNetError, match="empty"):
        mx.nd.NDArray().__dlpack__()


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


# ---------------------------------------------------------------------- settings and the process

def test_settings_are_taken_where_work_begins(monkeypatch):
    """The library reads a snapshot; each of these calls takes one."""
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    net = mx.sym.LinearRegressionOutput(net, mx.sym.var("softmax_label"))
    module = mx.mod.Module(net)
    train = mx.io.NDArrayIter(np.ones((2, 3)), np.ones(2), 2)
    module.fit(train, num_epoch=1)
    text = net.tojson()
    saved = mx.nd.ones(2)._record()
    assert saved
    begins = {
        "bind": lambda: net.simple_bind(mx.cpu(), data=(2, 3)),
        "fit": lambda: module.fit(train, num_epoch=1),
        "iterator": lambda: mx.io.NDArrayIter(np.ones((2, 3))),
        "own iterator": lambda: mx.io.DataIter(2),
        "store": lambda: mx.kv.create("local"),
        "optimizer": lambda: mx.optimizer.SGD(),
        "load": lambda: mx.sym.load_json(text),
        "setenv": lambda: mx.util.setenv("SYMBIND_LOG", "1"),
    }
    for number, (what, begin) in enumerate(begins.items()):
        monkeypatch.setenv("SYMBIND_DATA", str(number))
        assert _core.setting("SYMBIND_DATA") != str(number), what
        begin()
        assert _core.setting("SYMBIND_DATA") == str(number), what
    mx.util.setenv("SYMBIND_LOG", None)
    monkeypatch.delenv("SYMBIND_DATA")
    _core.refresh_settings()
    assert _core.setting("SYMBIND_DATA") == ""


def test_setenv_refuses_names_that_are_none():
    for name in ("", "A=B", "A\0B"):
        with pytest.raises(ValueError, match="environment variable"):
            mx.util.setenv(name, "1")
        with pytest.raises(ValueError, match="environment variable"):
            mx.util.getenv(name)
    with pytest.raises(ValueError, match="NUL"):
        mx.util.setenv("SYMBIND_TEST_NUL", "a\0b")
    assert mx.util.getenv("SYMBIND_TEST_NUL") is None


ENVIRONMENT_CHANGES = """
import os, threading
import numpy as np
import symbind as mx

stop = threading.Event()
def change():
    i = 0
    while not stop.is_set():
        for i in range(2000):
            os.environ["SYMBIND_TEST_%d" % i] = "x" * (i % 50)
        for i in range(2000):
            del os.environ["SYMBIND_TEST_%d" % i]
thread = threading.Thread(target=change)
thread.start()
net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2)
for i in range(60):
    executor = net.simple_bind(mx.cpu(), data=(2, 3))
    executor.forward()
    mx.io.NDArrayIter(np.ones((4, 3)), batch_size=2)
    (mx.nd.ones(1 << 16) + 1).wait_to_read()
stop.set()
thread.join()
print("done")
"""


def test_the_environment_changes_while_others_work():
    done = run(ENVIRONMENT_CHANGES)
    assert done.stdout == "done\n", done.stderr[-2000:]


@pytest.mark.parametrize("name", ["SYMBIND_NUM_THREADS", "MXNET_OMP_MAX_THREADS", "OMP_NUM_THREADS"])
def test_a_hundred_thousand_threads(name):
    """More threads than SYMBIND_LIMIT_THREADS are an error; of what OpenMP offers only so many are used."""
    program = """if 1:
        import symbind as mx
        try:
            print((mx.nd.ones(1 << 20) + 1).sum().asscalar())
        except ValueError as error:
            print(error)
    """
    for many in ("100000",) if name == "OMP_NUM_THREADS" else ("100000", "2147483648"):
        done = run(program, SYMBIND_LIMIT_THREADS="8" if name == "OMP_NUM_THREADS" else "1024", **{name: many})
        assert done.returncode == 0, done.stderr[-2000:]
        if name == "OMP_NUM_THREADS":
            assert float(done.stdout) == 2 << 20
        else:
            assert many in done.stdout and "1024" in done.stdout


FORK = """
import os, sys
import symbind as mx

folder = sys.argv[1]
rec, idx = os.path.join(folder, "a.rec"), os.path.join(folder, "a.idx")
writer = mx.recordio.MXIndexedRecordIO(idx, rec, "w")
writer.write_idx(0, b"zero")
mx.profiler.set_config(profile_all=True, filename=os.path.join(folder, "trace.json"))
mx.profiler.set_state("run")
(mx.nd.ones(4) + 1).wait_to_read()
if os.fork() == 0:
    how = sys.argv[2]
    if how == "writes":
        try:
            writer.write(b"of the child")
        except mx.MXNetError:
            pass
    if how == "lets go":
        del writer
    sys.exit(0)  # not os._exit: everything that happens at the end of a process happens
assert os.wait()[1] == 0
assert not os.path.exists(os.path.join(folder, "trace.json")), "the child wrote the parent's trace"
writer.write_idx(1, b"one")
writer.close()
reader = mx.recordio.MXIndexedRecordIO(idx, rec, "r")
assert reader.keys == [0, 1], reader.keys
assert [reader.read_idx(k) for k in reader.keys] == [b"zero", b"one"]
reader = mx.recordio.MXRecordIO(rec, "r")
assert [reader.read(), reader.read(), reader.read()] == [b"zero", b"one", None]
print("done")
"""


@pytest.mark.parametrize("how", ["exits", "lets go", "writes"])
def test_a_forked_child_writes_nothing_of_the_parents(how, tmp_path):
    done = run("import sys; sys.argv = %r\n%s" % (["", str(tmp_path), how], FORK))
    assert done.stdout == "done\n", done.stderr[-2000:]
