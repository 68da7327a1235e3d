"""operator, registry, runtime, engine, util, log, libinfo, executor_manager, misc and symbol_doc."""
import importlib
import logging
import os
import re
import threading
import warnings

import numpy as np
import pytest

import symbind as mx
from symbind import executor_manager, operator, registry, util


# operator

def test_operator_lists():
    names = operator.get_all_registered_operators()
    assert {"FullyConnected", "Convolution", "elemwise_add"} <= set(names)
    activation = operator.get_operator_arguments("Activation")
    assert activation == operator.OperatorArguments(2, ["data", "act_type"], [
        "NDArray-or-Symbol", "{'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, required"])
    concat = operator.get_operator_arguments("Concat")
    assert concat.names == ["data", "num_args", "dim"] and concat.narg == 3
    assert concat.types[:2] == ["NDArray-or-Symbol[]", "int, required"]
    with pytest.raises(mx.MXNetError):
        operator.get_operator_arguments("NoSuchOperator")


def test_star_import_of_operator_leaks_what_mxnets_tests_use():
    names = {}
    exec("from symbind.operator import *", names)
    for name in ("ctypes", "NDArray", "NDArrayHandle", "get_all_registered_operators",
                 "get_operator_arguments", "OperatorArguments", "CustomOp", "register"):
        assert name in names


def test_registered_properties_are_made_from_strings():
    @operator.register("test_small_scale")
    class ScaleProp(operator.CustomOpProp):
        def __init__(self, scale):
            self.scale = scale  # like many, it does not call the base's __init__

    prop = operator._create("test_small_scale", {"scale": "2"})
    assert prop.scale == "2"
    assert prop.infer_shape([[2, 3]]) == ([[2, 3]], [[2, 3]], [])
    assert prop.infer_type([np.float32]) == ([np.float32], [np.float32], [])
    assert prop.declare_backward_dependency([0], [1], [2]) == [0, 1, 2]
    loss = operator.CustomOpProp(need_top_grad=False)
    assert loss.declare_backward_dependency([0], [1], [2]) == [1, 2]
    assert isinstance(prop.create_operator(mx.cpu(), [[2, 3]], [0]), operator.CustomOp)
    assert prop.infer_storage_type(["default"]) == (["default"], ["default"], [])
    with pytest.raises(AssertionError, match="'csr' for in_stype"):
        prop.infer_storage_type(["csr"])
    assert prop.infer_storage_type_backward(["default"], ["default"], ["default"], ["undefined"],
                                            []) == (["default"],) * 4 + ([],)
    with pytest.raises(mx.MXNetError, match="test_small_scal.*did you mean test_small_scale"):
        operator._create("test_small_scal", {})


def test_assign():
    op = operator.CustomOp()
    for request, expected in (("null", 1), ("write", 2), ("inplace", 2), ("add", 3)):
        target = mx.nd.ones((2,))
        op.assign(target, request, mx.nd.full((2,), 2))
        assert target.asnumpy().tolist() == [expected] * 2


class SoftmaxOp(operator.NumpyOp):
    """The NumPy softmax of MXNet's examples."""

    def __init__(self):
        super().__init__(need_top_grad=False)

    def list_arguments(self):
        return ["data", "label"]

    def infer_shape(self, in_shape):
        return [in_shape[0], [in_shape[0][0]]], [in_shape[0]]

    def forward(self, in_data, out_data):
        power = np.exp(in_data[0] - in_data[0].max(axis=1, keepdims=True))
        out_data[0][:] = power / power.sum(axis=1, keepdims=True)

    def backward(self, out_grad, in_data, out_data, in_grad):
        label = in_data[1].astype(int)
        in_grad[0][:] = out_data[0]
        in_grad[0][np.arange(len(label)), label] -= 1


def test_numpy_op_is_carried_by_a_property():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        prop = operator._NumpyProp(SoftmaxOp())
    assert prop.list_arguments() == ["data", "label"] and not prop.need_top_grad_
    assert prop.infer_shape([[2, 3], []]) == ([[2, 3], [2]], [[2, 3]])
    op = prop.create_operator(mx.cpu(), [[2, 3], [2]], [0, 0])
    data, label = mx.nd.array([[1, 1, 1], [0, 0, np.log(2)]]), mx.nd.array([0, 2])
    output, gradient = mx.nd.zeros((2, 3)), mx.nd.ones((2, 3))
    op.forward(True, ["write"], [data, label], [output], [])
    expected = np.array([[1, 1, 1], [.75, .75, 1.5]]) / 3
    assert output.asnumpy() == pytest.approx(expected, abs=1e-6)
    op.backward(["add", "null"], [output], [data, label], [output], [gradient, label], [])
    expected[[0, 1], [0, 2]] -= 1
    assert gradient.asnumpy() == pytest.approx(expected + 1, abs=1e-6)


def test_old_operators_warn():
    with pytest.warns(UserWarning, match="NDArrayOp has been deprecated"):
        assert operator.NDArrayOp().declare_backward_dependency([0], [1], [2]) == [0, 1, 2]
    with pytest.warns(UserWarning), pytest.raises(NotImplementedError):
        operator.PythonOp()(mx.sym.Variable("x"))


# registry

class Animal:
    def __init__(self, legs=4):
        self.legs = legs


def test_registry():
    register = registry.get_register_func(Animal, "animal")
    create = registry.get_create_func(Animal, "animal")

    alias = registry.get_alias_func(Animal, "animal")

    @alias("bird", "Fowl")
    @register
    class Duck(Animal):
        pass

    assert set(registry.get_registry(Animal)) == {"duck", "bird", "fowl"}
    for what in ("DUCK", "bird", '["fowl", {"legs": 2}]', '{"animal": "duck", "legs": 2}',
                 {"animal": "duck"}):
        assert isinstance(create(what), Duck)
    assert create('["fowl", {"legs": 2}]').legs == create("duck", legs=2).legs == 2
    one = Duck()
    assert create(one) is one and create(animal="duck").legs == 4
    for wrong in (("cat",), (one, 3), (5,)):
        with pytest.raises(AssertionError):
            create(*wrong)
    with pytest.warns(UserWarning, match="overriding existing animal"):
        register(Duck)
    with pytest.raises(AssertionError, match="Can only register subclass of Animal"):
        register(int)


# runtime, engine

def test_features():
    features = mx.runtime.Features()
    assert features is mx.runtime.Features() and len(features) >= 30
    assert isinstance(features.is_enabled("cuda"), bool)
    assert [f.name for f in mx.runtime.feature_list()] == list(features)
    assert re.match("\\[[✔✖] CUDA, [✔✖] CUDNN, ", repr(features))
    with pytest.raises(RuntimeError, match="Feature 'NONE' is unknown, known features are: "):
        features.is_enabled("none")


def test_bulk():
    before = mx.engine.set_bulk_size(5)
    with mx.engine.bulk(10):
        assert mx.engine.set_bulk_size(7) == 10
    assert mx.engine.set_bulk_size(before) == 5


# util

def test_np_shape_scopes():
    assert not mx.is_np_shape()
    with mx.np_shape():
        assert mx.is_np_shape()
        with mx.np_shape(False):
            assert not mx.is_np_shape()
        assert mx.is_np_shape()
    assert mx.set_np_shape(True) is False and mx.set_np_shape(False) is True
    with mx.np_shape(None):
        assert not mx.is_np_shape()


def test_np_scopes_are_of_a_thread():
    seen = []
    util.set_np()
    try:
        thread = threading.Thread(target=lambda: seen.append((util.is_np_shape(),
                                                              util.is_np_array())))
        thread.start()
        thread.join()
        assert util.is_np_shape() and util.is_np_array() and seen == [(False, False)]
        with pytest.raises(ValueError, match="Deactivating NumPy shape semantics"):
            util.set_np_shape(False)
    finally:
        util.reset_np()
    assert not util.is_np_shape() and not util.is_np_array()
    with pytest.raises(ValueError):
        util.set_np(shape=False)


def test_use_np_decorates_functions_and_classes():
    @mx.use_np_shape
    class Asks:
        field = 3

        @staticmethod
        def static():
            return mx.is_np_shape()

        @classmethod
        def of_class(cls):
            return mx.is_np_shape(), cls

        @property
        def prop(self):
            return mx.is_np_shape()

        def method(self):
            """Asked."""
            return mx.is_np_shape()

    assert Asks.static() and Asks().static() and Asks.of_class() == (True, Asks)
    assert Asks().prop and Asks().method() and Asks.method.__doc__ == "Asked." and Asks.field == 3
    assert mx.use_np(lambda: (mx.is_np_shape(), mx.is_np_array()))() == (True, True)
    assert not mx.is_np_shape()
    with pytest.raises(TypeError, match="use_np_shape can only decorate"):
        mx.use_np_shape(3)


def test_environment_reaches_the_library():
    util.setenv("SYMBIND_TEST_C", "x")
    assert util.getenv("SYMBIND_TEST_C") == "x"
    util.setenv("SYMBIND_TEST_C", None)
    assert util.getenv("SYMBIND_TEST_C") is None


def test_gpus_and_folders(tmp_path):
    assert util.get_gpu_count() == len(mx.test_utils.list_gpus()) >= 0
    util.makedirs(str(tmp_path / "a" / "b"))
    util.makedirs(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir()


# log, libinfo, executor_manager

def test_logger_format(capsys, tmp_path):
    logger = mx.log.get_logger("symbind_test_log", level=mx.log.INFO)
    assert mx.log.get_logger("symbind_test_log") is logger and len(logger.handlers) == 1
    record = logging.LogRecord("x", logging.WARNING, "/a/b.py", 7, "hello %s", ("you",), None, "f")
    text = logger.handlers[0].formatter.format(record)
    assert re.fullmatch("\x1b\\[31mW\\d{4} \\d\\d:\\d\\d:\\d\\d %d /a/b.py:f:7\\]\x1b\\[0m "
                        "hello you" % os.getpid(), text)
    to_file = mx.log.get_logger("symbind_test_log_file", str(tmp_path / "log"), level=mx.log.INFO)
    to_file.info("plain")
    assert (tmp_path / "log").read_text() == "plain\n"
    with pytest.warns(DeprecationWarning):
        mx.log.getLogger("symbind_test_log")


def test_paths():
    assert os.path.isdir(os.path.join(mx.libinfo.find_include_path(), "symbind"))
    assert os.path.isfile(mx.libinfo.find_lib_path()[0])


@pytest.mark.parametrize("batch, loads, expected", [
    (10, [1, 1, 1], [(0, 3), (3, 6), (6, 10)]),
    (7, [1, 2], [(0, 2), (2, 7)]),
    (5, [1, 1], [(0, 2), (2, 5)]),       # half to even
    (100, [.3, .5, .1], [(0, 33), (33, 89), (89, 100)]),
])
def test_slices(batch, loads, expected):
    slices = executor_manager._split_input_slice(batch, loads)
    assert [(s.start, s.stop) for s in slices] == expected


def test_slices_that_would_be_empty():
    with pytest.raises(ValueError, match="Too many slices"):
        executor_manager._split_input_slice(3, [1] * 4)


def test_repeated_arguments():
    net = mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=3, name="fc")
    executor_manager._check_arguments(net)
    with pytest.raises(ValueError, match='Find duplicated argument name "fc_weight"'):
        executor_manager._check_arguments(mx.sym.FullyConnected(net, num_hidden=3, name="fc"))


def test_loading_of_slices():
    class Batch:
        data = [mx.nd.array([1, 2, 3])]
        label = [mx.nd.array([4, 5, 6])]

    parts = [(slice(0, 2), mx.nd.zeros((2,))), (slice(2, 3), mx.nd.zeros((1,)))]
    executor_manager._load_data(Batch, [parts])
    assert [array.asnumpy().tolist() for _, array in parts] == [[1, 2], [3]]
    whole = mx.nd.zeros((3,))
    executor_manager._load_label(Batch, [whole])
    assert whole.asnumpy().tolist() == [4, 5, 6]
    with pytest.raises(AssertionError, match="Expected 2, got 3"):
        executor_manager._load_data(Batch, [parts[:1]])


# misc and symbol_doc, which scripts of MXNet's first years import; the numbers are MXNet 1.9.1's

def test_misc_factor_scheduler(caplog):
    misc = importlib.import_module("symbind.misc")
    assert mx.misc is misc
    schedule = misc.FactorScheduler(step=3, factor=0.5)
    optimizer = mx.optimizer.SGD(learning_rate=0.4, lr_scheduler=schedule, rescale_grad=1.)
    update, weight, seen = mx.optimizer.get_updater(optimizer), mx.nd.array([1., 2.]), []
    with caplog.at_level(logging.INFO):
        for _ in range(8):
            update(0, mx.nd.array([1., -1.]), weight)
            seen.append(weight.asnumpy().tolist())
    np.testing.assert_allclose(seen, [[0.6, 2.4], [0.2, 2.8], [0, 3], [-0.2, 3.2], [-0.4, 3.4],
                                      [-0.5, 3.5], [-0.6, 3.6], [-0.7, 3.7]], atol=1e-6)
    assert [record.getMessage() for record in caplog.records] == [
        "At Iteration [3]: Swith to new learning rate 0.20000",
        "At Iteration [6]: Swith to new learning rate 0.10000"]
    np.testing.assert_allclose([misc.FactorScheduler(3)(i) for i in (0, 2, 3, 7)],
                               [0.01, 0.01, 0.001, 0.0001], rtol=1e-12)


def test_misc_refuses():
    with pytest.raises(ValueError, match="greater or equal than 1 round"):
        mx.misc.FactorScheduler(0)
    with pytest.raises(ValueError, match="less than 1"):
        mx.misc.FactorScheduler(3, 1.0)
    with pytest.raises(NotImplementedError, match="must override this"):
        mx.misc.LearningRateScheduler()(1)


def test_symbol_doc():
    from symbind.symbol_doc import SymbolDoc
    halves = mx.sym.split(mx.sym.Variable("x"), num_outputs=2, name="s")
    assert SymbolDoc.get_output_shape(halves, x=(2, 4)) == {"s_output0": (2, 2), "s_output1": (2, 2)}
