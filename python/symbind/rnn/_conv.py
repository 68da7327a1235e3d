"""Cells whose layers are convolutions, over sequences of images.

The state has the size of the input's convolution; the state's own convolution is padded to keep it,
which is why its kernel is odd.
"""
import functools

from .. import symbol
from ._base import BaseRNNCell, check
from ._cells import gru_step, lstm_step


class BaseConvRNNCell(BaseRNNCell):
    """Two convolutions, one of the input and one of the hidden state."""

    _GATES = ()
    _NUM_STATES = 2

    def __init__(self, input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride,
                 i2h_pad, i2h_dilate, i2h_weight_initializer, h2h_weight_initializer,
                 i2h_bias_initializer, h2h_bias_initializer, activation, prefix='', params=None,
                 conv_layout='NCHW'):
        super().__init__(prefix=prefix, params=params)
        check(all(size % 2 for size in h2h_kernel), f"h2h_kernel must be odd, not {h2h_kernel}")
        self._num_hidden = num_hidden
        self._input_shape = input_shape
        self._activation = activation
        self._conv_layout = conv_layout
        self._i2h_kernel, self._i2h_stride = i2h_kernel, i2h_stride
        self._i2h_pad, self._i2h_dilate = i2h_pad, i2h_dilate
        self._h2h_kernel, self._h2h_dilate = h2h_kernel, h2h_dilate
        self._h2h_pad = tuple(dilate * (size - 1) // 2
                              for size, dilate in zip(h2h_kernel, h2h_dilate))
        convolved = symbol.Convolution(data=symbol.Variable('data'), num_filter=num_hidden,
                                       layout=conv_layout, **self._i2h_window())
        self._state_shape = (0,) + convolved.infer_shape(data=input_shape)[1][0][1:]
        self._iW = self.params.get('i2h_weight', init=i2h_weight_initializer)
        self._hW = self.params.get('h2h_weight', init=h2h_weight_initializer)
        self._iB = self.params.get('i2h_bias', init=i2h_bias_initializer)
        self._hB = self.params.get('h2h_bias', init=h2h_bias_initializer)

    def _i2h_window(self):
        return {'kernel': self._i2h_kernel, 'stride': self._i2h_stride, 'pad': self._i2h_pad,
                'dilate': self._i2h_dilate}

    @property
    def _gate_names(self):
        return self._GATES

    @property
    def _num_gates(self):
        return len(self._gate_names)

    @property
    def state_info(self):
        return [{'shape': self._state_shape, '__layout__': self._conv_layout}
                for _ in range(self._NUM_STATES)]

    def _conv_forward(self, inputs, states, name):
        filters = self._num_hidden * self._num_gates
        i2h = symbol.Convolution(name=f'{name}i2h', data=inputs, weight=self._iW, bias=self._iB,
                                 num_filter=filters, layout=self._conv_layout, **self._i2h_window())
        h2h = symbol.Convolution(name=f'{name}h2h', data=states[0], weight=self._hW, bias=self._hB,
                                 num_filter=filters, layout=self._conv_layout,
                                 kernel=self._h2h_kernel, dilate=self._h2h_dilate,
                                 pad=self._h2h_pad, stride=(1, 1))
        return i2h, h2h

    def _activate(self, data, **name):
        return self._get_activation(data, self._activation, **name)

    def __call__(self, inputs, states):
        raise NotImplementedError("BaseConvRNNCell is abstract class for convolutional RNN")


def _constructor(default_prefix):
    """The constructor of the three below, which differ in the prefix."""
    def __init__(self, input_shape, num_hidden, h2h_kernel=(3, 3), h2h_dilate=(1, 1),
                 i2h_kernel=(3, 3), i2h_stride=(1, 1), i2h_pad=(1, 1), i2h_dilate=(1, 1),
                 i2h_weight_initializer=None, h2h_weight_initializer=None,
                 i2h_bias_initializer='zeros', h2h_bias_initializer='zeros',
                 activation=functools.partial(symbol.LeakyReLU, act_type='leaky', slope=0.2),
                 prefix=default_prefix, params=None, conv_layout='NCHW'):
        BaseConvRNNCell.__init__(
            self, input_shape, num_hidden, h2h_kernel, h2h_dilate, i2h_kernel, i2h_stride, i2h_pad,
            i2h_dilate, i2h_weight_initializer, h2h_weight_initializer, i2h_bias_initializer,
            h2h_bias_initializer, activation, prefix, params, conv_layout)
    return __init__


class ConvRNNCell(BaseConvRNNCell):
    """RNNCell with convolutions; `input_shape` is a step's, with a batch size of any kind."""

    _GATES = ('',)
    _NUM_STATES = 1
    __init__ = _constructor('ConvRNN_')

    def __call__(self, inputs, states):
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        output = self._activate(i2h + h2h, name=f'{name}out')
        return output, [output]


class ConvLSTMCell(BaseConvRNNCell):
    """LSTMCell with convolutions (Shi et al., 2015)."""

    _GATES = ('_i', '_f', '_c', '_o')
    __init__ = _constructor('ConvLSTM_')

    def __call__(self, inputs, states):
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        hidden, cell_state = lstm_step(i2h + h2h, states[1], name, self._activate,
                                       axis=self._conv_layout.find('C'))
        return hidden, [hidden, cell_state]


class ConvGRUCell(BaseConvRNNCell):
    """GRUCell with convolutions."""

    _GATES = ('_r', '_z', '_o')
    _NUM_STATES = 1
    __init__ = _constructor('ConvGRU_')

    def __call__(self, inputs, states):
        name = self._step_name()
        i2h, h2h = self._conv_forward(inputs, states, name)
        hidden = gru_step(i2h, h2h, states[0], name, self._activate)
        return hidden, [hidden]
