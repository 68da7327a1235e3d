"""What MXNet keeps under `contrib`: the experimental operators, and fronts of the rest."""
from .._absent import front
from . import autograd, tensorboard

__getattr__ = front(__name__, (
    "amp", "amp.amp", "io", "onnx", "onnx.mx2onnx", "onnx.onnx2mx", "quantization",
    "text", "text.embedding", "text.utils", "text.vocab"))
