"""Optimizer: the class that scripts construct and subclass; wraps a C++ optimizer made at first use."""
import builtins
import operator
import warnings
import weakref

import numpy

from .. import _core, error
from ..util import is_np_array
from ._live import LiveDict, dictionary, field, mapping

# What a class may replace so that C++ can no longer update alone.
_DECISIVE = ("create_state", "create_state_multi_precision", "update", "update_multi_precision",
             "_get_lr", "_get_lrs", "_get_wd", "_get_wds", "_update_count", "_update_impl",
             "_set_current_context")


_NOTHING = frozenset()


class UnknownKeyword(error.NameError, builtins.TypeError):
    """An unknown keyword of a constructor."""


_methods = operator.attrgetter(*_DECISIVE)


def _overridden(cls):
    """Which of the decisive methods a class has other than the library's."""
    methods, own = _methods(cls), cls._own_methods
    if all(map(operator.is_, methods, own)):  # every update asks
        return _NOTHING
    return {name for name, now, then in zip(_DECISIVE, methods, own) if now is not then}


class Optimizer:
    """Base of all optimizers: hyper-parameters, multipliers, counts of updates.

    A custom class derives from it and defines `create_state(index, weight)` and
    `update(index, weight, grad, state)`; it may use `_get_lr`, `_get_wd` and `_update_count`.
    """

    opt_registry = {}
    _class_name = ""
    _update_impl = None  # MXNet's optimizers have it; here it is only of custom classes
    __module__ = "symbind.optimizer.optimizer"  # as in MXNet's pickles

    def __init__(self, rescale_grad=1., param_idx2name=None, wd=0., clip_gradient=None,
                 learning_rate=None, lr_scheduler=None, sym=None, begin_num_update=0,
                 multi_precision=False, param_dict=None, **unknown):
        if unknown:
            try:
                self._inner.refuse(unknown)
            except error.NameError as failure:
                raise UnknownKeyword(str(failure)) from None
        self.rescale_grad = rescale_grad
        self.lr_scheduler = lr_scheduler
        if lr_scheduler is None and learning_rate is None:
            learning_rate = 0.01
        self.lr = learning_rate
        if lr_scheduler is not None and learning_rate is not None \
                and lr_scheduler.base_lr != learning_rate:
            print(UserWarning("learning rate from ``lr_scheduler`` has been "
                              "overwritten by ``learning_rate`` in optimizer."))
            lr_scheduler.base_lr = learning_rate
        self.wd = wd
        self.begin_num_update = begin_num_update
        self.num_update = begin_num_update
        self.clip_gradient = clip_gradient
        self.multi_precision = multi_precision
        assert param_idx2name is None or isinstance(param_idx2name, (dict, LiveDict)), \
            'param_idx2name should be a dict of param indexes to names.'
        facts = ({}, []) if sym is None else (sym.attr_dict(), sym.list_arguments())
        self._inner.set_parameters(dict(param_idx2name or {}), *facts)
        self.param_dict = param_dict if param_dict else {}
        self.allow_np_array = is_np_array()

    # ------------------------------------------------------------- the C++ object

    @property
    def _inner(self):
        """The C++ optimizer, made at first use: derived classes need not call __init__."""
        core = self.__dict__.get("_core_object")
        if core is None:
            core = _core.make_optimizer(self._class_name)
            if core.get("lr") is None:
                core.set("lr", 0.01)
            self.__dict__["_core_object"] = core
            self._hook(core)
        return core

    def _hook(self, core):
        """Makes C++ call this object for the methods that its class overrides."""
        replaced = _overridden(type(self))
        me = weakref.ref(self)
        any_lr = self.param_dict or replaced & {"_get_lr", "_get_lrs"}
        any_wd = self.param_dict or replaced & {"_get_wd", "_get_wds"}
        core.set_hooks((lambda key: me()._get_lr(key)) if any_lr else None,
                       (lambda key: me()._get_wd(key)) if any_wd else None,
                       (lambda key: me()._update_count(key)) if "_update_count" in replaced else None,
                       lambda text: warnings.warn(text, stacklevel=3))

    def _decides(self, name):
        """Whether the class uses the attribute `name` itself, and C++ does not."""
        replaced = _overridden(type(self))
        return not self._class_name or "update" in replaced \
            or not replaced.isdisjoint({"_get_" + name, "_get_" + name + "s"})

    def _native(self):
        """The C++ optimizer if it updates alone, else None."""
        if not self._class_name or _overridden(type(self)) or self.param_dict:
            return None
        return self._inner if self.__dict__.keys().isdisjoint(_DECISIVE) else None

    # --------------------------------------------------------------------- registry

    @staticmethod
    def register(klass):
        """Enters a class under its name in lower case; a decorator."""
        assert isinstance(klass, type)
        name = klass.__name__.lower()
        before = Optimizer.opt_registry.get(name)
        if before is not None:
            warnings.warn('WARNING: New optimizer %s.%s is overriding existing optimizer %s.%s' % (
                klass.__module__, klass.__name__, before.__module__, before.__name__), stacklevel=2)
        Optimizer.opt_registry[name] = klass
        return klass

    @staticmethod
    def create_optimizer(name, **kwargs):
        """An optimizer of a registered name, in any case."""
        klass = Optimizer.opt_registry.get(name.lower())
        if klass is None:
            _core.make_optimizer(name)  # raises, with the nearest names
        return klass(**kwargs)

    # ------------------------------------------------------------- rates and counts

    @property
    def lr_scheduler(self):
        """What decides the learning rate, or None."""
        return self.__dict__.get("_lr_scheduler")

    @lr_scheduler.setter
    def lr_scheduler(self, scheduler):
        self.__dict__["_lr_scheduler"] = scheduler
        native = getattr(scheduler, "_native", lambda: None)()
        if scheduler is not None and native is None:
            native = _core.function_scheduler(scheduler)
        self._inner.set_scheduler(native)

    @property
    def param_dict(self):
        """Parameters by index, whose lr_mult and wd_mult count before any other."""
        return self.__dict__.get("_param_dict") or {}

    @param_dict.setter
    def param_dict(self, value):
        self.__dict__["_param_dict"] = value
        self._hook(self._inner)

    @property
    def learning_rate(self):
        """The learning rate now."""
        scheduler = self.lr_scheduler
        return self.lr if scheduler is None else scheduler(self.num_update)

    def set_learning_rate(self, lr):
        """Sets the learning rate, unless a scheduler decides it."""
        if self.lr_scheduler is not None:
            raise UserWarning("LRScheduler of the optimizer has already been defined. Note that "
                              "set_learning_rate can mutate the value of the learning rate of the "
                              "optimizer only when the LRScheduler of the optimizer is undefined.")
        self.lr = lr

    def set_lr_scale(self, args_lrscale):
        """Was replaced by set_lr_mult."""
        raise DeprecationWarning

    def set_lr_mult(self, args_lr_mult):
        """Multipliers of the learning rate by name or index, over those of the symbol."""
        self._inner.set_lr_mult(dict(args_lr_mult))

    def set_wd_mult(self, args_wd_mult):
        """Multipliers of the weight decay by name or index, over those of the symbol; names that
        end neither in _weight nor in _gamma start with 0."""
        self._inner.set_wd_mult(dict(args_wd_mult))

    def _set_current_context(self, device_id):
        self._inner.set_current_context(device_id)

    def _update_count(self, index):
        for one in index if isinstance(index, (list, tuple)) else [index]:
            self._inner.update_count(one)

    def _get_lrs(self, indices):
        lrs = [self._inner.get_lr(index) for index in indices]
        for i, index in enumerate(indices):
            if index in self.param_dict:
                lrs[i] = self.learning_rate * self.param_dict[index].lr_mult
        return lrs

    def _get_lr(self, index):
        return self._get_lrs([index])[0]

    def _get_wds(self, indices):
        wds = [self._inner.get_wd(index) for index in indices]
        for i, index in enumerate(indices):
            if index in self.param_dict:
                wds[i] = self.wd * self.param_dict[index].wd_mult
        return wds

    def _get_wd(self, index):
        return self._get_wds([index])[0]

    # ------------------------------------------------------------- states and updates

    _lazy = ()  # which of weight and gradient must be row_sparse for a lazy update; none: never
    _master_last = False  # whether a mixed state is (state, weight32) or (weight32, state)

    def _is_lazy(self, weight, grad):
        """Whether only the rows that have a gradient are to be updated."""
        return bool(self._lazy) and getattr(grad, "stype", "") == "row_sparse" \
            and getattr(self, "lazy_update", True) \
            and ("weight" not in self._lazy or weight.stype == "row_sparse")

    def create_state(self, index, weight):
        """What to keep for `weight`: None, an array or a tuple."""
        return self._inner.create_state(index, weight)

    def create_state_multi_precision(self, index, weight):
        """The same with a float32 master copy of a float16 weight, if multi_precision is on."""
        if "create_state" not in _overridden(type(self)):
            return self._inner.create_state_multi_precision(index, weight)
        if weight.dtype == numpy.float16 and self.multi_precision:
            master = weight.astype(numpy.float32)
            state = self.create_state(index, master)
            return (state, master) if self._master_last else (master, state)
        if weight.dtype == numpy.float16:
            warnings.warn("Accumulating with float16 in optimizer can lead to poor accuracy or slow "
                          "convergence. Consider using multi_precision=True option of the optimizer",
                          stacklevel=2)
        return self.create_state(index, weight)

    def update(self, index, weight, grad, state):
        """One step of one weight, or of lists of them."""
        if not self._class_name:
            raise NotImplementedError()
        self._run(index, weight, grad, state, False)

    def _run(self, index, weight, grad, state, mixed):
        several = isinstance(index, (list, tuple))
        if self._lazy and any(map(self._is_lazy, weight, grad) if several
                              else [self._is_lazy(weight, grad)]):
            for one in zip(index, weight, grad, state) if several else [(index, weight, grad, state)]:
                self._inner.update_lazily(*one)
        elif several:
            self._inner.update_group(index, weight, grad, state)
        else:
            self._inner.update(index, weight, grad, state, mixed)

    def update_multi_precision(self, index, weight, grad, state):
        """The same on the master copies of float16 weights."""
        replaced = not self._class_name or "update" in _overridden(type(self))
        several = isinstance(index, (list, tuple))
        if not replaced:
            self._run(index, weight, grad, state, True)
        elif several and self._class_name:
            for one in zip(index, weight, grad, state):
                self.update_multi_precision(*one)
        elif not several and self.multi_precision and weight.dtype == numpy.float16 \
                and not self._master_last:
            master, inner = state
            self.update(index, master, grad.astype(numpy.float32), inner)
            master.copyto(weight)
        else:
            self.update(index, weight, grad, state)

    # ----------------------------------------------------------------------- pickles

    @property
    def sym_info(self):
        """The attributes and the arguments of the symbol, or ()."""
        return self._inner.symbol_facts()

    @sym_info.setter
    def sym_info(self, facts):
        mults = self.lr_mult.copy(), self.wd_mult.copy()
        self._inner.set_parameters(self.idx2name.copy(), *(facts or ({}, [])))
        self.lr_mult, self.wd_mult = mults

    def __getstate__(self):
        core = self._inner
        state = {name: core.get(name) for name in core.names()}
        state.update((name, {}) for name in core.empty_dicts())
        state.update((name, core.get_dict(name)) for name in core.dict_names())
        for name in ("lr_scheduler", "sym_info"):
            state[name] = getattr(self, name)
        for name in ("lr_mult", "wd_mult", "idx2name", "_index_update_count"):
            state[name] = getattr(self, name).copy()
        state["_all_index_update_counts"] = {
            device: counts.copy() for device, counts in self._all_index_update_counts.items()}
        state.update(self.__dict__.get("_own_values", {}))
        hidden = ("_core_object", "_lr_scheduler", "_param_dict", "_own_values")
        state.update((k, v) for k, v in self.__dict__.items() if k not in hidden)
        return state

    def __setstate__(self, state):
        later = {"lr_mult", "wd_mult", "_index_update_count", "_all_index_update_counts"}
        for name in sorted(state, key=lambda n: n in later):
            if name != "_index_update_count" or "_all_index_update_counts" not in state:
                setattr(self, name, state[name])

    @property
    def _all_index_update_counts(self):
        """Counts of updates by device."""
        return {k: LiveDict(v) for k, v in _core.view_all_counts(self._inner).items()}

    @_all_index_update_counts.setter
    def _all_index_update_counts(self, counts):
        _core.set_all_counts(self._inner, {k: dict(v) for k, v in counts.items()})

    lr_mult = mapping(_core.view_lr_mult, "Multipliers of the learning rate by name or index.")
    wd_mult = mapping(_core.view_wd_mult, "Multipliers of the weight decay by name or index.")
    idx2name = mapping(_core.view_idx2name, "Names by index.")
    _index_update_count = mapping(_core.view_counts, "Updates by index, on the current device.")


def builtin(klass):
    """Marks a built-in class and adds properties for the attributes of its C++ object."""
    klass._own_methods = _methods(klass)
    core = _core.make_optimizer(klass._class_name)
    for name in core.names():
        if not hasattr(klass, name):
            setattr(klass, name, field(name))
    for name in core.dict_names():
        setattr(klass, name, dictionary(name))
    return klass


builtin(Optimizer)
