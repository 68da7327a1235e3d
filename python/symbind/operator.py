"""Operators written in Python.

A CustomOpProp describes an operator (names, shapes, types) and makes the CustomOp that computes it;
`register` gives the pair a name, and the operator `Custom(..., op_type=name)` finds it by
`_create`. NumpyOp and NDArrayOp, which MXNet's oldest scripts use, are carried by it too.
"""
import collections
import ctypes  # like NDArrayHandle and NDArray: MXNet's tests find it here by `import *`
import difflib
import itertools
import warnings

from . import _core, autograd, error, symbol
from .base import NDArrayHandle
from .name import NameManager
from .ndarray import NDArray, array

OperatorArguments = collections.namedtuple('OperatorArguments', ['narg', 'names', 'types'])


class CustomOp:
    """The computation of an operator. Override forward and, to be trained through, backward."""

    def forward(self, is_train, req, in_data, out_data, aux):
        """Computes the NDArrays `out_data` from `in_data`; `req` says for each how to store it."""

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Computes the gradients `in_grad`; `req` says for each how to store it."""

    def assign(self, dst, req, src):
        """Stores `src` in `dst` as `req` says: 'null', 'write', 'inplace' or 'add'."""
        if req in ('write', 'inplace'):
            dst[:] = src
        elif req == 'add':
            dst[:] += src


class CustomOpProp:
    """The description of an operator. Attributes given to Custom reach __init__ as strings.

    `need_top_grad` says whether the gradient needs the gradient of the outputs; False for a loss.
    """

    need_top_grad_ = True

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def list_arguments(self):
        """Names of the inputs."""
        return ['data']

    def list_outputs(self):
        """Names of the outputs."""
        return ['output']

    def list_auxiliary_states(self):
        """Names of the auxiliary states."""
        return []

    def infer_shape(self, in_shape):
        """Shapes of (inputs, outputs, auxiliary states); the last may be left out. By default all
        outputs are shaped as the first input."""
        return in_shape, [in_shape[0]] * len(self.list_outputs()), []

    def infer_type(self, in_type):
        """Types of (inputs, outputs, auxiliary states); the last may be left out. By default all
        are the first input's."""
        return (in_type, [in_type[0]] * len(self.list_outputs()),
                [in_type[0]] * len(self.list_auxiliary_states()))

    def infer_storage_type(self, in_stype):
        """Storage types of (inputs, outputs, auxiliary states): all 'default'."""
        _require_default("infer_storage_type", "in_stype", "input/output", in_stype)
        return (in_stype, ['default'] * len(self.list_outputs()),
                ['default'] * len(self.list_auxiliary_states()))

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        """Storage types in the backward pass, in the order of the arguments: all 'default'."""
        _require_default("infer_storage_type_backward", "ograd_stype", "output gradient",
                         ograd_stype)
        _require_default("infer_storage_type_backward", "igrad_stype", "input gradient",
                         [stype for stype in igrad_stype if stype != 'undefined'])
        return tuple(['default'] * len(stypes) for stypes in
                     (ograd_stype, in_stype, out_stype, igrad_stype, aux_stype))

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Which of the given numbers, each standing for an array, the gradient reads."""
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """The CustomOp for one device and one set of input shapes and types."""
        return CustomOp()


def _require_default(function, argument, what, stypes):
    for i, stype in enumerate(stypes):
        assert stype == 'default', (
            "Default %s implementation doesnt allow non default stypes: found non default stype "
            "'%s' for %s[%d]. Please implement infer_storage_type and infer_storage_type_backward "
            "interface in your custom operator if you have non-default %s stypes"
            % (function, stype, argument, i, what))


_props = {}


def register(reg_name):
    """Decorates a CustomOpProp: `Custom(..., op_type=reg_name)` is then its operator. A later
    registration of the same name takes its place."""
    def enter(prop_cls):
        _props[reg_name] = prop_cls
        return prop_cls
    return enter


register("custom_op")(CustomOpProp)


def _create(op_type, kwargs):
    """The CustomOpProp registered as `op_type`, for the attributes `kwargs` (all strings)."""
    if op_type not in _props:
        near = difflib.get_close_matches(op_type, _props)
        raise error.NameError("Cannot find custom operator {}{}; mx.operator.register makes one".format(
            op_type, ", did you mean {}?".format(", ".join(near)) if near else ""))
    return _props[op_type](**kwargs)


def _forward(op, ctx, is_train, req, in_data, out_data, aux):
    """Runs an operator on its device, in its mode, unrecorded."""
    with ctx, autograd.pause(train_mode=is_train):
        op.forward(is_train=is_train, req=req, in_data=in_data, out_data=out_data, aux=aux)


def _backward(op, ctx, req, out_grad, in_data, out_data, in_grad, aux):
    """As _forward; operators called inside run in training mode."""
    with ctx, autograd.pause(train_mode=True):
        op.backward(req=req, out_grad=out_grad, in_data=in_data, out_data=out_data,
                    in_grad=in_grad, aux=aux)


# The library's operator `Custom` calls these.
_core.register_types({"create_custom": _create, "custom_forward": _forward,
                      "custom_backward": _backward})


class PythonOp:
    """What NumpyOp and NDArrayOp have in common. Calling one with symbols makes a symbol."""

    _hint = '_pythonop'
    _numbers = itertools.count()
    need_top_grad_ = True

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad
        warnings.warn('%s has been deprecated. Please use CustomOp' % type(self).__name__,
                      stacklevel=3)

    def __call__(self, *args, **kwargs):
        return self.get_symbol(*args, **kwargs)

    def get_symbol(self, *args, **kwargs):
        """The operator applied to symbols. An object with state should be applied once."""
        raise NotImplementedError("Must override this")

    def _symbol(self, carrier, args, kwargs):
        """Custom with a property of class `carrier` around this object."""
        op_type = '%s_%d' % (self._hint, next(PythonOp._numbers))
        register(op_type)(lambda: carrier(self))
        name = NameManager.current.get(kwargs.pop('name', None), self._hint)
        return symbol.Custom(*args, name=name, op_type=op_type, **kwargs)

    def forward(self, in_data, out_data):
        """Computes the outputs; the default copies the first input."""
        out_data[0][:] = in_data[0]

    def backward(self, out_grad, in_data, out_data, in_grad):
        """Computes the gradients of the inputs; the default is 1."""
        in_grad[0][:] = 1.0

    def infer_shape(self, in_shape):
        """Shapes of (inputs, outputs); by default one output shaped as the first input."""
        return in_shape, [in_shape[0]]

    def list_outputs(self):
        """Names of the outputs."""
        return ['output']

    def list_arguments(self):
        """Names of the inputs."""
        return ['data']

    def need_top_grad(self):
        """Whether the gradient needs the gradient of the outputs; False for a loss."""
        return self.need_top_grad_


class NumpyOp(PythonOp):
    """An operator over NumPy arrays."""

    _hint = '_native'

    def get_symbol(self, *args, **kwargs):
        return self._symbol(_NumpyProp, args, kwargs)


class NDArrayOp(PythonOp):
    """An operator over NDArrays."""

    _hint = '_ndarray'

    def get_symbol(self, *args, **kwargs):
        return self._symbol(_NDArrayProp, args, kwargs)

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Which of the given numbers, each standing for an array, the gradient reads."""
        return [*(out_grad if self.need_top_grad() else ()), *in_data, *out_data]


class _NDArrayProp(CustomOpProp):
    """A PythonOp as a CustomOpProp."""

    def __init__(self, op):
        super().__init__(op.need_top_grad())
        self._op = op
        self.list_arguments = op.list_arguments
        self.list_outputs = op.list_outputs
        self.infer_shape = op.infer_shape
        if hasattr(op, "declare_backward_dependency"):
            self.declare_backward_dependency = op.declare_backward_dependency

    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _NDArrayCarrier(self._op)


class _NumpyProp(_NDArrayProp):
    def create_operator(self, ctx, in_shapes, in_dtypes):
        return _NumpyCarrier(self._op)


class _NDArrayCarrier(CustomOp):
    """Calls a PythonOp with the NDArrays themselves."""

    def __init__(self, op):
        self._op = op

    def forward(self, is_train, req, in_data, out_data, aux):
        self._op.forward(in_data=in_data, out_data=out_data)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        self._op.backward(out_grad=out_grad, in_data=in_data, out_data=out_data, in_grad=in_grad)


class _NumpyCarrier(CustomOp):
    """Calls a PythonOp with NumPy copies, and stores what it wrote."""

    def __init__(self, op):
        self._op = op

    def forward(self, is_train, req, in_data, out_data, aux):
        results = [each.asnumpy() for each in out_data]
        self._op.forward(in_data=[each.asnumpy() for each in in_data], out_data=results)
        self._store(out_data, req, results)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        results = [each.asnumpy() for each in in_grad]
        heads = out_grad if self._op.need_top_grad() else ()  # a loss is given none, as in MXNet
        self._op.backward(out_grad=[each.asnumpy() for each in heads],
                          in_data=[each.asnumpy() for each in in_data],
                          out_data=[each.asnumpy() for each in out_data], in_grad=results)
        self._store(in_grad, req, results)

    def _store(self, targets, requests, results):
        for target, request, result in zip(targets, requests, results):
            self.assign(target, request, array(result, ctx=target.context, dtype=target.dtype))


def get_all_registered_operators():
    """Names of all operators of the library, aliases included."""
    return list(_core.list_ops())


def get_operator_arguments(op_name):
    """The inputs and parameters of an operator: how many, their names, and their types as text."""
    info = _core.op_info(op_name)
    if info['takes_list']:
        arguments = [('data', 'NDArray-or-Symbol[]')]
    else:
        arguments = [(name, 'NDArray-or-Symbol') for name in info['inputs']]
    arguments += [param[:2] for param in info['params']]
    names, types = map(list, zip(*arguments)) if arguments else ([], [])
    return OperatorArguments(len(names), names, types)
