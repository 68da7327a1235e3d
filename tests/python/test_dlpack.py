"""DLPack tensors of other libraries, valid and invalid, and the export of ours."""
import ctypes

import numpy as np
import pytest

import symbind as mx


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
