"""The dry run of a training on a copy of the module. C++ (symbind/dry_run.h) calls these methods; it
decides what to try, measures and reports."""
import copy
import functools
import random

import numpy as np

from .. import _core, metric
from .. import optimizer as opt
from ._session import _iterator_state, _set_iterator_state


class Source:
    """Reads the next batch of an iterator."""

    def __init__(self, iterator):
        self._iterator = iterator
        self.batch = None
        self.reset = iterator.reset
        self.state = functools.partial(_iterator_state, iterator)
        self.set_state = functools.partial(_set_iterator_state, iterator)

    def fetch(self):
        """A batch whose arrays the iterator does not use again; False at the end of the epoch."""
        batch = next(iter(self._iterator), None)
        if batch is not None:
            self.batch = copy.copy(batch)
            self.batch.data = [x.copy() for x in batch.data]
            self.batch.label = [x.copy() for x in batch.label or []]
        return batch is not None


def _fresh_metric(given):
    return copy.deepcopy(given) if isinstance(given, metric.EvalMetric) else metric.create(given)


class Trial:
    """The copy of the module, and the arguments of fit."""

    def __init__(self, module, options):
        self._module, self._options = module, options
        self._copy = module._blank_copy()
        self.notes = []

    def _peek(self, iterator):
        source = Source(iterator)
        note = _core.peek(source)
        self.notes.extend([note] if note else [])
        return source.batch

    def begin(self):
        """Binds the copy and gives it copies of the parameters and the optimizer."""
        train_data, options = self._options["train_data"], self._options
        self._batch = self._peek(train_data)
        self._copy.bind(train_data.provide_data, train_data.provide_label, for_training=True)
        args, aux = options["arg_params"], options["aux_params"]
        if self._module.params_initialized:
            args, aux = self._module.get_params()
        self._copy.init_params(options["initializer"], args, aux, allow_missing=options["allow_missing"])
        optimizer = options["optimizer"]
        assert isinstance(optimizer, (str, opt.Optimizer))
        self._copy.init_optimizer(getattr(options["kvstore"], "type", options["kvstore"]),
                                  copy.deepcopy(optimizer), copy.deepcopy(dict(options["optimizer_params"])))
        self._copy._begin_updates(clip_global_norm=options["clip_global_norm"] or 0,
                                  ema_decay=options["ema_decay"] or 0)
        self._metric = _fresh_metric(options["eval_metric"])
        self._step = self._copy._stepper(self._metric)

    def step(self):
        """One step with the batch."""
        self._metric.reset()
        self._step(self._batch)

    def groups(self):
        """The executors of the copy."""
        return [group for group, *_ in self._copy._update_parts(all_weights=True)]

    def train_values(self):
        """The metric over the batch."""
        return self._metric.get_name_value()

    def evaluate(self):
        """The metric over a batch of the data to evaluate with."""
        if self._options["eval_data"] is None:
            return []
        batch = self._peek(self._options["eval_data"])
        evaluation = _fresh_metric(self._options["validation_metric"] or self._options["eval_metric"])
        evaluation.reset()
        self._copy.prepare(batch)
        self._copy.forward(batch, is_train=False)
        self._copy._show_metric(evaluation, batch)
        return evaluation.get_name_value()


def dry_run(module, options):
    """The implementation of BaseModule.fit(dry_run=True); `options` are its arguments."""
    numpy_state, python_state = np.random.get_state(), random.getstate()
    try:
        report = _core.try_training(Trial(module, options))
    finally:
        np.random.set_state(numpy_state)
        random.setstate(python_state)
    module.logger.info('%s', report)
    return report
