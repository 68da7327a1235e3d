"""Type stubs and the index of the Python package, from the package itself.

    PYTHONPATH=<build>/python python tools/stubgen [ROOT]          writes what differs
    PYTHONPATH=<build>/python python tools/stubgen --check [ROOT]  exit status 1 when something does

Stubs are for what an editor cannot see in the sources: functions and methods made from the
registry.
"""
import ast
import pathlib
import re
import sys

import symbind as mx
from index import index_text
from modules import class_stub, module_stub
from networks import networks_stub

NOTE = "# Written by tools/stubgen; do not edit.\n"
IMPORTS = {"collections.abc": "Callable Sequence", "typing": "Any Literal", "numpy": "np",
           ".._types": "DType Floats Shape", "..context": "Context", "..executor": "Executor",
           "..ndarray.ndarray": "NDArray", "..symbol.symbol": "Symbol"}
OUT = {"ndarray": "Out = NDArray | Sequence[NDArray] | None\n\n", "symbol": "Out = None\n\n"}


def stub_file(kind, body):
    """A stub's text: what the body needs is imported, unless it is made here."""
    if re.search(r"\bOut\b", body):
        body = OUT[kind] + body
    lines = []
    for module, names in IMPORTS.items():
        used = [n for n in names.split() if re.search(rf"\b{n}\b", body) and
                not re.search(rf"^class {n}\b", body, re.M)]
        if used:
            lines.append("import numpy as np" if module == "numpy" else
                         f"from {module} import {', '.join(used)}")
    return NOTE + "\n".join(lines) + "\n\n" + body


def package_stub(kind):
    """`mx.nd` itself: operators first, so that functions of the same name take their place."""
    package = getattr(mx, kind)
    imports = [node for node in ast.parse(pathlib.Path(package.__file__).read_text()).body
               if isinstance(node, ast.ImportFrom) and node.level == 1]
    lines = [f"from . import {a.name} as {a.name}" for n in imports if not n.module
             for a in n.names]
    lines.append("from .op import *")
    for node in imports:
        for name in [a.name for a in node.names] if node.module else ():
            thing = getattr(package, name, None)
            if name == "*":
                lines.append(f"from .{node.module} import *")
            elif getattr(thing, "__module__", "").startswith("symbind."):
                lines.append(f"from .{node.module} import {name} as {name}")
    return NOTE + "\n".join(lines) + "\n"


def files():
    """path → text."""
    found = {"docs/python_api.md": index_text(),
             "python/symbind/models.pyi": NOTE + networks_stub()}
    for kind, what in (("ndarray", "NDArray"), ("symbol", "Symbol")):
        package, folder = getattr(mx, kind), f"python/symbind/{kind}"
        for name in ("op", "contrib", "linalg", "image", "random", "functions"):
            body = module_stub(getattr(package, name), what)
            if body:
                found[f"{folder}/{name}.pyi"] = stub_file(kind, body)
        found[f"{folder}/{kind}.pyi"] = stub_file(
            kind, class_stub(getattr(package, what)) + module_stub(getattr(package, kind), what))
        found[f"{folder}/_internal.pyi"] = stub_file(
            kind, f"def __getattr__(name: str) -> Callable[..., {what}]: ...\n")
        if kind == "symbol":  # the dense operators again; nd.sparse has its own classes
            found[f"{folder}/sparse.pyi"] = NOTE + "".join(
                f"from .op import {n} as {n}\n" for n in sorted(vars(package.sparse))
                if not n.startswith("_"))
        found[f"{folder}/__init__.pyi"] = package_stub(kind)
    return found


def main(arguments):
    check = "--check" in arguments
    rest = [a for a in arguments if a != "--check"]
    root = pathlib.Path(rest[0]) if rest else pathlib.Path(__file__).resolve().parents[2]
    stale = 0
    for path, text in files().items():
        file = root / path
        if file.exists() and file.read_text() == text:
            continue
        stale += 1
        if check:
            print(f"{path} is not what the package says: run tools/stubgen")
        else:
            file.write_text(text)
            print(f"wrote {path}")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
