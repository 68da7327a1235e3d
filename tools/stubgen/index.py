"""The index of the public API: every module, class and function with its first sentence."""
import importlib
import inspect
import pkgutil

import symbind as mx
from modules import members
from symbind import _core, _ops
from texts import first_line, plain_parameters

_FUNCTIONS = (_core.ArrayFunction, _core.SymbolFunction)
_SHORT = {"ndarray": "nd", "symbol": "sym", "visualization": "viz"}
OPENING = """# The Python API

Written by tools/stubgen from the package; do not edit. `mx` is `import symbind as mx`. What
operators do and take is in [ops.md](ops.md); every operator is a function of `mx.nd` (on arrays, at
once) and of `mx.sym` (on symbols, for later), and many are methods too.
"""


def public_modules():
    """name as users write it → module; modules that define no functions are skipped."""
    found = {}
    for each in pkgutil.walk_packages(mx.__path__, "symbind."):
        parts = each.name.split(".")[1:]
        if any(p.startswith("_") for p in parts) or parts[0] in ("as_mxnet", "base", "error", "launch"):
            continue
        parts[0] = _SHORT.get(parts[0], parts[0])
        found[".".join(["mx", *parts])] = importlib.import_module(each.name)
    return dict(sorted(found.items()))


def shown(name, parameters):
    return f"`{name}({', '.join(parameters)})`"


def entry(name, thing):
    """One line for a function or class."""
    if inspect.isclass(thing):
        parameters = (plain_parameters(thing.__init__)[1:] if inspect.isfunction(thing.__init__) and
                      thing.__init__ is not object.__init__ else [])
        own = [n for n in members(thing) if not n.startswith("_")]
        methods = f" Members: {', '.join(f'`{n}`' for n in own)}." if own else ""
        return f"- class {shown(name, parameters)}: {first_line(thing.__doc__)}{methods}\n"
    return f"- {shown(name, plain_parameters(thing))}: {first_line(thing.__doc__)}\n"


def own_things(module):
    """Functions and classes written in the module, and what the registry put there."""
    written, made = {}, []
    for name, thing in sorted(vars(module).items()):
        if name.startswith("_"):
            continue
        if isinstance(thing, _FUNCTIONS):
            made.append(name)
        elif (inspect.isclass(thing) or inspect.isfunction(thing)) and (
                thing.__module__ == module.__name__ or
                (hasattr(module, "__path__") and thing.__module__.startswith(module.__name__))):
            written[name] = thing
    return written, made


def section(name, module, listed):
    """A module's part; a thing shown by a module before is not shown again."""
    written, made = own_things(module)
    fresh = {n: t for n, t in written.items() if id(t) not in listed}
    listed.update(id(t) for t in fresh.values())
    text = "".join(entry(n, t) for n, t in fresh.items())
    if name == "mx.nd.op":
        text += "".join(f"- `{n}`: {first_line(_ops.info_of(n)['doc'])}\n" for n in made)
    elif made and name not in ("mx.nd", "mx.sym", "mx.sym.op"):
        text += "- operators: " + ", ".join(f"`{n}`" for n in made) + "\n"
    return f"\n## {name}\n\n{first_line(module.__doc__)}\n\n{text}" if text else ""


def index_text():
    listed = set()
    root = {n: t for n, t in vars(mx).items() if not n.startswith("_") and
            (inspect.isclass(t) or inspect.isfunction(t))}
    text = OPENING + "\n## mx\n\n" + "".join(entry(n, t) for n, t in sorted(root.items()))
    listed.update(id(t) for t in root.values())
    for name, module in public_modules().items():
        text += section(name, module, listed)
    return text
