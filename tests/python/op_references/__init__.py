"""Operators and what NumPy says they compute.

A row is a function of a Draw that returns (inputs, attributes, expected): NumPy arrays in float64,
the attributes of one call, and the outputs as a list. ROWS has them by operator name; GRADIENTS
names the inputs by which a row can be differentiated numerically.
"""
from .draw import Draw
from .elementwise import GRADIENTS as _elementwise_gradients
from .elementwise import ROWS as _elementwise
from .index import GRADIENTS as _index_gradients
from .index import ROWS as _index
from .nn import GRADIENTS as _nn_gradients
from .nn import ROWS as _nn
from .reduce import GRADIENTS as _reduce_gradients
from .reduce import ROWS as _reduce
from .shape import GRADIENTS as _shape_gradients
from .shape import ROWS as _shape

__all__ = ["Draw", "ROWS", "GRADIENTS"]

ROWS = {**_elementwise, **_reduce, **_shape, **_index, **_nn}
GRADIENTS = {**_elementwise_gradients, **_reduce_gradients, **_shape_gradients, **_index_gradients,
             **_nn_gradients}
