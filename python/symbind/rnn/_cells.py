"""The plain cells: RNN, LSTM, and GRU as cuDNN computes it.

    rnn    h' = act(i + h)                                   i = W x + b, h = R h + c
    lstm   c' = f * c + i * g,  h' = o * tanh(c')            i, f, g, o from i + h, in this order
    gru    h' = (1 - z) * tanh(i_o + r * h_o) + z * h        r, z from i + h, in this order
"""
from .. import initializer as init
from .. import symbol
from ._base import BaseRNNCell


class _DenseCell(BaseRNNCell):
    """Two fully connected layers, one from the input and one from the hidden state."""

    _GATES = ('',)
    _NUM_STATES = 1

    def __init__(self, num_hidden, prefix, params, **i2h_bias):
        super().__init__(prefix=prefix, params=params)
        self._num_hidden = num_hidden
        self._iW = self.params.get('i2h_weight')
        self._iB = self.params.get('i2h_bias', **i2h_bias)
        self._hW = self.params.get('h2h_weight')
        self._hB = self.params.get('h2h_bias')

    @property
    def state_info(self):
        return [{'shape': (0, self._num_hidden), '__layout__': 'NC'}
                for _ in range(self._NUM_STATES)]

    @property
    def _gate_names(self):
        return self._GATES

    def _layers(self, inputs, hidden, name):
        """What input and hidden state contribute to the gates; `name` opens the nodes' names."""
        units = self._num_hidden * len(self._GATES)
        return (symbol.FullyConnected(data=inputs, weight=self._iW, bias=self._iB, num_hidden=units,
                                      name=f'{name}i2h'),
                symbol.FullyConnected(data=hidden, weight=self._hW, bias=self._hB, num_hidden=units,
                                      name=f'{name}h2h'))


class RNNCell(_DenseCell):
    """A layer with an activation over input and state; `activation` is a name or a function."""

    def __init__(self, num_hidden, activation='tanh', prefix='rnn_', params=None):
        super().__init__(num_hidden, prefix, params)
        self._activation = activation

    def __call__(self, inputs, states):
        name = self._step_name()
        i2h, h2h = self._layers(inputs, states[0], name)
        output = self._get_activation(i2h + h2h, self._activation, name=f'{name}out')
        return output, [output]


def lstm_step(gates, cell_state, name, transform, axis=None):
    """Next (hidden, cell) of an LSTM; `transform(symbol, **name)` is its tanh."""
    along = {} if axis is None else {'axis': axis}
    gates = symbol.SliceChannel(gates, num_outputs=4, name=f'{name}slice', **along)
    in_gate = symbol.Activation(gates[0], act_type='sigmoid', name=f'{name}i')
    forget_gate = symbol.Activation(gates[1], act_type='sigmoid', name=f'{name}f')
    in_transform = transform(gates[2], name=f'{name}c')
    out_gate = symbol.Activation(gates[3], act_type='sigmoid', name=f'{name}o')
    cell_state = symbol._internal._plus(forget_gate * cell_state, in_gate * in_transform,
                                        name=f'{name}state')
    hidden = symbol._internal._mul(out_gate, transform(cell_state), name=f'{name}out')
    return hidden, cell_state


def gru_step(i2h, h2h, hidden, name, transform):
    """Next hidden state of a GRU; `transform(symbol, **name)` is its tanh."""
    i2h_r, i2h_z, i2h_o = symbol.SliceChannel(i2h, num_outputs=3, name=f'{name}_i2h_slice')
    h2h_r, h2h_z, h2h_o = symbol.SliceChannel(h2h, num_outputs=3, name=f'{name}_h2h_slice')
    reset = symbol.Activation(i2h_r + h2h_r, act_type='sigmoid', name=f'{name}_r_act')
    update = symbol.Activation(i2h_z + h2h_z, act_type='sigmoid', name=f'{name}_z_act')
    proposed = transform(i2h_o + reset * h2h_o, name=f'{name}_h_act')
    return symbol._internal._plus((1. - update) * proposed, update * hidden, name=f'{name}out')


def _tanh(data, **name):
    return symbol.Activation(data, act_type='tanh', **name)


class LSTMCell(_DenseCell):
    """Long short-term memory; `forget_bias` is where the forget gate's bias starts."""

    _GATES = ('_i', '_f', '_c', '_o')
    _NUM_STATES = 2

    def __init__(self, num_hidden, prefix='lstm_', params=None, forget_bias=1.0):
        super().__init__(num_hidden, prefix, params, init=init.LSTMBias(forget_bias=forget_bias))

    def __call__(self, inputs, states):
        name = self._step_name()
        i2h, h2h = self._layers(inputs, states[0], name)
        hidden, cell_state = lstm_step(i2h + h2h, states[1], name, _tanh)
        return hidden, [hidden, cell_state]


class GRUCell(_DenseCell):
    """Gated recurrent unit."""

    _GATES = ('_r', '_z', '_o')

    def __init__(self, num_hidden, prefix='gru_', params=None):
        super().__init__(num_hidden, prefix, params)

    def __call__(self, inputs, states):
        name = self._step_name()
        i2h, h2h = self._layers(inputs, states[0], name + '_')
        hidden = gru_step(i2h, h2h, states[0], name, _tanh)
        return hidden, [hidden]
