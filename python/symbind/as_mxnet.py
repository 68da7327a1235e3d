"""Makes `import mxnet` import Symbind in this process; `python -m symbind script.py` does it first.

`mxnet` and every `mxnet.x.y` are the module objects of symbind, so classes are the same by either
name and MXNet's pickles find them. Names that older scripts use and that NumPy or Python have
removed are restored in their modules. Importing this module does it; there is
nothing to call.
"""
import base64
import collections
import collections.abc
import fractions
import functools
import importlib
import importlib.abc
import importlib.machinery
import inspect
import json
import math
import os
import sys
import threading
import time
import types
import warnings

import numpy

import symbind

_ALIAS_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_alias")

# The release that Symbind behaves like, as `mx.__version__`, because scripts check it. Symbind's own version is
# in symbind.libinfo.
_MXNET_VERSION = "1.9.1"

# The former meaning of each removed NumPy name; a string is another name in NumPy.
_REMOVED_FROM_NUMPY = {
    "bool": bool, "int": int, "float": float, "complex": complex, "object": object, "str": str,
    "long": int, "unicode": str,
    "NaN": float("nan"), "NAN": float("nan"), "Inf": float("inf"), "Infinity": float("inf"),
    "infty": float("inf"), "PINF": float("inf"), "NINF": float("-inf"), "PZERO": 0.0, "NZERO": -0.0,
    "float_": "float64", "complex_": "complex128", "cfloat": "complex128",
    "singlecomplex": "complex64", "longfloat": "longdouble", "string_": "bytes_",
    "unicode_": "str_", "int0": "intp", "uint0": "uintp", "bool8": "bool_", "object0": "object_",
    "product": "prod", "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any",
    "round_": "round", "row_stack": "vstack", "in1d": "isin", "trapz": "trapezoid",
    "mat": "asmatrix", "rank": "ndim",
    "asscalar": lambda a: a.item(),
    "asfarray": lambda a, dtype=numpy.float64: numpy.asarray(
        a, dtype if numpy.issubdtype(dtype, numpy.inexact) else numpy.float64),
    "alen": lambda a: len(a) if numpy.ndim(a) else 1,
    "msort": lambda a: numpy.sort(a, axis=0),
}


class _AliasFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds `mxnet.x.y` by importing `symbind.x.y`."""

    def find_spec(self, name, path=None, target=None):
        if name != "mxnet" and not name.startswith("mxnet."):
            return None
        module = self._import("symbind" + name[len("mxnet"):])
        spec = importlib.machinery.ModuleSpec(name, self, is_package=hasattr(module, "__path__"))
        spec.loader_state = (module, module.__spec__)
        return spec

    @staticmethod
    def _import(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # Some modules are attributes of the package under a second name: mx.nd, mx.sym.
            parent, _, last = name.rpartition(".")
            module = getattr(sys.modules.get(parent), last, None)
            if error.name == name and isinstance(module, types.ModuleType):
                return module
            raise

    def create_module(self, spec):
        return spec.loader_state[0]

    def exec_module(self, module):
        # The module has run already; the import system has only just written the alias into it.
        module.__spec__ = module.__spec__.loader_state[1]


def _install_modules():
    present = sys.modules.get("mxnet", symbind)
    if present is not symbind and not present.__file__.startswith(_ALIAS_FOLDER):
        raise ImportError("symbind.as_mxnet was imported after the real mxnet; import it first")
    # Packages check whether mxnet is already imported; the finder handles an import. In a child it is being imported now.
    for name, module in list(sys.modules.items()) if "mxnet" in sys.modules else ():
        if name == "symbind" or name.startswith("symbind."):
            sys.modules["mxnet" + name[len("symbind"):]] = module
    if not any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _AliasFinder())


def _restore_numpy_names():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy 1.26 warns when a removed name is read
        for name, value in _REMOVED_FROM_NUMPY.items():
            if not hasattr(numpy, name):
                setattr(numpy, name, getattr(numpy, value) if isinstance(value, str) else value)


def _restore_python_names():
    """collections' abstract classes moved in 3.3 and left in 3.10; time.clock left in 3.8,
    inspect.getargspec in 3.11, the others in 3.9."""
    fields = collections.namedtuple("ArgSpec", "args varargs keywords defaults")
    names = [(collections, name, getattr(collections.abc, name)) for name in collections.abc.__all__]
    names += [(time, "clock", time.process_time),
              (inspect, "getargspec", lambda function: fields(*inspect.getfullargspec(function)[:4])),
              (base64, "encodestring", base64.encodebytes),
              (base64, "decodestring", base64.decodebytes),
              (fractions, "gcd", math.gcd),
              (threading.Thread, "isAlive", threading.Thread.is_alive)]
    for owner, name, value in names:
        if not hasattr(owner, name):
            setattr(owner, name, value)


def _restore_json_encoding():
    """json.load and json.loads took an encoding, without effect, until 3.9."""
    plain = json.loads

    @functools.wraps(plain)
    def loads(s, *, encoding=None, **options):
        return plain(s, **options)

    loads.__module__ = __name__
    if plain.__module__ != __name__:
        json.loads = loads  # json.load calls json.loads by this name


def _restore_binary_fromstring():
    """np.fromstring without a separator read bytes, as the readers of MNIST's files of that time do; NumPy now
    refuses. It gave a copy, which may be written to."""
    text_only = numpy.fromstring

    def fromstring(string, dtype=float, count=-1, *, sep="", **options):
        if sep != "":
            return text_only(string, dtype, count, sep=sep, **options)
        data = string.encode("latin1") if isinstance(string, str) else string
        return numpy.frombuffer(data, dtype, count, **options).copy()

    if text_only.__module__ != __name__:
        numpy.fromstring = fromstring


def serve_children():
    """Makes `import mxnet` import Symbind in interpreters that this process starts: they find the
    package `mxnet` of the folder _alias, by PYTHONPATH, or by the sys.path that multiprocessing
    passes to spawned processes."""
    folders = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if _ALIAS_FOLDER not in folders:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_ALIAS_FOLDER, *folders]))
    if _ALIAS_FOLDER not in sys.path:
        sys.path.insert(1, _ALIAS_FOLDER)


_install_modules()
symbind.__version__ = _MXNET_VERSION
_restore_numpy_names()
_restore_binary_fromstring()
_restore_python_names()
_restore_json_encoding()
