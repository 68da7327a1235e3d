"""NDArrayIter: batches of arrays in memory. C++ gathers the rows; the order of a shuffled epoch is
drawn here with NumPy's global generator, which scripts seed, as in MXNet."""
import numpy as np

from .. import _core
from ..error import NotImplementedError as NotImplementedError_
from ..error import ValueError as ValueError_
from ..ndarray import array
from ..ndarray.sparse import CSRNDArray
from . import _base, utils
from ._base import DataBatch, DataIter


class _Order:
    """The order of the rows: `idx` is shuffled at every reset and applied to the previous order. The
    result is the same as shuffling the data itself."""

    def __init__(self, rows):
        self.idx = np.arange(rows)
        self.rows = np.arange(rows)
        self.keep = False  # whether to return the same order once more

    def __call__(self):
        if self.keep:
            self.keep = False
            return self.rows
        np.random.shuffle(self.idx)
        self.rows = np.ascontiguousarray(self.rows[self.idx], dtype=np.int64)
        return self.rows


def _option(name):
    """An option of the C++ iterator: a new value makes a new iterator."""
    slot = '_' + name

    def get(self):
        return self.__dict__[slot]

    def set_(self, value):
        if slot in self.__dict__ and self.__dict__[slot] != value:
            self._renew()
        self.__dict__[slot] = value

    return property(get, set_)


class NDArrayIter(DataIter):
    """Batches of NDArrays, NumPy arrays or HDF5 data sets, alone, in a list or in a dictionary.

    `last_batch_handle` says what happens to rows that do not fill a batch: 'pad' completes it with
    rows from the start, 'discard' drops them, 'roll_over' returns them first in the next epoch.
    """

    batch_size = _option('batch_size')
    shuffle = _option('shuffle')
    last_batch_handle = _option('last_batch_handle')
    layout = _option('layout')

    def __init__(self, data, label=None, batch_size=1, shuffle=False, last_batch_handle='pad',
                 data_name='data', label_name='softmax_label', layout='NCHW'):
        super().__init__(batch_size)
        self.shuffle = bool(shuffle)
        self.last_batch_handle = last_batch_handle
        self.layout = layout
        self._sources = (utils._init_data(data, allow_empty=False, default_name=data_name),
                         utils._init_data(label, allow_empty=True, default_name=label_name))
        if last_batch_handle != 'discard' and any(
                utils._has_instance(group, CSRNDArray) for group in self._sources):
            raise NotImplementedError_("`NDArrayIter` only supports ``CSRNDArray`` with "
                                       "`last_batch_handle` set to `discard`.")
        self._set_up()

    def _set_up(self):
        if self.shuffle:  # as MXNet, whose shuffled arrays are always float32
            self._sources = tuple([(name, _as_float(value)) for name, value in group]
                                  for group in self._sources)
        self._order = _Order(self._sources[0][0][1].shape[self._batch_axis()])
        self._find_special()
        self._core = self._make_core()

    def _find_special(self):
        # For an HDF5 data set C++ holds row numbers, which Python replaces by its rows.
        self._special = [[_special(value) for _, value in group] for group in self._sources]
        if not any(any(group) for group in self._special):
            self._special = None

    def _batch_axis(self):
        axis = self.layout.find('N')
        if axis < 0:
            raise ValueError_("layout {!r} names no batch axis N".format(self.layout))
        return axis

    def _make_core(self):
        stand_ins = [{name: _stand_in(value) for name, value in group} for group in self._sources]
        return _core.ndarray_iter(*stand_ins, self.batch_size, self.shuffle, self.last_batch_handle,
                                  self.layout, self._order)

    def _renew(self):
        """Called before an option changes: the next use makes a new C++ iterator."""
        core = self.__dict__.pop('_core', None)
        if core is not None:
            self._kept_cursor = None if core.cursor == -core.batch_size else core.cursor

    def __getattr__(self, name):
        if name != '_core' or '_kept_cursor' not in self.__dict__:
            raise AttributeError("'{}' object has no attribute '{}'".format(type(self).__name__, name))
        self._order.keep = self.shuffle
        self._core = self._make_core()
        cursor = self.__dict__.pop('_kept_cursor')
        if cursor is not None:
            self._core.cursor = cursor
        return self._core

    def __getstate__(self):
        state = dict(self.__dict__, _kept_cursor=self._core.cursor)
        del state['_core'], state['_special']
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._find_special()

    @property
    def provide_data(self):
        """Describes the data of a batch."""
        return self._describe(0)

    @property
    def provide_label(self):
        """Describes the labels of a batch."""
        return self._describe(1)

    def _describe(self, group):
        axis = self.layout.find('N')
        return [_base.DataDesc(name, value.shape[:axis] + (self.batch_size,) + value.shape[axis + 1:],
                              _dtype(value), self.layout) for name, value in self._sources[group]]

    data = property(lambda self: self._in_order(0), lambda self, value: self._replace(0, value),
                    doc="Pairs (name, array), in the order of this epoch.")
    label = property(lambda self: self._in_order(1), lambda self, value: self._replace(1, value),
                     doc="Pairs (name, array), in the order of this epoch.")

    def _in_order(self, group):
        if not self.shuffle:
            return self._sources[group]
        return utils._getdata_by_idx(self._sources[group], self._order.rows)

    def _replace(self, group, value):
        sources = list(self._sources)
        sources[group] = list(value)
        self._sources = tuple(sources)
        self._set_up()

    idx = property(lambda self: self._order.idx,
                   lambda self, value: setattr(self._order, 'idx', value),
                   doc="What is shuffled at every reset.")
    cursor = property(lambda self: self._core.cursor,
                      lambda self, value: setattr(self._core, 'cursor', value),
                      doc="The row at which the current batch begins.")
    num_data = property(lambda self: self._core.num_data, doc="Number of rows.")
    data_list = property(lambda self: [value for _, value in self.data + self.label],
                         doc="All arrays.")
    num_source = property(lambda self: sum(map(len, self._sources)), doc="Number of arrays.")

    def hard_reset(self):
        """Starts again and drops rolled over rows."""
        self._core.hard_reset()

    def reset(self):
        """Begins the next epoch."""
        self._core.reset()

    def iter_next(self):
        """Moves to the next batch; whether there is one."""
        return self._core.advance()

    def next(self):
        """The next batch; StopIteration at the end of the epoch."""
        if type(self) is NDArrayIter or _base.is_plain(self, NDArrayIter, _base.VERBS[1:]):
            batch = self._core.next()
            if batch is None:
                raise StopIteration
            if self._special is None:
                return DataBatch(*batch)
            data, label, pad, index = batch
            return DataBatch(self._finish(0, data), self._finish(1, label), pad, index)
        if not self.iter_next():
            raise StopIteration
        data, label = self.getdata(), self.getlabel()
        if data[0].shape[self.layout.find('N')] != self.batch_size:
            raise StopIteration
        return DataBatch(data=data, label=label, pad=self.getpad(), index=None)

    def getdata(self):
        """The data of the current batch."""
        return self._finish(0, self._core.fetch()[0])

    def getlabel(self):
        """The labels of the current batch."""
        return self._finish(1, self._core.fetch()[1])

    def getpad(self):
        """How many rows of the current batch are filler or were rolled over."""
        return self._core.pad()

    def _finish(self, group, arrays):
        if self._special is None:
            return arrays
        return [value if finish is None else finish(value)
                for finish, value in zip(self._special[group], arrays)]

    def state_dict(self):
        """The position, with the order of this epoch."""
        return {"core": self._core.state(), "order": self._order_state()}

    def load_state_dict(self, state):
        """Resumes from a state that state_dict returned."""
        self._core.set_state(state["core"])
        self._load_order_state(state["order"])

    def _order_state(self):
        return {"idx": self._order.idx, "rows": self._order.rows} if self.shuffle else None

    def _load_order_state(self, state):
        if state is not None:
            self._order.idx, self._order.rows = (
                _base.permutation_of(state, name, len(self._order.idx)) for name in ("idx", "rows"))

    def _native(self):
        if self._special is None and _base.is_plain(self, NDArrayIter, _base.VERBS):
            return self._core
        return None


def _as_float(value):
    if utils._is_h5py(value) or value.dtype == np.float32:
        return value
    return value.astype(np.float32)


def _special(value):
    """The function that converts an array from C++ to one of this source, or None."""
    if utils._is_h5py(value):
        return lambda rows: utils._rows_of_h5py(value, rows.asnumpy())
    return utils._as_csr if isinstance(value, CSRNDArray) else None


def _stand_in(value):
    return array(np.arange(len(value)), dtype=np.int64) if utils._is_h5py(value) else value


def _dtype(value):
    return value.dtype.type if utils._is_h5py(value) else value.dtype
