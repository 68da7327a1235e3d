"""Callbacks that fit and score call after a batch or an epoch.

They write MXNet's log lines through Python's `logging`. A callback ends the training by raising
StopTraining; fit then returns normally. `leaves_batches = True` in a class means that its call does
not use the batches in `locals`: if all classes of batch_end_callback set it, fit copies no batch.
"""
import logging
import math
import sys
import time

from . import _core, error

__all__ = ["Speedometer", "ProgressBar", "LogValidationMetricsCallback", "EarlyStopping",
           "StopTraining", "Checkpoint", "CSVLogger", "JSONLogger", "do_checkpoint",
           "module_checkpoint", "log_train_metric"]


class StopTraining(Exception):
    """Raised by a callback to end the training as if it were complete. fit logs the text."""


def module_checkpoint(mod, prefix, period=1, save_optimizer_states=False):
    """For epoch_end_callback: `mod.save_checkpoint` every `period` epochs."""
    period = int(max(1, period))

    def _callback(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)
    return _callback


def do_checkpoint(prefix, period=1):
    """For epoch_end_callback: writes `prefix-symbol.json` and `prefix-%04d.params` every `period`
    epochs."""
    period = int(max(1, period))

    def _callback(iter_no, sym, arg, aux):
        from .model import save_checkpoint

        if (iter_no + 1) % period == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)
    return _callback


class Checkpoint:
    """For fit's `checkpoint`: when to save under `prefix`, and which sets to keep.

    Saves every `every_n_epochs` epochs, after the last one, and every `every_n_batches` batches within
    an epoch. Keeps the newest `keep_last` sets (None: those of all epochs, and the newest two within an
    epoch), and the one with the best value of the metric `keep_best`; `mode` says which value is better:
    'max', 'min', or 'auto' by the metric's name. With `background` a thread writes."""

    def __init__(self, prefix, every_n_epochs=1, every_n_batches=None, keep_last=None,
                 keep_best=None, mode="auto", background=True):
        for name, value in (("every_n_epochs", every_n_epochs), ("keep_last", keep_last),
                            ("every_n_batches", every_n_batches)):
            if value is not None and (not isinstance(value, int) or value < 1):
                raise error.ValueError("Checkpoint: %s is %r; it must be a whole number above 0, or "
                                       "None" % (name, value))
        self.prefix = str(prefix)
        self.every_n_epochs = every_n_epochs
        self.every_n_batches = every_n_batches
        self.keep_last = keep_last
        self.keep_best = keep_best
        self.mode = mode
        self.background = background

    def _options(self):
        return (self.prefix, self.every_n_epochs or 0, self.every_n_batches or 0,
                self.keep_last or 0, self.keep_best or "", self.mode, bool(self.background))


class Run:
    """For fit's `run`: records the training in `folder`/`name`: config.toml, log.jsonl, report.html and
    checkpoints. A former run of that name is resumed, or with `restart` renamed to NAME.1. `log_every`
    adds a line to the log after so many batches."""

    def __init__(self, name, folder="runs", restart=False, log_every=0):
        if not isinstance(log_every, int) or log_every < 0:
            raise error.ValueError("Run: log_every is %r; it must be a whole number, 0 or above" % (log_every,))
        self.name, self.folder = str(name), str(folder)
        self.restart, self.log_every = bool(restart), log_every

    def _options(self):
        return (self.name, self.folder, self.restart, self.log_every, "")


def log_train_metric(period, auto_reset=False):
    """For batch_end_callback: logs the metric every `period` batches."""
    def _callback(param):
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Iter[%d] Batch[%d] Train-%s=%f",
                             param.epoch, param.nbatch, name, value)
            if auto_reset:
                param.eval_metric.reset_local()
    return _callback


class Speedometer:
    """For batch_end_callback: logs samples per second and the metric every `frequent` batches, and
    resets the metric's local sums (auto_reset)."""

    leaves_batches = True

    def __init__(self, batch_size, frequent=50, auto_reset=True):
        self.batch_size = batch_size
        self.frequent = frequent
        self.init = False
        self.tic = 0
        self.last_count = 0
        self.auto_reset = auto_reset

    def __call__(self, param):
        count = param.nbatch
        if self.last_count > count:  # another epoch
            self.init = False
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
        elif count % self.frequent == 0:
            seconds = time.time() - self.tic
            speed = self.frequent * self.batch_size / seconds if seconds else float("inf")
            self._log(param, count, speed)
            self.tic = time.time()

    def _log(self, param, count, speed):
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec", param.epoch, count, speed)
            return
        pairs = param.eval_metric.get_name_value()
        values = [part for pair in pairs for part in pair]
        if self.auto_reset:
            param.eval_metric.reset_local()
        logging.info("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec" + "\t%s=%f" * len(pairs),
                     param.epoch, count - self.frequent if self.auto_reset else 0, count, speed,
                     *values)


class ProgressBar:
    """For batch_end_callback: the progress of the epoch. On a terminal a bar with the time left is
    redrawn; elsewhere MXNet's log line is written."""

    leaves_batches = True

    def __init__(self, total, length=80):
        self.bar_len = length
        self.total = total
        self._began = None  # (count, time) of the epoch's first call
        self._last = -1

    def _bar(self, done):
        filled = int(round(self.bar_len * done))
        return "=" * filled + "-" * (self.bar_len - filled)

    def __call__(self, param):
        count = param.nbatch
        if not sys.stderr.isatty():
            logging.info("[%s] %s%s\r", self._bar(count / float(self.total)),
                         math.ceil(100.0 * count / float(self.total)), "%")
            return
        if self._began is None or count <= self._last:
            self._began = (count, time.time())
        self._last = count
        done = min(1.0, (count + 1) / float(self.total))
        text = "\r[%s] %3d%%" % (self._bar(done), math.ceil(100 * done))
        if count > self._began[0]:
            each = (time.time() - self._began[1]) / (count - self._began[0])
            left = int(each * max(0, self.total - count - 1) + 0.5)
            text += " ETA %d:%02d:%02d" % (left // 3600, left // 60 % 60, left % 60)
        sys.stderr.write(text + ("\n" if count + 1 >= self.total else ""))
        sys.stderr.flush()


class LogValidationMetricsCallback:
    """For eval_end_callback: logs the metric."""

    def __call__(self, param):
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)


class EarlyStopping(_core.EarlyStopping):
    """For eval_end_callback: raises StopTraining when the metric did not improve by more than
    `min_delta` in `patience` evaluations. `mode` is "max", "min", or "auto" by the metric's name."""

    def __init__(self, metric=None, patience=1, mode="auto", min_delta=0.0):
        super().__init__(metric, patience, mode, min_delta)

    def __call__(self, param):
        reason = self._observe(param.epoch, param.eval_metric.get_name_value())
        if reason is not None:
            raise StopTraining(reason)

    def __reduce__(self):
        return (type(self), (self.metric, self.patience, self.mode, self.min_delta),
                (vars(self), self.state_dict()))


class _FileLogger:
    """For batch_end_callback or eval_end_callback: a line with the metric's values every `period`
    batches. An existing file is continued; a crash leaves no incomplete line."""

    _open = None

    def __init__(self, path, phase="train", period=1):
        if period < 1:
            raise error.ValueError("a log's period is %r; it counts batches and must be > 0" % period)
        self.phase = phase
        self.period = period
        self._file = type(self)._open(str(path))

    def __call__(self, param):
        if param.eval_metric is None or param.nbatch % self.period != 0:
            return
        self._file.write(self.phase, param.epoch, param.nbatch,
                         [(name, float(value)) for name, value in
                          param.eval_metric.get_name_value()])


class CSVLogger(_FileLogger):
    """Metrics as CSV, columns `time,phase,epoch,nbatch` and one for each value."""

    leaves_batches = True
    _open = staticmethod(_core.csv_log)


class JSONLogger(_FileLogger):
    """Metrics as JSON, one object per line; NaN and infinity are strings."""

    leaves_batches = True
    _open = staticmethod(_core.jsonl_log)
