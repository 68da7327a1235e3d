"""FeedForward and the executor manager as MXNet has them: tools/oracle/record_model.py under Symbind
against its recording; and what goes wrong."""
import importlib.util
import json
import os
import pickle

import numpy as np
import pytest

import symbind as mx

ORACLE = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "oracle", "record_model.py")
spec = importlib.util.spec_from_file_location("record_model", ORACLE)
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

with open(oracle.TARGET) as file:
    RECORDED = json.load(file)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


def compare(got, want, where):
    """Equal, numbers of arrays to 1e-4 of the largest and log lines to their last digit but one."""
    if isinstance(want, dict):
        assert sorted(got) == sorted(want), where
        for key in want:
            compare(got[key], want[key], where + "/" + key)
    elif isinstance(want, list) and want and isinstance(want[0], float):
        got, want = np.array(got), np.array(want)
        np.testing.assert_allclose(got, want, 0, 1e-4 * max(np.abs(want).max(), 1e-2), where)
    elif isinstance(want, list):
        assert len(got) == len(want), (where, got, want)
        for i, (a, b) in enumerate(zip(got, want)):
            compare(a, b, "%s[%d]" % (where, i))
    elif isinstance(want, float):
        assert got == pytest.approx(want, rel=1e-4, abs=1e-5), where
    elif isinstance(want, str) and "=" in want:
        (name, _, value), (wanted, _, number) = got.partition("="), want.partition("=")
        assert name == wanted, where
        assert value == number or float(value) == pytest.approx(float(number), abs=2e-6), where
    else:
        assert got == want, where


@pytest.mark.parametrize("scene", sorted(RECORDED))
def test_as_recorded(scene):
    compare(oracle.SCENES[scene](mx), RECORDED[scene], scene)


def model(**options):
    args, aux = oracle.parameters(mx)
    return mx.model.FeedForward(oracle.network(mx), arg_params=args, aux_params=aux, **options)


def iterator(count=16):
    return mx.io.NDArrayIter(*oracle.rows(count), batch_size=8)


def test_it_warns_of_its_age():
    with pytest.warns(DeprecationWarning, match="FeedForward has been deprecated. Please use mxnet.mod"):
        model()


def test_pickle_save_load(tmp_path):
    trained = model(num_epoch=2, learning_rate=0.1)
    trained.fit(iterator())
    expected = trained.predict(iterator())
    data = pickle.dumps(trained)
    assert b"csymbind.model" in data or b"symbind.model" in data
    again = pickle.loads(data)
    np.testing.assert_array_equal(again.predict(iterator()), expected)
    prefix = str(tmp_path / "model")
    trained.save(prefix)
    assert os.path.exists(prefix + "-0002.params") and os.path.exists(prefix + "-symbol.json")
    loaded = mx.model.FeedForward.load(prefix, 2, num_epoch=3, learning_rate=0.1)
    assert loaded.begin_epoch == 2
    np.testing.assert_array_equal(loaded.predict(iterator()), expected)
    loaded.fit(iterator())
    # The third epoch alone; without momentum it is the same as training on.
    trained.begin_epoch, trained.num_epoch = 2, 3
    trained.fit(iterator())
    np.testing.assert_array_equal(loaded.predict(iterator()), trained.predict(iterator()))


def test_predict_after_fit_has_the_new_parameters():
    trained = model(num_epoch=1, learning_rate=0.5)
    before = trained.predict(iterator())
    trained.fit(iterator())
    after = trained.predict(iterator())
    assert np.abs(after - before).max() > 1e-3
    module = mx.mod.Module(trained.symbol)
    module.bind(iterator().provide_data, iterator().provide_label, for_training=False)
    module.set_params(trained.arg_params, trained.aux_params)
    np.testing.assert_allclose(after, module.predict(iterator()).asnumpy(), 1e-6)


def test_buckets():
    """A network for each length; names of inputs come from the batches."""
    def sym_gen(length):
        steps = [mx.sym.Variable("t%d_data" % i) for i in range(length)]
        weight = mx.sym.Variable("step_weight")
        hidden = [mx.sym.FullyConnected(x, weight=weight, num_hidden=3, no_bias=True,
                                        name="step%d" % i) for i, x in enumerate(steps)]
        out = mx.sym.FullyConnected(mx.sym.add_n(*hidden), num_hidden=2, name="out")
        return mx.sym.SoftmaxOutput(out, name="softmax")

    class Batches(mx.io.DataIter):
        default_bucket_key = 3

        def __init__(self):
            super().__init__(4)
            self.reset()
            self.provide_data, self.provide_label = self.shapes(3)

        @staticmethod
        def shapes(length):
            return [("t%d_data" % i, (4, 2)) for i in range(length)], [("softmax_label", (4,))]

        def reset(self):
            self.lengths = iter([2, 3, 1, 3])

        def next(self):
            length = next(self.lengths)
            data = [mx.nd.ones((4, 2)) * (i + 1) for i in range(length)]
            provide_data, provide_label = self.shapes(length)
            return mx.io.DataBatch(data, [mx.nd.array([0, 1, 1, 1])], 0, None, bucket_key=length,
                                   provide_data=provide_data, provide_label=provide_label)

    trained = mx.model.FeedForward(sym_gen, num_epoch=2, learning_rate=0.1,
                                   initializer=mx.init.One(), momentum=0.9)
    counted = []
    trained.fit(Batches(), batch_end_callback=lambda param: counted.append(param.nbatch))
    assert counted == [1, 2, 3, 4] * 2

    # The same by hand.
    weight, out_w, out_b = np.ones((3, 2)), np.ones((2, 3)), np.zeros(2)
    states = [np.zeros_like(x) for x in (weight, out_w, out_b)]
    onehot = np.eye(2)[[0, 1, 1, 1]]
    for length in [2, 3, 1, 3] * 2:
        x = np.ones((4, 2)) * sum(range(1, length + 1))
        hidden = x @ weight.T
        p = hidden @ out_w.T + out_b
        p = np.exp(p - p.max(1, keepdims=True))
        d = (p / p.sum(1, keepdims=True) - onehot) / 4
        grads = ((d @ out_w).T @ x, d.T @ hidden, d.sum(0))
        for value, state, grad in zip((weight, out_w, out_b), states, grads):
            state *= 0.9
            state -= 0.1 * grad
            value += state
    np.testing.assert_allclose(trained.arg_params["step_weight"].asnumpy(), weight, 1e-4)
    np.testing.assert_allclose(trained.arg_params["out_weight"].asnumpy(), out_w, 1e-4)
    np.testing.assert_allclose(trained.arg_params["out_bias"].asnumpy(), out_b, 1e-4, 1e-6)


def test_a_monitor_sees_every_batch():
    seen = []

    class Counting(mx.mon.Monitor):
        def toc_print(self):
            seen.append([name for _, name, _ in self.toc()])

    model(num_epoch=2, learning_rate=0.1).fit(iterator(), monitor=Counting(1, pattern="fc2_output"))
    assert seen == [["fc2_output"]] * 4


def test_stop_training_keeps_what_was_learned():
    trained = model(num_epoch=5, learning_rate=0.5)
    before = trained.arg_params["fc2_bias"].asnumpy()

    def stop(param):
        if param.epoch == 1:
            raise mx.callback.StopTraining("enough")

    trained.fit(iterator(), batch_end_callback=stop)
    assert np.abs(trained.arg_params["fc2_bias"].asnumpy() - before).max() > 1e-3


def test_extra_parameters():
    args, aux = oracle.parameters(mx)
    args["old_weight"] = mx.nd.zeros((1,))
    options = dict(arg_params=args, aux_params=aux)
    with pytest.raises(ValueError, match="old_weight"):
        mx.model.FeedForward(oracle.network(mx), **options).predict(iterator())
    dropped = mx.model.FeedForward(oracle.network(mx), allow_extra_params=True, **options)
    assert sorted(dropped.arg_params) == sorted(set(args) - {"old_weight"})
    assert dropped.predict(iterator()).shape == (16, 2)


class Empty(mx.io.DataIter):
    provide_data, provide_label = [("data", (8, 4))], [("softmax_label", (8,))]

    def next(self):
        raise StopIteration


@pytest.mark.parametrize("use, kind, text", [
    (lambda m: m.fit(np.zeros((3, 4))), ValueError, "y must be specified"),
    (lambda m: m.fit(np.zeros((3, 4)), [1, 2, 3]), TypeError, "y must be ndarray"),
    (lambda m: m.fit(np.zeros((3, 4)), np.zeros(2)), ValueError, "not equal: 3 and 2"),
    (lambda m: m.fit(np.zeros((3, 4)), np.zeros((3, 2))), ValueError, "1D or 2D"),
    (lambda m: m.fit([1, 2]), TypeError, "X must be DataIter"),
    (lambda m: m.fit(iterator(), eval_data=(None, None)), ValueError, "Eval data is NONE"),
    (lambda m: m.fit(iterator(), eval_data=3), TypeError, "Eval data must be"),
    (lambda m: m.fit(Empty(8)), ValueError, "no batch in epoch 0"),
    (lambda m: m.predict(Empty(8)), ValueError, "no batch to predict"),
    (lambda m: m.predict(mx.io.NDArrayIter({"x": np.zeros((8, 4))}, batch_size=8)), ValueError,
     "'x', which is no argument of the network; those are data, fc1_weight"),
    (lambda m: m.fit(mx.io.NDArrayIter(np.zeros((8, 5)), np.zeros(8), 8)), ValueError,
     r"fc1_weight is given with shape \(8, 4\), the network needs \(8, 5\)"),
])
def test_bad_input(use, kind, text):
    with pytest.raises(kind, match=text):
        use(model(num_epoch=1))


def test_what_is_missing():
    with pytest.raises(AssertionError, match="num_epoch"):
        model().fit(iterator())
    with pytest.raises(AssertionError, match="has no parameters"):
        mx.model.FeedForward(oracle.network(mx)).predict(iterator())
    with pytest.raises(TypeError, match="takes a Symbol"):
        mx.model.FeedForward("net.json")
    with pytest.raises(AssertionError):
        model().save("nowhere")
    with pytest.raises(ValueError, match="duplicated argument name"):
        twice = mx.sym.FullyConnected(mx.sym.FullyConnected(
            mx.sym.Variable("data"), num_hidden=4, name="fc"), num_hidden=4, name="fc")
        mx.model.FeedForward(twice)


def test_scikit_learn_is_not_needed():
    base = mx.model.BASE_ESTIMATOR
    assert issubclass(mx.model.FeedForward, base)
    assert base is object or base.__module__.startswith("sklearn")
