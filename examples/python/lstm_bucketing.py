"""A language model over any text, with one network per sentence length.

    python lstm_bucketing.py book.txt more.txt --epochs 10

Sentences are sorted into buckets by length. The networks of all buckets share their parameters and
their memory; the longest bucket is the default one.
"""
import argparse
import logging
import pathlib
import random
import re

import numpy as np

import symbind as mx

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
DEFAULT_TEXT = [DOCS / page for page in ("walk.md", "data.md", "monitor.md", "python.md")]
PADDING = 0


def read_sentences(paths):
    """Lists of words, cut at full stops."""
    text = ".".join(pathlib.Path(path).read_text(encoding="utf-8").lower() for path in paths)
    return [words for words in (re.findall(r"\w+", part) for part in re.split(r"[.:;!?]", text))
            if len(words) > 1]


def main(arguments=None):
    parser = argparse.ArgumentParser(description="A language model over any text.")
    parser.add_argument("text", nargs="*", default=DEFAULT_TEXT,
                        help="text files (pages of the manual)")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch", type=int, default=8, help="sentences per step (8)")
    parser.add_argument("--hidden", type=int, default=64, help="units of a layer (64)")
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--lr", type=float, default=0.003, help="learning rate (0.003)")
    parser.add_argument("--buckets", type=int, nargs="+", default=[8, 16, 32])
    a = parser.parse_args(arguments)

    mx.random.seed(1)
    np.random.seed(1)
    random.seed(1)
    sentences, words = mx.rnn.encode_sentences(read_sentences(a.text), start_label=1,
                                               invalid_label=PADDING)
    train = mx.rnn.BucketSentenceIter(sentences, a.batch, buckets=a.buckets, invalid_label=PADDING)

    def network(length):
        symbol = mx.models.lstm(seq_len=length, vocab_size=len(words) + 1, num_layers=a.layers,
                                num_hidden=a.hidden, num_embed=a.hidden)
        return symbol, ("data",), ("softmax_label",)

    module = mx.mod.BucketingModule(network, default_bucket_key=train.default_bucket_key)
    perplexities = []

    def note(param):
        perplexities.append(param.eval_metric.get_name_value()[0][1])

    module.fit(train, eval_data=train, eval_metric=mx.metric.Perplexity(PADDING),
               eval_end_callback=note, optimizer="adam", optimizer_params={"learning_rate": a.lr},
               initializer=mx.init.Xavier(factor_type="in", magnitude=2.34), num_epoch=a.epochs)
    print("%d sentences, %d words, buckets %s: perplexity %.1f after the first epoch, %.1f at the end"
          % (len(sentences), len(words), train.buckets, perplexities[0], perplexities[-1]))
    return perplexities


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
