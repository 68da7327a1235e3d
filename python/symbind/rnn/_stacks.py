"""Cells made of cells: one above the other, or one for each direction of time."""
from .. import symbol
from ._base import BaseRNNCell, as_asked, check, steps_of


class _CompositeCell(BaseRNNCell):
    """Its parameters, states and weights are those of its cells, in order."""

    def _share_params(self, cells):
        """With params given by the user, cells take those; then it knows all of theirs."""
        if self._override_cell_params:
            check(all(cell._own_params for cell in cells),
                  f"params were given to {type(self).__name__} and to a cell in it; "
                  "give them to one")
            for cell in cells:
                cell.params._params.update(self.params._params)
        for cell in cells:
            self.params._params.update(cell.params._params)

    @property
    def state_info(self):
        return [info for cell in self._cells for info in cell.state_info]

    def begin_state(self, **kwargs):
        self._check_not_modified()
        return [state for cell in self._cells for state in cell.begin_state(**kwargs)]

    def unpack_weights(self, args):
        for cell in self._cells:
            args = cell.unpack_weights(args)
        return args

    def pack_weights(self, args):
        for cell in self._cells:
            args = cell.pack_weights(args)
        return args

    def _with_states(self, states):
        """Each cell with its part of a list of states."""
        at = 0
        for cell in self._cells:
            count = len(cell.state_info)
            yield cell, states[at:at + count]
            at += count


class SequentialRNNCell(_CompositeCell):
    """Cells one above the other: each takes the output of the one before."""

    def __init__(self, params=None):
        super().__init__(prefix='', params=params)
        self._override_cell_params = params is not None
        self._cells = []

    @property
    def _can_step(self):
        return all(cell._can_step for cell in self._cells)

    def add(self, cell):
        """Puts a cell on top."""
        self._cells.append(cell)
        self._share_params([cell])

    def __call__(self, inputs, states):
        self._counter += 1
        next_states = []
        for cell, own in self._with_states(states):
            check(cell._can_step, f"{type(cell).__name__} cannot be stepped; use unroll")
            inputs, own = cell(inputs, own)
            next_states += own
        return inputs, next_states

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        if begin_state is None:
            begin_state = self.begin_state()
        next_states = []
        for cell, own in self._with_states(begin_state):
            merge = merge_outputs if cell is self._cells[-1] else None
            inputs, own = cell.unroll(length, inputs=inputs, begin_state=own, layout=layout,
                                      merge_outputs=merge)
            next_states += own
        return inputs, next_states


class BidirectionalCell(_CompositeCell):
    """One cell over the sequence and one over it backwards; outputs are concatenated."""

    _can_step = False

    def __init__(self, l_cell, r_cell, params=None, output_prefix='bi_'):
        super().__init__('', params=params)
        self._output_prefix = output_prefix
        self._override_cell_params = params is not None
        self._share_params([l_cell, r_cell])
        self._cells = [l_cell, r_cell]

    def __call__(self, inputs, states):
        raise NotImplementedError("Bidirectional cannot be stepped. Please use unroll")

    def unroll(self, length, inputs, begin_state=None, layout='NTC', merge_outputs=None):
        self.reset()
        axis = layout.find('T')
        inputs = steps_of(length, inputs, axis)
        if begin_state is None:
            begin_state = self.begin_state()
        outputs, states = [], []
        sequences = inputs, list(reversed(inputs))
        for sequence, (cell, own) in zip(sequences, self._with_states(begin_state)):
            output, own = cell.unroll(length, inputs=sequence, begin_state=own, layout=layout,
                                      merge_outputs=merge_outputs)
            outputs.append(output)
            states.append(own)
        if merge_outputs is None:
            merge_outputs = all(isinstance(output, symbol.Symbol) for output in outputs)
            outputs = [as_asked(length, output, axis, merge_outputs) for output in outputs]
        return self._joined(outputs, axis, merge_outputs), states

    def _joined(self, outputs, axis, merge):
        forward, backward = outputs
        if merge:
            backward = symbol.reverse(backward, axis=axis)
            return symbol.Concat(forward, backward, dim=2, name=f'{self._output_prefix}out')
        return [symbol.Concat(left, right, dim=1, name=f'{self._output_prefix}t{step}')
                for step, (left, right) in enumerate(zip(forward, reversed(backward)))]
