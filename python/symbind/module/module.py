"""Module: one network on one or several devices."""
import logging
import warnings

from .. import _core, context as ctx, error
from .. import optimizer as opt
from ..initializer import InitDesc, Uniform
from ..io import DataDesc
from ..kvstore.kvstore import _check_compression_params
from ..model import (_create_kvstore, _initialize_kvstore, _update_facts, _update_params,
                     _update_params_on_kvstore, load_checkpoint)
from ..ndarray import zeros
from .base_module import BaseModule, _check_input_names, _parse_data_desc
from .executor_group import DataParallelExecutorGroup

__all__ = ["Module"]


def _names(given):
    return list(given) if given is not None else []


def _overridden(module, owner, names):
    """Whether a subclass of `owner`, or an attribute of this object, replaces one of these methods."""
    return any(name in module.__dict__ or getattr(type(module), name) is not getattr(owner, name)
               for name in names)


class Module(BaseModule):
    """A symbol bound to devices, with its parameters, its optimizer and its store."""

    def __init__(self, symbol, data_names=('data',), label_names=('softmax_label',),
                 logger=logging, context=ctx.cpu(), work_load_list=None, fixed_param_names=None,
                 state_names=None, group2ctxs=None, compression_params=None, exact=None,
                 compute_dtype=None):
        super().__init__(logger=logger)
        self._context = [context] if isinstance(context, ctx.Context) else list(context)
        self._work_load_list = [1] * len(self._context) if work_load_list is None \
            else work_load_list
        assert len(self._work_load_list) == len(self._context), \
            "%d work loads for %d contexts" % (len(self._work_load_list), len(self._context))
        self._group2ctxs = group2ctxs
        self._exact = exact
        self._compute_dtype = compute_dtype
        self._symbol = symbol
        self._data_names = _names(data_names)
        self._label_names = _names(label_names)
        self._state_names = _names(state_names)
        self._fixed_param_names = _names(fixed_param_names)
        _check_input_names(symbol, self._data_names, "data", True)
        _check_input_names(symbol, self._label_names, "label", False)
        _check_input_names(symbol, self._state_names, "state", True)
        _check_input_names(symbol, self._fixed_param_names, "fixed_param", True)
        _check_compression_params(compression_params)
        inputs = set(self._data_names + self._label_names + self._state_names)
        self._param_names = [x for x in symbol.list_arguments() if x not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._arg_params = None
        self._aux_params = None
        self._params_dirty = False
        self._compression_params = compression_params
        self._optimizer = None
        self._kvstore = None
        self._update_on_kvstore = None
        self._updater = None
        self._preload_opt_states = None
        self._grad_req = None
        self._exec_group = None
        self._data_shapes = None
        self._label_shapes = None
        self._bound_labels = None  # the labels before a batch without labels

    # ------------------------------------------------------------------ checkpoints

    @staticmethod
    def load(prefix, epoch, load_optimizer_states=False, **kwargs):
        """A module from a saved checkpoint; init_optimizer loads the optimizer states."""
        symbol, args, auxs = load_checkpoint(prefix, epoch)
        module = Module(symbol=symbol, **kwargs)
        module._arg_params = args
        module._aux_params = auxs
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = '%s-%04d.states' % (prefix, epoch)
        return module

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False, remove_amp_cast=True):
        """Writes `prefix-symbol.json`, `prefix-%04d.params` and on request `prefix-%04d.states`."""
        self._symbol.save('%s-symbol.json' % prefix, remove_amp_cast=remove_amp_cast)
        param_name = '%s-%04d.params' % (prefix, epoch)
        self.save_params(param_name)
        logging.info('Saved checkpoint to \"%s\"', param_name)
        if save_optimizer_states:
            state_name = '%s-%04d.states' % (prefix, epoch)
            self.save_optimizer_states(state_name)
            logging.info('Saved optimizer state to \"%s\"', state_name)

    def save_optimizer_states(self, fname):
        """Writes the optimizer's states to a file."""
        assert self.optimizer_initialized
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
        else:
            _core.write_file(fname, self._updater.get_states())

    def load_optimizer_states(self, fname):
        """Reads them back."""
        assert self.optimizer_initialized
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
        else:
            with open(fname, 'rb') as file:
                self._updater.set_states(file.read())

    # ------------------------------------------------------------------------ facts

    data_names = property(lambda self: self._data_names, doc="Names of the data.")
    label_names = property(lambda self: self._label_names, doc="Names of the labels.")
    output_names = property(lambda self: self._output_names, doc="Names of the outputs.")

    @property
    def data_shapes(self):
        """(name, shape) of the data."""
        assert self.binded
        return self._data_shapes

    @property
    def label_shapes(self):
        """(name, shape) of the labels; None without labels."""
        assert self.binded
        return self._label_shapes

    @property
    def output_shapes(self):
        """(name, shape) of the outputs."""
        assert self.binded
        return self._exec_group.get_output_shapes()

    # ------------------------------------------------------------------- parameters

    def get_params(self):
        """The current (arg_params, aux_params)."""
        assert self.params_initialized, "call init_params before get_params"
        if self._params_dirty:
            self._sync_params_from_devices()
        return (self._arg_params, self._aux_params)

    def _sync_params_from_devices(self):
        """Sets the host's parameters to the mean over the devices."""
        self._exec_group.get_params(self._arg_params, self._aux_params)
        self._params_dirty = False

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        """Fills parameters from given arrays, else by the initializer, sorted by name."""
        if self.params_initialized and not force_init:
            warnings.warn("Parameters already initialized and force_init=False. "
                          "init_params call ignored.", stacklevel=2)
            return
        assert self.binded, 'call bind before initializing the parameters'
        _core.check_params(arg_params, self._arg_params, aux_params, self._aux_params,
                           allow_missing)
        attrs = self._symbol.attr_dict()

        def fill(arrays, given):
            for name, array in sorted(arrays.items()):
                if given is not None and name in given:
                    if given[name] is not array:
                        given[name].copyto(array)
                elif initializer is not None or given is None:
                    initializer(InitDesc(name, attrs.get(name)), array)

        fill(self._arg_params, arg_params)
        fill(self._aux_params, aux_params)
        self.params_initialized = True
        self._params_dirty = False
        self._exec_group.set_params(self._arg_params, self._aux_params, allow_extra=allow_extra)

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True,
                   allow_extra=False):
        """Sets the parameters. With allow_missing only the devices' copies change at first."""
        if not allow_missing:
            self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params,
                             allow_missing=allow_missing, force_init=force_init,
                             allow_extra=allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn("Parameters already initialized and force_init=False. "
                          "set_params call ignored.", stacklevel=2)
            return
        self._exec_group.set_params(arg_params, aux_params, allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    # ------------------------------------------------------------------------- bind

    def _reset_bind(self):
        self.binded = False
        self._exec_group = None
        self._data_shapes = None
        self._label_shapes = None

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False,
             force_rebind=False, shared_module=None, grad_req='write'):
        """Makes executors for these shapes. They share parameters and memory of `shared_module`."""
        if force_rebind:
            if self.binded and self.params_initialized and self._params_dirty:
                self._sync_params_from_devices()
            self._reset_bind()
        if self.binded:
            self.logger.warning('Already bound, ignoring bind()')
            return
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        if not for_training:
            assert not inputs_need_grad, "inputs_need_grad=True needs for_training=True"
        self._data_shapes, self._label_shapes = _parse_data_desc(
            self.data_names, self.label_names, data_shapes, label_shapes or None)
        self._bound_labels = self._label_shapes
        shared_group = None
        if shared_module is not None:
            assert isinstance(shared_module, Module) and \
                shared_module.binded and shared_module.params_initialized, \
                "shared_module must be a Module that is bound and has its parameters"
            shared_group = shared_module._exec_group
            assert len(shared_group.execs) >= len(self._context)
        self._exec_group = DataParallelExecutorGroup(
            self._symbol, self._context, self._work_load_list, self._data_shapes,
            self._label_shapes, self._param_names, for_training, inputs_need_grad, shared_group,
            logger=self.logger, fixed_param_names=self._fixed_param_names, grad_req=grad_req,
            group2ctxs=self._group2ctxs, state_names=self._state_names,
            exact=self._exact, compute_dtype=self._compute_dtype)
        self._total_exec_bytes = self._exec_group._total_exec_bytes
        if shared_module is not None:
            self.params_initialized = True
            self._arg_params = shared_module._arg_params
            self._aux_params = shared_module._aux_params
        elif self.params_initialized:
            _core.check_params(
                self._arg_params,
                self._first_arrays(self._param_names, self._exec_group.param_arrays),
                self._aux_params,
                self._first_arrays(self._aux_names, self._exec_group.aux_arrays), False)
            self._exec_group.set_params(self._arg_params, self._aux_params)
        else:
            self._arg_params = self._host_arrays(self._param_names, self._exec_group.param_arrays)
            self._aux_params = self._host_arrays(self._aux_names, self._exec_group.aux_arrays)
        if shared_module is not None and shared_module.optimizer_initialized:
            self.borrow_optimizer(shared_module)
        self.binded = True

    @staticmethod
    def _first_arrays(names, arrays):
        return {name: x[0] for name, x in zip(names, arrays)}

    @staticmethod
    def _host_arrays(names, arrays):
        return {name: zeros(x[0].shape, dtype=x[0].dtype) for name, x in zip(names, arrays)}

    def reshape(self, data_shapes, label_shapes=None):
        """Changes the shapes and keeps the parameters; forward does so automatically."""
        assert self.binded
        self._data_shapes, self._label_shapes = _parse_data_desc(
            self.data_names, self.label_names, data_shapes, label_shapes or None)
        self._exec_group.reshape(self._data_shapes, self._label_shapes)

    # -------------------------------------------------------------------- optimizer

    def init_optimizer(self, kvstore='local', optimizer='sgd',
                       optimizer_params=(('learning_rate', 0.01),), force_init=False):
        """Installs an optimizer, and the store that sums the devices' gradients."""
        assert self.binded and self.params_initialized, \
            "call bind and init_params before init_optimizer"
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring...')
            return
        if self._params_dirty:
            self._sync_params_from_devices()
        kvstore, update_on_kvstore = _create_kvstore(kvstore, len(self._context), self._arg_params)
        rescale_grad, idx2name = _update_facts(kvstore, update_on_kvstore, len(self._context),
                                               self._exec_group.batch_size, self._exec_group.param_names)
        if isinstance(optimizer, str):
            optimizer_params = dict(optimizer_params)
            optimizer_params.setdefault('rescale_grad', rescale_grad)
            optimizer = opt.create(optimizer, sym=self.symbol, param_idx2name=idx2name,
                                   **optimizer_params)
        else:
            assert isinstance(optimizer, opt.Optimizer)
            if optimizer.rescale_grad != rescale_grad:
                warnings.warn(
                    "Optimizer created manually outside Module but rescale_grad "
                    "is not normalized to 1.0/batch_size/num_workers (%s vs. %s). "
                    "Is this intended?" % (optimizer.rescale_grad, rescale_grad), stacklevel=2)
            if not optimizer.idx2name:
                optimizer.idx2name = idx2name.copy()
        self._optimizer = optimizer
        self._kvstore = kvstore
        self._update_on_kvstore = update_on_kvstore
        self._updater = None
        if kvstore:
            if self._compression_params:
                kvstore.set_gradient_compression(self._compression_params)
            if update_on_kvstore:
                kvstore.set_optimizer(self._optimizer)
            _initialize_kvstore(kvstore=kvstore, param_arrays=self._exec_group.param_arrays,
                                arg_params=self._arg_params, param_names=self._param_names,
                                update_on_kvstore=update_on_kvstore)
        if not update_on_kvstore:
            self._updater = opt.get_updater(optimizer)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def borrow_optimizer(self, shared_module):
        """Shares another module's optimizer, store and states."""
        assert shared_module.optimizer_initialized
        self._optimizer = shared_module._optimizer
        self._kvstore = shared_module._kvstore
        self._update_on_kvstore = shared_module._update_on_kvstore
        self._updater = shared_module._updater
        self.optimizer_initialized = True

    # ---------------------------------------------------------------------- running

    def _reshape_for(self, data_batch):
        """Reshapes if the batch has other shapes than the executors."""
        if isinstance(data_batch, list):
            assert data_batch, "Encountered empty data batch"
            new_shapes = []
            for i, first in enumerate(data_batch[0].data):
                for batch in data_batch:
                    assert first.shape == batch.data[i].shape, \
                        "All data batches in a list need to have the same shape"
                new_shapes.append((len(data_batch) * first.shape[0],) + tuple(first.shape[1:]))
        else:
            new_shapes = [x.shape for x in data_batch.data]
        labels = getattr(data_batch, "label", None)
        forgotten = labels and self._bound_labels and not self._label_shapes
        if new_shapes == [x.shape for x in self._data_shapes] and not forgotten:
            return
        data_shapes = getattr(data_batch, "provide_data", None) or [
            DataDesc(x.name, shape, x.dtype, x.layout)
            for x, shape in zip(self._data_shapes, new_shapes)]
        label_shapes = getattr(data_batch, "provide_label", None)
        known = self._label_shapes or self._bound_labels
        if not label_shapes and labels and known:
            label_shapes = [DataDesc(x.name, label.shape, x.dtype, x.layout)
                            for x, label in zip(known, labels)]
        self.reshape(data_shapes, label_shapes or None)

    def forward(self, data_batch, is_train=None):
        """Runs the network on a batch of any size."""
        assert self.binded and self.params_initialized, \
            "call bind and init_params before forward"
        self._reshape_for(data_batch)
        self._exec_group.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        """Fills the gradients; heads that are losses need none."""
        assert self.binded and self.params_initialized, \
            "call bind and init_params before backward"
        self._exec_group.backward(out_grads=out_grads)

    def update(self):
        """Updates the parameters with the gradients of the last backward."""
        assert self.binded and self.params_initialized and self.optimizer_initialized, \
            "call bind, init_params and init_optimizer before update"
        self._params_dirty = True
        group = self._exec_group
        wired = self._wired_update()
        if wired is not None:
            group._core.update(wired)
        elif self._update_on_kvstore:
            _update_params_on_kvstore(group.param_arrays, group.grad_arrays, self._kvstore,
                                      group.param_names)
        else:
            _update_params(group.param_arrays, group.grad_arrays, updater=self._updater,
                           num_device=len(self._context), kvstore=self._kvstore,
                           param_names=group.param_names)

    def _wired_update(self):
        """The updates in C++, for one device without a store and for stores that sum over workers in
        buckets; else, and if a custom updater must run on the devices, None."""
        store = getattr(self._kvstore, "_native", lambda: None)()
        if self._kvstore is not None and not getattr(store, "has_buckets", False) or \
                store is None and len(self._context) > 1 or not self._exec_group._lists_own_arrays():
            return None
        updater = getattr(self._updater_in_use(), "_native", lambda: None)()
        return self._param_update(updater, store) if updater or self._update_on_kvstore else None

    def _param_update(self, updater, store):
        """One C++ object per updater, because it holds the wired updates."""
        made = self.__dict__.get("_made_update")
        if made is None or made[0] is not updater or made[1] is not store:
            made = (updater, store, _core.ParamUpdate(updater, store, bool(self._update_on_kvstore)))
            self._made_update = made
        return made[2]

    def _stepper(self, eval_metric):
        """One C++ call per batch if no Python code takes part in it."""
        plain, updater = super()._stepper(eval_metric), self._updater_in_use()
        cores = [x._native() if hasattr(x, "_native") else None for x in (eval_metric, updater)]
        store = None
        if self._kvstore is not None:
            store = self._kvstore._native() if hasattr(self._kvstore, "_native") else None
            cores.append(store)
        verbs = ("forward_backward", "forward", "backward", "update", "update_metric", "_train_step")
        if None in cores or _overridden(self, Module, verbs):
            return plain
        metric_core, updater_core = cores[:2]
        update = self._param_update(updater_core, store)
        later = []  # the function to use after a callback gave the updater other states

        def fused(data_batch):
            if updater._core_updater is not updater_core:
                if not later:
                    later.append(self._stepper(eval_metric))
                return later[0](data_batch)
            group = self._exec_group
            if group._core.is_watched or isinstance(data_batch, list):
                return plain(data_batch)
            self._params_dirty = True
            if not group._step(update, data_batch, metric_core, self._policy):
                self._reshape_for(data_batch)
                group._step(update, data_batch, metric_core, self._policy)
            return None
        return fused

    def _leaves(self, all_weights):
        return [self]

    def _updater_in_use(self):
        """The updater that holds the states: the store's if it runs the updates."""
        on_store = self._update_on_kvstore and hasattr(self._kvstore, "_updater")
        return self._kvstore._updater if on_store else self._updater

    def _rescale_grad(self):
        """The scale of the gradients: that of the optimizer of loaded states, if any."""
        optimizer = getattr(self._updater_in_use(), "optimizer", self._optimizer)
        return float(getattr(optimizer, "rescale_grad", 1.0))

    def _blank_copy(self):
        blank = super()._blank_copy()
        blank._arg_params = blank._aux_params = blank._optimizer = blank._kvstore = None
        blank._updater = blank._update_on_kvstore = blank._preload_opt_states = None
        blank._params_dirty = False
        blank._reset_bind()
        return blank

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward, joined over the devices or a list for each."""
        assert self.binded and self.params_initialized
        return self._exec_group.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the inputs."""
        assert self.binded and self.params_initialized and self.inputs_need_grad
        return self._exec_group.get_input_grads(merge_multi_context=merge_multi_context)

    def get_states(self, merge_multi_context=True):
        """The states of each device."""
        assert self.binded and self.params_initialized
        return self._exec_group.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states=None, value=None):
        """Sets the states to given arrays, or all of them to one number."""
        assert self.binded and self.params_initialized
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Updates a metric with labels and outputs."""
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        """Installs a monitor on every executor."""
        assert self.binded
        self._exec_group.install_monitor(mon)

    def explain(self, filename=None, format=None, title=None, device=0):
        """How the network runs on one of the devices: see Executor.explain."""
        assert self.binded, "call bind before explain"
        execs = self._exec_group.execs
        if not 0 <= device < len(execs):
            raise error.IndexError("explain: device %d of %d" % (device, len(execs)))
        return execs[device].explain(filename, format, title)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Prepares for the next batch; pulls the rows that sparse_row_id_fn names, if given."""
        assert self.binded
        if sparse_row_id_fn is None:
            return
        if not self._kvstore or not self._update_on_kvstore:
            warnings.warn(UserWarning("Parameters are not updated in the KVStore. "
                                      "No need to call sparse_row_id_fn."))
            return
        row_ids = sparse_row_id_fn(data_batch)
        assert isinstance(row_ids, dict), "Expected dict output from sparse_row_id_fn"
        for name in row_ids:
            arrays = self._exec_group.param_arrays[self._param_names.index(name)]
            self._kvstore.pull(name, out=arrays)
