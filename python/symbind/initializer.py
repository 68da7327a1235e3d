"""Initializers: the initial values of a network's parameters.

C++ decides which method fills an array (attribute `__init__`, then the suffix of the name). The
methods are Python, so that users can override them. The built-in ones fill arrays in C++, with the
random numbers of mx.random. Attributes may be changed at any time, and `__init__` need not be called.
"""
import json
import logging
import re
import warnings
from math import sqrt

import numpy as np

from . import _core, error, ndarray, registry
from .ndarray import NDArray

__all__ = ["InitDesc", "Initializer", "Load", "Mixed", "Zero", "One", "Constant", "Uniform",
           "Normal", "Orthogonal", "Xavier", "MSRAPrelu", "Bilinear", "LSTMBias", "FusedRNN",
           "register", "alias", "create"]


class InitDesc(str):
    """The name of what is to be initialized, with its attributes and the initializer to fall back
    on."""

    def __new__(cls, name, attrs=None, global_init=None):
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        made.global_init = global_init
        return made


_BASE = _core.create_initializer("zero", {})  # fills biases, gammas and others in C++


class Initializer:
    """Base of all initializers: override `_init_weight`, and others where needed."""

    # Defaults for subclasses that never call __init__.
    _kwargs = {}
    _verbose = False
    _print_func = None

    def __init__(self, **kwargs):
        self._kwargs, self._verbose, self._print_func = kwargs, False, None

    def set_verbosity(self, verbose=False, print_func=None):
        """Sets whether every filled array is logged, with the text of `print_func(array)`."""
        self._verbose = verbose
        if print_func is None:
            def print_func(x):
                return str((ndarray.norm(x) / sqrt(x.size)).asnumpy()[0])
        self._print_func = print_func
        return self

    def _verbose_print(self, desc, init, arr):
        if self._verbose and self._print_func:
            logging.info("Initialized %s as %s: %s", desc, init, self._print_func(arr))

    def dumps(self):
        """JSON that `create` reads: `["xavier", {"magnitude": 3, …}]`."""
        return json.dumps([self.__class__.__name__.lower(), self._kwargs])

    def __call__(self, desc, arr):
        """Fills `arr`: by its own initializer if it has one, else by the suffix of its name."""
        if not isinstance(desc, InitDesc):
            return self._legacy_init(desc, arr)
        if desc.global_init is None:
            desc.global_init = self
        return _core.initialize(self, desc, arr)

    def _legacy_init(self, name, arr):
        warnings.warn(
            "\033[91mCalling initializer with init(str, NDArray) has been deprecated."
            "please use init(mx.init.InitDesc(...), NDArray) instead.\033[0m",
            DeprecationWarning, stacklevel=3)
        if not isinstance(name, str):
            raise error.TypeError("name must be string")
        if not isinstance(arr, NDArray):
            raise error.TypeError("arr must be NDArray")
        _core.initialize_legacy(self, name, arr)

    def _init_bilinear(self, name, arr):
        _BASE.init_role("bilinear", str(name), arr)

    def _init_loc_bias(self, name, arr):
        _BASE.init_role("loc_bias", str(name), arr)

    def _init_zero(self, _, arr):
        arr[:] = 0.0

    def _init_one(self, _, arr):
        arr[:] = 1.0

    def _init_bias(self, _, arr):
        arr[:] = 0.0

    def _init_quantized_bias(self, _, arr):
        arr[:] = 0

    def _init_gamma(self, _, arr):
        arr[:] = 1.0

    def _init_beta(self, _, arr):
        arr[:] = 0.0

    def _init_weight(self, name, arr):
        """Fills a weight."""
        raise NotImplementedError("Must override it")

    def _init_quantized_weight(self, name, arr):
        _BASE.init_role("quantized_weight", str(name), arr)

    def _init_default(self, name, arr):
        _BASE.init_role("default", str(name), arr)  # raises

    def __eq__(self, other):
        if not isinstance(other, Initializer):
            return NotImplemented
        return type(self) is type(other) and self._kwargs == other._kwargs

    __hash__ = None

    def _native(self):
        """The C++ initializer that does exactly what this object does, or None."""
        return None


_register = registry.get_register_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")


def register(klass):
    """Registers a class under its name in lower case; usable as a decorator."""
    return _register(klass)


class Load:
    """Fills arrays from a .params file or a dict of arrays ("arg:" and "aux:" are dropped), the
    others by `default_init`."""

    def __init__(self, param, default_init=None, verbose=False):
        if isinstance(param, str):
            param = ndarray.load(param)
        assert isinstance(param, dict)
        self.param = {name[4:] if name.startswith(("arg:", "aux:")) else name: array
                      for name, array in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name, arr):
        found = self.param.get(name)
        if found is not None:
            assert arr.shape == found.shape, (
                "Parameter %s cannot be initialized from loading. "
                "Shape mismatch, target %s vs loaded %s" % (name, arr.shape, found.shape))
            arr[:] = found
        else:
            assert self.default_init is not None, (
                "Cannot Initialize %s. Not found in loaded param "
                "and no default Initializer is provided." % name)
            self.default_init(name, arr)
        if self.verbose:
            logging.info("Initialized %s by %s", name,
                         "default" if found is None else "loading")


class Mixed:
    """The first initializer whose regular expression matches the name's beginning."""

    def __init__(self, patterns, initializers):
        assert len(patterns) == len(initializers)
        self.map = list(zip([re.compile(p) for p in patterns], initializers))

    def __call__(self, name, arr):
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, arr)
                return
        raise error.ValueError(
            "Parameter name %s did not match any pattern. Consider"
            "add a \".*\" pattern at the and with default Initializer." % name)


class _NativeInitializer(Initializer):
    """An initializer whose weights C++ fills; `_parameters` name both attributes and C++ options."""

    _kind = None
    _parameters = ()

    def _core_initializer(self):
        return _core.create_initializer(
            self._kind, {name: getattr(self, name) for name in self._parameters})

    def _init_weight(self, name, arr):
        self._core_initializer().init_weight(str(name), arr)

    def _native(self):
        ours = next(cls for cls in type(self).__mro__ if cls.__module__ == __name__)
        roles = [name for name in dir(Initializer) if name.startswith("_init_")] + [
            "__call__", "_legacy_init", "_verbose_print"]
        unchanged = all(getattr(type(self), name) is getattr(ours, name) for name in roles)
        return self._core_initializer() if unchanged and not self._verbose else None


@register
@alias("zeros")
class Zero(_NativeInitializer):
    """0 everywhere."""

    _kind = "zero"

    def __init__(self):
        super().__init__()


@register
@alias("ones")
class One(_NativeInitializer):
    """1 everywhere."""

    _kind = "one"

    def __init__(self):
        super().__init__()


@register
class Constant(Initializer):
    """A number, or an array that fits."""

    def __init__(self, value):
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, _, arr):
        arr[:] = self.value

    def dumps(self):
        value = self._kwargs["value"]
        if hasattr(value, "asnumpy"):
            value = value.asnumpy()
        self._kwargs["value"] = value.tolist() if isinstance(value, np.ndarray) else value
        return super().dumps()


@register
class Uniform(_NativeInitializer):
    """Uniform in [-scale, scale]."""

    _kind, _parameters = "uniform", ("scale",)
    scale = 0.07

    def __init__(self, scale=0.07):
        super().__init__(scale=scale)
        self.scale = scale


@register
class Normal(_NativeInitializer):
    """Normal with mean 0."""

    _kind, _parameters = "normal", ("sigma",)
    sigma = 0.01

    def __init__(self, sigma=0.01):
        super().__init__(sigma=sigma)
        self.sigma = sigma


@register
class Orthogonal(_NativeInitializer):
    """A scaled matrix with orthonormal rows or columns (arXiv:1312.6120)."""

    _kind, _parameters = "orthogonal", ("scale", "rand_type")
    scale, rand_type = 1.414, "uniform"

    def __init__(self, scale=1.414, rand_type="uniform"):
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale, self.rand_type = scale, rand_type


@register
class Xavier(_NativeInitializer):
    """Scaled by the fan: sqrt(magnitude / factor) is the bound or the deviation."""

    _kind, _parameters = "xavier", ("rnd_type", "factor_type", "magnitude")
    rnd_type, factor_type, magnitude = "uniform", "avg", 3.0

    def __init__(self, rnd_type="uniform", factor_type="avg", magnitude=3):
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type, self.factor_type = rnd_type, factor_type
        self.magnitude = float(magnitude)


@register
class MSRAPrelu(Xavier):
    """Xavier for layers followed by (P)ReLU (arXiv:1502.01852)."""

    def __init__(self, factor_type="avg", slope=0.25):
        super().__init__("gaussian", factor_type, 2. / (1 + slope ** 2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(_NativeInitializer):
    """The kernel of bilinear upsampling."""

    _kind = "bilinear"

    def __init__(self):
        super().__init__()


@register
class LSTMBias(_NativeInitializer):
    """0, but `forget_bias` for the second quarter: the forget gate."""

    _kind, _parameters = "lstmbias", ("forget_bias",)
    forget_bias = 1.0

    def __init__(self, forget_bias=1.0):
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias


@register
class FusedRNN(Initializer):
    """The packed parameters of the operator RNN; each part is initialised separately."""

    def __init__(self, init, num_hidden, num_layers, mode, bidirectional=False, forget_bias=1.0):
        if isinstance(init, str):
            init = create(init)
        super().__init__(init=init.dumps() if init is not None else None, num_hidden=num_hidden,
                         num_layers=num_layers, mode=mode, bidirectional=bidirectional,
                         forget_bias=forget_bias)
        self._init = init
        self._num_hidden, self._num_layers, self._mode = num_hidden, num_layers, mode
        self._bidirectional, self._forget_bias = bidirectional, forget_bias

    def _init_weight(self, desc, arr):
        _core.initialize_fused_rnn(self._init, desc, arr, {
            "num_hidden": self._num_hidden, "num_layers": self._num_layers, "mode": self._mode,
            "bidirectional": bool(self._bidirectional), "forget_bias": float(self._forget_bias)})


_core.register_types({"InitDesc": InitDesc, "create_initializer": create})
