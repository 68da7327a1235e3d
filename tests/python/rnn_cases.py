"""What tools/oracle/record_rnn.py runs under MXNet, and test_rnn_cells.py under Symbind: cells, how
they are unrolled, and everything that can be seen of the result. Both sides draw the same numbers
from a seed, so only answers are recorded."""
import hashlib
import json
import random
import zlib

import numpy as np

STEPS, BATCH, INPUT, HIDDEN = 3, 2, 3, 2
IMAGE = (BATCH, 2, 4, 3)


def _fused(mode, **options):
    return lambda rnn: rnn.FusedRNNCell(HIDDEN, mode=mode, **{"prefix": "f_", **options})


def _stack(rnn):
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(HIDDEN, prefix="l0_"))
    stack.add(rnn.ResidualCell(rnn.GRUCell(HIDDEN, prefix="l1_")))
    stack.add(rnn.BidirectionalCell(rnn.RNNCell(HIDDEN, prefix="l2_"),
                                    rnn.GRUCell(HIDDEN, prefix="r2_")))
    return stack


def _shared(rnn):
    """Two cells with the weights of one."""
    first = rnn.LSTMCell(HIDDEN, prefix="s_")
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.RNNCell(HIDDEN, prefix="p_"))
    stack.add(first)
    stack.add(rnn.LSTMCell(HIDDEN, prefix="s_", params=first.params))
    return stack


def _dropout(rnn):
    stack = rnn.SequentialRNNCell()
    stack.add(rnn.LSTMCell(HIDDEN, prefix="a_"))
    stack.add(rnn.DropoutCell(0.5))
    stack.add(rnn.LSTMCell(HIDDEN, prefix="b_"))
    return stack


def _conv(kind, **options):
    return lambda rnn: getattr(rnn, kind)(IMAGE, HIDDEN, **{"prefix": "c_", **options})


# name -> (how the cell is made, keywords of unroll, whether it draws random numbers in training)
CASES = {
    "rnn": (lambda rnn: rnn.RNNCell(HIDDEN), {}, False),
    "rnn relu merged": (lambda rnn: rnn.RNNCell(HIDDEN, activation="relu", prefix="r_"),
                        {"merge_outputs": True}, False),
    "lstm": (lambda rnn: rnn.LSTMCell(HIDDEN), {}, False),
    "lstm forget bias": (lambda rnn: rnn.LSTMCell(HIDDEN, prefix="x_", forget_bias=2.0),
                         {"merge_outputs": True}, False),
    "gru": (lambda rnn: rnn.GRUCell(HIDDEN), {}, False),
    "gru time major": (lambda rnn: rnn.GRUCell(HIDDEN),
                       {"layout": "TNC", "merge_outputs": True}, False),
    "stack": (_stack, {"merge_outputs": True}, False),
    "shared weights": (_shared, {}, False),
    "bidirectional": (lambda rnn: rnn.BidirectionalCell(
        rnn.LSTMCell(HIDDEN, prefix="l_"), rnn.LSTMCell(HIDDEN, prefix="r_"),
        output_prefix="both_"), {"merge_outputs": False}, False),
    "bidirectional merged": (lambda rnn: rnn.BidirectionalCell(
        rnn.GRUCell(HIDDEN, prefix="l_"), rnn.RNNCell(HIDDEN, prefix="r_")),
        {"merge_outputs": True}, False),
    "residual": (lambda rnn: rnn.ResidualCell(rnn.RNNCell(INPUT)), {"merge_outputs": True}, False),
    "zoneout": (lambda rnn: rnn.ZoneoutCell(rnn.LSTMCell(HIDDEN), 0.5, 0.25), {}, True),
    "dropout": (_dropout, {"merge_outputs": True}, True),
    "fused rnn_relu": (_fused("rnn_relu"), {"merge_outputs": True}, False),
    "fused rnn_tanh": (_fused("rnn_tanh", num_layers=2), {"layout": "TNC"}, False),
    "fused lstm": (_fused("lstm", num_layers=2, get_next_state=True), {"layout": "TNC"}, False),
    "fused gru": (_fused("gru", bidirectional=True, get_next_state=True), {}, False),
    "fused lstm bidirectional": (_fused("lstm", num_layers=2, bidirectional=True, prefix=None),
                                 {"merge_outputs": True}, False),
    "unfused": (lambda rnn: rnn.FusedRNNCell(HIDDEN, num_layers=2, bidirectional=True, dropout=0.5,
                                             prefix="f_").unfuse(), {"merge_outputs": True}, True),
    "conv rnn": (_conv("ConvRNNCell"), {}, False),
    "conv lstm": (_conv("ConvLSTMCell", h2h_kernel=(5, 3), h2h_dilate=(1, 2), activation="tanh"),
                  {}, False),
    "conv gru": (_conv("ConvGRUCell", i2h_kernel=(2, 3), i2h_stride=(2, 1)), {}, False),
}


def flat(states):
    """A nested list as a flat one."""
    if isinstance(states, (list, tuple)):
        return [each for state in states for each in flat(state)]
    return [states]


def unrolled(mx, name):
    """A case's cell and the group of its outputs and last states, with names made up from 0 on.

    Each head once: of two gradients for the same one MXNet takes the last, and not their sum.
    """
    make, options, _ = CASES[name]
    with mx.name.NameManager():
        cell = make(mx.rnn)
        if name.startswith("conv"):
            inputs = [mx.sym.Variable("t%d_data" % step) for step in range(STEPS)]
        else:
            inputs = mx.sym.Variable("data")
        outputs, states = cell.unroll(STEPS, inputs, **options)
        heads = {head.list_outputs()[0]: head for head in flat(outputs) + flat(states)}
        return cell, mx.sym.Group(list(heads.values()))


def input_shapes(name):
    if name.startswith("conv"):
        return {"t%d_data" % step: IMAGE for step in range(STEPS)}
    time_major = CASES[name][1].get("layout") == "TNC"
    return {"data": (STEPS, BATCH, INPUT) if time_major else (BATCH, STEPS, INPUT)}


def seen(mx, name):
    """Everything recorded of a case. Where training draws numbers, only inference is run."""
    cell, group = unrolled(mx, name)
    shapes, _, _ = group.infer_shape(**input_shapes(name))
    is_random = CASES[name][2]
    draw = np.random.RandomState(zlib.crc32(name.encode()))
    arguments = dict(zip(group.list_arguments(), shapes))
    args = {arg: draw.uniform(-1, 1, shape) for arg, shape in arguments.items()}
    executor = group.bind(mx.cpu(), {n: mx.nd.array(a) for n, a in args.items()},
                          {n: mx.nd.zeros(a.shape) for n, a in args.items()})
    outputs = executor.forward(is_train=not is_random)
    result = {"graph": fingerprint(group),
              "arguments": [[n, list(shape)] for n, shape in arguments.items()],
              "outputs": [[n, list(o.shape)] for n, o in zip(group.list_outputs(), outputs)],
              "params": sorted(cell.params._params),
              "states": [[list(info["shape"]), info["__layout__"]] for info in cell.state_info],
              "values": [numbers(o) for o in outputs]}
    if not is_random:
        executor.backward([mx.nd.array(draw.uniform(-1, 1, o.shape)) for o in outputs])
        result["gradients"] = [numbers(executor.grad_dict[n]) for n in arguments]
    if name == "shared weights":  # cells with the same names cannot be unpacked twice
        return result
    weights = {n: mx.nd.array(args[n]) for n in arguments if not n.endswith("data")}
    result["unpacked"] = [[n, numbers(a)] for n, a in sorted(cell.unpack_weights(weights).items())]
    return result


def fingerprint(symbol):
    """Of the JSON: every node with its name, operator, attributes and inputs, and the heads."""
    graph = json.loads(symbol.tojson())
    parts = [graph[part] for part in ("nodes", "arg_nodes", "heads")]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def numbers(array):
    return [float("%.7g" % x) for x in array.asnumpy().reshape(-1)]


SENTENCES = [[1, 2, 3], [4, 5, 6], [7, 8], [9, 1], [2, 3, 4], [5, 6], [7, 8, 9, 1, 2, 3], [4, 5],
             [6, 7, 8]]


def batches(mx, **options):
    """Two epochs of a BucketSentenceIter under a seed, and what it announces."""
    random.seed(5)
    np.random.seed(5)
    it = mx.rnn.BucketSentenceIter(SENTENCES, 2, invalid_label=0, **options)
    result = {"data": repr(it.provide_data), "label": repr(it.provide_label),
              "buckets": list(it.buckets), "default": it.default_bucket_key, "epochs": []}
    for _ in range(2):
        result["epochs"].append([[b.bucket_key, b.pad, repr(b.provide_data),
                                  b.data[0].asnumpy().tolist(), b.label[0].asnumpy().tolist()]
                                 for b in it])
        it.reset()
    return result


ITERATORS = {"own buckets": {}, "given buckets": {"buckets": [3, 5, 2]},
             "time major": {"buckets": [4], "layout": "TN", "data_name": "d", "label_name": "l"},
             "integers": {"dtype": "int32"}}
