"""Converts a symbol's JSON to a PyTorch module: one row of OPERATORS for each operator.

A row gives a Python expression; the module's forward is one line per node, so that PyTorch's compiler sees plain code.
Shapes are fixed, as bound. A symbol with an operator that has no row has no twin.
"""
import numpy as np
import torch
from torch.nn import functional as F

from . import heads, symbol_json
from .lstm_weights import lstm_weights

OPERATORS = {}


class NoTwin(Exception):
    """An operator, or a use of it, has no counterpart here."""


def row(*names):
    def add(function):
        OPERATORS.update({name: function for name in names})
        return function
    return add


@row("Convolution")
def convolution(t, n, x):
    axes = len(n.attrs.value("kernel"))
    bias = x[2] if len(x) > 2 else "None"
    return "F.conv%dd(%s, %s, %s, %s, %s, %s, %d)" % (
        axes, x[0], x[1], bias, n.attrs.window("stride", axes, 1), n.attrs.window("pad", axes, 0),
        n.attrs.window("dilate", axes, 1), n.attrs.value("num_group", 1))


@row("FullyConnected")
def fully_connected(t, n, x):
    data = x[0]
    if n.attrs.flag("flatten", True) and len(t.shape(n)) > 2:
        data += ".flatten(1)"
    return "F.linear(%s, %s, %s)" % (data, x[1], x[2] if len(x) > 2 else "None")


@row("Activation")
def activation(t, n, x):
    return {"relu": "F.relu(%s)", "sigmoid": "torch.sigmoid(%s)", "tanh": "torch.tanh(%s)",
            "softrelu": "F.softplus(%s)", "softsign": "F.softsign(%s)"}[n.attrs["act_type"]] % x[0]


@row("LeakyReLU")
def leaky_relu(t, n, x):
    kind, slope = n.attrs.get("act_type", "leaky"), n.attrs.value("slope", 0.25)
    if kind == "prelu":
        return "F.prelu(%s, %s)" % (x[0], x[1])
    if kind in ("leaky", "elu"):
        return "F.%s(%s, %r)" % ({"leaky": "leaky_relu", "elu": "elu"}[kind], x[0], slope)
    raise NoTwin("LeakyReLU " + kind)


@row("BatchNorm")
def batch_norm(t, n, x):
    use_batch = "False" if n.attrs.flag("use_global_stats", False) else "self.training"
    return "F.batch_norm(%s, %s, %s, %s, %s, %s, %r, %r)" % (
        x[0], x[3], x[4], x[1], x[2], use_batch, 1 - n.attrs.value("momentum", 0.9), n.attrs.value("eps", 1e-3))


@row("Pooling")
def pooling(t, n, x):
    kind, a = n.attrs.get("pool_type", "max"), n.attrs
    axes = len(t.shape(n)) - 2
    if a.flag("global_pool", False):
        return "%s.%s(%s, keepdim=True)" % (x[0], {"max": "amax", "avg": "mean"}[kind], tuple(range(2, 2 + axes)))
    options = "%s, %s, %s" % (a.value("kernel"), a.window("stride", axes, 1), a.window("pad", axes, 0))
    ceil = a.get("pooling_convention", "valid") != "valid"
    if kind == "avg":
        return "F.avg_pool%dd(%s, %s, %s, %s)" % (axes, x[0], options, ceil, a.flag("count_include_pad", True))
    return "F.max_pool%dd(%s, %s, 1, %s)" % (axes, x[0], options, ceil)


@row("Concat")
def concat(t, n, x):
    return "torch.cat([%s], %d)" % (", ".join(x), n.attrs.value("dim", 1))


@row("Reshape", "Flatten", "expand_dims")
def reshape(t, n, x):
    return "%s.reshape(%s)" % (x[0], n.shapes[0])


@row("transpose")
def transpose(t, n, x):
    return "%s.permute(%s)" % (x[0], n.attrs.value("axes"))


@row("SwapAxis")
def swap_axis(t, n, x):
    return "%s.transpose(%d, %d)" % (x[0], n.attrs.value("dim1", 0), n.attrs.value("dim2", 0))


@row("Dropout", "identity", "_copy")
def identity(t, n, x):
    return x[0]


@row("BlockGrad")
def block_gradient(t, n, x):
    return x[0] + ".detach()"


@row("Cast")
def cast(t, n, x):
    return "%s.to(torch.%s)" % (x[0], n.attrs["dtype"])


def pattern(text):
    return lambda t, n, x: text % tuple(x)


def with_scalar(text):
    return lambda t, n, x: text % (x[0], n.attrs.value("scalar"))


for _name, _sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("div", "/")):
    row("elemwise_" + _name, "broadcast_" + _name)(pattern("%%s %s %%s" % _sign))
for _name, _sign in (("plus", "+"), ("minus", "-"), ("mul", "*"), ("div", "/")):
    row("_%s_scalar" % _name)(with_scalar("%%s %s %%r" % _sign))
row("_rminus_scalar")(lambda t, n, x: "%r - %s" % (n.attrs.value("scalar"), x[0]))
row("_plus", "_Plus")(pattern("%s + %s"))
row("add_n")(lambda t, n, x: " + ".join(x))


@row("clip")
def clip(t, n, x):
    return "torch.clamp(%s, %r, %r)" % (x[0], n.attrs.value("a_min"), n.attrs.value("a_max"))


@row("SoftmaxOutput")
def softmax_output(t, n, x):
    return x[0] if t.train else "torch.softmax(%s, 1)" % x[0]


@row("LinearRegressionOutput")
def linear_regression_output(t, n, x):
    return x[0]


@row("softmax")
def softmax(t, n, x):
    return "torch.softmax(%s, %d)" % (x[0], n.attrs.value("axis", -1))


@row("SoftmaxActivation")
def softmax_activation(t, n, x):
    if n.attrs.get("mode", "instance") != "channel" and len(n.shapes[0]) > 2:
        raise NoTwin("SoftmaxActivation over several axes")
    return "torch.softmax(%s, 1)" % x[0]


@row("L2Normalization")
def l2_normalization(t, n, x):
    if n.attrs.get("mode") != "channel":
        raise NoTwin("L2Normalization of mode " + n.attrs.get("mode", "instance"))
    return "F.normalize(%s, dim=1)" % x[0]


@row("Embedding")
def embedding(t, n, x):
    return "F.embedding(%s.long(), %s)" % (x[0], x[1])


@row("SliceChannel")
def slice_channel(t, n, x):
    count, axis = n.attrs.value("num_outputs"), n.attrs.value("axis", 1)
    if n.attrs.flag("squeeze_axis", False):
        return "torch.unbind(%s, %d)" % (x[0], axis)
    return "torch.chunk(%s, %d, %d)" % (x[0], count, axis)


@row("slice_axis")
def slice_axis(t, n, x):
    axis, begin, end = (n.attrs.value(name) for name in ("axis", "begin", "end"))
    end = t.shape(n)[axis] if end in (None, "None") else end
    return "%s.narrow(%d, %d, %d)" % (x[0], axis, begin, end - begin)


@row("batch_dot")
def batch_dot(t, n, x):
    sides = [side + ".transpose(1, 2)" if n.attrs.flag(name, False) else side
             for side, name in zip(x, ("transpose_a", "transpose_b"))]
    return "torch.bmm(%s, %s)" % tuple(sides)


@row("topk")
def topk(t, n, x):
    if n.attrs.get("ret_typ", "indices") != "indices":
        raise NoTwin("topk that returns " + n.attrs["ret_typ"])
    return "torch.topk(%s, %d, %d, %s)[1].float()" % (x[0], n.attrs.value("k"), n.attrs.value("axis"),
                                                      not n.attrs.flag("is_ascend", False))


@row("gather_nd")
def gather_nd(t, n, x):
    return "%s[tuple(%s.long())]" % (x[0], x[1])


@row("stack")
def stack(t, n, x):
    return "torch.stack([%s], %d)" % (", ".join(x), n.attrs.value("axis", 0))


@row("_arange")
def arange(t, n, x):
    return t.constant(np.arange(n.shapes[0][0], dtype="float32") * n.attrs.value("step", 1.0))


@row("_zeros")
def zeros(t, n, x):
    return t.constant(np.zeros(n.shapes[0], "float32"))


@row("broadcast_to", "broadcast_axis")
def expand(t, n, x):
    return "%s.expand(%s)" % (x[0], n.shapes[0])


def reduction(name):
    def convert(t, n, x):
        return "%s.%s(%r, keepdim=%s)" % (x[0], name, n.attrs.value("axis"), n.attrs.flag("keepdims", False))
    return convert


for _name, _function in (("sum", "sum"), ("mean", "mean"), ("max", "amax")):
    row(_name)(reduction(_function))


@row("RNN")
def rnn(t, n, x):
    if n.attrs["mode"] != "lstm" or n.attrs.flag("state_outputs", False):
        raise NoTwin("RNN of mode %s, or with states as outputs" % n.attrs["mode"])
    directions = 2 if n.attrs.flag("bidirectional", False) else 1
    layers = n.attrs.value("num_layers")
    variable = t.graph.all[n.inputs[1][0]]
    weights = [t.parameter("%s_%d" % (variable.name, i), array) for i, array in enumerate(
        array for group in lstm_weights(t.weights[variable.name], t.shape(n)[2], n.attrs.value("state_size"), layers,
                                        directions) for array in group)]
    return "torch.lstm(%s, (%s, %s), [%s], True, %d, 0.0, self.training, %s, False)[0]" % (
        x[0], x[2], x[3], ", ".join(weights), layers, directions == 2)


class Twin(torch.nn.Module):
    """The network. forward(inputs in order) gives the heads; SoftmaxOutput's are scores in training.

    `shared` maps names to the parameters that parts of a problem have in common."""

    def __init__(self, part_file, weights, input_names, train, shared):
        super().__init__()
        self.graph = symbol_json.Graph(part_file)
        source = Builder(self, weights, train, shared).source(input_names)
        space = {"torch": torch, "F": F}
        exec(compile(source, "<symbol>", "exec"), space)
        self.forward = space["forward"].__get__(self)
        self.train(train)


class Builder:
    """Writes the source of a Twin's forward and gives the Twin its parameters; rows call its methods."""

    def __init__(self, twin, weights, train, shared):
        self.twin, self.graph = twin, twin.graph
        self.weights, self.train, self.shared = weights, train, shared
        self.lines = []

    def shape(self, node, index=0):
        source, output = node.inputs[index]
        return self.graph.all[source].shapes[output]

    def constant(self, array):
        name = "constant%d" % len(self.lines)
        self.twin.register_buffer(name, torch.from_numpy(np.array(array)))
        return "self." + name

    def parameter(self, name, array, requires_grad=True):
        if name not in self.shared:
            self.shared[name] = torch.nn.Parameter(torch.from_numpy(np.array(array)), requires_grad)
        self.twin.register_parameter(name, self.shared[name])
        return "self." + name

    def state(self, name, array):
        """One of BatchNorm's moving statistics."""
        if name not in self.shared:
            self.shared[name] = torch.from_numpy(np.array(array))
        self.twin.register_buffer(name, self.shared[name])
        return "self." + name

    def variables(self, input_names):
        """{(node, 0): expression} of inputs and parameters. An RNN unpacks its parameter itself."""
        fixed = self.graph.fixed_gammas()
        states = {self.graph.all[i].name for n in self.graph.nodes if n.op == "BatchNorm" for i, _ in n.inputs[3:5]}
        packed = {self.graph.all[n.inputs[1][0]].name for n in self.graph.nodes if n.op == "RNN"}
        names = {}
        for node in self.graph.nodes:
            if node.op != "null" or node.name in packed:
                continue
            if node.name in input_names:
                names[node.id, 0] = node.name
            elif node.name in states:
                names[node.id, 0] = self.state(node.name, self.weights[node.name])
            elif node.name in fixed:
                names[node.id, 0] = self.parameter(node.name, np.ones_like(self.weights[node.name]), False)
            else:
                names[node.id, 0] = self.parameter(node.name, self.weights[node.name])
        return names

    def source(self, input_names):
        names = self.variables(input_names)
        for node in self.graph.nodes:
            if node.op == "null":
                continue
            if node.op not in OPERATORS:
                raise NoTwin("operator %s has no PyTorch row" % node.op)
            text = OPERATORS[node.op](self, node, [names.get(edge) for edge in node.inputs])
            self.lines.append("v%d = %s" % (node.id, text))
            if node.op == "SliceChannel":
                names.update({(node.id, i): "v%d[%d]" % (node.id, i) for i in range(len(node.shapes))})
            else:
                names[node.id, 0] = "v%d" % node.id
        return "def forward(self, %s):\n    %s\n    return (%s,)\n" % (
            ", ".join(input_names), "\n    ".join(self.lines), ", ".join(names[head] for head in self.graph.heads))


def losses_of(graph, arrays):
    """A function from the heads of a training to the loss, before the division by the batch size."""
    parts = []
    for node, _ in graph.heads:
        name, path = graph.label_path(node)
        labels = heads.apply_label_path(path, arrays[name], np.reshape, np.swapaxes)
        is_softmax = graph.all[node].op == "SoftmaxOutput"
        value = torch.from_numpy(np.ascontiguousarray(labels))
        parts.append((is_softmax, value.long() if is_softmax else value))

    def loss(outputs):
        total = 0.0
        for (is_softmax, labels), output in zip(parts, outputs):
            if is_softmax:
                total = total + F.cross_entropy(output, labels, reduction="sum")
            else:
                total = total + 0.5 * len(labels) / labels.numel() * F.mse_loss(output, labels, reduction="sum")
        return total
    return loss
