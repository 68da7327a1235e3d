"""mx.rnn: recurrent cells that unroll into symbols, sentences in buckets, and their checkpoints."""
from . import io, rnn, rnn_cell
from .io import BucketSentenceIter, encode_sentences
from .rnn import do_rnn_checkpoint, load_rnn_checkpoint, rnn_unroll, save_rnn_checkpoint
from .rnn_cell import *  # noqa: F403
