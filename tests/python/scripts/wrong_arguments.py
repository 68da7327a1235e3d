"""Calls every public function of mx.nd and mx.sym and every method of NDArray, Symbol and Executor
with arguments of wrong kinds. An exception or a result is fine; SystemError and a crash are not.
The last line says how many calls were made."""
import faulthandler
import inspect
import itertools
import logging
import os
import sys
import tempfile
import warnings

import numpy as np

import symbind as mx

faulthandler.enable()
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
os.chdir(tempfile.mkdtemp())  # save() takes any text for a file name

# Waiting for ever or ending the process is what these are for.
SKIPPED = {"waitall", "imdecode"}


class Odd:
    """An object whose every special method raises."""

    def __len__(self):
        raise ZeroDivisionError("len")

    def __index__(self):
        raise ZeroDivisionError("index")

    def __array__(self, *args, **kwargs):
        raise ZeroDivisionError("array")

    def __str__(self):
        raise ZeroDivisionError("str")


def values():
    return [None, object(), "", "no such thing", "\0\ud800"[:1], 2 ** 70, -2 ** 63, -1, float("nan"),
            float("inf"), [[1, [2]], 3], (), {}, b"\xff", Odd(), np.zeros((0,)), np.array(object()),
            mx.nd.ones((2, 3)), mx.nd.ones((2, 3), dtype="int8"), mx.nd.NDArray(), mx.sym.Variable("v"),
            mx.cpu(), type, lambda *a: a]


calls = 0


def attempt(what, function, /, *args, **kwargs):
    global calls
    calls += 1
    try:
        result = function(*args, **kwargs)
        for each in result if isinstance(result, (list, tuple)) else [result]:
            if isinstance(each, mx.nd.NDArray) and each._defined:
                each.wait_to_read()
    except SystemError:
        print("SystemError:", what, [type(a) for a in args], kwargs.keys(), flush=True)
        raise
    except Exception:
        pass


def attack(what, function):
    """One argument, two, and each as a keyword the signature knows."""
    trace = os.environ.get("SYMBIND_TRACE_CALLS")
    if trace:
        print(what, flush=True)
    attempt(what, function)
    for value in values():
        attempt(what, function, value)
    for first, second in itertools.product([mx.nd.ones((2, 3)), mx.sym.Variable("v")], values()):
        attempt(what, function, first, second)
    try:
        names = [p for p in inspect.signature(function).parameters if p not in ("args", "kwargs")]
    except (TypeError, ValueError):
        names = []
    for name in names[:12]:
        for value in (None, Odd(), "x", 2 ** 70, float("nan"), [[1, [2]]], -1):
            attempt(what, function, mx.nd.ones((2, 3)), **{name: value})
            attempt(what, function, **{name: value})


def public(holder):
    return [(name, getattr(holder, name)) for name in sorted(dir(holder))
            if not name.startswith("_") and name not in SKIPPED]


def executor():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    return net.simple_bind(mx.cpu(), data=(2, 3))


def main():
    for module in (mx.nd, mx.sym, mx.nd.random, mx.sym.random, mx.nd.contrib, mx.nd.linalg):
        for name, function in public(module):
            if callable(function) and not inspect.isclass(function):
                attack(f"{module.__name__}.{name}", function)
    for make in (lambda: mx.nd.ones((2, 3)), lambda: mx.nd.NDArray(), lambda: mx.sym.Variable("s"),
                 lambda: mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), executor):
        for name, _ in public(type(make())):
            owner = make()
            try:
                method = getattr(owner, name)
            except Exception:
                continue
            if callable(method):
                attack(f"{type(owner).__name__}.{name}", method)
    for operator in ("__add__", "__radd__", "__iadd__", "__pow__", "__eq__", "__lt__", "__mod__",
                     "__getitem__", "__setstate__", "__contains__", "__array__", "__call__"):
        for owner in (mx.nd.ones((2, 3)), mx.sym.Variable("s")):
            if hasattr(owner, operator):
                for value in values():
                    attempt(operator, getattr(owner, operator), value)
    for key, value in itertools.product(values(), values()):
        attempt("__setitem__", mx.nd.ones((2, 3)).__setitem__, key, value)
    print(calls, "calls")


if __name__ == "__main__":
    sys.exit(main())
