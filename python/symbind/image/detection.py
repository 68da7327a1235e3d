"""mx.image for images with labelled boxes: augmenters and ImageDetIter."""
from . import _det_augmenters
from ._det_augmenters import *
from ._det_iter import ImageDetIter

__all__ = _det_augmenters.__all__ + ["ImageDetIter"]
