"""Every public name of MXNet's package is here, and takes the same parameters.

tests/golden/python/namespaces.json lists them as recorded. Missing or different names are listed below
with the reason; each listed name must differ, so that outdated entries fail.
"""
import inspect
import json
import pathlib

import pytest

import symbind as mx
from symbind import _core

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "python" / "namespaces.json"
MXNET = json.loads(GOLDEN.read_text())
REGISTRY = json.loads((GOLDEN.parents[1] / "registry.json").read_text())

PREFIXES = {"contrib": "_contrib_", "linalg": "_linalg_", "image": "_image_"}

# Rooms of the package that are still to be written; a name leaves this list when it comes.
NOT_YET = set()

# place: names, why they are missing or different
EXCEPT = {
    "mx": {"api np_symbol numpy_dispatch_protocol numpy_op_fallback numpy_op_signature":
               "the NumPy interface of after the Module era",
           "ndarray_doc": "documentation is read off the registry"},
    "kvstore": {"KVStore": "a handle of MXNet's C interface is not there",
                "KVStoreServer": "training over several machines"},
    "nd": {"get_indexing_dispatch_code get_oshape_of_gather_nd_op": "MXNet's own helpers",
           "imdecode": "OpenCV"},
    "nd.NDArray": {"as_np_ndarray": "the NumPy interface of after the Module era"},
    "nd.contrib": {"cond while_loop": "control flow that values decide"},
    "sym.contrib": {"cond while_loop": "control flow that values decide"},
    "profiler": {"set_kvstore_handle": "a handle of MXNet's C interface"},
    "util": {"get_cuda_compute_capability": "code from outside, compiled at run time",
             "np_ufunc_legal_option wrap_np_binary_func wrap_np_unary_func":
                 "the NumPy interface of after the Module era"},
}


def place_of(text):
    place = mx
    for part in text.split(".") if text != "mx" else ():
        place = getattr(place, part)
    return place


def is_absent_operator(name):
    """Whether the registry lacks it: test_registry.py says why."""
    here = set(_core.list_ops())
    return any(name in o["names"] and not here & set(o["names"]) for o in REGISTRY.values())


def parameters(function):
    return list(inspect.signature(function).parameters.values())


def accepts(mine, wanted):
    """Whether parameters `mine` take every call that the recorded ones take; says what is amiss."""
    named = {p.name: p for p in mine}
    catches = {p.kind for p in mine}
    if wanted == ["self", "*args", "**kwargs"]:  # passed on to an operator; ours may name them
        return None if inspect.Parameter.VAR_KEYWORD in catches else "no **kwargs"
    for at, text in enumerate(wanted):
        name, _, default = text.partition("=")
        if name.startswith("**"):
            if inspect.Parameter.VAR_KEYWORD not in catches:
                return f"no {name}"
        elif name.startswith("*"):
            if inspect.Parameter.VAR_POSITIONAL not in catches:
                return f"no {name}"
        elif name not in named:
            return f"no {name}"
        elif inspect.Parameter.VAR_POSITIONAL not in catches and mine[at].name != name:
            return f"{mine[at].name} is in the place of {name}"
        elif default not in ("", "?") and repr(named[name].default) != default:
            return f"{name} is {named[name].default!r}, not {default}"
    extra = [p.name for p in mine[len(wanted):] if p.default is inspect.Parameter.empty and
             p.kind in (p.POSITIONAL_OR_KEYWORD, p.POSITIONAL_ONLY)]
    return f"needs {extra}" if extra else None


def amiss(place, name, wanted):
    """What is wrong with one name, or None."""
    static = inspect.getattr_static(place, name, None)
    found = getattr(place, name)
    if wanted == "module":
        return None if inspect.ismodule(found) else "not a module"
    if wanted == "property":
        return None if not inspect.isfunction(static) else "not a property"
    if isinstance(wanted, dict):
        if not inspect.isclass(found):
            return "not a class"
        if wanted["class"] is None or not inspect.isfunction(found.__init__):
            return None
        return accepts(parameters(found.__init__)[1:], wanted["class"])
    if isinstance(found, (_core.ArrayFunction, _core.SymbolFunction)):
        return None
    if inspect.isclass(place) and inspect.isfunction(found):
        return accepts(parameters(found), wanted)
    if isinstance(static, (classmethod, staticmethod)) or inspect.isfunction(found):
        return accepts(parameters(static.__func__ if inspect.isclass(place) else found), wanted)
    return None if callable(found) else "not callable"


def problems(text):
    """name → what is amiss, for one module or class."""
    place, found = place_of(text), {}
    for name, wanted in MXNET[text].items():
        if name == "from the registry":
            prefix = PREFIXES.get(text.split(".")[-1], "")
            found.update({n: "missing" for n in wanted.split()
                          if prefix + n in _core.list_ops() and not hasattr(place, n) and
                          not n.startswith("backward_")})
        elif not hasattr(place, name):
            if not is_absent_operator(name):
                found[name] = "missing"
        elif amiss(place, name, wanted):
            found[name] = amiss(place, name, wanted)
    return found


@pytest.mark.parametrize("text", sorted(set(MXNET) - NOT_YET))
def test_the_names_are_mxnets(text):
    listed = {name for names in EXCEPT.get(text, {}) for name in names.split()}
    found = problems(text)
    assert set(found) == listed, {n: found.get(n) for n in set(found) ^ listed}


@pytest.mark.parametrize("text", sorted(NOT_YET))
def test_what_is_to_come_has_not_come(text):
    with pytest.raises(AttributeError):
        place_of(text)
