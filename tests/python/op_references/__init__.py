"""Operators and what NumPy says they compute.

A row is a function of a Draw that returns (inputs, attributes, expected) and, where the operator
writes to its inputs, what they hold afterwards by position. They are NumPy arrays, in float64 unless
the operator is for another type. ROWS has them by operator name; GRADIENTS names the inputs by which
a row can be differentiated numerically, SMOOTH_ROWS what is differentiated where that is not the row
itself. FUSED_ROWS has the graphs that become one internal operator. WITHOUT names the operators that
have no row, with the reason.
"""
from . import (arrays, contrib, elementwise, index, linalg, nn, recurrent, reduce, sequence, shape,
               update, vision)
from .draw import Draw

__all__ = ["Draw", "ROWS", "FUSED_ROWS", "GRADIENTS", "SMOOTH_ROWS", "WITHOUT"]

ROWS, GRADIENTS, SMOOTH_ROWS, FUSED_ROWS = {}, {}, recurrent.SMOOTH_ROWS, nn.FUSED_ROWS
for _table in (elementwise, reduce, shape, index, nn, linalg, sequence, arrays, recurrent, vision,
               update, contrib):
    ROWS.update(_table.ROWS)
    GRADIENTS.update(_table.GRADIENTS)

# By pattern, as fnmatch reads it.
WITHOUT = {
    "draws random numbers: tests of their distribution judge it":
        "_random_[!p]* _random_poisson* _sample_* _shuffle",
    "calls the user's Python code": "Custom",
    "stands for a graph until it is bound: test_loops.py judges it": "_foreach",
    "on images and boxes: recordings of MXNet judge it, bit for bit":
        "_cv* _image_* _contrib_MultiBox* _contrib_box_* _contrib_ROIAlign _contrib_*Proposal "
        "_contrib_PSROIPooling _contrib_RROIAlign _contrib_DeformableConvolution",
}
