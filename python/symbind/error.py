"""The exceptions that C++ raises: one class per kind, each derived from the Python exception of MXNet."""
import builtins

__all__ = ["MXNetError"]


class MXNetError(RuntimeError):
    """Every error of the library."""


class ValueError(MXNetError, builtins.ValueError):  # pylint: disable=redefined-builtin
    """A bad value or a shape that does not fit."""


class NameError(MXNetError, builtins.ValueError, AttributeError):  # pylint: disable=redefined-builtin
    """An unknown name."""


class TypeError(MXNetError, builtins.TypeError):  # pylint: disable=redefined-builtin
    """An argument of the wrong type."""


class IndexError(MXNetError, builtins.IndexError):  # pylint: disable=redefined-builtin
    """An index out of range."""


class NotImplementedError(MXNetError, builtins.NotImplementedError):  # pylint: disable=redefined-builtin
    """Valid, but not supported here."""


class MemoryError(MXNetError, builtins.MemoryError):  # pylint: disable=redefined-builtin
    """Memory or a device resource ran out."""


class OSError(MXNetError, builtins.OSError):  # pylint: disable=redefined-builtin
    """A file could not be read or written."""


class WorkerLostError(MXNetError, builtins.ConnectionError):
    """Another process of the distributed job was lost."""


class AssertionError(MXNetError, builtins.AssertionError):  # pylint: disable=redefined-builtin
    """A call in the wrong order, or on an object that failed before."""


BY_KIND = {
    cls.__name__: cls
    for cls in (
        MXNetError, ValueError, NameError, TypeError, IndexError, NotImplementedError, MemoryError,
        OSError, WorkerLostError, AssertionError,
    )
}
