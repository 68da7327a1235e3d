"""Learning rates by number of updates.

The schedules are C++ objects; these classes are what scripts construct, read and derive from.
"""
from . import _core

__all__ = ["LRScheduler", "FactorScheduler", "MultiFactorScheduler", "PolyScheduler",
           "CosineScheduler", "LinearScheduler", "OneCycleScheduler", "ReduceOnPlateauScheduler"]


def _live(name):
    """An attribute of the C++ object."""
    def get(self):
        return self._schedule.get(name)

    def assign(self, value):
        self._schedule.set(name, value)
    return property(get, assign)


def _builtin(klass):
    """Marks a built-in class and adds properties for the attributes of its C++ object."""
    klass._builtin = klass
    for name in _core.make_lr_scheduler(klass._class_name, klass._smallest).names():
        if not hasattr(klass, name):
            setattr(klass, name, _live(name))
    return klass


class LRScheduler:
    """A learning rate by number of updates. A subclass defines `__call__(num_update)`.

    `warmup_steps` updates come first: from `warmup_begin_lr` to `base_lr` with `warmup_mode`
    'linear', at `warmup_begin_lr` with 'constant'.
    """

    _class_name = ""
    _smallest = {}
    _core_object = None

    def __init__(self, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0, warmup_mode='linear'):
        self._make(base_lr, warmup_steps, warmup_begin_lr, warmup_mode)

    def _make(self, base_lr, warmup_steps, warmup_begin_lr, warmup_mode, **params):
        assert isinstance(warmup_steps, int)
        self._core_object = _core.make_lr_scheduler(self._class_name, dict(
            params, base_lr=base_lr, warmup_steps=warmup_steps, warmup_begin_lr=warmup_begin_lr,
            warmup_mode=warmup_mode))

    @property
    def _schedule(self):
        """The C++ object, made at first use: derived classes need not call __init__."""
        if self._core_object is None:
            self._core_object = _core.make_lr_scheduler(self._class_name, self._smallest)
        return self._core_object

    def _native(self):
        """The C++ object if nothing is overridden, else None."""
        cls = type(self)
        own = getattr(cls, "_builtin", None)
        if own is None or own is LRScheduler or cls.__call__ is not own.__call__ or \
                cls.get_warmup_lr is not own.get_warmup_lr:
            return None
        return self._schedule

    def get_warmup_lr(self, num_update):
        """The rate of an update before `warmup_steps`."""
        return self._schedule.get_warmup_lr(num_update)

    def observe(self, values):
        """fit calls it after every epoch with (name, value) pairs of the validation metric, or
        without validation data of the training metric."""
        if self._class_name:
            self._schedule.observe([(str(name), float(value)) for name, value in values])

    def __call__(self, num_update):
        """The rate of update `num_update`."""
        if self._class_name:
            return self._schedule(int(num_update))
        raise NotImplementedError("must override this")

    def __getstate__(self):
        state = {name: self._schedule.get(name) for name in self._schedule.names()}
        state.update((k, v) for k, v in self.__dict__.items() if k != "_core_object")
        return state

    def __setstate__(self, state):
        self._core_object = None
        for name, value in state.items():
            setattr(self, name, value)


_builtin(LRScheduler)


@_builtin
class FactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` every `step` updates, down to `stop_factor_lr`."""

    _class_name = "FactorScheduler"
    _smallest = {"step": 1}

    def __init__(self, step, factor=1, stop_factor_lr=1e-8, base_lr=0.01, warmup_steps=0,
                 warmup_begin_lr=0, warmup_mode='linear'):
        self._make(base_lr, warmup_steps, warmup_begin_lr, warmup_mode, step=step, factor=factor,
                   stop_factor_lr=stop_factor_lr)


@_builtin
class MultiFactorScheduler(LRScheduler):
    """Multiplies the rate by `factor` after each of the updates in the list `step`."""

    _class_name = "MultiFactorScheduler"
    _smallest = {"step": [1]}

    def __init__(self, step, factor=1, base_lr=0.01, warmup_steps=0, warmup_begin_lr=0,
                 warmup_mode='linear'):
        assert isinstance(step, list) and len(step) >= 1
        self._make(base_lr, warmup_steps, warmup_begin_lr, warmup_mode, step=step, factor=factor)


@_builtin
class PolyScheduler(LRScheduler):
    """final_lr + (base_lr - final_lr) * (1 - n / max_update) ** pwr."""

    _class_name = "PolyScheduler"
    _smallest = {"max_update": 1}

    def __init__(self, max_update, base_lr=0.01, pwr=2, final_lr=0, warmup_steps=0,
                 warmup_begin_lr=0, warmup_mode='linear'):
        assert isinstance(max_update, int)
        self._make(base_lr, warmup_steps, warmup_begin_lr, warmup_mode, max_update=max_update,
                   pwr=pwr, final_lr=final_lr)


@_builtin
class CosineScheduler(LRScheduler):
    """final_lr + (base_lr - final_lr) * (1 + cos(pi * n / max_update)) / 2."""

    _class_name = "CosineScheduler"
    _smallest = {"max_update": 1}

    def __init__(self, max_update, base_lr=0.01, final_lr=0, warmup_steps=0, warmup_begin_lr=0,
                 warmup_mode='linear'):
        assert isinstance(max_update, int)
        self._make(base_lr, warmup_steps, warmup_begin_lr, warmup_mode, max_update=max_update,
                   final_lr=final_lr)


@_builtin
class LinearScheduler(LRScheduler):
    """A straight line from base_lr at the end of the warm-up to final_lr at `max_update`."""

    _class_name = "LinearScheduler"
    _smallest = {"max_update": 1}

    def __init__(self, max_update, base_lr=0.01, final_lr=0, warmup_steps=0, warmup_begin_lr=0,
                 warmup_mode='linear'):
        assert isinstance(max_update, int)
        self._make(base_lr, warmup_steps, warmup_begin_lr, warmup_mode, max_update=max_update,
                   final_lr=final_lr)


@_builtin
class OneCycleScheduler(LRScheduler):
    """Rises from base_lr / div_factor to base_lr over the first `pct_start` of `max_update` updates,
    then falls to the first rate / final_div_factor; `anneal` is 'cos' or 'linear'."""

    _class_name = "OneCycleScheduler"
    _smallest = {"max_update": 1}

    def __init__(self, max_update, base_lr=0.01, pct_start=0.3, div_factor=25,
                 final_div_factor=1e4, anneal='cos'):
        assert isinstance(max_update, int)
        self._make(base_lr, 0, 0, 'linear', max_update=max_update, pct_start=pct_start,
                   div_factor=div_factor, final_div_factor=final_div_factor, anneal=anneal)


@_builtin
class ReduceOnPlateauScheduler(LRScheduler):
    """Multiplies the rate by `factor`, down to `min_lr`, when the metric that fit evaluates did not
    improve by more than `min_delta` for more than `patience` epochs; the `cooldown` epochs after a
    change are not counted. `mode` is 'max', 'min', or 'auto' by the metric's name."""

    _class_name = "ReduceOnPlateauScheduler"

    def __init__(self, base_lr=0.01, factor=0.1, patience=10, mode='auto', metric=None,
                 min_delta=0, cooldown=0, min_lr=0, warmup_steps=0, warmup_begin_lr=0,
                 warmup_mode='linear'):
        self._make(base_lr, warmup_steps, warmup_begin_lr, warmup_mode, factor=factor,
                   patience=patience, mode=mode, metric=metric, min_delta=min_delta,
                   cooldown=cooldown, min_lr=min_lr)
