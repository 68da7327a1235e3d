"""Where symbols come from (variables, files, constants), and functions that are more than one
operator."""
import numpy as np

from .. import _core, error
from ..attribute import AttrScope
from ..base import numeric_types
from ..ndarray.ndarray import _DTYPE_NP_TO_MX
from .symbol import Symbol, _op

__all__ = ["var", "Variable", "Group", "load", "load_json", "fromfile", "fromjson", "pow", "power",
           "maximum", "minimum", "hypot", "eye", "zeros", "ones", "full", "arange", "linspace",
           "histogram", "split_v2"]



def var(name, attr=None, shape=None, lr_mult=None, wd_mult=None, dtype=None, init=None, stype=None,
        profiler_scope=None, **kwargs):
    """A variable: an argument of the graph."""
    if not isinstance(name, str):
        raise error.TypeError("Expect a string for variable `name`")
    attr = dict(AttrScope.current.get(attr) or {})
    if shape is not None:
        attr["__shape__"] = str(tuple(int(n) for n in shape))
    if lr_mult is not None:
        attr["__lr_mult__"] = str(lr_mult)
    if wd_mult is not None:
        attr["__wd_mult__"] = str(wd_mult)
    if dtype is not None:
        attr["__dtype__"] = str(_DTYPE_NP_TO_MX[np.dtype(dtype).type])
    if init is not None:
        attr["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        attr["__storage_type__"] = str({"default": 0, "row_sparse": 1, "csr": 2}[stype])
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise error.ValueError(f"Attribute name={key} is not supported. Additional attributes must "
                                   "start and end with double underscores, e.g, __yourattr__")
        attr[key] = str(value)
    return _core.variable(name, attr)


Variable = var


def Group(symbols, create_fn=None):
    """Several symbols as one with all their outputs."""
    symbols = list(symbols)
    if not symbols or any(not isinstance(s, Symbol) for s in symbols):
        raise error.TypeError("Expected a list of symbols as input")
    return _core.group(symbols)


def load(fname):
    """Reads a graph from MXNet's JSON, of any age."""
    if not isinstance(fname, str):
        raise error.TypeError("fname need to be string")
    return _core.load_symbol(fname)


fromfile = load


def load_json(json_str):
    """A graph from MXNet's JSON, of any age."""
    if not isinstance(json_str, str):
        raise error.TypeError("fname required to be string")
    return _core.load_json(json_str)


fromjson = load_json


def _binary(name, both, scalar, reverse, on_numbers):
    both, scalar, reverse = _op(both), _op(scalar), _op(reverse)

    def function(left, right):
        are_symbols = isinstance(left, Symbol), isinstance(right, Symbol)
        if all(are_symbols):
            return both(left, right)
        if are_symbols[0] and isinstance(right, numeric_types):
            return scalar(left, scalar=right)
        if are_symbols[1] and isinstance(left, numeric_types):
            return reverse(right, scalar=left)
        if isinstance(left, numeric_types) and isinstance(right, numeric_types):
            return on_numbers(left, right)
        raise error.TypeError(f"types ({type(left)}, {type(right)}) not supported")

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{name} of symbols and numbers."
    return function


_power = _binary("pow", "_Power", "_PowerScalar", "_RPowerScalar", lambda a, b: a ** b)


def pow(base, exp):
    """One to the power of the other, of symbols and numbers."""
    return _power(base, exp)


power = pow
maximum = _binary("maximum", "_Maximum", "_MaximumScalar", "_MaximumScalar", max)
minimum = _binary("minimum", "_Minimum", "_MinimumScalar", "_MinimumScalar", min)
hypot = _binary("hypot", "_Hypot", "_HypotScalar", "_HypotScalar", lambda a, b: float(np.hypot(a, b)))


def eye(N, M=0, k=0, dtype=None, **kwargs):
    """Ones on the k-th diagonal."""
    return _op("_eye")(N=N, M=M, k=k, dtype=dtype or np.float32, **kwargs)


def zeros(shape, dtype=None, **kwargs):
    """Zeros."""
    return _op("_zeros")(shape=shape, dtype=dtype or np.float32, **kwargs)


def ones(shape, dtype=None, **kwargs):
    """Ones."""
    return _op("_ones")(shape=shape, dtype=dtype or np.float32, **kwargs)


def full(shape, val, dtype=None, **kwargs):
    """One value everywhere."""
    return _op("_full")(shape=shape, dtype=dtype or np.float32, value=float(val), **kwargs)


def arange(start, stop=None, step=1.0, repeat=1, infer_range=False, name=None, dtype=None):
    """Numbers from `start` up to `stop`, each `repeat` times."""
    return _op("_arange")(start=start, stop=stop, step=step, repeat=repeat, infer_range=infer_range,
                          name=name, dtype=dtype or np.float32)


def linspace(start, stop, num, endpoint=True, name=None, dtype=None):
    """`num` numbers at equal distances."""
    return _op("_linspace")(start=start, stop=stop, num=num, endpoint=endpoint, name=name,
                            dtype=dtype or np.float32)


def histogram(a, bins=10, range=None, **kwargs):
    """(counts, edges)."""
    if isinstance(bins, Symbol):
        return _op("_histogram")(a, bins, **kwargs)
    if range is None:
        raise error.ValueError("null range is not supported in symbol mode")
    return _op("_histogram")(a, bin_cnt=bins, range=range, **kwargs)


def split_v2(ary, indices_or_sections, axis=0, squeeze_axis=False):
    """Parts along an axis: so many equal ones, or cut at the given places."""
    if isinstance(indices_or_sections, int):
        return _op("_split_v2")(ary, axis=axis, squeeze_axis=squeeze_axis,
                                sections=indices_or_sections, indices=())
    return _op("_split_v2")(ary, indices=[0] + list(indices_or_sections), axis=axis,
                            squeeze_axis=squeeze_axis)
