"""Images: resizing, cropping, changing colours, and iterators that do so. docs/data.md tells how
files are decoded."""
from . import detection, image
from .detection import *
from .image import *
