"""DataParallelExecutorGroup: one network on several devices, each with its slice of the batch."""
import logging
import operator
from collections import OrderedDict
from itertools import chain

from .. import _core, error
from .. import ndarray as nd
from ..context import Context
from ..executor import Executor
from ..executor_manager import _split_input_slice
from ..io import DataDesc

__all__ = ["DataParallelExecutorGroup"]


def _prepare_group2ctxs(group2ctxs, ctx_len):
    """A dict of ctx_group to device for each context, from any accepted form."""
    if group2ctxs is None:
        return [None] * ctx_len
    if isinstance(group2ctxs, list):
        assert len(group2ctxs) == ctx_len, "length of group2ctxs should be %d" % ctx_len
        return group2ctxs
    if isinstance(group2ctxs, dict):
        result = [{} for _ in range(ctx_len)]
        for group, given in group2ctxs.items():
            devices = [given] if isinstance(given, Context) else list(given)
            if len(devices) == 1:
                devices = devices * ctx_len
            assert len(devices) == ctx_len, \
                "length of group2ctxs[%s] should be %d or 1" % (group, ctx_len)
            for i, device in enumerate(devices):
                result[i][group] = device
        return result
    assert False, "group2ctxs should be list of dict of str to context, " \
        "or dict of str to context or list of context"
    return None


def _descs(shapes):
    """The shapes as DataDescs; an empty list is treated like None."""
    if not shapes:
        return None
    return [x if isinstance(x, DataDesc) else DataDesc(*x) for x in shapes]


class _Collected:
    """An attribute that lists the executors' arrays; made at its first read after a bind."""

    def __init__(self, needs=None):
        self._needs = needs

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, group, owner=None):
        if group is None:
            return self
        if self._needs is not None and not self._needs(group):
            return None
        if self._name not in group._collected:
            arrays = getattr(group._core, self._name)()
            group._collected[self._name] = arrays
            group._as_collected[self._name] = [list(each) for each in arrays]
        return group._collected[self._name]


class DataParallelExecutorGroup:
    """Executors for slices of the batch. The arrays it lists are the executors' arrays."""

    data_arrays = _Collected()
    label_arrays = _Collected(lambda self: self.label_shapes is not None)
    param_arrays = _Collected()
    grad_arrays = _Collected(lambda self: self.for_training)
    aux_arrays = _Collected()
    state_arrays = _Collected()
    input_grad_arrays = _Collected(lambda self: self.inputs_need_grad)

    def __init__(self, symbol, contexts, workload, data_shapes, label_shapes, param_names,
                 for_training, inputs_need_grad, shared_group=None, logger=logging,
                 fixed_param_names=None, grad_req='write', state_names=None, group2ctxs=None,
                 exact=None, compute_dtype=None):
        self.param_names = param_names
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.symbol = symbol
        self.contexts = contexts
        self.workload = workload
        self.group2ctxs = _prepare_group2ctxs(group2ctxs, len(contexts))
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.logger = logger
        self.fixed_param_names = fixed_param_names or []
        self.state_names = state_names or []
        self.output_names = symbol.list_outputs()
        self.num_outputs = len(self.output_names)
        self._collected, self._as_collected = {}, {}
        self._default_execs = None
        self._set_shapes(_descs(data_shapes), _descs(label_shapes))
        self._core = _core.ExecutorGroup(symbol, contexts, {
            "workload": [float(w) for w in workload],
            "data_shapes": self.data_shapes,
            "label_shapes": self.label_shapes,
            "param_names": list(param_names),
            "for_training": bool(for_training),
            "inputs_need_grad": bool(inputs_need_grad),
            "fixed_param_names": list(self.fixed_param_names),
            "grad_req": grad_req,
            "state_names": list(self.state_names),
            "group2ctxs": self.group2ctxs if group2ctxs is not None else None,
            "exact": exact,
            "compute_dtype": "" if compute_dtype is None else str(compute_dtype),
        }, None if shared_group is None else shared_group._core)
        self.grad_req = self._core.grad_req()
        self._shared_pool = [{} for _ in contexts] if shared_group is None \
            else shared_group._shared_pool
        self._total_exec_bytes = self._core.total_exec_megabytes

    def _set_shapes(self, data_shapes, label_shapes):
        assert data_shapes, "a module needs the shape of some data"
        self.data_shapes = data_shapes
        self.label_shapes = label_shapes
        self.data_names = [x.name for x in data_shapes]
        self.label_names = None if label_shapes is None else [x.name for x in label_shapes]

    # -------------------------------------------------------------------- facts

    @property
    def execs(self):
        """One Executor per device."""
        if "execs" not in self._collected:
            self._collected["execs"] = [
                Executor(bound, self.symbol, context, self.grad_req, group)
                for bound, context, group in zip(self._core.execs(), self.contexts, self.group2ctxs)
            ]
        return self._collected["execs"]

    @property
    def shared_data_arrays(self):
        """The inputs that groups share, by name, a dict per device; one list for all of them."""
        for pool, arrays in zip(self._shared_pool, self._core.shared_data_arrays()):
            pool.update(arrays)
        return self._shared_pool

    @property
    def batch_size(self):
        """Rows of a batch over all devices."""
        return self._core.batch_size or None

    @property
    def slices(self):
        """The rows of each device."""
        return self._core.slices() or None

    data_layouts = property(lambda self: self._core.data_layouts, doc="Batch axes of the data.")
    label_layouts = property(lambda self: self._core.label_layouts, doc="Batch axes of the labels.")
    output_layouts = property(lambda self: self._core.output_layouts,
                              doc="Batch axes of the outputs, from their __layout__.")

    def decide_slices(self, data_shapes):
        """The batch axis of each of `data_shapes`."""
        assert len(data_shapes) > 0
        return [DataDesc.get_batch_axis(x.layout) for x in data_shapes]

    def get_output_shapes(self):
        """(name, shape) of each output over all devices."""
        return self._core.output_shapes()

    # ---------------------------------------------------------------- bind, params

    def bind_exec(self, data_shapes, label_shapes, shared_group=None, reshape=False):
        """Binds again for other shapes; a group is bound when it is made."""
        assert reshape or not self._core.execs()
        self.reshape(data_shapes, label_shapes)

    def reshape(self, data_shapes, label_shapes):
        """Executors for other shapes that share the arrays of the first ones."""
        data_shapes, label_shapes = _descs(data_shapes), _descs(label_shapes)
        if data_shapes == self.data_shapes and label_shapes == self.label_shapes:
            return
        if self._default_execs is None:
            self._default_execs = list(self.execs)
        self._core.reshape(data_shapes, label_shapes)
        self._set_shapes(data_shapes, label_shapes)
        self._collected, self._as_collected = {}, {}

    def set_params(self, arg_params, aux_params, allow_extra=False):
        """Copies parameters to every device."""
        self._core.set_params(arg_params or {}, aux_params or {}, allow_extra)

    def get_params(self, arg_params, aux_params):
        """Writes the mean over the devices into the given arrays."""
        self._core.get_params(arg_params, aux_params)

    # ---------------------------------------------------------------------- running

    def load(self, data_batch):
        """Copies the rows of a batch to their devices."""
        if isinstance(data_batch, list):
            self._core.load_each([(b.data, getattr(b, "label", None)) for b in data_batch])
        else:
            self._core.load(data_batch.data, getattr(data_batch, "label", None))

    def run(self, is_train=None):
        """Runs all devices on their current data."""
        self._core.forward(is_train)

    def forward(self, data_batch, is_train=None):
        """Copies the rows of a batch to their devices and runs all of them."""
        self.load(data_batch)
        self.run(is_train)

    def backward(self, out_grads=None):
        """Fills the gradients on all devices."""
        assert self.for_training, 're-bind with for_training=True to run backward'
        if isinstance(out_grads, nd.NDArray):
            out_grads = [out_grads]
        self._core.backward(out_grads or [])

    def get_outputs(self, merge_multi_context=True, begin=0, end=None):
        """Outputs joined over the devices, or a list per device of each."""
        outputs = self._core.outputs() if merge_multi_context else self._core.device_outputs()
        return outputs[begin:self.num_outputs if end is None else end]

    def get_input_grads(self, merge_multi_context=True):
        """Gradients of the inputs, joined or by device."""
        assert self.inputs_need_grad
        return self._core.input_grads() if merge_multi_context else self.input_grad_arrays

    def get_states(self, merge_multi_context=True):
        """The states of each device."""
        assert not merge_multi_context, \
            "merge_multi_context=True is not supported for get_states yet."
        return self.state_arrays

    def set_states(self, states=None, value=None):
        """Sets the states to given arrays, or all of them to one number."""
        if states is not None:
            assert value is None, "Only one of states & value can be specified."
            self._core.set_states(states)
        else:
            assert value is not None, "At least one of states & value must be specified."
            self._core.fill_states(value)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Updates the metric with each device's rows and outputs."""
        native = eval_metric._native() if hasattr(eval_metric, "_native") else None
        if native is not None:
            self._core.update_metric(native, labels or [], pre_sliced)
            return
        rows = self.slices or [None] * len(self.contexts)
        for i, outputs in enumerate(zip(*self._core.device_outputs())):
            if pre_sliced:
                own = labels[i]
            else:
                own = [self._rows(label, axis, rows[i])
                       for label, axis in zip(labels or [], self.label_layouts)]
            eval_metric.update_dict(OrderedDict(zip(self.label_names or [], own)),
                                    OrderedDict(zip(self.output_names, outputs)))

    @staticmethod
    def _rows(label, axis, rows):
        if axis < 0 or rows is None:
            return label
        if axis == 0:
            return label[rows]
        return nd.slice_axis(label, axis=axis, begin=rows.start, end=rows.stop)

    def install_monitor(self, mon):
        """Installs a monitor on every executor."""
        for executor in self.execs:
            mon.install(executor)

    # ------------------------------------------------------------------- fused step

    def _lists_own_arrays(self):
        """Whether the lists of parameters and gradients still contain the original arrays."""
        for name in ("param_arrays", "grad_arrays"):
            if name in self.__dict__:
                return False
            now, then = self._collected.get(name, ()), self._as_collected.get(name, ())
            # Every update asks, so the loops are those of the interpreter.
            if list(map(len, now)) != list(map(len, then)) or not all(
                    map(operator.is_, chain.from_iterable(now), chain.from_iterable(then))):
                return False
        return True

    def _step(self, update, data_batch, metric, policy):
        """forward, backward and update as one, in C++; False when the batch has other shapes."""
        return self._core.step(update, data_batch.data, data_batch.label, metric, policy)
