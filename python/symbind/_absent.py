"""Fronts of what MXNet has and Symbind has not.

A script may import such a module, name its classes and derive from them, and tests and examples do
so without using them. Calling anything in it raises NotInSymbind, which says so.
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
    """A class of MXNet's that is absent: it can be imported, derived from (beside an abstract class
    too) and tested against; an instance of it, or anything read from it, raises."""

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
    """A module's `__getattr__` that raises for every public name but those of classes, for which it
    gives a class that raises when it is used; the error says what to do instead.

    `submodules`, dotted names relative to the module, become such modules too and can be imported.
    Names with two underscores stay AttributeErrors: Python itself asks modules for some of them.
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
        setattr(sys.modules[module_name], name, made)  # one object, however often it is asked for
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
    """Makes the module `name` and hangs it into its parent, which must be there."""
    module = types.ModuleType(name, "Front of a part of MXNet that is not in Symbind.")
    module.__path__ = []
    module.__getattr__ = front(name, instead=instead)
    sys.modules[name] = module
    parent, _, last = name.rpartition(".")
    setattr(sys.modules[parent], last, module)
    return module


# Modules of MXNet's package that scripts may ask for, and what to do instead of using them.
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
    """The front of `symbind.<name>`, made at first use; None if there is none of that name."""
    if name not in _FRONTS:
        return None
    made = _add("symbind." + name, _FRONTS[name])
    for inside in _INSIDE.get(name, ()):
        _add("symbind.{}.{}".format(name, inside), _FRONTS[name])
    return made
