"""FeedForward, the model class older than Module: mx.model.FeedForward.

It is a wrapper around Module (BucketingModule if the network depends on the batch). Between calls the
parameters are in its own dicts; each fit makes a module from them, trains it and copies them back.
As in MXNet, parameters are initialised by name in the order of the arguments; `nbatch` counts from 1;
an epoch is a pass over the data or `epoch_size` batches, which may begin and end anywhere in a pass;
predict and score use only the first device.
"""
import logging
import warnings

import numpy as np

from . import error, io, metric, model
from . import ndarray as nd
from . import symbol as sym
from ._feed_forward_training import Training, _names
from .base import mx_real_t
from .callback import LogValidationMetricsCallback, StopTraining
from .context import Context, cpu
from .executor_manager import _check_arguments
from .initializer import Uniform
from .io import DataDesc
from .model import BatchEndParam, _multiple_callbacks

try:  # its get_params, set_params and repr, where scikit-learn is installed
    from sklearn.base import BaseEstimator as BASE_ESTIMATOR
except ImportError:
    BASE_ESTIMATOR = object

__all__ = ["BASE_ESTIMATOR", "FeedForward"]


def _descs(shapes):
    return [x if isinstance(x, DataDesc) else DataDesc(*x) for x in shapes]


def _one_or_list(arrays):
    return arrays[0] if len(arrays) == 1 else arrays


class FeedForward(BASE_ESTIMATOR):
    """A network with its parameters and training options. `symbol` is a Symbol, or a function that
    makes one from a bucket key. Further keywords are passed to the optimizer."""

    def __init__(self, symbol, ctx=None, num_epoch=None, epoch_size=None, optimizer='sgd',
                 initializer=Uniform(0.01), numpy_batch_size=128, arg_params=None, aux_params=None,
                 allow_extra_params=False, begin_epoch=0, **kwargs):
        warnings.warn('\033[91mmxnet.model.FeedForward has been deprecated. '
                      'Please use mxnet.mod.Module instead.\033[0m',
                      DeprecationWarning, stacklevel=2)
        self.symbol, self.sym_gen = (symbol, None) if isinstance(symbol, sym.Symbol) \
            else (None, symbol)
        if self.symbol is None and not callable(symbol):
            raise error.TypeError("FeedForward takes a Symbol, or a function that makes one from a "
                                  "bucket key, not {}".format(type(symbol).__name__))
        self.arg_params = arg_params
        self.aux_params = aux_params
        self.allow_extra_params = allow_extra_params
        self.argument_checked = False
        if self.symbol is not None:
            self._check_arguments()
        if ctx is None:
            ctx = [cpu()]
        self.ctx = [ctx] if isinstance(ctx, Context) else list(ctx)
        self.num_epoch = num_epoch
        self.epoch_size = epoch_size
        self.kwargs = kwargs.copy()
        self.optimizer = optimizer
        self.initializer = initializer
        self.numpy_batch_size = numpy_batch_size
        self.begin_epoch = begin_epoch
        self._pred_exec = None

    def __getstate__(self):
        return {**self.__dict__, '_pred_exec': None}

    def __setstate__(self, state):
        self.__dict__.update(state)

    # ------------------------------------------------------------------- parameters

    def _check_arguments(self):
        """Refuses repeated names; with allow_extra_params drops what the network does not have."""
        if self.argument_checked:
            return
        assert self.symbol is not None
        self.argument_checked = True
        _check_arguments(self.symbol)
        if self.allow_extra_params:
            def known(params, names):
                return params and {k: v for k, v in params.items() if k in set(names)}
            self.arg_params = known(self.arg_params, self.symbol.list_arguments())
            self.aux_params = known(self.aux_params, self.symbol.list_auxiliary_states())

    @staticmethod
    def _is_data_arg(name):
        """Whether a name is that of an input."""
        return name.endswith('data') or name.endswith('label')

    def _init_params(self, inputs, overwrite=False):
        """Makes arg_params and aux_params for inputs of these shapes: existing arrays are kept unless
        `overwrite`, others are initialised. Returns names of arguments, parameters and states."""
        inputs = _descs(inputs)
        given = {x.name for x in inputs}
        shapes, _, aux_shapes = self.symbol.infer_shape(**{x.name: x.shape for x in inputs})
        assert shapes is not None, "Incomplete input shapes"
        types, _, aux_types = self.symbol.infer_type(**{x.name: x.dtype for x in inputs})
        assert types is not None, "Incomplete input types"
        arg_names = self.symbol.list_arguments()
        aux_names = self.symbol.list_auxiliary_states()

        def fill(names, shapes, types, present):
            params = {}
            for name, shape, dtype in zip(names, shapes, types):
                if name in given:
                    continue
                params[name] = nd.zeros(shape=shape, dtype=dtype)
                if present and name in present and not overwrite:
                    if present[name].shape != shape:
                        raise error.ValueError(
                            "parameter {} is given with shape {}, the network needs {}".format(
                                name, present[name].shape, shape))
                    params[name][:] = present[name]
                else:
                    self.initializer(name, params[name])
            return params

        arg_params = fill(arg_names, shapes, types, self.arg_params)
        aux_params = fill(aux_names, aux_shapes, aux_types, self.aux_params)
        self.arg_params, self.aux_params = arg_params, aux_params
        return (arg_names, list(arg_params), aux_names)

    # ------------------------------------------------------------------------- data

    def _init_iter(self, X, y, is_train):
        """The data as an iterator: X itself, or one over arrays X and y, shuffled for training."""
        if not isinstance(X, (np.ndarray, nd.NDArray)):
            if not isinstance(X, io.DataIter):
                raise error.TypeError('X must be DataIter, NDArray or numpy.ndarray')
            return X
        if y is None:
            if is_train:
                raise error.ValueError('y must be specified when X is numpy.ndarray')
            y = np.zeros(X.shape[0])
        if not isinstance(y, (np.ndarray, nd.NDArray)):
            raise error.TypeError('y must be ndarray when X is numpy.ndarray')
        if X.shape[0] != y.shape[0]:
            raise error.ValueError("The numbers of data points and labels not equal: {} and {}"
                                   .format(X.shape[0], y.shape[0]))
        if y.ndim == 2 and y.shape[1] == 1:
            y = y.reshape((-1,))
        if y.ndim != 1:
            raise error.ValueError("Label must be 1D or 2D (with 2nd dimension being 1)")
        return io.NDArrayIter(X, y, min(X.shape[0], self.numpy_batch_size), shuffle=is_train,
                              last_batch_handle='roll_over' if is_train else 'pad')

    def _init_eval_iter(self, eval_data):
        """eval_data as an iterator: None, an iterator, or a pair of arrays or lists."""
        if isinstance(eval_data, (tuple, list)) and len(eval_data) == 2:
            data, label = eval_data
            if data is None:
                raise error.ValueError("Eval data is NONE")
            if label is None and isinstance(data, io.DataIter):
                return data
            data, label = (np.array(x) if isinstance(x, list) else x for x in (data, label))
            return self._init_iter(data, label, is_train=True)
        if eval_data is not None and not isinstance(eval_data, io.DataIter):
            raise error.TypeError('Eval data must be DataIter, or '
                                  'NDArray/numpy.ndarray/list pair (i.e. tuple/list of length 2)')
        return eval_data

    # --------------------------------------------------------------- predict, score

    def _init_predictor(self, input_shapes, type_dict=None):
        """An executor on the first device for these inputs, with the current parameters."""
        if self.arg_params is None:
            raise error.AssertionError("the model has no parameters: fit it, load it, or give "
                                       "arg_params")
        shapes = {name: array.shape for name, array in self.arg_params.items()}
        shapes.update((x[0], tuple(x[1])) for x in input_shapes)
        bound = self._pred_exec
        if bound is not None:
            needed, _, _ = self.symbol.infer_shape(**shapes)
            assert needed is not None, "Incomplete input shapes"
            if [x.shape for x in bound.arg_arrays] != needed:
                bound = None
        if bound is None:
            _check_arguments(self.symbol)
            bound = self.symbol.simple_bind(self.ctx[0], grad_req='null', type_dict=type_dict,
                                            **shapes)
        bound.copy_params_from(self.arg_params, self.aux_params)
        self._pred_exec = bound

    def _outputs_of(self, X):
        """Yields (batch, outputs) for each batch of an iterator."""
        types = {name: array.dtype for name, array in self.arg_params.items()} \
            if self.arg_params else {}
        types.update((x[0], getattr(x, 'dtype', mx_real_t)) for x in X.provide_data)
        arguments = self.symbol.list_arguments()
        for name in _names(X.provide_data):
            if name not in arguments:
                raise error.NameError("the data have '{}', which is no argument of the network; "
                                      "those are {}".format(name, ", ".join(arguments)))
        self._init_predictor(X.provide_data, types)
        arrays = [self._pred_exec.arg_dict[name] for name in _names(X.provide_data)]
        for batch in X:
            for source, target in zip(batch.data, arrays):
                source.copyto(target)
            self._pred_exec.forward(is_train=False)
            yield batch, self._pred_exec.outputs

    def predict(self, X, num_batch=None, return_data=False, reset=True):
        """The outputs as numpy arrays, one or a list; with return_data (outputs, data, labels)."""
        X = self._init_iter(X, None, is_train=False)
        if reset:
            X.reset()
        parts = []  # per batch: outputs, data, labels
        for batch, outputs in self._outputs_of(X):
            rows = X.batch_size - (batch.pad or 0)
            shown = [outputs, batch.data, batch.label or []] if return_data else [outputs]
            parts.append([[x[0:rows].asnumpy() for x in arrays] for arrays in shown])
            if num_batch is not None and len(parts) == num_batch:
                break
        if not parts:
            raise error.ValueError("there is no batch to predict: the iterator is empty, or was "
                                   "not reset")
        joined = [_one_or_list([np.concatenate(x) for x in zip(*each)]) for each in zip(*parts)]
        return tuple(joined) if return_data else joined[0]

    def score(self, X, eval_metric='acc', num_batch=None, batch_end_callback=None, reset=True):
        """The metric's value over X."""
        if not isinstance(eval_metric, metric.EvalMetric):
            eval_metric = metric.create(eval_metric)
        X = self._init_iter(X, None, is_train=False)
        if reset:
            X.reset()
        for i, (batch, outputs) in enumerate(self._outputs_of(X)):
            if num_batch is not None and i == num_batch:
                break
            eval_metric.update(batch.label, outputs)
            if batch_end_callback is not None:
                _multiple_callbacks(batch_end_callback, BatchEndParam(
                    epoch=0, nbatch=i, eval_metric=eval_metric, locals=locals()))
        return eval_metric.get()[1]

    # -------------------------------------------------------------------------- fit

    def fit(self, X, y=None, eval_data=None, eval_metric='acc', epoch_end_callback=None,
            batch_end_callback=None, kvstore='local', logger=None, work_load_list=None,
            monitor=None, eval_end_callback=LogValidationMetricsCallback(),
            eval_batch_end_callback=None):
        """Trains epochs begin_epoch to num_epoch - 1 on an iterator, or on arrays X and y."""
        if self.num_epoch is None:
            raise error.AssertionError("please specify number of epochs: FeedForward(..., "
                                       "num_epoch=...)")
        data = self._init_iter(X, y, is_train=True)
        eval_data = self._init_eval_iter(eval_data)
        if self.sym_gen:
            self.symbol = self.sym_gen(data.default_bucket_key)
            self._check_arguments()
        self._init_params(data.provide_data + data.provide_label)
        if not isinstance(eval_metric, metric.EvalMetric):
            eval_metric = metric.create(eval_metric)
        training = Training(self, data, eval_metric, kvstore, logger or logging, work_load_list,
                             monitor)
        try:
            for epoch in range(self.begin_epoch, self.num_epoch):
                training.epoch(epoch, batch_end_callback)
                if epoch_end_callback or epoch + 1 == self.num_epoch:
                    training.take_params()
                _multiple_callbacks(epoch_end_callback, epoch, self.symbol, self.arg_params,
                                    self.aux_params)
                if eval_data:
                    training.evaluate(epoch, eval_data, eval_batch_end_callback, eval_end_callback)
        except StopTraining as stop:
            training.take_params()
            training.logger.info(str(stop))

    @staticmethod
    def create(symbol, X, y=None, ctx=None, num_epoch=None, epoch_size=None, optimizer='sgd',
               initializer=Uniform(0.01), eval_data=None, eval_metric='acc',
               epoch_end_callback=None, batch_end_callback=None, kvstore='local', logger=None,
               work_load_list=None, eval_end_callback=LogValidationMetricsCallback(),
               eval_batch_end_callback=None, **kwargs):
        """A model, trained."""
        trained = FeedForward(symbol, ctx=ctx, num_epoch=num_epoch, epoch_size=epoch_size,
                              optimizer=optimizer, initializer=initializer, **kwargs)
        trained.fit(X, y, eval_data=eval_data, eval_metric=eval_metric,
                    epoch_end_callback=epoch_end_callback, batch_end_callback=batch_end_callback,
                    kvstore=kvstore, logger=logger, work_load_list=work_load_list,
                    eval_end_callback=eval_end_callback,
                    eval_batch_end_callback=eval_batch_end_callback)
        return trained

    # ------------------------------------------------------------------ checkpoints

    def save(self, prefix, epoch=None, remove_amp_cast=True):
        """Writes `prefix-symbol.json` and `prefix-%04d.params`, by default of epoch num_epoch."""
        if epoch is None:
            epoch = self.num_epoch
        assert epoch is not None, "give save an epoch, the model has no num_epoch"
        model.save_checkpoint(prefix, epoch, self.symbol, self.arg_params, self.aux_params,
                              remove_amp_cast=remove_amp_cast)

    @staticmethod
    def load(prefix, epoch, ctx=None, **kwargs):
        """A model from a saved checkpoint; fit continues training from `epoch`."""
        symbol, arg_params, aux_params = model.load_checkpoint(prefix, epoch)
        return FeedForward(symbol, ctx=ctx, arg_params=arg_params, aux_params=aux_params,
                           begin_epoch=epoch, **kwargs)


FeedForward.__module__ = model.__name__  # the module name in pickles
