"""Operators and what NumPy says they compute.

A row is a function of a Draw that returns (inputs, attributes, expected): NumPy arrays in float64,
the attributes of one call, and the outputs as a list. ROWS has them by operator name; GRADIENTS
names the inputs by which a row can be differentiated numerically.
"""
from . import elementwise, index, linalg, nn, reduce, sequence, shape
from .draw import Draw

__all__ = ["Draw", "ROWS", "GRADIENTS"]

ROWS, GRADIENTS = {}, {}
for _table in (elementwise, reduce, shape, index, nn, linalg, sequence):
    ROWS.update(_table.ROWS)
    GRADIENTS.update(_table.GRADIENTS)
