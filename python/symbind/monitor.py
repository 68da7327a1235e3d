"""Monitor prints statistics of the values inside executors; NanGuard stops at the first NaN or
infinity.

A monitored executor runs unfused and keeps every value, so it is slower: for debugging.
"""
import logging
import re
from math import sqrt

from . import _core, ndarray
from .ndarray import NDArray

__all__ = ["Monitor", "NanGuard"]


def _mean_norm(x):
    return ndarray.norm(x) / sqrt(x.size)


class Monitor:
    """Statistics of outputs, arguments and auxiliary states whose name's beginning matches
    `pattern`, every `interval` batches; of operators' inputs too with `monitor_all`."""

    def __init__(self, interval, stat_func=None, pattern=".*", sort=False, monitor_all=False):
        self.stat_func = stat_func if stat_func is not None else _mean_norm
        self.interval = interval
        self.activated = False
        self.queue = []
        self.step = 0
        self.exes = []
        self.re_prog = re.compile(pattern)
        self.sort = sort
        self.monitor_all = monitor_all

    def stat_helper(self, name, array):
        """Executors call it with each value."""
        name = name.decode() if isinstance(name, bytes) else name
        if self.activated and self.re_prog.match(name):
            self.queue.append((self.step, name, self.stat_func(array)))

    def install(self, exe):
        """Installs it on an executor; several executors are possible."""
        exe.set_monitor_callback(self.stat_helper, self.monitor_all)
        self.exes.append(exe)

    def _wait(self):
        for exe in self.exes:
            for array in exe.arg_arrays + exe.aux_arrays:
                array.wait_to_read()

    def tic(self):
        """Before a batch: begins collecting every `interval` batches."""
        if self.step % self.interval == 0:
            self._wait()
            self.queue = []
            self.activated = True
        self.step += 1

    def toc(self):
        """After a batch: a list of (step, name, text); empty if nothing was collected."""
        if not self.activated:
            return []
        self._wait()
        for exe in self.exes:
            symbol = exe._symbol
            for name, array in list(zip(symbol.list_arguments(), exe.arg_arrays)) + list(
                    zip(symbol.list_auxiliary_states(), exe.aux_arrays)):
                self.stat_helper(name, array)
        self.activated = False
        queue, self.queue = self.queue, []
        if self.sort:
            queue.sort(key=lambda entry: entry[1])
        return [(step, name, self._text(values)) for step, name, values in queue]

    @staticmethod
    def _text(values):
        values = [values] if isinstance(values, NDArray) else values
        assert isinstance(values, list)
        text = ""
        for value in values:
            assert isinstance(value, NDArray)
            numbers = value.asnumpy()  # whose scalars print in their own precision
            text += str(numbers[0] if value.shape == (1,) else numbers) + "\t"
        return text

    def toc_print(self):
        """toc, each record as a log line."""
        for step, name, text in self.toc():
            logging.info("Batch: {:7d} {:30s} {:s}".format(step, name, text))


def _guard_of_fit(monitor, nan_guard):
    """The guard of a fit, in addition to its monitor, if requested; else None."""
    on = _core.nan_guard_is_on() if nan_guard is None else nan_guard
    return NanGuard(monitor) if on else None


class NanGuard:
    """Raises ValueError in the step that makes the first NaN or infinity: names the step, the node,
    its output's number and the ranges of the node's inputs. fit makes one with `nan_guard=True` or
    the setting SYMBIND_NAN_GUARD; or install it on executors and call tic and toc around each step.
    `also` is another monitor of the same executors, if any."""

    def __init__(self, also=None):
        self._guard = _core.NanGuard()
        self._also = also

    def install(self, exe):
        """Installs it on an executor; several executors are possible."""
        self._guard.install(exe._bound)
        if self._also is not None:
            self._also.install(exe)

    def tic(self):
        """Before a step."""
        self._guard.tic()
        if self._also is not None:
            self._also.tic()

    def toc(self):
        """After a step: raises if a NaN or infinity was found; returns the other monitor's statistics."""
        self._guard.toc()
        return [] if self._also is None else self._also.toc()

    def release(self):
        """Removes the guard from its executors; they run as fast as before."""
        self._guard.release()

    def toc_print(self):
        """toc, for loops that take a Monitor."""
        self._guard.toc()
        if self._also is not None:
            self._also.toc_print()
