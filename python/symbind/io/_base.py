"""The basic classes of iterators: DataDesc, DataBatch, DataIter.

They appear as classes of symbind.io.io, as in MXNet; pickles contain that module name.
"""
from collections import namedtuple

import numpy as np

from .. import _core
from ..base import mx_real_t
from ..error import OSError as OSError_


def count_of(state, name, most):
    """The whole number `name` of an iterator's saved state, from 0 to `most`."""
    value = state[name]
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise OSError_("the iterator's state has %s=%r; it is from 0 to %d" % (name, value, most))
    return value


def permutation_of(state, name, rows):
    """The order `name` of an iterator's saved state: every row once."""
    order = state[name]
    if not isinstance(order, np.ndarray) or order.dtype.kind not in "iu" or order.shape != (rows,) or \
            not np.array_equal(np.sort(order), np.arange(rows)):
        raise OSError_("the iterator's state has an order %r that is none of the %d rows here" % (name, rows))
    return order.astype(np.int64)


class DataDesc(namedtuple('DataDesc', ['name', 'shape'])):
    """Name and shape of one array of a batch, with its `dtype` and `layout`.

    It is a pair and compares as one: dtype and layout are ignored.
    """

    def __new__(cls, name, shape, dtype=mx_real_t, layout='NCHW'):
        desc = super().__new__(cls, name, shape)
        desc.dtype = dtype
        desc.layout = layout
        return desc

    def __repr__(self):
        return "DataDesc[%s,%s,%s,%s]" % (self.name, self.shape, self.dtype, self.layout)

    def __reduce__(self):
        return DataDesc, (self.name, self.shape, self.dtype, self.layout)

    @staticmethod
    def get_batch_axis(layout):
        """The batch axis: the index of 'N' in the layout, or -1."""
        return 0 if layout is None else layout.find('N')

    @staticmethod
    def get_list(shapes, types):
        """Descriptions from pairs (name, shape) and, unless None, pairs (name, dtype)."""
        if types is None:
            return [DataDesc(name, shape) for name, shape in shapes]
        types = dict(types)
        return [DataDesc(name, shape, types[name]) for name, shape in shapes]


class DataBatch:
    """One batch: lists of NDArrays `data` and `label`; their last `pad` rows are padding.

    `index` numbers the examples, `bucket_key` says which bucket of a BucketingModule it is for, and
    `provide_data` and `provide_label` describe it where batches differ.
    """

    def __init__(self, data, label=None, pad=None, index=None, bucket_key=None, provide_data=None,
                 provide_label=None):
        if data is not None:
            assert isinstance(data, (list, tuple)), "Data must be list of NDArrays"
        if label is not None:
            assert isinstance(label, (list, tuple)), "Label must be list of NDArrays"
        self.data = data
        self.label = label
        self.pad = pad
        self.index = index
        self.bucket_key = bucket_key
        self.provide_data = provide_data
        self.provide_label = provide_label

    def __str__(self):
        labels = [array.shape for array in self.label] if self.label else None
        return "{}: data shapes: {} label shapes: {}".format(
            type(self).__name__, [array.shape for array in self.data], labels)


class DataIter:
    """Produces batches. Subclasses describe them in `provide_data` and `provide_label`, and define
    `next`, or `iter_next` with `getdata`, `getlabel`, `getpad` and `getindex`."""

    batch_size = 0

    def __init__(self, batch_size=0):
        _core.refresh_settings()
        self.batch_size = batch_size

    def __iter__(self):
        return self

    def reset(self):
        """Begins the next epoch."""

    def next(self):
        """The next batch; StopIteration at the end of the epoch."""
        if self.iter_next():
            return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad(),
                             index=self.getindex())
        raise StopIteration

    def __next__(self):
        return self.next()

    def iter_next(self):
        """Moves to the next batch; whether there is one."""

    def getdata(self):
        """The data of the current batch."""

    def getlabel(self):
        """The labels of the current batch."""

    def getindex(self):
        """The numbers of the examples of the current batch, or None."""
        return None

    def getpad(self):
        """How many rows of the current batch are filler."""

    def _native(self):
        """The C++ iterator that gives the same batches, or None."""
        return None

    def state_dict(self):
        """The position as plain data for load_state_dict of an equal iterator. None if it is unknown:
        then a resumed training reads and skips the batches already seen."""
        return None

    def load_state_dict(self, state):
        """Resumes from a state that state_dict returned."""
        raise NotImplementedError("{} cannot resume from a state".format(type(self).__name__))

    def _order_state(self):
        """The Python part of the state if a C++ iterator is used."""
        return None

    def _load_order_state(self, state):
        """Takes it back."""


def descs(core_descs):
    """DataDescs from C++ descriptions."""
    return [DataDesc(*desc) for desc in core_descs]


def batch(read):
    """A DataBatch from a C++ batch, which may be None."""
    if read is None:
        return None
    data, label, pad, index = read
    return DataBatch(data, label, pad, None if index is None else np.frombuffer(index, np.uint64))


def is_plain(iterator, owner, names):
    """Whether none of `names` is overridden in the class of `iterator` or on itself."""
    cls = type(iterator)
    return ((cls is owner or all(getattr(cls, name) is getattr(owner, name) for name in names)) and
            not any(name in iterator.__dict__ for name in names))


VERBS = ('next', '__next__', '__iter__', 'reset', 'iter_next', 'getdata', 'getlabel', 'getpad',
         'getindex')
