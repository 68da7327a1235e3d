"""MXNet, and Symbind under the name of mxnet: both run this file unedited."""
import json
import logging
import os

import mxnet as mx
import numpy as np

from compare_lib import heads

logging.disable(logging.WARNING)
MODES = {"step": ["Module"], "fit": ["fit"], "imperative": ["mx.nd"]}


def version():
    return mx.__version__


def read(problem):
    """[(symbol, NumPy arrays)] for the parts, and the weights: args, aux."""
    folder = problem["folder"]
    parts = []
    for i in range(len(problem["parts"])):
        with open(os.path.join(folder, "part%d.json" % i)) as file:
            symbol = mx.sym.load_json(json.dumps(json.load(file)["symbol"]))
        parts.append((symbol, dict(np.load(os.path.join(folder, "part%d.npz" % i)))))
    weights = dict(np.load(os.path.join(folder, "weights.npz")))
    return parts, [{k[4:]: mx.nd.array(v) for k, v in weights.items() if k.startswith(kind)} for kind in ("arg:", "aux:")]


def of_symbol(symbol, args, aux):
    wanted, states = set(symbol.list_arguments()), set(symbol.list_auxiliary_states())
    return {k: v for k, v in args.items() if k in wanted}, {k: v for k, v in aux.items() if k in states}


def descriptions(names, arrays):
    return [(name, arrays[name].shape) for name in names]


def batch_of(part, arrays, key):
    return mx.io.DataBatch([mx.nd.array(arrays[n]) for n in part["inputs"]],
                           [mx.nd.array(arrays[n]) for n in part["labels"]], bucket_key=key,
                           provide_data=descriptions(part["inputs"], arrays),
                           provide_label=descriptions(part["labels"], arrays))


class Predict:
    """One Module per part, forward."""

    def __init__(self, problem, options):
        parts, (args, aux) = read(problem)
        self.work = []
        for i, (part, (symbol, arrays)) in enumerate(zip(problem["parts"], parts)):
            module = mx.mod.Module(symbol, data_names=part["inputs"], label_names=part["labels"], **options)
            # MXNet cannot infer the shape of a label that is reshaped.
            labels = descriptions(part["labels"], arrays) or None
            module.bind(descriptions(part["inputs"], arrays), labels, for_training=False)
            module.set_params(*of_symbol(symbol, args, aux))
            self.work.append((module, batch_of(part, arrays, i)))

    def run(self, steps):
        for _ in range(steps):
            for module, batch in self.work:
                module.forward(batch, is_train=False)
            for module, _ in self.work:
                for output in module.get_outputs():
                    output.wait_to_read()

    def outputs(self):
        self.run(1)
        return [output.asnumpy() for module, _ in self.work for output in module.get_outputs()]


class Train:
    """A Module, or with several parts a BucketingModule: forward, backward, SGD with momentum."""

    def __init__(self, problem, options):
        parts, (args, aux) = read(problem)
        described = problem["parts"]
        self.batches = [batch_of(part, arrays, i) for i, (part, (_, arrays)) in enumerate(zip(described, parts))]
        last = len(parts) - 1
        if last == 0:
            self.module = mx.mod.Module(parts[0][0], data_names=described[0]["inputs"],
                                        label_names=described[0]["labels"], **options)
        else:
            self.module = mx.mod.BucketingModule(
                lambda key: (parts[key][0], described[key]["inputs"], described[key]["labels"]), last, **options)
        self.module.bind(self.batches[last].provide_data, self.batches[last].provide_label)
        self.module.set_params(*of_symbol(parts[last][0], args, aux))
        self.module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params={
            "learning_rate": problem["rate"], "momentum": 0.9, "wd": 1e-4, "rescale_grad": 1.0 / described[0]["batch"]})
        self.losses = [heads.Losses(problem, i) for i in range(len(parts))]

    def run(self, steps):
        for _ in range(steps):
            for batch in self.batches:
                self.module.forward_backward(batch)
                self.module.update()
        mx.nd.waitall()

    def loss_of_step(self):
        total = 0
        for batch, losses in zip(self.batches, self.losses):
            self.module.forward_backward(batch)
            self.module.update()
            total += losses.of([output.asnumpy() for output in self.module.get_outputs()])
        return total


class Fit:
    """Module.fit over as many batches as steps are asked for, with the metric that fit has by default."""

    def __init__(self, problem, options):
        parts, (args, aux) = read(problem)
        symbol, self.arrays = parts[0]
        self.part = problem["parts"][0]
        self.iterators = {}
        self.module = mx.mod.Module(symbol, **options)
        self.module.bind(descriptions(["data"], self.arrays), descriptions(["softmax_label"], self.arrays))
        self.module.set_params(args, aux)
        self.module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params={
            "learning_rate": problem["rate"], "momentum": 0.9, "wd": 1e-4, "rescale_grad": 1.0 / self.part["batch"]})

    def run(self, steps):
        if steps not in self.iterators:
            self.iterators[steps] = mx.io.NDArrayIter(
                np.concatenate([self.arrays["data"]] * steps), np.concatenate([self.arrays["softmax_label"]] * steps),
                self.part["batch"])
        self.module.fit(self.iterators[steps], num_epoch=1)
        mx.nd.waitall()


class Imperative:
    """An addition of 64 floats."""

    def __init__(self):
        self.a, self.b = mx.nd.array(np.ones(64)), mx.nd.array(np.ones(64))

    def run(self, steps):
        a, b = self.a, self.b
        for _ in range(steps):
            c = a + b
        c.wait_to_read()


def build(problem, mode, threads, **options):
    if problem["kind"] == "imperative":
        return Imperative()
    if problem["kind"] == "fit":
        return Fit(problem, options)
    return (Train if problem["train"] else Predict)(problem, options)
