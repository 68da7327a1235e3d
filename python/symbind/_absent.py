"""Placeholders for modules and classes that MXNet has and Symbind does not.

A script may import such a module, refer to its classes and derive from them; tests and examples do so
without using them. Calling anything in it raises NotInSymbind.
"""
import abc
import sys
import types

from . import _core
from .base import MXNetError


_INSTEAD = "it offers Symbol, Module and NDArray"


class NotInSymbind(MXNetError, NotImplementedError):
    """A part of MXNet that Symbind does not have was used."""


def not_in_symbind(name, instead=_INSTEAD):
    """The error for `name`, the full MXNet name of something absent."""
    return NotInSymbind("{} is not in Symbind: {}; see docs/python.md".format(name, instead))


class _AbsentClass(abc.ABCMeta):
    """A missing MXNet class: it can be imported, derived from (together with an abstract class too)
    and used in isinstance; making an instance or reading an attribute raises."""

    def __call__(cls, *_arguments, **_options):
        raise cls._error()

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        raise cls._error(name)

    def _error(cls, *names):
        base = next(each for each in cls.__mro__ if "_absent_name" in vars(each))
        error = not_in_symbind(".".join((vars(base)["_absent_name"], *names)),
                               vars(base)["_instead"])
        if base is not cls:
            error = NotInSymbind("{} derives from what is absent: {}".format(cls.__qualname__, error))
        return error


def front(module_name, submodules=(), instead=_INSTEAD):
    """A module's `__getattr__` that raises for every public name. For a class name it returns a class
    that raises when used. The error says what to use instead.

    `submodules`, dotted names relative to the module, become such modules too and can be imported.
    Names with two underscores raise AttributeError: Python itself looks some of them up.
    """
    title = "mxnet." + module_name.partition(".")[2]
    for submodule in submodules:
        _add(module_name + "." + submodule)

    def __getattr__(name):
        if name.startswith("__"):
            raise AttributeError("module {!r} has no attribute {!r}".format(module_name, name))
        full = "{}.{}".format(title, name)
        if not name[0].isupper():
            raise not_in_symbind(full, instead)
        made = _AbsentClass(name, (), {"_absent_name": full, "_instead": instead,
                                       "__module__": module_name,
                                       "__doc__": "Not in Symbind: {}.".format(full)})
        setattr(sys.modules[module_name], name, made)  # later lookups return the same object
        return made
    return __getattr__


def unknown_operator(module_name):
    """A module's `__getattr__` for a module of operators: the error names the nearest ones."""
    def __getattr__(name):
        if not name.startswith("__"):
            _core.op_info(name)  # raises, which is an AttributeError too, unless it is an operator
        raise AttributeError("module {!r} has no attribute {!r}".format(module_name, name))
    return __getattr__


def _add(name, instead=_INSTEAD):
    """Makes the module `name` and sets it as an attribute of its parent, which must exist."""
    module = types.ModuleType(name, "Front of a part of MXNet that is not in Symbind.")
    module.__path__ = []
    module.__getattr__ = front(name, instead=instead)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[parent], last, module)
    return module


# Modules of MXNet's package that scripts may import, and what to use instead.
_FRONTS = {
    "library": "operators from outside are CustomOps, or C++ over <symbind/operator.h>",
    "notebook": "callbacks log, and TensorBoard or a CSV file shows the curves",
    "onnx": "models are saved and loaded as MXNet's checkpoints",
    "rtc": "CUDA code is compiled with the library, not by scripts; write a CustomOp",
    "th": "Torch's operators are not called; a CustomOp may call what it likes",
    "torch": "Torch's operators are not called; a CustomOp may call what it likes",
    "tvmop": "TVM is not used",
}


# Modules inside these that scripts import by name.
_INSIDE = {"notebook": ("callback",)}


def front_module(name):
    """The placeholder of `symbind.<name>`, made at first use; None for other names."""
    if name not in _FRONTS:
        return None
    made = _add("symbind." + name, _FRONTS[name])
    for inside in _INSIDE.get(name, ()):
        _add("symbind.{}.{}".format(name, inside), _FRONTS[name])
    return made
