"""A training tried out on a copy of the module, before anything is trained.

The verbs run in the order of fit, on the copy; counts, memory and the report's text come from C++.
"""
import copy
import random
import time
from types import SimpleNamespace

import numpy as np

from .. import _core, error, metric
from .. import ndarray as nd
from .. import optimizer as opt
from ..io import DataIter
from ..io._base import batch as batch_of


class DryRunReport(SimpleNamespace):
    """What a dry run found: `parameters`, `trained`, `auxiliary` (counts), `weight_bytes`,
    `gradient_bytes`, `batch_bytes`, `arena_bytes`, `total_bytes`, `batch_size`, `seconds_per_step`,
    `outputs` (name, shape), `train` and `validation` (name, value), `notes`."""

    @property
    def total_bytes(self):
        """Memory over all devices."""
        return self.weight_bytes + self.gradient_bytes + self.batch_bytes + self.arena_bytes

    def __str__(self):
        return _core.dry_run_text(vars(self))


def _peek(iterator, notes):
    """The next batch; the iterator stays where it is, or is reset if it cannot say where that is."""
    core = iterator._native() if isinstance(iterator, DataIter) else None
    if core is not None:
        read, note = core.peek()
        notes.extend([note] if note else [])
        return batch_of(read)
    batch = next(iter(iterator), None)
    if batch is None:  # at the end of an epoch: the next one's first
        iterator.reset()
        batch = next(iter(iterator), None)
    if batch is None:
        raise error.ValueError("there is no batch to try: the iterator is empty")
    batch = copy.copy(batch)
    batch.data = [x.copy() for x in batch.data]
    batch.label = [x.copy() for x in batch.label or []]
    iterator.reset()
    notes.append("an iterator that cannot say where it stands was reset")
    return batch


def _fresh_metric(given):
    return copy.deepcopy(given) if isinstance(given, metric.EvalMetric) else metric.create(given)


def _fresh_store(given):
    return getattr(given, "type", given)


def _set_up(module, trial, train_data, options):
    """Binds the copy and gives it parameters and an optimizer, which are copies too."""
    trial.bind(train_data.provide_data, train_data.provide_label, for_training=True)
    args, aux = options["arg_params"], options["aux_params"]
    if module.params_initialized:
        args, aux = module.get_params()
    trial.init_params(options["initializer"], args, aux, allow_missing=options["allow_missing"])
    optimizer = options["optimizer"]
    params = dict(options["optimizer_params"])
    if not isinstance(optimizer, str):
        assert isinstance(optimizer, opt.Optimizer)
        optimizer = copy.deepcopy(optimizer)
    trial.init_optimizer(_fresh_store(options["kvstore"]), optimizer, copy.deepcopy(params))
    trial._begin_updates(clip_global_norm=options["clip_global_norm"] or 0,
                         ema_decay=options["ema_decay"] or 0)


def dry_run(module, options):
    """What BaseModule.fit does with `dry_run`; `options` are its arguments."""
    train_data, eval_data = options["train_data"], options["eval_data"]
    notes = []
    mark, numpy_state, python_state = _core.RandomMark(), np.random.get_state(), random.getstate()
    checked = _core.CheckedValues()
    try:
        batch = _peek(train_data, notes)
        trial = module._blank_copy()
        _set_up(module, trial, train_data, options)
        training = _fresh_metric(options["eval_metric"])
        step, seconds = trial._stepper(training), []
        for _ in range(3):
            training.reset()
            tic = time.perf_counter()
            step(batch)
            nd.waitall()
            seconds.append(time.perf_counter() - tic)
        facts = _core.measure([group for group, _ in trial._update_parts(all_weights=True)])
        facts.update(seconds_per_step=min(seconds[1:]), train=training.get_name_value(),
                     validation=[], notes=notes)
        if eval_data is not None:
            batch = _peek(eval_data, notes)
            evaluation = _fresh_metric(options["validation_metric"] or options["eval_metric"])
            evaluation.reset()
            trial.prepare(batch)
            trial.forward(batch, is_train=False)
            trial._show_metric(evaluation, batch)
            facts["validation"] = evaluation.get_name_value()
        report = DryRunReport(**facts)
        module.logger.info('%s', report)
        return report
    finally:
        del checked
        mark.restore()
        np.random.set_state(numpy_state)
        random.setstate(python_state)
