"""The iterators that are completely C++, under MXNet's names: MNISTIter, CSVIter, LibSVMIter."""
import logging

from .. import _core
from .._absent import not_in_symbind
from ..error import TypeError as TypeError_
from . import _base
from ._base import DataIter
from .utils import _as_csr


class MXDataIter(DataIter):
    """An iterator of C++. Its first batch is read when it is made."""

    def __init__(self, handle, data_name='data', label_name='softmax_label', **_):
        super().__init__(handle.batch_size)
        self.handle = handle
        self._batch = None
        self._skip_load = False
        self._sparse = (False, False)
        self.provide_data = _base.descs(handle.provide_data())
        self.provide_label = _base.descs(handle.provide_label())

    def debug_skip_load(self):
        """Returns the first batch again and again, to measure the speed without reading."""
        self._skip_load = True
        logging.info('Set debug_skip_load to be true, will simply return first batch')

    def reset(self):
        """Begins the next epoch."""
        self.handle.reset()

    def next(self):
        """The next batch; StopIteration at the end of the epoch."""
        if not self.iter_next():
            raise StopIteration
        return self._batch

    def iter_next(self):
        """Moves to the next batch; whether there is one."""
        if self._skip_load and self._batch is not None:
            return True
        batch = _base.batch(self.handle.next())
        if batch is None:
            return False
        if self._sparse[0]:
            batch.data = [_as_csr(array) for array in batch.data]
        if self._sparse[1]:
            batch.label = [_as_csr(array) for array in batch.label]
        self._batch = batch
        return True

    def _current(self):
        assert self._batch is not None, "call next() or iter_next() first"
        return self._batch

    def getdata(self):
        """The data of the current batch: an array, not a list."""
        return self._current().data[0]

    def getlabel(self):
        """The labels of the current batch: an array, not a list."""
        return self._current().label[0]

    def getindex(self):
        """The numbers of the rows of the current batch, or None."""
        return self._current().index

    def getpad(self):
        """How many rows of the current batch are filler."""
        return self._current().pad

    def state_dict(self):
        """The position."""
        state = self.handle.state()
        return None if state is None else {"core": state}

    def load_state_dict(self, state):
        """Resumes from a state that state_dict returned; reads a file again up to that position."""
        self.handle.set_state(state["core"])

    def _native(self):
        if any(self._sparse) or self._skip_load or not _base.is_plain(self, MXDataIter, _base.VERBS):
            return None
        return self.handle


def _only_keywords(name, args):
    if args:
        raise TypeError_('%s can only accept keyword arguments' % name)


def MNISTIter(*args, **kwargs):
    """MNIST and data sets in its format, from idx files, plain or gzipped.

    Keywords: image, label, batch_size=128, shuffle=True, flat=False, seed=0, silent=False,
    num_parts=1, part_index=0, data_name, label_name.
    """
    _only_keywords('MNISTIter', args)
    return MXDataIter(_core.create_iter('MNISTIter', kwargs), **kwargs)


def CSVIter(*args, **kwargs):
    """Rows of numbers in text, prefetched by a thread.

    Keywords: data_csv, data_shape, batch_size, label_csv='NULL', label_shape=(1,), round_batch=True,
    dtype='float32' (or int32, int64), prefetch_buffer=4, data_name, label_name.
    """
    _only_keywords('CSVIter', args)
    return MXDataIter(_core.create_iter('CSVIter', kwargs), **kwargs)


def LibSVMIter(*args, **kwargs):
    """Lines of `label index:value …` with indices from zero, read ahead by a thread. Batches go by
    the name csr.

    Keywords: data_libsvm, data_shape, batch_size, label_libsvm='NULL', label_shape=(1,),
    num_parts=1, part_index=0, prefetch_buffer=4, data_name, label_name.
    """
    _only_keywords('LibSVMIter', args)
    result = MXDataIter(_core.create_iter('LibSVMIter', kwargs), **kwargs)
    result._sparse = (True, len(result.provide_label[0].shape) > 1)
    return result


def _absent(name):
    def creator(*args, **kwargs):
        raise not_in_symbind('mxnet.io.' + name, "mx.image.ImageIter(path_imgrec=..., "
                             "path_imgidx=...) reads the same records, with OpenCV or Pillow as "
                             "its codec; or decode them before, e.g. into an NDArrayIter")

    creator.__name__ = creator.__qualname__ = name
    creator.__doc__ = "Image records: not in Symbind yet."
    return creator


ImageRecordIter = _absent('ImageRecordIter')
ImageRecordIter_v1 = _absent('ImageRecordIter_v1')
ImageRecordUInt8Iter = _absent('ImageRecordUInt8Iter')
ImageRecordUInt8Iter_v1 = _absent('ImageRecordUInt8Iter_v1')
ImageRecordInt8Iter = _absent('ImageRecordInt8Iter')
ImageDetRecordIter = _absent('ImageDetRecordIter')
