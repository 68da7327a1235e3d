"""A symbol as a table (print_summary), as a Graphviz drawing (plot_network), and how it runs (explain).

The text of the first two is MXNet's, byte for byte, oddities included: what it counts as parameters and which inputs
it shows depend on rules spelled out below.
"""
import json
import re
import warnings

from . import error
from .context import current_context
from .symbol import Symbol

_HEADINGS = ('Layer (type)', 'Output Shape', 'Param #', 'Previous Layer')

_COLOURS = ("#8dd3c7", "#fb8072", "#ffffb3", "#bebada", "#80b1d3", "#fdb462", "#b3de69", "#fccde5")
_COLOUR_OF_OP = {
    "null": 0, "Convolution": 1, "FullyConnected": 1, "Activation": 2, "LeakyReLU": 2,
    "BatchNorm": 3, "Pooling": 4, "Concat": 5, "Flatten": 5, "Reshape": 5, "Softmax": 6}
_OTHER_COLOUR = 7

_WEIGHT_ENDINGS = ('_weight', '_bias', '_beta', '_gamma', '_moving_var', '_moving_mean',
                   '_running_var', '_running_mean')


def _numbers(text):
    """The numbers of a tuple's text, as strings: ['3', '3'] for '(3, 3)'."""
    return re.findall(r"\d+", text)


def _join(shape):
    return "x".join(str(size) for size in shape)


def _infer(symbol, infer, given, what):
    """The inferred `what` of every internal output, by output name."""
    internals = symbol.get_internals()
    _, inferred, _ = getattr(internals, infer)(**given)
    if inferred is None:
        raise ValueError("Input %s is incomplete" % what)
    return dict(zip(internals.list_outputs(), inferred))


def _output_name(node):
    return node["name"] if node["op"] == "null" else node["name"] + "_output"


def _count_parameters(node, channels, shapes):
    """Parameters of a layer whose shown inputs have `channels` channels together."""
    op, attrs = node["op"], node.get("attrs", {})
    has_bias = attrs.get("no_bias") != 'True'
    if op == 'Convolution':
        filters = int(attrs["num_filter"])
        count = channels * filters // int(attrs.get('num_group', '1'))
        for size in _numbers(attrs["kernel"]):
            count *= int(size)
        return count + filters * has_bias
    if op == 'FullyConnected':
        return (channels + has_bias) * int(attrs["num_hidden"])
    if op == 'BatchNorm':
        return 2 * int(shapes[_output_name(node)][1]) if shapes else 0
    if op == 'Embedding':
        return int(attrs['input_dim']) * int(attrs['output_dim'])
    return 0


def print_summary(symbol, shape=None, line_length=120, positions=(.44, .64, .74, 1.)):
    """Prints a table of the layers with output shapes, parameter counts and previous layers.

    `shape` maps input names to shapes; without it shapes stay empty and counts that depend on them
    come out too small. `positions` are the ends of the columns, in characters, or in shares of
    `line_length`.
    """
    if not isinstance(symbol, Symbol):
        raise TypeError("symbol must be Symbol")
    shapes = {} if shape is None else _infer(symbol, "infer_shape", shape, "shape")
    graph = json.loads(symbol.tojson())
    nodes = graph["nodes"]
    # MXNet takes all three numbers of the first head, [node, output, version], for nodes. Node 0 is
    # thereby always one of them: the input is shown and its channels counted.
    heads = set(graph["heads"][0])
    if positions[-1] <= 1:
        positions = [int(line_length * position) for position in positions]

    def print_row(*fields):
        line = ''
        for field, position in zip(fields, positions):
            line = (line + str(field))[:position].ljust(position)
        print(line)

    def print_layer(node, out_shape):
        inputs = [nodes[entry[0]] for entry in node["inputs"]
                  if nodes[entry[0]]["op"] != "null" or entry[0] in heads]
        channels = sum(int(shapes[_output_name(each)][1]) for each in inputs
                       if _output_name(each) in shapes)
        count = _count_parameters(node, channels, shapes)
        previous = [each["name"] for each in inputs] or ['']
        print_row('%s(%s)' % (node["name"], node["op"]), _join(out_shape), count, previous[0])
        for name in previous[1:]:
            print_row('', '', '', name)
        return count

    print('_' * line_length)
    print_row(*_HEADINGS)
    print('=' * line_length)
    total = 0
    for i, node in enumerate(nodes):
        if node["op"] == "null" and i > 0:
            continue
        shown = node["op"] != "null" or i in heads
        out_shape = shapes.get(_output_name(node), ())[1:] if shown else ()
        total += print_layer(node, out_shape)
        print(('=' if i == len(nodes) - 1 else '_') * line_length)
    print("Total params: {}".format(total))
    print('_' * line_length)


def _node_label(node):
    """What the drawing writes into the box of an operator or variable."""
    op, attrs = node["op"], node.get("attrs", {})

    def sizes(key, absent):
        return "x".join(_numbers(attrs[key])) if key in attrs else absent

    if op == "Convolution":
        return "Convolution\n{}/{}, {}".format(
            sizes("kernel", ""), sizes("stride", "1"), attrs["num_filter"])
    if op == "FullyConnected":
        return "FullyConnected\n" + attrs["num_hidden"]
    if op == "Activation":
        return "Activation\n" + attrs["act_type"]
    if op == "LeakyReLU":
        return "LeakyReLU\n" + attrs.get("act_type", "Leaky")
    if op == "Pooling":
        return "Pooling\n{}, {}/{}".format(
            attrs["pool_type"], sizes("kernel", "[]"), sizes("stride", "1"))
    if op == "Custom":
        return attrs["op_type"]
    return node["name"]


def _warn_of_repeated_names(nodes):
    names = [node["name"] for node in nodes]
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if repeated:
        warnings.warn("There are multiple variables with the same name in your graph, this may "
                      "result in cyclic graph. Repeated names: " + ','.join(repeated),
                      RuntimeWarning, stacklevel=3)


def plot_network(symbol, title="plot", save_format='pdf', shape=None, dtype=None, node_attrs=None,
                 hide_weights=True):
    """A graphviz.Digraph of the network; needs the Python package graphviz.

    `shape` and `dtype` map input names to shapes and types, and put those on the edges;
    `node_attrs` are Graphviz attributes for every node. Variables named like weights are left out
    if `hide_weights`. A name used twice is warned of: the drawing joins the two nodes.
    """
    try:
        from graphviz import Digraph
    except ImportError:
        raise ImportError("Draw network requires graphviz library") from None
    if not isinstance(symbol, Symbol):
        raise TypeError("symbol must be a Symbol")
    shapes = None if shape is None else _infer(symbol, "infer_shape", shape, "shape")
    dtypes = None if dtype is None else _infer(symbol, "infer_type", dtype, "type")
    nodes = json.loads(symbol.tojson())["nodes"]
    _warn_of_repeated_names(nodes)

    style = {"shape": "box", "fixedsize": "true", "width": "1.3", "height": "0.8034",
             "style": "filled", **(node_attrs or {})}
    drawing = Digraph(name=title, format=save_format)
    hidden = set()
    for node in nodes:
        op, name = node["op"], node["name"]
        if op == "null" and name.endswith(_WEIGHT_ENDINGS):
            # Shown weights are drawn by their edges alone, as plain ovals.
            if hide_weights:
                hidden.add(name)
            continue
        colour = _COLOURS[_COLOUR_OF_OP.get(op, _OTHER_COLOUR)]
        oval = {"shape": "oval"} if op == "null" else {}
        drawing.node(name=name, label=_node_label(node), **{**style, **oval, "fillcolor": colour})

    def edge_label(source, output):
        key = _output_name(source)
        if source["op"] != "null" and "num_outputs" in source.get("attrs", {}):
            key += str(int(source["attrs"]["num_outputs"]) - 1)
        elif key not in (shapes or dtypes or {key}):
            key += str(output)  # of several, where MXNet finds none
        label = "" if shapes is None else _join(shapes[key][1:])
        return label if dtypes is None else label + '(%s)' % dtypes[key].__name__

    for node in nodes:
        inputs = node["inputs"][:1] if node["op"] == '_contrib_BilinearResize2D' else node["inputs"]
        for entry in inputs:
            source = nodes[entry[0]]
            if source["name"] not in hidden:
                drawing.edge(tail_name=node["name"], head_name=source["name"], dir="back",
                             arrowtail="open", label=edge_label(source, entry[1]))
    return drawing


def explain(network, filename=None, format=None, title=None, shape=None, ctx=None,
            for_training=False):
    """How a network runs, as one page of HTML, as JSON or as text: see Executor.explain.

    `network` is an executor, a module that is bound, or a symbol; a symbol is bound for this, with
    the input shapes in `shape`, on `ctx`, with gradients if `for_training`.
    """
    if isinstance(network, Symbol):
        if not shape:
            raise error.ValueError("to explain a symbol its input shapes are needed: shape={'%s': ...}"
                                   % network.list_arguments()[0])
        network = network.simple_bind(ctx or current_context(),
                                      grad_req="write" if for_training else "null", **shape)
    if not hasattr(network, "explain"):
        raise error.TypeError("explain takes an executor, a bound module or a symbol, not %s"
                              % type(network).__name__)
    return network.explain(filename, format, title)
