"""What fit does besides the verbs: going on from a checkpoint, and saving on the way.

The files, their checks and the policy are C++ (symbind/checkpoint.h); here Python's objects become
plain data and back. As in C++ a checkpoint has two moments: where iterator and random numbers stood
before the next batch was fetched, and everything else behind the callbacks.
"""
import logging
import random
import signal
import threading

import numpy as np

from .. import _core, error
from .._plain import from_plain, plain_attributes, random_state, set_plain_attributes, to_plain
from ..base import _as_list


def _random_facts():
    """The generators: of every device, NumPy's global one, and Python's."""
    return {"devices": _core.random_facts(),
            "numpy": to_plain(np.random.get_state(legacy=False)),
            "python": to_plain(random.getstate())}


def _set_random_facts(facts):
    _core.set_random_facts(facts["devices"])
    if "numpy" in facts:
        np.random.set_state(random_state(from_plain(facts["numpy"])))
        try:
            random.setstate(from_plain(facts["python"]))
        except (TypeError, ValueError, OverflowError) as failure:
            raise error.OSError("the checkpoint's state of Python's generator is none: %s" % failure) from None


def _set_own(thing, attributes):
    """Takes an object's own attributes; says which are ignored, for it does not have them."""
    ignored = set_plain_attributes(thing, attributes)
    if ignored:
        logging.warning("resume: %s has no attributes %s before the training starts: they are not set from the "
                        "checkpoint", type(thing).__name__, ", ".join(map(repr, ignored)))


def _stateful(thing):
    """Whether an object gives and takes its state."""
    return callable(getattr(thing, "state_dict", None)) and \
        callable(getattr(thing, "load_state_dict", None))


def _rest(iterator):
    """Lets an iterator that reads ahead come to rest, where random numbers are looked at."""
    getattr(iterator, "_rest", lambda: None)()


def _iterator_state(iterator):
    state = iterator.state_dict() if _stateful(iterator) else None
    return None if state is None else to_plain(state)


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
    """Whether they were this metric's; else nothing changes."""
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

class _Part:
    """One network of a module, with its optimizer."""

    def __init__(self, module):
        self.module = module
        self.kernels = _core.kernel_facts(self.group)
        self.symbol = module._symbol.tojson()

    group = property(lambda self: self.module._exec_group._core)

    updater = property(lambda self: self.module._updater_in_use())

    def states(self):
        """For the file: the C++ updater, or the bytes of one of Python's, or None."""
        updater = self.updater
        if updater is None:
            return None
        core = updater._native() if hasattr(updater, "_native") else None
        return updater.get_states() if core is None else core

    def facts(self, args, aux):
        optimizer = self.module._optimizer
        facts = {"optimizer": _core.optimizer_facts(optimizer._inner),
                 "class": type(optimizer).__name__,
                 "own": plain_attributes(optimizer),
                 "devices": _core.device_facts(self.group, args, aux), "kernels": self.kernels}
        scheduler = optimizer.lr_scheduler
        if scheduler is not None and getattr(scheduler, "_native", lambda: None)() is None:
            facts["scheduler"] = plain_attributes(scheduler)
        return facts

    def weights(self):
        """Weights by the key their states have."""
        module, result = self.module, {}
        for i, arrays in enumerate(module._exec_group.param_arrays):
            for k, array in enumerate(arrays):
                name = module._exec_group.param_names[i]
                result[name if module._update_on_kvstore else i * len(arrays) + k] = array
        return result

    def check(self, facts, states, source):
        """Raises unless these are of this network and this optimizer."""
        optimizer = self.module._optimizer
        if facts is not None:
            if facts["class"] != type(optimizer).__name__:
                raise error.ValueError(
                    "{} is of a training with optimizer {}, and this one has {}: nothing was "
                    "loaded\n  fix:  train with optimizer {}".format(
                        source, facts["class"], type(optimizer).__name__, facts["class"]))
            _core.check_optimizer_facts(optimizer._inner, facts["optimizer"], source)
        if states is not None:
            _core.check_states(states, self.weights(), source)

    def restore_optimizer(self, facts, states, source):
        """Takes counts, scheduler and states; all or nothing."""
        optimizer = self.module._optimizer
        before = _core.optimizer_facts(optimizer._inner)
        if facts is not None:
            _core.set_optimizer_facts(optimizer._inner, facts["optimizer"], source)
            _set_own(optimizer, facts["own"])
            if "scheduler" in facts:
                _set_own(optimizer.lr_scheduler, facts["scheduler"])
            _core.compare_kernel_facts(self.kernels, facts["kernels"])
        if states is None or self.updater is None:
            return
        try:
            self.updater.set_states(states)
        except Exception:
            _core.set_optimizer_facts(optimizer._inner, before, source)
            raise

    def restore_devices(self, facts):
        """Gives a store that runs the updates its weights, and devices what is theirs alone."""
        module = self.module
        if module._update_on_kvstore and hasattr(module._kvstore, "_set_updater"):
            store, updater = module._kvstore, module._kvstore._updater
            store._set_updater(lambda key, pushed, stored: pushed.copyto(stored))
            for name in module._param_names:
                store.push(name, module._arg_params[name])
            store._set_updater(updater)
        if facts is not None:
            _core.set_device_facts(self.group, facts["devices"])


# ---------------------------------------------------------------------------- Ctrl-C

class _Interrupts:
    """While batches are trained, Ctrl-C is noted and answered behind a batch, where everything is
    whole; the second one stops at once."""

    def __init__(self):
        self.wanted = False
        self._mine = False

    def defer(self):
        """From now on."""
        self.wanted = False
        if threading.current_thread() is threading.main_thread() and \
                signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._mine = True

    def _note(self, number, frame):
        if self.wanted:
            signal.default_int_handler(number, frame)
        self.wanted = True
        logging.info("interrupted: the training is saved behind this batch; again stops it at once")

    def release(self):
        """As it was before."""
        if self._mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            self._mine = False


# --------------------------------------------------------------------------- session

class Session:
    """Checkpoints of one call of fit."""

    def __init__(self, module, train_data, eval_data, metric, callbacks, checkpoint, resume,
                 num_epoch):
        self._module = module
        self._train_data = train_data
        self._eval_data = eval_data
        self._metric = metric
        self._num_epoch = num_epoch
        self._resume = resume
        self._resumed = None  # a loaded training, until its epoch begins
        self._fetch = None    # where a save that is due has its first moment
        self._end = None      # the training behind the last batch of the epoch
        self._border_due = False
        self._interrupts = _Interrupts()
        self._stateful = {"callback %d: %s" % (i, type(one).__name__): one
                          for i, one in enumerate(callbacks) if _stateful(one)}
        self._keep_best = None
        self._saver = None
        if checkpoint is not None:
            self._keep_best = checkpoint.keep_best
            self._saver = checkpoint._make()
            if self._keep_best:
                _core.watched_value(metric.get_name_value(), self._keep_best, "keep_best")
        self._parts = [_Part(part) for part in module._leaves(all_weights=True)] if resume or checkpoint else []

    def _named(self):
        return {**self._stateful, **self._module.__dict__.get("_kept_in_checkpoints", {})}

    # ------------------------------------------------------------------------ resume

    def begin(self, begin_epoch):
        """Loads what is to be gone on from; the epoch to begin with."""
        if not self._resume:
            return begin_epoch
        log = self._module.logger
        saved = _core.load_training(self._resume)
        if saved is None:
            log.info("resume: there is no checkpoint of '%s' yet: the training begins at epoch %d",
                     self._resume, begin_epoch)
            return begin_epoch
        self._restore(saved)
        self._resumed = saved if saved["exact"] else None
        log.info("resume: goes on from %s at epoch %d, batch %d", saved["source"], saved["epoch"],
                 saved["batch"])
        return saved["epoch"]

    def _restore(self, saved):
        module, source = self._module, saved["source"]
        _core.check_resumed_params(saved["args"], saved["aux"], *module.get_params(), source)
        facts = saved["facts"].get("parts") if saved["exact"] else None
        if facts is not None and len(facts) != len(self._parts):
            raise error.ValueError("{} is of a training of {} networks, and this one has {}: nothing "
                                   "was loaded".format(source, len(facts), len(self._parts)))
        states = saved["states"] + [None] * (len(self._parts) - len(saved["states"]))
        rows = list(zip(self._parts, facts or [None] * len(self._parts), states))
        for part, own, bytes_ in rows:
            part.check(own, bytes_, source)
        for part, own, bytes_ in rows:
            part.restore_optimizer(own, bytes_, source)
        module.set_params(saved["args"], saved["aux"])
        for part, own, _ in rows:
            part.restore_devices(own)
        if not saved["exact"]:
            return
        if not _set_metric_facts(self._metric, saved["facts"]["metric"]) and saved["batch"]:
            module.logger.warning("resume: the checkpoint is of another metric: its sums begin anew")
        if saved["facts"]["eval_iterator"] is not None and _stateful(self._eval_data):
            self._eval_data.load_state_dict(from_plain(saved["facts"]["eval_iterator"]))
        for name, thing in self._named().items():
            if name in saved["facts"]["named"]:
                thing.load_state_dict(from_plain(saved["facts"]["named"][name]))
            else:
                module.logger.warning("resume: %s holds nothing for '%s'", source, name)

    def _wind(self, saved, data_iter):
        """Brings the iterator to where it stood."""
        state = saved["facts"]["iterator"]
        if state is not None:
            if not _stateful(self._train_data):
                raise error.ValueError("{} holds the state of an iterator that gives one, and this "
                                       "one does not".format(saved["source"]))
            self._train_data.load_state_dict(from_plain(state))
            return
        self._module.logger.warning(
            "resume: the iterator has no state_dict: it is reset %d times and %d batches are passed "
            "over", saved["epoch"], saved["batch"])
        for _ in range(saved["epoch"]):
            self._train_data.reset()
        for _ in range(saved["batch"]):
            next(data_iter)
        if saved["facts"]["ended"]:
            next(data_iter, None)

    def start_epoch(self, data_iter):
        """(number of the first batch, that batch or None at the end of the epoch)."""
        self._end = None
        if self._saver is not None:
            self._interrupts.defer()
        saved, self._resumed = self._resumed, None
        if saved is None:
            self._metric.reset()
            return 0, next(data_iter, None)
        facts = saved["facts"]
        self._wind(saved, data_iter)
        _set_random_facts(facts["random_at_fetch"])
        if saved["batch"] == 0:
            self._metric.reset()
            return 0, next(data_iter, None)
        batch = None if facts["ended"] else next(data_iter, None)
        if batch is not None:
            self._module.prepare(batch)
        _rest(self._train_data)
        _set_random_facts(facts["random"])
        return saved["batch"], batch

    # -------------------------------------------------------------------------- save

    def _fetch_point(self, ended=False):
        return {"iterator": _iterator_state(self._train_data), "random_at_fetch": _random_facts(),
                "ended": ended}

    def _capture(self, epoch, batches, fetch):
        args, aux = self._module.get_params()
        _rest(self._train_data)
        facts = dict(fetch, parts=[part.facts(args, aux) for part in self._parts],
                     named={name: to_plain(thing.state_dict())
                            for name, thing in self._named().items()},
                     metric=_metric_facts(self._metric), random=_random_facts(),
                     eval_iterator=_iterator_state(self._eval_data),
                     versions={"numpy": np.__version__})
        return dict(epoch=epoch, batch=batches, args=args, aux=aux,
                    parts=[(part.symbol, part.states()) for part in self._parts], facts=facts,
                    score=None)

    def behind_step(self, batches):
        """Behind an update, before the next batch is fetched."""
        self._fetch = None
        if self._saver is not None and (
                self._interrupts.wanted or self._saver.due_in_epoch(batches)):
            self._fetch = self._fetch_point()

    def behind_batch(self, epoch, batches, more):
        """Behind the callbacks: saves what is due."""
        if self._fetch is None:
            return
        if self._interrupts.wanted:
            fetch = self._fetch if more else self._fetch_point(ended=True)
            self._saver.finish()  # the last one must not be passed over
            self._saver.save(**self._capture(epoch, batches, fetch))
            self._saver.finish()
            raise KeyboardInterrupt
        if more:
            self._saver.save(**self._capture(epoch, batches, self._fetch))
        else:
            self._border_due = True  # the border of the epoch is where to save

    def behind_batches(self, epoch, batches):
        """Behind the last batch of an epoch: what follows may be interrupted at once."""
        if self._saver is None:
            return
        end = self._capture(epoch, batches, self._fetch_point(ended=True))
        end["args"], end["aux"] = ({k: v.copy() for k, v in end[which].items()}
                                   for which in ("args", "aux"))
        self._end = end
        self._interrupts.release()
        if self._interrupts.wanted:
            raise KeyboardInterrupt

    def behind_epoch(self, epochs, values):
        """Behind the reset for the next epoch."""
        if self._saver is None:
            return
        self._end = None
        due = self._border_due or self._saver.due_at_border(epochs, self._num_epoch)
        self._border_due = False
        if not due:
            return
        state = self._capture(epochs, 0, self._fetch_point())
        if self._keep_best:
            state["score"] = _core.watched_value(values, self._keep_best, "keep_best")
        self._saver.save(**state)

    def stopped(self):
        """The training ends before its time."""
        self._interrupts.release()
        if self._saver is not None and self._end is not None:
            end, self._end = self._end, None
            self._saver.finish()
            self._saver.save(**end)

    def finish(self):
        """Waits for the writer."""
        self._interrupts.release()
        if self._saver is not None:
            self._saver.finish()

    def close(self):
        """On any way out of fit."""
        self._interrupts.release()


def callbacks_of(*groups):
    """All callbacks of several arguments, each None, one or a list."""
    return [one for group in groups for one in _as_list(group or [])]
