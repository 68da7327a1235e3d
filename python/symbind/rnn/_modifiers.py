"""Cells that change another: dropout between layers, zoneout, a residual connection.

A modifier takes its base cell over: the base can then be called through the modifier only.
"""
from .. import symbol
from ..base import numeric_types
from ._base import BaseRNNCell, as_asked, check


class DropoutCell(BaseRNNCell):
    """Dropout on what passes through; it has no state."""

    def __init__(self, dropout, prefix='dropout_', params=None):
        super().__init__(prefix, params)
        check(isinstance(dropout, numeric_types), "dropout probability must be a number")
        self.dropout = dropout

    @property
    def state_info(self):
        return []

    def __call__(self, inputs, states):
        if self.dropout > 0:
            inputs = symbol.Dropout(data=inputs, p=self.dropout)
        return inputs, states

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        inputs = as_asked(length, inputs, layout.find('T'), merge_outputs)
        if isinstance(inputs, symbol.Symbol):
            return self(inputs, [])
        return super().unroll(length, inputs, begin_state=begin_state, layout=layout,
                              merge_outputs=merge_outputs)


class ModifierCell(BaseRNNCell):
    """The base of modifiers: parameters, states and weights are those of `base_cell`."""

    def __init__(self, base_cell):
        super().__init__()
        base_cell._modified = True
        self.base_cell = base_cell

    @property
    def params(self):
        self._own_params = False
        return self.base_cell.params

    @property
    def state_info(self):
        return self.base_cell.state_info

    def begin_state(self, init_sym=symbol.zeros, **kwargs):
        self._check_not_modified()
        kwargs.setdefault('func', init_sym)
        return self._through_base(self.base_cell.begin_state, **kwargs)

    def _through_base(self, method, *args, **kwargs):
        """Calls a method of the base cell, which is closed to everybody else."""
        self.base_cell._modified = False
        try:
            return method(*args, **kwargs)
        finally:
            self.base_cell._modified = True

    def unpack_weights(self, args):
        return self.base_cell.unpack_weights(args)

    def pack_weights(self, args):
        return self.base_cell.pack_weights(args)

    def __call__(self, inputs, states):
        raise NotImplementedError


class ZoneoutCell(ModifierCell):
    """In training, outputs and states keep their previous values with the given probabilities."""

    def __init__(self, base_cell, zoneout_outputs=0., zoneout_states=0.):
        check(base_cell._can_step, f"{type(base_cell).__name__} cannot be stepped, which zoneout "
              "needs: unfuse() a fused cell, put ZoneoutCell around those of a bidirectional one")
        super().__init__(base_cell)
        self.zoneout_outputs = zoneout_outputs
        self.zoneout_states = zoneout_states
        self.prev_output = None

    def reset(self):
        super().reset()
        self.prev_output = None

    def __call__(self, inputs, states):
        output, next_states = self.base_cell(inputs, states)
        previous = symbol.zeros((0, 0)) if self.prev_output is None else self.prev_output
        output = self._zone(output, previous, self.zoneout_outputs)
        next_states = [self._zone(new, old, self.zoneout_states)
                       for new, old in zip(next_states, states)]
        self.prev_output = output
        return output, next_states

    @staticmethod
    def _zone(new, old, probability):
        if probability == 0:
            return new
        mask = symbol.Dropout(symbol.ones_like(new), p=probability)
        return symbol.where(mask, new, old)


class ResidualCell(ModifierCell):
    """Adds the input to the output of the base cell."""

    def __init__(self, base_cell):
        super().__init__(base_cell)

    @staticmethod
    def _sum(output, inputs):
        return symbol.elemwise_add(output, inputs, name=f'{output.name}_plus_residual')

    def __call__(self, inputs, states):
        output, states = self.base_cell(inputs, states)
        return self._sum(output, inputs), states

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        outputs, states = self._through_base(
            self.base_cell.unroll, length, inputs=inputs, begin_state=begin_state, layout=layout,
            merge_outputs=merge_outputs)
        if merge_outputs is None:
            merge_outputs = isinstance(outputs, symbol.Symbol)
        inputs = as_asked(length, inputs, layout.find('T'), merge_outputs)
        if merge_outputs:
            return self._sum(outputs, inputs), states
        return [self._sum(output, step) for output, step in zip(outputs, inputs)], states
