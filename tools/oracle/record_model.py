"""FeedForward, SVRGModule and the executor manager in training: log lines, callbacks, parameters.

    $PY tools/oracle/record_model.py      # under MXNet -> tests/golden/python/model.json

tests/python/test_feed_forward.py and test_svrg.py run `SCENES` again under Symbind.
"""
import json
import logging
import os
import re
import warnings

import numpy as np

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden",
                      "python", "model.json")


class Lines(logging.Handler):
    """Keeps what is logged, times masked."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(re.sub(r"cost=[0-9.]+", "cost=*", record.getMessage()))


def rows(count=50, seed=0):
    draw = np.random.RandomState(seed)
    data = draw.uniform(-1, 1, (count, 4)).astype(np.float32)
    return data, (data[:, 0] > data[:, 1]).astype(np.float32)


def network(mx, hidden=8):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=hidden, name="fc1")
    net = mx.sym.BatchNorm(net, name="bn", fix_gamma=False)
    net = mx.sym.Activation(net, act_type="tanh")
    net = mx.sym.FullyConnected(net, num_hidden=2, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def parameters(mx):
    draw = np.random.RandomState(1)
    shapes = {"fc1_weight": (8, 4), "fc1_bias": (8,), "bn_gamma": (8,), "bn_beta": (8,),
              "fc2_weight": (2, 8), "fc2_bias": (2,)}
    args = {name: mx.nd.array(draw.uniform(-1, 1, shape)) for name, shape in shapes.items()}
    return args, {"bn_moving_mean": mx.nd.zeros(8), "bn_moving_var": mx.nd.ones(8)}


def numbers(arrays):
    return {name: array.asnumpy().ravel().tolist() for name, array in sorted(arrays.items())}


def logged(run):
    """{what `run` returns, "lines": what it logged}."""
    root, handler = logging.getLogger(), Lines()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = run()
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    return dict(result, lines=handler.lines)


def feed_forward(mx, devices=1, kvstore="local", optimizer="sgd", **options):
    """Three epochs over 50 rows in batches of 8, evaluated on 20."""
    data, label = rows()
    args, aux = parameters(mx)
    seen = []

    def batch_end(param):
        seen.append(["batch", param.epoch, param.nbatch, float(param.eval_metric.get()[1])])

    def epoch_end(epoch, symbol, arg_params, aux_params):
        seen.append(["epoch", epoch, sorted(arg_params), float(arg_params["fc2_bias"].asnumpy()[0])])

    def evaluated(param):
        seen.append(["eval", param.epoch, param.nbatch, float(param.eval_metric.get()[1])])

    def run():
        model = mx.model.FeedForward(
            network(mx), ctx=[mx.cpu(i) for i in range(devices)], num_epoch=3, optimizer=optimizer,
            arg_params=args, aux_params=aux, learning_rate=0.3, wd=1e-3, **options)
        held = mx.io.NDArrayIter(data[:20], label[:20], 8)
        model.fit(mx.io.NDArrayIter(data, label, 8), eval_data=held, kvstore=kvstore,
                  batch_end_callback=batch_end, epoch_end_callback=epoch_end,
                  eval_batch_end_callback=evaluated)
        outputs, shown, labels = model.predict(held, return_data=True)
        return {"params": numbers(model.arg_params), "aux": numbers(model.aux_params),
                "seen": seen, "predicted": outputs.tolist(),
                "shown": [list(shown.shape), labels.tolist()],
                "score": float(model.score(held)), "ce": float(model.score(held, "ce", num_batch=1)),
                "of arrays": model.predict(data[:5]).tolist()}
    return logged(run)


def created(mx):
    """create on arrays, with what FeedForward makes of them."""
    data, label = rows(30)

    def run():
        np.random.seed(4)
        model = mx.model.FeedForward.create(
            network(mx), data, label.reshape(-1, 1), num_epoch=3, numpy_batch_size=8,
            eval_data=(data[:10].tolist(), label[:10].tolist()), initializer=mx.init.One(),
            learning_rate=0.1, momentum=0.5)
        return {"params": numbers(model.arg_params), "aux": numbers(model.aux_params)}
    return logged(run)


def initialized(mx):
    """Which parameters the initializer is asked for, in which order."""
    asked = []

    class Own(mx.init.Initializer):
        def __call__(self, name, array):
            asked.append([type(name).__name__, str(name), list(array.shape)])
            array[:] = 0.5

    model = mx.model.FeedForward(network(mx, 3), num_epoch=1, initializer=Own())
    inputs = mx.io.NDArrayIter(*rows(8), batch_size=8)
    names = model._init_params(inputs.provide_data + inputs.provide_label)
    return {"asked": asked, "names": [list(x) for x in names]}


def svrg(mx, devices=1, kvstore="local", optimizer="sgd", **params):
    """Four epochs of linear regression, full gradients every other epoch."""
    from importlib import import_module

    module = import_module(mx.__name__ + ".contrib.svrg_optimization.svrg_module")
    data, _ = rows()
    label = data.dot(np.array([1, 2, -1, 0.5], np.float32))
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    net = mx.sym.LinearRegressionOutput(net, mx.sym.Variable("lin_label"), name="lin")
    batches = mx.io.NDArrayIter(data, label, 8, label_name="lin_label")

    def run():
        trained = module.SVRGModule(net, data_names=["data"], label_names=["lin_label"],
                                    context=[mx.cpu(i) for i in range(devices)], update_freq=2)
        trained.fit(batches, eval_data=batches, eval_metric="mse", optimizer=optimizer,
                    optimizer_params=dict(params, learning_rate=0.05), num_epoch=4,
                    kvstore=kvstore, initializer=mx.init.One())
        return {"params": numbers(trained.get_params()[0]),
                "full": [numbers(of_device) for of_device in trained._param_dict]}
    return logged(run)


def managed(mx):
    """DataParallelExecutorManager by hand: two steps on two devices."""
    data, label = rows(16)
    net = network(mx)
    args, aux = parameters(mx)
    batches = mx.io.NDArrayIter(data, label, 8)

    def run():
        manager = mx.executor_manager.DataParallelExecutorManager(
            net, [mx.cpu(0), mx.cpu(1)], batches, net.list_arguments(), list(args), list(aux),
            work_load_list=[3, 1])
        manager.set_params(args, aux)
        metric = mx.metric.create("ce")
        for batch in batches:
            manager.load_data_batch(batch)
            manager.forward(is_train=True)
            manager.backward()
            for weights, grads in zip(manager.param_arrays, manager.grad_arrays):
                for weight, grad in zip(weights, grads):
                    weight -= 0.1 * grad
            manager.update_metric(metric, batch.label)
        manager.copy_to(args, aux)
        return {"params": numbers(args), "aux": numbers(aux), "metric": float(metric.get()[1]),
                "slices": [[x.start, x.stop] for x in manager.slices],
                "shapes": [[list(x[1].shape) for x in manager.execgrp.data_arrays[0]],
                           len(manager.execgrp.train_execs), manager.execgrp.data_names]}
    return logged(run)


SCENES = {
    "one device": lambda mx: feed_forward(mx, momentum=0.9),
    "two devices, local": lambda mx: feed_forward(mx, 2, momentum=0.9),
    "two devices, device, 7 batches": lambda mx: feed_forward(mx, 2, "device", epoch_size=7),
    "two devices, no store": lambda mx: feed_forward(mx, 2, None, momentum=0.9),
    "3 batches, from epoch 1": lambda mx: feed_forward(mx, begin_epoch=1, epoch_size=3),
    "an optimizer's object": lambda mx: feed_forward(
        mx, 2, optimizer=mx.optimizer.NAG(learning_rate=0.2, momentum=0.9, rescale_grad=1 / 8)),
    "created": created,
    "initialized": initialized,
    "managed": managed,
    "svrg": lambda mx: svrg(mx, momentum=0.9),
    "svrg, two devices": lambda mx: svrg(mx, 2, momentum=0.9),
    "svrg, two devices, device, adam": lambda mx: svrg(mx, 2, "device", "adam"),
    "svrg, two devices, no store": lambda mx: svrg(mx, 2, None),
}


if __name__ == "__main__":
    os.environ.setdefault("MXNET_MKLDNN_ENABLED", "0")
    import mxnet

    recorded = {name: scene(mxnet) for name, scene in SCENES.items()}
    with open(TARGET, "w") as file:
        file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v))
                                      for k, v in recorded.items()) + "\n}\n")
    print("%s: %d scenes" % (os.path.relpath(TARGET), len(recorded)))
