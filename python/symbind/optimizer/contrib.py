"""Optimizers of mxnet.optimizer.contrib."""
from ._base import Optimizer, builtin

__all__ = ['GroupAdaGrad']

register = Optimizer.register


@register
@builtin
class GroupAdaGrad(Optimizer):
    """AdaGrad with one rate for each row of a matrix; without weight decay."""
    _class_name = "GroupAdaGrad"

    def __init__(self, eps=1e-5, **kwargs):
        super().__init__(**kwargs)
        self.float_stable_eps = eps
