"""Registries of classes by name: optimizers, metrics and initializers are made from a string, from
a JSON text (`'["xavier", {"magnitude": 2}]'`), or from a dict."""
import builtins
import difflib
import json
import warnings

from . import error

_REGISTRY = {}


class NotRegistered(error.NameError, builtins.AssertionError):
    """No class of this name was registered."""


def _names(base_class):
    return _REGISTRY.setdefault(base_class, {})


def get_registry(base_class):
    """A copy of the registry of `base_class`: lower-case name to class."""
    return dict(_names(base_class))


def get_register_func(base_class, nickname):
    """A function `register(klass, name=None)` that enters subclasses of `base_class`; usable as a
    decorator. `nickname` is what messages call such a class."""
    registry = _names(base_class)

    def register(klass, name=None):
        assert issubclass(klass, base_class), \
            "Can only register subclass of %s" % base_class.__name__
        name = (klass.__name__ if name is None else name).lower()
        if name in registry:
            before = registry[name]
            warnings.warn("\033[91mNew %s %s.%s registered with name %s is"
                          "overriding existing %s %s.%s\033[0m" % (
                              nickname, klass.__module__, klass.__name__, name,
                              nickname, before.__module__, before.__name__),
                          UserWarning, stacklevel=2)
        registry[name] = klass
        return klass

    register.__doc__ = "Register %s to the %s factory" % (nickname, nickname)
    return register


def get_alias_func(base_class, nickname):
    """A decorator maker `alias(*names)` that enters a class under further names."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases):
        def enter(klass):
            for name in aliases:
                register(klass, name)
            return klass
        return enter
    return alias


def get_create_func(base_class, nickname):
    """A function `create(what, *args, **kwargs)` that makes an object of a registered class. `what`
    is a name, an object (returned as it is), a JSON text or a dict."""
    registry = _names(base_class)

    def create(*args, **kwargs):
        if args:
            name, args = args[0], args[1:]
        else:
            name = kwargs.pop(nickname)
        if isinstance(name, base_class):
            assert not args and not kwargs, \
                "%s is already an instance. Additional arguments are invalid" % nickname
            return name
        if isinstance(name, dict):
            return create(**name)
        assert isinstance(name, str), "%s must be of string type" % nickname
        if name.startswith('['):
            assert not args and not kwargs
            name, kwargs = json.loads(name)
            return create(name, **kwargs)
        if name.startswith('{'):
            assert not args and not kwargs
            return create(**json.loads(name))
        name = name.lower()
        if name not in registry:
            nearest = difflib.get_close_matches(name, registry, 3)
            raise NotRegistered("%s is not registered. Please register with %s.register first%s" % (
                name, nickname, "; did you mean %s?" % " or ".join(map(repr, nearest)) if nearest
                else "; there are " + ", ".join(sorted(registry))))
        return registry[name](*args, **kwargs)

    create.__doc__ = "Makes a %s from a name, an object, a JSON text or a dict." % nickname
    return create
