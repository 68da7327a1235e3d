"""The iterators in one place, where MXNet has them: pickles name symbind.io.io."""
from .array_iter import NDArrayIter
from .base import DataBatch, DataDesc, DataIter
from .native import (CSVIter, ImageDetRecordIter, ImageRecordInt8Iter, ImageRecordIter,
                     ImageRecordIter_v1, ImageRecordUInt8Iter, ImageRecordUInt8Iter_v1, LibSVMIter,
                     MNISTIter, MXDataIter)
from .wrappers import PrefetchingIter, ResizeIter

for _class in (DataBatch, DataDesc, DataIter, MXDataIter, NDArrayIter, PrefetchingIter, ResizeIter):
    _class.__module__ = __name__
del _class
