"""Parts of MXNet that Symbind does not have: they can be imported, and using them raises an error."""
import importlib
import inspect

import numpy as np
import pytest

import symbind as mx
from symbind import autograd

MODULES = [
    "gluon", "gluon.block", "gluon.nn", "gluon.rnn", "gluon.loss", "gluon.utils", "gluon.data",
    "gluon.data.vision.transforms", "gluon.model_zoo.vision", "gluon.contrib.estimator",
    "numpy", "numpy.random", "numpy_extension", "contrib.amp", "contrib.amp.amp",
    "contrib.quantization", "contrib.text.embedding"]


@pytest.mark.parametrize("name", MODULES)
def test_front(name):
    module = importlib.import_module("symbind." + name)
    with pytest.raises(mx.MXNetError) as raised:
        module.something
    assert isinstance(raised.value, NotImplementedError)
    assert str(raised.value) == (
        "mxnet.%s.something is not in Symbind: it offers Symbol, Module and NDArray; "
        "see docs/python.md" % name)
    assert not hasattr(module, "__wrapped__")
    assert inspect.getmodule(module) is module


@pytest.mark.parametrize("name, text", [
    ("rtc", "mxnet.rtc.CudaModule is not in Symbind: CUDA code is compiled with the library"),
    ("library", "mxnet.library.CudaModule is not in Symbind: operators from outside are CustomOps"),
    ("onnx", "mxnet.onnx.CudaModule is not in Symbind: models are saved and loaded"),
    ("torch", "mxnet.torch.CudaModule is not in Symbind"),
    ("notebook", "mxnet.notebook.CudaModule is not in Symbind: callbacks log"),
])
def test_front_made_at_first_use(name, text):
    with pytest.raises(mx.MXNetError, match=text):
        getattr(mx, name).CudaModule()
    assert getattr(mx, name) is importlib.import_module("symbind." + name)


def test_front_inside_a_front():
    """Scripts import mxnet.notebook.callback although they may never draw a curve."""
    callback = mx.notebook.callback
    assert callback is importlib.import_module("symbind.notebook.callback")
    with pytest.raises(mx.MXNetError, match="mxnet.notebook.callback.LiveLearningCurve is not in Symbind: callbacks log"):
        callback.LiveLearningCurve("acc")


def test_class_statement_over_a_front():
    """A script may hold a class for Gluon beside what it runs; only using it is an error."""
    class Net(mx.gluon.HybridBlock):
        def __init__(self, **options):
            super().__init__(**options)

    class Deeper(Net):
        pass

    for made in (Net, Deeper):
        with pytest.raises(mx.MXNetError, match="%s derives from what is absent: "
                                                "mxnet.gluon.HybridBlock is not in Symbind" % made.__name__):
            made()
    assert mx.gluon.HybridBlock is mx.gluon.HybridBlock
    assert not isinstance(mx.sym.Variable("x"), mx.gluon.HybridBlock)
    with pytest.raises(mx.MXNetError, match="mxnet.gluon.nn.Dense is not in Symbind"):
        mx.gluon.nn.Dense(10)
    with pytest.raises(mx.MXNetError, match="mxnet.gluon.SymbolBlock.imports is not in Symbind"):
        mx.gluon.SymbolBlock.imports("net.json", ["data"])


def test_from_import():
    from symbind.gluon import Trainer
    with pytest.raises(mx.MXNetError, match="mxnet.gluon.Trainer is not in Symbind"):
        Trainer({}, "sgd")
    with pytest.raises(mx.MXNetError, match="mxnet.gluon.data.batchify is not in Symbind"):
        from symbind.gluon.data import batchify
    from symbind.gluon import nn
    assert nn is mx.gluon.nn
    names = {}
    exec("from symbind.gluon import *", names)
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("symbind.gluon.no_such_module")


def test_short_names():
    assert mx.np is mx.numpy and mx.npx is mx.numpy_extension and mx.img is mx.image
    assert mx.npx.is_np_array is mx.util.is_np_array


def test_modes_of_autograd():
    assert not autograd.is_recording() and not autograd.is_training()
    with autograd.train_mode():
        assert autograd.is_training() and not autograd.is_recording()
        with autograd.predict_mode():
            assert not autograd.is_training()
        with autograd.pause(train_mode=True):
            assert autograd.is_training()
    assert not autograd.is_training()
    assert autograd.set_training(True) is False and autograd.set_training(False) is True
    assert autograd.set_recording(False) is False


def test_split_data():
    data = mx.nd.arange(12).reshape((6, 2))
    assert [part.asnumpy().tolist() for part in mx.gluon.utils.split_data(data, 3)] == [
        [[0, 1], [2, 3]], [[4, 5], [6, 7]], [[8, 9], [10, 11]]]
    assert [part.shape for part in mx.gluon.utils.split_data(data, 4, even_split=False)] == [
        (2, 2), (2, 2), (1, 2), (1, 2)]
    assert [part.asnumpy().ravel().tolist() for part in mx.gluon.utils.split_data(data, 2, batch_axis=1)] == [
        [0, 2, 4, 6, 8, 10], [1, 3, 5, 7, 9, 11]]
    for slices in (4, 0):
        with pytest.raises(ValueError, match="cannot be"):
            mx.gluon.utils.split_data(data, slices)
    parts = mx.gluon.utils.split_and_load(np.arange(4), [mx.cpu(0), mx.cpu(1)])
    assert [(part.context, part.asnumpy().tolist()) for part in parts] == [
        (mx.cpu(0), [0, 1]), (mx.cpu(1), [2, 3])]


def test_clip_global_norm():
    """The norm of (3, 4) and (12,) together is 13."""
    arrays = [mx.nd.array([3, 4]), mx.nd.array([12], ctx=mx.cpu(1))]
    assert mx.gluon.utils.clip_global_norm(arrays, 26) == 13
    assert [each.asnumpy().tolist() for each in arrays] == [[3, 4], [12]]
    norm = mx.gluon.utils.clip_global_norm(arrays, 6.5, check_isfinite=False)
    assert norm.shape == (1,) and norm.asscalar() == 13
    np.testing.assert_allclose(np.concatenate([each.asnumpy() for each in arrays]), [1.5, 2, 6], rtol=1e-6)
    with pytest.warns(UserWarning, match="nan or inf"):
        mx.gluon.utils.clip_global_norm([mx.nd.array([np.inf])], 1)
    with pytest.raises(AssertionError):
        mx.gluon.utils.clip_global_norm([], 1)
