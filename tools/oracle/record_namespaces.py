"""Records what MXNet's Python package offers under which name.

    PY tools/oracle/record_namespaces.py      -> tests/golden/python/namespaces.json

Per module or class, every public function, method, property and class (of the root also modules);
of functions written in Python, and of classes' constructors, the parameters as text, "name" or
"name=default" ("name=?" where the default is an object). Functions made
from the registry are one text of names: registry.json knows the rest. Names that are only imported
are left out.
"""
import inspect
import json

from golden import golden_dir, mx

PLACES = """
mx nd nd.NDArray nd.random nd.contrib nd.linalg nd.sparse nd.image sym sym.Symbol sym.random
sym.contrib sym.linalg sym.sparse sym.image executor.Executor context context.Context attribute
name random autograd engine profiler util runtime visualization operator registry callback
executor_manager init io kvstore lr_scheduler metric model module module.Module module.BaseModule
module.BucketingModule module.SequentialModule monitor optimizer recordio rnn
""".split()


def is_generated(function):
    return function.__code__.co_filename.startswith("<") or "gen_" in function.__code__.co_filename


def parameter(p):
    text = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "") + p.name
    if p.default is p.empty:
        return text
    simple = p.default is None or isinstance(p.default, (bool, int, float, str))
    return text + "=" + (repr(p.default) if simple else "?")


def parameters(function):
    return [parameter(p) for p in inspect.signature(function).parameters.values()]


def describe(thing):
    """Parameters, or a word; None for a function made from the registry."""
    thing = getattr(thing, "__func__", thing)
    if inspect.ismodule(thing):
        return "module"
    if inspect.isclass(thing):
        has_own = inspect.isfunction(thing.__init__)
        return {"class": parameters(thing.__init__)[1:] if has_own else None}
    if isinstance(thing, property):
        return "property"
    if not inspect.isfunction(thing):
        return "value"
    if is_generated(thing):
        return None
    return parameters(thing)


def belongs(thing, place):
    """Whether it was written for this place rather than imported there."""
    where = getattr(thing, "__module__", None)
    if where in ("ndarray", "symbol"):  # what the registry made
        return True
    if place is mx.random:  # its functions live in nd.random
        return where in ("mxnet.random", "mxnet.ndarray.random")
    return bool(where) and (where == place.__name__ or where.startswith(place.__name__ + "."))


def members(place):
    if inspect.isclass(place):
        names = {n: inspect.getattr_static(place, n) for n in dir(place)}
        return {n: v for n, v in names.items() if callable(getattr(v, "__func__", v)) or
                isinstance(v, property)}
    if place is mx:
        return {n: v for n, v in vars(mx).items()
                if (v.__name__ if inspect.ismodule(v) else getattr(v, "__module__", None) or ""
                    ).startswith("mxnet")}
    return {n: v for n, v in vars(place).items() if callable(v) and belongs(v, place)}


def main():
    entries = {}
    for text in PLACES:
        place = mx
        for part in text.split(".") if text != "mx" else ():
            place = getattr(place, part)
        names = {n: describe(v) for n, v in sorted(members(place).items())
                 if not n.startswith("_")}
        made = " ".join(n for n, what in names.items() if what is None)
        names = {n: what for n, what in names.items() if what is not None}
        entries[text] = {"from the registry": made, **names} if made else names
    with open(golden_dir("python", "namespaces.json"), "w") as f:
        f.write("{\n" + ",\n".join(json.dumps(place) + ": {\n" + ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(what)}" for name, what in names.items()) + "\n}"
            for place, names in entries.items()) + "\n}\n")
    print({place: len(names) for place, names in entries.items()})


if __name__ == "__main__":
    main()
