"""The modes of imperative code. Symbind records no operators yet: gradients come from an Executor
or a Module. The modes themselves can be set and asked for, one setting for each thread."""
import contextlib
import threading

from ._absent import not_in_symbind

_modes = threading.local()


def _exchange(mode, value):
    before = getattr(_modes, mode, False)
    setattr(_modes, mode, bool(value))
    return before


def _no_tape(name):
    return not_in_symbind("mxnet.autograd." + name,
                          "it records no operators yet, gradients come from Executor or Module")


def is_recording():
    """Whether operators are being recorded: False."""
    return getattr(_modes, "recording", False)


def is_training():
    """Whether operators run in training mode: Dropout drops, BatchNorm uses the batch."""
    return getattr(_modes, "training", False)


def set_recording(is_recording):
    """Turns recording off; returns whether it was on. It cannot be turned on."""
    if is_recording:
        raise _no_tape("set_recording")
    return _exchange("recording", False)


def set_training(train_mode):
    """Sets the training mode of this thread; returns the one before."""
    return _exchange("training", train_mode)


@contextlib.contextmanager
def _training_scope(active):
    before = set_training(active)
    try:
        yield
    finally:
        set_training(before)


def train_mode():
    """A `with` block in training mode."""
    return _training_scope(True)


def predict_mode():
    """A `with` block in prediction mode."""
    return _training_scope(False)


def pause(train_mode=False):
    """A `with` block in which nothing is recorded."""
    return _training_scope(train_mode)


def record(train_mode=True):
    """Not yet there."""
    raise _no_tape("record")


def mark_variables(variables, gradients, grad_reqs='write'):
    """Not yet there."""
    raise _no_tape("mark_variables")


def backward(heads, head_grads=None, retain_graph=False, train_mode=True):
    """Not yet there."""
    raise _no_tape("backward")


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):
    """Not yet there."""
    raise _no_tape("grad")


def get_symbol(x):
    """Not yet there."""
    raise _no_tape("get_symbol")


class Function:
    """Not yet there: an operator with its own gradient. CustomOp works in symbols."""

    def __init__(self):
        raise _no_tape("Function")
