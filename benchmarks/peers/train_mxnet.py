"""Trains a symbol with MXNet 1.9.1, on demand: the peer of `bench_executor`.

    train_mxnet.py SYMBOL.json PARAMS DATA BATCH [predict]

Reads lines `N` from standard input, runs N steps (forward, backward, SGD with momentum; with `predict` forward
alone) and answers with the seconds they took and the mean cross-entropy of the last one. `python -m symbind` runs the
same with Symbind.
"""
import sys
import time

import mxnet as mx
import numpy as np


def main():
    symbol_file, params_file, data_file, batch = sys.argv[1:5]
    train = sys.argv[5:] != ["predict"]
    symbol = mx.sym.load(symbol_file)
    values = mx.nd.load(params_file)
    inputs = mx.nd.load(data_file)
    data, label = inputs["data"], inputs["softmax_label"]
    module = mx.mod.Module(symbol)
    module.bind([("data", data.shape)], [("softmax_label", label.shape)], for_training=train)
    args = {k[4:]: v for k, v in values.items() if k.startswith("arg:")}
    aux = {k[4:]: v for k, v in values.items() if k.startswith("aux:")}
    module.set_params(args, aux)
    if train:
        module.init_optimizer(kvstore=None, optimizer="sgd", optimizer_params={
            "learning_rate": 0.00001, "momentum": 0.9, "wd": 1e-4, "rescale_grad": 1.0 / int(batch)})
    step = mx.io.DataBatch([data], [label])
    index = label.asnumpy().astype(int)
    print("ready", mx.__version__, flush=True)
    for line in sys.stdin:
        mx.nd.waitall()
        start = time.perf_counter()
        for _ in range(int(line)):
            if train:
                module.forward_backward(step)
                module.update()
            else:
                module.forward(step, is_train=False)
        mx.nd.waitall()
        seconds = time.perf_counter() - start
        probability = module.get_outputs()[0].asnumpy()[np.arange(len(index)), index]
        print(seconds, -np.log(probability).mean(), flush=True)


if __name__ == "__main__":
    main()
