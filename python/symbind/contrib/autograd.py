"""The autograd interface of MXNet 0.9, by its old names; symbind.autograd does the work."""
import functools

from .. import autograd as _autograd
from .. import error
from ..autograd import mark_variables
from ..ndarray import NDArray, zeros_like


def set_is_training(is_train):
    """Sets recording and training mode; returns whether recording was on."""
    _autograd.set_training(is_train)
    return _autograd.set_recording(is_train)


class TrainingStateScope:
    """A `with` block in which recording and training mode are both on or both off."""

    def __init__(self, enter_state):
        self._state = enter_state
        self._before = []

    def __enter__(self):
        self._before.append(set_is_training(self._state))

    def __exit__(self, kind, value, trace):
        set_is_training(self._before.pop())


def train_section():
    """A `with` block that records operators in training mode."""
    return TrainingStateScope(True)


def test_section():
    """A `with` block that records nothing and predicts."""
    return TrainingStateScope(False)


def backward(outputs, out_grads=None, retain_graph=False):
    """The gradients of `outputs` for the marked variables."""
    if not isinstance(outputs, (list, tuple)):
        raise error.AssertionError("outputs must be a list or tuple of NDArrays")
    _autograd.backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs):
    """backward with head gradients of one."""
    backward(outputs)


def grad_and_loss(func, argnum=None):
    """A function that gives the gradients for its arguments (those numbered `argnum`, or all) and
    what `func` gives."""
    @functools.wraps(func)
    def wrapped(*args):
        chosen = range(len(args)) if argnum is None else (
            argnum if isinstance(argnum, list) else [argnum])
        variables = [args[i] for i in chosen]
        if not all(isinstance(x, NDArray) for x in variables):
            raise error.AssertionError("type of autograd input should NDArray.")
        grads = [zeros_like(x) for x in variables]
        mark_variables(variables, grads)
        with train_section():
            outputs = func(*args)
        compute_gradient([outputs] if isinstance(outputs, NDArray) else outputs)
        return grads, outputs
    return wrapped


def grad(func, argnum=None):
    """A function that gives the gradients for its arguments (those numbered `argnum`, or all)."""
    both = grad_and_loss(func, argnum)

    @functools.wraps(both)
    def wrapped(*args):
        return both(*args)[0]
    return wrapped
