"""Gradient compression of stores and modules. The expected numbers are MXNet's recorded ones, or come from the
definition of 2bit, written here value by value in NumPy."""
import json
import os

import numpy as np
import pytest

import module_cases
import symbind as mx

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "kvstore", "compression.json")
TWO_BIT = {"type": "2bit", "threshold": 0.5}


def two_bit(gradient, residual, threshold):
    """(what arrives, what stays at the sender) of one push."""
    total = (residual + gradient).astype("float32")
    threshold = np.float32(threshold)
    sent = np.where(total >= threshold, threshold, np.where(total <= -threshold, -threshold, np.float32(0)))
    return sent, total - sent


def arrays(values):
    return [mx.nd.array(value, ctx=mx.cpu(d)) for d, value in enumerate(values)]


with open(GOLDEN) as _file:
    CASES = json.load(_file)["cases"]


@pytest.mark.parametrize("one", CASES, ids=["%(size)d values, %(devices)d devices, %(threshold)g, %(verb)s" % one
                                            for one in CASES])
def test_recorded(one):
    store = mx.kv.create("device")
    store.set_gradient_compression({"type": "2bit", "threshold": one["threshold"]})
    if one["updater"]:
        def add(_, pushed, stored):
            stored += pushed
        store._set_updater(add)
    store.init("w", mx.nd.ones((one["size"],)))
    for step, want in enumerate(one["pulled"]):
        if one.get("threshold_after", [None])[0] == step:
            store.set_gradient_compression({"type": "2bit", "threshold": one["threshold_after"][1]})
        grads = arrays(module_cases.formula((one["size"],), one["seed"] + 100 * step + d, one["lo"], one["hi"])
                       for d in range(one["devices"]))
        out = mx.nd.zeros((one["size"],))
        if one["verb"] == "push":
            store.push("w", grads)
            store.pull("w", out=out)
        else:
            store.pushpull("w", grads, out=out)
        np.testing.assert_array_equal(out.asnumpy(), np.array(want, "float32"))


@pytest.mark.parametrize("threshold", [0.5, 0.3, 1e-3, 1 / 3])
@pytest.mark.parametrize("shape", [(3,), (4, 4), (7, 31), (300, 301)])
def test_pushes_follow_the_definition(shape, threshold):
    rng = np.random.RandomState(3)
    store = mx.kv.create("local_allreduce_device")
    store.init([1, 2], [mx.nd.zeros(shape)] * 2)
    store.set_gradient_compression({"type": "2bit", "threshold": threshold})  # after init, as MXNet allows
    residuals = np.zeros((2, 3) + shape, "float32")
    for _ in range(4):
        grads = rng.uniform(-2 * threshold, 2 * threshold, (2, 3) + shape).astype("float32")
        store.push([1, 2], [arrays(grads[0]), arrays(grads[1])])
        for key in (1, 2):
            want = np.zeros(shape, "float32")
            for d in range(3):
                sent, residuals[key - 1, d] = two_bit(grads[key - 1, d], residuals[key - 1, d], threshold)
                want = want + sent
            out = mx.nd.zeros(shape)
            store.pull(key, out=out)
            np.testing.assert_array_equal(out.asnumpy(), want)


@pytest.mark.parametrize("kind, rounded", [
    ("fp16", lambda x: x.astype("float16").astype("float32")),
    # to nearest even at bit 16 of a float's bits
    ("bf16", lambda x: ((x.view("uint32") + 0x7fff + (x.view("uint32") >> 16 & 1)) & 0xffff0000).view("float32"))])
def test_halves(kind, rounded):
    grads = np.random.RandomState(4).randn(3, 1000).astype("float32")
    store = mx.kv.create("device")
    store.set_gradient_compression({"type": kind})
    store.init("w", mx.nd.zeros((1000,)))
    out = mx.nd.zeros((1000,))
    store.pushpull("w", arrays(grads), out=out)
    want = rounded(grads[0]) + rounded(grads[1]) + rounded(grads[2])
    np.testing.assert_array_equal(out.asnumpy(), want)
    assert (want != grads.sum(0)).any()


def trained(kvstore, compression, devices=2):
    rows = np.random.RandomState(5).randn(40, 6).astype("float32")
    data = mx.io.NDArrayIter(rows, (rows.sum(1) > 0).astype("float32"), 20)
    module = mx.mod.Module(module_cases.mlp(mx), context=[mx.cpu(d) for d in range(devices)],
                           compression_params=compression)
    mx.random.seed(6)
    module.fit(data, num_epoch=3, kvstore=kvstore, optimizer_params={"learning_rate": 0.1},
               initializer=mx.init.Uniform(0.5))
    return module.get_params()[0]["fc1_weight"].asnumpy()


def test_modules_train_with_each_type():
    plain = trained("device", None)
    np.testing.assert_array_equal(trained("device", {}), plain)
    for compression, most in (({"type": "fp16"}, 1e-3), ({"type": "bf16"}, 1e-2), (TWO_BIT, 1)):
        compressed = trained("device", compression)
        assert (compressed != plain).any()
        assert np.abs(compressed - plain).max() < most


def test_one_device_needs_no_store():
    np.testing.assert_array_equal(trained("local", TWO_BIT, 1), trained("local", None, 1))


@pytest.mark.parametrize("params, text", [
    ({"type": "2bits"}, "did you mean '2bit'"),
    ({"type": "2bit", "treshold": 1}, "did you mean 'threshold'"),
    ({"type": "2bit", "threshold": 0}, "threshold 0 is not above 0"),
    ({"type": "2bit", "threshold": "much"}, "much"),
    ({"type": "bf16", "threshold": 0.5}, "type bf16 has no threshold"),
    ({"threshold": 0.5}, "type"),
    ("2bit", "is a dict such as {'type': '2bit', 'threshold': 0.5}, not '2bit'"),
])
def test_wrong_parameters(params, text):
    net = module_cases.mlp(mx)
    for call in (lambda: mx.kv.create("device").set_gradient_compression(params),
                 lambda: mx.mod.Module(net, compression_params=params),
                 lambda: mx.mod.BucketingModule(lambda key: (net, ("data",), ("softmax_label",)), 1,
                                                compression_params=params)):
        with pytest.raises(mx.MXNetError, match=text):
            call()


def test_stores_without_compression():
    for kind in ("local", "local_allreduce_cpu"):
        with pytest.raises(NotImplementedError, match="kvstore '%s' does not compress gradients[^']*'device'" % kind):
            mx.kv.create(kind).set_gradient_compression(TWO_BIT)
    with pytest.raises(mx.MXNetError, match="does not compress"):
        trained("local", TWO_BIT)


def test_only_float32():
    store = mx.kv.create("device")
    store.set_gradient_compression(TWO_BIT)
    store.init("w", mx.nd.ones((2,), dtype="float16"))
    with pytest.raises(mx.MXNetError, match="key w has gradients of type float16; only float32 can be compressed"):
        store.push("w", mx.nd.ones((2,), dtype="float16"))
