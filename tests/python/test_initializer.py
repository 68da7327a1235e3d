"""Initializers: JSON and numbers as MXNet's (tools/oracle/record_init.py); subclasses in Python."""
import importlib.util
import json
import logging
import os
import pickle
import warnings

import numpy as np
import pytest

import symbind as mx

ORACLE = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "oracle", "record_init.py")
spec = importlib.util.spec_from_file_location("record_init", ORACLE)
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

with open(oracle.TARGET) as file:
    RECORDED = json.load(file)


@pytest.mark.parametrize("name, kwargs, text", RECORDED["dumps"])
def test_dumps(name, kwargs, text):
    init = oracle.make(mx, name, kwargs)
    assert init.dumps() == text
    again = mx.init.create(text)
    assert again == init and again.dumps() == text
    assert pickle.loads(pickle.dumps(init)) == init
    if init._native() is not None and name != "MSRAPrelu":
        assert json.loads(init._native().dumps()) == json.loads(text)


@pytest.mark.parametrize("name, kwargs, shape, _, numbers", RECORDED["fills"])
def test_fills(name, kwargs, shape, _, numbers):
    assert oracle.filled(mx, lambda a: oracle.make(mx, name, kwargs)._init_weight(
        mx.init.InitDesc("x"), a), tuple(shape)) == numbers


@pytest.mark.parametrize("name", sorted(RECORDED["names"]))
def test_names(name):
    assert oracle.dispatched(mx, name) == RECORDED["names"][name]


def test_own_initializer():
    assert oracle.own(mx) == RECORDED["own"]


def test_random_ones_draw_from_mx_random():
    for init, same in (
            (mx.init.Uniform(0.3), lambda a: mx.random.uniform(-0.3, 0.3, a.shape, out=a)),
            (mx.init.Normal(0.3), lambda a: mx.random.normal(0, 0.3, a.shape, out=a)),
            (mx.init.Xavier(magnitude=2), lambda a: mx.random.uniform(
                -np.sqrt(2 / 4.5), np.sqrt(2 / 4.5), a.shape, out=a))):
        mine, theirs = mx.nd.zeros((4, 5)), mx.nd.zeros((4, 5))
        mx.random.seed(5)
        init(mx.init.InitDesc("fc_weight"), mine)
        mx.random.seed(5)
        same(theirs)
        np.testing.assert_allclose(mine.asnumpy(), theirs.asnumpy(), rtol=1e-6)
        assert len(np.unique(mine.asnumpy())) == 20


def test_orthogonal():
    array = mx.nd.zeros((3, 2, 4))
    mx.init.Orthogonal(2.0)(mx.init.InitDesc("fc_weight"), array)
    matrix = array.asnumpy().reshape(3, 8)
    np.testing.assert_allclose(matrix @ matrix.T, 4 * np.eye(3), atol=1e-5)


@mx.init.register
@mx.init.alias("three_and_four")
class Mine(mx.init.Initializer):
    """As in public code: no call of super().__init__."""

    def __init__(self, weight=3):
        self.weight = weight

    def _init_weight(self, name, arr):
        arr[:] = self.weight

    def _init_bias(self, name, arr):
        arr[:] = 4


class Gamma(mx.init.Xavier):
    """Overrides one role of ours."""

    def _init_gamma(self, _, arr):
        arr[:] = 0.5


def filled(init, name, shape=(2, 2), attrs=None, **kwargs):
    array = mx.nd.zeros(shape)
    init(mx.init.InitDesc(name, attrs, **kwargs), array)
    return array.asnumpy()


def test_subclasses():
    for init in (Mine(), mx.init.create("mine"), mx.init.create("three_and_four", weight=3)):
        assert (filled(init, "fc_weight") == 3).all() and (filled(init, "fc_bias") == 4).all()
        assert (filled(init, "bn_gamma") == 1).all()
        with pytest.raises(ValueError, match="Unknown initialization pattern for data"):
            filled(init, "data")
    assert (filled(mx.init.Zero(), "data", attrs={"__init__": '["mine", {"weight": 8}]'}) == 8).all()
    assert Mine().dumps() == '["mine", {}]'
    gamma = Gamma()
    assert (filled(gamma, "bn_gamma") == 0.5).all() and gamma._native() is None
    assert filled(gamma, "fc_weight").any()
    assert mx.init.Xavier()._native() is not None
    with pytest.raises(NotImplementedError):
        filled(mx.init.Initializer(), "fc_weight")


def test_errors_of_a_subclass_come_through():
    class Broken(mx.init.Initializer):
        def _init_weight(self, name, arr):
            raise KeyError(name)
    with pytest.raises(KeyError):
        filled(Broken(), "fc_weight")


def test_fused_rnn_calls_python():
    size = 2 * 4 * (3 + 2 + 2)
    fused = mx.init.FusedRNN(None, 2, 1, "lstm", forget_bias=5.0)
    values = filled(Mine(), "parameters", (size,), {"__init__": fused.dumps()})
    assert (values[:40] == 3).all() and values[40] == 4 and values[42] == 5
    own = mx.init.FusedRNN(Mine(7), 2, 1, "lstm")
    array = mx.nd.zeros((size,))
    own._init_weight(mx.init.InitDesc("parameters"), array)
    assert (array.asnumpy()[:40] == 7).all()


def test_global_init_is_filled_in():
    desc, init = mx.init.InitDesc("fc_weight"), mx.init.One()
    init(desc, mx.nd.zeros((1,)))
    assert desc.global_init is init and desc == "fc_weight" and desc.attrs == {}


def test_plain_names_are_deprecated():
    with pytest.warns(DeprecationWarning, match="has been deprecated"):
        mx.init.One()("fc_weight", mx.nd.zeros((1,)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(TypeError):
            mx.init.One()(3, mx.nd.zeros((1,)))
        with pytest.raises(TypeError):
            mx.init.One()("fc_weight", np.zeros(1))


def test_verbosity(caplog):
    init = mx.init.Constant(2).set_verbosity(True)
    with caplog.at_level(logging.INFO):
        filled(init, "fc_weight")
        filled(init.set_verbosity(True, lambda x: "mine"), "fc_bias")
        filled(mx.init.Constant(0.1).set_verbosity(True), "fc_weight", (1,))
    assert caplog.messages == ["Initialized fc_weight as weight: 2.0",
                               "Initialized fc_bias as bias: mine",
                               "Initialized fc_weight as weight: 0.1"]


def test_load_and_mixed(caplog, tmp_path):
    path = str(tmp_path / "x.params")
    mx.nd.save(path, {"arg:a_weight": mx.nd.ones((2, 2)) * 5})
    load = mx.init.Load(path, mx.init.One(), verbose=True)
    with caplog.at_level(logging.INFO):
        assert (filled(load, "a_weight") == 5).all() and (filled(load, "b_weight") == 1).all()
    assert caplog.messages == ["Initialized a_weight by loading", "Initialized b_weight by default"]
    with pytest.raises(AssertionError, match="Shape mismatch"):
        filled(load, "a_weight", (3,))
    with pytest.raises(AssertionError, match="Not found"):
        filled(mx.init.Load({}), "a_weight")
    mixed = mx.init.Mixed(["a", ".*bias"], [mx.init.One(), Mine()])
    assert (filled(mixed, "a_weight") == 1).all() and (filled(mixed, "fc_bias") == 4).all()
    with pytest.raises(ValueError, match="x_weight did not match"):
        filled(mixed, "x_weight")


def test_xavier_of_a_vector():
    with pytest.raises(ValueError, match="Xavier initializer cannot be applied to vector fc_weight"):
        filled(mx.init.Xavier(), "fc_weight", (3,))


def test_constant_of_an_array():
    init = mx.init.Constant(mx.nd.array([[1, 2], [3, 4]]))
    assert filled(init, "x_weight").tolist() == [[1, 2], [3, 4]]
    assert init.dumps() == '["constant", {"value": [[1.0, 2.0], [3.0, 4.0]]}]'
    assert filled(mx.init.create(init.dumps()), "x_weight").tolist() == [[1, 2], [3, 4]]
