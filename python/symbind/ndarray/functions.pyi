# Written by tools/stubgen; do not edit.
from ..ndarray.ndarray import NDArray

def add(lhs, rhs):
    """add, with broadcasting, of arrays and numbers."""
def clip_global_norm(arrays, max_norm, check_isfinite=True):
    """Scales arrays so that the norm of all their numbers is at most `max_norm`; returns the previous norm. If the norm is not finite, the arrays are unchanged and a warning is issued, unless `check_isfinite` is off; then the norm is an NDArray."""
def concatenate(arrays, axis=0, always_copy=True):
    """Arrays one after another along an axis."""
def divide(lhs, rhs):
    """divide, with broadcasting, of arrays and numbers."""
def equal(lhs, rhs):
    """equal, with broadcasting, of arrays and numbers."""
def greater(lhs, rhs):
    """greater, with broadcasting, of arrays and numbers."""
def greater_equal(lhs, rhs):
    """greater_equal, with broadcasting, of arrays and numbers."""
def histogram(a, bins=10, range=None):
    """(counts, edges) of the numbers of an array."""
def imdecode(*_args, **_kwargs):
    """Decoding images."""
def indexing_key_expand_implicit_axes(key, shape):
    """A key with one entry per axis, Ellipsis and missing axes written out."""
def lesser(lhs, rhs):
    """lesser, with broadcasting, of arrays and numbers."""
def lesser_equal(lhs, rhs):
    """lesser_equal, with broadcasting, of arrays and numbers."""
def logical_and(lhs, rhs):
    """logical_and, with broadcasting, of arrays and numbers."""
def logical_or(lhs, rhs):
    """logical_or, with broadcasting, of arrays and numbers."""
def logical_xor(lhs, rhs):
    """logical_xor, with broadcasting, of arrays and numbers."""
def maximum(lhs, rhs):
    """maximum, with broadcasting, of arrays and numbers."""
def minimum(lhs, rhs):
    """minimum, with broadcasting, of arrays and numbers."""
def modulo(lhs, rhs):
    """modulo, with broadcasting, of arrays and numbers."""
def moveaxis(tensor, source, destination):
    """Axes moved to other places, the rest in order."""
def multiply(lhs, rhs):
    """multiply, with broadcasting, of arrays and numbers."""
def not_equal(lhs, rhs):
    """not_equal, with broadcasting, of arrays and numbers."""
def onehot_encode(indices, out):
    """Writes ones into `out` at the columns `indices`."""
def power(base, exp):
    """One to the power of the other, with broadcasting, of arrays and numbers."""
def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts along an axis: so many equal ones, or cut at the given places."""
def subtract(lhs, rhs):
    """subtract, with broadcasting, of arrays and numbers."""
def true_divide(lhs, rhs):
    """divide, with broadcasting, of arrays and numbers."""
