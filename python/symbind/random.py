"""Seeds, and the functions of mx.nd.random."""
from . import _core
from .base import integer_types
from .ndarray import random as _arrays
from .ndarray.random import *  # noqa: F403

__all__ = ["seed"] + _arrays.__all__


def seed(seed_state, ctx="all"):
    """Seeds every device, or one."""
    if not isinstance(seed_state, integer_types):
        raise ValueError("seed_state must be int")
    state = int(seed_state) & 0xFFFFFFFFFFFFFFFF
    if ctx == "all":
        _core.seed(state)
    else:
        _core.seed(state, ctx)
