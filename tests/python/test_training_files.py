"""Machine-readable logs, read by separate parsers, and the dry run."""
import csv
import json
import logging
import struct

import numpy as np
import pytest

import symbind as mx
from training_cases import CLASSES, close, fit, material, network


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
    """(step, tag, fields of the value) after the version record."""
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
    with pytest.raises(OSError, match="not a log of this kind"):
        mx.callback.CSVLogger(tmp_path / "other.csv")
    assert (tmp_path / "other.csv").read_text() == "a,b\n1,2\n"


# ---------------------------------------------------------------------------- dry run

class Plain(mx.io.DataIter):
    """An iterator without a position."""

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
            list(evaluation)  # at its end, as after an evaluation
            report = module.fit(batches_, dry_run=True, eval_data=evaluation, **options)
            assert not module.binded and schedule.count == 0 and schedule.base_lr == 0.01
        module.fit(batches_, num_epoch=2, **options)
        if tried:
            before = {k: v.asnumpy() for k, v in module.get_params()[0].items()}
            module.dry_run(batches_, eval_data=evaluation, **options)
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
    assert report.notes == ["an iterator without state was reset"]
    data, label = material()
    chain = mx.mod.SequentialModule()
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=CLASSES, name="fc")
    chain.add(mx.mod.Module(x, label_names=[]))
    chain.add(mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.Variable("fc_output"), name="softmax"),
                            data_names=["fc_output"]), take_labels=True, auto_wiring=True)
    assert chain.dry_run(mx.io.NDArrayIter(data, label, 8)).parameters == 18
    assert not chain.binded and not chain._modules[0].binded
    fit(8, module=chain)
