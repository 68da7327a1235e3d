"""Gradients of imperative code: `with autograd.record()` records operators, `backward` computes their
gradients. The tape and its modes, one set per thread, are in C++."""
from . import _core, error

__all__ = ["is_recording", "is_training", "set_recording", "set_training", "record", "pause",
           "train_mode", "predict_mode", "mark_variables", "backward", "grad", "get_symbol",
           "Function"]


def is_recording():
    """Whether operators are being recorded in this thread."""
    return _core.is_recording()


def is_training():
    """Whether operators run in training mode: Dropout drops, BatchNorm uses the batch."""
    return _core.is_training()


def set_recording(is_recording):
    """Turns recording on or off in this thread; returns whether it was on."""
    return _core.set_recording(bool(is_recording))


def set_training(train_mode):
    """Sets the training mode of this thread; returns the one before."""
    return _core.set_training(bool(train_mode))


class _Scope:
    """A `with` block that sets the modes that are not None and restores them after the block."""

    def __init__(self, recording, training):
        self._modes = recording, training
        self._before = []

    def __enter__(self):
        recording, training = self._modes
        self._before.append((None if recording is None else set_recording(recording),
                             None if training is None else set_training(training)))

    def __exit__(self, kind, value, trace):
        recording, training = self._before.pop()
        if recording is not None:
            set_recording(recording)
        if training is not None:
            set_training(training)


def record(train_mode=True):
    """A `with` block whose operators are recorded, by default in training mode."""
    return _Scope(True, train_mode)


def pause(train_mode=False):
    """A `with` block in which nothing is recorded."""
    return _Scope(False, train_mode)


def train_mode():
    """A `with` block in training mode; recording is unchanged."""
    return _Scope(None, True)


def predict_mode():
    """A `with` block in prediction mode; recording is unchanged."""
    return _Scope(None, False)


def _listed(arrays):
    return [arrays] if isinstance(arrays, _core.NDArray) else list(arrays)


def _heads(heads, head_grads):
    heads = _listed(heads)
    if head_grads is None:
        return heads, None
    head_grads = _listed(head_grads)
    if len(heads) != len(head_grads):
        raise error.ValueError(f"heads and head_grads must be lists of the same length: "
                               f"{len(heads)} heads, {len(head_grads)} head gradients")
    return heads, head_grads


def mark_variables(variables, gradients, grad_reqs='write'):
    """Makes arrays variables, each with the array for its gradient; `grad_reqs` is 'write',
    'add' or 'null', one for all or one for each."""
    reqs = [grad_reqs] if isinstance(grad_reqs, str) else list(grad_reqs)
    _core.mark_variables(_listed(variables), _listed(gradients), reqs)


def backward(heads, head_grads=None, retain_graph=False, train_mode=True):
    """Writes the gradients of all variables that `heads` depend on. The default head gradients are
    ones. The tape is freed unless `retain_graph`."""
    heads, head_grads = _heads(heads, head_grads)
    _core.backward(heads, head_grads, bool(retain_graph), bool(train_mode))


def grad(heads, variables, head_grads=None, retain_graph=None, create_graph=False, train_mode=True):
    """The gradients of `heads` for `variables`, as a list of new arrays; `create_graph` records their
    computation, so that they can be differentiated again."""
    heads, head_grads = _heads(heads, head_grads)
    return _core.grad(heads, _listed(variables), head_grads,
                      None if retain_graph is None else bool(retain_graph), bool(create_graph),
                      bool(train_mode))


def get_symbol(x):
    """The recorded graph of `x`, as a Symbol."""
    if not isinstance(x, _core.NDArray):
        raise error.TypeError(f"get_symbol: an NDArray is wanted, not {type(x)}")
    return _core.get_symbol(x)


class Function:
    """A computation with a custom gradient: override forward and backward, make a new object for each
    call, and call it. forward may keep arrays for backward (`save_for_backward`)."""

    _used = False
    saved_tensors = ()

    def save_for_backward(self, *args):
        """Keeps arrays; backward reads them from `saved_tensors`."""
        self.saved_tensors = args

    def __call__(self, *inputs):
        if self._used:
            raise error.AssertionError("Each Function instance can only be called once. "
                                       "Please create another instance.")
        self._used = True
        gave = []

        def forward(*arrays):
            gave.append(self.forward(*arrays))
            return gave[0]

        recorded = _core.call_function(forward, self.backward, list(inputs))
        if isinstance(gave[0], _core.NDArray):
            return recorded[0]
        return type(gave[0])(recorded) if isinstance(gave[0], (list, tuple)) else recorded

    def forward(self, *inputs):
        """The results for the NDArrays `inputs`."""
        raise NotImplementedError

    def backward(self, *output_grads):
        """The gradients of the inputs, given those of the outputs."""
        raise NotImplementedError
