"""SequentialModule: a sequence of modules; each gets the outputs of the previous one."""
import copy
import logging

from ..initializer import Uniform
from .base_module import BaseModule

__all__ = ["SequentialModule"]


class SequentialModule(BaseModule):
    """A chain of modules that trains as one."""

    META_TAKE_LABELS = 'take_labels'
    META_AUTO_WIRING = 'auto_wiring'

    def __init__(self, logger=logging):
        super().__init__(logger=logger)
        self._modules = []
        self._metas = []
        self._label_shapes = None
        self._data_shapes = None
        self._meta_keys = {self.META_TAKE_LABELS, self.META_AUTO_WIRING}

    def add(self, module, **kwargs):
        """Appends a module. take_labels=True gives it the labels; auto_wiring=True renames the
        outputs of the one before to its data names. Returns self."""
        for key in kwargs:
            assert key in self._meta_keys, 'Unknown meta "%s", a typo?' % key
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = False
        self.params_initialized = False
        self.optimizer_initialized = False
        return self

    @property
    def data_names(self):
        """Names of the first module's data."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self):
        """Names of the last module's outputs."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self):
        """(name, shape) of the first module's data."""
        assert self.binded
        return self._modules[0].data_shapes

    @property
    def label_shapes(self):
        """(name, shape) of the labels; None if no module takes them."""
        assert self.binded
        return self._label_shapes

    @property
    def output_shapes(self):
        """(name, shape) of the last module's outputs."""
        assert self.binded
        return self._modules[-1].output_shapes

    def get_params(self):
        """The parameters of all modules."""
        assert self.binded and self.params_initialized
        arg_params, aux_params = {}, {}
        for module in self._modules:
            args, aux = module.get_params()
            arg_params.update(args)
            aux_params.update(aux)
        return (arg_params, aux_params)

    def init_params(self, initializer=Uniform(0.01), arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        """Fills the parameters of each module; no name may occur twice."""
        if self.params_initialized and not force_init:
            return
        assert self.binded, 'call bind before initializing the parameters'
        for module in self._modules:
            module.init_params(initializer=initializer, arg_params=arg_params,
                               aux_params=aux_params, allow_missing=allow_missing,
                               force_init=force_init, allow_extra=allow_extra)
        for place in (0, 1):
            owner = {}
            for i, module in enumerate(self._modules):
                for name in module.get_params()[place]:
                    assert name not in owner, \
                        'Duplicated parameter names: name "%s" in layer %d (%s) is already used ' \
                        'in layer %d (%s).' % (name, i, type(module), owner[name],
                                               type(self._modules[owner[name]]))
                    owner[name] = i
        self.params_initialized = True

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False,
             force_rebind=False, shared_module=None, grad_req='write'):
        """Binds the modules one after the other."""
        if self.binded and not force_rebind:
            self.logger.warning('Already bound, ignoring bind()')
            return
        if inputs_need_grad:
            assert for_training is True
        assert shared_module is None, 'Shared module is not supported'
        assert len(self._modules) > 0, 'Attempting to bind an empty SequentialModule'
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        shapes = data_shapes
        for i, (module, meta) in enumerate(zip(self._modules, self._metas)):
            if meta.get(self.META_AUTO_WIRING, False):
                assert len(module.data_names) == len(shapes)
                shapes = [(name, shape) for name, (_, shape) in zip(module.data_names, shapes)]
            module.bind(data_shapes=shapes,
                        label_shapes=label_shapes if meta.get(self.META_TAKE_LABELS) else None,
                        for_training=for_training,
                        inputs_need_grad=bool(inputs_need_grad or (for_training and i > 0)),
                        force_rebind=force_rebind, shared_module=None, grad_req=grad_req)
            shapes = module.output_shapes
        takes_labels = any(meta.get(self.META_TAKE_LABELS) for meta in self._metas)
        self._label_shapes = label_shapes if takes_labels else None
        self.binded = True

    def init_optimizer(self, kvstore='local', optimizer='sgd',
                       optimizer_params=(('learning_rate', 0.01),), force_init=False):
        """Installs an optimizer in each module."""
        assert self.binded and self.params_initialized
        if self.optimizer_initialized and not force_init:
            self.logger.warning('optimizer already initialized, ignoring.')
            return
        for module in self._modules:
            module.init_optimizer(kvstore=kvstore, optimizer=optimizer,
                                  optimizer_params=optimizer_params, force_init=force_init)
        self.optimizer_initialized = True

    def forward(self, data_batch, is_train=None):
        """Runs the modules one after the other."""
        assert self.binded and self.params_initialized
        data_batch = copy.copy(data_batch)
        for i, module in enumerate(self._modules):
            module.forward(data_batch, is_train=is_train)
            if i + 1 == len(self._modules):
                break
            data_batch.data = module.get_outputs()
            if hasattr(data_batch, 'provide_data'):
                names = [x[0] for x in module.output_shapes]
                if self._metas[i + 1].get(self.META_AUTO_WIRING, False):
                    names = self._modules[i + 1].data_names
                assert len(names) == len(data_batch.data)
                data_batch.provide_data = [(name, x.shape)
                                           for name, x in zip(names, data_batch.data)]

    def backward(self, out_grads=None):
        """Passes gradients back from the last module to the first."""
        assert self.binded and self.params_initialized
        for i, module in reversed(list(enumerate(self._modules))):
            module.backward(out_grads=out_grads)
            if i > 0:
                out_grads = module.get_input_grads()

    def update(self):
        """Updates each module."""
        assert self.binded and self.params_initialized and self.optimizer_initialized
        for module in self._modules:
            module.update()

    def _blank_copy(self):
        blank = super()._blank_copy()
        blank._modules = [module._blank_copy() for module in self._modules]
        return blank

    def _leaves(self, all_weights):
        return [leaf for module in self._modules for leaf in module._leaves(all_weights)]

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last module."""
        assert self.binded and self.params_initialized
        return self._modules[-1].get_outputs(merge_multi_context=merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the first module's inputs."""
        assert self.binded and self.params_initialized and self.inputs_need_grad
        return self._modules[0].get_input_grads(merge_multi_context=merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Updates a metric with labels and outputs of the modules that take labels."""
        assert self.binded and self.params_initialized
        for module, meta in zip(self._modules, self._metas):
            if meta.get(self.META_TAKE_LABELS, False):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        """Installs a monitor on every module."""
        assert self.binded
        for module in self._modules:
            module.install_monitor(mon)
