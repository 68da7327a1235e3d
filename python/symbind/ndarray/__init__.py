"""mx.nd: arrays, and every operator as a function on them."""
from .. import _absent, _core, _ops
from . import _internal, contrib, image, linalg, op, random, sparse
from .creation import *  # noqa: F403
from .functions import *  # noqa: F403
from .ndarray import *  # noqa: F403
from .ndarray import NDArray, py_slice  # noqa: F401
from .sparse import BaseSparseNDArray, CSRNDArray, RowSparseNDArray  # noqa: F401

_ops.populate(_core.ArrayFunction, {
    "op": op, "_internal": _internal, "contrib": contrib, "linalg": linalg, "sparse": sparse,
    "image": image, "random": random,
})
# The functions above replace operators of the same name (nd.split_v2, nd.equal, ...).
for _name, _function in vars(op).items():
    if not _name.startswith("__"):
        globals().setdefault(_name, _function)
__getattr__ = _absent.unknown_operator(__name__)
