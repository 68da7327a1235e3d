"""Generates names for unnamed symbols."""
import threading

__all__ = ["NameManager", "Prefix"]


class _Current(type):
    """Adds the property `current` to a scope class: the innermost scope of the running thread."""

    def __init__(cls, *args):
        super().__init__(*args)
        if not hasattr(cls, "_threads"):
            cls._threads = threading.local()

    @property
    def current(cls):
        if not hasattr(cls._threads, "value"):
            cls._threads.value = cls._root()
        return cls._threads.value

    @current.setter
    def current(cls, scope):
        cls._threads.value = scope

    def _root(cls):
        """The outermost scope: an instance of the base class, not of a subclass."""
        root = cls
        while isinstance(root.__mro__[1], _Current):
            root = root.__mro__[1]
        return root()


class NameManager(metaclass=_Current):
    """Generates names: hint → hint0, hint1, … A new scope starts at 0 again."""

    def __init__(self):
        self._counter = {}
        self._old_manager = None

    def get(self, name, hint):
        """`name` itself unless it is None or empty."""
        if name:
            return name
        number = self._counter.get(hint, 0)
        self._counter[hint] = number + 1
        return f"{hint}{number}"

    def __enter__(self):
        self._old_manager = NameManager.current
        NameManager.current = self
        return self

    def __exit__(self, *_):
        NameManager.current = self._old_manager


class Prefix(NameManager):
    """Adds a prefix to every operator's name, given or generated; variables keep their names."""

    def __init__(self, prefix):
        super().__init__()
        self._prefix = prefix

    def get(self, name, hint):
        return self._prefix + super().get(name, hint)
