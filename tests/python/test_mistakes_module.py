"""Mistakes with modules, by their numbers in docs/mistakes.md.

Every error is the Python exception MXNet raises there. Those that are not plain asserts are
MXNetErrors too.
"""
import os
import resource
import signal
import stat

import numpy as np
import pytest

import symbind as mx
from test_contract import bound, cpus, mlp
from test_contract_bind import DATA, LABEL, assert_equal, batch, numbers
from test_contract_train import ready
from test_mistakes import check


def iterator(rows=16, labels=True, batch_size=8):
    rng = np.random.RandomState(0)
    return mx.io.NDArrayIter(rng.uniform(-1, 1, (rows, 5)),
                             rng.randint(0, 3, rows) if labels else None, batch_size)


def asserts(call, *parts):
    """`call` raises an AssertionError with all of `parts` in its text."""
    with pytest.raises(AssertionError) as raised:
        call()
    for part in parts:
        assert part in str(raised.value), f"{part!r} is not in: {raised.value}"


def test_21_unknown_data_name():
    check(lambda: mx.mod.Module(mlp(), data_names=["x"]), ValueError, "'x'", "data",
          "softmax_label", "Did you mean one of")


def test_22_calls_that_come_too_early():
    mod = mx.mod.Module(mlp(4, 3))
    asserts(lambda: mod.forward(batch()), "bind")
    asserts(lambda: mod.init_params(), "call bind before initializing the parameters")
    mod.bind(DATA, LABEL)
    asserts(lambda: mod.forward(batch()), "init_params")
    asserts(lambda: mod.backward(), "init_params")
    asserts(lambda: mod.get_params(), "init_params")
    asserts(lambda: mod.init_optimizer(), "init_params")
    mod.init_params()
    mod.forward_backward(batch())
    asserts(lambda: mod.update(), "init_optimizer")
    asserts(lambda: mod.get_input_grads())
    mod.bind(DATA, None, for_training=False, force_rebind=True)
    mod.forward(batch())
    asserts(lambda: mod.backward(), "re-bind with for_training=True to run backward")


@pytest.mark.parametrize("metric", ["acc", "ce", ["acc", "mse"]])
def test_23_metric_without_labels(metric):
    with pytest.warns(UserWarning):
        mod = mx.mod.Module(mlp(4, 3))
        check(lambda: mod.fit(iterator(labels=False), eval_metric=metric, num_epoch=1), ValueError,
              {"acc": "accuracy", "ce": "cross-entropy"}.get(str(metric), "accuracy"),
              "softmax_output", "label")


def test_23_metric_that_needs_none():
    net = mx.sym.MakeLoss(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1), name="loss")
    mod = mx.mod.Module(net, label_names=None)
    mod.fit(iterator(labels=False), eval_metric=mx.metric.Loss(), num_epoch=1)


def test_24_more_devices_than_rows():
    mod = mx.mod.Module(mlp(4, 3), context=cpus(4))
    check(lambda: mod.bind([("data", (3, 5))], [("softmax_label", (3,))]), ValueError,
          "Too many slices", "3", "4 devices")
    assert not mod.binded


def test_25_label_column():
    mod, flat = ready(), ready()
    flat.set_params(*mod.get_params())
    column = batch()
    column.label = [column.label[0].reshape((8, 1))]
    for one, given in ((mod, column), (flat, batch())):
        one.forward_backward(given)
        one.update()
    assert_equal(numbers(mod.get_params()[0]), numbers(flat.get_params()[0]))
    # The iterator may say so itself.
    wide = mx.mod.Module(mlp(4, 3))
    data = mx.io.NDArrayIter(np.ones((8, 5)), np.zeros((8, 1)), 8)
    wide.fit(data, num_epoch=1)


def test_26_label_that_is_no_class(monkeypatch):
    net = mx.sym.SoftmaxOutput(mx.sym.Variable("data"), name="softmax")
    given = {"data": mx.nd.array(np.random.RandomState(1).rand(2, 10)),
             "softmax_label": mx.nd.array([3, 10])}

    def run():
        executor = net.bind(mx.cpu(), given, args_grad={"data": mx.nd.zeros((2, 10))})
        out = executor.forward(is_train=True)[0].asnumpy()
        executor.backward()
        return out, executor.grad_dict["data"].asnumpy()

    out, grad = run()
    np.testing.assert_allclose(grad[1], out[1], rtol=1e-6)  # no one-hot entry
    np.testing.assert_allclose(grad[0].sum(), 0, atol=1e-6)
    monkeypatch.setenv("SYMBIND_CHECK", "1")
    check(run, ValueError, "row 1", "10")


def test_27_set_params_that_do_not_fit():
    mod = ready()
    before = numbers(mod.get_params()[0])
    given = {k: mx.nd.ones(v.shape) for k, v in before.items()}
    check(lambda: mod.set_params({**given, "fc3_weight": mx.nd.ones((1,))}, {}, allow_missing=True),
          ValueError, "fc3_weight", "allow_extra")
    missing = dict(given)
    del missing["fc2_bias"]
    check(lambda: mod.set_params(missing, {}), ValueError, "fc2_bias is not presented",
          "allow_missing")
    check(lambda: mod.set_params({**given, "fc1_bias": mx.nd.ones((5,))}, {}), ValueError,
          "fc1_bias given (5,) needed (4,)")
    check(lambda: mod.set_params({"fc1_bias": mx.nd.ones((5,))}, {}, allow_missing=True),
          ValueError, "fc1_bias", "(5,)", "(4,)")
    assert_equal(numbers(mod.get_params()[0]), before)


def test_28_checkpoint_that_is_not_there(tmp_path):
    prefix = str(tmp_path / "net")
    check(lambda: mx.model.load_checkpoint(prefix, 7), OSError, prefix + "-0007.params",
          "no epoch")
    mod = ready()
    for epoch in range(1, 6):
        mod.save_checkpoint(prefix, epoch)
    for load in (mx.model.load_checkpoint, mx.mod.Module.load):
        check(lambda: load(prefix, 7), OSError, prefix + "-0007.params", "1, 2, 3, 4, 5")
    os.unlink(prefix + "-symbol.json")
    check(lambda: mx.model.load_checkpoint(prefix, 5), OSError, prefix + "-symbol.json")


def test_29_params_of_another_net(tmp_path):
    path = str(tmp_path / "other.params")
    names = ["arg:conv%d_weight" % i for i in range(7)] + ["arg:fc1_weight"]
    mx.nd.save(path, {name: mx.nd.ones((9, 9)) for name in names})
    mod = ready()
    before = numbers(mod.get_params()[0])
    text = check(lambda: mod.load_params(path), ValueError, "fc1_bias is not presented",
                 "missing:", "fc1_bias, fc2_bias, fc2_weight", "fc1_weight given (9, 9) needed (4, 5)",
                 "extra:", "conv0_weight, conv1_weight, conv2_weight, conv3_weight, conv4_weight",
                 "and 2 more")
    assert "conv5_weight" not in text
    assert_equal(numbers(mod.get_params()[0]), before)


def test_32_names_with_typos():
    mod = bound()
    mod.init_params()
    check(lambda: mod.init_optimizer(optimizer="sdg"), ValueError, "sdg", "'sgd'")
    check(lambda: mod.score(iterator(), "accuarcy"), ValueError, "accuarcy", "'accuracy'")
    check(lambda: mx.init.create("xaiver"), ValueError, "xaiver", "'xavier'")
    check(lambda: mod.init_optimizer(kvstore="divice"), ValueError, "divice", "'device'")
    check(lambda: mx.kv.create("divice"), ValueError, "divice", "'device'")
    assert not mod.optimizer_initialized
    mod.init_optimizer()


def test_33_optimizer_parameter_with_a_typo():
    mod = bound()
    mod.init_params()
    check(lambda: mod.init_optimizer(optimizer_params={"lr": 0.1}), (TypeError, ValueError), "lr",
          "learning_rate")
    assert not mod.optimizer_initialized


def test_34_states_of_another_optimizer(tmp_path):
    path = str(tmp_path / "adam.states")
    adam = ready(optimizer="adam")
    sgd = ready(optimizer="sgd", optimizer_params={"momentum": 0.9})
    for mod in (adam, sgd):
        mod.forward_backward(batch())
        mod.update()
    adam.save_optimizer_states(path)
    before = {k: v.asnumpy() for k, v in sgd._updater.states.items()}
    check(lambda: sgd.load_optimizer_states(path), ValueError, "Adam", "SGD")
    assert_equal({k: v.asnumpy() for k, v in sgd._updater.states.items()}, before)


def test_35_labels_of_another_length():
    check(lambda: mx.io.NDArrayIter(np.zeros((100, 5)), np.zeros(99), 10), ValueError, "data",
          "100", "softmax_label", "99")


def test_36_file_that_vanished(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("1,2\n" * 1000)

    class Vanishing(mx.io.DataIter):
        """Opens its file at every batch."""
        provide_data, provide_label, batch_size = [mx.io.DataDesc("data", (1, 2))], [], 1

        def next(self):
            inner = mx.io.CSVIter(data_csv=str(path), data_shape=(2,), batch_size=1)
            return next(inner)

        def reset(self):
            pass

    ahead = mx.io.PrefetchingIter(Vanishing(1))
    next(ahead)
    path.unlink()
    with pytest.raises(OSError, match="rows.csv"):
        for _ in range(8):
            next(ahead)


def test_37_nan_with_the_guard_on():
    net = mx.sym.log(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc"),
                     name="log")
    mod = mx.mod.Module(mx.sym.MakeLoss(net, name="loss"), label_names=None)
    data = mx.io.NDArrayIter(np.concatenate([np.ones((8, 3)), -np.ones((8, 3))]), None, 8)
    check(lambda: mod.fit(data, eval_metric=mx.metric.Loss(), num_epoch=1,
                          initializer=mx.init.One(), monitor=mx.mon.NanGuard(),
                          optimizer_params={"learning_rate": 0.0}),
          ValueError, "step 2", "log 'log'", "output 0", "input 0 'fc_output'", "in [-3, -3]")


# ---------------------------------------------------------------------- other bad input

def test_empty_iterator():
    class Empty(mx.io.DataIter):
        """Never has a batch."""
        provide_data = [mx.io.DataDesc("data", (8, 5))]
        provide_label = [mx.io.DataDesc("softmax_label", (8,))]

        def next(self):
            raise StopIteration

    check(lambda: mx.mod.Module(mlp(4, 3)).fit(Empty(8), num_epoch=1), ValueError, "epoch 0",
          "the iterator is empty, or was not reset")


class Trouble(Exception):
    """Raised by users' code."""


def test_iterator_that_raises():
    class Torn(mx.io.ResizeIter):
        """Fails at its second batch."""
        count = 0

        def next(self):
            self.count += 1
            if self.count == 2:
                raise Trouble("the cable")
            return super().next()

    mod, data = mx.mod.Module(mlp(4, 3)), Torn(iterator(), 4)
    with pytest.raises(Trouble, match="the cable"):
        mod.fit(data, num_epoch=1)
    mod.fit(iterator(), num_epoch=1)  # training continues


@pytest.mark.parametrize("which", ["batch_end_callback", "epoch_end_callback", "eval_end_callback",
                                   "eval_batch_end_callback"])
def test_callback_that_raises(which):
    def callback(*args):
        raise Trouble(which)

    mod = mx.mod.Module(mlp(4, 3))
    with pytest.raises(Trouble, match=which):
        mod.fit(iterator(), eval_data=iterator(), num_epoch=1, **{which: callback})
    mod.fit(iterator(), num_epoch=1)


def test_label_mismatch():
    mod = mx.mod.Module(mlp(4, 3))
    with pytest.raises(AssertionError, match="batch_size = 8, but softmax_label has shape"):
        mod.bind(DATA, [("softmax_label", (7,))])
    mod = ready()
    given = batch()
    given.label = [mx.nd.zeros((7,))]
    check(lambda: mod.forward(given, is_train=True), ValueError, "Batch size miss match", "8", "7")
    with pytest.warns(UserWarning, match="label_shapes don't match names"):
        mx.mod.Module(mlp(4, 3)).bind(DATA, [("other_label", (8,))])


def saved(mod, prefix):
    mod.save_checkpoint(prefix, 1, save_optimizer_states=True)


def contents(folder):
    return {p.name: p.read_bytes() for p in folder.iterdir()}


def test_disk_full(tmp_path):
    """RLIMIT_FSIZE simulates a full disk: the write fails in the middle."""
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=400, name="fc")
    mod = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
    mod.bind([("data", (2, 50))], [("softmax_label", (2,))])
    mod.init_params(mx.init.Uniform(1))
    mod.init_optimizer(optimizer_params={"momentum": 0.9})
    given = mx.io.DataBatch([mx.nd.ones((2, 50))], [mx.nd.zeros((2,))])
    mod.forward_backward(given)
    mod.update()
    prefix = str(tmp_path / "net")
    saved(mod, prefix)
    before = contents(tmp_path)
    mod.forward_backward(given)
    mod.update()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20000, limits[1]))
    try:
        text = check(lambda: saved(mod, prefix), OSError, prefix + "-0001.params")
        states = check(lambda: mod.save_optimizer_states(prefix + "-0001.states"), OSError,
                       prefix + "-0001.states")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert "File too large" in text and "File too large" in states
    assert contents(tmp_path) == before, "the old files are untouched and nothing else is there"
    mod.forward_backward(given)  # training continues
    mod.update()
    saved(mod, prefix)
    assert contents(tmp_path)["net-0001.params"] != before["net-0001.params"]


def test_path_that_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    mod = ready()
    for prefix in (str(tmp_path / "file" / "net"), str(tmp_path / "nowhere" / "net")):
        check(lambda: saved(mod, prefix), OSError, prefix)
        check(lambda: mod.save_params(prefix + ".params"), OSError, prefix + ".params")
        check(lambda: mod.save_optimizer_states(prefix + ".states"), OSError, prefix + ".states")
    assert contents(tmp_path) == {"file": b"x"}


def test_pipe_stays_a_pipe(tmp_path):
    """What is no plain file is written to, never replaced (a device of the machine, say)."""
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        ready().save_params(pipe)
        assert stat.S_ISFIFO(os.stat(pipe).st_mode)
        assert os.read(reader, 8) == (0x112).to_bytes(8, "little")  # a list of arrays
    finally:
        os.close(reader)
    assert os.listdir(tmp_path) == ["pipe"]


def test_checkpoint_callback_on_a_full_disk(tmp_path):
    """The error leaves fit; what was learned is there and can be saved elsewhere."""
    mod = mx.mod.Module(mlp(4, 3))
    where = str(tmp_path / "nowhere" / "net")
    check(lambda: mod.fit(iterator(), num_epoch=1,
                          epoch_end_callback=mx.callback.do_checkpoint(where)), OSError, where)
    mod.save_checkpoint(str(tmp_path / "net"), 1)
    assert sorted(contents(tmp_path)) == ["net-0001.params", "net-symbol.json"]
