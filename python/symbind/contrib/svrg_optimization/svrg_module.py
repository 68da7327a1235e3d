"""SVRGModule: training with stochastic variance reduced gradients.

Every `update_freq` epochs the weights are copied to a second module, and their gradient g over all
data is computed. Each batch's gradient is then corrected by the gradient of the copied weights:
grad(weights) - grad(copied weights) + g. As in MXNet, g is not reset between these
computations: a new one is (the last + the sum over the batches) / number of batches.
"""
import logging

from ... import context as ctx
from ... import ndarray as nd
from ... import optimizer as opt
from ...model import _create_kvstore, _update_facts
from ...module import Module
from .svrg_optimizer import _SVRGOptimizer

__all__ = ["SVRGModule"]


class SVRGModule(Module):
    """A Module whose gradients have less variance."""

    def __init__(self, symbol, data_names=('data',), label_names=('softmax_label',),
                 logger=logging, context=ctx.cpu(), work_load_list=None, fixed_param_names=None,
                 state_names=None, group2ctxs=None, compression_params=None, update_freq=None):
        options = dict(data_names=data_names, label_names=label_names, logger=logger,
                       context=context, work_load_list=work_load_list,
                       fixed_param_names=fixed_param_names, state_names=state_names,
                       group2ctxs=group2ctxs, compression_params=compression_params)
        super().__init__(symbol, **options)
        if not isinstance(update_freq, int):
            raise TypeError("update_freq in SVRGModule must be an integer to represent the "
                            "frequency for calculating full gradients")
        if update_freq <= 0:
            raise ValueError("update_freq in SVRGModule must be a positive integer to represent "
                             "the frequency for calculating full gradients")
        self.update_freq = update_freq
        self._mod_aux = Module(symbol, **options)  # holds the copied weights
        self._param_dict = None  # per device: the gradient over all data, by parameter
        self._ctx_len = len(self._context)

    # ------------------------------------------------------------- both modules alike

    def _blank_copy(self):
        blank = super()._blank_copy()
        blank._mod_aux = self._mod_aux._blank_copy()
        return blank

    def _reset_bind(self):
        super()._reset_bind()
        self._mod_aux._reset_bind()

    def reshape(self, data_shapes, label_shapes=None):
        """Other shapes, for both modules."""
        super().reshape(data_shapes, label_shapes=label_shapes)
        self._mod_aux.reshape(data_shapes, label_shapes=label_shapes)

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False,
             force_rebind=False, shared_module=None, grad_req='write'):
        """Makes executors of both modules; for inference of this one only."""
        super().bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind,
                     shared_module, grad_req)
        if for_training:
            self._mod_aux.bind(data_shapes, label_shapes, for_training, inputs_need_grad,
                               force_rebind, shared_module, grad_req)

    def init_params(self, *args, **kwargs):
        """Fills the parameters; the copied weights start with the same values."""
        super().init_params(*args, **kwargs)
        if self._mod_aux.binded and not self._mod_aux.params_initialized:
            self._mod_aux.set_params(*self.get_params())

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Prepares both modules for a batch."""
        super().prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self._mod_aux.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)

    def forward(self, data_batch, is_train=None):
        """Runs this module, and in training the other one."""
        super().forward(data_batch, is_train)
        if is_train:
            self._mod_aux.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        """Fills the gradients of both."""
        super().backward(out_grads)
        if self._mod_aux.binded:
            self._mod_aux.backward(out_grads)

    # -------------------------------------------------------------------- optimizer

    def init_optimizer(self, kvstore='local', optimizer='sgd',
                       optimizer_params=(('learning_rate', 0.01),), force_init=False):
        """Installs the optimizer, wrapped in one that also handles the keys of full gradients."""
        self._param_dict = [
            {name: nd.zeros(shape=array.shape, ctx=device)
             for name, array in self.get_params()[0].items()} for device in self._context]
        svrg_optimizer = self._create_optimizer(_SVRGOptimizer.__name__, optimizer, kvstore,
                                                optimizer_params)
        super().init_optimizer(kvstore=kvstore, optimizer=svrg_optimizer,
                               optimizer_params=optimizer_params, force_init=force_init)
        if not self._kvstore:
            return
        for i, (name, on_devices) in enumerate(zip(self._exec_group.param_names,
                                                   self._exec_group.param_arrays)):
            self._kvstore.init(name + "_full", nd.zeros(shape=self._arg_params[name].shape))
            if self._update_on_kvstore:
                self._kvstore.pull(name + "_full", on_devices, priority=-i)

    def _create_optimizer(self, optimizer, default_opt, kvstore, optimizer_params):
        """The wrapping optimizer, which knows the names of parameters and of full gradients."""
        kvstore, update_on_kvstore = _create_kvstore(kvstore, self._ctx_len, self._arg_params)
        rescale_grad, idx2name = _update_facts(kvstore, update_on_kvstore, self._ctx_len,
                                               self._exec_group.batch_size, self._exec_group.param_names)
        for name in self._param_dict[0]:
            idx2name[max(idx2name) + 1] = name + "_full"
        params = dict(optimizer_params)
        params.setdefault('rescale_grad', rescale_grad)
        return opt.create(optimizer, default_optimizer=default_opt, param_idx2name=idx2name,
                          **params)

    # ----------------------------------------------------------------- full gradients

    def update_full_grads(self, train_data):
        """Copies the weights and computes their gradient over all of `train_data`."""
        param_names = self._exec_group.param_names
        arg, aux = self.get_params()
        self._mod_aux.set_params(arg_params=arg, aux_params=aux)
        train_data.reset()
        nbatch = padding = 0
        for batch in train_data:
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            nbatch += 1
            padding = batch.pad or 0
            for i, on_devices in enumerate(self._mod_aux._exec_group.grad_arrays):
                for device, grad in enumerate(on_devices):
                    if grad is not None:
                        self._param_dict[device][param_names[i]] += grad
        if nbatch == 0:
            raise ValueError("the training data have no batch")
        true_num_batch = nbatch - padding / train_data.batch_size
        for name in param_names:
            for of_device in self._param_dict:
                of_device[name] /= true_num_batch
            if self._kvstore:
                self._accumulate_kvstore(name, [of_device[name] for of_device in self._param_dict])

    def _accumulate_kvstore(self, key, value):
        """Sums the devices' gradients on the store and gives each device the mean."""
        self._kvstore.push(key + "_full", value)
        self._kvstore._barrier()
        self._kvstore.pull(key + "_full", value)
        self._allocate_gradients(key, value)

    def _allocate_gradients(self, key, value):
        for i in range(self._ctx_len):
            self._param_dict[i][key] = value[i] / self._ctx_len

    def _svrg_grads_update_rule(self, g_curr_batch_curr_weight, g_curr_batch_special_weight,
                                g_special_weight_all_batch):
        """Corrects a gradient in place."""
        g_curr_batch_curr_weight -= g_curr_batch_special_weight
        g_curr_batch_curr_weight += g_special_weight_all_batch
        return g_curr_batch_curr_weight

    def _update_svrg_gradients(self):
        grads, kept = self._exec_group.grad_arrays, self._mod_aux._exec_group.grad_arrays
        for i, name in enumerate(self._exec_group.param_names):
            for device in range(self._ctx_len):
                if grads[i][device] is not None:
                    self._svrg_grads_update_rule(grads[i][device], kept[i][device],
                                                 self._param_dict[device][name])

    def update(self):
        """Corrects the gradients, then updates by the optimizer."""
        self._update_svrg_gradients()
        super().update()

    def _fit_epoch(self, epoch, train_data, *args, **kwargs):
        """An epoch of fit begins with the full gradients when it is time, and at the beginning of
        the data."""
        if epoch % self.update_freq == 0:
            self.update_full_grads(train_data)
        train_data.reset()
        return super()._fit_epoch(epoch, train_data, *args, **kwargs)
