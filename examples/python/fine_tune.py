"""A trained network learns another task: its layers stay frozen, a new head is trained.

    python fine_tune.py

First a network is trained on five classes and saved. Then the checkpoint is loaded, the symbol is
cut after the last hidden layer (get_internals) and gets a head of three classes. Only the head is
trained: fixed_param_names freezes the rest, allow_missing lets the initializer fill the head.
"""
import argparse
import logging
import os
import tempfile

import numpy as np

import symbind as mx


def clusters(classes, count, seed):
    """Points around one centre per class."""
    centres = np.random.RandomState(7).normal(0, 1, (8, 16))
    random = np.random.RandomState(seed)
    labels = random.randint(0, len(classes), count)
    points = centres[np.array(classes)[labels]] + random.normal(0, 0.4, (count, 16))
    return mx.io.NDArrayIter(points.astype("float32"), labels.astype("float32"), 20, shuffle=True)


def train_base(prefix):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=32, name="fc1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.FullyConnected(net, num_hidden=5, name="fc2")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.fit(clusters([0, 1, 2, 3, 4], 400, seed=1), initializer=mx.init.Xavier(), num_epoch=5,
               optimizer_params={"learning_rate": 0.2})
    module.save_checkpoint(prefix, 5)


def fine_tune(prefix):
    symbol, arg_params, aux_params = mx.model.load_checkpoint(prefix, 5)
    body = symbol.get_internals()["relu1_output"]
    head = mx.sym.FullyConnected(body, num_hidden=3, name="fc_new")
    net = mx.sym.SoftmaxOutput(head, name="softmax")
    arg_params = {name: array for name, array in arg_params.items() if not name.startswith("fc2")}

    module = mx.mod.Module(net, fixed_param_names=list(arg_params))
    train = clusters([5, 6, 7], 300, seed=2)
    module.fit(train, arg_params=arg_params, aux_params=aux_params, allow_missing=True,
               initializer=mx.init.Xavier(), num_epoch=5, optimizer_params={"learning_rate": 0.2})
    frozen = all((module.get_params()[0][name].asnumpy() == array.asnumpy()).all()
                 for name, array in arg_params.items())
    return module.score(clusters([5, 6, 7], 300, seed=3), "acc")[0][1], frozen


def main(arguments=None):
    argparse.ArgumentParser(description="A new head on a trained network.").parse_args(arguments)
    mx.random.seed(1)
    np.random.seed(1)
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "base")
        train_base(prefix)
        accuracy, frozen = fine_tune(prefix)
    print("new head: accuracy %.4f; the old layers are %s" % (
        accuracy, "untouched" if frozen else "CHANGED"))
    return accuracy, frozen


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
