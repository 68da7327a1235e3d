"""Converts a symbol's JSON to an ONNX model (opset 17): one row of OPERATORS for each operator.

Shapes are fixed, as bound. A symbol with an operator that has no row has no twin.
"""
import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from . import symbol_json
from .lstm_weights import lstm_weights

OPSET = 17
OPERATORS = {}


class NoTwin(Exception):
    """An operator, or a use of it, has no counterpart here."""


def row(*names):
    def add(function):
        OPERATORS.update({name: function for name in names})
        return function
    return add


class Builder:
    """Collects ONNX nodes. Values are names; `weights` are the arrays of variables."""

    def __init__(self, graph, weights, inputs, dtype):
        self.graph, self.weights, self.inputs = graph, weights, inputs
        self.dtype = dtype  # of parameters
        self.nodes, self.constants, self.names = [], {}, {}
        self.current = None     # the symbol's node that is being converted

    def add(self, op, *inputs, outputs=1, **attributes):
        # ONNX Runtime's profile shows the names of outputs.
        name = "%s/%s%d" % (self.current.name, op, len(self.nodes))
        made = ["%s_%d" % (name, i) for i in range(outputs)]
        self.nodes.append(helper.make_node(op, list(inputs), made, name=name, **attributes))
        return made[0] if outputs == 1 else made

    def constant(self, array):
        array = np.asarray(array)
        name = "c%d" % len(self.constants)
        self.constants[name] = array
        return name

    def weight_of(self, node, index):
        """The array of a node's input, which must be a parameter."""
        variable = self.graph.all[node.inputs[index][0]]
        if variable.op != "null" or variable.name not in self.weights:
            raise NoTwin("%s '%s' whose input %d is no parameter" % (node.op, node.name, index))
        return self.weights[variable.name]

    def convert(self):
        for node in self.graph.nodes:
            self.current = node
            if node.op == "null":
                if node.name in self.inputs:
                    self.names[node.id, 0] = node.name
                elif node.name in self.weights:
                    self.constants[node.name] = self.weights[node.name].astype(self.dtype)
                    self.names[node.id, 0] = node.name
                continue
            if node.op not in OPERATORS:
                raise NoTwin("operator %s has no ONNX row" % node.op)
            inputs = [self.names.get(edge) for edge in node.inputs]
            outputs = OPERATORS[node.op](self, node, inputs)
            outputs = [outputs] if isinstance(outputs, str) else outputs
            self.names.update({(node.id, i): name for i, name in enumerate(outputs)})


def shape_of(b, node, index=0):
    source, output = node.inputs[index]
    return b.graph.all[source].shapes[output]


@row("Convolution")
def convolution(b, n, x):
    axes = len(n.attrs.value("kernel"))
    pad = n.attrs.window("pad", axes, 0)
    return b.add("Conv", *[i for i in x if i], kernel_shape=n.attrs.value("kernel"), pads=pad + pad,
                 strides=n.attrs.window("stride", axes, 1), dilations=n.attrs.window("dilate", axes, 1),
                 group=n.attrs.value("num_group", 1))


@row("FullyConnected")
def fully_connected(b, n, x):
    data, axes = x[0], len(shape_of(b, n))
    if n.attrs.flag("flatten", True):
        data = b.add("Flatten", data, axis=1) if axes > 2 else data
        return b.add("Gemm", data, *x[1:], transB=1)
    y = b.add("MatMul", data, b.constant(b.weight_of(n, 1).T.astype(b.dtype)))
    return b.add("Add", y, x[2]) if len(x) > 2 else y


@row("Activation")
def activation(b, n, x):
    ops = {"relu": "Relu", "sigmoid": "Sigmoid", "tanh": "Tanh", "softrelu": "Softplus", "softsign": "Softsign"}
    return b.add(ops[n.attrs["act_type"]], x[0])


@row("LeakyReLU")
def leaky_relu(b, n, x):
    kind, slope = n.attrs.get("act_type", "leaky"), n.attrs.value("slope", 0.25)
    if kind == "prelu":
        axes = len(n.shapes[0])
        gamma = b.weight_of(n, 1).reshape((-1,) + (1,) * (axes - 2))
        return b.add("PRelu", x[0], b.constant(gamma.astype(b.dtype)))
    if kind in ("leaky", "elu"):
        return b.add({"leaky": "LeakyRelu", "elu": "Elu"}[kind], x[0], alpha=slope)
    raise NoTwin("LeakyReLU " + kind)


@row("BatchNorm")
def batch_norm(b, n, x):
    scale = b.weight_of(n, 1)
    if n.attrs.flag("fix_gamma", True):
        scale = np.ones_like(scale)
    return b.add("BatchNormalization", x[0], b.constant(scale.astype(b.dtype)), *x[2:5],
                 epsilon=n.attrs.value("eps", 1e-3))


@row("Pooling")
def pooling(b, n, x):
    kind, a = n.attrs.get("pool_type", "max"), n.attrs
    if a.flag("global_pool", False):
        return b.add({"max": "GlobalMaxPool", "avg": "GlobalAveragePool"}[kind], x[0])
    axes = len(a.value("kernel"))
    pad = a.window("pad", axes, 0)
    options = {"count_include_pad": int(a.flag("count_include_pad", True))} if kind == "avg" else {}
    if a.get("pooling_convention", "valid") != "valid":
        options["ceil_mode"] = 1
    return b.add({"max": "MaxPool", "avg": "AveragePool"}[kind], x[0], kernel_shape=a.value("kernel"), pads=pad + pad,
                 strides=a.window("stride", axes, 1), **options)


@row("Concat")
def concat(b, n, x):
    return b.add("Concat", *x, axis=n.attrs.value("dim", 1))


@row("Flatten")
def flatten(b, n, x):
    return b.add("Flatten", x[0], axis=1)


@row("Reshape", "expand_dims")
def reshape(b, n, x):
    return b.add("Reshape", x[0], b.constant(np.array(n.shapes[0], "int64")))


@row("transpose")
def transpose(b, n, x):
    return b.add("Transpose", x[0], perm=n.attrs.value("axes"))


@row("SwapAxis")
def swap_axis(b, n, x):
    order = list(range(len(n.shapes[0])))
    first, second = n.attrs.value("dim1", 0), n.attrs.value("dim2", 0)
    order[first], order[second] = order[second], order[first]
    return b.add("Transpose", x[0], perm=order)


@row("Dropout", "BlockGrad", "identity", "_copy", "LinearRegressionOutput")
def identity(b, n, x):
    return b.add("Identity", x[0])


@row("Cast")
def cast(b, n, x):
    types = {"float16": TensorProto.FLOAT16, "float32": TensorProto.FLOAT, "int32": TensorProto.INT32}
    return b.add("Cast", x[0], to=types[n.attrs["dtype"]])


def binary(op):
    return lambda b, n, x: b.add(op, *x)


def with_scalar(op, scalar_first=False):
    def convert(b, n, x):
        operands = [x[0], b.constant(np.array(n.attrs.value("scalar"), b.dtype))]
        return b.add(op, *(operands[::-1] if scalar_first else operands))
    return convert


for _name, _op in (("add", "Add"), ("sub", "Sub"), ("mul", "Mul"), ("div", "Div")):
    row("elemwise_" + _name, "broadcast_" + _name)(binary(_op))
for _name, _op in (("plus", "Add"), ("minus", "Sub"), ("mul", "Mul"), ("div", "Div")):
    row("_%s_scalar" % _name)(with_scalar(_op))
row("_rminus_scalar")(with_scalar("Sub", scalar_first=True))
row("_plus", "_Plus")(binary("Add"))
row("add_n")(binary("Sum"))


@row("clip")
def clip(b, n, x):
    limits = [b.constant(np.array(n.attrs.value(name), b.dtype)) for name in ("a_min", "a_max")]
    return b.add("Clip", x[0], *limits)


@row("SoftmaxOutput")
def softmax_output(b, n, x):
    return b.add("Softmax", x[0], axis=1)


@row("softmax")
def softmax(b, n, x):
    return b.add("Softmax", x[0], axis=n.attrs.value("axis", -1))


@row("SoftmaxActivation")
def softmax_activation(b, n, x):
    if n.attrs.get("mode", "instance") != "channel" and len(n.shapes[0]) > 2:
        raise NoTwin("SoftmaxActivation over several axes")
    return b.add("Softmax", x[0], axis=1)


@row("L2Normalization")
def l2_normalization(b, n, x):
    if n.attrs.get("mode") != "channel":
        raise NoTwin("L2Normalization of mode " + n.attrs.get("mode", "instance"))
    return b.add("LpNormalization", x[0], axis=1, p=2)


@row("Embedding")
def embedding(b, n, x):
    return b.add("Gather", x[1], b.add("Cast", x[0], to=TensorProto.INT64))


@row("SliceChannel")
def slice_channel(b, n, x):
    count, axis = n.attrs.value("num_outputs"), n.attrs.value("axis", 1)
    size = shape_of(b, n)[axis] // count
    parts = b.add("Split", x[0], b.constant(np.full(count, size, "int64")), outputs=count, axis=axis)
    if n.attrs.flag("squeeze_axis", False):
        parts = [b.add("Squeeze", part, b.constant(np.array([axis], "int64"))) for part in parts]
    return parts


@row("slice_axis")
def slice_axis(b, n, x):
    axis = n.attrs.value("axis")
    begin, end = n.attrs.value("begin"), n.attrs.value("end")
    end = shape_of(b, n)[axis] if end in (None, "None") else end
    return b.add("Slice", x[0], *[b.constant(np.array([v], "int64")) for v in (begin, end, axis)])


@row("batch_dot")
def batch_dot(b, n, x):
    sides = [b.add("Transpose", side, perm=[0, 2, 1]) if n.attrs.flag(name, False) else side
             for side, name in zip(x, ("transpose_a", "transpose_b"))]
    return b.add("MatMul", *sides)


@row("topk")
def topk(b, n, x):
    if n.attrs.get("ret_typ", "indices") != "indices":
        raise NoTwin("topk that returns " + n.attrs["ret_typ"])
    _, index = b.add("TopK", x[0], b.constant(np.array([n.attrs.value("k")], "int64")), outputs=2,
                     axis=n.attrs.value("axis"), largest=int(not n.attrs.flag("is_ascend", False)))
    return b.add("Cast", index, to=TensorProto.FLOAT)


@row("gather_nd")
def gather_nd(b, n, x):
    axes = len(shape_of(b, n, 1))
    index = b.add("Transpose", x[1], perm=list(range(1, axes)) + [0])
    return b.add("GatherND", x[0], b.add("Cast", index, to=TensorProto.INT64))


@row("stack")
def stack(b, n, x):
    axis = b.constant(np.array([n.attrs.value("axis", 0)], "int64"))
    return b.add("Concat", *[b.add("Unsqueeze", part, axis) for part in x], axis=n.attrs.value("axis", 0))


@row("_arange")
def arange(b, n, x):
    return b.constant(np.arange(n.shapes[0][0], dtype="float32") * n.attrs.value("step", 1.0))


@row("_zeros")
def zeros(b, n, x):
    return b.constant(np.zeros(n.shapes[0], b.dtype))


@row("broadcast_to", "broadcast_axis")
def expand(b, n, x):
    return b.add("Expand", x[0], b.constant(np.array(n.shapes[0], "int64")))


def reduction(op):
    def convert(b, n, x):
        axis = n.attrs.value("axis")
        axes = [axis] if isinstance(axis, int) else list(axis)
        keep = int(n.attrs.flag("keepdims", False))
        if op == "ReduceSum":
            return b.add(op, x[0], b.constant(np.array(axes, "int64")), keepdims=keep)
        return b.add(op, x[0], axes=axes, keepdims=keep)
    return convert


for _name, _op in (("sum", "ReduceSum"), ("mean", "ReduceMean"), ("max", "ReduceMax")):
    row(_name)(reduction(_op))


@row("RNN")
def rnn(b, n, x):
    if n.attrs["mode"] != "lstm" or n.attrs.flag("state_outputs", False):
        raise NoTwin("RNN of mode %s, or with states as outputs" % n.attrs["mode"])
    state, layers = n.attrs.value("state_size"), n.attrs.value("num_layers")
    directions = 2 if n.attrs.flag("bidirectional", False) else 1
    length, batch, inputs = shape_of(b, n)
    weights = lstm_weights(b.weight_of(n, 1), inputs, state, layers, directions)

    def reordered(array):  # MXNet's gates are i, f, c, o; ONNX has i, o, f, c
        i, f, c, o = np.split(array, 4)
        return np.concatenate([i, o, f, c])

    y = x[0]
    for layer in range(layers):
        own = weights[layer * directions:(layer + 1) * directions]
        arrays = [np.stack([reordered(w[k]) for w in own]) for k in (0, 1)]
        arrays.append(np.stack([np.concatenate([reordered(w[2]), reordered(w[3])]) for w in own]))
        y = b.add("LSTM", y, *[b.constant(a) for a in arrays], outputs=3, hidden_size=state,
                  direction="bidirectional" if directions == 2 else "forward")[0]     # (T, directions, N, H)
        y = b.add("Transpose", y, perm=[0, 2, 1, 3])
        y = b.add("Reshape", y, b.constant(np.array([length, batch, directions * state], "int64")))
    return y


def convert(part_file, weights, inputs, dtype="float32"):
    """The ONNX model as bytes. `inputs`: {name: array}."""
    graph = symbol_json.Graph(part_file)
    b = Builder(graph, weights, inputs, dtype)
    b.convert()
    used = {name for node in b.nodes for name in node.input}
    data = [helper.make_tensor_value_info(name, TensorProto.FLOAT, array.shape) for name, array in inputs.items()
            if name in used]
    outputs = [helper.make_tensor_value_info(b.names[head], TensorProto.FLOAT, graph.all[head[0]].shapes[head[1]])
               for head in graph.heads]
    constants = [numpy_helper.from_array(array, name) for name, array in b.constants.items() if name in used]
    made = helper.make_graph(b.nodes, "symbol", data, outputs, constants)
    model = helper.make_model(made, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
    onnx.checker.check_model(model)
    return model.SerializeToString()
