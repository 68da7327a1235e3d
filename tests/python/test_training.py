"""Additions to MXNet's fit: accumulation, clipping, averages, schedules, metrics, the guard.

Numbers come from NumPy and from the mathematics."""
import logging
import math
import pickle

import numpy as np
import pytest

import symbind as mx
from training_cases import (CLASSES, FEATURES, RATE, ROWS, batches, close, fit, gradients, material,
                            network, start, trained)

# ---------------------------------------------------------------------------- updates

@pytest.mark.parametrize("devices", [1, 2])
@pytest.mark.parametrize("watched", [False, True])
def test_accumulate_is_one_batch_of_k_times_the_size(devices, watched):
    monitor = mx.mon.Monitor(100) if watched else None
    module = fit(4, devices, accumulate=3, monitor=monitor)
    close(module, trained(batches(12))[0])
    assert module._optimizer.num_update == 2


def test_accumulate_takes_the_rest_of_an_epoch():
    close(fit(4, accumulate=4, num_epoch=1), trained([np.arange(16), np.arange(16, 24)])[0])


def test_accumulate_beside_the_store(monkeypatch):
    monkeypatch.setenv("MXNET_UPDATE_ON_KVSTORE", "0")
    close(fit(4, 2, accumulate=3), trained(batches(12))[0])


def test_accumulate_leaves_overridden_verbs_in_charge():
    class Counting(mx.mod.Module):
        updates = backwards = 0

        def update(self):
            self.updates += 1
            super().update()

        def backward(self, out_grads=None):
            self.backwards += 1
            super().backward(out_grads)
    module = fit(4, module=Counting(network()), accumulate=3)
    assert (module.updates, module.backwards) == (2, 6)
    close(module, trained(batches(12))[0])


def test_accumulate_with_buckets_and_chains():
    data, label = material()

    class Buckets(mx.io.NDArrayIter):
        count = 0

        def next(self):
            batch = super().next()
            batch.bucket_key = self.count = 1 - self.count
            batch.provide_data, batch.provide_label = self.provide_data, self.provide_label
            return batch
    module = mx.mod.BucketingModule(lambda key: (network(), ("data",), ("softmax_label",)), 0)
    args = {k: mx.nd.array(v) for k, v in start().items()}
    module.fit(Buckets(data, label, 4), num_epoch=1, arg_params=args, aux_params={}, accumulate=3,
               optimizer_params={"learning_rate": RATE}, ema_decay=0.5)
    want, average = trained(batches(12), decay=0.5)
    close(module, want)
    close(module.get_ema_params(), average)
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=CLASSES, name="fc")
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(x, label_names=[]))
    chain.add(mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.Variable("fc_output"), name="softmax"),
                            data_names=["fc_output"]), take_labels=True, auto_wiring=True)
    close(fit(4, module=chain, accumulate=3), want)


def test_accumulate_refuses_gradients_that_add_up_themselves():
    data, label = material()
    module = mx.mod.Module(network())
    train = mx.io.NDArrayIter(data, label, 4)
    module.bind(train.provide_data, train.provide_label, grad_req="add")
    with pytest.raises(AssertionError, match="accumulate=2.*grad_req='add'"):
        fit(4, module=module, accumulate=2)


@pytest.mark.parametrize("devices", [1, 2])
def test_clip_global_norm_after_rescale_over_all_gradients(devices):
    data, label = material()
    first = gradients(start(), data[:12].astype("float64"), label[:12])
    limit = math.sqrt(sum(((g / 12) ** 2).sum() for g in first.values())) / 2
    close(fit(12, devices, clip_global_norm=limit), trained(batches(12), clip=limit)[0])
    close(fit(4, devices, clip_global_norm=limit, accumulate=3), trained(batches(12), clip=limit)[0])


def test_clip_global_norm_reports_a_norm_that_is_not_finite(caplog):
    data, label = material()
    data[5, 2] = np.inf
    module = mx.mod.Module(network())
    with caplog.at_level(logging.WARNING):
        module.fit(mx.io.NDArrayIter(data, label, 24), num_epoch=1, clip_global_norm=1.0)
    assert "before update 1 the norm of the gradients is nan" in caplog.text
    assert "'fc_weight'" in caplog.text


@pytest.mark.parametrize("where", ["nd", "gluon.utils"])
def test_nd_clip_global_norm(where):
    clip = mx.nd.clip_global_norm if where == "nd" else mx.gluon.utils.clip_global_norm
    a, b = mx.nd.array([[3.0, 0.0]]), mx.nd.array([4.0], ctx=mx.cpu(1))
    norm = clip([a, b], 1.0)
    assert isinstance(norm, float) and norm == pytest.approx(5, rel=1e-6)
    np.testing.assert_allclose(a.asnumpy(), [[0.6, 0.0]], rtol=1e-6)
    np.testing.assert_allclose(b.asnumpy(), [0.8], rtol=1e-6)
    assert clip([a], 9.0, check_isfinite=False).shape == (1,)
    bad = mx.nd.array([np.nan, 1])
    with pytest.warns(UserWarning, match="nan or inf is detected"):
        assert math.isnan(clip([bad], 1.0))
    assert bad.asnumpy()[1] == 1


@pytest.mark.parametrize("devices", [1, 2])
def test_ema_is_the_recursion_over_every_update(devices):
    weights, average = trained(batches(4), decay=0.9)
    module = fit(4, devices, ema_decay=0.9)
    close(module, weights)
    close(module.get_ema_params(), average)


def test_ema_swaps_in_and_out_and_into_checkpoints(tmp_path):
    module = fit(4, 2, ema_decay=0.9)
    weights = {k: v.asnumpy() for k, v in module.get_params()[0].items()}
    average = {k: v.asnumpy() for k, v in module.get_ema_params().items()}
    module.swap_ema_params()
    close(module, average, atol=0)
    module.save_checkpoint(str(tmp_path / "ema"), 1)
    with pytest.raises(AssertionError, match="swap_ema_params"):
        fit(4, module=module)
    module.swap_ema_params()
    close(module, weights, atol=0)
    close(mx.model.load_checkpoint(str(tmp_path / "ema"), 1)[1], average, atol=0)
    module.set_ema_params({"fc_weight": mx.nd.zeros((CLASSES, FEATURES))})
    assert list(module.get_ema_params()) == ["fc_weight"]
    with pytest.raises(AssertionError, match="ema_decay"):
        fit(4).swap_ema_params()


def test_ema_in_fits_evaluation():
    data, label = material()
    evaluation = mx.io.NDArrayIter(data, label, 8)
    seen = []
    module = fit(4, ema_decay=0.5, eval_ema=True, eval_data=evaluation, validation_metric="ce",
                 eval_end_callback=lambda p: seen.append(p.eval_metric.get()[1]))
    weights, average = trained(batches(4), decay=0.5)
    z = data @ average["fc_weight"].T + average["fc_bias"]
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    assert seen[0] == pytest.approx(-np.log(p[np.arange(ROWS), label.astype(int)]).mean(), abs=1e-5)
    close(module, weights)


@pytest.mark.parametrize("options, text", [
    ({"accumulate": 0}, "accumulate is 0"), ({"clip_global_norm": -1}, "clip_global_norm is -1"),
    ({"ema_decay": 1.5}, "ema_decay is 1.5"), ({"eval_ema": True}, "ema_decay")])
def test_options_that_make_no_sense(options, text):
    with pytest.raises(ValueError, match=text):
        fit(4, **options)


# -------------------------------------------------------------------------- schedules

def test_linear_schedule():
    rate = mx.lr_scheduler.LinearScheduler(110, base_lr=1.1, final_lr=0.1, warmup_steps=10,
                                           warmup_begin_lr=0.1)
    n = np.arange(0, 130)
    want = np.interp(n, [0, 10, 110], [0.1, 1.1, 0.1])
    np.testing.assert_allclose([rate(int(i)) for i in n], want, rtol=1e-12)


@pytest.mark.parametrize("anneal", ["cos", "linear"])
def test_one_cycle_schedule(anneal):
    rate = mx.lr_scheduler.OneCycleScheduler(100, base_lr=1.0, pct_start=0.25, div_factor=10,
                                             final_div_factor=100, anneal=anneal)
    ease = (lambda t: (1 - np.cos(np.pi * t)) / 2) if anneal == "cos" else (lambda t: t)
    for n in range(0, 110):
        m = min(n, 100)
        want = 0.1 + 0.9 * ease(m / 25) if m <= 25 else 1 + (0.001 - 1) * ease((m - 25) / 75)
        assert rate(n) == pytest.approx(want, rel=1e-12)


def plateau_by_hand(values, factor, patience, cooldown, min_lr, grows):
    """PyTorch's rule, with an absolute threshold of 0."""
    rate, best, bad, cool, rates = 1.0, None, 0, 0, []
    for value in values:
        if best is None or (value > best if grows else value < best):
            best, bad = value, 0
        else:
            bad += 1
        if cool > 0:
            cool -= 1
            bad = 0
        if bad > patience:
            rate, cool, bad = max(rate * factor, min_lr), cooldown, 0
        rates.append(rate)
    return rates


@pytest.mark.parametrize("grows", [False, True])
@pytest.mark.parametrize("patience, cooldown", [(0, 0), (1, 2), (3, 1)])
def test_plateau_schedule(grows, patience, cooldown):
    values = np.random.RandomState(patience).uniform(0, 1, 40).round(1)
    rate = mx.lr_scheduler.ReduceOnPlateauScheduler(
        base_lr=1.0, factor=0.5, patience=patience, cooldown=cooldown, min_lr=0.05,
        mode="max" if grows else "min")
    got = []
    for i, value in enumerate(values):
        rate.observe([("metric", value)])
        if i == 20:
            rate = pickle.loads(pickle.dumps(rate))
        got.append(rate(i))
    np.testing.assert_allclose(got, plateau_by_hand(values, 0.5, patience, cooldown, 0.05, grows),
                               rtol=1e-12)


def test_plateau_is_driven_by_fit():
    data, label = material()
    schedule = mx.lr_scheduler.ReduceOnPlateauScheduler(factor=0.5, patience=0)
    rates, values = [], []

    class Given(mx.metric.EvalMetric):
        given = [0.5, 0.4, 0.6, 0.6]

        def __init__(self):
            super().__init__("accuracy")

        def update(self, labels, preds):
            self.sum_metric, self.num_inst = self.given[len(values)], 1
    fit(4, num_epoch=4, eval_data=mx.io.NDArrayIter(data, label, 8), validation_metric=Given(),
        optimizer_params={"learning_rate": 1.0, "lr_scheduler": schedule},
        epoch_end_callback=lambda *_: rates.append(schedule.base_lr),
        eval_end_callback=lambda p: values.append(p.eval_metric.get()[1]))
    assert values == [0.5, 0.4, 0.6, 0.6]
    assert rates == [1.0, 1.0, 0.5, 0.5] and schedule.base_lr == 0.25
    with pytest.raises(ValueError, match="'mse'.*accuracy"):
        schedule.metric = "mse"
        schedule.observe([("accuracy", 1)])


def test_schedules_are_saved_with_states():
    schedule = mx.lr_scheduler.OneCycleScheduler(10, base_lr=0.3, anneal="linear")
    optimizer = mx.optimizer.SGD(learning_rate=0.3, lr_scheduler=schedule)
    other = mx.optimizer.get_updater(mx.optimizer.SGD())
    other.set_states(mx.optimizer.get_updater(optimizer).get_states(dump_optimizer=True))
    assert [other.optimizer.lr_scheduler(n) for n in range(11)] == [schedule(n) for n in range(11)]
    copied = pickle.loads(pickle.dumps(schedule))
    assert type(copied) is type(schedule) and copied(4) == schedule(4)


# ---------------------------------------------------------------------------- metrics

def test_auc_equals_counting_pairs():
    rng = np.random.RandomState(0)
    label = rng.randint(0, 2, 200)
    score = (rng.randint(0, 12, 200) + 2 * label) / 16
    ones, zeros = score[label == 1][:, None], score[label == 0][None]
    want = ((ones > zeros) + 0.5 * (ones == zeros)).mean()
    metric = mx.metric.create("auc")
    for part in np.split(np.arange(200), 4):
        metric.update([mx.nd.array(label[part])], [mx.nd.array(np.stack([1 - score, score], 1)[part])])
    assert metric.get() == ("auc", pytest.approx(want, abs=1e-12))
    again = pickle.loads(pickle.dumps(metric))
    assert again.get() == metric.get() and again._native() is not None
    with pytest.raises(ValueError, match="the label of row 0 is 3"):
        metric.update([mx.nd.array([3])], [mx.nd.array([0.5])])


def test_confusion_matrix():
    label, pred = np.array([0, 1, 2, 2, 1]), np.array([0, 2, 2, 1, 1])
    metric = mx.metric.create("confusion_matrix")
    metric.update([mx.nd.array(label)], [mx.nd.array(np.eye(3)[pred])])
    want = np.zeros((3, 3), int)
    np.add.at(want, (label, pred), 1)
    assert (metric.matrix == want).all() and metric.matrix.dtype.kind == "i"
    assert metric.get() == ("confusion-matrix", pytest.approx(3 / 5))
    assert (pickle.loads(pickle.dumps(metric)).matrix == want).all()
    assert isinstance(mx.metric.create("ConfusionMatrix"), mx.metric.ConfusionMatrix)


# -------------------------------------------------------------------------- the guard

@pytest.mark.parametrize("how", ["option", "setting"])
def test_nan_guard_names_step_node_output_and_ranges(how, monkeypatch):
    if how == "setting":
        monkeypatch.setenv("SYMBIND_NAN_GUARD", "1")
    data, label = material()
    data[13, 2] = np.nan
    x = mx.sym.sqrt(mx.sym.Variable("data"), name="root")
    x = mx.sym.FullyConnected(mx.sym.abs(x, name="abs"), num_hidden=CLASSES, name="fc")
    module = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    train = mx.io.NDArrayIter(np.abs(data), label, 8)
    with pytest.raises(ValueError) as found:
        module.fit(train, num_epoch=1, nan_guard=True if how == "option" else None)
    text = str(found.value)
    for part in ("step 2", "'root'", "output 0", "[5, 2]", "input 0 'data'", "1 of 40 NaN or infinity"):
        assert part in text, text
    other = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    other.fit(mx.io.NDArrayIter(np.abs(data), label, 8), num_epoch=1, nan_guard=False)


def test_nan_guard_leaves_a_monitor_at_work(caplog):
    with caplog.at_level(logging.INFO):
        fit(8, nan_guard=True, monitor=mx.mon.Monitor(1, pattern="fc_output"))
    assert caplog.text.count("fc_output") == 3
