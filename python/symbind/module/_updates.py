"""A module's part of the update policy of fit: accumulation, clipping by global norm, EMA weights. C++
decides (symbind/update_policy.h); a module provides the executors."""
from .. import _core


class Updates:
    """The methods for BaseModule."""

    @property
    def _policy(self):
        """The policy, made at first use: subclasses need not call the constructor."""
        return self.__dict__.get("_update_policy") or self.__dict__.setdefault(
            "_update_policy", _core.UpdatePolicy())

    def _leaves(self, all_weights):
        """The Modules inside: those that ran last, or those that hold all weights."""
        return []

    def _update_parts(self, all_weights):
        return [(module._exec_group._core, module._rescale_grad(), getattr(module._kvstore, "_core", None))
                for module in self._leaves(all_weights)]

    def _begin_updates(self, **options):
        self._policy.begin_fit(self._update_parts, **options)
        self.__dict__.setdefault("_kept_in_checkpoints", {}).pop("updates", None)
        if self._policy.is_used:
            self.keep_in_checkpoints("updates", self._policy)

    def _tell_schedulers(self, values):
        """Passes an epoch's metric to the learning rate schedulers; some of them use it."""
        optimizers = (module._optimizer for module in self._leaves(all_weights=True))
        schedulers = (getattr(optimizer, "lr_scheduler", None) for optimizer in optimizers)
        for scheduler in {id(s): s for s in schedulers if hasattr(s, "observe")}.values():
            scheduler.observe(values)

    def get_ema_params(self):
        """The EMA weights that fit keeps with `ema_decay`, a dict; empty without them."""
        return self._policy.average()

    def set_ema_params(self, average):
        """Sets the EMA weights, a dict of name to NDArray; an empty dict removes them."""
        self._policy.set_average(dict(average))

    def swap_ema_params(self):
        """Swaps the weights and the EMA weights, for evaluation or a checkpoint; a second call swaps
        them back."""
        assert self.binded and self.params_initialized
        self._policy.swap_average(self._update_parts(all_weights=True))
        self._params_dirty = True
        for module in self._leaves(all_weights=True):
            module._params_dirty = True

    def _with_average(self, work):
        """Runs work() with the EMA weights."""
        self.swap_ema_params()
        try:
            return work()
        finally:
            self.swap_ema_params()
