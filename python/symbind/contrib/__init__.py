"""MXNet's `contrib`: the experimental operators, and placeholders for the rest."""
from .._absent import front
from ..ndarray import contrib as nd
from ..ndarray import contrib as ndarray
from ..symbol import contrib as sym
from ..symbol import contrib as symbol
from . import autograd, tensorboard

_front = front(__name__, (
    "amp", "amp.amp", "io", "onnx", "onnx.mx2onnx", "onnx.onnx2mx", "quant", "quantization",
    "text", "text.embedding", "text.utils", "text.vocab"))


def __getattr__(name):
    """svrg_optimization at first use: it needs the modules, which need this package."""
    if name == "svrg_optimization":
        import importlib

        return importlib.import_module(__name__ + "." + name)
    return _front(name)
