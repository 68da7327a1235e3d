"""Placeholder for mx.np, which Symbind does not have; NumPy functions accept NDArrays."""
from ._absent import front

__getattr__ = front(__name__, ("linalg", "multiarray", "random"))
