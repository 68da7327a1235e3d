"""How MXNet's RNN operator packs the weights of an LSTM."""
import numpy as np


def lstm_weights(packed, inputs, state, layers, directions):
    """[(input weights, recurrent weights, input bias, recurrent bias)] for each layer and direction, by MXNet's order:
    all weights, then all biases."""
    sizes = [(4 * state, inputs if layer == 0 else directions * state) for layer in range(layers)
             for _ in range(directions)]
    found, at = [], 0

    def take(*shape):
        nonlocal at
        at += int(np.prod(shape))
        return packed[at - int(np.prod(shape)):at].reshape(shape)

    for rows, columns in sizes:
        found.append([take(rows, columns), take(rows, state)])
    for weights in found:
        weights += [take(4 * state), take(4 * state)]
    return found
