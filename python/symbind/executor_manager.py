"""The names that scripts import from MXNet's executor_manager: slicing a batch over devices, and
DataParallelExecutorManager, which runs a network on several devices step by step.

The manager wraps executor groups of `mx.mod`: one group, or with `sym_gen` one per bucket key; they
share parameters, gradients and memory.
"""
import logging

from . import ndarray as nd


def _split_input_slice(batch_size, work_load_list):
    """A slice of the batch for each device, in proportion to its work load. Sizes are rounded half to
    even; the last device gets the remaining rows. ValueError if a device gets no row.
    """
    total = sum(work_load_list)
    sizes = [round(load * batch_size / total) for load in work_load_list]
    sizes[-1] += max(0, batch_size - sum(sizes))
    slices, end = [], 0
    for size in sizes:
        begin, end = end, min(end + size, batch_size)
        if begin >= end:
            raise ValueError('Too many slices. Some splits are empty.')
        slices.append(slice(begin, end))
    return slices


def _first_repeated(names):
    return next((name for i, name in enumerate(names) if name in names[:i]), None)


def _check_arguments(symbol):
    """Raises ValueError when two arguments, or two auxiliary states, have the same name."""
    arguments, states = symbol.list_arguments(), symbol.list_auxiliary_states()
    advice = ', please make the weight name non-duplicated(using name arguments), arguments are %s'
    name = _first_repeated(arguments)
    if name is not None:
        raise ValueError(('Find duplicated argument name "%s"' + advice) % (name, arguments))
    name = _first_repeated(states)
    if name is not None:
        raise ValueError(('Find duplicated auxiliary param name "%s"' + advice +
                          ', auxiliary params are %s') % (name, arguments, states))


def _load_general(data, targets):
    """Copies each array into its target: an NDArray, or a list of (slice, NDArray)."""
    for source, target in zip(data, targets):
        if isinstance(target, nd.NDArray):
            source.copyto(target)
            continue
        expected = target[-1][0].stop
        assert expected == source.shape[0], \
            "Batch size miss match. Expected %d, got %d" % (expected, source.shape[0])
        for rows, part in target:
            source[rows].copyto(part)


def _load_data(batch, targets):
    """Copies the data of a batch into sliced arrays."""
    _load_general(batch.data, targets)


def _load_label(batch, targets):
    """Copies the labels of a batch into sliced arrays."""
    _load_general(batch.label, targets)


class DataParallelExecutorGroup:
    """Executors on the devices `ctx`, each with its rows of `slices`. Other attributes, e.g.
    param_arrays or data_names, are those of the wrapped group of `mx.mod`."""

    def __init__(self, sym, arg_names, param_names, ctx, slices, train_data, shared_group=None,
                 logger=logging):
        from .module import executor_group

        _check_arguments(sym)
        self._group = executor_group.DataParallelExecutorGroup(
            sym, ctx, [rows.stop - rows.start for rows in slices], train_data.provide_data,
            train_data.provide_label, [x for x in arg_names if x in param_names], True, False,
            None if shared_group is None else shared_group._group, logger=logger)

    def __getattr__(self, name):
        if name == "_group":  # not made yet, or being unpickled
            raise AttributeError(name)
        return getattr(self._group, name)

    train_execs = property(lambda self: self._group.execs, doc="One Executor per device.")

    def load_data_batch(self, data_batch):
        """Copies the rows of a batch to their devices."""
        self._group.load(data_batch)

    def forward(self, is_train=False):
        """Runs all devices on what was loaded."""
        self._group.run(is_train)

    def backward(self):
        """Fills the gradients on all devices."""
        self._group.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Updates the metric with each device's rows and outputs."""
        self._group.update_metric(metric, labels, pre_sliced)


class DataParallelExecutorManager:
    """A network on the devices `ctx`, each with its slice of the batch. `train_data` is any object
    with provide_data, provide_label and batch_size."""

    def __init__(self, symbol, ctx, train_data, arg_names=None, param_names=None, aux_names=None,
                 work_load_list=None, logger=None, sym_gen=None):
        self._logger = logger or logging
        self._logger.info('Start training with %s', str(ctx))
        if work_load_list is None:
            work_load_list = [1] * len(ctx)
        assert isinstance(work_load_list, list) and len(work_load_list) == len(ctx), \
            "Invalid settings for work load. "
        self.slices = _split_input_slice(train_data.batch_size, work_load_list)
        inputs = {x[0] for x in train_data.provide_data + train_data.provide_label}
        self.arg_names = symbol.list_arguments() if arg_names is None else arg_names
        self.param_names = [x for x in self.arg_names
                            if (x not in inputs if param_names is None else x in param_names)]
        self.aux_names = symbol.list_auxiliary_states() if aux_names is None else aux_names
        self.ctx = ctx
        self.symbol = symbol
        self.sym_gen = sym_gen
        self.execgrp = self._group(symbol, train_data)
        self.curr_execgrp = None  # until a batch is loaded
        if sym_gen is not None:
            self.execgrp_bucket = {train_data.default_bucket_key: self.execgrp}

    def _group(self, symbol, shapes_of, shared_group=None):
        return DataParallelExecutorGroup(symbol, symbol.list_arguments(), self.param_names,
                                         self.ctx, self.slices, shapes_of, shared_group,
                                         self._logger)

    param_arrays = property(lambda self: self.execgrp.param_arrays,
                            doc="Parameters: a list over the devices for each.")
    grad_arrays = property(lambda self: self.execgrp.grad_arrays,
                           doc="Their gradients: a list over the devices for each.")
    aux_arrays = property(lambda self: self.execgrp.aux_arrays,
                          doc="Auxiliary states: a list over the devices for each.")

    def install_monitor(self, monitor):
        """Installs a monitor on every executor."""
        if self.sym_gen is not None:
            raise NotImplementedError("Monitoring is not implemented for bucketing")
        self.execgrp.install_monitor(monitor)

    def set_params(self, arg_params, aux_params):
        """Copies parameters to every device."""
        self.execgrp.set_params(arg_params, aux_params)

    def copy_to(self, arg_params, aux_params):
        """Writes the mean over the devices into the given arrays."""
        self.execgrp.get_params(arg_params, aux_params)

    def load_data_batch(self, data_batch):
        """Copies the rows of a batch to their devices and selects the batch's bucket."""
        group = self.execgrp
        if self.sym_gen is not None:
            key = data_batch.bucket_key
            if key not in self.execgrp_bucket:
                self.execgrp_bucket[key] = self._group(self.sym_gen(key), data_batch, self.execgrp)
            group = self.execgrp_bucket[key]
        self.curr_execgrp = group
        group.load_data_batch(data_batch)

    def forward(self, is_train=False):
        """Runs all devices on what was loaded."""
        self.curr_execgrp.forward(is_train)

    def backward(self):
        """Fills the gradients on all devices."""
        self.curr_execgrp.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Updates the metric with each device's rows and outputs."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)
