"""The iterators in one place, where MXNet has them: pickles name symbind.io.io."""
from ._array_iter import NDArrayIter
from ._base import DataBatch, DataDesc, DataIter
from ._native import (CSVIter, ImageDetRecordIter, ImageRecordInt8Iter, ImageRecordIter,
                     ImageRecordIter_v1, ImageRecordUInt8Iter, ImageRecordUInt8Iter_v1, LibSVMIter,
                     MNISTIter, MXDataIter)
from ._wrappers import PrefetchingIter, ResizeIter

for _class in (DataBatch, DataDesc, DataIter, MXDataIter, NDArrayIter, PrefetchingIter, ResizeIter):
    _class.__module__ = __name__
del _class
