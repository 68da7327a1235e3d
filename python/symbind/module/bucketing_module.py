"""BucketingModule: networks of several lengths that share parameters and memory."""
import logging
import warnings

from .. import _core, context as ctx
from .. import ndarray as nd
from .. import symbol as sym
from ..initializer import Uniform
from ..kvstore.kvstore import _check_compression_params
from ..model import load_params
from ..name import NameManager
from .base_module import BaseModule, _check_input_names
from .module import Module, _names, _overridden

__all__ = ["BucketingModule"]


def _of_current(name, doc):
    """A property of the bucket in use."""
    def get(self):
        assert self.binded
        return getattr(self._curr_module, name)
    return property(get, doc=doc)


class BucketingModule(BaseModule):
    """One Module per bucket key. `sym_gen(key)` gives (symbol, data_names, label_names)."""

    data_shapes = _of_current("data_shapes", "(name, shape) of the data.")
    label_shapes = _of_current("label_shapes", "(name, shape) of the labels.")
    output_shapes = _of_current("output_shapes", "(name, shape) of the outputs.")
    symbol = _of_current("symbol", "The network of the bucket in use.")

    def __init__(self, sym_gen, default_bucket_key=None, logger=logging, context=ctx.cpu(),
                 work_load_list=None, fixed_param_names=None, state_names=None, group2ctxs=None,
                 compression_params=None):
        super().__init__(logger=logger)
        assert default_bucket_key is not None, "give default_bucket_key, the largest bucket's"
        self._default_bucket_key = default_bucket_key
        self._sym_gen = sym_gen
        self._fixed_param_names = _names(fixed_param_names)
        self._state_names = _names(state_names)
        symbol, data_names, label_names = self._call_sym_gen(default_bucket_key)
        _check_input_names(symbol, _names(data_names), "data", True)
        _check_input_names(symbol, _names(label_names), "label", False)
        _check_input_names(symbol, self._state_names, "state", True)
        _check_input_names(symbol, self._fixed_param_names, "fixed_param", True)
        _check_compression_params(compression_params)
        self._compression_params = compression_params
        self._context = context
        self._work_load_list = work_load_list
        self._group2ctxs = group2ctxs
        self._buckets = {}
        self._curr_module = None
        self._curr_bucket_key = None
        self._params_dirty = False
        self._monitor = None
        self._grad_req = None

    def _call_sym_gen(self, *args, **kwargs):
        with NameManager():
            return self._sym_gen(*args, **kwargs)

    def _make_module(self, bucket_key):
        symbol, data_names, label_names = self._call_sym_gen(bucket_key)
        return Module(symbol, data_names, label_names, logger=self.logger, context=self._context,
                      work_load_list=self._work_load_list,
                      fixed_param_names=self._fixed_param_names, state_names=self._state_names,
                      group2ctxs=self._group2ctxs, compression_params=self._compression_params)

    @property
    def data_names(self):
        """Names of the data."""
        if self.binded:
            return self._curr_module.data_names
        return self._call_sym_gen(self._default_bucket_key)[1]

    @property
    def output_names(self):
        """Names of the outputs."""
        if self.binded:
            return self._curr_module.output_names
        return self._call_sym_gen(self._default_bucket_key)[0].list_outputs()

    # ------------------------------------------------------------------- parameters

    def get_params(self):
        """(arg_params, aux_params), which all buckets share."""
        assert self.params_initialized
        self._curr_module._params_dirty = self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params

    def set_params(self, arg_params, aux_params, allow_missing=False, force_init=True,
                   allow_extra=False):
        """Sets the parameters."""
        if not allow_missing:
            self.init_params(initializer=None, arg_params=arg_params, aux_params=aux_params,
                             allow_missing=allow_missing, force_init=force_init)
            return
        if self.params_initialized and not force_init:
            warnings.warn("Parameters already initialized and force_init=False. "
                          "set_params call ignored.", stacklevel=2)
            return
        self._curr_module.set_params(arg_params, aux_params, allow_missing=allow_missing,
                                     force_init=force_init, allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        """Fills the parameters of all buckets."""
        if self.params_initialized and not force_init:
            return
        assert self.binded, 'call bind before initializing the parameters'
        self._curr_module.init_params(initializer=initializer, arg_params=arg_params,
                                      aux_params=aux_params, allow_missing=allow_missing,
                                      force_init=force_init, allow_extra=allow_extra)
        self._params_dirty = False
        self.params_initialized = True

    def get_states(self, merge_multi_context=True):
        """The states of the bucket in use."""
        assert self.binded and self.params_initialized
        return self._curr_module.get_states(merge_multi_context=merge_multi_context)

    def set_states(self, states=None, value=None):
        """Sets the states of the bucket in use."""
        assert self.binded and self.params_initialized
        self._curr_module.set_states(states, value)

    # ------------------------------------------------------------------ bind, switch

    def _reset_bind(self):
        self.binded = False
        self._buckets = {}
        self._curr_module = None
        self._curr_bucket_key = None

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False,
             force_rebind=False, shared_module=None, grad_req='write'):
        """Binds the default bucket; others are bound at their first batch."""
        if self.params_initialized:
            arg_params, aux_params = self.get_params()
        if force_rebind:
            self._reset_bind()
        if self.binded:
            self.logger.warning('Already bound, ignoring bind()')
            return
        assert shared_module is None, 'shared_module for BucketingModule is not supported'
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        module = self._buckets.get(self._default_bucket_key)
        if module is None:
            module = self._make_module(self._default_bucket_key)
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad,
                    force_rebind=False, shared_module=None, grad_req=grad_req)
        self._curr_module = module
        self._curr_bucket_key = self._default_bucket_key
        self._buckets[self._default_bucket_key] = module
        self.binded = True
        if self.params_initialized:
            self.set_params(arg_params, aux_params)

    def switch_bucket(self, bucket_key, data_shapes, label_shapes=None):
        """Makes `bucket_key` the bucket in use; binds it first if needed, in the default bucket's memory."""
        assert self.binded, 'call bind before switching bucket'
        module = self._buckets.get(bucket_key)
        if module is None or not module.binded:
            if module is None:
                module = self._make_module(bucket_key)
            module.bind(data_shapes, label_shapes, self._curr_module.for_training,
                        self._curr_module.inputs_need_grad, force_rebind=False,
                        shared_module=self._buckets[self._default_bucket_key],
                        grad_req=self._grad_req)
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        self._curr_module = module
        self._curr_bucket_key = bucket_key

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Binds the bucket of the next batch; the bucket in use does not change."""
        assert self.binded and self.params_initialized
        original = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data,
                           data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self.switch_bucket(original, None, None)

    def init_optimizer(self, kvstore='local', optimizer='sgd',
                       optimizer_params=(('learning_rate', 0.01),), force_init=False):
        """Installs one optimizer for all buckets."""
        assert self.binded and self.params_initialized
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring.')
            return
        self._curr_module.init_optimizer(kvstore, optimizer, optimizer_params,
                                         force_init=force_init)
        for module in self._buckets.values():
            if module is not self._curr_module:
                module.borrow_optimizer(self._curr_module)
        self.optimizer_initialized = True

    # ----------------------------------------------------------------------- running

    def forward(self, data_batch, is_train=None):
        """Runs the batch's bucket."""
        assert self.binded and self.params_initialized, \
            "call bind and init_params before forward"
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data,
                           data_batch.provide_label)
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads=None):
        """Fills the gradients."""
        assert self.binded and self.params_initialized
        self._curr_module.backward(out_grads=out_grads)

    def update(self):
        """Updates the parameters, which all buckets share."""
        assert self.binded and self.params_initialized and self.optimizer_initialized, \
            "call bind, init_params and init_optimizer before update"
        self._params_dirty = True
        self._curr_module.update()

    def _stepper(self, eval_metric):
        """Each bucket's fused step, if no method is overridden."""
        verbs = ("forward_backward", "forward", "backward", "update", "update_metric",
                 "switch_bucket", "_train_step")
        if _overridden(self, BucketingModule, verbs) or self._policy.is_used:
            return super()._stepper(eval_metric)
        steps = {}

        def step(data_batch):
            key = data_batch.bucket_key
            self.switch_bucket(key, data_batch.provide_data, data_batch.provide_label)
            self._params_dirty = True
            if steps.get(key, (None, None))[0] is not self._curr_module:
                steps[key] = (self._curr_module, self._curr_module._stepper(eval_metric))
            steps[key][1](data_batch)
        return step

    def _blank_copy(self):
        blank = super()._blank_copy()
        blank._params_dirty, blank._monitor = False, None
        blank._reset_bind()
        return blank

    def _leaves(self, all_weights):
        assert self.binded
        return [self._buckets[self._default_bucket_key] if all_weights else self._curr_module]

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward."""
        assert self.binded and self.params_initialized
        return self._curr_module.get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the inputs."""
        assert self.binded and self.params_initialized and self.inputs_need_grad
        return self._curr_module.get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Updates a metric with labels and outputs."""
        assert self.binded and self.params_initialized
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        """Installs a monitor on every bucket."""
        assert self.binded
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    def explain(self, filename=None, format=None, title=None, device=0):
        """How the current bucket runs on one of the devices: see Executor.explain."""
        assert self.binded, "call bind before explain"
        return self._curr_module.explain(filename, format, title, device)

    # ------------------------------------------------------------------- checkpoints

    def save_checkpoint(self, prefix, epoch, remove_amp_cast=False):
        """Writes `prefix-%04d.params`, a symbol per bucket, and the keys in `prefix.buckets`."""
        assert len(self._buckets) > 0, "Empty BucketingModule cannot be saved"
        self.save_params("%s-%04d.params" % (prefix, epoch))
        for key, module in self._buckets.items():
            module._symbol.save("%s-%s-symbol.json" % (prefix, key),
                                remove_amp_cast=remove_amp_cast)
        nd.save("%s.buckets" % prefix, nd.array(list(self._buckets), dtype="int32"))

    @staticmethod
    def load(prefix, epoch, sym_gen=None, default_bucket_key=None, **kwargs):
        """A module of a saved checkpoint; the networks come from the files unless `sym_gen` is
        given."""
        assert sym_gen is not None, \
            "sym_gen is required for loading BucketingModule"
        assert default_bucket_key is not None, \
            "default_bucket_key is required for loading BucketingModule"
        buckets = [int(key) for key in nd.load("%s.buckets" % prefix)[0].asnumpy()]
        bucketing = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        for key in buckets:
            _, data_names, label_names = sym_gen(key)
            symbol = sym.load("%s-%s-symbol.json" % (prefix, key))
            bucketing._buckets[key] = Module(symbol, data_names, label_names, **kwargs)
            if key == default_bucket_key:
                bucketing._curr_module = bucketing._buckets[key]
        if bucketing._curr_module is not None:
            bucketing._curr_module._arg_params, bucketing._curr_module._aux_params = \
                load_params(prefix, epoch)
            bucketing._curr_module.params_initialized = True
        bucketing.params_initialized = True
        return bucketing

    @staticmethod
    def load_dict(sym_dict=None, sym_gen=None, default_bucket_key=None, arg_params=None,
                  aux_params=None, **kwargs):
        """The same from a dict of symbols by bucket key and dicts of parameters."""
        assert sym_dict is not None, "sym_dict needs to be provided for BucketingModule.load_dict"
        assert arg_params is not None, "arg_params need to be provided"
        assert sym_gen is not None and default_bucket_key is not None
        bucketing = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        for key, symbol in sym_dict.items():
            _, data_names, label_names = sym_gen(key)
            bucketing._buckets[key] = Module(symbol, data_names, label_names, **kwargs)
            if key == default_bucket_key:
                bucketing._curr_module = bucketing._buckets[key]
        if bucketing._curr_module is not None:
            bucketing._curr_module._arg_params = arg_params
            bucketing._curr_module._aux_params = aux_params
            bucketing._curr_module.params_initialized = True
        bucketing.params_initialized = True
        return bucketing
