"""The networks that benchmarks/compare measures, by name.

Each is written once, with MXNet's symbol interface, and runs in MXNet and in Symbind unedited; the other engines get it
from the symbol's JSON. A definition is a function of the batch size that returns a Definition.
"""
import collections
import importlib

# symbol; inputs and labels: {name: Values}; the learning rate, at which 20 steps change the loss visibly, and rounding
# errors, which deep networks amplify, remain below the limit of the comparison.
Definition = collections.namedtuple("Definition", "symbol inputs labels rate")
# An array of random numbers in [low, high); whole numbers where `whole` says so.
Values = collections.namedtuple("Values", "shape low high whole")

FILES = ("small", "residual", "inception", "mobile", "faces", "detection", "pictures", "physics", "sequences")


def real(*shape):
    return Values(shape, -1, 1, False)


def pixels(*shape):
    return Values(shape, 0, 256, True)


def integers(classes, *shape):
    return Values(shape, 0, classes, True)


def definition(symbol, inputs, labels=None, rate=5e-5):
    return Definition(symbol, inputs, labels or {}, rate)


def all_models():
    """{name: function of the batch size}. Importing them needs a module `mxnet`: MXNet, or symbind.as_mxnet."""
    found = {}
    for file in FILES:
        found.update(importlib.import_module(__name__ + "." + file).MODELS)
    return found
