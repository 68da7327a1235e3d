"""A custom iterator that generates its batches on demand.

    python custom_data_iter.py

provide_data and provide_label say what a batch is, next() gives one or raises StopIteration,
reset() begins the next epoch. PrefetchingIter prepares the next batches in a thread.
"""
import argparse
import logging

import numpy as np

import symbind as mx


class Waves(mx.io.DataIter):
    """Sine waves of two frequencies, each at a random phase; the label says which."""

    def __init__(self, batches, batch_size, length=32, seed=0):
        super().__init__(batch_size)
        self.batches, self.length, self.seed = batches, length, seed
        self.provide_data = [mx.io.DataDesc("data", (batch_size, length))]
        self.provide_label = [mx.io.DataDesc("softmax_label", (batch_size,))]
        self.reset()

    def reset(self):
        self.given = 0
        self.random = np.random.RandomState(self.seed)

    def next(self):
        if self.given == self.batches:
            raise StopIteration
        self.given += 1
        label = self.random.randint(0, 2, self.batch_size)
        phase = self.random.uniform(0, 2 * np.pi, (self.batch_size, 1))
        time = np.linspace(0, 2 * np.pi, self.length)
        data = np.sin((2 + 3 * label[:, None]) * time + phase)
        return mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)], pad=0)


def main(arguments=None):
    argparse.ArgumentParser(description="A custom iterator.").parse_args(arguments)
    mx.random.seed(1)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=32, name="fc1")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.FullyConnected(net, num_hidden=2, name="fc2")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    module.fit(mx.io.PrefetchingIter(Waves(50, 20)), initializer=mx.init.Xavier(), num_epoch=3,
               optimizer="adam", optimizer_params={"learning_rate": 0.01})
    accuracy = module.score(Waves(10, 20, seed=1), "acc")[0][1]
    print("accuracy on new waves: %.4f" % accuracy)
    return accuracy


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
