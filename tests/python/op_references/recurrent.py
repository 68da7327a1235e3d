"""Recurrent layers step by step, and the loss of sequences without an alignment."""
import itertools

import numpy as np

_GATES = {"rnn_relu": 1, "rnn_tanh": 1, "gru": 3, "lstm": 4}


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _cell(mode, x, h, c, w, r, b, rb):
    """(h', c') of one sample at one step; an LSTM's cell is not yet clipped."""
    into, back = w @ x + b, r @ h + rb
    if mode in ("rnn_relu", "rnn_tanh"):
        both = into + back
        return (np.maximum(both, 0) if mode == "rnn_relu" else np.tanh(both)), c
    into, back = into.reshape(_GATES[mode], -1), back.reshape(_GATES[mode], -1)
    if mode == "gru":
        reset, update = _sigmoid(into[0] + back[0]), _sigmoid(into[1] + back[1])
        return (1 - update) * np.tanh(into[2] + reset * back[2]) + update * h, c
    i, f, o = (_sigmoid(into[g] + back[g]) for g in (0, 1, 3))
    c = f * c + i * np.tanh(into[2] + back[2])
    return o, c


class _Layer:
    """The matrices of one layer in one direction, in the order of the flat parameters."""

    def __init__(self, d, mode, wide, size, projection):
        rows, back = _GATES[mode] * size, projection or size
        self.matrices = [d.uniform((rows, wide), -1, 1), d.uniform((rows, back), -1, 1)]
        if projection:
            self.matrices.append(d.uniform((projection, size), -1, 1))
        self.biases = [d.uniform((rows,), -1, 1), d.uniform((rows,), -1, 1)]

    def run(self, mode, steps, h, c, clip):
        """All steps of one sample: the outputs, and the states after the last."""
        outputs = []
        for x in steps:
            out, c = _cell(mode, x, h, c, *self.matrices[:2], *self.biases)
            if mode == "lstm":
                c = c if clip is None else np.clip(c, *clip)
                out = out * np.tanh(c)
            h = self.matrices[2] @ out if len(self.matrices) > 2 else out
            outputs.append(h)
        return np.array(outputs), h, c


def _rnn(d, may_clip=True):
    mode, both, layers = d.one_of(*_GATES), d.flag(), d.integer(1, 3)
    lengths_given, states_out = d.integer(0, 2) == 0, d.flag()
    lstm, ways = mode == "lstm", 2 if both else 1
    t, n, wide, size = d.integer(1, 4), d.integer(1, 3), d.integer(1, 3), d.integer(1, 4)
    projection = d.one_of(None, d.integer(1, size)) if lstm else None
    clip = d.one_of(None, None, (-0.25, 0.5)) if lstm and may_clip else None
    out = projection or size
    x = d.uniform((t, n, wide))
    state, cell = d.uniform((layers * ways, n, out)), d.uniform((layers * ways, n, size))
    lengths = d.integers((n,), 1, t) if lengths_given else np.full(n, t)
    stack = [_Layer(d, mode, wide if i < ways else out * ways, size, projection)
             for i in range(layers * ways)]

    below, last_state, last_cell = x, np.empty_like(state), np.empty_like(cell)
    for i in range(layers):
        above = np.zeros((t, n, out * ways))
        for way, sample in itertools.product(range(ways), range(n)):
            k, steps = i * ways + way, below[:int(lengths[sample]), sample]
            turn = slice(None, None, -1 if way else 1)
            y, last_state[k, sample], last_cell[k, sample] = stack[k].run(
                mode, steps[turn], state[k, sample], cell[k, sample], clip)
            above[:len(steps), sample, way * out:(way + 1) * out] = y[turn]
        below = above

    flat = np.concatenate([m.ravel() for layer in stack for m in layer.matrices]
                          + [b for layer in stack for b in layer.biases])
    attrs = {"mode": mode, "state_size": size, "num_layers": layers, "bidirectional": both,
             "state_outputs": states_out, "use_sequence_length": lengths_given}
    if projection:
        attrs["projection_size"] = projection
    if clip:
        attrs.update(lstm_state_clip_min=clip[0], lstm_state_clip_max=clip[1])
    inputs = [x, flat, state] + [cell] * lstm + [lengths] * lengths_given
    return inputs, attrs, [below] + ([last_state] + [last_cell] * lstm) * states_out


def _collapse(path, blank):
    """What a path spells: repetitions once, then without blanks."""
    return tuple(c for c, _ in itertools.groupby(path) if c != blank)


def _ctc(d):
    """Minus the logarithm of the sum over every path that spells the label."""
    t, n, classes, most = d.integer(2, 5), d.integer(1, 2), d.integer(2, 4), d.integer(1, 2)
    first, data_lengths_given, label_lengths_given = d.flag(), d.flag(), d.flag()
    x = d.uniform((t, n, classes))
    blank, low = (0, 1) if first else (classes - 1, 0)
    p = np.exp(x) / np.exp(x).sum(axis=2, keepdims=True)
    steps = d.integers((n,), 1, t) if data_lengths_given else np.full(n, float(t))
    label = np.full((n, most), 0.0 if first else -1.0)
    lengths, loss = np.empty(n), np.empty(n)
    for s in range(n):
        length = int(steps[s])
        # A label that some path spells: one is drawn.
        while True:
            target = _collapse(d.rng.integers(0, classes, size=length), blank)
            if 0 < len(target) <= most:
                break
        lengths[s] = len(target)
        label[s, :len(target)] = target
        total = sum(np.prod([p[i, s, k] for i, k in enumerate(path)])
                    for path in itertools.product(range(classes), repeat=length)
                    if _collapse(path, blank) == tuple(target))
        loss[s] = -np.log(total)
    if label_lengths_given:
        # Elements after a label are ignored.
        for s in range(n):
            label[s, int(lengths[s]):] = low
    attrs = {"blank_label": "first" if first else "last", "use_data_lengths": data_lengths_given,
             "use_label_lengths": label_lengths_given}
    inputs = [x, label] + [steps] * data_lengths_given + [lengths] * label_lengths_given
    return inputs, attrs, [loss]


ROWS = {"RNN": _rnn, "CTCLoss": _ctc}
GRADIENTS = {"RNN": [0, 1, 2], "CTCLoss": [0]}
SMOOTH_ROWS = {"RNN": lambda d: _rnn(d, may_clip=False)}  # a clipped cell has no gradient
