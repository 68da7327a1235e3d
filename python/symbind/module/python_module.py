"""Modules whose computation is plain Python."""
import logging

from .. import ndarray as nd
from ..initializer import Uniform
from .base_module import BaseModule

__all__ = ["PythonModule", "PythonLossModule"]


class PythonModule(BaseModule):
    """A module without parameters: subclasses define forward, backward and the output shapes."""

    data_names = property(lambda self: self._data_names, doc="Names of the data.")
    output_names = property(lambda self: self._output_names, doc="Names of the outputs.")
    data_shapes = property(lambda self: self._data_shapes, doc="(name, shape) of the data.")
    label_shapes = property(lambda self: self._label_shapes, doc="(name, shape) of the labels.")
    output_shapes = property(lambda self: self._output_shapes, doc="(name, shape) of the outputs.")

    def __init__(self, data_names, label_names, output_names, logger=logging):
        super().__init__(logger=logger)
        self._data_names = list(data_names) if isinstance(data_names, tuple) else data_names
        self._label_names = list(label_names) if isinstance(label_names, tuple) else label_names
        self._output_names = output_names
        self._data_shapes = None
        self._label_shapes = None
        self._output_shapes = None

    def get_params(self):
        """None: two empty dicts."""
        return ({}, {})

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        """Nothing to initialise."""

    def init_optimizer(self, kvstore='local', optimizer='sgd',
                       optimizer_params=(('learning_rate', 0.01),), force_init=False):
        """Nothing to optimise."""

    def update(self):
        """Nothing to update."""

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Updates a metric with labels and outputs, if the module takes labels."""
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError("PythonModule does not support presliced labels")
        eval_metric.update(labels, self.get_outputs())

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False,
             force_rebind=False, shared_module=None, grad_req='write'):
        """Stores the shapes and computes those of the outputs."""
        if self.binded and not force_rebind:
            self.logger.warning('Already bound, ignoring bind()')
            return
        assert grad_req == 'write', "Python module only support write gradient"
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        assert [x[0] for x in data_shapes] == self._data_names
        self._data_shapes = data_shapes
        self._label_shapes = label_shapes
        if label_shapes is not None:
            assert self._label_names is not None
            assert [x[0] for x in label_shapes] == self._label_names
        self._output_shapes = self._compute_output_shapes()

    def _compute_output_shapes(self):
        """(name, shape) of the outputs, from those of the data and labels."""
        raise NotImplementedError()


class PythonLossModule(PythonModule):
    """A loss given as a function: `grad_func(scores, labels)` is the gradient of the scores."""

    def __init__(self, name='pyloss', data_names=('data',), label_names=('softmax_label',),
                 logger=logging, grad_func=None):
        super().__init__(data_names, label_names, [name + '_output'], logger=logger)
        self._name = name
        assert len(data_names) == 1 and len(label_names) == 1
        assert grad_func is None or callable(grad_func)
        self._scores = None
        self._labels = None
        self._scores_grad = None
        self._grad_func = grad_func

    def _compute_output_shapes(self):
        return [(self._name + '_output', self._data_shapes[0][1])]

    def forward(self, data_batch, is_train=None):
        """Keeps scores and labels."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context=True):
        """The scores themselves."""
        assert merge_multi_context is True
        return [self._scores]

    def backward(self, out_grads=None):
        """Computes the gradient of the scores."""
        assert out_grads is None, 'For a loss module, out_grads should be None'
        assert self.for_training
        self._backward_impl()

    def _backward_impl(self):
        """Sets `_scores_grad`; subclasses may do so in place of grad_func."""
        if self._grad_func is None:
            raise NotImplementedError()
        gradient = self._grad_func(self._scores, self._labels)
        self._scores_grad = gradient if isinstance(gradient, nd.NDArray) else nd.array(gradient)

    def get_input_grads(self, merge_multi_context=True):
        """The gradient of the scores."""
        assert merge_multi_context is True
        return [self._scores_grad]

    def install_monitor(self, mon):
        """Does nothing: there is no executor to monitor."""
        raise NotImplementedError()
