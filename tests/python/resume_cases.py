"""Trainings with everything a checkpoint must keep, run as programs that may be killed.

    python resume_cases.py KIND FOLDER [name=value ...]

Trains; prints the SHA-256 of parameters and optimizer states at the end. `kill=EPOCH,BATCH` ends the
process by SIGKILL after that batch, `border=EPOCH` after the checkpoint of that epoch.
"""
import hashlib
import logging
import os
import signal
import sys

import numpy as np

import symbind as mx


def dropout_net():
    net = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(net, num_hidden=16, name="fc1")
    net = mx.sym.BatchNorm(net, fix_gamma=False, name="bn")
    net = mx.sym.Activation(net, act_type="relu", name="relu1")
    net = mx.sym.Dropout(net, p=0.4, name="drop")
    net = mx.sym.FullyConnected(net, num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def rows(count=100):
    rng = np.random.RandomState(5)
    return rng.randn(count, 5).astype("float32"), rng.randint(0, 3, count).astype("float32")


class Drawing(mx.io.DataIter):
    """A script's own: draws its order and noise with NumPy, and says nothing about itself but that."""

    def __init__(self):
        super().__init__(8)
        self.x, self.y = rows(40)
        self.order, self.at = np.arange(40), 0
        self.provide_data = [mx.io.DataDesc("data", (8, 5))]
        self.provide_label = [mx.io.DataDesc("softmax_label", (8,))]

    def reset(self):
        self.at = 0
        np.random.shuffle(self.order)

    def next(self):
        if self.at == 40:
            raise StopIteration
        picked = self.order[self.at:self.at + 8]
        self.at += 8
        noise = np.random.randn(8, 5) * 0.1
        return mx.io.DataBatch([mx.nd.array(self.x[picked] + noise)], [mx.nd.array(self.y[picked])],
                               pad=0)

    def state_dict(self):
        return {"order": self.order.copy(), "at": self.at}

    def load_state_dict(self, state):
        self.order, self.at = state["order"], state["at"]


@mx.optimizer.register
class Slow(mx.optimizer.Optimizer):
    """A custom optimizer with its own count."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.calls = 0

    def create_state(self, index, weight):
        return mx.nd.zeros(weight.shape, weight.context)

    def update(self, index, weight, grad, state):
        self._update_count(index)
        self.calls += 1
        state[:] = 0.9 * state + grad * self.rescale_grad
        weight[:] = weight - self._get_lr(index) / (1 + 0.01 * self.calls) * state


class Halving(mx.lr_scheduler.LRScheduler):
    def __init__(self):
        super().__init__(0.1)
        self.asked = 0

    def __call__(self, num_update):
        self.asked += 1
        return 0.1 / (1 + 0.01 * self.asked)


def iterator(kind):
    x, y = rows()
    plain = dict(batch_size=8, shuffle=True, last_batch_handle="roll_over")
    if kind == "prefetch":
        return mx.io.PrefetchingIter(mx.io.NDArrayIter(x, y, **dict(plain, last_batch_handle="pad")))
    if kind == "resize":
        return mx.io.ResizeIter(mx.io.NDArrayIter(x, y, **plain), 17)
    if kind == "drawing":
        return Drawing()
    if kind == "prefetch_drawing":
        return mx.io.PrefetchingIter(Drawing())
    return mx.io.NDArrayIter(x, y, **plain)


def sentences():
    texts = [[(i * 7 + t * 3) % 9 + 1 for t in range(4 if i % 2 else 6)] for i in range(64)]
    return mx.rnn.BucketSentenceIter(texts, 4, buckets=[4, 6], invalid_label=0)


def bucket_net(length):
    net = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=10, output_dim=6, name="embed")
    net = mx.sym.Reshape(mx.sym.Dropout(net, p=0.3, name="drop"), shape=(-1, 6))
    net = mx.sym.FullyConnected(net, num_hidden=10, name="pred")
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(net, label, name="softmax"), ("data",), ("softmax_label",)


def training(kind):
    """(module, iterator, keywords of fit)."""
    contexts = [mx.cpu(0), mx.cpu(1)]
    scheduler = Halving() if kind == "own" else mx.lr_scheduler.FactorScheduler(7, 0.9)
    optimizer = {"adam": "adam", "own": "slow"}.get(kind, "sgd")
    params = {"learning_rate": 0.1, "wd": 0.01, "lr_scheduler": scheduler}
    if optimizer == "sgd":
        params["momentum"] = 0.9
    fit = dict(optimizer=optimizer, optimizer_params=params, eval_metric=["acc", "ce"],
               initializer=mx.init.Xavier())
    if kind == "buckets":
        return mx.mod.BucketingModule(bucket_net, 6), sentences(), dict(fit, eval_metric="ce")
    if kind == "chain":
        first = mx.sym.Dropout(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=7, name="a"),
                               p=0.3, name="drop")
        last = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3,
                                                          name="b"), name="softmax")
        module = mx.mod.SequentialModule()
        module.add(mx.mod.Module(first, label_names=None))
        module.add(mx.mod.Module(last), take_labels=True, auto_wiring=True)
        return module, iterator(kind), fit
    if kind == "own":
        fit["eval_metric"] = mx.metric.CustomMetric(lambda y, p: float((p.argmax(1) == y).mean()),
                                                    name="share")
    compression = None
    if kind == "compressed":  # the residuals are state
        compression, fit["kvstore"] = {"type": "2bit", "threshold": 0.1}, "device"
    return mx.mod.Module(dropout_net(), context=contexts, compression_params=compression), iterator(kind), fit


def hashes(module, folder):
    """SHA-256 of the parameters and of the optimizer's states."""
    path = os.path.join(folder, "hash")
    module.save_params(path)
    found = [hashlib.sha256(open(path, "rb").read()).hexdigest()]
    for part in module._leaves(all_weights=True):
        part.save_optimizer_states(path)
        found.append(hashlib.sha256(open(path, "rb").read()).hexdigest())
    return " ".join(found)


def main(kind, folder, resume="", every="4", kill="", border="", epochs="3", save="1",
         background="0"):
    logging.basicConfig(level=logging.INFO)
    mx.random.seed(42)
    np.random.seed(7)
    import random
    random.seed(8)
    module, data, fit = training(kind)
    prefix = os.path.join(folder, "model")
    at = tuple(map(int, kill.split(","))) if kill else None

    def watch(param):
        if at == (param.epoch, param.nbatch + 1):
            os.kill(os.getpid(), signal.SIGKILL)

    class Border(logging.Handler):
        def emit(self, record):
            if border and "model-%04d.manifest.json" % int(border) in record.getMessage():
                os.kill(os.getpid(), signal.SIGKILL)

    logging.getLogger().addHandler(Border())
    checkpoint = mx.callback.Checkpoint(prefix, every_n_batches=int(every),
                                        background=background == "1") if save == "1" else None
    module.fit(data, num_epoch=int(epochs), checkpoint=checkpoint, resume=resume or None,
               batch_end_callback=[mx.callback.Speedometer(8, 5), watch], **fit)
    print(hashes(module, folder))


if __name__ == "__main__":
    main(*sys.argv[1:3], **dict(one.split("=", 1) for one in sys.argv[3:]))
