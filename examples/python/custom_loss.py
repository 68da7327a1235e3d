"""A custom loss, twice: as a symbol (MakeLoss) and as a function (PythonLossModule).

    python custom_loss.py

The loss is Huber's: quadratic near zero, linear far away, so that outliers pull less.
"""
import argparse
import logging

import numpy as np

import symbind as mx


def line_with_outliers(batch_size):
    """y = 2x + 1, and every tenth point far off."""
    x = np.random.RandomState(0).uniform(-1, 1, (200, 1)).astype("float32")
    y = 2 * x[:, 0] + 1
    y[::10] += 20
    return mx.io.NDArrayIter(x, y, batch_size, label_name="target")


def fitted(params):
    return [float(params["fc_" + kind].asscalar()) for kind in ("weight", "bias")]


def by_symbol():
    """The loss is part of the network; MakeLoss says that its gradient is one."""
    scores = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    error = mx.sym.Reshape(scores, shape=(-1,)) - mx.sym.Variable("target")
    loss = mx.sym.MakeLoss(mx.sym.smooth_l1(error, scalar=1.0), name="huber")
    module = mx.mod.Module(loss, label_names=["target"])
    module.fit(line_with_outliers(20), eval_metric="loss", num_epoch=60, initializer=mx.init.Zero(),
               optimizer_params={"learning_rate": 0.5})
    return fitted(module.get_params()[0])


def huber_gradient(scores, targets):
    """d loss / d scores, as an NDArray or as a NumPy array."""
    return mx.nd.clip(scores - targets.reshape(scores.shape), -1, 1)


def by_function():
    """A module that computes scores, followed by one that computes the loss gradient."""
    scores = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    first = mx.mod.Module(scores, label_names=[])
    loss = mx.mod.PythonLossModule(data_names=["fc_output"], label_names=["target"],
                                   grad_func=huber_gradient)
    module = mx.mod.SequentialModule()
    module.add(first).add(loss, take_labels=True, auto_wiring=True)
    module.fit(line_with_outliers(20), eval_metric="mse", num_epoch=60,
               initializer=mx.init.Zero(), optimizer_params={"learning_rate": 0.5})
    return fitted(module.get_params()[0])


def main(arguments=None):
    argparse.ArgumentParser(description="A custom loss.").parse_args(arguments)
    symbol, function = by_symbol(), by_function()
    print("MakeLoss:         y = %.3f x + %.3f" % tuple(symbol))
    print("PythonLossModule: y = %.3f x + %.3f" % tuple(function))
    return symbol, function


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
