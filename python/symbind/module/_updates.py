"""What fit may do around updates: accumulation, clipping by global norm, an average of the weights.

The work is C++ (UpdatePolicy); here a module says which executors its updates are about.
"""
from .. import _core, error


class Updates:
    """BaseModule's part of it."""

    _policy = None

    def _leaves(self, all_weights):
        """The Modules it is made of: those that ran last, or those that hold all weights."""
        return []

    def _update_parts(self, all_weights=False):
        return [(module._exec_group._core, float(getattr(module._optimizer, "rescale_grad", 1.0)))
                for module in self._leaves(all_weights)]

    def _begin_updates(self, **options):
        if self._policy is not None and self._policy.shows_average:
            raise error.AssertionError("the weights are the average now\n"
                                       "  fix:  call swap_ema_params before training on")
        average = self.get_ema_params()  # goes on over several fits
        policy = _core.UpdatePolicy(**options)
        self._policy = policy if policy.is_needed or average else None
        self.__dict__.setdefault("_kept_in_checkpoints", {}).pop("updates", None)
        if self._policy is not None:
            policy.set_average(average)
            policy.begin(self._update_parts(all_weights=True))
            self.keep_in_checkpoints("updates", policy)

    def _update_when_due(self):
        """Behind a batch's backward: update, unless more batches belong to it."""
        if self._policy is None:
            self.update()
        elif self._policy.take(self._update_parts()):
            self.update()
            self._policy.updated(self._update_parts(all_weights=True))

    def _finish_updates(self):
        """At the end of an epoch: an update by the batches that wait for one."""
        if self._policy is not None and self._policy.take_rest(self._update_parts()):
            self.update()
            self._policy.updated(self._update_parts(all_weights=True))

    def _tell_schedulers(self, values):
        """Shows an epoch's metric to the schedules of the rates, some of which go by it."""
        optimizers = (module._optimizer for module in self._leaves(all_weights=True))
        schedulers = (getattr(optimizer, "lr_scheduler", None) for optimizer in optimizers)
        for scheduler in {id(s): s for s in schedulers if hasattr(s, "observe")}.values():
            scheduler.observe(values)

    def get_ema_params(self):
        """The average of the weights that fit keeps with `ema_decay`, a dict; empty without one."""
        return {} if self._policy is None else self._policy.average()

    def set_ema_params(self, average):
        """Replaces it by a dict of name to NDArray; an empty one forgets it."""
        if self._policy is None:
            self._policy = _core.UpdatePolicy()
        self._policy.set_average(dict(average))

    def swap_ema_params(self):
        """Puts the average in the place of the weights, for evaluation or a checkpoint, and at the
        next call the weights back."""
        assert self.binded and self.params_initialized
        if self._policy is None:
            raise error.AssertionError("there is no average of the weights\n"
                                       "  fix:  train with ema_decay, or set_ema_params")
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
