"""What fit can do beyond MXNet's: accumulation, clipping, averages, schedules, metrics, logs.

Numbers come from NumPy and from the mathematics."""
import csv
import json
import logging
import math
import pickle
import struct

import numpy as np
import pytest

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


def test_clip_global_norm_reports_a_norm_that_is_none(caplog):
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
    with pytest.raises(NameError, match="'mse'.*accuracy"):
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


# ------------------------------------------------------------------------------- logs

def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not data[at - 1] & 0x80:
            return value, at


def message(data):
    """Fields of a Protocol Buffers message: a list of (number, value)."""
    fields, at = [], 0
    while at < len(data):
        key, at = varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = struct.unpack("<d", data[at:at + 8])[0], at + 8
        elif kind == 5:
            value, at = struct.unpack("<f", data[at:at + 4])[0], at + 4
        else:
            assert kind == 2
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        fields.append((number, value))
    assert at == len(data)
    return fields


def records(path):
    data, at = path.read_bytes(), 0
    while at < len(data):
        (length,) = struct.unpack("<Q", data[at:at + 8])
        for start_, size in ((at, 8), (at + 12, length)):
            (stored,) = struct.unpack("<I", data[start_ + size:start_ + size + 4])
            crc = crc32c(data[start_:start_ + size])
            assert stored == ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
        yield dict(message(data[at + 12:at + 12 + length]))
        at += 16 + length
    assert at == len(data)


def summaries(path):
    """(step, tag, fields of the value) behind the version record."""
    events = list(records(path))
    assert events[0][3] == b"brain.Event:2"
    for event in events[1:]:
        value = dict(message(dict(message(event[5]))[1]))
        yield event.get(2, 0), value[1].decode(), value


def test_tensorboard_callback_writes_event_files(tmp_path):
    folder = tmp_path / "logs" / "train"
    values = []
    fit(8, num_epoch=2, batch_end_callback=[
        mx.contrib.tensorboard.LogMetricsCallback(str(folder), prefix="train"),
        lambda p: values.append((p.epoch, p.eval_metric.get()[1]))])
    (path,) = folder.iterdir()
    assert path.name.startswith("events.out.tfevents.")
    got = list(summaries(path))
    assert [(step, tag) for step, tag, _ in got] == [(e, "train-accuracy") for e, _ in values]
    np.testing.assert_allclose([v[2] for _, _, v in got], [v for _, v in values], rtol=1e-6)


def test_event_histogram(tmp_path):
    writer = mx.contrib.tensorboard.SummaryWriter(tmp_path)
    numbers = np.concatenate([np.random.RandomState(0).normal(size=500), [0, np.nan, -1e30]])
    writer.add_histogram("weights", mx.nd.array(numbers, dtype="float64"), global_step=3)
    writer.add_scalar("loss", {"a": 1, "b": mx.nd.array([2])}, 70000)
    (step, tag, value), a, b = summaries(tmp_path / writer.path)
    assert (step, tag) == (3, "weights")
    histogram = dict(message(value[5]))
    kept = numbers[np.isfinite(numbers)]
    assert histogram[1] == kept.min() and histogram[2] == kept.max() and histogram[3] == len(kept)
    assert histogram[4] == pytest.approx(kept.sum()) and histogram[5] == pytest.approx((kept ** 2).sum())
    limits, counts = np.frombuffer(histogram[6]), np.frombuffer(histogram[7])
    assert len(limits) == len(counts) and (np.diff(limits) > 0).all()
    assert counts.tolist() == np.diff([(kept <= x).sum() for x in limits], prepend=0).tolist()
    assert (a[:2], b[:2]) == ((70000, "loss/a"), (70000, "loss/b")) and b[2][2] == 2


@pytest.mark.parametrize("logger", [mx.callback.CSVLogger, mx.callback.JSONLogger])
def test_log_files_are_continued(tmp_path, logger):
    path = tmp_path / "log"
    for _ in range(2):
        fit(8, batch_end_callback=logger(path, period=2))
        with path.open("a") as file:
            file.write('{"cut' if logger is mx.callback.JSONLogger else "12.5,tr")
    fit(8, batch_end_callback=logger(path, phase='the "last"'))
    text = path.read_text()
    rows = [json.loads(line) for line in text.splitlines()] \
        if logger is mx.callback.JSONLogger else list(csv.DictReader(text.splitlines()))
    assert [int(r["nbatch"]) for r in rows] == [0, 2, 0, 2, 0, 1, 2]
    assert rows[-1]["phase"] == 'the "last"'
    assert all(0 <= float(r["accuracy"]) <= 1 for r in rows)
    assert text.count("time,phase") == (1 if logger is mx.callback.CSVLogger else 0)


def test_a_log_survives_kill_and_a_full_disk(tmp_path):
    with pytest.raises(OSError, match="no such"):
        mx.callback.CSVLogger(tmp_path / "no such" / "log.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(OSError, match="no log of this kind"):
        mx.callback.CSVLogger(tmp_path / "other.csv")
    assert (tmp_path / "other.csv").read_text() == "a,b\n1,2\n"


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
    for part in ("step 2", "'root'", "output 0", "[5, 2]", "input 0 'data'", "1 of 40 not finite"):
        assert part in text, text
    other = mx.mod.Module(mx.sym.SoftmaxOutput(x, name="softmax"))
    other.fit(mx.io.NDArrayIter(np.abs(data), label, 8), num_epoch=1, nan_guard=False)


def test_nan_guard_leaves_a_monitor_at_work(caplog):
    with caplog.at_level(logging.INFO):
        fit(8, nan_guard=True, monitor=mx.mon.Monitor(1, pattern="fc_output"))
    assert caplog.text.count("fc_output") == 3


# ---------------------------------------------------------------------------- dry run

class Plain(mx.io.DataIter):
    """An iterator that cannot say where it stands."""

    def __init__(self):
        super().__init__(8)
        self._inner = mx.io.NDArrayIter(*material(), 8)
        self.provide_data, self.provide_label = self._inner.provide_data, self._inner.provide_label

    def reset(self):
        self._inner.reset()

    def next(self):
        return self._inner.next()


def test_dry_run_reports_and_leaves_everything_as_it_is(caplog):
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=4, name="fc1")
    x = mx.sym.Dropout(mx.sym.BatchNorm(x, fix_gamma=False, name="bn"), name="drop")
    x = mx.sym.FullyConnected(x, num_hidden=CLASSES, name="fc2")
    net = mx.sym.SoftmaxOutput(x, name="softmax")
    data, label = material()

    def train(tried):
        np.random.seed(5)
        mx.random.seed(11)
        batches_ = mx.io.NDArrayIter(data, label, 8, shuffle=True)
        module = mx.mod.Module(net, context=[mx.cpu(0), mx.cpu(1)])
        schedule = mx.lr_scheduler.FactorScheduler(2, 0.5)
        options = {"optimizer_params": {"learning_rate": 0.1, "momentum": 0.9,
                                        "lr_scheduler": schedule}}
        if tried:
            evaluation = mx.io.NDArrayIter(data, label, 4)
            report = module.fit(batches_, dry_run=True, eval_data=evaluation, **options)
            assert not module.binded and schedule.count == 0 and schedule.base_lr == 0.01
        module.fit(batches_, num_epoch=2, **options)
        if tried:
            before = {k: v.asnumpy() for k, v in module.get_params()[0].items()}
            module.dry_run(batches_, **options)
            close(module, before, atol=0)
            assert module._optimizer.num_update == 6
            return module, report
        return module, None
    with caplog.at_level(logging.INFO):
        (plain, _), (tried, report) = train(False), train(True)
    for one, other in zip(plain.get_params(), tried.get_params()):
        for name, value in one.items():
            assert (value.asnumpy() == other[name].asnumpy()).all(), name
    assert report.parameters == 5 * 4 + 4 + 4 + 4 + 4 * 3 + 3 == report.trained
    assert report.auxiliary == 8
    assert report.weight_bytes == 2 * 4 * (47 + 8) and report.gradient_bytes == 2 * 4 * 47
    assert report.arena_bytes > 0 and report.total_bytes > report.arena_bytes
    assert report.batch_size == 8 and report.outputs == [("softmax_output", (8, CLASSES))]
    assert 0 < report.seconds_per_step < 60 and report.notes == []
    assert report.train[0][0] == report.validation[0][0] == "accuracy"
    assert "47 parameters (47 trained)" in caplog.text and "rows/s" in str(report)


def test_dry_run_finds_what_fit_would_stumble_over():
    data, label = material()
    module = mx.mod.Module(network())
    with pytest.raises(ValueError, match="label"):
        module.dry_run(mx.io.NDArrayIter(data, label + CLASSES, 8))  # labels that are no classes
    with pytest.raises(ValueError, match="metric|binary"):
        module.dry_run(mx.io.NDArrayIter(data, label, 8), eval_metric="f1")
    with pytest.raises(ValueError, match="don't match names"):
        module.dry_run(mx.io.NDArrayIter({"dta": data}, label, 8))
    with pytest.raises(TypeError, match="num_epochs"):
        module.dry_run(mx.io.NDArrayIter(data, label, 8), num_epochs=3)
    assert not module.binded
    train = mx.io.NDArrayIter(data, label, 8)
    train.next()
    module.dry_run(train)
    assert (train.next().data[0].asnumpy() == data[8:16]).all()


def test_dry_run_of_other_modules_and_iterators():
    report = mx.mod.Module(network()).dry_run(Plain())
    assert report.notes == ["an iterator that cannot say where it stands was reset"]
    data, label = material()
    chain = mx.mod.SequentialModule()
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=CLASSES, name="fc")
    chain.add(mx.mod.Module(x, label_names=[]))
    chain.add(mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.Variable("fc_output"), name="softmax"),
                            data_names=["fc_output"]), take_labels=True, auto_wiring=True)
    assert chain.dry_run(mx.io.NDArrayIter(data, label, 8)).parameters == 18
    assert not chain.binded and not chain._modules[0].binded
    fit(8, module=chain)
