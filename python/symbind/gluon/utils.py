"""mx.gluon.utils: what works without Gluon."""
from .._absent import front
from ..ndarray import clip_global_norm  # noqa: F401

__all__ = ["clip_global_norm"]

__getattr__ = front(__name__)
