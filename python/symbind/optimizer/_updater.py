"""Updater: the states of many weights. C++ holds them for a built-in optimizer; for a custom one they are
in a dict and its methods are called from here."""
from .. import _core, error
from ..ndarray import NDArray
from . import _files
from ._base import Optimizer
from ._live import LiveDict


class Updater:
    """Updates weights: `updater(index, grad, weight)`, also with lists."""

    __module__ = "symbind.optimizer.optimizer"

    def __init__(self, optimizer):
        self.optimizer = optimizer

    # -------------------------------------------------------------- who holds the states

    @property
    def optimizer(self):
        """The optimizer; setting another one keeps the states."""
        return self._optimizer

    @optimizer.setter
    def optimizer(self, optimizer):
        self._hold(dict(self.states) if "_optimizer" in self.__dict__ else {}, optimizer)

    def _hold(self, states, optimizer):
        """Takes an optimizer and its states, here or in C++; all or nothing."""
        core = getattr(optimizer, "_native", lambda: None)()
        native = None if core is None else _core.Updater(core)
        if native is not None:
            native.load(states, "optimizer states")
        self._optimizer = optimizer
        self.aggregate_updates = getattr(optimizer, "aggregate_num", 0) > 0
        self._core_optimizer, self._core_updater = core, native
        self._own_states = states if native is None else None
        self._own_synced = dict.fromkeys(states, False) if native is None else None

    def _refresh(self):
        """Follows an optimizer whose methods were replaced since."""
        core = getattr(self._optimizer, "_native", lambda: None)()
        if core is not self._core_optimizer:
            self._hold(dict(self.states), self._optimizer)

    def _native(self):
        """The C++ updater if it works alone, else None."""
        own = Updater
        if type(self).__call__ is not own.__call__ or \
                type(self).sync_state_context is not own.sync_state_context:
            return None
        self._refresh()
        return self._core_updater

    @property
    def states(self):
        """States by index."""
        if self._core_updater is not None:
            return LiveDict(_core.view_states(self._core_updater))
        return self._own_states

    @states.setter
    def states(self, states):
        self._hold(dict(states), self._optimizer)

    @property
    def states_synced(self):
        """Whether a state is on its weight's device, by index."""
        if self._core_updater is not None:
            return LiveDict(_core.view_states_synced(self._core_updater))
        return self._own_synced

    @states_synced.setter
    def states_synced(self, synced):
        if self._core_updater is not None:
            _core.view_states_synced(self._core_updater).assign(dict(synced))
        else:
            self._own_synced = synced

    # --------------------------------------------------------------------------- updates

    def __call__(self, index, grad, weight):
        """One step: of a weight, or of lists of indices, gradients and weights."""
        self._refresh()
        several = isinstance(index, (list, tuple))
        indices = [i.decode() if isinstance(i, bytes) else i for i in (index if several else [index])]
        if self._core_updater is not None:
            pairs = list(zip(grad, weight)) if several else [(grad, weight)]
            if any(self._optimizer._is_lazy(w, g) for g, w in pairs):
                for one, (g, w) in zip(indices, pairs):
                    self._core_updater.update_lazily(one, g, w)
            elif several:
                self._core_updater(indices, grad, weight)
            else:
                self._core_updater(indices[0], grad, weight)
        elif indices:
            self._update(indices, *((grad, weight) if several else ([grad], [weight])))

    def _update(self, indices, grads, weights):
        """The steps of an optimizer written in Python."""
        states, synced = self.states, self.states_synced
        self.optimizer._set_current_context(weights[0].context.device_id)
        for index, weight in zip(indices, weights):
            if index not in states:
                states[index] = self.optimizer.create_state_multi_precision(index, weight)
            elif not synced.get(index, True):
                states[index] = self.sync_state_context(states[index], weight.context)
            synced[index] = True
        if not self.aggregate_updates:
            for index, weight, grad in zip(indices, weights, grads):
                self.optimizer.update_multi_precision(index, weight, grad, states[index])
            return
        by_type = {}
        for one in zip(indices, weights, grads):
            by_type.setdefault(one[1].dtype, []).append(one)
        most = self.optimizer.aggregate_num
        for ones in by_type.values():
            for begin in range(0, len(ones), most):
                group = list(zip(*ones[begin:begin + most]))
                self.optimizer.update_multi_precision(*group, [states[i] for i in group[0]])

    def sync_state_context(self, state, context):
        """The state on another device."""
        if isinstance(state, NDArray):
            return state.as_in_context(context)
        if isinstance(state, (tuple, list)):
            return type(state)(self.sync_state_context(part, context) for part in state)
        return state

    # ----------------------------------------------------------------------------- files

    def set_states(self, states):
        """Takes the states, and the optimizer if it is with them, from get_states' bytes."""
        loaded = _files.load(states, Optimizer, self._optimizer)
        optimizer = self._optimizer
        if isinstance(loaded, tuple) and len(loaded) == 2:
            loaded, optimizer = loaded
        if not isinstance(loaded, dict) or not hasattr(optimizer, "update_multi_precision"):
            raise error.OSError("optimizer states: no dictionary of states by parameter is in them, "
                                "or no optimizer where one should be")
        self._hold(loaded, optimizer)

    def get_states(self, dump_optimizer=False):
        """The states as bytes that MXNet reads too; with the optimizer on request."""
        if self._core_updater is not None and not dump_optimizer:
            return self._core_updater.get_states(False)
        states = dict(self.states)
        return _files.dump((states, self.optimizer) if dump_optimizer else states, Optimizer)

    def __getstate__(self):
        return {"optimizer": self.optimizer, "states": dict(self.states),
                "states_synced": dict(self.states_synced)}

    def __setstate__(self, state):
        self._hold(state["states"], state["optimizer"])
        self.states_synced = state["states_synced"]


def get_updater(optimizer):
    """An Updater of `optimizer`."""
    return Updater(optimizer)
