"""Asks MXNet's own C predict API, as a C program would, and writes down what it answers.

    PY tools/oracle/record_predict.py     -> tests/golden/predict/

`gap` takes images of any size (convolutions, BatchNorm, Dropout, a global pool), `pair` two inputs, `wide`
float64 numbers. predict.json holds, per case, the inputs by formula, the shapes and types the API gives and
the outputs; also of nodes inside and after MXPredReshape.
"""
import ctypes
import json
import os

from golden import Formula, fnv1a, golden_dir, mx, np, number

LIB = ctypes.CDLL(mx.libinfo.find_lib_path()[0])
LIB.MXGetLastError.restype = ctypes.c_char_p


def ask(status):
    if status != 0:
        raise RuntimeError(LIB.MXGetLastError().decode())


def gap():
    x = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), pad=(1, 1), num_filter=16, name="conv1")
    x = mx.sym.BatchNorm(x, fix_gamma=True, name="bn1")
    x = mx.sym.Activation(x, act_type="relu", name="relu1")
    x = mx.sym.Dropout(x, p=0.5, name="drop1")
    y = mx.sym.Convolution(x, kernel=(3, 3), pad=(1, 1), num_filter=16, no_bias=True, name="conv2")
    x = mx.sym.BatchNorm(x + y, fix_gamma=False, name="bn2")
    x = mx.sym.Pooling(x, global_pool=True, kernel=(1, 1), pool_type="avg", name="pool")
    x = mx.sym.Flatten(x, name="flat")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=5, name="fc"), name="softmax")


def pair():
    left = mx.sym.FullyConnected(mx.sym.Variable("left"), num_hidden=6, name="fc1")
    right = mx.sym.FullyConnected(mx.sym.Variable("right"), num_hidden=6, name="fc2")
    both = mx.sym.Activation(left * right, act_type="tanh", name="both")
    scores = mx.sym.LinearRegressionOutput(mx.sym.FullyConnected(both, num_hidden=2, name="fc3"), name="score")
    return mx.sym.Group([scores, both])


def wide():
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
    x = mx.sym.Activation(x, act_type="sigmoid", name="act1")
    return mx.sym.FullyConnected(x, num_hidden=3, name="fc2")


def parameters(name, net, shapes, dtype):
    """Numbers of the formula; variances are positive."""
    args, _, aux = net.infer_shape(**{one: tuple(shape) for one, shape in shapes.items()})
    saved = {}
    for kind, names, sizes in (("arg", net.list_arguments(), args), ("aux", net.list_auxiliary_states(), aux)):
        for one, shape in zip(names, sizes):
            if one in shapes or one.endswith("label"):
                continue
            lo, hi = (0.5, 1.5) if one.endswith(("var", "gamma")) else (-0.5, 0.5)
            made = Formula(*shape, lo=lo, hi=hi, dtype=dtype, seed=fnv1a(name + "/" + one))
            saved[kind + ":" + one] = mx.nd.array(made.array(), dtype=dtype)
    return saved


class Predictor:
    def __init__(self, handle):
        self.handle = handle

    @staticmethod
    def shapes_of(shapes):
        keys = (ctypes.c_char_p * len(shapes))(*[k.encode() for k in shapes])
        begins, dims = [0], []
        for shape in shapes.values():
            dims += shape
            begins.append(len(dims))
        return (len(shapes), keys, (ctypes.c_uint32 * len(begins))(*begins), (ctypes.c_uint32 * len(dims))(*dims))

    @classmethod
    def create(cls, prefix, shapes, outputs=(), types=None):
        with open(prefix + "-symbol.json", "rb") as f:
            symbol = f.read()
        with open(prefix + "-0000.params", "rb") as f:
            params = f.read()
        handle = ctypes.c_void_p()
        given = (symbol, params, len(params), 1, 0) + cls.shapes_of(shapes)
        if outputs:
            keys = (ctypes.c_char_p * len(outputs))(*[k.encode() for k in outputs])
            ask(LIB.MXPredCreatePartialOut(*given, len(outputs), keys, ctypes.byref(handle)))
        elif types:
            names = (ctypes.c_char_p * len(types))(*[k.encode() for k in types])
            codes = (ctypes.c_int * len(types))(*types.values())
            ask(LIB.MXPredCreateEx(*given, len(types), names, codes, ctypes.byref(handle)))
        else:
            ask(LIB.MXPredCreate(*given, ctypes.byref(handle)))
        return cls(handle)

    def reshape(self, shapes):
        handle = ctypes.c_void_p()
        ask(LIB.MXPredReshape(*self.shapes_of(shapes), self.handle, ctypes.byref(handle)))
        return Predictor(handle)

    def outputs(self, inputs, count):
        for name, array in inputs.items():
            pointer = np.ascontiguousarray(array).ctypes.data_as(ctypes.c_void_p)
            ask(LIB.MXPredSetInput(self.handle, name.encode(), pointer, array.size))
        ask(LIB.MXPredForward(self.handle))
        answers = []
        for i in range(count):
            data, rank = ctypes.POINTER(ctypes.c_uint32)(), ctypes.c_uint32()
            ask(LIB.MXPredGetOutputShape(self.handle, i, ctypes.byref(data), ctypes.byref(rank)))
            shape = [data[k] for k in range(rank.value)]
            codes = (ctypes.c_int * (i + 1))()
            ask(LIB.MXPredGetOutputType(self.handle, i, codes))
            dtype = {0: "float32", 1: "float64"}[codes[i]]
            array = np.zeros(shape, dtype)
            ask(LIB.MXPredGetOutput(self.handle, i, array.ctypes.data_as(ctypes.c_void_p), array.size))
            answers.append({"shape": shape, "dtype": dtype,
                            "values": [number(v) for v in array.ravel()]})
        return answers


def case(net, predictor, shapes, count, dtype="float32", **how):
    inputs, given = {}, {}
    for name, shape in shapes.items():
        made = Formula(*shape, dtype=dtype, seed=fnv1a(net + "/" + name + str(shape)))
        inputs[name], given[name] = made.array(), made.describe()
    return dict(net=net, inputs=given, results=predictor.outputs(inputs, count), **how)


def main():
    folder = golden_dir("predict")
    os.makedirs(folder, exist_ok=True)
    shapes = {"gap": {"data": [1, 3, 8, 8]}, "pair": {"left": [2, 3], "right": [2, 4]}, "wide": {"data": [4, 6]}}
    prefix = {}
    for name, net in (("gap", gap()), ("pair", pair()), ("wide", wide())):
        prefix[name] = os.path.join(folder, name)
        net.save(prefix[name] + "-symbol.json")
        mx.nd.save(prefix[name] + "-0000.params",
                   parameters(name, net, shapes[name], "float64" if name == "wide" else "float32"))
    cases = []
    first = Predictor.create(prefix["gap"], shapes["gap"])
    for shape in ([1, 3, 8, 8], [3, 3, 8, 8], [2, 3, 11, 6], [1, 3, 5, 17]):
        cases.append(case("gap", first.reshape({"data": shape, "softmax_label": shape[:1]}), {"data": shape}, 1))
        inside = ["relu1", "pool", "flat"]
        if shape[0] * shape[2] * shape[3] <= 64:
            cases.append(case("gap", Predictor.create(prefix["gap"], {"data": shape}, inside), {"data": shape},
                              3, outputs=[n + "_output" for n in inside]))
    for rows in (2, 5):
        both = {"left": [rows, 3], "right": [rows, 4]}
        cases.append(case("pair", Predictor.create(prefix["pair"], both), both, 2))
    cases.append(case("wide", Predictor.create(prefix["wide"], shapes["wide"], types={"data": 1}), shapes["wide"],
                      1, "float64"))
    with open(os.path.join(folder, "predict.json"), "w") as f:
        f.write('{"mxnet": "%s", "cases": [\n' % mx.__version__)
        f.write(",\n".join(json.dumps(c) for c in cases) + "\n]}\n")
    print(len(cases), "cases")


if __name__ == "__main__":
    main()
