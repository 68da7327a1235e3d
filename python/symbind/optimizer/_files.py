"""Files of optimizer states: which classes may stand in them, and how objects become attributes."""
import importlib
import numbers

from .. import _core, error
from ..lr_scheduler import LRScheduler


def _known(optimizers):
    """Whether a class beyond the library's may stand in a file: a registered optimizer."""
    def known(module, name):
        klass = optimizers.get(name.lower())
        return klass is not None and klass.__name__ == name and klass.__module__ == module
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
            klass = base.opt_registry[last.lower()]
        made = klass.__new__(klass)
        made.__setstate__(attributes)
        return made
    return _core.load_states(data, source, _known(base.opt_registry), put_together)
