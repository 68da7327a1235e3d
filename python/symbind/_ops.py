"""Operator functions from the registry: where each name lives, its signature, its documentation."""
import functools
import inspect

from . import _core
from .base import _Null

# An operator whose name begins so is found in the namespace of that name, without the prefix.
_NAMESPACES = {"_contrib_": "contrib", "_linalg_": "linalg", "_sparse_": "sparse",
               "_image_": "image", "_random_": "random"}


def populate(make, namespaces):
    """Fills the dicts `namespaces[...]` with one function per operator name.

    'op' gets the public names, '_internal' those that begin with an underscore.
    """
    for name in _core.list_ops():
        if name.startswith("_backward_") and name != "_backward_gather_nd":
            continue
        function = make(name)
        for prefix, target in _NAMESPACES.items():
            if name.startswith(prefix):
                namespaces[target].setdefault(name[len(prefix):], function)
        namespaces["_internal" if name.startswith("_") else "op"][name] = function


@functools.lru_cache(maxsize=None)
def _info(name):
    return _core.op_info(name)


def signature_of(name, for_arrays):
    """The signature shown by help() and inspect."""
    info = _info(name)
    kind = inspect.Parameter
    params = []
    if info["variadic_key"]:
        params.append(kind("data", kind.VAR_POSITIONAL))
    else:
        params += [kind(i, kind.POSITIONAL_OR_KEYWORD, default=None) for i in info["inputs"]]
    taken = {p.name for p in params}
    rest = kind.KEYWORD_ONLY if info["variadic_key"] else kind.POSITIONAL_OR_KEYWORD
    params += [kind(p[0], rest, default=_Null) for p in info["params"] if p[0] not in taken]
    extra = ["out", "name"] if for_arrays else ["name", "attr", "out"]
    taken = {p.name for p in params}
    params += [kind(e, rest, default=None) for e in extra if e not in taken]
    params.append(kind("kwargs", kind.VAR_KEYWORD))
    return inspect.Signature(params)


def doc_of(name, for_arrays):
    """The documentation in NumPy's form."""
    info = _info(name)
    what = "NDArray" if for_arrays else "Symbol"
    lines = [info["doc"], "", "Parameters", "----------"]
    lines += [f"{i} : {what}" for i in info["inputs"]]
    if info["variadic_key"]:
        lines.append(f"*data : {what}s")
    for param, kind, doc, _ in info["params"]:
        lines += [f"{param} : {kind}", f"    {doc}"]
    if for_arrays:
        lines += ["out : NDArray, optional", "    Where the result is written."]
    else:
        lines += ["name : str, optional", "    The name of the node."]
    lines += ["", "Returns", "-------", f"{what} or list of {what}s"]
    return "\n".join(lines)


_core.register_types({"signature_of": signature_of, "doc_of": doc_of})
