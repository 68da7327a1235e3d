"""The interface of a store, and the registry of custom stores."""
import logging

from .. import error
from ..ndarray import NDArray

__all__ = ["KVStoreBase", "TestStore", "create"]


class KVStoreBase:
    """The interface of a store. Register a subclass to create it by its name."""

    OPTIMIZER = "optimizer"
    kv_registry = {}

    def broadcast(self, key, value, out, priority=0):
        """Gives `key` the value and copies it into each of `out`."""
        raise NotImplementedError()

    def pushpull(self, key, value, out=None, priority=0):
        """Adds the values up and writes the sum into `out`, or into the values themselves."""
        raise NotImplementedError()

    def set_optimizer(self, optimizer):
        """Runs `optimizer` on the store."""
        raise NotImplementedError()

    @staticmethod
    def is_capable(capability):
        """Whether the store can do `capability`, e.g. KVStoreBase.OPTIMIZER."""
        raise NotImplementedError()

    def save_optimizer_states(self, fname, dump_optimizer=False):
        """Writes the optimizer's states to a file."""
        raise NotImplementedError()

    def load_optimizer_states(self, fname):
        """Reads them back."""
        raise NotImplementedError()

    @property
    def type(self):
        """The store's name."""
        raise NotImplementedError()

    @property
    def rank(self):
        """The number of this worker."""
        raise NotImplementedError()

    @property
    def num_workers(self):
        """How many workers there are."""
        raise NotImplementedError()

    @staticmethod
    def register(klass):
        """Registers a subclass for `create` under its name in lower case."""
        assert isinstance(klass, type)
        name = klass.__name__.lower()
        before = KVStoreBase.kv_registry.get(name)
        if before is not None:
            logging.warning("WARNING: New kvstore %s.%s is overriding existing kvstore %s.%s",
                            klass.__module__, klass.__name__, before.__module__, before.__name__)
        KVStoreBase.kv_registry[name] = klass
        return klass


@KVStoreBase.register
class TestStore(KVStoreBase):
    """A store without memory: sums and copies immediately."""

    def broadcast(self, key, value, out, priority=0):
        for target in out if isinstance(out, list) else [out]:
            target[:] = value

    def pushpull(self, key, value, out=None, priority=0):
        values = [value] if isinstance(value, NDArray) else value
        home = values[0].context
        total = values[0] if len(values) == 1 else sum(v.as_in_context(home) for v in values)
        targets = values if out is None else out if isinstance(out, list) else [out]
        if out is None and isinstance(value, NDArray):
            return
        for target in targets:
            target[:] = total

    def set_optimizer(self, optimizer):
        raise NotImplementedError()

    @staticmethod
    def is_capable(capability):
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return False
        raise error.ValueError("Unknown capability: {}".format(capability))

    def save_optimizer_states(self, fname, dump_optimizer=False):
        raise NotImplementedError()

    def load_optimizer_states(self, fname):
        raise NotImplementedError()

    @property
    def type(self):
        return "teststore"

    @property
    def rank(self):
        return 0

    @property
    def num_workers(self):
        return 1


def create(name="local"):
    """A store by name: a registered one, else a name that contains "local" or "device", or in a process of a
    distributed job "dist_sync" and its other names."""
    if not isinstance(name, str):
        raise error.TypeError("name must be a string")
    registered = KVStoreBase.kv_registry.get(name.lower())
    if registered is not None:
        return registered()
    from .kvstore import KVStore
    return KVStore(name)
