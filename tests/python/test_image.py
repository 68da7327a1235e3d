"""mx.image: tools/oracle/record_image.py under Symbind against its recording from MXNet; decoding;
the iterators; and what goes wrong."""
import importlib.util
import json
import os
import random
import sys

import numpy as np
import pytest

import symbind as mx

ORACLE = os.path.join(os.path.dirname(__file__), "..", "..", "tools", "oracle", "record_image.py")
spec = importlib.util.spec_from_file_location("record_image", ORACLE)
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

with open(oracle.TARGET) as file:
    RECORDED = json.load(file)


@pytest.fixture(scope="module")
def scenes():
    return oracle.scenes(mx)


def is_array(value):
    return isinstance(value, list) and len(value) == 3 and isinstance(value[1], str) \
        and value[1] in ("uint8", "float32", "float64")


def compare(got, want):
    if is_array(want):
        assert got[:2] == want[:2]
        a, b = np.array(got[2], float), np.array(want[2], float)
        # Bytes are equal; a rotated grid is computed in another order of float operations.
        limit = 0 if want[1] == "uint8" else 1e-5 * max(1, np.abs(b).max())
        assert np.abs(a - b).max() <= limit
    elif isinstance(want, list) and any(is_array(x) for x in want):
        assert len(got) == len(want)
        for pair in zip(got, want):
            compare(*pair)
    else:
        assert got == want


@pytest.mark.parametrize("scene", sorted(RECORDED))
def test_as_recorded(scene, scenes):
    compare(scenes[scene], RECORDED[scene])


# ------------------------------------------------------------------------ decoding

PIXELS = oracle.PIXELS
PPM = b"P6\n# a comment\n10 13\n255\n" + PIXELS.tobytes()
PGM = b"P5 10 13 255\n" + PIXELS[..., 0].tobytes()


def test_netpbm():
    np.testing.assert_array_equal(mx.image.imdecode(PPM).asnumpy(), PIXELS)
    np.testing.assert_array_equal(mx.image.imdecode(PPM, to_rgb=0).asnumpy(), PIXELS[..., ::-1])
    assert mx.image.imdecode(PPM).dtype == np.uint8
    grey = mx.image.imdecode(PPM, flag=0).asnumpy()
    assert grey.shape == (13, 10, 1)
    assert np.abs(grey[..., 0] - PIXELS @ [0.299, 0.587, 0.114]).max() <= 0.51
    np.testing.assert_array_equal(mx.image.imdecode(PGM, flag=0).asnumpy()[..., 0], PIXELS[..., 0])
    np.testing.assert_array_equal(mx.image.imdecode(PGM).asnumpy(), PIXELS[..., :1].repeat(3, 2))
    for buffer in (bytearray(PPM), np.frombuffer(PPM, np.uint8),
                   mx.nd.array(np.frombuffer(PPM, np.uint8), dtype="uint8")):
        np.testing.assert_array_equal(mx.image.imdecode(buffer).asnumpy(), PIXELS)
    out = mx.nd.zeros((13, 10, 3), dtype="uint8")
    assert mx.image.imdecode(PPM, out=out) is out and out.asnumpy().tolist() == PIXELS.tolist()


def test_imread(tmp_path):
    path = tmp_path / "a.ppm"
    path.write_bytes(PPM)
    np.testing.assert_array_equal(mx.image.imread(str(path)).asnumpy(), PIXELS)
    with pytest.raises(OSError, match="b.ppm"):
        mx.image.imread(str(tmp_path / "b.ppm"))
    path.write_bytes(PPM[:100])
    with pytest.raises(ValueError, match="a.ppm: the image is cut off"):
        mx.image.imread(str(path))


@pytest.mark.parametrize("data, kind, text", [
    (b"", ValueError, "empty"),
    (PPM[:-1], ValueError, "cut off: 389 bytes for 10 x 13 pixels of 3"),
    (b"P6\n10 x\n255\n", ValueError, "header is damaged"),
    (b"P6 0 0 255\n", ValueError, "cut off"),
    (b"P6 999999999 999999999 255\n" + b"x" * 9, ValueError, "cut off"),
    (b"P6 1 1 65535\n" + b"x" * 6, NotImplementedError, "up to 65535"),
    (b"what is this", ValueError, "no known format"),
    ("a str", ValueError, "please convert to bytes"),
])
def test_bad_files(data, kind, text):
    with pytest.raises(kind, match=text) as raised:
        mx.image.imdecode(data)
    assert isinstance(raised.value, mx.MXNetError)


def test_a_format_without_a_codec(monkeypatch):
    for name in ("cv2", "PIL"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(NotImplementedError, match="OpenCV or Pillow to decode a JPEG image"):
        mx.image.imdecode(b"\xff\xd8\xff\xe0 and so on")
    with pytest.raises(NotImplementedError, match="PNG"):
        mx.image.imdecode(b"\x89PNG\r\n and so on")


class FakeOpenCV:
    """Decodes anything into a known picture, in blue, green, red."""
    IMREAD_COLOR, IMREAD_GRAYSCALE, IMREAD_IGNORE_ORIENTATION = 1, 0, 128

    @staticmethod
    def imdecode(data, flag):
        if bytes(data[-3:]) == b"bad":
            return None
        return PIXELS[..., ::-1] if flag & 1 else PIXELS[..., 1]


def test_opencv_where_it_is_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", FakeOpenCV)
    np.testing.assert_array_equal(mx.image.imdecode(b"\xff\xd8").asnumpy(), PIXELS)
    np.testing.assert_array_equal(mx.image.imdecode(b"\xff\xd8", 0).asnumpy(), PIXELS[..., 1:2])
    with pytest.raises(ValueError, match="Invalid image file"):
        mx.image.imdecode(b"\xff\xd8bad")


def test_image_record_iter_says_what_to_do():
    with pytest.raises(NotImplementedError, match="mx.image.ImageIter"):
        mx.io.ImageRecordIter(path_imgrec="a.rec", data_shape=(3, 4, 4), batch_size=2)


# ----------------------------------------------------------------------- iterators

def folder(path, count=5):
    """Images of one colour, their number; and lists of them."""
    for i in range(count):
        pixels = np.full((6, 8, 3), 10 * i, np.uint8)
        (path / ("%d.ppm" % i)).write_bytes(b"P6 8 6 255\n" + pixels.tobytes())
    (path / "a.lst").write_text("".join("%d\t%g\t%d.ppm\n" % (i, i / 2, i) for i in range(count)))
    writer = mx.recordio.MXIndexedRecordIO(str(path / "a.idx"), str(path / "a.rec"), "w")
    for i in range(count):
        data = (path / ("%d.ppm" % i)).read_bytes()
        writer.write_idx(i, mx.recordio.pack(mx.recordio.IRHeader(0, i / 2, i, 0), data))
    writer.close()
    return str(path)


def seen(iterator):
    """(first pixel of each image, labels, pad) of each batch."""
    return [([int(x[0, 0, 0]) for x in batch.data[0].asnumpy()],
             [float(x) for x in batch.label[0].asnumpy()], batch.pad) for batch in iterator]


SOURCES = {
    "list file": lambda d: dict(path_imglist=d + "/a.lst", path_root=d),
    "list": lambda d: dict(imglist=[[i / 2, "%d.ppm" % i] for i in range(5)], path_root=d),
    "records": lambda d: dict(path_imgrec=d + "/a.rec"),
    "indexed records": lambda d: dict(path_imgrec=d + "/a.rec", path_imgidx=d + "/a.idx"),
}
FIRST = [([0, 10], [0, 0.5], 0), ([20, 30], [1, 1.5], 0)]


@pytest.mark.parametrize("source", SOURCES)
def test_image_iter(source, tmp_path):
    options = dict(SOURCES[source](folder(tmp_path)), batch_size=2, data_shape=(3, 4, 4))
    padded = mx.image.ImageIter(**options)
    assert padded.provide_data == [("data", (2, 3, 4, 4))]
    assert padded.provide_label == [("softmax_label", (2,))]
    for _ in range(2):
        assert seen(padded) == FIRST + [([40, 0], [2, 0], 1)]
        padded.reset()
    assert seen(mx.image.ImageIter(last_batch_handle="discard", **options)) == FIRST
    rolling = mx.image.ImageIter(last_batch_handle="roll_over", **options)
    assert seen(rolling) == FIRST
    rolling.reset()
    assert seen(rolling) == [([40, 0], [2, 0], 1), ([10, 20], [0.5, 1], 0), ([30, 40], [1.5, 2], 0)]


def test_image_iter_shuffles_and_parts(tmp_path):
    where = folder(tmp_path)
    options = dict(batch_size=1, data_shape=(3, 4, 4), **SOURCES["indexed records"](where))
    random.seed(1)
    expected = list(range(5))
    random.shuffle(expected)
    random.seed(1)
    assert [x[0][0] // 10 for x in seen(mx.image.ImageIter(shuffle=True, **options))] == expected
    half = [seen(mx.image.ImageIter(num_parts=2, part_index=i, **options)) for i in range(2)]
    assert [[x[0][0] for x in part] for part in half] == [[0, 10], [20, 30]]


def test_image_iter_trains(tmp_path):
    batches = mx.image.ImageIter(2, (3, 4, 4), rand_mirror=True, mean=True,
                                 **SOURCES["list file"](folder(tmp_path)))
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc")
    module = mx.mod.Module(mx.sym.LinearRegressionOutput(net, name="softmax"))
    module.fit(batches, eval_metric="mse", num_epoch=2, initializer=mx.init.Zero(),
               optimizer_params={"learning_rate": 1e-7})
    assert np.abs(module.get_params()[0]["fc_weight"].asnumpy()).max() > 0


def test_image_det_iter(tmp_path):
    where = folder(tmp_path)
    boxes = [[0, .125, .25, .5, .75], [1, .5, .5, 1, 1]]
    labels = [[2, 5] + sum(boxes[:count], []) for count in (1, 2, 1)]
    options = dict(batch_size=2, data_shape=(3, 12, 16), path_root=where,
                   imglist=[[label, "%d.ppm" % i] for i, label in enumerate(labels)])
    batches = mx.image.ImageDetIter(**options)
    assert batches.provide_label == [("label", (2, 2, 5))]
    first = next(batches)
    want = np.full((2, 2, 5), -1.)
    want[0, :1], want[1] = boxes[:1], boxes
    np.testing.assert_allclose(first.label[0].asnumpy(), want)
    assert first.data[0].shape == (2, 3, 12, 16)
    assert next(batches).pad == 1
    larger = mx.image.ImageDetIter(**dict(options, imglist=options["imglist"][:1]))
    assert larger.label_shape == (1, 5)
    batches.sync_label_shape(larger)
    assert larger.provide_label == [("label", (2, 2, 5))]
    flipped = mx.image.det.DetHorizontalFlipAug(1.)(mx.nd.zeros((2, 2, 3)), np.array(boxes))[1]
    np.testing.assert_allclose(flipped, [[0, .5, .25, .875, .75], [1, 0, .5, .5, 1]])
    with pytest.raises(ValueError, match="reduce label count from 2 to 1"):
        batches.reshape(label_shape=(1, 5))
    with pytest.raises(RuntimeError, match="Label shape is invalid"):
        mx.image.ImageDetIter(**dict(options, imglist=[[[2, 5, 0], "0.ppm"]]))


@pytest.mark.parametrize("change, kind, text", [
    (dict(data_shape=(1, 4, 4)), ValueError, "3 channels"),
    (dict(data_shape=(4, 4)), ValueError, "length 3"),
    (dict(path_imglist=None, imglist=None), AssertionError, "path_imgrec"),
    (dict(dtype="uint8"), AssertionError, "not supported"),
    (dict(num_parts=2, part_index=2), AssertionError, "part_index"),
    (dict(last_batch_handle="drop"), AssertionError, "roll_over"),
    (dict(colour=1), TypeError, "colour"),
])
def test_image_iter_refuses(change, kind, text, tmp_path):
    options = dict(batch_size=2, data_shape=(3, 4, 4), **SOURCES["list file"](folder(tmp_path)))
    with pytest.raises(kind, match=text):
        mx.image.ImageIter(**{**options, **change})


def test_broken_images_and_lists(tmp_path):
    where = folder(tmp_path)
    (tmp_path / "1.ppm").write_bytes(b"P6 8 6 255\nshort")
    batches = mx.image.ImageIter(2, (3, 4, 4), **SOURCES["list file"](where))
    with pytest.raises(RuntimeError, match="Broken image filename: 1.ppm, the image is cut off"):
        next(batches)
    (tmp_path / "a.lst").write_text("0\t1\t0.ppm\n1 2 1.ppm\n")
    with pytest.raises(ValueError, match="a.lst:2: a line is a number"):
        mx.image.ImageIter(2, (3, 4, 4), **SOURCES["list file"](where))


@pytest.mark.parametrize("use, text", [
    (lambda x: mx.image.imresize(x, 0, 3), "w"),
    (lambda x: mx.image.imresize(x, 3, 3, interp=7), "interp"),
    (lambda x: mx.image.resize_short(x, 4, interp=11), "Unknown interp method 11"),
    (lambda x: mx.image.imrotate(x, 3), "float32"),
    (lambda x: mx.image.imrotate(x.astype("float32"), 3, True, True), "both True"),
    (lambda x: mx.image.imrotate(x.astype("float32"), mx.nd.array([1])), "scalar"),
    (lambda x: mx.image.copyMakeBorder(x, 1, 1, 1, 1, 9), "type 9"),
    (lambda x: mx.image.Augmenter()(x), "override"),
    (lambda x: mx.image.DetBorrowAug(3), "invalid Augmenter"),
])
def test_bad_calls(use, text):
    with pytest.raises((ValueError, TypeError, NotImplementedError), match=text):
        use(mx.nd.array(PIXELS, dtype="uint8"))
