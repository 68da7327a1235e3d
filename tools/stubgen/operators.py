"""Stubs of operator functions, from the registry."""
import re

from symbind import _core, _ops
from texts import call_text, first_line, value_text

_KINDS = {"int": "int", "long": "int", "boolean": "bool", "float": "float", "double": "float",
          "string": "str", "dtype": "DType", "Shape(tuple)": "Shape", "Shape": "Shape",
          "tuple of <float>": "Floats"}


def kind_of(param):
    """The annotation of a parameter: "int | None" of "int or None, optional, default=None"."""
    kind = re.split(", (?:required|optional)", param[1])[0]
    if kind.startswith("{"):
        choices = ", ".join(re.findall("'[^']*'", kind))
        return f"Literal[{choices}]" + (" | None" if kind.startswith("{None") else "")
    kind, none = re.subn(" or None$", "", kind)
    return _KINDS[kind] + (" | None" if none else "")


def parameters(name, what):
    """The parameters of a call with their annotations, as texts."""
    info = _ops.info_of(name)
    kinds = {p[0]: kind_of(p) for p in info["params"]}
    kinds.update({"out": "Out", "name": "str | None", "attr": "dict[str, str] | None"})
    kinds.update({i: f"{what} | None" for i in info["inputs"]})
    texts = []
    for p in _ops.signature_of(name, what == "NDArray").parameters.values():
        if p.kind == p.VAR_POSITIONAL:
            texts.append(f"*{p.name}: {what}")
        elif p.kind == p.VAR_KEYWORD:
            texts.append(f"**{p.name}: Any")
        else:
            texts.append(f"{p.name}: {kinds[p.name]} = {value_text(p.default)}")
    return texts


def result(name, what):
    return {what: what, f"list of {what}s": f"list[{what}]",
            f"{what} or list of {what}s": f"{what} | list[{what}]"}[
                _ops.result_of(_ops.info_of(name), what)]


def function_stub(name, called, what):
    """The function `called` for the operator `name`."""
    return (call_text(f"def {called}(", parameters(name, what), f") -> {result(name, what)}:") +
            f'\n    """{first_line(_ops.info_of(name)["doc"])}"""\n')


def method_stub(name, called, what):
    """The same as a method: the first input is the object."""
    return (call_text(f"    def {called}(", ["self", *parameters(name, what)[1:]],
                      f") -> {result(name, what)}: ...") + "\n")


def namespace_stubs(names, what):
    """Stubs of functions (name in the namespace → name of the operator); aliases are one line."""
    by_operator = {}
    for called, name in sorted(names.items()):
        by_operator.setdefault(_core.op_info(name)["name"], []).append((called, name))
    texts = []
    for operator, group in by_operator.items():
        main = next((g for g in group if g[1] == operator), group[0])
        text = function_stub(main[1], main[0], what)
        text += "".join(f"{called} = {main[0]}\n" for called, _ in group if called != main[0])
        texts.append((main[0], text))
    return "".join(text for _, text in sorted(texts))
