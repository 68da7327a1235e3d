"""Helpers that all modules of the package use, and the names that scripts import from mxnet.base."""
import ctypes

import numpy as np

from . import _core, error
from .error import MXNetError

__all__ = ["MXNetError"]

mx_real_t = np.float32
mx_uint = ctypes.c_uint
mx_float = ctypes.c_float
mx_int = ctypes.c_int
NDArrayHandle = SymbolHandle = ExecutorHandle = KVStoreHandle = ctypes.c_void_p

string_types = (str,)
numeric_types = (float, int, np.generic)
integer_types = (int, np.int32, np.int64)

# NumPy has no bfloat16; MXNet shows such arrays as this structure of one 16-bit word.
bfloat16 = np.dtype([("bfloat16", np.uint16)])


class _NullType:
    """Means "not given" in signatures."""

    def __repr__(self):
        return "_Null"

    def __bool__(self):
        return False

    def __reduce__(self):
        return "_Null"


_Null = _NullType()


class NotImplementedForSymbol(MXNetError, NotImplementedError):
    """Raised by array methods that symbols do not have."""

    def __init__(self, function, alias, *args):
        super().__init__()
        self.function = getattr(function, "__name__", str(function))
        self.alias = alias
        self.args = tuple(str(type(a)) for a in args)

    def __str__(self):
        text = f"Function {self.function}"
        if self.alias:
            text += f" (namely operator \"{self.alias}\")"
        if self.args:
            text += " with arguments ({})".format(", ".join(self.args))
        return text + " is not implemented for Symbol and only available in NDArray."


class MXCallbackList(ctypes.Structure):
    """Exists because scripts import it; nothing here calls through C pointers."""

    _fields_ = [("num_callbacks", ctypes.c_int), ("callbacks", ctypes.c_void_p),
                ("contexts", ctypes.c_void_p)]


class _Library:
    """In MXNet `_LIB` is the C library. Here every call through it raises an error with its name."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)

        def missing(*_args):
            raise MXNetError(f"{name} belongs to MXNet's C interface, which Symbind does not have; "
                             "use the Python functions instead")

        missing.__name__ = name
        return missing


_LIB = _Library()


def check_call(ret):
    """Raises an error unless a C call returned 0."""
    if ret != 0:
        raise MXNetError(f"a call of MXNet's C interface failed with status {ret}")


def py_str(value):
    """A str from bytes."""
    return value.decode("utf-8")


def c_str(text):
    """A C string from a str."""
    return ctypes.c_char_p(text.encode("utf-8"))


def c_str_array(texts):
    """A C array of C strings."""
    return c_array(ctypes.c_char_p, [text.encode("utf-8") for text in texts])


def c_array(ctype, values):
    """A C array from a sequence."""
    return (ctype * len(values))(*values)


def _as_list(value):
    """A list or tuple unchanged, any other value in a list."""
    return value if isinstance(value, (list, tuple)) else [value]


def data_dir_default():
    """The folder for downloads; MXNET_HOME sets it."""
    import os

    if os.name == "nt":
        return os.path.join(os.environ.get("APPDATA"), "mxnet")
    return os.path.join(os.path.expanduser("~"), ".mxnet")


def data_dir():
    """Where downloads go."""
    from .util import getenv

    value = getenv("MXNET_HOME")
    return value if value is not None else data_dir_default()


_core.register_types({**error.BY_KIND, "bfloat16": bfloat16})
