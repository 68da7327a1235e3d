"""fit's `checkpoint` and `resume` as scripts use them: what stays, what is refused, Ctrl-C."""
import logging
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import symbind as mx
from symbind import _core


def net(hidden=4):
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=hidden, name="fc1")
    x = mx.sym.FullyConnected(mx.sym.Activation(x, act_type="relu"), num_hidden=3, name="fc2")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def data(rows=24, shuffle=False):
    rng = np.random.RandomState(3)
    return mx.io.NDArrayIter(rng.randn(rows, 5).astype("float32"),
                             rng.randint(0, 3, rows).astype("float32"), 8, shuffle)


def fit(prefix, epochs=3, symbol=None, **options):
    module = mx.mod.Module(net() if symbol is None else symbol)
    options = {"optimizer": "adam", "checkpoint": str(prefix), **options}
    module.fit(data(), num_epoch=epochs, **options)
    return module


def weights(module):
    return {name: value.asnumpy() for name, value in module.get_params()[0].items()}


def test_files_load_as_mxnets(tmp_path):
    module = fit(tmp_path / "model", epochs=2)
    names = sorted(os.listdir(tmp_path))
    assert names == ["model-0001.manifest.json", "model-0001.params", "model-0001.states",
                     "model-0002.manifest.json", "model-0002.params", "model-0002.states",
                     "model-symbol.json"]
    symbol, args, _ = mx.model.load_checkpoint(str(tmp_path / "model"), 2)
    assert symbol.list_outputs() == ["softmax_output"]
    for name, value in weights(module).items():
        np.testing.assert_array_equal(args[name].asnumpy(), value)
    loaded = mx.mod.Module.load(str(tmp_path / "model"), 2, load_optimizer_states=True)
    loaded.bind(data().provide_data, data().provide_label)
    loaded.init_optimizer(optimizer="adam")


def test_files_keep_the_order_they_were_given(tmp_path):
    """As in MXNet: scripts iterate over the loaded parameters together with their own lists."""
    path = str(tmp_path / "two")
    mx.nd.save(path, {"b": mx.nd.ones(2), "a": mx.nd.zeros(3)})
    assert [(name, array.shape) for name, array in mx.nd.load(path).items()] == [("b", (2,)), ("a", (3,))]
    module = mx.mod.Module(net())
    module.bind([("data", (8, 5))], [("softmax_label", (8,))])
    module.init_params()
    module.save_checkpoint(str(tmp_path / "model"), 1)
    order = ["fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"]
    assert list(mx.nd.load(str(tmp_path / "model-0001.params"))) == ["arg:" + name for name in order]
    assert list(mx.model.load_checkpoint(str(tmp_path / "model"), 1)[1]) == order


def test_keep_last_and_best(tmp_path):
    accuracies = iter([0.1, 0.9, 0.5, 0.4, 0.3])

    def share(label, pred):
        return share.value

    class Watch:
        def __call__(self, epoch, *_):
            share.value = next(accuracies)

    share.value = 0
    fit(tmp_path / "m", epochs=5, eval_data=data(), eval_metric=mx.metric.np(share, name="share_acc"),
        epoch_end_callback=Watch(),
        checkpoint=mx.callback.Checkpoint(tmp_path / "m", keep_last=2, keep_best="share_acc"))
    kept = [(epoch, (score[0], round(score[1], 6)))
            for _, epoch, _, score in _core.list_checkpoints(str(tmp_path / "m"))]
    assert kept == [(2, ("share_acc", 0.9)), (4, ("share_acc", 0.4)), (5, ("share_acc", 0.3))]


def test_one_line_for_start_and_restart(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    prefix = str(tmp_path / "model")
    first = fit(prefix, epochs=2, resume=prefix)
    assert "there is no checkpoint of '%s' yet" % prefix in caplog.text
    again = fit(prefix, epochs=2, resume=prefix)
    assert "at epoch 2, batch 0" in caplog.text
    for name, value in weights(first).items():
        np.testing.assert_array_equal(weights(again)[name], value)


def test_early_stopping_resumes_its_wait(tmp_path):
    """What a callback with state_dict knows is in the checkpoint."""
    prefix = str(tmp_path / "model")
    stopping = mx.callback.EarlyStopping(patience=50)
    fit(prefix, epochs=3, eval_data=data(), eval_end_callback=stopping)
    other = mx.callback.EarlyStopping(patience=50)
    fit(prefix, epochs=3, eval_data=data(), eval_end_callback=other, resume=prefix)
    assert (other.best, other.waited) == (stopping.best, stopping.waited)
    assert not np.isnan(other.best)


def test_parts_are_kept(tmp_path):
    prefix = str(tmp_path / "model")

    class Average:
        def __init__(self, value):
            self.value = {"fc1_weight": mx.nd.full((4, 5), value), "steps": int(value),
                          "trace": np.arange(3.) * value}

        def state_dict(self):
            return self.value

        def load_state_dict(self, state):
            self.value = state

    def run(part, resume):
        module = mx.mod.Module(net())
        module.keep_in_checkpoints("average", part)
        module.fit(data(), num_epoch=1, checkpoint=prefix, resume=resume)

    run(Average(7), None)
    part = Average(1)
    run(part, prefix)
    assert part.value["steps"] == 7
    np.testing.assert_array_equal(part.value["fc1_weight"].asnumpy(), np.full((4, 5), 7))
    np.testing.assert_array_equal(part.value["trace"], [0, 7, 14])
    with pytest.raises(TypeError, match="load_state_dict|state_dict"):
        mx.mod.Module(net()).keep_in_checkpoints("x", object())


@pytest.mark.parametrize("ending", [".params", ".states", ".manifest.json"])
def test_a_flipped_bit_is_named_with_the_way_out(tmp_path, ending):
    prefix = str(tmp_path / "model")
    fit(prefix, epochs=3)
    path = prefix + "-0003" + ending
    content = bytearray(open(path, "rb").read())
    content[len(content) // 2] ^= 4
    open(path, "wb").write(content)
    with pytest.raises(OSError) as caught:
        fit(prefix, epochs=4, resume=prefix)
    assert path in str(caught.value)
    way_out = "fit(resume='%s-0002.manifest.json')" % prefix
    assert way_out in str(caught.value)
    module = fit(prefix, epochs=3, resume=prefix + "-0002.manifest.json")
    whole = fit(tmp_path / "whole", epochs=3)
    assert set(weights(module)) == set(weights(whole))


def test_another_optimizer_or_network_loads_nothing(tmp_path):
    prefix = str(tmp_path / "model")
    fit(prefix)
    for options, says in (({"optimizer": "sgd"}, "optimizer Adam, but this one has SGD"),
                          ({"symbol": net(6)}, "fc1_weight given (4, 5) needed (6, 5)")):
        module = mx.mod.Module(options.get("symbol", net()))
        with pytest.raises(ValueError) as caught:
            module.fit(data(), num_epoch=4, optimizer=options.get("optimizer", "adam"),
                       initializer=mx.init.Zero(), resume=prefix)
        assert says in str(caught.value) and "nothing was loaded" in str(caught.value)
        assert not any(value.any() for value in weights(module).values())
        assert not dict(module._updater.states) and module._optimizer.num_update == 0


def test_states_of_another_optimizer_without_manifest(tmp_path):
    prefix = str(tmp_path / "model")
    fit(prefix, epochs=1, checkpoint=None, optimizer="adam").save_checkpoint(prefix, 1, True)
    module = mx.mod.Module(net())
    with pytest.raises(ValueError, match="(?s)states of SGD.*Adam"):
        module.fit(data(), num_epoch=2, optimizer="sgd", optimizer_params={"momentum": 0.9},
                   initializer=mx.init.Zero(), resume=prefix)
    assert not any(value.any() for value in weights(module).values())


def test_bad_options(tmp_path):
    for options in ({"every_n_batches": 0}, {"keep_last": -1}, {"every_n_epochs": 1.5}):
        with pytest.raises(ValueError, match=next(iter(options))):
            mx.callback.Checkpoint("x", **options)
    with pytest.raises(OSError, match="there is no folder"):
        fit(tmp_path / "none" / "model")
    with pytest.raises(ValueError, match="accuracy"):
        fit(tmp_path / "m", checkpoint=mx.callback.Checkpoint(tmp_path / "m", keep_best="acuracy"))


def test_a_state_that_is_no_data_is_refused(tmp_path):
    class Callback:
        def __call__(self, *_):
            pass

        def state_dict(self):
            return {"file": sys.stdout}

        def load_state_dict(self, state):
            pass

    with pytest.raises(TypeError, match="TextIO|only numbers"):
        fit(tmp_path / "m", epoch_end_callback=Callback())


# ----------------------------------------------------- Ctrl-C and threads, in separate processes

HEAD = """
import logging, os, signal, sys, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np
import symbind as mx
folder = sys.argv[1]
def lenet():
    x = mx.sym.Variable("data")
    for i, filters in enumerate((20, 50)):
        x = mx.sym.Convolution(x, kernel=(5, 5), num_filter=filters, name="conv%d" % i)
        x = mx.sym.Pooling(mx.sym.Activation(x, act_type="tanh"), pool_type="max", kernel=(2, 2),
                           stride=(2, 2))
    x = mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=500, name="fc1")
    x = mx.sym.Dropout(mx.sym.Activation(x, act_type="tanh"), p=0.5)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=10, name="fc2"), name="softmax")
def images(batches, size=64):
    rng = np.random.RandomState(0)
    return mx.io.NDArrayIter(rng.rand(batches * size, 1, 28, 28).astype("float32"),
                             rng.randint(0, 10, batches * size).astype("float32"), size, shuffle=True)
"""


def run(body, folder):
    result = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(body), str(folder)],
                            text=True, capture_output=True, timeout=300,
                            env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.split("\n")[:-1]


INTERRUPTED = """
    sent = []
    def fire():
        sent.append(time.time())
        os.kill(os.getpid(), signal.SIGINT)
    def score(param):
        if in_score and not sent:
            fire()
    def begun(param):
        if not in_score and param.epoch == 0 and param.nbatch == 2:
            threading.Timer(0.3, fire).start()
    module = mx.mod.Module(lenet())
    try:
        module.fit(images(8 if in_score else 60), eval_data=images(40) if in_score else None,
                   num_epoch=100, eval_batch_end_callback=score, batch_end_callback=begun,
                   checkpoint=mx.callback.Checkpoint(folder + "/m"))
    except KeyboardInterrupt:
        print("in time" if time.time() - sent[0] <= 1 else time.time() - sent[0])
    from symbind import _core
    manifest, _, batch, _ = _core.list_checkpoints(folder + "/m")[-1]
    other = mx.mod.Module(lenet())
    other.fit(images(8), num_epoch=0, resume=manifest)  # every byte is checked
    print(all((value == module.get_params()[0][name]).asnumpy().all()
              for name, value in other.get_params()[0].items()), batch > 0)
    print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


@pytest.mark.parametrize("in_score", [False, True])
def test_ctrl_c_saves_and_returns_within_a_second(tmp_path, in_score):
    lines = run("    in_score = %r" % in_score + INTERRUPTED, tmp_path)
    assert lines == ["in time", "True True", "True"]


def test_another_thread_runs_beside_fit(tmp_path):
    """Python code beside fit gets at least half the CPU time that fit gets: the GIL is free meanwhile.

    Other processes take their share from both threads alike. The short switch interval leaves the
    other thread next to nothing of a step that holds the GIL.
    """
    lines = run("""
    sys.setswitchinterval(1e-4)
    used = [0]
    stop = False
    def work():
        while not stop:
            used[0] = time.thread_time()
    threading.Thread(target=work, daemon=True).start()
    module = mx.mod.Module(lenet())
    train = images(90)
    before, begun = used[0], time.thread_time()
    module.fit(train, num_epoch=1, checkpoint=folder + "/m")
    print((used[0] - before) / (time.thread_time() - begun))
    stop = True
    """, tmp_path)
    assert float(lines[-1]) >= 0.5, lines
