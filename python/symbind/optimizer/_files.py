"""Files of optimizer states: the allowed classes, and the conversion of objects to attributes."""
import importlib
import numbers
import sys

from .. import _core, error
from .._plain import plain_attributes
from ..lr_scheduler import LRScheduler


def _state_class(module, name, optimizers):
    """The class of a state that an optimizer of `optimizers` keeps, or None: it is in the module of one of them, and
    nothing but its attributes makes an object of it."""
    if module not in {klass.__module__ for klass in optimizers}:
        return None
    klass = getattr(sys.modules.get(module), name, None)
    plain = isinstance(klass, type) and klass.__new__ is object.__new__ \
        and klass.__reduce_ex__ is object.__reduce_ex__ and klass.__reduce__ is object.__reduce__ \
        and getattr(klass, "__getstate__", None) is getattr(object, "__getstate__", None) \
        and not hasattr(klass, "__setstate__") and klass.__dictoffset__ != 0
    return klass if plain else None


def dump(value, base):
    """MXNet's pickle of `value`; `base` is the class Optimizer."""
    def take_apart(item):
        if isinstance(item, (base, LRScheduler)):
            state = item.__getstate__()
            module = type(item).__module__
            if module.startswith("symbind."):
                module = "mxnet" + module[len("symbind"):]
            return module + "." + type(item).__name__, state
        if isinstance(item, numbers.Number) and hasattr(item, "item"):
            return item.item()
        module, name = type(item).__module__, type(item).__qualname__
        if _state_class(module, name, base.opt_registry.values()) is type(item):
            return module + "." + name, dict(vars(item))
        raise error.NotImplementedError(
            f"optimizer states hold a {type(item).__module__}.{type(item).__qualname__}, which is "
            "not written to files: numbers, texts, NDArrays and tuples, lists and dicts of them are")
    return _core.dump_states(value, take_apart)


# What MXNet's optimizers have besides the attributes that C++ describes and the dictionaries it takes.
_FURTHER = ("allow_np_array",)


def _scheduler(name, attributes):
    klass = getattr(importlib.import_module("symbind.lr_scheduler"), name)
    made = klass.__new__(klass)
    _core.set_saved_attributes(made._schedule, attributes)
    return made


def _optimizer(klass, attributes, given):
    """An optimizer with those of the attributes that it describes; with those of `given`, the optimizer of the call,
    too, if it is of the same class. Others are ignored."""
    made = klass.__new__(klass)
    core, attributes = made._inner, dict(attributes)
    scheduler = attributes.pop("lr_scheduler", None)
    own = set(_FURTHER)
    if type(given) is klass:
        own.update(plain_attributes(given))
    for name in core.names():  # what C++ cannot hold is for a class that decides by itself
        value = attributes.get(name)
        if not isinstance(value, (numbers.Number, str, list, tuple, type(None))) and made._decides(name):
            own.add(name)
    _core.set_saved_attributes(core, {k: v for k, v in attributes.items() if k not in own})
    for name in sorted(own & set(attributes)):
        setattr(made, name, attributes[name])
    made.lr_scheduler = scheduler
    return made


def receive(name, data, base):
    """An optimizer of a registered class from what `dump` wrote of it in another process of the same job."""
    klass = base.opt_registry.get(name.lower())
    if klass is None:
        raise error.ValueError(
            "the servers know no optimizer '{}'\n  fix:  put its class into a module, register it there with "
            "@mx.optimizer.register, and start the job with --server-import MODULE".format(name))

    def put_together(full_name, attributes):
        module, _, last = full_name.rpartition(".")
        if module.endswith("lr_scheduler") and module.startswith(("mxnet.", "symbind.")):
            return _scheduler(last, attributes)
        made = klass.__new__(klass)
        made.__setstate__(attributes)
        return made
    return _core.load_states(data, "the optimizer of worker 0", lambda _, last: last == klass.__name__, put_together)


def load(data, base, given, source="optimizer states"):
    """What a pickle of states holds; nothing in it is run. A class that is not the library's is made only if it is that
    of `given`, the optimizer of the call, or what that one keeps for a weight."""
    mine = type(given)
    library = mine.__module__.startswith("symbind.")

    def known(module, name):
        return not library and ((mine.__module__, mine.__name__) == (module, name) or
                                _state_class(module, name, [mine]) is not None)

    def put_together(name, attributes):
        module, _, last = name.rpartition(".")
        if module.endswith("lr_scheduler") and module.startswith(("mxnet.", "symbind.")):
            return _scheduler(last, attributes)
        if module.startswith(("mxnet.", "symbind.")):
            klass = getattr(importlib.import_module("symbind.optimizer"), last, None) or \
                base.opt_registry[last.lower()]
            return _optimizer(klass, attributes, given)
        if (mine.__module__, mine.__name__) == (module, last):
            return _optimizer(mine, attributes, given)
        made = object.__new__(_state_class(module, last, [mine]))
        vars(made).update(attributes)
        return made
    return _core.load_states(data, source, known, put_together)
