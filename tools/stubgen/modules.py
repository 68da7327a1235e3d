"""Stubs of modules and classes that are partly made at run time, by looking at them."""
import inspect
import re

from operators import method_stub, namespace_stubs
from symbind import _core
from texts import call_text, first_line, plain_parameters

# What methods and properties give, where a reader would want to know; the rest is Any.
_GIVES = {
    "NDArray": {
        "NDArray": "T as_in_context as_in_ctx as_nd_ndarray astype broadcast_like broadcast_to copy "
                   "copyto detach expand_dims flatten reshape slice_assign slice_assign_scalar squeeze "
                   "tostype __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ "
                   "__rtruediv__ __mod__ __rmod__ __pow__ __rpow__ __neg__ __abs__ __eq__ __ne__ "
                   "__gt__ __ge__ __lt__ __le__ __iadd__ __isub__ __imul__ __itruediv__ __imod__ "
                   "__getitem__",
        "list[NDArray]": "split_v2", "tuple[int, ...]": "shape", "int": "size ndim __len__",
        "float": "asscalar __float__", "Context": "context ctx", "str": "stype",
        "np.ndarray": "asnumpy", "NDArray | None": "grad", "bool": "__bool__",
        "None": "attach_grad backward wait_to_read zero_grad __setitem__"},
    "Symbol": {
        "Symbol": "as_nd_ndarray astype expand_dims flatten get_internals reshape squeeze split_v2 "
                  "__add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ "
                  "__mod__ __rmod__ __pow__ __rpow__ __neg__ __abs__ __eq__ __ne__ __gt__ __ge__ "
                  "__lt__ __le__ __getitem__ __call__ __copy__ __deepcopy__",
        "Symbol | None": "get_children", "str | None": "name attr", "int": "__len__",
        "list[str]": "list_arguments list_auxiliary_states list_inputs list_outputs",
        "dict[str, str]": "list_attr", "dict[str, dict[str, str]]": "attr_dict",
        "str": "tojson debug_str", "None": "save", "Executor": "bind simple_bind",
        "list[NDArray]": "eval"},
}
_OPERATORS = set(" ".join(" ".join(v.values()) for v in _GIVES.values()).split())
_FUNCTIONS = (_core.ArrayFunction, _core.SymbolFunction)


def gives(class_name, member):
    """" -> X" where known."""
    for result, members in _GIVES.get(class_name, {}).items():
        if member in members.split():
            return f" -> {result}"
    return ""


def _own(name):
    return not name.startswith("_") or name in _OPERATORS


def members(cls):
    """Public members, including those of our base classes: name → the class attribute."""
    found = {}
    for base in reversed(cls.__mro__):
        if base.__module__.startswith("symbind"):
            found.update({n: v for n, v in vars(base).items() if _own(n)})
    return dict(sorted(found.items()))


def with_doc(text, doc, indent):
    """A definition, with its first sentence where it has one."""
    return f'{text}\n{indent}"""{first_line(doc)}"""\n' if doc else f"{text} ...\n"


def native_stub(cls, name, member):
    """A method of the extension."""
    signature, doc = getattr(member, "__nb_signature__", [("", "", None)])[0][:2]
    rest = "" if re.match(r"def \w+\(self\)", signature) else ", *args: Any, **kwargs: Any"
    return with_doc(f"    def {name}(self{rest}){gives(cls.__name__, name)}:", doc, " " * 8)


def member_stub(cls, name, member):
    tail = f"){gives(cls.__name__, name)}:"
    if re.match("__(neg|abs|bool|float|len|copy)__", name):
        return f"    def {name}(self{tail} ...\n"
    if re.match("__[ir]?(add|sub|mul|truediv|mod|pow|eq|ne|gt|ge|lt|le)__", name):
        return f"    def {name}(self, other: Any{tail} ...\n"
    if isinstance(member, _FUNCTIONS):
        return method_stub(member.__name__, name, cls.__name__)
    if isinstance(member, staticmethod):
        text = call_text(f"    def {name}(", plain_parameters(member.__func__), tail)
        return with_doc("    @staticmethod\n" + text, member.__doc__, " " * 8)
    if isinstance(member, property):
        return with_doc(f"    @property\n    def {name}(self{tail}", member.__doc__, " " * 8)
    if inspect.isfunction(member):
        text = call_text(f"    def {name}(", plain_parameters(member), tail)
        return with_doc(text, member.__doc__, " " * 8)
    if callable(member):  # written in C++
        return native_stub(cls, name, member)
    return f"    {name}: {'Any' if member is None else type(member).__name__}\n"


def class_stub(cls):
    """A class with everything it has, whatever its bases."""
    text = f'class {cls.__name__}:\n    """{first_line(cls.__doc__)}"""\n'
    if inspect.isfunction(cls.__init__):
        text += call_text("    def __init__(", plain_parameters(cls.__init__), "): ...") + "\n"
    else:
        text += "    def __init__(self, *args: Any, **kwargs: Any): ...\n"
    return text + "".join(member_stub(cls, n, m) for n, m in members(cls).items())


def module_stub(module, what):
    """Functions of a module: those written in Python, then those of the registry."""
    written, made = [], {}
    for name, thing in sorted(vars(module).items()):
        if name.startswith("_"):
            continue
        if isinstance(thing, _FUNCTIONS):
            made[name] = thing.__reduce__()[1][0]
        elif inspect.isfunction(thing) and thing.__module__ == module.__name__:
            text = call_text(f"def {name}(", plain_parameters(thing), "):")
            written.append(with_doc(text, thing.__doc__, " " * 4))
    return "".join(written) + namespace_stubs(made, what)
