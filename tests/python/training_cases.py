"""Softmax regression in NumPy and in Symbind, for the tests of what fit can do beyond MXNet's."""
import math

import numpy as np

import symbind as mx

ROWS, FEATURES, CLASSES = 24, 5, 3
RATE = 0.5


def network():
    """Softmax regression, whose gradient NumPy can write down."""
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=CLASSES, name="fc")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def material(seed=3):
    rng = np.random.RandomState(seed)
    data = rng.uniform(-1, 1, (ROWS, FEATURES)).astype("float32")
    label = rng.randint(0, CLASSES, ROWS).astype("float32")
    return data, label


def start():
    rng = np.random.RandomState(7)
    return {"fc_weight": rng.uniform(-1, 1, (CLASSES, FEATURES)), "fc_bias": rng.uniform(-1, 1, CLASSES)}


def gradients(params, data, label):
    """Of the sum over the rows."""
    z = data @ params["fc_weight"].T + params["fc_bias"]
    p = np.exp(z - z.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    p[np.arange(len(label)), label.astype(int)] -= 1
    return {"fc_weight": p.T @ data, "fc_bias": p.sum(0)}


def trained(groups, clip=None, decay=None, rate=RATE):
    """SGD in NumPy: an update for each group of rows. Returns the weights and their average."""
    data, label = material()
    params = start()
    average = {k: v.copy() for k, v in params.items()}
    for rows in groups:
        grads = gradients(params, data[rows].astype("float64"), label[rows])
        grads = {k: g / len(rows) for k, g in grads.items()}
        norm = math.sqrt(sum((g ** 2).sum() for g in grads.values()))
        scale = min(1.0, clip / norm) if clip else 1.0
        for name, grad in grads.items():
            params[name] = params[name] - rate * scale * grad
            if decay:
                average[name] = decay * average[name] + (1 - decay) * params[name]
    return params, average


def batches(size, count=None):
    return [np.arange(i, i + size) for i in range(0, (count or ROWS // size) * size, size)]


def fit(batch_size=4, devices=1, module=None, **kwargs):
    data, label = material()
    module = module or mx.mod.Module(network(), context=[mx.cpu(i) for i in range(devices)])
    kwargs.setdefault("optimizer_params", {"learning_rate": RATE})
    module.fit(mx.io.NDArrayIter(data, label, batch_size), num_epoch=kwargs.pop("num_epoch", 1),
               arg_params={k: mx.nd.array(v) for k, v in start().items()}, aux_params={}, **kwargs)
    return module


def close(module_or_params, want, atol=2e-6):
    got = module_or_params if isinstance(module_or_params, dict) else module_or_params.get_params()[0]
    assert sorted(got) == sorted(want)
    for name, value in want.items():
        np.testing.assert_allclose(got[name].asnumpy(), value, rtol=0, atol=atol, err_msg=name)
