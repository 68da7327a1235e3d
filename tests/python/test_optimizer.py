"""Optimizers, schedulers and the Updater from Python, against recordings of MXNet 1.9.1
(tools/oracle/record_optimizer.py), and the classes that people derive from them."""
import copy
import json
import logging
import os
import pathlib
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest

import symbind as mx

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "optimizer"
RECORDED = json.loads((GOLDEN / "cases.json").read_text())
SETUP, CASES = RECORDED["setup"], RECORDED["cases"]
MASK = (1 << 64) - 1


def formula(name, shape, dtype):
    """tools/oracle/README.md has it."""
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        i = np.arange(1, count + 1, dtype=np.uint64)
        z = np.uint64(SETUP["seeds"][name] * 0x9E3779B97F4A7C15 & MASK) \
            + i * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    u = (z >> np.uint64(40)).astype(np.float64) / 2.0**24
    return mx.nd.array((-1 + 2 * u).reshape(shape), dtype=dtype)


def make(case, klass=None):
    params = dict(case["params"], param_idx2name=dict(enumerate(SETUP["names"])))
    if case["scheduler"]:
        name, arguments = case["scheduler"]
        params["lr_scheduler"] = getattr(mx.lr_scheduler, name)(**arguments)
    made = klass(**params) if klass else mx.optimizer.create(case["optimizer"], **params)
    made.set_lr_mult(SETUP["lr_mult"])
    made.set_wd_mult(SETUP["wd_mult"])
    return made


def weights_of(case):
    return [formula("weight %d" % i, shape, case["dtype"])
            for i, shape in enumerate(SETUP["shapes"])]


def step(updater, case, weights, number):
    grads = [formula("grad %d %d" % (number, i), shape, case["dtype"])
             for i, shape in enumerate(SETUP["shapes"])]
    chosen = case["places"]
    updater(list(chosen), [grads[i] for i in chosen], [weights[i] for i in chosen])


def near(got, want, tolerance):
    got, want = got.asnumpy().astype("float64").ravel(), np.array(want)
    return np.abs(got - want).max() <= tolerance * np.abs(want).max()


def ten_steps(updater, case):
    weights = weights_of(case)
    for number in range(1, 11):
        step(updater, case, weights, number)
    tolerance = 1e-3 if case["dtype"] == "float16" else 1e-5
    for i, want in zip(case["places"], case["after"]["10"]["weights"]):
        assert near(weights[i], want, tolerance), SETUP["names"][i]


@pytest.mark.parametrize("name", sorted(CASES))
def test_ten_steps_are_mxnets(name):
    optimizer = make(CASES[name])
    assert optimizer._native() is not None
    ten_steps(mx.optimizer.get_updater(optimizer), CASES[name])


@pytest.mark.parametrize("name", ["sgd momentum", "sgd momentum half", "adam half", "lars schedule",
                                  "lamb", "nag half", "nadam", "sgd schedule"])
def test_the_same_when_python_makes_every_update(name):
    base = type(make(CASES[name]))

    class Mine(base):
        """Replaces what matters with what does the same."""
        calls = 0

        def create_state(self, index, weight):
            return super().create_state(index, weight)

        def _update_count(self, index):
            Mine.calls += 1
            super()._update_count(index)

        def _get_wd(self, index):
            return super()._get_wd(index)

    optimizer = make(CASES[name], Mine)
    assert optimizer._native() is None
    ten_steps(mx.optimizer.get_updater(optimizer), CASES[name])
    assert Mine.calls >= 50


def test_schedules_are_mxnets(caplog):
    caplog.set_level(logging.INFO)
    for one in json.loads((GOLDEN / "schedules.json").read_text())["schedules"]:
        caplog.clear()
        schedule = getattr(mx.lr_scheduler, one["class"])(**one["arguments"])
        assert [schedule(n) for n in range(len(one["rates"]))] == one["rates"]
        assert [r.getMessage() for r in caplog.records] == one["log"]
        again = pickle.loads(pickle.dumps(schedule))
        assert again.__getstate__() == schedule.__getstate__()


class Bare(mx.optimizer.Optimizer):
    """As in public code: no super().__init__(), an additional attribute."""

    def __init__(self, beta):
        self.beta = beta

    def create_state(self, index, weight):
        return {"mean": mx.nd.zeros(weight.shape), "n": 0}

    def update(self, index, weight, grad, state):
        self._update_count(index)
        state["n"] += 1
        state["mean"][:] = self.beta * state["mean"] + grad * self.rescale_grad
        weight[:] -= self._get_lr(index) * state["mean"] + self._get_wd(index) * weight


mx.optimizer.register(Bare)


def test_a_custom_class():
    optimizer = mx.optimizer.create("bare", beta=0.5)
    assert optimizer._native() is None and optimizer.lr == 0.01
    optimizer.lr, optimizer.rescale_grad, optimizer.wd = 0.1, 0.5, 0.25
    optimizer.lr_mult = {3: 2.0}
    updater = mx.optimizer.get_updater(optimizer)
    weight = mx.nd.ones((2,))
    updater(3, mx.nd.ones((2,)), weight)
    assert np.allclose(weight.asnumpy(), 1 - 0.2 * 0.5 - 0.25)
    assert optimizer._index_update_count == {3: 1} and optimizer.num_update == 1
    assert updater.states[3]["n"] == 1
    other = mx.optimizer.get_updater(mx.optimizer.create("bare", beta=0.0))
    other.set_states(updater.get_states(dump_optimizer=True))
    assert type(other.optimizer) is Bare and other.optimizer.beta == 0.5
    assert other.optimizer.lr == 0.1 and other.states[3]["n"] == 1
    assert other.optimizer._index_update_count == {3: 1}


def test_attributes_are_live():
    sgd = mx.optimizer.SGD(learning_rate=0.1, momentum=0.9, param_idx2name={0: "a_weight", 1: "b_bias"})
    assert (sgd.lr, sgd.momentum, sgd.wd, sgd.rescale_grad) == (0.1, 0.9, 0.0, 1.0)
    assert sgd.clip_gradient is None and sgd.aggregate_num == 4 and sgd.lr_scheduler is None
    assert sgd.wd_mult == {"b_bias": 0.0} and sgd.lr_mult == {}
    assert sgd.idx2name == {0: "a_weight", 1: "b_bias"} and len(sgd.idx2name) == 2
    updater = mx.optimizer.get_updater(sgd)
    weight = mx.nd.ones((1,))
    updater(0, mx.nd.ones((1,)), weight)
    sgd.lr = 1.0
    sgd.lr_mult["a_weight"] = 0.5
    sgd.momentum = 0.0
    updater(0, mx.nd.ones((1,)), weight)
    assert np.isclose(weight.asscalar(), 1 - 0.1 - 0.5)
    sgd.anything = [1, 2]
    twin = pickle.loads(pickle.dumps(sgd))
    assert twin.anything == [1, 2] and twin.lr_mult == {"a_weight": 0.5} and twin.num_update == 2
    assert copy.deepcopy(sgd)._index_update_count == {0: 2}
    del sgd.lr_mult["a_weight"]
    assert "a_weight" not in sgd.lr_mult and twin.lr_mult == {"a_weight": 0.5}


def test_a_pickle_has_mxnets_attributes():
    loaded = mx.optimizer.get_updater(mx.optimizer.Test())
    loaded.set_states((GOLDEN / "sgd_dump.states").read_bytes())
    sgd = loaded.optimizer
    assert set(sgd.__getstate__()) == {
        "rescale_grad", "lr_scheduler", "lr", "wd", "lr_mult", "wd_mult", "begin_num_update",
        "num_update", "_all_index_update_counts", "_index_update_count", "clip_gradient",
        "multi_precision", "aggregate_num", "idx2name", "sym_info", "allow_np_array", "momentum",
        "lazy_update"}
    assert type(sgd.lr_scheduler) is mx.lr_scheduler.FactorScheduler
    assert sgd.lr_scheduler.base_lr == 0.1 and sgd.num_update == 3


@pytest.mark.parametrize("file", sorted(json.loads((GOLDEN / "states.json").read_text())))
def test_mxnets_states_resume(file):
    facts = json.loads((GOLDEN / "states.json").read_text())[file]
    case = CASES[facts["case"]]
    updater = mx.optimizer.get_updater(make(case))
    updater.set_states((GOLDEN / (file + ".states")).read_bytes())
    assert set(updater.states_synced.values()) == {False}
    arrays = mx.nd.load(str(GOLDEN / (file + ".params")))
    weights = [arrays["3/%d" % i] for i in range(5)]
    keys = SETUP["names"] if facts["by_name"] else list(range(5))
    for number in range(4, 9):
        grads = [formula("grad %d %d" % (number, i), shape, case["dtype"])
                 for i, shape in enumerate(SETUP["shapes"])]
        updater(keys, grads, weights)
    for i in range(5):
        assert near(weights[i], arrays["8/%d" % i].asnumpy().astype("float64").ravel(),
                    1e-3 if case["dtype"] == "float16" else 1e-5)


def test_another_optimizer_keeps_the_states_or_is_refused():
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.9))
    updater(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
    nag = mx.optimizer.NAG(momentum=0.5)
    updater.optimizer = nag
    assert list(updater.states) == [0] and updater.optimizer is nag
    with pytest.raises(ValueError, match="not states of Adam"):
        updater.optimizer = mx.optimizer.Adam()
    assert updater.optimizer is nag and list(updater.states) == [0]


def test_states_can_be_set_and_read():
    updater = mx.optimizer.get_updater(mx.optimizer.Adam())
    updater.states[5] = (mx.nd.ones((2,)), mx.nd.ones((2,)) * 2)
    assert list(updater.states) == [5] and isinstance(updater.states[5], tuple)
    updater.states = {}
    assert len(updater.states) == 0
    weight = mx.nd.ones((2,))
    updater("name", weight, weight)
    assert updater.states["name"][0].shape == (2,)
    again = pickle.loads(pickle.dumps(updater))
    assert again.states["name"][1].asnumpy().tolist() == updater.states["name"][1].asnumpy().tolist()


def test_replacing_a_method_of_an_object_is_noticed():
    sgd = mx.optimizer.SGD(learning_rate=1.0, momentum=0.5)
    updater = mx.optimizer.get_updater(sgd)
    weight = mx.nd.ones((1,))
    updater(0, mx.nd.ones((1,)), weight)
    assert updater._native() is not None
    seen = []
    sgd.update_multi_precision = lambda index, *rest: seen.append(index)
    updater(0, mx.nd.ones((1,)), weight)
    assert seen == [(0,)] and updater._native() is None and list(updater.states) == [0]


@pytest.mark.parametrize("make", [
    lambda: mx.lr_scheduler.PolyScheduler(5, warmup_steps=5),
    lambda: mx.lr_scheduler.CosineScheduler(5, warmup_steps=5),
    lambda: mx.lr_scheduler.LinearScheduler(5, warmup_steps=5),
    lambda: mx.lr_scheduler.PolyScheduler(5, pwr=-1),
])
def test_a_schedule_without_a_finite_rate_is_refused(make):
    with pytest.raises(ValueError):
        make()


def test_a_custom_scheduler():
    class Mine(mx.lr_scheduler.LRScheduler):
        def __init__(self):
            self.asked = []

        def __call__(self, num_update):
            self.asked.append(num_update)
            return self.base_lr / num_update

    mine = Mine()
    sgd = mx.optimizer.SGD(lr_scheduler=mine)
    assert sgd.lr is None and sgd.lr_scheduler is mine and mine.base_lr == 0.01
    mine.base_lr = 1.0
    weight = mx.nd.zeros((1,))
    updater = mx.optimizer.get_updater(sgd)
    for _ in range(2):
        updater(0, mx.nd.ones((1,)), weight)
    assert np.isclose(weight.asscalar(), -1.5) and mine.asked == [1, 2]
    with pytest.raises(NotImplementedError):
        mx.lr_scheduler.LRScheduler()(1)
    warm = mx.lr_scheduler.LRScheduler(base_lr=1.0, warmup_steps=4)
    assert warm.get_warmup_lr(1) == 0.25


def test_a_rate_beside_a_scheduler(capsys):
    schedule = mx.lr_scheduler.FactorScheduler(step=1)
    optimizer = mx.optimizer.Optimizer(lr_scheduler=schedule, learning_rate=0.3)
    assert optimizer.learning_rate == 0.3 and schedule.base_lr == 0.3
    assert capsys.readouterr().out == ("learning rate from ``lr_scheduler`` has been overwritten by "
                                       "``learning_rate`` in optimizer.\n")
    with pytest.raises(UserWarning):
        optimizer.set_learning_rate(0.5)


def test_param_dict_counts_first():
    class Parameter:
        lr_mult, wd_mult = 3.0, 0.0
    sgd = mx.optimizer.SGD(learning_rate=1.0, wd=1.0, param_dict={0: Parameter()})
    assert sgd._get_lr(0) == 3.0 and sgd._get_wd(0) == 0.0 and sgd._get_lr(1) == 1.0
    weight = mx.nd.ones((1,))
    mx.optimizer.get_updater(sgd)(0, mx.nd.ones((1,)), weight)
    assert weight.asscalar() == -2.0


def test_float16_warns():
    half = mx.nd.ones((2,), dtype="float16")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mx.optimizer.get_updater(mx.optimizer.NAG())(0, half.copy(), half)
    assert [str(w.message) for w in caught] == [
        "Accumulating with float16 in optimizer can lead to poor accuracy or slow convergence. "
        "Consider using multi_precision=True option of the NAG optimizer"]


def test_registering_again_warns():
    with pytest.warns(UserWarning, match="New optimizer .*Bare is overriding existing optimizer"):
        mx.optimizer.Optimizer.register(Bare)
    assert mx.optimizer.Optimizer.opt_registry["bare"] is Bare


# ---------------------------------------------------------------------------- mistakes


def fails(call, kind, *parts):
    with pytest.raises(kind) as raised:
        call()
    assert isinstance(raised.value, mx.MXNetError)
    for part in parts:
        assert part in str(raised.value)


def test_line_32():
    fails(lambda: mx.optimizer.create("sdg"), ValueError, "sdg", "did you mean 'sgd'?")


def test_line_33():
    fails(lambda: mx.optimizer.create("sgd", lr=0.1), TypeError, "SGD", "'lr'", "'learning_rate'")
    fails(lambda: mx.optimizer.Adam(beta_1=0.1), TypeError, "Adam", "'beta1'")
    fails(lambda: mx.optimizer.SGD(learning_rate="high"), TypeError, "a number", "'high'")


def test_line_34():
    adam = mx.optimizer.get_updater(mx.optimizer.Adam())
    adam(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
    sgd = mx.optimizer.get_updater(mx.optimizer.SGD(momentum=0.9))
    sgd("w", mx.nd.ones((2,)), mx.nd.ones((2,)))
    fails(lambda: sgd.set_states(adam.get_states()), ValueError, "not states of SGD", "Adam",
          "Nothing was loaded")
    assert list(sgd.states) == ["w"]


class Evil:
    def __reduce__(self):
        return os.system, ("touch hostile-pickle-ran",)


def test_hostile_states_run_nothing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    for value in (Evil(), {0: Evil()}, ({}, Evil()), {0: eval}, {0: Bare}, {0: np.ones(2)}, {0: {1, 2}}):
        for protocol in range(6):
            fails(lambda: updater.set_states(pickle.dumps(value, protocol)), mx.MXNetError,
                  "optimizer states")
    for value in (None, 5, [1], ({}, 5), ({}, None), (5, mx.optimizer.SGD().__getstate__())):
        fails(lambda: updater.set_states(pickle.dumps(value)), OSError, "optimizer states")
    assert not list(tmp_path.iterdir())
    # Written by hand: Python 3.11's own pickler gives up at such a depth.
    deep = b"\x80\x02" + b"]" * 500 + b"a" * 499 + b"."
    fails(lambda: updater.set_states(deep), OSError, "nested")
    fails(lambda: updater.set_states("text"), TypeError)
    circle = {}
    circle[0] = circle
    fails(lambda: updater.set_states(pickle.dumps(circle)), OSError, "contains itself")
    bare = mx.optimizer.get_updater(mx.optimizer.create("bare", beta=0.1))
    bare.states[0] = object()
    fails(bare.get_states, NotImplementedError, "object")
    bare.states[0] = bare.states
    fails(bare.get_states, ValueError, "circle")


def test_mxnets_pickles_load_as_mxnet():
    """Plain pickle.loads of what MXNet wrote, in a process where mxnet means Symbind."""
    script = ("import symbind.as_mxnet, pickle, sys, mxnet as mx\n"
              "states, optimizer = pickle.loads(open(sys.argv[1], 'rb').read())\n"
              "assert type(optimizer) is mx.optimizer.SGD, optimizer\n"
              "assert optimizer.momentum == 0.9 and optimizer.num_update == 3\n"
              "assert optimizer._index_update_count[4] == 3\n"
              "assert optimizer.lr_scheduler.factor == 0.5\n"
              "assert states[0].shape == (3, 4)\n")
    subprocess.run([sys.executable, "-c", script, str(GOLDEN / "sgd_dump.states")], check=True)


def test_states_that_are_replaced_in_a_dictionary_held_before():
    """updater.states is live: a momentum set to 0 there is the momentum of the next update."""
    weights = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, no_bias=True, name="fc")
    module = mx.mod.Module(mx.sym.LinearRegressionOutput(weights, mx.sym.Variable("label")),
                           label_names=["label"])
    module.bind([("data", (2, 3))], [("label", (2, 1))])
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={"learning_rate": 0.1, "momentum": 0.9})
    batch = mx.io.DataBatch([mx.nd.array([[1, 2, 3], [3, 1, 2]])], [mx.nd.array([[1], [2]])])

    def step():
        module.forward_backward(batch)
        module.update()
        return module.get_params()[0]["fc_weight"].asnumpy()

    step()
    states = module._updater.states
    before = step()
    states[0] = mx.nd.zeros((1, 3))
    after = step()
    gradient = module._exec_group.grad_arrays[0][0].asnumpy()
    np.testing.assert_allclose(after, before - 0.1 * gradient / 2, rtol=1e-6)
    np.testing.assert_allclose(states[0].asnumpy(), -0.1 * gradient / 2, rtol=1e-6)


def test_lbsgd_keeps_its_sums_in_a_pickle():
    """`cumgrads` has MXNet's form; an unpickled object resumes within a sum."""
    whole = mx.optimizer.LBSGD(batch_scale=3, learning_rate=0.5, updates_per_epoch=1)
    weights = [mx.nd.array([1, 2]) for _ in range(2)]
    for value in (1, 2):
        whole.update(7, weights[0], mx.nd.array([value, -value]), None)
    assert list(whole.cumgrads) == [7] and whole.cumgrads[7]["num_cums"] == 2
    np.testing.assert_array_equal(whole.cumgrads[7]["cum_grad"].asnumpy(), [3, -3])
    resumed = pickle.loads(pickle.dumps(whole))
    for optimizer, weight in zip((whole, resumed), weights):
        optimizer.update(7, weight, mx.nd.array([6, -6]), None)
        # The mean of 1, 2 and 6 is 3; the rate at update 3 of 5 is 0.5 (1 + 2 · 3 / 5).
        np.testing.assert_allclose(weight.asnumpy(), [1 - 3.3, 2 + 3.3], rtol=1e-6)
        assert optimizer.cumgrads == {7: {"cum_grad": 0, "num_cums": 3}}


@pytest.mark.parametrize("optimizer", ["sgd", "adam", "adamax"])
def test_update_after_the_verbs_gives_the_bits_of_fit(optimizer):
    """forward_backward and update run what fit's step runs; an array put into the lists counts."""
    rows = np.arange(48, dtype="f").reshape(12, 4) % 7 / 7
    labels = np.arange(12) % 3

    def trained(by_fit):
        net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc"),
                                   name="softmax")
        module, data = mx.mod.Module(net), mx.io.NDArrayIter(rows, labels, 4)
        settings = {"learning_rate": 0.1, "wd": 0.01}
        if by_fit:
            module.fit(data, num_epoch=3, optimizer=optimizer, optimizer_params=settings,
                       initializer=mx.init.One())
            return module
        module.bind(data.provide_data, data.provide_label)
        module.init_params(mx.init.One())
        module.init_optimizer(optimizer=optimizer, optimizer_params=settings)
        for _ in range(3):
            data.reset()
            for batch in data:
                module.forward_backward(batch)
                module.update()
        return module

    one, other = trained(True), trained(False)
    for name, value in one.get_params()[0].items():
        assert (value.asnumpy() == other.get_params()[0][name].asnumpy()).all(), name
    before = other.get_params()[0]["fc_weight"].asnumpy()
    other._exec_group.grad_arrays[0][0] = mx.nd.zeros((3, 4))
    other._optimizer.wd = 0.0
    if optimizer == "sgd":
        other.update()
        assert (other.get_params()[0]["fc_weight"].asnumpy() == before).all()
