"""Predictor: MXNet's recorded answers, inputs of every kind, threads, and mistakes."""
import gc
import gzip
import json
import os
import threading
import time

import numpy as np
import pytest
import symbind as mx

GOLDEN = os.path.join(os.path.dirname(__file__), "..", "golden")
GAP = os.path.join(GOLDEN, "predict", "gap")
RNG = np.random.default_rng(5)


def image(batch, height=8, width=8):
    return RNG.standard_normal((batch, 3, height, width)).astype("float32")


def by_module(x):
    """What Module says."""
    module = mx.mod.Module.load(GAP, 0)
    module.bind([("data", x.shape)], for_training=False)
    module.forward(mx.io.DataBatch([mx.nd.array(x)]), is_train=False)
    return module.get_outputs()[0].asnumpy()


def test_equals_module_for_every_shape():
    predictor = mx.Predictor(GAP, 0)
    for shape in ((1, 8, 8), (5, 8, 8), (2, 11, 7)):
        x = image(*shape)
        np.testing.assert_array_equal(predictor(x).asnumpy(), by_module(x))
    assert predictor.stats()["plans"] == 3


def test_checkpoint_of_MXNet():
    """tests/golden/checkpoint: what MXNet said of the same pictures, together and one at a time."""
    try:
        found = mx.datasets.find_images("Fashion-MNIST")
    except OSError:
        pytest.skip("Debian's package dataset-fashion-mnist is not installed")
    with gzip.open(found.test_images) as f:
        x = np.frombuffer(f.read(16 + 4 * 784), np.uint8, offset=16).reshape(4, 1, 28, 28) / np.float32(255)
    with open(os.path.join(GOLDEN, "checkpoint", "fashion.json"), encoding="utf-8") as f:
        wanted = np.array(json.load(f)["outputs"])
    predictor = mx.Predictor(os.path.join(GOLDEN, "checkpoint", "fashion"), 1)
    np.testing.assert_allclose(predictor(x).asnumpy(), wanted, rtol=1e-5, atol=1e-7)
    for i in range(4):
        np.testing.assert_allclose(predictor(x[i:i + 1]).asnumpy(), wanted[i:i + 1], rtol=1e-5, atol=1e-7)


def test_inputs_of_every_kind():
    predictor = mx.Predictor(GAP, 0)
    x = image(2)
    wanted = predictor.predict(x).asnumpy()
    for given in (mx.nd.array(x), x.astype("float64"), x.astype(">f4"), np.asfortranarray(x), x.tolist(),
                  np.repeat(x, 2, axis=3)[..., ::2], mx.nd.array(x, dtype="float64")):
        np.testing.assert_array_equal(predictor(given).asnumpy(), wanted)
    np.testing.assert_array_equal(predictor(data=x).asnumpy(), wanted)
    np.testing.assert_array_equal(predictor(x, softmax_label=np.zeros(2)).asnumpy(), wanted)
    pixels = np.full((1, 3, 8, 8), 7, "uint8")
    np.testing.assert_array_equal(predictor(pixels).asnumpy(), predictor(pixels.astype("float32")).asnumpy())


def test_several_inputs_and_outputs():
    predictor = mx.Predictor(os.path.join(GOLDEN, "predict", "pair"), 0)
    assert predictor.input_names == ["left", "right"]
    assert predictor.output_names == ["score_output", "both_output"]
    left, right = np.ones((2, 3)), np.ones((2, 4))
    outputs = predictor(left, right=right)
    assert [o.shape for o in outputs] == [(2, 2), (2, 6)]
    assert predictor.output_shapes(left=(5, 3), right=(5, 4)) == [(5, 2), (5, 6)]


def test_internals_by_name():
    inside = mx.Predictor(GAP, 0, outputs=["flat_output", "softmax_output"])
    x = image(3)
    flat, softmax = inside(x)
    assert flat.shape == (3, 16)
    np.testing.assert_allclose(softmax.asnumpy(), mx.Predictor(GAP, 0)(x).asnumpy(), rtol=1e-6)
    assert inside.symbol.list_outputs() == inside.output_names == ["flat_output", "softmax_output"]


def test_ways_to_make_one():
    x = image(1)
    wanted = mx.Predictor(GAP, 0)(x).asnumpy()
    with open(GAP + "-symbol.json", encoding="utf-8") as f:
        text = f.read()
    with open(GAP + "-0000.params", "rb") as f:
        params = f.read()
    symbol, args, aux = mx.model.load_checkpoint(GAP, 0)
    for made in (mx.Predictor.from_files(GAP + "-symbol.json", GAP + "-0000.params"),
                 mx.Predictor.from_memory(text, params), mx.Predictor.from_symbol(symbol, args, aux)):
        np.testing.assert_array_equal(made(x).asnumpy(), wanted)


def test_threads_answer_as_one_does():
    predictor = mx.Predictor(GAP, 0, threads=1, max_pool=3)
    asked = [image(b, h, 8) for b, h in ((1, 8), (2, 8), (3, 9), (1, 8))]
    wanted = [mx.Predictor(GAP, 0, threads=1)(x).asnumpy() for x in asked]
    wrong = []

    def ask(number):
        for i in range(30):
            k = (number + i) % len(asked)
            if not np.array_equal(predictor(asked[k]).asnumpy(), wanted[k]):
                wrong.append((number, i))

    threads = [threading.Thread(target=ask, args=(t,)) for t in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert predictor.stats()["pool"] <= 3


def test_the_interpreter_is_free_meanwhile():
    """Another thread counts on while a network runs."""
    data = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(data, num_hidden=2048, no_bias=True, name="fc")
    predictor = mx.Predictor.from_symbol(net, {"fc_weight": mx.nd.ones((2048, 2048))})
    x = np.ones((1024, 2048), "float32")
    predictor(x)
    ticks, running = [0], [True]

    def count():
        while running[0]:
            ticks[0] += 1
            time.sleep(0)

    thread = threading.Thread(target=count)
    thread.start()
    before = ticks[0]
    for _ in range(3):
        predictor(x)
    during = ticks[0] - before
    running[0] = False
    thread.join()
    assert during > 50


class _Doubling(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        assert not is_train
        if float(in_data[0].asnumpy().flat[0]) < 0:
            raise ValueError("negative")
        self.assign(out_data[0], req[0], in_data[0] * 2)


@mx.operator.register("predictor_doubling")
class _DoublingProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return _Doubling()


def test_operators_written_in_python():
    net = mx.sym.Custom(mx.sym.Variable("data"), op_type="predictor_doubling", name="mine")
    predictor = mx.Predictor.from_symbol(net, {})
    results = {}

    def ask(number):
        results[number] = predictor(np.full((2, 2), number)).asnumpy()

    threads = [threading.Thread(target=ask, args=(t,)) for t in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    for number in range(6):
        np.testing.assert_array_equal(results[number], np.full((2, 2), 2 * number))
    with pytest.raises(mx.MXNetError, match="negative"):
        predictor(np.full((2, 2), -1.0))
    np.testing.assert_array_equal(predictor(np.ones((2, 2))).asnumpy(), np.full((2, 2), 2))


def test_objects_of_python_come_and_go_under_other_threads():
    """Plans are given up, and with them objects that need the interpreter, while others hold it and ask."""
    net = mx.sym.Custom(mx.sym.Variable("data"), op_type="predictor_doubling", name="mine")
    predictor = mx.Predictor.from_symbol(net, {}, max_plans=1, max_pool=2)
    wrong = []

    def ask(number):
        for i in range(20):
            rows = 1 + (number + i) % 3
            if not np.array_equal(predictor(np.ones((rows, 2))).asnumpy(), np.full((rows, 2), 2)):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(t,)) for t in range(4)]
    for t in threads:
        t.start()
    while any(t.is_alive() for t in threads):
        assert predictor.stats()["plans"] <= 1
    assert not wrong


@pytest.mark.parametrize("call, kind, words", [
    (lambda p: p(dta=image(1)), ValueError, ["no input 'dta'", "data"]),
    (lambda p: p(), ValueError, ["inputs are missing: data"]),
    (lambda p: p(image(1), image(1)), TypeError, ["2 inputs were given, 1 are needed: data"]),
    (lambda p: p(image(1), data=image(1)), TypeError, ["given twice"]),
    (lambda p: p(np.zeros((1, 4, 8, 8))), ValueError, ["conv1", "(1, 4, 8, 8)"]),
    (lambda p: p(np.zeros((0, 3, 8, 8))), ValueError, ["has no numbers"]),
    (lambda p: p("an image"), TypeError, ["input 'data'"]),
    (lambda p: p(np.array([[None]])), TypeError, ["input 'data'", "object"]),
    (lambda p: p([[1, 2], [3]]), TypeError, ["input 'data' is no array"]),
    (lambda p: p.output_shapes(x=(1,)), ValueError, ["no input 'x'"]),
    (lambda p: mx.Predictor(GAP, 3), OSError, ["gap-0003.params", "existing epochs"]),
    (lambda p: mx.Predictor(GAP, 0, outputs=["relu_output"]), ValueError, ["relu1_output"]),
    (lambda p: mx.Predictor(GAP, 0, threads=-1), ValueError, ["threads is -1"]),
    (lambda p: mx.Predictor(GAP, 0, thread=1), TypeError, ["thread"]),
    (lambda p: mx.Predictor.from_symbol(p.symbol, {}), ValueError, ["missing:", "conv1_weight"]),
    (lambda p: mx.Predictor.from_memory("{", b""), Exception, []),
])
def test_mistakes(call, kind, words):
    predictor = mx.Predictor(GAP, 0)
    x = image(1)
    before = predictor(x).asnumpy()
    with pytest.raises(kind) as raised:
        call(predictor)
    for word in words:
        assert word in str(raised.value)
    np.testing.assert_array_equal(predictor(x).asnumpy(), before)


def test_closed():
    with mx.Predictor(GAP, 0) as predictor:
        kept = predictor(image(1))
        before = kept.asnumpy()
    with pytest.raises(AssertionError, match="closed"):
        predictor(image(1))
    gc.collect()
    np.testing.assert_array_equal(kept.asnumpy(), before)


def test_compute_dtype():
    """bfloat16 keeps 8 digits of a number: answers are near those of float32; float32 is the default."""
    x = image(2)
    wanted = mx.Predictor(GAP, 0)(x).asnumpy()
    np.testing.assert_array_equal(mx.Predictor(GAP, 0, compute_dtype="float32")(x).asnumpy(), wanted)
    near = mx.Predictor(GAP, 0, compute_dtype="bfloat16")(x)
    assert near.dtype == np.float32
    np.testing.assert_allclose(near.asnumpy(), wanted, rtol=0, atol=2 ** -5 * np.abs(wanted).max())
    exact = mx.Predictor(GAP, 0, compute_dtype="bfloat16", exact=True)(x).asnumpy()
    np.testing.assert_array_equal(exact, mx.Predictor(GAP, 0, exact=True)(x).asnumpy())
    with pytest.raises(mx.MXNetError, match="compute_dtype is 'half'; valid are float32 and bfloat16"):
        mx.Predictor(GAP, 0, compute_dtype="half")


def test_compute_dtype_of_a_module():
    x = image(2)
    module = mx.mod.Module.load(GAP, 0, compute_dtype="bfloat16")
    module.bind([("data", x.shape)], for_training=False)
    module.forward(mx.io.DataBatch([mx.nd.array(x)]), is_train=False)
    near = module.get_outputs()[0].asnumpy()
    np.testing.assert_allclose(near, by_module(x), rtol=0, atol=2 ** -5 * np.abs(near).max())
