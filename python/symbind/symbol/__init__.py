"""mx.sym: expressions, and every operator as a function on them."""
from .. import _absent, _core, _ops
from . import _internal, contrib, image, linalg, op, random, sparse
from .symbol import *  # noqa: F403 - before the functions, which need the class
from .functions import *  # noqa: F403,I001
from .symbol import Symbol  # noqa: F401

_ops.populate(_core.SymbolFunction, {
    "op": op, "_internal": _internal, "contrib": contrib, "linalg": linalg, "sparse": sparse,
    "image": image, "random": random,
})
# The functions above replace operators of the same name (sym.pow, sym.split_v2, ...).
for _name, _function in vars(op).items():
    if not _name.startswith("__"):
        globals().setdefault(_name, _function)
__getattr__ = _absent.unknown_operator(__name__)
