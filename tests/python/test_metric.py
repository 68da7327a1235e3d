"""Metrics say what MXNet said (tools/oracle/record_metric.py), and are the plain Python that scripts
derive from, read, set and pickle."""
import copy
import importlib.util
import json
import math
import os
import pickle

import numpy as np
import pytest

import symbind as mx

ORACLE = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "oracle", "record_metric.py")
spec = importlib.util.spec_from_file_location("record_metric", ORACLE)
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

with open(oracle.TARGET) as file:
    CASES = json.load(file)
LABEL, PRED = mx.nd.array([0, 1, 1]), mx.nd.array([[0.3, 0.7], [0, 1.], [0.4, 0.6]])


def title(case):
    return "-".join([case["metric"], *map(str, case["params"].values()), case["kind"]])


@pytest.mark.parametrize("case", CASES, ids=title)
def test_recorded(case):
    names, values = oracle.replay(mx, np, case)
    assert names == case["names"]
    for mine, recorded in zip(values, case["values"]):
        for side, wanted in zip(mine, recorded):
            assert [v is None for v in side] == [v is None for v in wanted]
            assert [v for v in side if v is not None] == pytest.approx(
                [v for v in wanted if v is not None], rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=title)
def test_copies_continue_alike(case):
    arrays = lambda side: [mx.nd.array(np.array(t["values"]).reshape(t["shape"])) for t in side]
    metric = mx.metric.create(case["metric"], **case["params"])
    metric.update(*map(arrays, case["batches"][0]))
    for other in (pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric)):
        assert type(other) is type(metric) and other.get_config() == metric.get_config()
        one = copy.deepcopy(metric)
        for each in (one, other):
            each.update(*map(arrays, case["batches"][1]))
        np.testing.assert_equal((other.get(), other.get_global()), (one.get(), one.get_global()))


def test_numpy_arrays_are_taken():
    metric = mx.metric.Accuracy()
    metric.update([LABEL.asnumpy()], [PRED.asnumpy()])
    metric.update(LABEL, PRED)
    assert metric.get() == ("accuracy", 4 / 6)


def test_sums_are_live():
    metric = mx.metric.create("acc")
    metric.update([LABEL], [PRED])
    assert (metric.sum_metric, metric.num_inst) == (2.0, 3)
    assert (metric.global_sum_metric, metric.global_num_inst) == (2.0, 3)
    metric.sum_metric += 1
    metric.num_inst = 6
    assert metric.get() == ("accuracy", 0.5)
    assert metric.get_global() == ("accuracy", 2 / 3)
    metric.name, metric.output_names, metric.label_names = "mine", ["b"], ["l"]
    metric.update_dict({"k": PRED, "l": LABEL}, {"a": LABEL, "b": PRED})
    assert metric.get() == ("mine", 5 / 9)
    assert metric._native().get() == [("mine", 5 / 9)]
    metric.axis = 0
    assert metric.axis == 0 and metric.get_config()["axis"] == 1


def test_the_names_of_the_manual():
    assert mx.metric.TopKAccuracy(top_k=3).name == "top_k_accuracy_3"
    assert mx.metric.np(lambda label, pred: 1.0).name == "custom(<lambda>)"
    assert str(mx.metric.create("mse")) == "EvalMetric: {'mse': nan}"
    composite = mx.metric.create(["acc", "f1"])
    composite.update([LABEL], [PRED])
    assert composite.get() == (["accuracy", "f1"], [2 / 3, pytest.approx(0.8)])
    assert composite.get_metric(0).name == "accuracy"
    assert isinstance(composite.get_metric(9), ValueError)
    assert composite._native().get() == composite.get_name_value()


class Bare(mx.metric.EvalMetric):
    """As in public code: no call of super().__init__."""

    def __init__(self):
        self.reset()

    def update(self, labels, preds):
        self.sum_metric += 1
        self.num_inst += 4


class PerOutput(mx.metric.EvalMetric):
    """Keeps lists, as metrics of several outputs do."""

    def __init__(self, num=2):
        super().__init__("multi")
        self.num = num

    def reset(self):
        self.num_inst, self.sum_metric = [0, 0], [0.0, 0.0]

    def update(self, labels, preds):
        self.num_inst[0] += 1

    def get(self):
        return ["a", "b"], [self.num_inst[0], self.num_inst[1]]


class Doubled(mx.metric.Accuracy):
    """Overrides one verb of ours, and never calls super().__init__."""

    def __init__(self):
        self.extra = []

    def update(self, labels, preds):
        super().update(labels, preds)
        self.sum_metric *= 2


class Listed(mx.metric.MSE):
    """Puts a list where C++ has a number."""

    def reset(self):
        self.sum_metric, self.num_inst = [1.0], [2]

    def get(self):
        return self.name, self.sum_metric[0] / self.num_inst[0]


class Renamed(mx.metric.Accuracy):
    """Changes nothing that matters."""

    def __init__(self):
        super().__init__(name="renamed")
        self.note = "mine"


def test_subclasses():
    bare = Bare()
    bare.update_dict({"l": LABEL}, {"p": PRED})
    assert bare.get_name_value() == [("metric", 0.25)] == bare.get_global_name_value()
    assert bare._native() is None
    many = PerOutput()
    many.update(None, None)
    assert many.get_name_value() == [("a", 1), ("b", 0)]
    doubled = Doubled()
    doubled.update([LABEL], [PRED])
    assert doubled.get() == ("accuracy", 4 / 3) and doubled._native() is None
    listed = Listed()
    assert listed.get() == ("mse", 0.5) and listed._native() is None
    renamed = Renamed()
    renamed.update([LABEL], [PRED])
    assert renamed._native().get() == [("renamed", 2 / 3)]
    for metric in (bare, many, doubled, renamed):
        other = pickle.loads(pickle.dumps(metric))
        assert other.get() == metric.get() and other.__dict__.keys() == metric.__dict__.keys()
    assert mx.metric.create([bare, "acc"])._native() is None


def test_register_and_create():
    @mx.metric.register
    @mx.metric.alias("other_bare")
    class Registered(Bare):
        pass
    for what in ("registered", "OTHER_BARE", '["registered", {}]', {"metric": "registered"}):
        assert isinstance(mx.metric.create(what), Registered)
    assert mx.metric.create(Bare()).num_inst == 0
    metric = mx.metric.create(lambda label, pred: (label.sum(), 2), name="f")
    metric.update([LABEL], [PRED])
    assert metric.get() == ("f", 1.0)
    with pytest.raises(NotImplementedError):
        metric.get_config()
    extra = mx.metric.np(lambda label, pred: 1.0, allow_extra_outputs=True)
    extra.update([LABEL], [PRED, PRED])
    assert extra.get()[1] == 1.0


def test_counts_of_f1():
    f1 = mx.metric.F1(average="micro")
    f1.update([LABEL], [PRED])
    assert (f1.metrics.true_positives, f1.metrics.false_positives) == (2, 1)
    assert f1.metrics.precision == 2 / 3 and f1.metrics.recall == 1.0
    assert f1.metrics.total_examples == f1.num_inst == 3


def test_matrix_of_pcc():
    pcc = mx.metric.PCC()
    pcc.update([mx.nd.array([0, 2])], [mx.nd.array([1, 2])])
    assert pcc.k == 3 and pcc.lcm.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 1]]
    assert pcc.sum_metric == pcc.get()[1] * pcc.num_inst


def test_23_a_metric_without_labels():
    with pytest.raises(ValueError) as caught:
        mx.metric.create("acc").update_dict({}, {"softmax_output": PRED})
    for part in ("'accuracy'", "outputs: softmax_output", "labels found: none"):
        assert part in str(caught.value)


def test_32_names_with_a_typo():
    for make, nearest in ((lambda: mx.metric.create("accuarcy"), "'accuracy'"),
                          (lambda: mx.init.create("xaiver"), "'xavier'")):
        with pytest.raises(mx.MXNetError) as caught:
            make()
        assert nearest in str(caught.value)
        assert isinstance(caught.value, (ValueError, AssertionError))


@pytest.mark.parametrize("update, kind", [
    (lambda: mx.metric.TopKAccuracy(top_k=1), AssertionError),
    (lambda: mx.metric.create("acc").update([LABEL[:2]], [PRED]), ValueError),
    (lambda: mx.metric.create("perplexity", ignore_label=None).update([LABEL], [PRED, PRED]),
     AssertionError),
    (lambda: mx.metric.create("perplexity", ignore_label=None).update([], [PRED]), AssertionError),
    (lambda: mx.metric.create("ce").update([LABEL], [PRED, PRED]), ValueError),
    (lambda: mx.metric.create("ce").update([LABEL + 1], [PRED]), IndexError),
    (lambda: mx.metric.create("f1").update([mx.nd.array([0, 1, 2])], [PRED]), ValueError),
    (lambda: mx.metric.create("acc").update([None], [PRED]), Exception),
    (lambda: mx.metric.check_label_shapes([1], [1, 2]), ValueError),
    (lambda: mx.metric.check_label_shapes(LABEL, PRED, shape=True), ValueError),
])
def test_bad_input(update, kind):
    with pytest.raises(kind):
        update()


def test_nan_without_instances():
    assert math.isnan(mx.metric.create("acc").get()[1])


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.int32])
def test_sums_of_numpy_scalars_are_doubles(kind):
    """MXNet 1.9.1 over NumPy 1.23 gives 16777218 here for float32; NumPy 2 alone would give 16777216."""
    large = 2048 if kind is np.float16 else 2 ** 24
    values = [kind(large), kind(1), kind(1)]

    class NoInit(mx.metric.EvalMetric):
        def __init__(self):
            self.num_inst = 0

        def update(self, labels, preds):
            self.sum_metric += values[self.num_inst]
            self.num_inst += 1

    class OwnReset(mx.metric.EvalMetric):
        def reset(self):
            self.sum_metric, self.num_inst = 0.0, 0

        update = NoInit.update

    calls = iter(values)
    for metric in (NoInit(), OwnReset("own"), mx.metric.np(lambda label, pred: next(calls), "fed")):
        for _ in values:
            metric.update([mx.nd.zeros(1)], [mx.nd.zeros(1)])
        assert metric.sum_metric == large + 2
        assert repr(metric.get()[1]) == repr((large + 2) / 3)
        assert pickle.loads(pickle.dumps(metric.sum_metric)) == large + 2


def test_sums_may_be_other_things():
    """Metrics of several values keep lists or arrays there."""
    metric = mx.metric.EvalMetric("several")
    metric.sum_metric = [0.0, 0.0]
    metric.sum_metric[1] += 2
    assert metric.sum_metric == [0.0, 2.0]
    metric.sum_metric = 1
    assert type(metric.sum_metric) is int
    metric.sum_metric = 0.5
    metric.sum_metric += np.array([1, 2.])
    assert metric.sum_metric.tolist() == [1.5, 2.5]
    metric.reset()
    assert repr(metric.sum_metric) == "0.0" and mx.metric.EvalMetric.sum_metric == 0.0
