"""Every cell under MXNet's module name; each kind has a separate file."""
from ._base import BaseRNNCell, RNNParams
from ._cells import GRUCell, LSTMCell, RNNCell
from ._conv import BaseConvRNNCell, ConvGRUCell, ConvLSTMCell, ConvRNNCell
from ._fused import FusedRNNCell
from ._modifiers import DropoutCell, ModifierCell, ResidualCell, ZoneoutCell
from ._stacks import BidirectionalCell, SequentialRNNCell

__all__ = ["RNNParams", "BaseRNNCell", "RNNCell", "LSTMCell", "GRUCell", "FusedRNNCell",
           "SequentialRNNCell", "BidirectionalCell", "DropoutCell", "ModifierCell", "ZoneoutCell",
           "ResidualCell", "BaseConvRNNCell", "ConvRNNCell", "ConvLSTMCell", "ConvGRUCell"]
