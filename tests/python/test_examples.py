"""The programs of examples/python do what they say, with small settings."""
import gzip
import importlib.util
import pathlib
import struct

import numpy as np
import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def load(name):
    spec = importlib.util.spec_from_file_location("example_" + name,
                                                  EXAMPLES / "python" / (name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def pictures(tmp_path, monkeypatch):
    """Data in MNIST's form: class k is a bright block at place k."""
    random = np.random.RandomState(0)
    for part, count in (("train", 400), ("t10k", 100)):
        labels = np.arange(count, dtype="uint8") % 10
        images = random.randint(0, 60, (count, 28, 28)).astype("uint8")
        for image, label in zip(images, labels):
            image[label * 2 + 4:label * 2 + 6] = 250
        with gzip.open(tmp_path / (part + "-images-idx3-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">4i", 2051, count, 28, 28) + images.tobytes())
        with gzip.open(tmp_path / (part + "-labels-idx1-ubyte.gz"), "wb") as file:
            file.write(struct.pack(">2i", 2049, count) + labels.tobytes())
    monkeypatch.setenv("SYMBIND_DATA", str(tmp_path))


@pytest.mark.parametrize("network, devices", [("mlp", 2), ("lenet", 1)])
def test_train_mnist(network, devices, pictures, tmp_path):
    main = load("train_mnist").main
    prefix = str(tmp_path / "net")
    common = ["--network", network, "--batch", "20"]
    trained = main(common + ["--epochs", "3", "--lr", "0.05", "--devices", str(devices),
                             "--save", prefix])
    assert trained > 0.9
    assert main(common + ["--evaluate", prefix]) == pytest.approx(trained)


@pytest.mark.parametrize("devices", [1, 2])
def test_resnet(devices):
    arguments = ["--synthetic", "--layers", "8", "--count", "320", "--batch", "32"]
    assert load("resnet").main(arguments + ["--devices", str(devices)]) > 0.5


def test_lstm_bucketing():
    perplexities = load("lstm_bucketing").main(["--epochs", "4"])
    assert perplexities[-1] < 0.75 * perplexities[0]


def test_fine_tune():
    accuracy, frozen = load("fine_tune").main([])
    assert accuracy > 0.9 and frozen


def test_custom_data_iter():
    assert load("custom_data_iter").main([]) > 0.9


def test_custom_loss():
    for slope, start in load("custom_loss").main([]):
        assert slope == pytest.approx(2, abs=0.1) and start == pytest.approx(1, abs=0.2)


def test_all_are_listed():
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    for folder, ending in (("cpp", "*.cpp"), ("python", "*.py")):
        for path in (EXAMPLES / folder).glob(ending):
            assert f"`{path.stem}`" in listed, path.name
