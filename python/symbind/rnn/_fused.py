"""FusedRNNCell: all layers and steps as one RNN node, with all weights in one vector.

The vector is cuDNN's: first every matrix, layer by layer, direction by direction, the input's gates
before the hidden state's; then every bias in the same order. `unfuse` gives cells of one step each
that compute the same from unpacked weights.
"""
import warnings

from .. import initializer as init
from .. import ndarray, symbol
from ._base import BaseRNNCell, as_asked, check, merged
from ._cells import GRUCell, LSTMCell, RNNCell
from ._modifiers import DropoutCell
from ._stacks import BidirectionalCell, SequentialRNNCell

_GATES = {'rnn_relu': ('',), 'rnn_tanh': ('',), 'lstm': LSTMCell._GATES, 'gru': GRUCell._GATES}


class FusedRNNCell(BaseRNNCell):
    """Layers of `mode` rnn_relu, rnn_tanh, lstm or gru; get_next_state asks for the last states."""

    _can_step = False

    def __init__(self, num_hidden, num_layers=1, mode='lstm', bidirectional=False, dropout=0.,
                 get_next_state=False, forget_bias=1.0, prefix=None, params=None):
        check(mode in _GATES, f"mode {mode!r} is none of {', '.join(_GATES)}")
        super().__init__(prefix=f'{mode}_' if prefix is None else prefix, params=params)
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._dropout = dropout
        self._get_next_state = get_next_state
        self._directions = ['l', 'r'] if bidirectional else ['l']
        self._parameter = self.params.get('parameters', init=init.FusedRNN(
            None, num_hidden, num_layers, mode, bidirectional, forget_bias))

    @property
    def state_info(self):
        layers = len(self._directions) * self._num_layers
        return [{'shape': (layers, 0, self._num_hidden), '__layout__': 'LNC'}
                for _ in range(2 if self._mode == 'lstm' else 1)]

    @property
    def _gate_names(self):
        return _GATES[self._mode]

    @property
    def _num_gates(self):
        return len(self._gate_names)

    def _parts(self, num_input):
        """(name, shape) of every part of the vector, in its order."""
        hidden, directions = self._num_hidden, self._directions
        layers = [(layer, f'{self._prefix}{direction}{layer}_')
                  for layer in range(self._num_layers) for direction in directions]
        for layer, prefix in layers:
            for group, columns in (('i2h', len(directions) * hidden if layer else num_input),
                                   ('h2h', hidden)):
                for gate in self._gate_names:
                    yield f'{prefix}{group}{gate}_weight', (hidden, columns)
        for _, prefix in layers:
            for group in ('i2h', 'h2h'):
                for gate in self._gate_names:
                    yield f'{prefix}{group}{gate}_bias', (hidden,)

    def _slice_weights(self, arr, li, lh):
        """Views of the vector `arr` by name; `li` inputs, `lh` hidden units."""
        args, at = {}, 0
        check(lh == self._num_hidden, f"the cell has {self._num_hidden} hidden units, not {lh}")
        for name, shape in self._parts(li):
            size = shape[0] * (shape[1] if len(shape) > 1 else 1)
            if at + size <= arr.size:
                args[name] = arr[at:at + size].reshape(shape)
            at += size
        check(at == arr.size, f"Invalid parameters size for FusedRNNCell: {arr.size}, not {at}")
        return args

    def unpack_weights(self, args):
        args = args.copy()
        vector = args.pop(self._parameter.name)
        hidden, directions = self._num_hidden, len(self._directions)
        rows = vector.size // directions // hidden // self._num_gates
        above = (self._num_layers - 1) * (hidden + directions * hidden + 2)
        parts = self._slice_weights(vector, rows - above - hidden - 2, hidden)
        args.update((name, part.copy()) for name, part in parts.items())
        return args

    def pack_weights(self, args):
        args = args.copy()
        first = args[f'{self._prefix}l0_i2h{self._gate_names[0]}_weight']
        names = [name for name, _ in self._parts(first.shape[1])]
        parts = [args.pop(name).reshape((-1,)) for name in names]
        args[self._parameter.name] = ndarray.concatenate(parts)
        return args

    def __call__(self, inputs, states):
        raise NotImplementedError("FusedRNNCell cannot be stepped. Please use unroll")

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        axis = layout.find('T')
        check(axis in (0, 1), f"Unsupported layout {layout}")
        inputs = merged(length, inputs, axis)
        if axis == 1:
            warnings.warn("NTC layout detected. Consider using "
                          "TNC for FusedRNNCell for faster speed")
            inputs = symbol.swapaxes(inputs, dim1=0, dim2=1)
        if begin_state is None:
            begin_state = self.begin_state()
        outputs, states = self._rnn(inputs, begin_state)
        if axis == 1:
            outputs = symbol.swapaxes(outputs, dim1=0, dim2=1)
        return as_asked(length, outputs, axis, merge_outputs), states

    def _rnn(self, inputs, begin_state):
        """The node over inputs of (time, batch, units): its output and its last states."""
        states = dict(zip(('state', 'state_cell'), begin_state[:len(self.state_info)]))
        layout = {'attr': {'__layout__': 'LNC'}} if self._get_next_state else {}
        rnn = symbol.RNN(data=inputs, parameters=self._parameter, state_size=self._num_hidden,
                         num_layers=self._num_layers, bidirectional=self._bidirectional,
                         p=self._dropout, state_outputs=self._get_next_state, mode=self._mode,
                         name=f'{self._prefix}rnn', **states, **layout)
        return (rnn[0], list(rnn)[1:]) if self._get_next_state else (rnn, [])

    def _unfused(self, prefix):
        if self._mode == 'lstm':
            return LSTMCell(self._num_hidden, prefix=prefix)
        if self._mode == 'gru':
            return GRUCell(self._num_hidden, prefix=prefix)
        return RNNCell(self._num_hidden, activation=self._mode[len('rnn_'):], prefix=prefix)

    def unfuse(self):
        """A SequentialRNNCell of plain cells that computes the same and can be stepped."""
        stack = SequentialRNNCell()
        for layer in range(self._num_layers):
            cells = [self._unfused(f'{self._prefix}{direction}{layer}_')
                     for direction in self._directions]
            stack.add(BidirectionalCell(*cells, output_prefix=f'{self._prefix}bi_l{layer}_')
                      if self._bidirectional else cells[0])
            if self._dropout > 0 and layer != self._num_layers - 1:
                stack.add(DropoutCell(self._dropout, prefix=f'{self._prefix}_dropout{layer}_'))
        return stack
