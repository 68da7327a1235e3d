# Names for annotations; there is no such module at run time.
from collections.abc import Sequence
from typing import Any

import numpy as np

Shape = int | Sequence[int]
Floats = float | Sequence[float]
DType = str | type[Any] | np.dtype[Any]
