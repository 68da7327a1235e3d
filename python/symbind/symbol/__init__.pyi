# Written by tools/stubgen; do not edit.
from . import _internal as _internal
from . import contrib as contrib
from . import image as image
from . import linalg as linalg
from . import op as op
from . import random as random
from . import sparse as sparse
from .op import *
from .symbol import *
from .functions import *
from .symbol import Symbol as Symbol
