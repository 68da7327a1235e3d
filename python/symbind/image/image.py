"""mx.image without detection: functions, augmenters and ImageIter."""
from . import _augmenters, _functions
from ._augmenters import *
from ._functions import *
from ._functions import _get_interp_method
from ._iter import ImageIter

__all__ = _functions.__all__ + _augmenters.__all__ + ["ImageIter"]
