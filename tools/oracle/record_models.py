"""Records the networks of MXNet's image-classification examples, and the one of rnn/bucketing.

    PY tools/oracle/record_models.py DIR      -> tests/golden/models/<network>.json

DIR has the example's symbol files (example/image-classification/symbols of MXNet 1.9.1). The
bucketing example builds its network inside a script, so its steps are followed here with the same
cells. Kept of a network: names and shapes of arguments, auxiliary states and outputs in order, and
the FNV-1a hash of the symbol's JSON up to node_row_ptr (which counts hidden outputs): every node,
attribute and connection.
"""
import importlib.util
import os
import sys

from golden import fnv1a, golden_dir, mx, write

LONGEST = 10000
IMAGE = {"data": (2, 3, 224, 224)}
LARGE = {"data": (2, 3, 299, 299)}
SMALL = {"data": (2, 3, 28, 28)}
DIGIT = {"data": (2, 1, 28, 28)}


def image(*size):
    return {"data": (2,) + size}


def depths(*all_of_them, **options):
    return [(dict(options, num_layers=depth), IMAGE) for depth in all_of_them]


# network -> [(options, shapes)]
CASES = {
    "mlp": [({}, DIGIT), ({"num_classes": 3}, IMAGE)],
    "lenet": [({}, DIGIT), ({"add_stn": True, "num_classes": 5}, DIGIT)],
    "alexnet": [({}, IMAGE), ({"dtype": "float16", "num_classes": 7}, IMAGE)],
    "vgg": depths(11, 13, 16, 19) + depths(13, 16, batch_norm=True) + depths(11, dtype="float16"),
    "googlenet": [({}, IMAGE)],
    "inception-bn": [({}, IMAGE), ({"image_shape": "3,28,28", "num_classes": 10}, SMALL)],
    "inception-v3": [({}, LARGE), ({"dtype": "float16"}, LARGE)],
    "inception-v4": [({}, LARGE)],
    "inception-resnet-v2": [({}, LARGE)],
    "resnet": depths(18, 34, 50, 101, 152, 200, 269) + depths(50, dtype="float16") + [
        ({"num_layers": depth, "image_shape": "3,28,28", "num_classes": 10}, SMALL)
        for depth in (20, 56, 110, 164)] + [
        ({"num_layers": 18, "image_shape": "3,32,32", "conv_workspace": 512}, image(3, 32, 32))],
    "resnet-v1": depths(18, 34, 50, 101, 152, 200) + [
        ({"num_layers": depth, "image_shape": "3,28,28", "num_classes": 10}, SMALL)
        for depth in (20, 164)],
    "resnext": depths(18, 50, 101, 152) + depths(50, num_group=64) + [
        ({"num_layers": depth, "image_shape": "3,32,32", "num_classes": 10, "num_group": 8},
         image(3, 32, 32)) for depth in (20, 164)],
    "mobilenet": [({}, IMAGE), ({"alpha": 0.25}, IMAGE),
                  ({"alpha": 0.5, "resolution": 160}, image(3, 160, 160))],
    "mobilenetv2": [({}, IMAGE), ({"multiplier": 1.4}, IMAGE), ({"multiplier": 0.75}, IMAGE)],
    "lstm": [({"seq_len": steps, "vocab_size": 50, "num_layers": layers, "num_hidden": 8,
               "num_embed": 6}, {"data": (4, steps), "softmax_label": (4, steps)})
             for steps, layers in ((1, 1), (5, 2), (12, 3))],
}


def lstm(seq_len, vocab_size, num_layers, num_hidden, num_embed):
    stack = mx.rnn.SequentialRNNCell()
    for i in range(num_layers):
        stack.add(mx.rnn.LSTMCell(num_hidden=num_hidden, prefix="lstm_l%d_" % i))
    data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
    embed = mx.sym.Embedding(data=data, input_dim=vocab_size, output_dim=num_embed, name="embed")
    outputs, _ = stack.unroll(seq_len, inputs=embed, merge_outputs=True)
    pred = mx.sym.Reshape(outputs, shape=(-1, num_hidden))
    pred = mx.sym.FullyConnected(data=pred, num_hidden=vocab_size, name="pred")
    label = mx.sym.Reshape(label, shape=(-1,))
    return mx.sym.SoftmaxOutput(data=pred, label=label, name="softmax")


def example(folder, network):
    """get_symbol of a symbol file, told what the options leave open."""
    path = os.path.join(folder, network + ".py")
    spec = importlib.util.spec_from_file_location(network.replace("-", "_"), path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)

    def build(**options):
        if network not in ("mlp", "lenet"):
            options.setdefault("num_classes", 1000)
        if network in ("inception-bn", "resnet", "resnet-v1", "resnext"):
            options.setdefault("image_shape", "3,224,224")
        return module.get_symbol(**options)
    return build


def listed(names, shapes):
    """"conv0_weight=64x3x7x7 ..."; of a very long list "<count> entries, <FNV-1a hash>"."""
    text = " ".join("%s=%s" % (name, "x".join(map(str, shape)))
                    for name, shape in zip(names, shapes))
    return text if len(text) <= LONGEST else "%d entries, %016x" % (len(names), fnv1a(text))


def record(build, options, shapes):
    with mx.name.NameManager():
        symbol = build(**options)
    args, outs, auxs = symbol.infer_shape(**shapes)
    return {"options": {key: str(value) for key, value in options.items()},
            "shapes": {name: list(shape) for name, shape in shapes.items()},
            "json": "%016x" % fnv1a(symbol.tojson().split('"node_row_ptr"')[0]),
            "outputs": listed(symbol.list_outputs(), outs),
            "arguments": listed(symbol.list_arguments(), args),
            "aux": listed(symbol.list_auxiliary_states(), auxs)}


def main(folder):
    for network, cases in CASES.items():
        build = lstm if network == "lstm" else example(folder, network)
        write(os.path.join(golden_dir("models"), network + ".json"),
              {"network": network, "mxnet": mx.__version__}, "cases",
              [record(build, options, shapes) for options, shapes in cases])


if __name__ == "__main__":
    main(sys.argv[1])
