"""Invalid files and arguments: an exception, never a crash or a hang."""
import json
import os
import pickle
import subprocess
import sys

import pytest

import symbind as mx


def node(op, name, *inputs):
    return {"op": op, "name": name, "inputs": [[i, 0, 0] for i in inputs]}


def graph(nodes, heads=None):
    heads = [[len(nodes) - 1, 0, 0]] if heads is None else heads
    return {"nodes": nodes, "arg_nodes": [0], "heads": heads}


DATA = node("null", "data")

BAD_GRAPHS = {
    "reads itself": graph([DATA, node("relu", "a", 1)]),
    "reads a later node": graph([DATA, node("relu", "a", 2), node("relu", "b", 0)]),
    "a circle": graph([DATA, node("relu", "a", 2), node("relu", "b", 1)]),
    "input beyond the nodes": graph([DATA, node("relu", "a", 99)]),
    "negative input": graph([DATA, node("relu", "a", -1)]),
    "input beyond an int": graph([DATA, node("relu", "a", 2 ** 70)]),
    "output the input has not": graph([DATA, {"op": "relu", "name": "a", "inputs": [[0, 5, 0]]}]),
    "head beyond the nodes": graph([DATA], heads=[[7, 0, 0]]),
    "head output that is not there": graph([DATA, node("relu", "a", 0)], heads=[[1, 3, 0]]),
    "negative head": graph([DATA], heads=[[-1, 0, 0]]),
    "too many inputs": graph([DATA, node("relu", "a", 0, 0, 0)]),
    "a required parameter is missing": graph([DATA, node("FullyConnected", "a", 0)]),
    "attributes that are no object": graph([DATA, {**node("relu", "a", 0), "attrs": [1, 2]}]),
    "inputs that are no list": graph([{**DATA, "inputs": "data"}]),
    "a name that is no text": graph([{**DATA, "name": 5}]),
    "no nodes": {"heads": [[0, 0, 0]]},
    "nodes that are no list": {"nodes": 5, "heads": []},
    "a list": [1, 2, 3],
}


@pytest.mark.parametrize("what", BAD_GRAPHS)
def test_bad_graph(what):
    with pytest.raises(mx.MXNetError) as raised:
        mx.sym.load_json(json.dumps(BAD_GRAPHS[what]))
    assert len(str(raised.value)) > 10


TEXTS = ["", "{", "null", "[" * 10 ** 6, '{"nodes":' * 10 ** 6, "\0" * 1000, "{}" * 10 ** 5, "é" * 999]


@pytest.mark.parametrize("text", TEXTS, ids=range(len(TEXTS)))
def test_text_that_is_no_graph(text, tmp_path):
    path = tmp_path / "net-symbol.json"
    path.write_text(text, encoding="utf-8")
    for load in (lambda: mx.sym.load_json(text), lambda: mx.sym.load(str(path))):
        with pytest.raises(mx.MXNetError):
            load()


def test_all_unknown_operators_are_listed():
    nodes = [DATA] + [node(f"Missing{i}", f"n{i}", i) for i in range(40)]
    with pytest.raises(mx.MXNetError) as raised:
        mx.sym.load_json(json.dumps(graph(nodes)))
    assert all(f"Missing{i}" in str(raised.value) for i in range(40))


def chain(length):
    """The text of relu(relu(…(data))), `length` deep, piece by piece."""
    yield '{"nodes": [{"op": "null", "name": "data", "inputs": []}'
    for i in range(length):
        yield ', {"op": "relu", "name": "r%d", "inputs": [[%d, 0, 0]]}' % (i, i)
    yield '], "arg_nodes": [0], "heads": [[%d, 0, 0]]}' % length


def test_deep_graph():
    """No function may call itself once per node: the stack ends at some ten thousand."""
    deep = mx.sym.load_json("".join(chain(10 ** 5)))
    assert deep.list_arguments() == ["data"] and deep.list_outputs() == ["r99999_output"]
    assert deep.infer_shape(data=(2, 3))[1] == [(2, 3)]
    assert mx.sym.load_json(deep.tojson()).list_outputs() == ["r99999_output"]
    assert len(pickle.loads(pickle.dumps(deep)).get_internals()) == 10 ** 5 + 1


@pytest.mark.slow
def test_graph_a_million_deep():
    deep = mx.sym.load_json("".join(chain(10 ** 6)))
    assert deep.list_outputs() == ["r999999_output"]
    assert deep.infer_shape(data=(2, 3))[1] == [(2, 3)]


@pytest.mark.slow
def test_ten_million_nodes(tmp_path):
    """Written and read piece by piece; about 0.6 KB per node, and none of them left over."""
    path = tmp_path / "huge-symbol.json"
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(chain(10 ** 7))
    assert mx.sym.load(str(path)).list_outputs() == ["r9999999_output"]


def test_every_cut_of_a_params_file():
    """Whatever byte a file ends at: an error that names the place, or the arrays before it."""
    whole = _params_bytes()
    assert list(mx.nd.load_frombuffer(whole)) == ["a", "b"]
    for length in range(len(whole)):
        with pytest.raises(mx.MXNetError) as raised:
            mx.nd.load_frombuffer(whole[:length])
        assert isinstance(raised.value, OSError)


def test_every_byte_of_a_params_file_changed():
    """Headers with other numbers: an error, or arrays; never memory that is not there."""
    whole = _params_bytes()
    for at in range(len(whole)):
        for value in (0, 0x7f, 0xff):
            changed = bytearray(whole)
            changed[at] = value
            try:
                mx.nd.load_frombuffer(bytes(changed))
            except mx.MXNetError:
                pass


def _params_bytes():
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.params")
        mx.nd.save(path, {"a": mx.nd.ones((2, 3)), "b": mx.nd.zeros((4,), dtype="int32")})
        with open(path, "rb") as file:
            return file.read()


def test_wrong_arguments_everywhere():
    """Every public callable with arguments of every wrong kind: in a process that must survive."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "scripts", "wrong_arguments.py")
    result = subprocess.run([sys.executable, "-X", "faulthandler", script], text=True,
                            capture_output=True, timeout=600)
    assert result.returncode == 0, result.stdout[-3000:] + result.stderr[-5000:]
    assert int(result.stdout.split()[-2]) > 5000, result.stdout[-300:]
