"""The files that the scripts read, made from a seed: nothing is downloaded and nothing is anybody's data.

Each function writes into the folder a script runs in, under the names the script looks for; the scripts then find their
files and fetch nothing. What is in them can be learnt, or a training would show nothing: digits are noisy copies of ten
pictures, sentences follow a chain of words, ratings come from a hidden factorisation. NumPy's RandomState gives the same
numbers in every version, so a recording made once stays comparable.

data.py FOLDER JSON: makes what the JSON object asks for, {function: its arguments}.
"""
import gzip
import json
import pathlib
import struct
import sys

import numpy as np


def _open(folder, name):
    path = pathlib.Path(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _pictures(random, classes, size):
    """One picture a class: a few soft blobs, in [0, 1]."""
    rows, columns = np.mgrid[0:size, 0:size] / (size - 1.0)
    pictures = np.zeros((classes, size, size))
    for picture in pictures:
        for _ in range(6):
            row, column, width = random.uniform(0.15, 0.85), random.uniform(0.15, 0.85), random.uniform(0.05, 0.12)
            picture += np.exp(-((rows - row) ** 2 + (columns - column) ** 2) / (2 * width ** 2))
        picture /= picture.max()
    return pictures


def digits(count, seed, classes=10, size=28, noise=0.3, shadow=0.7):
    """Images (count, size, size) of uint8 and labels: a class's picture, moved by up to 2 pixels, with noise and with
    another picture's shadow over it, of strength up to `shadow`, so that no network gets all of them right."""
    pictures = _pictures(np.random.RandomState(1), classes, size)
    random = np.random.RandomState(seed)
    labels = random.randint(0, classes, count)
    moves = random.randint(-2, 3, (count, 2))
    others = random.randint(0, classes, count)
    strengths = random.uniform(0, shadow, count)
    images = np.empty((count, size, size), np.uint8)
    for start in range(0, count, 4096):
        part = slice(start, min(start + 4096, count))
        chosen = np.stack([np.roll(pictures[label], move, (0, 1)) for label, move in zip(labels[part], moves[part])])
        chosen += strengths[part, None, None] * pictures[others[part]]
        chosen += noise * random.randn(*chosen.shape)
        images[part] = (np.clip(chosen, 0, 1) * 255).astype(np.uint8)
    return images, labels


def mnist(folder, train=6000, test=2000, at="data", packed=False):
    """MNIST's four idx files, packed (.gz) or not."""
    for name, count, seed in (("train", train, 2), ("t10k", test, 3)):
        images, labels = digits(count, seed)
        for kind, header, content in (
                ("images-idx3", struct.pack(">IIII", 2051, count, 28, 28), images),
                ("labels-idx1", struct.pack(">II", 2049, count), labels.astype(np.uint8))):
            path = _open(folder, "{}/{}-{}-ubyte{}".format(at, name, kind, ".gz" if packed else ""))
            with (gzip.open(path, "wb", 1) if packed else open(path, "wb")) as file:
                file.write(header + content.tobytes())


def _words(count):
    """Distinct words: ba, be, … of growing length."""
    syllables = [a + b for a in "bdfgklmnprst" for b in "aeiou"]
    return [syllables[i % 60] + (syllables[i // 60 % 60] if i >= 60 else "") + (syllables[i // 3600] if i >= 3600 else "")
            for i in range(count)]


def _chain(random, vocabulary, follow):
    """Which words follow a word: `follow` of them, of falling probability."""
    followers = random.randint(0, vocabulary, (vocabulary, follow))
    chances = 0.5 ** np.arange(1, follow + 1)
    return followers, chances / chances.sum()


def _walk(random, chain, length, start):
    followers, chances = chain
    choices = np.searchsorted(np.cumsum(chances)[:-1], random.rand(length))
    walk = [start]
    for choice in choices[:-1]:
        walk.append(followers[walk[-1], choice])
    return walk


def sentences(folder, prefix="data/sherlockholmes.", parts=("train", "valid", "test"), count=600, vocabulary=100,
              shortest=4, longest=40, end="\n"):
    """Text files of one sentence a line, from a chain of words in which few words follow each."""
    words = _words(vocabulary)
    chain = _chain(np.random.RandomState(4), vocabulary, 4)
    for seed, part in enumerate(parts):
        random = np.random.RandomState(10 + seed)
        lines = []
        if part == parts[0]:   # every word once, so that the others hold no word that is new
            lines += [" ".join(words[i:i + 8]) for i in range(0, vocabulary, 8)]
        for _ in range(count if part == parts[0] else count // 4):
            length = random.randint(shortest, longest + 1)
            lines.append(" ".join(words[i] for i in _walk(random, chain, length, random.randint(vocabulary))))
        with open(_open(folder, prefix + part + ".txt"), "w", encoding="utf-8") as file:
            file.write(end.join(lines) + end)


def text8(folder, count=60000, vocabulary=200):
    """One line of words."""
    random = np.random.RandomState(5)
    words = _words(vocabulary)
    walk = _walk(random, _chain(random, vocabulary, 3), count, 0)
    with open(_open(folder, "data/text8"), "w", encoding="utf-8") as file:
        file.write(" ".join(words[i] for i in walk))


def polarity(folder, names=("data/rt-polaritydata/rt-polarity.pos", "data/rt-polaritydata/rt-polarity.neg"), count=1500,
             vocabulary=300, telling=40, letters=False, longest=20):
    """Two files of sentences; a third of the words of each come from those that tell which file it is.

    With `letters` a word is one letter of another script, without separators.
    """
    random = np.random.RandomState(6)
    words = [chr(0x4e00 + i) for i in range(vocabulary)] if letters else _words(vocabulary)
    for kind, name in enumerate(names):
        own = np.arange(telling) + telling * kind
        with open(_open(folder, name), "w", encoding="utf-8") as file:
            for _ in range(count):
                length = random.randint(8, longest)
                chosen = np.where(random.rand(length) < 0.3, random.choice(own, length),
                                  random.randint(2 * telling, vocabulary, length))
                file.write(("" if letters else " ").join(words[i] for i in chosen) + "\n")


def ratings(folder, files, users=400, items=300, between="::", rank=3):
    """Ratings 1 to 5 of a hidden factorisation with a little noise: {file: lines}."""
    random = np.random.RandomState(7)
    left, right = random.rand(users, rank), random.rand(items, rank)
    for name, count in files.items():
        with open(_open(folder, name), "w", encoding="utf-8") as file:
            for user, item in zip(random.randint(0, users, count), random.randint(0, items, count)):
                score = np.clip(np.rint(1 + 4 * left[user].dot(right[item]) / (rank / 2.0) + 0.2 * random.randn()), 1, 5)
                file.write(between.join(str(int(v)) for v in (user + 1, item + 1, score, 978300760)) + "\n")


def empty(folder, names):
    """Files that a script only looks for (the archive it would have fetched)."""
    for name in names:
        _open(folder, name).write_bytes(b"")


def folders(folder, names):
    """Folders that a script expects to find."""
    for name in names:
        pathlib.Path(folder, name).mkdir(parents=True, exist_ok=True)


def mnist_arrays(folder, name="mnist.npz", train=1000, test=500):
    """MNIST as arrays X, Y, X_test, Y_test of one file; X are rows of 784."""
    images, labels = digits(train, 2)
    test_images, test_labels = digits(test, 3)
    np.savez(_open(folder, name), X=images.reshape(train, -1), Y=labels,
             X_test=test_images.reshape(test, -1), Y_test=test_labels)


def pictures(folder, at, count=256, size=32):
    """Grey pictures as .png files, in two classes of shapes."""
    import cv2
    images, labels = digits(count, 8, classes=2, size=size, noise=0.05)
    for i, (image, label) in enumerate(zip(images, labels)):
        cv2.imwrite(str(_open(folder, "{}/{}_{:04d}.png".format(at, label, i))), image)


def entities(folder, name, count=900, vocabulary=120):
    """A pickled table of sentences (token) and tags (BILOU_tag): the tag follows from the word."""
    import pandas
    random = np.random.RandomState(9)
    words, tags = _words(vocabulary), ["O", "U-PER", "U-LOC", "U-ORG"]
    of_word = random.choice(4, vocabulary, p=[0.7, 0.1, 0.1, 0.1])
    rows = [random.randint(0, vocabulary, random.randint(5, 13)) for _ in range(count)]
    table = pandas.DataFrame({"token": [[words[i] for i in row] for row in rows],
                              "BILOU_tag": [[tags[of_word[i]] for i in row] for row in rows]})
    table.to_pickle(_open(folder, name), protocol=4)


def _checkpoint(prefix, symbol, shapes, scale=1.0):
    """A checkpoint of `symbol` with random parameters, written by the package that will read it."""
    import mxnet as mx
    random = np.random.RandomState(12)
    arguments, _, states = symbol.infer_shape(**shapes)
    params = {}
    for kind, names, all_shapes in (("arg", symbol.list_arguments(), arguments),
                                    ("aux", symbol.list_auxiliary_states(), states)):
        for name, shape in zip(names, all_shapes):
            if name in shapes or name.endswith("label"):
                continue
            if name.endswith(("gamma", "var")):
                value = np.ones(shape)
            elif len(shape) == 1:
                value = np.zeros(shape)
            else:
                value = random.normal(0, scale * np.sqrt(2.0 / np.prod(shape[1:])), shape)
            params[kind + ":" + name] = mx.nd.array(value)
    symbol.save(prefix + "-symbol.json")
    mx.nd.save(prefix + "-0000.params", params)


def reader(folder):
    """A network that reads numbers from a picture, never trained, and a picture (ctc)."""
    import cv2
    import lstm
    states = dict(lstm.init_states(1, 2, 100))
    symbol = lstm.lstm_unroll(num_lstm_layer=2, seq_len=80, num_hidden=100, num_label=4, loss_type="ctc")
    _checkpoint(str(_open(folder, "ocr")), symbol, dict(states, data=(1, 80, 30), label=(1, 4)), scale=3)
    images, _ = digits(80, 13, size=30, noise=0.1)
    cv2.imwrite(str(_open(folder, "sample.png")), np.concatenate(list(images[:4]), axis=1))


def pretrained(folder, name="model/imagenet1k-resnet-18", layers=18, shape="3,32,32"):
    """A residual network with random weights in the place of a trained one."""
    from symbols import resnet
    symbol = resnet.get_symbol(num_classes=1000, num_layers=layers, image_shape=shape)
    _checkpoint(str(_open(folder, name)), symbol, {"data": (1,) + tuple(map(int, shape.split(",")))})


if __name__ == "__main__":
    sys.path[0] = sys.argv[1]   # the script's own modules
    for function, options in json.loads(sys.argv[2]).items():
        globals()[function](sys.argv[1], **options)
