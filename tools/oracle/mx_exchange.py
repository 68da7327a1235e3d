"""MXNet's side of the exchange of files: writes a folder of them, or reports what it reads in one.

    PY tools/oracle/mx_exchange.py write DIR     files into DIR, the report to stdout
    PY tools/oracle/mx_exchange.py read DIR      the report of DIR to stdout
    PY tools/oracle/mx_exchange.py record        write into tests/golden/exchange, with report.json

The report's form is in README.md.
"""
import json
import os
import sys

import golden
import params_file
from golden import Formula, fnv1a, mx, np
from old_symbols import OLD

sym = mx.sym
BFLOAT16 = np.dtype([("bfloat16", np.uint16)])  # how MXNet 1.9.1 spells it in Python


def symbols():
    """name -> (symbol, shapes to infer from)"""
    data, label = sym.Variable("data"), sym.Variable("softmax_label")
    fc = lambda x, n, name, **k: sym.FullyConnected(x, num_hidden=n, name=name, **k)
    relu = lambda x, name=None: sym.Activation(x, act_type="relu", name=name)
    yield "mlp", sym.SoftmaxOutput(fc(relu(fc(data, 128, "fc1"), "relu1"), 10, "fc2"), label,
                                   name="softmax"), {"data": (4, 20)}

    x = sym.Convolution(data, num_filter=8, kernel=(3, 3), pad=(1, 1), stride=(2, 1), name="conv")
    x = sym.BatchNorm(x, fix_gamma=False, eps=2e-5, momentum=0.9, name="bn")
    x = sym.Pooling(relu(x), kernel=(2, 2), stride=(2, 2), pool_type="avg",
                    pooling_convention="full", count_include_pad=False)
    yield "convnet", fc(sym.Flatten(sym.Dropout(x, p=0.3)), 5, "out", no_bias=True), \
        {"data": (2, 3, 9, 10)}

    with mx.AttrScope(ctx_group="stage1", __mood__="sunny"):
        w = sym.Variable("w", shape=(6, 0), lr_mult=2.0, wd_mult=0.0, dtype="float32",
                         init=mx.init.Constant(0.5), attr={"__note__": "mine"})
        x = sym.FullyConnected(data, weight=w, num_hidden=6, name="fc", attr={"lr_mult": "0.1"})
    with mx.AttrScope(ctx_group="stage2"):
        x = sym.Activation(x, act_type="tanh", name="act")
    yield "attributes", x, {"data": (3, 4)}

    halves = sym.SliceChannel(data, num_outputs=3, axis=1, name="split")
    mixed = sym.Concat(halves[2], halves[0] * 2 - 1, 3 / (halves[1] ** 2 + 1), dim=-1, name="join")
    yield "outputs", sym.Group([mixed, halves[1], sym.sum(mixed, axis=(0, 1), name="total")]), \
        {"data": (2, 6, 4)}

    shared = sym.Variable("shared_weight")
    a = sym.FullyConnected(data, weight=shared, num_hidden=4, no_bias=True, name="a")
    b = sym.FullyConnected(relu(a, "ra"), weight=shared, num_hidden=4, no_bias=True, name="b")
    yield "shared", sym.add_n(a, b, data, name="sum"), {"data": (5, 4)}

    x = sym.Reshape(data, shape=(0, -4, 2, -1, -2), name="split4")
    x = sym.Reshape(x, shape=(-1, 0), reverse=True, name="back")
    x = sym.transpose(x, axes=(1, 0), name="t")
    x = sym.slice_axis(sym.broadcast_mul(x, sym.Variable("scale")), axis=-1, begin=1, end=None,
                       name="cut")
    yield "shapes", sym.expand_dims(x, axis=0, name="wide"), {"data": (3, 4, 5), "scale": (5, 1)}

    x = sym.Embedding(data, input_dim=11, output_dim=3, name="embed")
    ramp = sym.Reshape(sym._internal._arange(start=0, stop=3, name="ramp"), shape=(1, -1))
    x = sym.broadcast_add(sym.mean(x, axis=1, name="bag"), ramp) + sym.zeros((2, 3), name="nothing")
    yield "sources", sym.maximum(x, 0.25) - sym.ones((2, 3)), {"data": (2, 7)}

    x, y = sym.Variable("x"), sym.Variable("y")
    z = (x + y) * (x - y) / (x % 3 + 1.5) - (-x) ** 2 + (2 ** y > x) * (x == y) + abs(x)
    yield "arithmetic", z, {"x": (2, 3)}

    x = sym.SoftmaxOutput(data, multi_output=True, use_ignore=True, ignore_label=255,
                          normalization="valid", grad_scale=0.5, name="seg")
    yield "loss", sym.Group([x, sym.BlockGrad(data), sym.MakeLoss(sym.square(data), name="l2")]), \
        {"data": (2, 3, 4, 5)}

    x = sym.Convolution(data, num_filter=4, kernel=(3,), num_group=2, dilate=(2,), name="c1")
    yield "convolution1d", sym.Pooling(x, global_pool=True, pool_type="max", name="top"), \
        {"data": (2, 6, 12)}
    x = sym.Convolution(data, num_filter=4, kernel=(1, 3, 3), pad=(0, 1, 1), no_bias=True,
                        workspace=512, cudnn_tune="off", layout="NCDHW", name="c3")
    yield "convolution3d", sym.BatchNorm(x, axis=1, use_global_stats=True, output_mean_var=True,
                                         name="bn3"), {"data": (1, 2, 3, 5, 5)}

    with mx.util.np_shape(True):
        np_net = fc(sym.Variable("data", shape=(-1, 3)), 2, "np_fc")
    yield "np_shape", np_net, {"data": (4, 3)}

    # names that need care in JSON
    yield "names", fc(sym.Variable("ein \"Name\" \\ mit ü/日本"), 2, "fc.with-odd:name"), \
        {"ein \"Name\" \\ mit ü/日本": (1, 3)}
    yield "variable", sym.Variable("alone", shape=(2, 3)), {}


def array(name, shape, dtype):
    """Formula values; integers up to 200 so that they differ."""
    if dtype == "bool":
        ones = golden.bits(fnv1a(name), int(np.prod(shape))) & np.uint64(1)
        return ones.astype(bool).reshape(shape)
    wide = dtype in ("uint8", "int32", "int64")
    lo, hi = (0, 200) if wide else (-100, 100) if dtype == "int8" else (-1, 1)
    return Formula(*shape, lo=lo, hi=hi, dtype=dtype, seed=fnv1a(name)).array()


def nd(name, shape, dtype="float32"):
    return mx.nd.array(array(name, shape, dtype), dtype=dtype)


def old_arrays():
    return [("arg:a", array("a", (2, 3), "float32")), ("arg:b", array("b", (4,), "float64")),
            ("aux:c", array("c", (1, 2, 1, 2), "int32")), ("d", array("d", (3,), "uint8"))]


def params():
    """file name -> function that writes it"""
    kinds = ("float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool")
    every = {"k_" + k: nd(k, (2, 3), k) for k in kinds}
    every["k_bfloat16"] = nd("bfloat16", (2, 3)).astype(BFLOAT16)
    save = lambda arrays: lambda path: mx.nd.save(path, arrays)

    def under_np_shape(arrays):
        def write(path):
            with mx.util.np_shape(True):
                mx.nd.save(path, arrays())
        return write

    checkpoint = {"arg:fc1_weight": nd("w", (4, 5)), "arg:fc1_bias": nd("b", (4,)),
                  "aux:bn_moving_mean": nd("m", (4,)), "aux:bn_moving_var": nd("v", (4,))}
    old = old_arrays()
    return {
        "dict": save(checkpoint), "list": save([nd("l0", (3,)), nd("l1", (2, 2))]),
        "single": save(nd("single", (2, 1, 3))), "dtypes": save(every),
        "ranks": save([nd("r%d" % n, (2,) * n) for n in range(1, 7)]), "none": save([]),
        "v3": under_np_shape(lambda: {
            "scalar": mx.nd.array(np.array(2.5)), "empty": mx.nd.zeros((0, 3)),
            "plain": nd("plain", (2, 3)), "int": nd("int", (2,), "int64")}),
        "v3list": under_np_shape(lambda: [mx.nd.array(np.array(-1.25)), nd("p", (3,))]),
        "v1": lambda path: params_file.write_file(path, old, 1),
        "v1list": lambda path: params_file.write_file(path, [("", a) for _, a in old], 1),
        "v0": lambda path: params_file.write_file(path, old, 0),
        "v0list": lambda path: params_file.write_file(path, [("", a) for _, a in old], 0),
        "gpu": lambda path: params_file.write_file(path, old, 2, device=(2, 3)),
    }


def report_symbol(path, shapes):
    symbol = sym.load(path)
    form = {"arguments": symbol.list_arguments(),
            "auxiliary_states": symbol.list_auxiliary_states(), "outputs": symbol.list_outputs(),
            "internals": symbol.get_internals().list_outputs(), "attrs": symbol.attr_dict()}
    if shapes is not None:
        found = symbol.infer_shape(**{n: tuple(s) for n, s in shapes.items()})
        for key, group in zip(("arg_shapes", "out_shapes", "aux_shapes"), found):
            form[key] = [list(s) for s in group]
    return form


def report_params(path):
    """The bytes of the file; MXNet must load the same names, shapes and values."""
    named, needs_np = params_file.read_file(path)
    with mx.util.np_shape(needs_np):
        loaded = mx.nd.load(path)
        pairs = list(loaded.items()) if isinstance(loaded, dict) else [("", a) for a in loaded]
        assert [n for n, _ in pairs] == [n for n, _ in named], path
        for (_, a), (_, record) in zip(pairs, named):
            assert list(a.shape) == record["shape"], path
            assert a.asnumpy().tobytes() == record["data"], path
    return [params_file.describe(n, r) for n, r in named]


def report(folder):
    with open(os.path.join(folder, "shapes.json")) as f:
        shapes = json.load(f)
    files = sorted(os.listdir(folder))
    path = lambda name: os.path.join(folder, name)
    return {"symbols": {f: report_symbol(path(f), shapes.get(f)) for f in files
                        if f.endswith("-symbol.json")},
            "params": {f: report_params(path(f)) for f in files if f.endswith(".params")}}


def write_beyond(folder):
    """Files whose bytes are the only witness: MXNet 1.9.1 cannot write or not load them."""
    os.makedirs(folder, exist_ok=True)
    path = lambda name: os.path.join(folder, name)
    rows = (array("rows", (2, 3), "float32"), [0, 2])
    sparse = {"rows": mx.nd.sparse.row_sparse_array(rows, shape=(4, 3)),
              "csr": mx.nd.sparse.csr_matrix(np.diag(array("csr", (3,), "float32")))}
    mx.nd.waitall()  # else MXNet writes a storage shape of 0
    mx.nd.save(path("sparse.params"), sparse)
    holes = old_arrays()[:1] + [("hole", None)] + old_arrays()[1:]
    for version in (0, 1, 2):
        params_file.write_file(path("empty_v%d.params" % version), holes, version)
    integers = [(k, np.array([0, 1, 127, 30000], k))
                for k in ("int16", "uint16", "uint32", "uint64")]
    params_file.write_file(path("integers.params"), integers, 2)
    with open(path("record.ndarray"), "wb") as f:
        f.write(bytes(nd("record", (2, 3)).__getstate__()["handle"]))
    files = sorted(f for f in os.listdir(folder) if not f.endswith(".json"))
    found = {f: [params_file.describe(n, r) for n, r in params_file.read_file(path(f))[0]]
             for f in files if f.endswith(".params")}
    with open(path("record.ndarray"), "rb") as f:
        record = params_file.read_record(params_file.Reader(f.read()))
    found["record.ndarray"] = [params_file.describe("", record)]
    with open(path("report.json"), "w") as f:
        json.dump({"params": found}, f, indent=1, sort_keys=True)
        f.write("\n")


def write(folder):
    os.makedirs(folder, exist_ok=True)
    path = lambda name: os.path.join(folder, name)
    shapes = {}
    for name, symbol, known in symbols():
        with mx.util.np_shape(name == "np_shape"):
            symbol.save(path(name + "-symbol.json"))
        shapes[name + "-symbol.json"] = known
    for name, (graph, known) in OLD.items():
        with open(path(name + "-symbol.json"), "w") as f:
            json.dump(graph, f, indent=1)
        shapes[name + "-symbol.json"] = known
    for name, save in params().items():
        save(path(name + ".params"))
    with open(path("shapes.json"), "w") as f:
        json.dump(shapes, f, indent=1, ensure_ascii=False)


def main(verb, folder=None):
    folder = folder or golden.golden_dir("exchange")
    if verb in ("write", "record"):
        write(folder)
    if verb == "record":
        write_beyond(os.path.join(folder, "beyond"))
    out = open(os.path.join(folder, "report.json"), "w") if verb == "record" else sys.stdout
    json.dump(report(folder), out, indent=1, ensure_ascii=False, sort_keys=True)
    out.write("\n")


if __name__ == "__main__":
    with mx.name.NameManager():
        main(*sys.argv[1:])
