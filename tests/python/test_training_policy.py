"""C++ makes the training decisions; Python's fit calls it, and calls the methods that subclasses override."""
import copy
import functools
import pickle

import numpy as np
import pytest

import symbind as mx
from symbind.model import BatchEndParam

ROWS, BATCH = 24, 8


def net():
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def arrays():
    rng = np.random.RandomState(3)
    return rng.randn(ROWS, 5).astype("float32"), rng.randint(0, 3, ROWS).astype("float32")


def rows():
    return mx.io.NDArrayIter(*arrays(), BATCH)


def initial():
    rng = np.random.RandomState(5)
    return {"fc_weight": mx.nd.array(rng.randn(3, 5)), "fc_bias": mx.nd.zeros(3)}


def evaluated(value, name):
    metric = mx.metric.CustomMetric(lambda label, pred: 0, name=name)
    metric.sum_metric, metric.num_inst = value, 1
    return BatchEndParam(0, 0, metric, {})


# ----------------------------------------------------------------------- early stopping

@pytest.mark.parametrize("name", ["accuracy", "f1", "mcc", "pcc", "pearsonr", "roc_auc", "recall", "precision",
                                  "confusion"])
def test_more_of_these_metrics_is_better(name):
    """The names are those that C++ knows: EarlyStopping, keep_best and schedules of rates go by one list."""
    stop = mx.callback.EarlyStopping(patience=1)
    stop(evaluated(0.5, name))
    stop(evaluated(0.6, name))
    assert (stop.best, stop.waited) == (0.6, 0)
    with pytest.raises(mx.callback.StopTraining):
        stop(evaluated(0.5, name))


def test_early_stopping_is_copied_and_pickled_with_what_it_saw():
    stop = mx.callback.EarlyStopping("accuracy", patience=3, mode="max", min_delta=0.25)
    assert np.isnan(stop.best) and stop.waited == 0
    stop(evaluated(0.5, "accuracy"))
    stop(evaluated(0.625, "accuracy"))
    stop.note = "mine"
    for other in (pickle.loads(pickle.dumps(stop)), copy.deepcopy(stop)):
        assert (other.metric, other.patience, other.mode, other.min_delta) == ("accuracy", 3, "max", 0.25)
        assert (other.best, other.waited, other.note) == (0.5, 1, "mine")
        assert other.state_dict() == {"best": 0.5, "waited": 1}
    stop.patience = 2
    with pytest.raises(mx.callback.StopTraining, match="for 2 evaluations"):
        stop(evaluated(0.5, "accuracy"))
    assert mx.callback.EarlyStopping().metric is None


# ------------------------------------------------------------------------------- stores

@pytest.mark.parametrize("text,on_store", [("true", True), ("1", True), ("false", False), ("0", False)])
def test_the_setting_is_read_as_all_settings_are(monkeypatch, text, on_store):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", text)
    module = mx.mod.Module(net(), context=[mx.cpu(0), mx.cpu(1)])
    module.fit(rows(), num_epoch=1)
    assert module._kvstore.type == "local" and bool(module._update_on_kvstore) is on_store


# -------------------------------------------------------------------------------- steps

class Counted(mx.mod.Module):
    """Counts what fit calls."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.calls = []

    def update(self):
        self.calls.append("update")
        super().update()


class OwnStep(mx.mod.Module):
    """Has its own step."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.calls = []

    def _train_step(self, data_batch, eval_metric):
        self.calls.append("step")
        super()._train_step(data_batch, eval_metric)


@pytest.mark.parametrize("monitored", [False, True])
@pytest.mark.parametrize("kind,call", [(Counted, "update"), (OwnStep, "step")])
def test_a_subclass_is_called_with_a_monitor_and_without(kind, call, monitored):
    module = kind(net())
    module.fit(rows(), num_epoch=2, arg_params=initial(),
               monitor=mx.mon.Monitor(1, pattern="fc_output") if monitored else None)
    assert module.calls == [call] * (2 * ROWS // BATCH)


# ------------------------------------------------------------------------------ batches

def test_a_callback_that_writes_to_batches_does_not_change_the_data():
    """Whatever the callback says its module is: a wrapper of ours says it is ours."""
    data, label = mx.nd.array(arrays()[0]), mx.nd.array(arrays()[1])
    before = data.asnumpy()
    speed = mx.callback.Speedometer(BATCH, 1)

    @functools.wraps(speed.__call__)
    def erase(param):
        param.locals["data_batch"].data[0][:] = 0

    assert erase.__module__ == "symbind.callback"
    mx.mod.Module(net()).fit(mx.io.NDArrayIter(data, label, BATCH), num_epoch=1, batch_end_callback=erase)
    np.testing.assert_array_equal(data.asnumpy(), before)

    class Erasing(mx.callback.Speedometer):
        """Declares nothing about batches, whatever its base does."""

        def __call__(self, param):
            param.locals["data_batch"].data[0][:] = 0

    mx.mod.Module(net()).fit(mx.io.NDArrayIter(data, label, BATCH), num_epoch=1,
                             batch_end_callback=[speed, Erasing(BATCH, 1)])
    np.testing.assert_array_equal(data.asnumpy(), before)

    class Declared(Erasing):
        """Declares that it leaves batches alone, which is not so: the views it gets are the data."""

        leaves_batches = True

    mx.mod.Module(net()).fit(mx.io.NDArrayIter(data, label, BATCH), num_epoch=1,
                             batch_end_callback=[speed, Declared(BATCH, 1)])
    assert not data.asnumpy().any()


# ------------------------------------------------------------------------------ updates

def test_clipping_goes_by_the_optimizer_that_updates():
    """Loaded states bring their optimizer, whose rescale_grad counts: with and without an own update."""
    def trained(kind):
        module = kind(net())
        module.bind(rows().provide_data, rows().provide_label)
        module.init_params(arg_params=initial(), aux_params={})
        module.init_optimizer(optimizer="sgd", optimizer_params={"learning_rate": 0.5})
        other = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5, rescale_grad=1.0))
        module._updater.set_states(other.get_states(dump_optimizer=True))
        assert module._updater.optimizer.rescale_grad == 1.0 and module._optimizer.rescale_grad == 1.0 / BATCH
        module.fit(rows(), num_epoch=1, clip_global_norm=0.5)
        return {name: value.asnumpy() for name, value in module.get_params()[0].items()}

    fused, apart = trained(mx.mod.Module), trained(Counted)
    for name, value in fused.items():
        np.testing.assert_array_equal(value, apart[name])
    moved = sum(float(((value - initial()[name].asnumpy()) ** 2).sum()) for name, value in fused.items()) ** 0.5
    assert moved <= 3 * 0.5 * 0.5 + 1e-6  # three updates of norm 0.5, at a rate of 0.5


# ------------------------------------------------------------------------------ dry run

class Stateful(mx.io.DataIter):
    """An iterator of Python's with a state."""

    def __init__(self):
        super().__init__(BATCH)
        self._inner = rows()
        self.provide_data, self.provide_label = self._inner.provide_data, self._inner.provide_label
        self.calls = []

    def reset(self):
        self.calls.append("reset")
        self._inner.reset()

    def next(self):
        return self._inner.next()

    def state_dict(self):
        return self._inner.state_dict()

    def load_state_dict(self, state):
        self.calls.append("load")
        self._inner.load_state_dict(state)


def test_a_dry_run_sets_every_iterator_with_a_state_back():
    """As in C++: only one without a state is reset."""
    data = Stateful()
    data.next()
    report = mx.mod.Module(net()).dry_run(data)
    assert data.calls == ["load"] and report.notes == []
    np.testing.assert_array_equal(data.next().data[0].asnumpy(), arrays()[0][BATCH:2 * BATCH])
    assert (report.parameters, report.batch_size, report.validation) == (18, BATCH, [])
    assert report.total_bytes == sum((report.weight_bytes, report.gradient_bytes, report.batch_bytes,
                                      report.arena_bytes))
    assert str(report).startswith("dry run: 18 parameters (18 trained)")
