"""Parts of MXNet that Symbind has not: they import, and using them says that they are absent."""
import importlib
import inspect

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
])
def test_front_made_at_first_use(name, text):
    with pytest.raises(mx.MXNetError, match=text):
        getattr(mx, name).CudaModule
    assert getattr(mx, name) is importlib.import_module("symbind." + name)


def test_class_statement_over_a_front():
    with pytest.raises(mx.MXNetError, match="mxnet.gluon.Block is not in Symbind"):
        class Net(mx.gluon.Block):
            pass


def test_from_import():
    with pytest.raises(mx.MXNetError, match="mxnet.gluon.Trainer is not in Symbind"):
        from symbind.gluon import Trainer
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
