"""Data sets that are already on this machine; nothing is fetched. Not a part of MXNet."""
from collections import namedtuple

from . import _core

ImageSet = namedtuple('ImageSet', 'name folder train_images train_labels test_images test_labels')
ImageSet.__doc__ = "The paths of the four files of MNIST or Fashion-MNIST, as MNISTIter takes them."


def find_images(name=''):
    """The first set found: in the folders of SYMBIND_DATA, in data/, where Debian's package
    dataset-fashion-mnist puts it. `name`, 'MNIST' or 'Fashion-MNIST', asks for that one.

    The log says which one it is; the error says where it looked and how to get one.
    """
    return ImageSet(*_core.find_images(name))
