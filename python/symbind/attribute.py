"""Attributes for every symbol made inside a scope."""
from .name import _Current

__all__ = ["AttrScope"]


class AttrScope(metaclass=_Current):
    """`with AttrScope(ctx_group='dev1'):` sets attributes on all symbols made inside.

    Scopes nest; the inner one wins. Attributes given to a symbol itself win over all scopes.
    """

    def __init__(self, **kwargs):
        self._old_scope = None
        for value in kwargs.values():
            if not isinstance(value, str):
                raise ValueError("Attributes need to be string")
        self._attr = kwargs

    def get(self, attr):
        """`attr` on top of the scope's attributes, as a new dict."""
        if not self._attr:
            return attr if attr else {}
        return {**self._attr, **(attr or {})}

    def __enter__(self):
        self._old_scope = AttrScope.current
        self._attr = {**AttrScope.current._attr, **self._attr}
        AttrScope.current = self
        return self

    def __exit__(self, *_):
        AttrScope.current = self._old_scope
