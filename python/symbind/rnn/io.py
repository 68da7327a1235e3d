"""Sentences as numbers, in batches of one length each.

A bucket holds the sentences up to its length, padded with the invalid label; the label of a step is
the next token. Batches come in an order drawn by `random`, sentences of a bucket in one drawn by
`numpy.random`: scripts seed both.
"""
import bisect
import random

import numpy as np

from .. import error, ndarray
from ..io import DataBatch, DataDesc, DataIter

__all__ = ["BucketSentenceIter", "encode_sentences"]


def encode_sentences(sentences, vocab=None, invalid_label=-1, invalid_key='\n', start_label=0,
                     unknown_token=None):
    """Lists of words as lists of integers, and the vocabulary (word → integer).

    Without `vocab` one is made, from `start_label` on and without `invalid_label`, which stands for
    `invalid_key`. With one, a word that is not in it is an error, or counts as `unknown_token`.
    """
    may_grow = vocab is None
    if may_grow:
        vocab = {invalid_key: invalid_label}
    index = start_label
    encoded = []
    for sentence in sentences:
        codes = []
        for word in sentence:
            if word not in vocab:
                if not (may_grow or unknown_token):
                    raise error.AssertionError(f"Unknown token {word}")
                word = unknown_token or word
            if word not in vocab:
                index += index == invalid_label
                vocab[word] = index
                index += 1
            codes.append(vocab[word])
        encoded.append(codes)
    return encoded, vocab


class BucketSentenceIter(DataIter):
    """Batches for a language model from encoded sentences.

    Without `buckets` every length that fills a batch is one; longer sentences are left out.
    `layout` is 'NT' (batch, time) or 'TN'. A batch has its bucket's length as `bucket_key`.
    """

    def __init__(self, sentences, batch_size, buckets=None, invalid_label=-1, data_name='data',
                 label_name='softmax_label', dtype='float32', layout='NT'):
        super().__init__()
        self.major_axis = layout.find('N')
        if self.major_axis not in (0, 1):
            raise error.ValueError(
                f"Invalid layout {layout}: Must by NT (batch major) or TN (time major)")
        if not buckets:
            counts = np.bincount([len(sentence) for sentence in sentences])
            buckets = [length for length, count in enumerate(counts) if count >= batch_size]
        self.data_name, self.label_name = data_name, label_name
        self.dtype, self.layout, self.invalid_label = dtype, layout, invalid_label
        self.batch_size = batch_size
        self.buckets, self.data = self._sort(sentences, sorted(buckets))
        if not self.buckets:
            raise error.ValueError(f"no bucket of {sorted(buckets)} holds any of the "
                                   f"{len(sentences)} sentences")
        self.default_bucket_key = max(self.buckets)
        shape = (batch_size, self.default_bucket_key)
        if self.major_axis == 1:
            shape = shape[::-1]
        self.provide_data = [DataDesc(name=data_name, shape=shape, layout=layout)]
        self.provide_label = [DataDesc(name=label_name, shape=shape, layout=layout)]
        self.idx = [(bucket, row) for bucket, rows in enumerate(self.data)
                    for row in range(0, len(rows) - batch_size + 1, batch_size)]
        self.curr_idx = 0
        self.nddata, self.ndlabel = [], []
        self._orders = [np.arange(len(rows)) for rows in self.data]
        self.reset()

    def _sort(self, sentences, lengths):
        """The lengths of the buckets that hold a sentence, and their padded sentences."""
        rows = [[] for _ in lengths]
        too_long = 0
        for sentence in sentences:
            bucket = bisect.bisect_left(lengths, len(sentence))
            if bucket == len(lengths):
                too_long += 1
                continue
            row = np.full((lengths[bucket],), self.invalid_label, dtype=self.dtype)
            row[:len(sentence)] = sentence
            rows[bucket].append(row)
        print(f"WARNING: discarded {too_long} sentences longer than the largest bucket.")
        used = [length for length, own in zip(lengths, rows) if own]
        return used, [np.asarray(own, dtype=self.dtype) for own in rows if own]

    def reset(self):
        """Draws new orders and starts from the beginning."""
        self.curr_idx = 0
        random.shuffle(self.idx)
        for bucket, rows in enumerate(self.data):
            drawn = np.arange(len(rows))
            np.random.shuffle(drawn)  # draws what shuffling the rows themselves would
            self.data[bucket] = rows[drawn]
            self._orders[bucket] = self._orders[bucket][drawn]
        self._make_arrays()

    def _make_arrays(self):
        self.nddata, self.ndlabel = [], []
        for rows in self.data:
            labels = np.full_like(rows, self.invalid_label)
            labels[:, :-1] = rows[:, 1:]
            self.nddata.append(ndarray.array(rows, dtype=self.dtype))
            self.ndlabel.append(ndarray.array(labels, dtype=self.dtype))

    def state_dict(self):
        """The position, with the orders of this epoch."""
        return {"curr_idx": self.curr_idx, "idx": list(self.idx), "orders": list(self._orders)}

    def load_state_dict(self, state):
        """Resumes from a state that state_dict returned."""
        if [len(order) for order in state["orders"]] != [len(order) for order in self._orders]:
            raise error.ValueError("BucketSentenceIter: the state is of other sentences or buckets")
        for bucket, (now, saved) in enumerate(zip(self._orders, state["orders"])):
            at_first = np.empty_like(self.data[bucket])
            at_first[now] = self.data[bucket]
            self.data[bucket] = at_first[saved]
        self._orders = list(state["orders"])
        self.idx = [tuple(place) for place in state["idx"]]
        self.curr_idx = state["curr_idx"]
        self._make_arrays()

    def next(self):
        """The next batch; StopIteration at the end."""
        if self.curr_idx == len(self.idx):
            raise StopIteration
        bucket, row = self.idx[self.curr_idx]
        self.curr_idx += 1
        data, label = (arrays[bucket][row:row + self.batch_size]
                       for arrays in (self.nddata, self.ndlabel))
        if self.major_axis == 1:
            data, label = data.T, label.T
        return DataBatch(
            [data], [label], pad=0, bucket_key=self.buckets[bucket],
            provide_data=[DataDesc(name=self.data_name, shape=data.shape, layout=self.layout)],
            provide_label=[DataDesc(name=self.label_name, shape=label.shape, layout=self.layout)])
