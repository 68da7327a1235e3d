"""Images: resizing, cropping, changing colours, and iterators that do so. docs/data.md tells how
files are decoded."""
from . import detection, image
from . import detection as det
from .detection import *
from .image import *
