"""Front of MXNet's image decoding and augmenters, which Symbind does not have."""
from ._absent import front

__getattr__ = front(__name__, ("detection", "image"))
