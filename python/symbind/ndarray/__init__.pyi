# Written by tools/stubgen; do not edit.
from . import _internal as _internal
from . import contrib as contrib
from . import image as image
from . import linalg as linalg
from . import op as op
from . import random as random
from . import sparse as sparse
from .op import *
from .creation import *
from .functions import *
from .ndarray import *
from .ndarray import NDArray as NDArray
from .sparse import BaseSparseNDArray as BaseSparseNDArray
from .sparse import CSRNDArray as CSRNDArray
from .sparse import RowSparseNDArray as RowSparseNDArray
