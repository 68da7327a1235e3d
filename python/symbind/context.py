"""Devices: cpu(0), cpu(1), … are distinct devices that share the same cores."""
from . import _core
from .base import MXNetError

__all__ = ["Context", "cpu", "gpu", "cpu_pinned", "num_gpus", "current_context", "gpu_memory_info"]


class _DefaultContext(type):
    """Gives the class Context its property `default_ctx`, the current thread's context."""

    @property
    def default_ctx(cls):
        return cls(*_core.current_context())

    @default_ctx.setter
    def default_ctx(cls, context):
        _core.set_current_context(context.device_typeid, context.device_id)


class Context(metaclass=_DefaultContext):
    """A device: kind and number. As a context manager it sets the device of new arrays."""

    devtype2str = {1: "cpu", 2: "gpu", 3: "cpu_pinned", 5: "cpu_shared"}
    devstr2type = {name: number for number, name in devtype2str.items()}

    def __init__(self, device_type, device_id=0):
        if isinstance(device_type, Context):
            self.device_typeid, self.device_id = device_type.device_typeid, device_type.device_id
        else:
            if isinstance(device_type, str):
                if device_type not in self.devstr2type:
                    raise ValueError(f"device type '{device_type}' is unknown; there are "
                                     + ", ".join(self.devstr2type))
                device_type = self.devstr2type[device_type]
            self.device_typeid, self.device_id = device_type, device_id
        self._outer = []

    @property
    def device_type(self):
        """'cpu', 'gpu', 'cpu_pinned' or 'cpu_shared'."""
        return self.devtype2str[self.device_typeid]

    def __hash__(self):
        return hash((self.device_typeid, self.device_id))

    def __eq__(self, other):
        return (isinstance(other, Context) and self.device_typeid == other.device_typeid
                and self.device_id == other.device_id)

    def __str__(self):
        return f"{self.device_type}({self.device_id})"

    __repr__ = __str__

    def __reduce__(self):
        return type(self), (self.device_type, self.device_id)

    def __enter__(self):
        self._outer.append(_core.current_context())
        _core.set_current_context(self.device_typeid, self.device_id)
        return self

    def __exit__(self, *_):
        _core.set_current_context(*self._outer.pop())

    def empty_cache(self):
        """Does nothing: memory is freed with its arrays; there is no cache."""


def cpu(device_id=0):
    """The CPU; other numbers are other devices on the same cores."""
    return Context("cpu", device_id)


def cpu_pinned(device_id=0):
    """Host memory a GPU can read directly."""
    return Context("cpu_pinned", device_id)


def gpu(device_id=0):
    """CUDA device `device_id`."""
    return Context("gpu", device_id)


def num_gpus():
    """CUDA devices this process can use."""
    return _core.num_gpus()


def gpu_memory_info(device_id=0):
    """(free, total) bytes of a GPU."""
    raise MXNetError(f"gpu_memory_info({device_id}): no CUDA device" if num_gpus() == 0
                     else "gpu_memory_info is not in Symbind yet")


def current_context():
    """The default device of new arrays in the current thread."""
    return Context.default_ctx


_core.register_types({"Context": Context})
