"""Optimizers: from gradients to weights."""
from . import optimizer
from .optimizer import *
from . import contrib

__all__ = optimizer.__all__ + ["contrib"]
