"""BaseModule: the methods of a module, and the training loop."""
import copy
import logging
import time
import warnings

import numpy as np

from .. import _core, error, metric
from .. import ndarray as nd
from ..callback import Checkpoint, Run, StopTraining
from ..context import cpu
from ..initializer import Uniform
from ..io import DataBatch, DataDesc, DataIter
from ..io._base import batch as batch_of
from ..model import BatchEndParam, FitParam, _save_named
from ..monitor import _guard_of_fit
from ..base import _as_list
from . import _dry_run, _session
from ._updates import Updates

__all__ = ["BaseModule"]


def _check_input_names(symbol, names, typename, throw):
    """Every name must be an argument of the symbol: an error, or for labels a warning."""
    arguments = symbol.list_arguments()
    for name in names:
        if name in arguments:
            continue
        candidates = [a for a in arguments
                      if not a.endswith(("_weight", "_bias", "_gamma", "_beta"))]
        text = ("You created Module with Module(..., %s_names=%s) but input with name '%s' is not "
                "found in symbol.list_arguments(). Did you mean one of:\n\t%s"
                % (typename, names, name, "\n\t".join(candidates)))
        if throw:
            raise error.NameError(text)
        warnings.warn(text)


def _check_names_match(data_names, data_shapes, name, throw):
    """The shapes must be those of the names, in any order."""
    if sorted(data_names) == sorted(x[0] for x in data_shapes):
        return
    text = ("Data provided by %s_shapes don't match names specified by %s_names (%s vs. %s)"
            % (name, name, data_shapes, data_names))
    if throw:
        raise error.ValueError(text)
    warnings.warn(text)


def _parse_data_desc(data_names, label_names, data_shapes, label_shapes):
    """The shapes as DataDescs, checked against the names."""
    data_shapes = [x if isinstance(x, DataDesc) else DataDesc(*x) for x in data_shapes]
    _check_names_match(data_names, data_shapes, "data", True)
    if label_shapes is not None:
        label_shapes = [x if isinstance(x, DataDesc) else DataDesc(*x) for x in label_shapes]
        _check_names_match(label_names, label_shapes, "label", False)
    else:
        _check_names_match(label_names, [], "label", False)
    return data_shapes, label_shapes


def _call_callbacks(callbacks, epoch, nbatch, eval_metric, names):
    """Calls callbacks after a batch. It is a function so that no variable of the loop holds the
    parameter: the next `locals` would contain it, and with it every batch so far."""
    param = BatchEndParam(epoch=epoch, nbatch=nbatch, eval_metric=eval_metric, locals=names)
    for callback in callbacks:
        callback(param)


def _batches(train_data, callbacks):
    """The batches of an epoch: views of the iterator's data if the class of every callback sets
    `leaves_batches = True`, else copies, because a callback may write to the batches in `locals`. A
    subclass must set it again, since it may override the call."""
    core = train_data._native() if isinstance(train_data, DataIter) else None
    if core is None or not all(vars(type(one)).get("leaves_batches") for one in callbacks):
        return iter(train_data)
    return map(batch_of, iter(core.next_view, None))


class BaseModule(Updates):
    """A network, or several, that can be bound, run and trained."""

    # Of the class: subclasses that never call this constructor have them, too.
    binded = False
    for_training = False
    inputs_need_grad = False
    params_initialized = False
    optimizer_initialized = False
    logger = logging
    _symbol = None
    _total_exec_bytes = 0

    def __init__(self, logger=logging):
        self.logger = logger

    def __repr__(self):
        path = "{}.{}".format(type(self).__module__, type(self).__qualname__)
        if path.startswith("symbind."):
            path = "mxnet" + path[len("symbind"):]
        return "<{} object at {:#x}>".format(path, id(self))

    # --------------------------------------------------------------- the parts of fit

    def forward_backward(self, data_batch):
        """forward(is_train=True), then backward."""
        self.forward(data_batch, is_train=True)
        self.backward()

    def _train_step(self, data_batch, eval_metric):
        """One batch of fit: forward, backward, update and metric as separate calls."""
        self.forward_backward(data_batch)
        self._policy.step(self._update_parts, self.update)
        self._show_metric(eval_metric, data_batch)

    def _show_metric(self, eval_metric, data_batch):
        if isinstance(data_batch, list):
            self.update_metric(eval_metric, [b.label for b in data_batch], pre_sliced=True)
        else:
            self.update_metric(eval_metric, data_batch.label)

    def _stepper(self, eval_metric):
        """The function fit calls for a batch: _train_step, or a faster one with the same results."""
        return lambda data_batch: self._train_step(data_batch, eval_metric)

    def fit(self, train_data, eval_data=None, eval_metric='acc', epoch_end_callback=None,
            batch_end_callback=None, kvstore='local', optimizer='sgd',
            optimizer_params=(('learning_rate', 0.01),), eval_end_callback=None,
            eval_batch_end_callback=None, initializer=Uniform(0.01), arg_params=None,
            aux_params=None, allow_missing=False, force_rebind=False, force_init=False,
            begin_epoch=0, num_epoch=None, validation_metric=None, monitor=None,
            sparse_row_id_fn=None, accumulate=1, clip_global_norm=None, ema_decay=None,
            eval_ema=False, nan_guard=None, dry_run=False, checkpoint=None, resume=None, run=None,
            progress=None, fit_begin_callback=None, fit_end_callback=None, fit_error_callback=None):
        """Trains on `train_data`, epochs `begin_epoch` to `num_epoch` - 1. Binds and initialises the
        module if needed. A callback that raises callback.StopTraining ends it as if complete.

        Additions to MXNet (docs/training.md): `accumulate` uses the mean gradient of that many batches
        per update; `clip_global_norm` clips the norm of all gradients together; `ema_decay` keeps an
        exponential moving average of the weights, and `eval_ema` evaluates with it; `nan_guard` stops at
        the first NaN or infinity and names the node that made it (default: the setting
        SYMBIND_NAN_GUARD); `dry_run` logs and returns the report of dry_run and trains nothing.
        `checkpoint`, a callback.Checkpoint or a prefix, saves during training; `resume`, a prefix or the
        path of a manifest, resumes from there bit for bit, or starts from scratch if there is no
        checkpoint (docs/checkpoints.md). `run`, a name or a callback.Run, records the training in
        runs/NAME with log, checkpoints and report.html, and resumes a former run of that name.
        `progress` shows a bar on stderr in a terminal, else a line per epoch; by default unless the
        script logs at INFO or SYMBIND_PROGRESS is 0. `fit_begin_callback`, `fit_end_callback` and
        `fit_error_callback` are called with a model.FitParam."""
        if dry_run:
            return _dry_run.dry_run(self, locals())
        _core.refresh_settings()
        assert num_epoch is not None, 'please specify number of epochs'
        self.bind(data_shapes=train_data.provide_data, label_shapes=train_data.provide_label,
                  for_training=True, force_rebind=force_rebind)
        guard = _guard_of_fit(monitor, nan_guard)
        monitor = guard or monitor
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                         allow_missing=allow_missing, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer,
                            optimizer_params=optimizer_params)
        self._begin_updates(accumulate=accumulate, clip_global_norm=clip_global_norm or 0,
                            ema_decay=ema_decay or 0, eval_ema=eval_ema)
        if validation_metric is None:
            validation_metric = eval_metric
        if not isinstance(eval_metric, metric.EvalMetric):
            eval_metric = metric.create(eval_metric)
        checkpoint = Checkpoint(checkpoint) if isinstance(checkpoint, str) else checkpoint
        session = _core.TrainingSession(
            _session.Training(self, train_data, eval_data, eval_metric, (
                batch_end_callback, epoch_end_callback, eval_end_callback, eval_batch_end_callback)),
            checkpoint._options() if checkpoint else None, resume or "", begin_epoch, num_epoch,
            (Run(run) if isinstance(run, str) else run)._options() if run else None, progress)
        begin_epoch = session.begin_epoch
        fit_param = FitParam(self, begin_epoch, num_epoch, eval_metric, None)
        try:
            for callback in _as_list(fit_begin_callback or []):
                callback(fit_param)
            for epoch in range(begin_epoch, num_epoch):
                values = self._fit_epoch(epoch, train_data, eval_metric, batch_end_callback, monitor,
                                         sparse_row_id_fn, session, locals())
                arg_params, aux_params = self.get_params()
                self.set_params(arg_params, aux_params)  # makes all devices equal
                stop = None
                try:
                    for callback in _as_list(epoch_end_callback or []):
                        callback(epoch, self.symbol, arg_params, aux_params)
                    if eval_data is not None:
                        def evaluate():
                            return self.score(eval_data, validation_metric,
                                              score_end_callback=eval_end_callback,
                                              batch_end_callback=eval_batch_end_callback, epoch=epoch)
                        values = self._with_average(evaluate) if eval_ema else evaluate()
                        for name, value in values:
                            self.logger.info('Epoch[%d] Validation-%s=%f', epoch, name, value)
                except StopTraining as asked:
                    stop = str(asked)
                stop = session.decided_stop(stop)
                if stop is not None:
                    raise StopTraining(stop)
                values = session.decided(_session.plain_values(values))
                self._tell_schedulers(values)
                train_data.reset()
                session.after_epoch(epoch + 1, values, eval_data is not None)
        except StopTraining as stop:
            self.logger.info(str(stop))
            session.stopped(str(stop))
        except BaseException as failure:
            if isinstance(failure, KeyboardInterrupt):
                session.interrupted()
            session.failed("%s: %s" % (type(failure).__name__, failure))
            try:
                for callback in _as_list(fit_error_callback or []):
                    callback(fit_param._replace(error=failure))
            except Exception as second:  # pylint: disable=broad-except
                self.logger.warning("fit_error_callback failed: %s", second)
            raise
        finally:
            session.training.release_interrupts()
            if guard is not None:
                guard.release()
        session.finish()
        for callback in _as_list(fit_end_callback or []):
            callback(fit_param)

    def dry_run(self, train_data, **kwargs):
        """Tries a step and an evaluation on a copy, with the first batch of each and the arguments of
        fit. Checks shapes, labels and metric; logs and returns memory and time. Module, optimizer,
        random numbers and iterators do not change."""
        return BaseModule.fit(self, train_data, dry_run=True, **kwargs)

    def _blank_copy(self):
        """A copy of the module, neither bound nor initialised."""
        blank = copy.copy(self)
        blank.binded = blank.params_initialized = blank.optimizer_initialized = False
        blank.__dict__.pop("_update_policy", None)
        return blank

    def _fit_epoch(self, epoch, train_data, eval_metric, batch_end_callback, monitor,
                   sparse_row_id_fn, session, of_fit):
        """One pass over the data; returns the metric's values. The next batch is fetched after the
        update, so that only one is in memory. `of_fit` are fit's variables, for callbacks."""
        tic = time.time()
        callbacks = _as_list(batch_end_callback or [])
        step = self._stepper(eval_metric)
        training = session.training
        training.data_iter = data_iter = _batches(train_data, callbacks)
        nbatch = session.start_epoch(epoch)
        next_data_batch, training.batch = training.batch, None
        if next_data_batch is None and nbatch == 0:
            raise error.ValueError("the training data have no batch in epoch {}: the iterator is "
                                   "empty, or was not reset".format(epoch))
        end_of_batch = next_data_batch is None
        eval_name_vals = eval_metric.get_global_name_value() if end_of_batch else None
        while not end_of_batch:
            data_batch = next_data_batch
            if monitor is not None:
                monitor.tic()
            step(data_batch)
            session.after_update(nbatch + 1)
            try:
                next_data_batch = next(data_iter)
                self.prepare(next_data_batch, sparse_row_id_fn=sparse_row_id_fn)
            except StopIteration:
                end_of_batch = True
            if monitor is not None:
                monitor.toc_print()
            if end_of_batch:
                eval_name_vals = eval_metric.get_global_name_value()
            if callbacks:
                _call_callbacks(callbacks, epoch, nbatch, eval_metric, {**of_fit, **locals()})
            nbatch += 1
            session.after_callbacks(epoch, nbatch, not end_of_batch)
        self._policy.finish_epoch(self._update_parts, self.update)
        session.after_batches(epoch, nbatch)
        for name, value in eval_name_vals:
            self.logger.info('Epoch[%d] Train-%s=%f', epoch, name, value)
        self.logger.info('Epoch[%d] Time cost=%.3f', epoch, time.time() - tic)
        return eval_name_vals

    def keep_in_checkpoints(self, name, part):
        """Adds `part.state_dict()`, a dictionary of NDArrays, NumPy arrays, numbers and strings, to the
        checkpoints of fit; resume passes it to `part.load_state_dict`."""
        for verb in ("state_dict", "load_state_dict"):
            if not callable(getattr(part, verb, None)):
                raise error.TypeError("'{}' cannot be kept in checkpoints: it has no {}".format(
                    name, verb))
        self.__dict__.setdefault("_kept_in_checkpoints", {})[name] = part

    # ------------------------------------------------------------------- evaluation

    def score(self, eval_data, eval_metric, num_batch=None, batch_end_callback=None,
              score_end_callback=None, reset=True, epoch=0, sparse_row_id_fn=None):
        """(name, value) of the metric over `eval_data`."""
        assert self.binded and self.params_initialized
        if reset:
            eval_data.reset()
        if not isinstance(eval_metric, metric.EvalMetric):
            eval_metric = metric.create(eval_metric)
        eval_metric.reset()
        actual_num_batch = 0
        for nbatch, eval_batch in enumerate(eval_data):
            if num_batch is not None and nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            self._show_metric(eval_metric, eval_batch)
            actual_num_batch += 1
            if batch_end_callback is not None:
                _call_callbacks(_as_list(batch_end_callback), epoch, nbatch, eval_metric, locals())
        if score_end_callback:
            _call_callbacks(_as_list(score_end_callback), epoch, actual_num_batch, eval_metric, locals())
        return eval_metric.get_name_value()

    def iter_predict(self, eval_data, num_batch=None, reset=True, sparse_row_id_fn=None):
        """Yields (outputs, number, batch) for each batch, padding rows dropped."""
        assert self.binded and self.params_initialized
        if reset:
            eval_data.reset()
        for nbatch, eval_batch in enumerate(eval_data):
            if num_batch is not None and nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            pad = eval_batch.pad or 0
            yield ([out[0:out.shape[0] - pad] for out in self.get_outputs()], nbatch, eval_batch)

    def predict(self, eval_data, num_batch=None, merge_batches=True, reset=True,
                always_output_list=False, sparse_row_id_fn=None):
        """The outputs over all batches: joined, or a list per batch."""
        assert self.binded and self.params_initialized
        if isinstance(eval_data, (nd.NDArray, np.ndarray)):
            if isinstance(eval_data, np.ndarray):
                eval_data = nd.array(eval_data)
            self.forward(DataBatch([eval_data]), is_train=False)
            return self.get_outputs()[0]
        if not isinstance(eval_data, DataIter):
            raise error.ValueError('eval_data must be of type NDArray or DataIter')
        batches = [[out.copy() for out in outputs] for outputs, _, _ in
                   self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)]
        if not batches or not merge_batches:
            return batches
        for outputs in batches:
            assert len(outputs) == len(batches[0]), \
                'Cannot merge batches, as num of outputs is not the same ' + \
                'in mini-batches. Maybe bucketing is used?'
        joined = [nd.concatenate(list(parts)) for parts in zip(*batches)]
        return joined[0] if len(joined) == 1 and not always_output_list else joined

    # -------------------------------------------------------------------- parameters

    def get_params(self):
        """(arg_params, aux_params), dicts of name to NDArray."""
        raise NotImplementedError()

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        """Fills parameters from given arrays or by the initializer."""
        raise NotImplementedError()

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True,
                   allow_extra=False):
        """Sets the parameters."""
        self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params,
                         allow_missing=allow_missing, force_init=force_init,
                         allow_extra=allow_extra)

    def save_params(self, fname):
        """Writes the parameters to a file."""
        _save_named(fname, *self.get_params())

    def load_params(self, fname):
        """Reads them back."""
        arg_params, aux_params = {}, {}
        for key, value in nd.load(fname).items():
            kind, _, name = key.partition(':')
            if kind not in ('arg', 'aux') or not name:
                raise error.ValueError("Invalid param file " + fname)
            (arg_params if kind == 'arg' else aux_params)[name] = value
        self.set_params(arg_params, aux_params)

    def get_states(self, merge_multi_context=True):
        """The states; an empty list if the module has none."""
        assert self.binded and self.params_initialized
        assert not merge_multi_context
        return []

    def set_states(self, states=None, value=None):
        """Sets the states."""
        assert self.binded and self.params_initialized
        assert not states and not value

    # ------------------------------------------------------- methods that modules define

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Prepares for the next batch."""
        if sparse_row_id_fn is not None:
            warnings.warn(UserWarning("sparse_row_id_fn is not invoked for BaseModule."))

    def install_monitor(self, mon):
        """Installs a monitor on the executors."""
        raise NotImplementedError()

    def forward(self, data_batch, is_train=None):
        """Runs the network over a batch."""
        raise NotImplementedError()

    def backward(self, out_grads=None):
        """Fills the gradients."""
        raise NotImplementedError()

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward."""
        raise NotImplementedError()

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the inputs."""
        raise NotImplementedError()

    def update(self):
        """Updates the parameters with the gradients."""
        raise NotImplementedError()

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Updates a metric with labels and outputs."""
        raise NotImplementedError()

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False,
             force_rebind=False, shared_module=None, grad_req='write'):
        """Makes executors for these shapes."""
        raise NotImplementedError()

    def init_optimizer(self, kvstore='local', optimizer='sgd',
                       optimizer_params=(('learning_rate', 0.01),), force_init=False):
        """Installs an optimizer."""
        raise NotImplementedError()

    def _undefined(self):
        raise NotImplementedError()

    data_names = property(_undefined, doc="Names of the data.")
    output_names = property(_undefined, doc="Names of the outputs.")
    data_shapes = property(_undefined, doc="(name, shape) of the data.")
    label_shapes = property(_undefined, doc="(name, shape) of the labels.")
    output_shapes = property(_undefined, doc="(name, shape) of the outputs.")

    @property
    def symbol(self):
        """The network."""
        return self._symbol
