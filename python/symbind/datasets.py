"""Data sets that are already on this machine; nothing is downloaded. Not a part of MXNet."""
from collections import namedtuple

from . import _core

ImageSet = namedtuple('ImageSet', 'name folder train_images train_labels test_images test_labels')
ImageSet.__doc__ = "The paths of the four files of MNIST or Fashion-MNIST, as MNISTIter takes them."


def find_images(name=''):
    """The first set found: in the folders of SYMBIND_DATA, in data/, or where Debian's package
    dataset-fashion-mnist installs it. `name`, 'MNIST' or 'Fashion-MNIST', restricts the search.

    Logs which one it found; the error lists the searched folders and how to get a data set.
    """
    return ImageSet(*_core.find_images(name))
