"""Recurrent networks: a language model on the fused RNN operator, one unrolled for buckets, and Sockeye's RNN."""
import mxnet as mx

from . import definition, integers
from .sizes import BUCKETS

sym = mx.sym
WORDS = 10000


def word_loss(x, hidden, labels):
    """Scores of all words for rows (..., hidden), and the loss."""
    x = sym.FullyConnected(sym.Reshape(x, shape=(-1, hidden)), num_hidden=WORDS, name="scores")
    return sym.SoftmaxOutput(x, sym.Reshape(labels, shape=(-1,)), name="softmax")


def lstm_language_model(batch, length=35, hidden=200):
    x = sym.Embedding(sym.Variable("data"), input_dim=WORDS, output_dim=hidden, name="embed")
    x = sym.SwapAxis(x, dim1=0, dim2=1)
    zeros = sym.zeros((2, batch, hidden))
    x = sym.RNN(x, state=zeros, state_cell=zeros, state_size=hidden, num_layers=2, mode="lstm", name="lstm")
    labels = sym.SwapAxis(sym.Variable("softmax_label"), dim1=0, dim2=1)
    return definition(word_loss(x, hidden, labels), {"data": integers(WORDS, batch, length)},
                      {"softmax_label": integers(WORDS, batch, length)}, rate=0.05)


def lstm_bucket(batch, length, hidden=200):
    """As MXNet's example lstm_bucketing.py: cells unrolled over the bucket's length."""
    x = sym.Embedding(sym.Variable("data"), input_dim=WORDS, output_dim=hidden, name="embed")
    cells = mx.rnn.SequentialRNNCell()
    for i in range(2):
        cells.add(mx.rnn.LSTMCell(num_hidden=hidden, prefix="lstm_l%d_" % i))
    outputs, _ = cells.unroll(length, inputs=x, begin_state=zero_states(cells, batch), merge_outputs=True)
    return definition(word_loss(outputs, hidden, sym.Variable("softmax_label")),
                      {"data": integers(WORDS, batch, length)}, {"softmax_label": integers(WORDS, batch, length)},
                      rate=0.05)


def zero_states(cells, batch):
    return [sym.zeros((batch,) + tuple(info["shape"][1:])) for info in cells.state_info]


def sockeye_rnn(batch, length=20, hidden=256):
    """Encoder: a bidirectional LSTM. Decoder: an LSTM with attention by a dot product, over the right target words."""
    source = sym.Embedding(sym.Variable("source"), input_dim=WORDS, output_dim=hidden, name="source_embed")
    zeros = sym.zeros((2, batch, hidden // 2))
    encoded = sym.RNN(sym.SwapAxis(source, dim1=0, dim2=1), state=zeros, state_cell=zeros, state_size=hidden // 2,
                      num_layers=1, bidirectional=True, mode="lstm", name="encoder")
    memory = sym.SwapAxis(encoded, dim1=0, dim2=1)                                       # (N, T, H)
    keys = sym.FullyConnected(memory, num_hidden=hidden, flatten=False, no_bias=True, name="attention_keys")
    words = sym.Embedding(sym.Variable("target"), input_dim=WORDS, output_dim=hidden, name="target_embed")
    words = sym.SliceChannel(words, num_outputs=length, axis=1, squeeze_axis=True)
    cell = mx.rnn.LSTMCell(num_hidden=hidden, prefix="decoder_")
    weight, bias = sym.Variable("hidden_weight"), sym.Variable("hidden_bias")
    states, context, outputs = zero_states(cell, batch), sym.zeros((batch, hidden)), []
    for t in range(length):
        query, states = cell(sym.Concat(words[t], context, dim=1), states)
        weights = sym.softmax(sym.batch_dot(keys, sym.expand_dims(query, axis=2)), axis=1)    # (N, T, 1)
        context = sym.Reshape(sym.batch_dot(weights, memory, transpose_a=True), shape=(-1, hidden))
        x = sym.FullyConnected(sym.Concat(query, context, dim=1), num_hidden=hidden, name="hidden%d" % t,
                               weight=weight, bias=bias)
        outputs.append(sym.expand_dims(sym.Activation(x, act_type="tanh"), axis=1))
    x = sym.Concat(*outputs, dim=1)
    words = {"source": integers(WORDS, batch, length), "target": integers(WORDS, batch, length)}
    return definition(word_loss(x, hidden, sym.Variable("softmax_label")), words,
                      {"softmax_label": integers(WORDS, batch, length)}, rate=0.05)


MODELS = {"lstm_language_model": lstm_language_model, "sockeye_rnn": sockeye_rnn}
for _length in BUCKETS:
    MODELS["lstm_bucket_%d" % _length] = lambda batch, length=_length: lstm_bucket(batch, length)
