"""Makes the files from which every engine builds the same work: symbols, weights, data.

A problem is a folder: problem.json (the description below), weights.npz (`arg:NAME`, `aux:NAME`), and for each part
partN.json ({"symbol", "shapes"}) and partN.npz (inputs and labels). A step runs all parts in order. Weights and data
are random with fixed seeds; statistics of BatchNorm are those of a batch, so that values keep their size through a deep
network.
"""
import json
import os
import zlib

import mxnet as mx
import numpy as np

from . import models

CALIBRATION_BATCH = 8


def random_values(values, seed):
    random = np.random.RandomState(seed)
    if values.whole:
        return random.randint(values.low, values.high, values.shape).astype("float32")
    return random.uniform(values.low, values.high, values.shape).astype("float32")


def random_weight(name, shape):
    """He's initialization; the seed follows from the name, so that parts of a problem share weights."""
    random = np.random.RandomState(zlib.crc32(name.encode()))
    if name.endswith("moving_mean"):
        return np.zeros(shape, "float32")
    if name.endswith("moving_var"):
        return np.ones(shape, "float32")
    if name.endswith("relu_gamma") or "prelu" in name or (name.endswith("gamma") and "relu" in name):
        return random.uniform(0.1, 0.3, shape).astype("float32")
    if name.endswith("gamma"):
        return random.uniform(0.5, 1.0, shape).astype("float32")
    if name.endswith(("bias", "beta")):
        return random.uniform(-0.1, 0.1, shape).astype("float32")
    if name.endswith("scale"):
        return np.full(shape, 20, "float32")
    if len(shape) < 2 or "embed" in name:  # the packed weights of an RNN; word vectors
        return random.uniform(-0.1, 0.1, shape).astype("float32")
    bound = np.sqrt(6.0 / np.prod(shape[1:]))
    return random.uniform(-bound, bound, shape).astype("float32")


def all_values(made):
    return dict(list(made.inputs.items()) + list(made.labels.items()))


def shapes_of_nodes(symbol, given):
    """For each node of the symbol's JSON the shapes of its outputs."""
    internals = symbol.get_internals()
    nodes = json.loads(symbol.tojson())["nodes"]
    listed = json.loads(internals.tojson())
    assert [n["name"] for n in listed["nodes"]] == [n["name"] for n in nodes]
    shapes = [[] for _ in nodes]
    for (node, *_), shape in zip(listed["heads"], internals.infer_shape(**given)[1]):
        shapes[node].append(list(shape))
    return shapes


def random_weights(made, known):
    """{arg:NAME or aux:NAME: array}; those of `known` are taken from there."""
    values = all_values(made)
    given = {name: v.shape for name, v in values.items()}
    args, _, aux = made.symbol.infer_shape(**given)
    shapes = {"arg:" + n: s for n, s in zip(made.symbol.list_arguments(), args) if n not in values}
    shapes.update({"aux:" + n: s for n, s in zip(made.symbol.list_auxiliary_states(), aux)})
    return {key: known[key] if key in known else random_weight(key, shape) for key, shape in shapes.items()}


def calibration_symbol(made):
    """The symbol in float32: 16-bit statistics would not be exact."""
    return mx.sym.load_json(made.symbol.tojson().replace('"float16"', '"float32"'))


def calibrate(made, weights):
    """Replaces BatchNorm's moving statistics by those of one batch."""
    nodes = json.loads(made.symbol.tojson())["nodes"]
    momenta = {}
    for node in nodes:
        if node["op"] == "BatchNorm":
            momentum = float(node.get("attrs", {}).get("momentum", 0.9))
            momenta.update({nodes[i[0]]["name"]: momentum for i in node["inputs"][3:5]})
    if not momenta:
        return
    values = all_values(made)
    executor = calibration_symbol(made).simple_bind(mx.cpu(), grad_req="null",
                                                      **{n: v.shape for n, v in values.items()})
    for i, (name, v) in enumerate(values.items()):
        executor.arg_dict[name][:] = random_values(v, 100 + i)
    for key, array in weights.items():
        (executor.arg_dict if key.startswith("arg:") else executor.aux_dict)[key[4:]][:] = array
    executor.forward(is_train=True)
    for name, momentum in momenta.items():
        before, after = weights["aux:" + name], executor.aux_dict[name].asnumpy()
        statistic = (after - momentum * before) / (1 - momentum)
        if name.endswith("var"):
            statistic = np.maximum(statistic, 1e-3)
        weights["aux:" + name] = statistic.astype("float32")


def write(folder, parts, train=False, kind="step", dtype="float32"):
    """Writes the problem; `parts` are pairs (name of a model, batch size). Returns its description."""
    known = models.all_models()
    weights, described = {}, []
    for i, (name, batch) in enumerate(parts):
        with mx.name.NameManager():
            made = known[name](batch)
        own = random_weights(made, weights)
        if own.keys() - weights.keys():
            with mx.name.NameManager():
                calibrate(known[name](max(CALIBRATION_BATCH, batch)), own)
            weights.update(own)
        values = all_values(made)
        described.append({"batch": batch, "inputs": list(made.inputs), "labels": list(made.labels)})
        with open(os.path.join(folder, "part%d.json" % i), "w", encoding="utf-8") as file:
            json.dump({"symbol": json.loads(made.symbol.tojson()),
                       "shapes": shapes_of_nodes(made.symbol, {n: v.shape for n, v in values.items()})}, file)
        np.savez(os.path.join(folder, "part%d.npz" % i),
                 **{n: random_values(v, 10 * i + j) for j, (n, v) in enumerate(values.items())})
    problem = {"folder": folder, "parts": described, "train": train, "kind": kind, "dtype": dtype, "rate": made.rate}
    np.savez(os.path.join(folder, "weights.npz"), **weights)
    with open(os.path.join(folder, "problem.json"), "w", encoding="utf-8") as file:
        json.dump(problem, file)
    return problem


def read(folder):
    """The description that `write` has left there."""
    with open(os.path.join(folder, "problem.json"), encoding="utf-8") as file:
        return {**json.load(file), "folder": folder}
