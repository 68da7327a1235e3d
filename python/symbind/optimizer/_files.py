"""Files of optimizer states: which classes may stand in them, and how objects become attributes."""
import importlib
import numbers
import sys

from .. import _core, error
from ..lr_scheduler import LRScheduler


def _state_class(module, name, optimizers):
    """The class of a state of one's own, or None: it stands in the module of a registered optimizer, and nothing but
    its attributes makes an object of it."""
    if module not in {klass.__module__ for klass in optimizers.values()}:
        return None
    klass = getattr(sys.modules.get(module), name, None)
    plain = isinstance(klass, type) and klass.__new__ is object.__new__ \
        and klass.__reduce_ex__ is object.__reduce_ex__ and klass.__reduce__ is object.__reduce__ \
        and getattr(klass, "__getstate__", None) is getattr(object, "__getstate__", None) \
        and not hasattr(klass, "__setstate__") and klass.__dictoffset__ != 0
    return klass if plain else None


def _known(optimizers):
    """Whether a class beyond the library's may stand in a file: a registered optimizer, or what one keeps."""
    def known(module, name):
        klass = optimizers.get(name.lower())
        return (klass is not None and klass.__name__ == name and klass.__module__ == module) \
            or _state_class(module, name, optimizers) is not None
    return known


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
        if _state_class(module, name, base.opt_registry) is type(item):
            return module + "." + name, dict(vars(item))
        raise error.NotImplementedError(
            f"optimizer states hold a {type(item).__module__}.{type(item).__qualname__}, which is "
            "not written to files: numbers, texts, NDArrays and tuples, lists and dicts of them are")
    return _core.dump_states(value, take_apart)


def load(data, base, source="optimizer states"):
    """What a pickle of states holds; nothing in it is run."""
    def put_together(name, attributes):
        module, _, last = name.rpartition(".")
        if module.startswith(("mxnet.", "symbind.")):
            klass = getattr(importlib.import_module(
                "symbind.lr_scheduler" if module.endswith("lr_scheduler") else "symbind.optimizer"),
                last, None) or base.opt_registry[last.lower()]
        else:
            kept = _state_class(module, last, base.opt_registry)
            if kept is not None and not issubclass(kept, base):
                made = kept.__new__(kept)
                vars(made).update(attributes)
                return made
            klass = base.opt_registry[last.lower()]
        made = klass.__new__(klass)
        made.__setstate__(attributes)
        return made
    return _core.load_states(data, source, _known(base.opt_registry), put_together)
