"""Attributes and dictionaries of C++ objects."""
from collections.abc import MutableMapping


class LiveDict(MutableMapping):
    """A dictionary inside a C++ object; equal to a dict of the same entries."""

    __slots__ = ("_view",)

    def __init__(self, view):
        self._view = view

    def __getitem__(self, key):
        return self._view.get(key)

    def __setitem__(self, key, value):
        self._view.set(key, value)

    def __delitem__(self, key):
        self._view.delete(key)

    def __contains__(self, key):
        return self._view.contains(key)

    def __iter__(self):
        return iter(self._view.keys())

    def __len__(self):
        return len(self._view)

    def __eq__(self, other):
        return dict(self) == (dict(other) if isinstance(other, LiveDict) else other)

    def __repr__(self):
        return repr(dict(self))

    def copy(self):
        """A plain dict of the entries."""
        return dict(self)

    def __reduce__(self):
        return dict, (dict(self),)


def field(name):
    """An attribute that the C++ optimizer describes. A class that decides by itself what C++ would use it for may keep
    anything in it, as Keras keeps its variables; the object then has it, and C++ its last number."""
    def get(self):
        own = self.__dict__.get("_own_values", {})
        return own[name] if name in own else self._inner.get(name)

    def assign(self, value):
        own = self.__dict__.setdefault("_own_values", {})
        try:
            self._inner.set(name, value)
        except TypeError:
            if not self._decides(name):
                raise
            own[name] = value
        else:
            own.pop(name, None)
    return property(get, assign)


def dictionary(name):
    """A dictionary that the C++ optimizer keeps: reading gives a copy, assigning replaces it."""
    return property(lambda self: self._inner.get_dict(name),
                    lambda self, value: self._inner.set_dict(name, value))


def mapping(view, doc):
    """A dictionary of the C++ optimizer; `view(core)` is its view."""
    def get(self):
        return LiveDict(view(self._inner))

    def assign(self, value):
        view(self._inner).assign(dict(value))
    return property(get, assign, doc=doc)
