"""The autograd interface of MXNet 0.9, by its old names; symbind.autograd says what works."""
from .. import autograd as _autograd
from ..autograd import mark_variables


def set_is_training(is_train):
    """Sets recording and training mode; returns whether recording was on."""
    before = _autograd.set_recording(is_train)
    _autograd.set_training(is_train)
    return before


def train_section():
    """A `with` block that records operators in training mode."""
    return _autograd.record()


def test_section():
    """A `with` block that records nothing and predicts."""
    return _autograd.pause()


def backward(outputs, out_grads=None, retain_graph=False):
    """The gradients of `outputs` for the marked variables."""
    _autograd.backward(outputs, out_grads, retain_graph)


def compute_gradient(outputs):
    """backward with head gradients of one."""
    backward(outputs)
