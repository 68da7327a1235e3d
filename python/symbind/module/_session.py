"""The objects of one fit for its session (symbind/detail/training_session.h). The session is C++ and decides
when to save, what to restore and when to stop. This module converts Python objects to plain data and back.
"""
import functools
import logging
import random
import signal
import threading

import numpy as np

from .. import _core, error
from .._plain import from_plain, plain_attributes, random_state, set_plain_attributes, to_plain
from ..base import _as_list
from ..callback import ProgressBar
from ..io import DataIter
from ..kvstore import KVStore
from ..metric import ConfusionMatrix


def _set_own(thing, attributes):
    """Sets an object's attributes; warns about those that it does not have."""
    ignored = set_plain_attributes(thing, attributes)
    if ignored:
        logging.warning("resume: %s has no attributes %s before the training starts: they are not set from the "
                        "checkpoint", type(thing).__name__, ", ".join(map(repr, ignored)))


def _stateful(thing):
    """Whether an object has state_dict and load_state_dict."""
    return callable(getattr(thing, "state_dict", None)) and \
        callable(getattr(thing, "load_state_dict", None))


def _wait_for_prefetch(iterator):
    """Waits for an iterator that prefetches."""
    getattr(iterator, "_wait_for_prefetch", lambda: None)()


def _iterator_state(iterator):
    state = iterator.state_dict() if _stateful(iterator) else None
    return None if state is None else to_plain(state)


def _set_iterator_state(iterator, state):
    if not _stateful(iterator):
        raise error.ValueError("the checkpoint holds the state of an iterator that gives one, and this one "
                               "does not")
    iterator.load_state_dict(from_plain(state))


# --------------------------------------------------------------------------- metrics

def _metric_facts(metric):
    core = metric._native() if hasattr(metric, "_native") else None
    if core is not None:
        return {"core": _core.metric_facts(core)}
    facts = {"class": type(metric).__name__, "own": plain_attributes(metric)}
    if hasattr(metric, "metrics"):
        facts["within"] = [_metric_facts(child) for child in metric.metrics]
    return facts


def _set_metric_facts(metric, facts):
    """Whether the sums belong to this metric; if not, nothing changes."""
    core = metric._native() if hasattr(metric, "_native") else None
    if core is not None:
        return "core" in facts and _core.set_metric_facts(core, facts["core"])
    within = list(getattr(metric, "metrics", ()))
    if facts.get("class") != type(metric).__name__ or len(within) != len(facts.get("within", ())):
        return False
    _set_own(metric, facts["own"])
    return all([_set_metric_facts(child, saved)
                for child, saved in zip(within, facts.get("within", ()))])


# ------------------------------------------------------------------ parts of a module

class Network:
    """One network of a module, with its optimizer."""

    def __init__(self, module):
        self._module = module
        self.group = module._exec_group._core
        self.optimizer = module._optimizer._inner
        self.update_on_store = bool(module._update_on_kvstore)
        self.symbol_json = module._symbol.tojson

    def states(self):
        """For the file: the C++ updater, or the bytes of a Python updater, or None."""
        updater = self._module._updater_in_use()
        if updater is None:
            return None
        self._on_store("_fetch_states")
        core = updater._native() if hasattr(updater, "_native") else None
        return updater.get_states() if core is None else core

    def set_states(self, states):
        """Loads the bytes of a file."""
        updater = self._module._updater_in_use()
        if updater is not None:
            updater.set_states(states)
            self._on_store("_send_states")

    def _on_store(self, name):
        """Calls a method of a store of ours that runs the updates."""
        if self.update_on_store and isinstance(self._module._kvstore, KVStore):
            getattr(self._module._kvstore, name)()

    def give_to_store(self):
        """Copies the parameters to a store that runs the updates."""
        core = self._store_core()
        if core is not None:
            for name in self._module._param_names:
                core.assign(name, self._module._arg_params[name])

    def _store_core(self):
        """The C++ store; None without a store or with a custom one."""
        return getattr(self._module._kvstore, "_core", None)

    def facts(self):
        """The parts that C++ does not have: the class, its attributes, those of a scheduler."""
        optimizer = self._module._optimizer
        facts = {"class": type(optimizer).__name__, "own": plain_attributes(optimizer)}
        scheduler = optimizer.lr_scheduler
        if scheduler is not None and getattr(scheduler, "_native", lambda: None)() is None:
            facts["scheduler"] = plain_attributes(scheduler)
        if self._store_core() is not None:
            facts["store"] = self._store_core().state
        return facts

    def check_facts(self, facts, source):
        """Raises if these belong to another class of optimizer."""
        here = type(self._module._optimizer).__name__
        if facts["class"] != here:
            raise error.ValueError(
                "{0} is from a training with optimizer {1}, but this one has {2}: nothing was "
                "loaded\n  fix:  train with optimizer {1}".format(source, facts["class"], here))

    def take_facts(self, facts):
        """Takes them."""
        optimizer = self._module._optimizer
        _set_own(optimizer, facts["own"])
        if "scheduler" in facts:
            _set_own(optimizer.lr_scheduler, facts["scheduler"])
        if "store" in facts and self._store_core() is not None:
            self._store_core().state = facts["store"]


# ---------------------------------------------------------------------------- Ctrl-C

class _Interrupts:
    """During a batch, Ctrl-C is only recorded and raised after the batch, when the state is
    consistent; a second one stops at once."""

    def __init__(self):
        self._wanted = False
        self._mine = False

    def defer_interrupts(self):
        """From now on."""
        self._wanted = False
        if threading.current_thread() is threading.main_thread() and \
                signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._mine = True

    def interrupted(self):
        """Whether an interrupt is pending."""
        return self._wanted

    def _note(self, number, frame):
        if self._wanted:
            signal.default_int_handler(number, frame)
        self._wanted = True
        logging.info("interrupted: saving after this batch; interrupt again to stop at once")

    def release_interrupts(self):
        """Restores the previous handler."""
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._mine = False


# -------------------------------------------------------------------------- training

def plain_values(values):
    """(name, value) pairs of a metric whose values are numbers."""
    return [(str(name), float(value)) for name, value in values
            if isinstance(value, (int, float, np.number)) or getattr(value, "size", 0) == 1]


def _batch_size(data):
    """Rows of a batch; 0 if the iterator does not say."""
    size = getattr(data, "batch_size", 0)
    if isinstance(size, int) and size > 0:
        return size
    shapes = data.provide_data
    return int(shapes[0][1][0]) if shapes and shapes[0][1] else 0


class Training(_Interrupts):
    """All objects of one call of fit that a checkpoint contains."""

    def __init__(self, module, train_data, eval_data, metric, callbacks):
        super().__init__()
        self._module, self._train_data = module, train_data
        self.batch_size = _batch_size(train_data)
        self.set_params = module.set_params
        self._metric, self._eval_data = metric, eval_data
        self._has_bar = any(isinstance(one, ProgressBar) for one in _as_list(callbacks[0] or []))
        self.reset_metric = metric.reset
        self.metric_facts = functools.partial(_metric_facts, metric)
        self.set_metric_facts = functools.partial(_set_metric_facts, metric)
        self.reset_data = train_data.reset
        self.data_state = functools.partial(_iterator_state, train_data)
        self.set_data_state = functools.partial(_set_iterator_state, train_data)
        self.eval_state = functools.partial(_iterator_state, eval_data)
        self.set_eval_state = functools.partial(_set_iterator_state, eval_data) if _stateful(eval_data) \
            else lambda state: None
        self.info, self.warn = module.logger.info, module.logger.warning
        self.data_iter = None  # of the epoch
        self.batch = None      # the last fetched batch
        self._stateful = {"callback %d: %s" % (i, type(one).__name__): one
                          for i, one in enumerate(
                              one for group in callbacks for one in _as_list(group or []))
                          if _stateful(one)}

    def metric_values(self):
        """The metric over the epoch so far; a custom one that cannot tell is left out."""
        try:
            return plain_values(self._metric.get_global_name_value())
        except Exception:  # pylint: disable=broad-except
            return []

    def logs_epochs(self):
        """Whether the script itself shows how far fit is: by its log or by a ProgressBar."""
        if self._has_bar:
            return True
        logger = self._module.logger
        logger = logging.getLogger() if logger is logging else logger
        return bool(getattr(logger, "isEnabledFor", lambda level: True)(logging.INFO))

    def batches_per_epoch(self):
        """Where the iterator knows."""
        core = self._train_data._native() if isinstance(self._train_data, DataIter) else None
        return None if core is None else core.batches

    def confusion(self):
        """Rows of the evaluation data by true and predicted class; None without such data."""
        if self._eval_data is None:
            return None
        counts = ConfusionMatrix()
        self._module.score(self._eval_data, counts)
        return counts._core_metric().confusion_counts()

    def store(self):
        """The C++ store of the module, or None."""
        for part in self._module._leaves(all_weights=True):
            if isinstance(part._kvstore, KVStore):
                return part._kvstore._core
        return None

    def params(self):
        self._params = self._module.get_params()
        return self._params

    def param_order(self):
        """Names of arguments and of auxiliary states of the last `params`."""
        args, aux = self._params
        return list(args), list(aux)

    def networks(self):
        """The networks of the module."""
        return [Network(part) for part in self._module._leaves(all_weights=True)]

    def named(self):
        """Other objects with a state."""
        return {**self._stateful, **self._module.__dict__.get("_kept_in_checkpoints", {})}

    def state_of(self, name):
        """Its state as plain data."""
        return to_plain(self.named()[name].state_dict())

    def set_state_of(self, name, state):
        """Takes it back."""
        self.named()[name].load_state_dict(from_plain(state))

    def fetch(self):
        """Fetches the next batch of the epoch; False at its end."""
        self.batch = next(self.data_iter, None)
        return self.batch is not None

    def prepare(self):
        """Prepares the module for that batch."""
        self._module.prepare(self.batch)

    def random(self):
        """The generators: of every device, NumPy's global one, and Python's. Waits for prefetch
        threads; they may draw random numbers."""
        _wait_for_prefetch(self._train_data)
        return {"devices": _core.random_facts(), "numpy": to_plain(np.random.get_state(legacy=False)),
                "python": to_plain(random.getstate())}

    def set_random(self, facts):
        """Takes them back."""
        _wait_for_prefetch(self._train_data)
        _core.set_random_facts(facts["devices"])
        np.random.set_state(random_state(from_plain(facts["numpy"])))
        try:
            random.setstate(from_plain(facts["python"]))
        except (TypeError, ValueError, OverflowError) as failure:
            raise error.OSError("the checkpoint's state of Python's generator is none: %s" % failure) from None
