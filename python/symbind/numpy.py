"""Front of mx.np, MXNet's own NumPy, which Symbind does not have; NumPy itself takes NDArrays."""
from ._absent import front

__getattr__ = front(__name__, ("linalg", "multiarray", "random"))
