"""Iterators that wrap iterators: ResizeIter and PrefetchingIter. For C++ iterators they use C++; for
custom iterators they are the Python code below."""
import copy
import threading

import numpy as np

from .. import _core
from .._plain import random_state
from ..error import AssertionError as AssertionError_
from . import _base
from ._base import DataBatch, DataDesc, DataIter


class ResizeIter(DataIter):
    """`size` batches per epoch; restarts the wrapped iterator as often as needed."""

    def __init__(self, data_iter, size, reset_internal=True):
        super().__init__(data_iter.batch_size)
        self.data_iter = data_iter
        self.size = size
        self.reset_internal = reset_internal
        self.cur = 0
        self.current_batch = None
        self.provide_data = data_iter.provide_data
        self.provide_label = data_iter.provide_label
        if hasattr(data_iter, 'default_bucket_key'):
            self.default_bucket_key = data_iter.default_bucket_key
        core = data_iter._native() if isinstance(data_iter, DataIter) else None
        self._core = core and _core.resize_iter(core, size, reset_internal)

    def reset(self):
        """Begins the next epoch."""
        self.cur = 0
        if self._core is not None:
            self._core.reset()
        elif self.reset_internal:
            self.data_iter.reset()

    def iter_next(self):
        """Moves to the next batch; whether there is one."""
        if self._core is not None:
            batch = self._core.next()
            if batch is not None:
                self.current_batch = _base.batch(batch)
                self.cur += 1
            return batch is not None
        if self.cur == self.size:
            return False
        try:
            self.current_batch = self.data_iter.next()
        except StopIteration:
            self.data_iter.reset()
            self.current_batch = self.data_iter.next()
        self.cur += 1
        return True

    def next(self):
        """The next batch, as the iterator within made it."""
        if not self.iter_next():
            raise StopIteration
        return self.current_batch

    def getdata(self):
        return self.current_batch.data

    def getlabel(self):
        return self.current_batch.label

    def getindex(self):
        return self.current_batch.index

    def getpad(self):
        return self.current_batch.pad

    def state_dict(self):
        """The position, if the wrapped iterator has one."""
        if self._core is not None:
            return {"core": self._core.state(), "cur": self.cur, "order": self._order_state()}
        within = self.data_iter.state_dict() if hasattr(self.data_iter, 'state_dict') else None
        return None if within is None else {"within": within, "cur": self.cur}

    def load_state_dict(self, state):
        """Resumes from a state that state_dict returned."""
        if self._core is not None:
            self._core.set_state(state["core"])
            self._load_order_state(state["order"])
        else:
            self.data_iter.load_state_dict(state["within"])
        self.cur = _base.count_of(state, "cur", self.size)

    def _order_state(self):
        return self.data_iter._order_state()

    def _load_order_state(self, state):
        self.data_iter._load_order_state(state)

    def _native(self):
        return self._core if _base.is_plain(self, ResizeIter, _base.VERBS) else None


class _Reader:
    """Prefetches one batch of a Python iterator in a thread. `take` raises the iterator's exceptions;
    the thread runs until `stop`. Each batch is kept with the position of the iterator and the state of
    NumPy's generator before it."""

    def __init__(self, iterator):
        self._iterator = iterator
        self._wake = threading.Condition()
        self._task = 'next'
        self._state = None   # of a task 'load'
        self._result = None  # (batch or None, exception or None, the iterator's position before)
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self):
        while True:
            with self._wake:
                self._wake.wait_for(lambda: self._task is not None)
                task = self._task
            if task == 'stop':
                return
            result = self._perform(task)
            with self._wake:
                self._result = result
                if self._task == task:
                    self._task = None
                self._wake.notify_all()

    def _perform(self, task):
        before = None
        try:
            if task == 'reset':
                self._iterator.reset()
            if task == 'load':
                self._iterator.load_state_dict(self._state["iterator"])
                np.random.set_state(random_state(self._state["numpy"]))
            state = self._iterator.state_dict() if hasattr(self._iterator, 'state_dict') else None
            if state is not None:
                before = {"iterator": copy.deepcopy(state),
                          "numpy": np.random.get_state(legacy=False)}
            return self._iterator.next(), None, before
        except StopIteration:
            return None, None, before
        except BaseException as error:  # pylint: disable=broad-except
            return None, error, before

    def peek(self):
        """The next batch, or None at the end; waits for it, and raises an exception of the reading."""
        with self._wake:
            self._wake.wait_for(lambda: self._task is None)
            batch, error, _ = self._result
        if error is not None:
            raise error
        return batch

    def state(self):
        """The iterator's position before the next batch; None if it is unknown."""
        self.peek()
        return self._result[2]

    def begin(self, task, state=None):
        """Starts the thread's next task; the previous one must be finished."""
        with self._wake:
            self._task, self._state = task, state
            self._wake.notify_all()

    def wait(self):
        """Waits until the thread is idle."""
        with self._wake:
            self._wake.wait_for(lambda: self._task is None)

    def stop(self):
        """Ends the thread, after the batch it is reading."""
        with self._wake:
            self._task = 'stop'
            self._wake.notify_all()


class PrefetchingIter(DataIter):
    """Prefetches iterators, each in its own thread, and joins their batches.

    `rename_data` and `rename_label` are lists with a dictionary per iterator, old name to new name.
    `next` raises the exceptions of an iterator; `reset` clears them.
    """

    def __init__(self, iters, rename_data=None, rename_label=None):
        super().__init__()
        if not isinstance(iters, list):
            iters = [iters]
        self.n_iter = len(iters)
        assert self.n_iter > 0, "no iterator given"
        self.iters = iters
        self.rename_data = rename_data
        self.rename_label = rename_label
        self.batch_size = self.provide_data[0][1][0]
        self.started = True
        self.current_batch = None
        cores = [i._native() if isinstance(i, DataIter) else None for i in iters]
        self._core, self._readers = None, []
        if all(core is not None for core in cores):
            self._core = _core.prefetching_iter(cores, rename_data or [], rename_label or [])
        else:
            self._readers = [_Reader(i) for i in iters]

    @property
    def provide_data(self):
        """Describes the data of all iterators, under their new names."""
        return self._join('provide_data', self.rename_data)

    @property
    def provide_label(self):
        """Describes the labels of all iterators, under their new names."""
        return self._join('provide_label', self.rename_label)

    def _join(self, what, names):
        joined = []
        for at, iterator in enumerate(self.iters):
            for desc in getattr(iterator, what):
                if names is not None and isinstance(desc, DataDesc):
                    desc = DataDesc(names[at][desc.name], desc.shape, desc.dtype, desc.layout)
                elif names is not None:
                    desc = DataDesc(*desc)
                joined.append(desc)
        return joined

    def __del__(self):
        self.started = False
        for reader in self.__dict__.get('_readers', ()):
            reader.stop()

    def reset(self):
        """Begins the next epoch of every iterator."""
        if self._core is not None:
            self._core.reset()
            return
        self._wait_for_prefetch()
        for reader in self._readers:
            reader.begin('reset')

    def iter_next(self):
        """Moves to the next batch; whether there is one."""
        batch = self._read() if self._core is None else _base.batch(self._core.next())
        if batch is None:
            return False
        batch.provide_data, batch.provide_label = self.provide_data, self.provide_label
        self.current_batch = batch
        return True

    def _read(self):
        batches = [reader.peek() for reader in self._readers]
        if all(batch is None for batch in batches):
            return None
        if any(batch is None or batch.pad != batches[0].pad for batch in batches):
            raise AssertionError_("Number of entry mismatches between iterators")
        for reader in self._readers:
            reader.begin('next')
        return DataBatch([array for batch in batches for array in batch.data],
                         [array for batch in batches for array in batch.label or ()],
                         batches[0].pad, batches[0].index)

    def next(self):
        """The next batch; StopIteration at the end of the epoch."""
        if self.iter_next():
            return self.current_batch
        raise StopIteration

    def getdata(self):
        return self.current_batch.data

    def getlabel(self):
        return self.current_batch.label

    def getindex(self):
        return self.current_batch.index

    def getpad(self):
        return self.current_batch.pad

    def state_dict(self):
        """The positions, if all iterators have one."""
        if self._core is not None:
            state = self._core.state()
            return None if state is None else {"core": state, "order": self._order_state()}
        within = [reader.state() for reader in self._readers]
        return None if None in within else {"within": within}

    def load_state_dict(self, state):
        """Resumes from a state that state_dict returned."""
        if self._core is not None:
            self._core.set_state(state["core"])
            self._load_order_state(state["order"])
            return
        self._wait_for_prefetch()
        for reader, own in zip(self._readers, state["within"]):
            reader.begin('load', own)
            reader.peek()

    def _wait_for_prefetch(self):
        """Waits for the prefetch threads; they may draw random numbers."""
        for reader in self._readers:
            reader.wait()

    def _order_state(self):
        return [iterator._order_state() for iterator in self.iters]

    def _load_order_state(self, state):
        for iterator, own in zip(self.iters, state):
            iterator._load_order_state(own)

    def _native(self):
        return self._core if _base.is_plain(self, PrefetchingIter, _base.VERBS) else None
