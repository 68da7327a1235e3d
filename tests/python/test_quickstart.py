"""The programs of ./quickstart: train_mnist saves two networks, show_mnist draws what they learned."""
import base64
import html.parser
import pathlib
import re
import struct
import subprocess
import zlib

import numpy as np
import pytest

import symbind as mx

BIN = pathlib.Path(mx.__file__).parents[2] / "bin"
SIDE, TRAIN, TEST = 28, 400, 100


class Page(html.parser.HTMLParser):
    """Collects the pictures and their captions, and checks that every tag is closed."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.links, self.pictures, self.rows = [], [], [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attrs = dict(attrs)
        self.links += [attrs[name] for name in ("src", "href") if name in attrs]
        if tag == "tr":
            self.rows.append([])
        if tag == "img":
            self.rows[-1].append([attrs["src"], ""])
        if tag not in ("img", "br", "meta"):
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.rows and self.rows[-1]:
            self.rows[-1][-1][1] += data


def pixels(source):
    """The bytes of a grey PNG without row filters, decoded by hand."""
    data = base64.b64decode(source.removeprefix("data:image/png;base64,"))
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    at, parts = 8, {}
    while at < len(data):
        length, = struct.unpack(">I", data[at:at + 4])
        chunk = data[at + 4:at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(chunk)
        parts[chunk[:4]] = chunk[4:]
        at += 12 + length
    assert parts[b"IHDR"] == struct.pack(">IIBBBBB", SIDE, SIDE, 8, 0, 0, 0, 0)
    rows = np.frombuffer(zlib.decompress(parts[b"IDAT"]), "uint8").reshape(SIDE, SIDE + 1)
    assert not rows[:, 0].any()
    return rows[:, 1:]


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    """Trains both networks on small pictures: class k is a bright block at place k."""
    folder = tmp_path_factory.mktemp("quickstart")
    random = np.random.RandomState(0)
    sets = {}
    for part, count in (("train", TRAIN), ("t10k", TEST)):
        labels = np.arange(count, dtype="uint8") % 10
        images = random.randint(0, 60, (count, SIDE, SIDE)).astype("uint8")
        for image, label in zip(images, labels):
            image[label * 2 + 4:label * 2 + 6] = 250
        (folder / (part + "-images-idx3-ubyte")).write_bytes(
            struct.pack(">4i", 2051, count, SIDE, SIDE) + images.tobytes())
        (folder / (part + "-labels-idx1-ubyte")).write_bytes(
            struct.pack(">2i", 2049, count) + labels.tobytes())
        sets[part] = images, labels

    def run(program, *arguments):
        done = subprocess.run([BIN / ("example_" + program), *map(str, arguments)], cwd=folder,
                              env={"SYMBIND_DATA": str(folder), "OMP_NUM_THREADS": "1"},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
        return done.stdout

    for network, epochs in (("mlp", 3), ("lenet", 2)):
        run("train_mnist", "--network", network, "--epochs", epochs, "--batch", 20, "--save", network)
    output = run("show_mnist", "result.html", "mlp", "lenet")
    return folder, sets["t10k"], output, (folder / "result.html").read_text(encoding="utf-8")


def scores_of(folder, network, epoch, images, labels):
    module = mx.mod.Module.load(str(folder / network), epoch)
    iterator = mx.io.NDArrayIter(images[:, None].astype("float32") / 255, labels, 20)
    module.bind(iterator.provide_data, iterator.provide_label, for_training=False)
    return module.predict(iterator).asnumpy()


def test_the_printed_accuracy_is_that_of_the_saved_networks(result):
    folder, (images, labels), output, _ = result
    for network, epochs in (("mlp", 3), ("lenet", 2)):
        scores = scores_of(folder, network, epochs, images, labels)
        right = (scores.argmax(1) == labels).mean()
        assert right > 0.5
        assert f"{network}: test accuracy over 100 images: {right:.4f}\n" in output
        assert re.search(rf"[12]  {network}: test accuracy {right:.4f}$", output, re.M)
        logged = (folder / (network + "-test.csv")).read_text().splitlines()
        assert logged[0] == "time,phase,epoch,nbatch,accuracy" and len(logged) == epochs + 1
        assert float(logged[-1].split(",")[-1]) == pytest.approx(right)


def test_the_page_needs_nothing_else_and_shows_pictures_and_predictions(result):
    folder, (images, labels), _, text = result
    page = Page(text)
    assert "script" not in page.tags and "link" not in page.tags
    assert all(link.startswith("data:") for link in page.links)
    scores = scores_of(folder, "lenet", 2, images, labels)
    assert len(page.rows) == 10
    for label, row in enumerate(page.rows):
        shown = np.flatnonzero(labels == label)[:8]
        assert len(row) == 8
        for (source, caption), i in zip(row, shown):
            assert (pixels(source) == images[i]).all()
            said = scores[i].argmax()
            mark = "" if said == label else "✗ "
            assert caption.strip() == f"{mark}{said}{100 * scores[i, said]:.0f} %"


def test_the_page_has_one_line_per_network_and_one_dot_per_epoch(result):
    page = Page(result[3])
    assert page.tags.count("svg") == 1
    assert page.tags.count("circle") == 3 + 2
    lines = re.findall(r"<path fill='none' stroke='#.*? d='(.*?)'", result[3])
    assert [len(re.findall("[ML]", line)) for line in lines] == [3, 2]  # every 10 of 20 batches


def test_mistakes_are_reported(tmp_path):
    for arguments, status, text in (([], 2, "Usage:"),
                                    (["page.html", "absent"], 1, "no checkpoint absent-*.params")):
        done = subprocess.run([BIN / "example_show_mnist", *arguments], cwd=tmp_path,
                              stderr=subprocess.PIPE, text=True, timeout=60)
        assert done.returncode == status and text in done.stderr
        assert not (tmp_path / "page.html").exists()
