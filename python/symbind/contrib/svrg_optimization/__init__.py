"""Stochastic variance reduced gradients: SVRGModule."""
from . import svrg_module, svrg_optimizer
