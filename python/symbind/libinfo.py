"""Where the library is: for programs that link with it or report its version."""
import os

from . import _core

__version__ = _core.version()


def find_lib_path(prefix='lib'):
    """A list with the path of the compiled library."""
    return [os.path.abspath(_core.__file__)]


def find_include_path():
    """The folder of the C++ headers, beside the package when installed with it."""
    here = os.path.dirname(os.path.realpath(__file__))
    for folder in (os.path.join(here, 'include'), os.path.join(here, '..', '..', 'include')):
        if os.path.isdir(os.path.join(folder, 'symbind')):
            return os.path.abspath(folder)
    raise RuntimeError("Cannot find the header files of Symbind under " + here)
