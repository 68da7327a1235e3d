"""Stubs, the index of the API, help() and signatures say what the package is."""
import ast
import inspect
import json
import pathlib
import pydoc
import subprocess
import sys

import pytest

import symbind as mx
from symbind import _core
from symbind.base import _Null

ROOT = pathlib.Path(__file__).resolve().parents[2]
REGISTRY = json.loads((ROOT / "tests" / "golden" / "registry.json").read_text())


def test_what_is_written_is_current():
    done = subprocess.run([sys.executable, str(ROOT / "tools" / "stubgen"), "--check", str(ROOT)],
                          capture_output=True, text=True)
    assert (done.stdout + done.stderr, done.returncode) == ("", 0)


def stub(path):
    return ast.parse((ROOT / "python" / "symbind" / path).read_text())


def functions(path):
    """The functions of a stub, aliases under their own names."""
    found = {n.name: n for n in stub(path).body if isinstance(n, ast.FunctionDef)}
    for node in stub(path).body:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Name):
            found[node.targets[0].id] = found.get(node.value.id)
    return found


@pytest.mark.parametrize("place", ["ndarray/op.pyi", "symbol/op.pyi"])
def test_a_stub_takes_mxnets_parameters(place):
    """In MXNet's order, which the recorded registry knows, with its defaults."""
    stubs = functions(place)
    checked = 0
    for operator in REGISTRY.values():
        for name in set(operator["names"]) & set(stubs):
            names = [a.arg for a in stubs[name].args.args + stubs[name].args.kwonlyargs]
            counted = _core.op_info(name)["variadic_key"]
            wanted = [p[0] for p in operator["params"] if p[0] != counted]
            assert [n for n in names if n in wanted] == wanted, name
            checked += 1
    assert checked >= 250


def test_annotations():
    conv = functions("ndarray/op.pyi")["Convolution"]
    kinds = {a.arg: ast.unparse(a.annotation) for a in conv.args.args}
    defaults = dict(zip(list(kinds)[-len(conv.args.defaults):],
                        map(ast.unparse, conv.args.defaults)))
    assert kinds["data"] == "NDArray | None" and kinds["kernel"] == "Shape"
    assert kinds["no_bias"] == "bool" and defaults["no_bias"] == "False"
    assert kinds["cudnn_tune"] == "Literal['fastest', 'limited_workspace', 'off'] | None"
    assert kinds["workspace"] == "int" and defaults["workspace"] == "1024"
    assert ast.unparse(conv.returns) == "NDArray"
    assert ast.unparse(functions("ndarray/op.pyi")["split"].returns) == "NDArray | list[NDArray]"
    assert ast.unparse(functions("symbol/op.pyi")["split"].returns) == "Symbol"


@pytest.mark.parametrize("kind, cls", [("ndarray", mx.nd.NDArray), ("symbol", mx.sym.Symbol)])
def test_a_class_has_all_its_members(kind, cls):
    body = next(n for n in stub(f"{kind}/{kind}.pyi").body
                if isinstance(n, ast.ClassDef) and n.name == cls.__name__).body
    names = {n.name for n in body if isinstance(n, ast.FunctionDef)} | {
        n.target.id for n in body if isinstance(n, ast.AnnAssign)}
    assert {n for n in dir(cls) if not n.startswith("_")} <= names


def test_help_reads():
    text = pydoc.render_doc(mx.nd.FullyConnected, renderer=pydoc.plaintext)
    assert text.splitlines()[0].endswith("in module symbind.ndarray.op")
    for part in ("Applies y = x·Wᵀ + b", "num_hidden : int, required", "no_bias : boolean",
                 "weight : NDArray", "Returns"):
        assert part in text
    assert "weight : Symbol" in pydoc.render_doc(mx.sym.FullyConnected, renderer=pydoc.plaintext)


def test_signatures():
    assert str(inspect.signature(mx.nd.FullyConnected)) == (
        "(data=None, weight=None, bias=None, num_hidden=_Null, no_bias=False, flatten=True, "
        "out=None, name=None, **kwargs)")
    assert str(inspect.signature(mx.sym.Concat)) == (
        "(*data, dim=1, name=None, attr=None, out=None, **kwargs)")
    parameters = inspect.signature(mx.nd.random.normal_like).parameters
    assert list(parameters)[:3] == ["data", "loc", "scale"]
    assert inspect.signature(mx.nd.clip).parameters["a_min"].default is _Null


@pytest.mark.parametrize("name", [n for n in _core.list_ops() if "backward" not in n])
def test_every_operator_is_documented(name):
    info = _core.op_info(name)
    assert info["doc"].strip(), "no documentation"
    assert all(p[2].strip() for p in info["params"]), info["params"]
    for function in (_core.ArrayFunction(name), _core.SymbolFunction(name)):
        assert inspect.signature(function) and info["doc"] in function.__doc__


@pytest.mark.parametrize("front", [mx.nd, mx.sym])
def test_dir_has_every_operator(front):
    public = {n for n in _core.list_ops() if not n.startswith("_")}
    assert public <= set(dir(front)) and public <= set(dir(front.op))
    elsewhere = "_contrib_", "_linalg_", "_image_"
    hidden = {n for n in _core.list_ops() if n.startswith("_") and not n.startswith(elsewhere) and
              "backward" not in n and not (n.startswith("_random_") and n.endswith("_like"))}
    assert hidden <= set(dir(front._internal))


@pytest.mark.parametrize("front", [mx.nd, mx.sym])
@pytest.mark.parametrize("space", ["contrib", "linalg", "image"])
def test_a_namespace_has_its_operators(front, space):
    short = {n[len(space) + 2:] for n in _core.list_ops() if n.startswith(f"_{space}_") and
             "backward" not in n}
    assert short <= set(dir(getattr(front, space)))


def test_nodes_of_a_namespace_are_named_without_its_prefix():
    a = mx.sym.Variable("a")
    with mx.name.NameManager():  # as MXNet names them
        assert mx.sym.linalg.gemm2(a, a).name == "gemm20"
        assert mx.sym.sparse.abs(a).name == "abs0"
        assert mx.sym.random.uniform_like(a).name == "uniform_like0"
