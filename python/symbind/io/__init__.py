"""Data iterators and their batches."""
from . import io
from .io import (CSVIter, DataBatch, DataDesc, DataIter, ImageDetRecordIter, ImageRecordInt8Iter,
                 ImageRecordIter, ImageRecordIter_v1, ImageRecordUInt8Iter, ImageRecordUInt8Iter_v1,
                 LibSVMIter, MNISTIter, MXDataIter, NDArrayIter, PrefetchingIter, ResizeIter)
from . import utils
from .utils import _getdata_by_idx, _has_instance, _init_data
