"""Switches and small services: NumPy's meaning of shapes, the library's environment, the GPUs.

Shapes have two meanings. By MXNet's old one a size of 0 is unknown and a scalar has shape (1,); by
NumPy's, turned on with np_shape, 0 is empty, () is a scalar, and -1 is unknown. The library keeps
that switch, one for each thread. The switch of NumPy arrays is kept for scripts that set it:
Symbind has no mx.np, so it changes nothing.
"""
import functools
import inspect
import os
import threading

from . import _core
from .context import gpu_memory_info, num_gpus


def makedirs(d):
    """Makes a folder and those above it, if they are not there."""
    os.makedirs(os.path.expanduser(d), exist_ok=True)


def getenv(name):
    """The environment variable as the library sees it, or None."""
    return _core.getenv(name)


def setenv(name, value):
    """Sets an environment variable, and the library's settings by it; None unsets it."""
    _core.setenv(name, value)


def get_gpu_count():
    """The number of GPUs."""
    return num_gpus()


def get_gpu_memory(gpu_dev_id):
    """(free, total) memory of a GPU in bytes."""
    return gpu_memory_info(gpu_dev_id)


def is_np_shape():
    """Whether shapes have NumPy's meaning in this thread."""
    return bool(_core.is_np_shape())


def set_np_shape(active):
    """Turns NumPy's meaning of shapes on or off in this thread; returns what it was."""
    if not active and is_np_array():
        raise ValueError('Deactivating NumPy shape semantics while NumPy array semantics is still'
                         ' active is not allowed. Please consider calling `npx.reset_np()` to'
                         ' deactivate both of them.')
    return bool(_core.set_np_shape(bool(active)))


class _NumpyShapeScope:
    """A `with` block of np_shape; None leaves the switch alone."""

    def __init__(self, is_np_shape):
        self._active = is_np_shape
        self._before = None

    def __enter__(self):
        if self._active is not None:
            self._before = set_np_shape(self._active)

    def __exit__(self, *error):
        if self._active is not None and self._before != self._active:
            set_np_shape(self._before)


def np_shape(active=True):
    """A `with` block in which shapes have NumPy's meaning."""
    return _NumpyShapeScope(active)


class _NumpyArrayScope:
    """A `with` block of np_array."""

    _current = threading.local()

    def __init__(self, is_np_array):
        self._is_np_array = is_np_array
        self._before = None

    def __enter__(self):
        self._before = getattr(_NumpyArrayScope._current, "value", _NumpyArrayScope(False))
        _NumpyArrayScope._current.value = self
        return self

    def __exit__(self, *error):
        _NumpyArrayScope._current.value = self._before


_NumpyArrayScope._current.value = _NumpyArrayScope(False)


def np_array(active=True):
    """A `with` block in which is_np_array() is `active`."""
    return _NumpyArrayScope(active)


def is_np_array():
    """Whether the switch of NumPy arrays is on in this thread."""
    scope = getattr(_NumpyArrayScope._current, "value", None)
    return scope is not None and scope._is_np_array


def _inside(scope, decorated, name):
    """`decorated`, a function or all the functions of a class, so that it runs inside `scope()`."""
    if inspect.isclass(decorated):
        for key, member in inspect.getmembers(decorated):
            static = inspect.getattr_static(decorated, key)
            if isinstance(static, (staticmethod, classmethod)) and inspect.isroutine(member):
                if inspect.isfunction(static.__func__):
                    setattr(decorated, key, type(static)(_inside(scope, static.__func__, name)))
            elif inspect.isfunction(member):
                setattr(decorated, key, _inside(scope, member, name))
            elif isinstance(member, property) and member.fget is not None:
                setattr(decorated, key, member.getter(_inside(scope, member.fget, name)))
        return decorated
    if not callable(decorated):
        raise TypeError('{} can only decorate classes and callable objects, '
                        'while received a {}'.format(name, type(decorated)))

    @functools.wraps(decorated)
    def run(*args, **kwargs):
        with scope():
            return decorated(*args, **kwargs)
    return run


def use_np_shape(func):
    """Decorates a function or a class so that its code runs inside np_shape()."""
    return _inside(np_shape, func, 'use_np_shape')


def use_np_array(func):
    """Decorates a function or a class so that its code runs inside np_array()."""
    return _inside(np_array, func, 'use_np_array')


def use_np(func):
    """Decorates with use_np_array and use_np_shape."""
    return use_np_shape(use_np_array(func))


def set_np(shape=True, array=True):
    """Sets both switches in this thread; NumPy arrays without NumPy shapes are refused."""
    if array and not shape:
        raise ValueError('NumPy Shape semantics is required in using NumPy array semantics.')
    _NumpyArrayScope._current.value = _NumpyArrayScope(array)
    set_np_shape(shape)


def reset_np():
    """Turns both switches off in this thread."""
    set_np(shape=False, array=False)


def set_module(module):
    """A decorator that gives a function or class another `__module__`."""
    def decorate(func):
        if module is not None:
            func.__module__ = module
        return func
    return decorate
