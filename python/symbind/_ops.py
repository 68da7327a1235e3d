"""Operator functions from the registry: the namespace of each, its signature, its documentation."""
import ast
import functools
import inspect
import re

from . import _core
from .base import _Null

# An operator with this prefix is in the namespace of that name, without the prefix.
_NAMESPACES = {"_contrib_": "contrib", "_linalg_": "linalg", "_image_": "image"}

# Operators that MXNet also has in the namespace `sparse`; here they are the dense operators.
_SPARSE = """
ElementWiseSum Embedding FullyConnected LinearRegressionOutput LogisticRegressionOutput
MAERegressionOutput abs adam_update add_n arccos arccosh arcsin arcsinh arctan arctanh
broadcast_add broadcast_div broadcast_minus broadcast_mul broadcast_plus broadcast_sub
cast_storage cbrt ceil clip concat cos cosh degrees dot elemwise_add elemwise_div elemwise_mul
elemwise_sub exp expm1 fix floor ftrl_update gamma gammaln log log10 log1p log2 make_loss mean
negative norm radians relu rint round rsqrt sgd_mom_update sgd_update sigmoid sign sin sinh slice
sqrt square stop_gradient sum tan tanh trunc where zeros_like
""".split()


def _home(name):
    """The namespace of an operator and its name there."""
    for prefix, where in _NAMESPACES.items():
        if name.startswith(prefix):
            return where, name[len(prefix):]
    if name.startswith("_random_") and name.endswith("_like"):
        return "random", name[len("_random_"):]
    return "_internal" if name.startswith("_") else "op", name


def populate(make, modules):
    """Fills `modules[...]` with one function per operator name.

    'op' gets the public names, '_internal' those that begin with an underscore, 'contrib' and similar
    namespaces those with their prefix; there the functions and their nodes are named without it.
    Functions written in Python are not replaced.
    """
    for name in _core.list_ops():
        where, short = _home(name)
        function = make(name, short)
        function.__module__ = modules[where].__name__
        vars(modules[where]).setdefault(short, function)
    operators = vars(modules["op"])
    for name in _SPARSE:
        if name in operators:
            vars(modules["sparse"]).setdefault(name, operators[name])


@functools.lru_cache(maxsize=None)
def info_of(name):
    """The registry's entry of an operator."""
    return _core.op_info(name)


def default_of(param):
    """The default of a parameter (an entry of info_of(...)["params"]) as a Python value."""
    _, kind, _, text = param
    if text is None:
        return _Null
    if re.match("string|dtype|{", kind):
        return None if text == "None" else text
    return ast.literal_eval(text)


def signature_of(name, for_arrays):
    """The signature shown by help() and inspect; `_Null` is the default of required parameters."""
    info = info_of(name)
    kind = inspect.Parameter
    params = []
    if info["takes_list"]:
        params.append(kind("data", kind.VAR_POSITIONAL))
    else:
        params += [kind(i, kind.POSITIONAL_OR_KEYWORD, default=None) for i in info["inputs"]]
    taken = {p.name for p in params} | {info["variadic_key"]}
    rest = kind.KEYWORD_ONLY if info["takes_list"] else kind.POSITIONAL_OR_KEYWORD
    params += [kind(p[0], rest, default=default_of(p)) for p in info["params"]
               if p[0] not in taken]
    extra = ["out", "name"] if for_arrays else ["name", "attr", "out"]
    taken = {p.name for p in params}
    params += [kind(e, rest, default=None) for e in extra if e not in taken]
    params.append(kind("kwargs", kind.VAR_KEYWORD))
    return inspect.Signature(params)


def doc_of(name, for_arrays):
    """The documentation in NumPy's form."""
    info = info_of(name)
    what = "NDArray" if for_arrays else "Symbol"
    lines = [info["doc"], "", "Parameters", "----------"]
    if info["takes_list"]:
        lines.append(f"*data : {what}s, one by one or as a list")
    lines += [f"{i} : {what}" for i in info["inputs"]]
    for param, kind, doc, _ in info["params"]:
        if param != info["variadic_key"]:
            lines += [f"{param} : {kind}", f"    {doc}"]
    if for_arrays:
        lines += ["out : NDArray, optional", "    Where the result is written."]
    else:
        lines += ["name : str, optional", "    The name of the node."]
    lines += ["", "Returns", "-------", result_of(info, what)]
    return "\n".join(lines)


def result_of(info, what):
    """The return type of a call; a symbol is one object, also with several outputs."""
    fewest, most = info["outputs"]
    many = f"list of {what}s"
    if what == "Symbol" or most <= 1:
        return what
    return many if fewest > 1 else f"{what} or {many}"


_core.register_types({"signature_of": signature_of, "doc_of": doc_of})
