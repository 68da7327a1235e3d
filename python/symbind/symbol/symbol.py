"""Symbol: a named expression, to be bound to arrays and run."""
import json
import warnings

import numpy as np

from .. import _core, error
from ..attribute import AttrScope
from ..base import MXNetError, NotImplementedForSymbol, integer_types, numeric_types
from ..context import current_context
from ..executor import Executor
from ..name import NameManager
from ..ndarray import _methods

__all__ = ["Symbol"]


def _op(name):
    return _core.SymbolFunction(name)


def _name_for(name, hint):
    return NameManager.current.get(name, hint)


def _attrs_for(attr):
    return AttrScope.current.get(attr)


class Symbol(_core.Symbol):
    """One or several outputs of a graph of operators and variables."""

    __array_priority__ = 1000.0

    # ------------------------------------------------------------------- lists

    @property
    def name(self):
        """The name of the head; None for a group."""
        return self._name if len(self) == 1 or self._name else None

    def __repr__(self):
        return self._text()

    def __iter__(self):
        return (self._output(i) for i in range(len(self)))

    @property
    def num_outputs(self):
        """How many outputs it has."""
        return len(self)

    def get_children(self):
        """The inputs of the heads as a group; None for a variable."""
        children = self._children()
        return children if len(children) else None

    def __getitem__(self, index):
        count = len(self)
        if isinstance(index, slice):
            picked = [self._output(i) for i in range(*index.indices(count))]
            if not picked:
                raise error.ValueError("the slice selects no output")
            return Group(picked)
        if isinstance(index, str):
            places = [i for i, name in enumerate(self.list_outputs()) if name == index]
            if not places:
                raise error.ValueError(f"Cannot find output that matches name \"{index}\"")
            if len(places) > 1:
                raise error.ValueError(f"There are multiple outputs with name \"{index}\"")
            index = places[0]
        if not isinstance(index, integer_types):
            raise error.TypeError("Symbol only support integer index to fetch i-th output")
        if not -count <= index < count:
            raise error.IndexError(f"Index: {index} is out of bound: the symbol has {count} outputs")
        return self._output(int(index) % count)

    # -------------------------------------------------------------- attributes

    def attr(self, key):
        """An attribute of the head; None when it is not set."""
        return self._attr(key)

    def list_attr(self, recursive=False):
        """The attributes of the head."""
        if recursive:
            raise DeprecationWarning("Symbol.list_attr with recursive=True has been deprecated. "
                                     "Please use attr_dict instead.")
        return self._list_attr()

    def _set_attr(self, **kwargs):
        changed = self
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise error.ValueError("Set Attr only accepts string values")
            changed = changed._with_attr(key, value)
        self._assign(changed)

    # ------------------------------------------------------------- composition

    def __call__(self, *args, **kwargs):
        """A copy with variables replaced: by name, or in the order of the arguments."""
        name = kwargs.pop("name", None)
        if args and kwargs:
            raise error.TypeError("compose only accept input Symbols either as positional or keyword "
                                  "arguments, not both")
        for value in (*args, *kwargs.values()):
            if not isinstance(value, Symbol):
                raise error.TypeError("Compose expect `Symbol` as arguments")
        if args:
            names = self.list_arguments()
            if len(args) > len(names):
                raise error.TypeError(f"{len(args)} symbols for {len(names)} arguments")
            kwargs = dict(zip(names, args))
        return self._compose(kwargs, name or "")

    def _compose_in_place(self, *args, **kwargs):
        self._assign(self(*args, **kwargs))

    def __copy__(self):
        return self.__deepcopy__(None)

    def __deepcopy__(self, _):
        copy = Symbol()
        copy._assign(self)
        return copy

    def __getstate__(self):
        return {"handle": self.tojson() if len(self) else None}

    def __setstate__(self, state):
        if not _core.is_ready(self):
            _core.Symbol.__init__(self)
        if state["handle"] is not None:
            self._assign(load_json(state["handle"]))

    def _gen_atomic_symbol(self):
        """The head's operator alone, with new variables as inputs."""
        head = json.loads(self.tojson())["nodes"][-1]
        return _op(head["op"])(name=self.name, **head.get("attrs", {}))

    # --------------------------------------------------------------- operators

    def __bool__(self):
        raise NotImplementedForSymbol(self.__bool__, "bool")

    def __hash__(self):
        return id(self) // 16

    def __neg__(self):
        return self.__mul__(-1.0)

    def __abs__(self):
        return self.abs()

    # ----------------------------------------------------------------- JSON

    def tojson(self, remove_amp_cast=True):
        """The graph as MXNet's JSON."""
        return self._json()

    def save(self, fname, remove_amp_cast=True):
        """Writes the graph as MXNet's JSON."""
        if not isinstance(fname, str):
            raise error.TypeError("fname need to be string")
        _core.save_symbol(self, fname)

    # --------------------------------------------------------------- inference

    def _given(self, args, kwargs, convert):
        if args and kwargs:
            raise error.ValueError("Can only specify known argument shapes either by positional or "
                                   "kwargs way.")
        if args:
            names = self.list_arguments()
            if len(args) > len(names):
                raise error.ValueError(f"{len(args)} values for {len(names)} arguments")
            kwargs = dict(zip(names, args))
        return {k: convert(v) for k, v in kwargs.items() if v is not None}

    def infer_shape(self, *args, **kwargs):
        """(argument, output, auxiliary) shapes; (None, None, None) when they do not follow."""
        try:
            arg, out, aux, complete = self._infer_shape(self._given(args, kwargs, _shape))
        except MXNetError:
            _show_given("shapes", args or kwargs)
            raise
        if complete:
            return arg, out, aux
        unknown = [(n, s) for n, s in zip(self.list_arguments(), arg) if not _is_known(s)]
        lines = [f"{n}: {s}" for n, s in unknown[:10]]
        if len(unknown) > 10:
            lines.append("...")
        warnings.warn("Cannot decide shape for the following arguments "
                      + "(0s in shape means unknown dimensions). "
                      + "Consider providing them as input:\n\t" + "\n\t".join(lines), stacklevel=2)
        return None, None, None

    def infer_shape_partial(self, *args, **kwargs):
        """Like infer_shape; shapes that cannot be inferred stay unknown."""
        return self._infer_shape(self._given(args, kwargs, _shape))[:3]

    def infer_type(self, *args, **kwargs):
        """(argument, output, auxiliary) types; (None, None, None) when they do not follow."""
        arg, out, aux, complete = self._infer_type(self._given(args, kwargs, _dtype))
        return (arg, out, aux) if complete else (None, None, None)

    def infer_type_partial(self, *args, **kwargs):
        """Like infer_type; types that cannot be inferred are None."""
        return self._infer_type(self._given(args, kwargs, _dtype))[:3]

    # ----------------------------------------------------------------- binding

    def simple_bind(self, ctx, grad_req="write", type_dict=None, stype_dict=None, group2ctx=None,
                    shared_arg_names=None, shared_exec=None, shared_buffer=None, **kwargs):
        """An executor with new zeroed arrays, whose shapes are inferred from `kwargs`."""
        names = set(self.list_inputs())
        shapes = {k: _shape(v) for k, v in kwargs.items() if k in names}
        try:
            bound = self._simple_bind(ctx, shapes, grad_req, type_dict or {}, group2ctx, shared_exec)
        except MXNetError:
            _show_given("simple_bind error. Arguments", kwargs)
            raise
        return Executor(bound, self, ctx, grad_req, group2ctx)

    def bind(self, ctx, args, args_grad=None, grad_req="write", aux_states=None, group2ctx=None,
             shared_exec=None):
        """An executor that uses the given arrays; the caller keeps them."""
        if not isinstance(ctx, type(current_context())):
            raise error.TypeError("Context type error")
        args_grad, grads_req, others = self._stand_ins(args, args_grad, grad_req)
        bound = self._bind(ctx, args, args_grad, grads_req, aux_states, group2ctx, shared_exec)
        return Executor(bound, self, ctx, grad_req, group2ctx, others)

    def _stand_ins(self, args, args_grad, grad_req):
        """Gradient arrays of another type than their argument get a stand-in that is cast later."""
        names = self.list_arguments()
        if args_grad is None:
            return args_grad, grad_req, ()

        def pairs(given):
            return given if isinstance(given, dict) else dict(zip(names, given or ()))

        arrays, grads = pairs(args), pairs(args_grad)
        differ = [n for n in names if grads.get(n) is not None and n in arrays
                  and arrays[n].dtype != grads[n].dtype]
        if not differ:
            return args_grad, grad_req, ()
        req = {n: grad_req for n in names} if isinstance(grad_req, str) else dict(pairs(grad_req))
        others, grads = [], dict(grads)
        for name in differ:
            if req.get(name, "null") == "null":
                grads[name] = None
                continue
            others.append((names.index(name), grads[name], req[name] == "add"))
            grads[name] = arrays[name]._copy()
            req[name] = "write"
        return {n: g for n, g in grads.items() if g is not None}, req, others

    def eval(self, ctx=None, **kwargs):
        """Binds the arrays and runs once."""
        return self.bind(ctx or current_context(), kwargs).forward()

    def gradient(self, wrt):
        """Not offered, as in MXNet: bind with gradients instead."""
        raise MXNetError("Symbol.gradient is not implemented: bind the symbol with args_grad")

    grad = gradient

    def optimize_for(self, backend, args=None, aux=None, ctx=None, shape_dict=None, type_dict=None,
                     stype_dict=None, skip_infer=False, **kwargs):
        """Subgraph backends."""
        raise MXNetError(f"backend '{backend}': Symbind has no subgraph backends; binding optimises")

    get_backend_symbol = optimize_for

    def reshape(self, *args, **kwargs):
        """As sym.reshape."""
        if args and not isinstance(args[0], integer_types):
            return _op("reshape")(self, *args, **kwargs)
        return _op("reshape")(self, **({"shape": args} if args else {}), **kwargs)

    def as_nd_ndarray(self):
        """Itself: there is no other kind of symbol here."""
        return self

    def astype(self, *args, **kwargs):
        """The numbers in another type."""
        return _op("cast")(self, *args, **kwargs)

    def flatten(self, inplace=False, **kwargs):
        """Flattens all axes after the first into one."""
        return _op("flatten")(self, **kwargs)

    def expand_dims(self, axis, inplace=False, **kwargs):
        """A new axis of extent 1."""
        return _op("expand_dims")(self, axis=axis, **kwargs)

    def squeeze(self, axis=None, inplace=False, **kwargs):
        """Without axes of extent 1."""
        return _op("squeeze")(self, axis=axis, **kwargs)

    def broadcast_to(self, *args, **kwargs):
        """Stretched to a shape."""
        return _op("broadcast_to")(self, *args, **kwargs)

    def split_v2(self, *args, **kwargs):
        """Parts along an axis."""
        return split_v2(self, *args, **kwargs)

    def as_np_ndarray(self):
        """NumPy-like symbols."""
        raise NotImplementedForSymbol(self.as_np_ndarray, None)


# Python operator: (with a symbol, with a number, with a number on the left). The names are those
# MXNet calls, because made-up names follow them: a + b is _plus0.
_OPERATORS = {
    "add": ("_Plus", "_PlusScalar", "_PlusScalar"),
    "sub": ("_Minus", "_MinusScalar", "_RMinusScalar"),
    "mul": ("_Mul", "_MulScalar", "_MulScalar"),
    "truediv": ("_Div", "_DivScalar", "_RDivScalar"),
    "mod": ("_Mod", "_ModScalar", "_RModScalar"),
    "pow": ("_Power", "_PowerScalar", "_rpower_scalar"),
    "eq": ("_equal", "_equal_scalar", "_equal_scalar"),
    "ne": ("_not_equal", "_not_equal_scalar", "_not_equal_scalar"),
    "gt": ("_greater", "_greater_scalar", "_lesser_scalar"),
    "ge": ("_greater_equal", "_greater_equal_scalar", "_lesser_equal_scalar"),
    "lt": ("_lesser", "_lesser_scalar", "_greater_scalar"),
    "le": ("_lesser_equal", "_lesser_equal_scalar", "_greater_equal_scalar"),
}


def _operator(both, scalar):
    both, scalar = _op(both), _op(scalar)

    def method(self, other):
        if isinstance(other, Symbol):
            return both(self, other)
        if isinstance(other, numeric_types):
            return scalar(self, scalar=other)
        raise error.TypeError(f"type {type(other)} not supported")

    return method


def _in_place(name):
    def method(self, _other):
        raise NotImplementedForSymbol(getattr(self, name), name)

    return method


for _name, (_both, _scalar, _reverse) in _OPERATORS.items():
    setattr(Symbol, f"__{_name}__", _operator(_both, _scalar))
    if _name in ("add", "sub", "mul", "truediv", "mod", "pow"):
        setattr(Symbol, f"__r{_name}__", _operator(_both, _reverse))
        setattr(Symbol, f"__i{_name}__", _in_place(f"__{_name}__"))
Symbol.__div__, Symbol.__rdiv__ = Symbol.__truediv__, Symbol.__rtruediv__
Symbol.__hash__ = lambda self: id(self) // 16

for _name in _methods.FLUENT:
    if _name not in Symbol.__dict__:
        setattr(Symbol, _name, _op(_name))


def _array_only(name):
    def method(self, *args, **_kwargs):
        raise NotImplementedForSymbol(method, None, *args)

    method.__name__ = name
    return method


for _name in ("wait_to_read", "asnumpy", "asscalar", "copy", "as_in_context", "detach", "backward"):
    setattr(Symbol, _name, _array_only(_name))


def _shape(value):
    if isinstance(value, (tuple, list)):
        return tuple(int(n) for n in value)
    if isinstance(value, integer_types):
        return (int(value),)
    raise error.TypeError(f"Arguments need to be shapes (tuple), but an argument is {type(value)}.")


def _dtype(value):
    return np.dtype(value).type if not isinstance(value, np.dtype) or value.names is None else value


def _is_known(shape):
    if _core.is_np_shape():
        return shape is not None and -1 not in shape
    return bool(shape) and 0 not in shape


def _show_given(what, given):
    import sys

    pairs = given.items() if isinstance(given, dict) else enumerate(given)
    sys.stderr.write(f"infer_shape error. {what}:\n" if what == "shapes" else f"{what}:\n")
    for name, value in pairs:
        sys.stderr.write(f"  {name}: {value}\n")


_core.register_types({"Symbol": Symbol, "name_for": _name_for, "attrs_for": _attrs_for})

# The functions beside the class, under the name scripts import them by; they need the class above.
from .functions import *  # noqa: E402,F403
from .functions import Group, load_json, split_v2  # noqa: E402
