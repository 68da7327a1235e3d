"""What every cell is: parameters by name, states to begin with, one step, and the unrolled steps.

The names of nodes and parameters are MXNet's, since checkpoints and scripts hold them:
`<prefix>i2h_weight`, `<prefix>begin_state_<n>`, `<prefix>t<k>_out`. A cell counts its steps, so
that `reset` comes before it is used in another graph; `unroll` does that itself.
"""
from .. import error, ndarray, symbol


def check(condition, text):
    """AssertionError, as MXNet's cells raise it."""
    if not condition:
        raise error.AssertionError(text)


def steps_of(length, inputs, axis):
    """A sequence as a list with a symbol for each step; `axis` is the time axis of one symbol."""
    check_sequence(length, inputs)
    if not isinstance(inputs, symbol.Symbol):
        return inputs
    check(len(inputs.list_outputs()) == 1, "unroll takes one symbol or a list of symbols, not a "
          "group; list(inputs) makes a list of it")
    return list(symbol.split(inputs, axis=axis, num_outputs=length, squeeze_axis=1))


def merged(length, inputs, axis):
    """A sequence as one symbol with the time axis `axis`."""
    check_sequence(length, inputs)
    if isinstance(inputs, symbol.Symbol):
        return inputs
    return symbol.Concat(*[symbol.expand_dims(step, axis=axis) for step in inputs], dim=axis)


def as_asked(length, sequence, axis, merge):
    """One symbol if `merge` is true, a list if it is false, and as it comes if it is None."""
    if merge is None:
        check_sequence(length, sequence)
        return sequence
    return merged(length, sequence, axis) if merge else steps_of(length, sequence, axis)


def check_sequence(length, inputs):
    """Whether there is a sequence, and a list has `length` members."""
    check(inputs is not None, "unroll needs inputs: a symbol, or a list with one for each step")
    if not isinstance(inputs, symbol.Symbol):
        check(length is None or len(inputs) == length,
              f"unroll over {length} steps was given {len(inputs)} inputs")


class RNNParams:
    """Variables by name, made at first use; cells that share an RNNParams share their weights."""

    def __init__(self, prefix=''):
        self._prefix = prefix
        self._params = {}

    def get(self, name, **kwargs):
        """The variable `<prefix><name>`; keywords go to `Variable` if it is new."""
        name = self._prefix + name
        if name not in self._params:
            self._params[name] = symbol.Variable(name, **kwargs)
        return self._params[name]


class BaseRNNCell:
    """A cell: `cell(inputs, states)` is one step and gives the output and the next states."""

    _can_step = True  # some see the whole sequence, and can only be unrolled

    def __init__(self, prefix='', params=None):
        self._own_params = params is None
        self._prefix = prefix
        self._params = RNNParams(prefix) if params is None else params
        self._modified = False
        self.reset()

    def reset(self):
        """Counts from the first step again: before the cell is used in another graph."""
        self._init_counter = -1
        self._counter = -1
        for cell in getattr(self, '_cells', ()):
            cell.reset()

    def __call__(self, inputs, states):
        """One step: inputs of (batch, units) and a list of states; gives output and new states."""
        raise NotImplementedError()

    @property
    def params(self):
        """The cell's RNNParams; other cells may share them."""
        self._own_params = False
        return self._params

    @property
    def state_info(self):
        """Shape and layout of every state; 0 is the batch size, which inference finds."""
        raise NotImplementedError()

    @property
    def state_shape(self):
        """The shapes of the states."""
        return [info['shape'] for info in self.state_info]

    @property
    def _gate_names(self):
        """The endings of the parts a packed weight consists of."""
        return ()

    def _step_name(self):
        """Counts a step and gives the prefix of its nodes."""
        self._counter += 1
        return f'{self._prefix}t{self._counter}_'

    def _check_not_modified(self):
        check(not self._modified, "a modifier (ZoneoutCell, ResidualCell) has taken this cell "
              "over: call the modifier")

    def begin_state(self, func=symbol.zeros, **kwargs):
        """The states before the first step.

        `func` makes one from name, shape and `kwargs`: symbol.zeros, symbol.random_uniform, or
        symbol.Variable for states that are fed.
        """
        self._check_not_modified()
        states = []
        for info in self.state_info:
            self._init_counter += 1
            name = f'{self._prefix}begin_state_{self._init_counter}'
            states.append(func(name=name, **{**kwargs, **(info or {})}))
        return states

    def _parameter_names(self, ending):
        """(packed name, names of its parts) of both matrices or biases."""
        for group in ('i2h', 'h2h'):
            yield (f'{self._prefix}{group}_{ending}',
                   [f'{self._prefix}{group}{gate}_{ending}' for gate in self._gate_names])

    def unpack_weights(self, args):
        """A copy of the dict `args` with a weight and a bias for each gate, as cells share them."""
        args = args.copy()
        if self._gate_names:
            for ending in ('weight', 'bias'):
                for packed, parts in self._parameter_names(ending):
                    array, rows = args.pop(packed), self._num_hidden
                    for at, name in enumerate(parts):
                        args[name] = array[at * rows:(at + 1) * rows].copy()
        return args

    def pack_weights(self, args):
        """What unpack_weights took apart, together again."""
        args = args.copy()
        if self._gate_names:
            for ending in ('weight', 'bias'):
                for packed, parts in self._parameter_names(ending):
                    args[packed] = ndarray.concatenate([args.pop(name) for name in parts])
        return args

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        """`length` steps as one graph.

        `inputs` is one symbol of the given layout ('NTC' or 'TNC'), or a list with a symbol for
        each step. Returns the outputs, as one symbol if `merge_outputs` is True and as a list if
        it is False (None: whatever comes easiest), and the states after the last step.
        """
        self.reset()
        axis = layout.find('T')
        inputs = steps_of(length, inputs, axis)
        states = self.begin_state() if begin_state is None else begin_state
        outputs = []
        for step in range(length):
            output, states = self(inputs[step], states)
            outputs.append(output)
        return as_asked(length, outputs, axis, merge_outputs), states

    def _get_activation(self, inputs, activation, **kwargs):
        """An activation by name, or what the function given instead makes."""
        if isinstance(activation, str):
            return symbol.Activation(inputs, act_type=activation, **kwargs)
        return activation(inputs, **kwargs)
