"""Callbacks and monitors write MXNet's lines: recorded by tools/oracle/record_callback.py, run again
here."""
import importlib.util
import json
import logging
import os
import pickle

import numpy as np
import pytest

import symbind as mx

ORACLE = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "oracle", "record_callback.py")
spec = importlib.util.spec_from_file_location("record_callback", ORACLE)
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

with open(oracle.TARGET) as file:
    RECORDED = json.load(file)


@pytest.fixture(scope="module")
def lines():
    return oracle.scenes(mx)


@pytest.mark.parametrize("scene", sorted(RECORDED))
def test_lines(scene, lines):
    assert lines[scene] == RECORDED[scene]


def evaluated(value, name="accuracy"):
    metric = mx.metric.CustomMetric(lambda label, pred: 0, name=name)
    metric.sum_metric, metric.num_inst = value, 1
    return oracle.BatchEndParam(7, 0, metric, {})


def test_early_stopping():
    stop = mx.callback.EarlyStopping("accuracy", patience=2)
    for value in (0.5, 0.6, 0.55, 0.7, 0.7):
        stop(evaluated(value))
    with pytest.raises(mx.callback.StopTraining) as caught:
        stop(evaluated(0.6))
    assert str(caught.value) == ("Epoch[7] Stopping early: accuracy=0.600000 is not better than "
                                 "0.700000 for 2 evaluations")
    falling = mx.callback.EarlyStopping(patience=1)
    falling(evaluated(2.0, "mse"))
    falling(evaluated(1.0, "mse"))
    with pytest.raises(mx.callback.StopTraining):
        falling(evaluated(1.5, "mse"))


@pytest.mark.parametrize("arguments", [{"mode": "up"}, {"patience": 0}])
def test_early_stopping_options(arguments):
    with pytest.raises(ValueError):
        mx.callback.EarlyStopping(**arguments)
    with pytest.raises(ValueError, match="accuracy"):
        mx.callback.EarlyStopping("acuracy")(evaluated(1.0))


def test_a_bar_on_a_terminal(monkeypatch):
    class Terminal:
        text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text

        def flush(self):
            pass
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    bar = mx.callback.ProgressBar(3, 6)
    for batch in range(3):
        bar(oracle.BatchEndParam(0, batch, None, {}))
    assert terminal.text == ("\r[==----]  34%\r[====--]  67% ETA 0:00:00"
                             "\r[======] 100% ETA 0:00:00\n")


def test_checkpoints_are_called_by_period():
    class Module:
        calls = []

        def save_checkpoint(self, *arguments):
            self.calls.append(arguments)
    callback = mx.callback.module_checkpoint(Module(), "net", 2, True)
    for epoch in range(4):
        callback(epoch)
    assert Module.calls == [("net", 2, True), ("net", 4, True)]


def test_speedometer_is_picklable():
    speed = pickle.loads(pickle.dumps(mx.callback.Speedometer(10, 5)))
    assert (speed.batch_size, speed.frequent, speed.auto_reset) == (10, 5, True)


def bound():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    executor = mx.sym.MakeLoss(mx.sym.log(net, name="log"), name="loss").simple_bind(
        mx.cpu(), data=(2, 3))
    executor.arg_dict["data"][:] = 1.0
    executor.arg_dict["fc_weight"][:] = 0.5
    executor.arg_dict["fc_bias"][:] = 1.0
    return executor


def step(watch, executor):
    watch.tic()
    executor.forward(is_train=True)
    executor.backward()
    watch.toc_print()


def test_37_nan_with_the_guard_on():
    executor, guard = bound(), mx.monitor.NanGuard()
    guard.install(executor)
    step(guard, executor)
    executor.arg_dict["fc_bias"][1] = -3.0
    with pytest.raises(ValueError) as caught:
        step(guard, executor)
    for part in ("step 2: log 'log'", "output 0 ('output', shape (2, 2)), 2 of 4 numbers",
                 "input 0 'fc_output': (2, 2) in [-1.5, 2.5]"):
        assert part in str(caught.value)
    mx.nd.waitall()


def test_monitor_keeps_mxnets_attributes():
    monitor = mx.mon.Monitor(2, pattern="fc.*", monitor_all=True)
    executor = bound()
    monitor.install(executor)
    assert (monitor.exes, monitor.step, monitor.activated, monitor.queue) == ([executor], 0, False, [])
    monitor.tic()
    executor.forward(is_train=True)
    assert monitor.activated and monitor.step == 1
    assert [name for _, name, _ in monitor.queue] == [
        "fc_data", "fc_weight", "fc_weight", "fc_bias", "fc_bias", "fc_output"]
    assert len(monitor.toc()) == 8
    monitor.tic()
    executor.forward(is_train=True)
    assert monitor.toc() == []


def training(batches=10):
    data = np.arange(batches * 40, dtype="float32").reshape(-1, 4) % 7 - 3
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(
        mx.sym.Variable("data"), num_hidden=2, name="fc"), name="softmax")
    return mx.mod.Module(net), data, (data.sum(1) > 0).astype("float32")


def test_fit_ends_early(caplog):
    module, data, label = training()
    with caplog.at_level(logging.INFO):
        module.fit(mx.io.NDArrayIter(data, label, 10), mx.io.NDArrayIter(data, label, 10),
                   num_epoch=5, optimizer_params={"learning_rate": 0.0},
                   eval_end_callback=mx.callback.EarlyStopping(patience=2))
    epochs = [line for line in caplog.messages if "Train-accuracy" in line]
    assert len(epochs) == 3 and "Stopping early" in caplog.messages[-1]


def test_fit_with_the_guard_names_the_step():
    module, data, label = training()
    data[25, 1] = np.inf
    with pytest.raises(ValueError) as caught:
        module.fit(mx.io.NDArrayIter(data, label, 10), num_epoch=1, monitor=mx.monitor.NanGuard())
    assert "step 3: FullyConnected 'fc'" in str(caught.value)
    assert "input 0 'data': (10, 4) in [-3, 3], 1 of 40 NaN or infinity" in str(caught.value)
    assert np.isfinite(module.get_params()[0]["fc_weight"].asnumpy()).all()


def test_backward_names_of_a_module():
    """The counts of MXNet's test_monitor, which needs a Module."""
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc_0")
    x = mx.sym.Activation(x, act_type="sigmoid", name="act_0")
    x = mx.sym.FullyConnected(x, num_hidden=2, name="fc_1")
    x = mx.sym.Activation(x, act_type="sigmoid", name="act_1")
    x = mx.sym.LinearRegressionOutput(x, name="softmax", grad_scale=2)
    executor = x.simple_bind(mx.cpu(), data=(1, 2), grad_req={
        name: "null" if name in ("data", "softmax_label") else "write"
        for name in x.list_arguments()})
    monitor = mx.mon.Monitor(1, sort=True)
    monitor.install(executor)
    monitor.tic()
    executor.forward(is_train=True)
    executor.backward()
    names = [name for _, name, _ in monitor.toc()]
    keys = ["act_0", "act_1", "data", "fc_0", "fc_1", "softmax"]
    assert [sum(name.startswith(key) for name in names) for key in keys] == [2, 2, 1, 6, 6, 4]
