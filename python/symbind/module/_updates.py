"""A module's part of what fit may do around updates: accumulation, clipping by global norm, an average
of the weights. C++ decides (symbind/update_policy.h); a module says which executors it is about."""
from .. import _core


class Updates:
    """BaseModule's part of it."""

    @property
    def _policy(self):
        """Made at first use: subclasses need not call the constructor."""
        return self.__dict__.get("_update_policy") or self.__dict__.setdefault(
            "_update_policy", _core.UpdatePolicy())

    def _leaves(self, all_weights):
        """The Modules it is made of: those that ran last, or those that hold all weights."""
        return []

    def _update_parts(self, all_weights):
        return [(module._exec_group._core, module._rescale_grad()) for module in self._leaves(all_weights)]

    def _begin_updates(self, **options):
        self._policy.begin_fit(self._update_parts, **options)
        self.__dict__.setdefault("_kept_in_checkpoints", {}).pop("updates", None)
        if self._policy.is_used:
            self.keep_in_checkpoints("updates", self._policy)

    def _tell_schedulers(self, values):
        """Shows an epoch's metric to the schedules of the rates, some of which go by it."""
        optimizers = (module._optimizer for module in self._leaves(all_weights=True))
        schedulers = (getattr(optimizer, "lr_scheduler", None) for optimizer in optimizers)
        for scheduler in {id(s): s for s in schedulers if hasattr(s, "observe")}.values():
            scheduler.observe(values)

    def get_ema_params(self):
        """The average of the weights that fit keeps with `ema_decay`, a dict; empty without one."""
        return self._policy.average()

    def set_ema_params(self, average):
        """Replaces it by a dict of name to NDArray; an empty one forgets it."""
        self._policy.set_average(dict(average))

    def swap_ema_params(self):
        """Puts the average in the place of the weights, for evaluation or a checkpoint, and at the
        next call the weights back."""
        assert self.binded and self.params_initialized
        self._policy.swap_average(self._update_parts(all_weights=True))
        self._params_dirty = True
        for module in self._leaves(all_weights=True):
            module._params_dirty = True

    def _with_average(self, work):
        """work(), with the average in the place of the weights."""
        self.swap_ema_params()
        try:
            return work()
        finally:
            self.swap_ema_params()
