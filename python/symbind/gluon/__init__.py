"""Placeholder for MXNet's Gluon, which Symbind does not have; only functions on plain arrays exist."""
from .._absent import front
from . import utils

__getattr__ = front(__name__, (
    "block", "contrib", "contrib.cnn", "contrib.data", "contrib.estimator", "contrib.nn",
    "contrib.rnn", "data", "data.dataloader", "data.dataset", "data.sampler", "data.vision",
    "data.vision.datasets", "data.vision.transforms", "loss", "model_zoo", "model_zoo.model_store",
    "model_zoo.vision", "nn", "nn.basic_layers", "nn.conv_layers", "parameter", "rnn",
    "rnn.rnn_cell", "rnn.rnn_layer", "trainer"))
