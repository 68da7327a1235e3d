"""Record files: MXNet's bytes both ways, pickles, processes, and what is refused."""
import json
import multiprocessing
import pathlib
import pickle

import numpy as np
import pytest

import symbind as mx

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "io"
RECORDED = json.loads((GOLDEN / "records.json").read_text())[0]
RECORDS = [bytes.fromhex(r) for r in RECORDED["records"]]


def test_reads_what_mxnet_wrote():
    reader = mx.recordio.MXRecordIO(str(GOLDEN / "records.rec"), "r")
    for _ in range(2):
        assert [reader.read() for _ in RECORDS] == RECORDS and reader.read() is None
        reader.reset()
    indexed = mx.recordio.MXIndexedRecordIO(GOLDEN / "records.idx", GOLDEN / "records.rec", "r")
    assert indexed.keys == [3 * i for i in range(len(RECORDS))]
    for key in reversed(indexed.keys):
        assert indexed.read_idx(key) == RECORDS[key // 3]
    assert indexed.idx[6] == 20


def test_writes_the_same_bytes(tmp_path):
    rec, idx = tmp_path / "a.rec", tmp_path / "a.idx"
    writer = mx.recordio.MXIndexedRecordIO(str(idx), str(rec), "w")
    for i, record in enumerate(RECORDS):
        writer.write_idx(3 * i, record)
    writer.close()
    assert rec.read_bytes() == (GOLDEN / "records.rec").read_bytes()
    assert idx.read_bytes() == (GOLDEN / "records.idx").read_bytes()


def test_pack_as_mxnet():
    for case in RECORDED["packed"]:
        flag, label, first, second = case["header"]
        header = mx.recordio.IRHeader(flag, label, int(first), int(second))
        packed = mx.recordio.pack(header, bytes.fromhex(case["contents"]))
        assert packed.hex() == case["packed"]
        back, contents = mx.recordio.unpack(packed)
        assert np.array_equal(back.label, label) and contents.hex() == case["contents"]
        assert (back.id, back.id2) == (int(first), int(second))


def test_key_type(tmp_path):
    paths = str(tmp_path / "a.idx"), str(tmp_path / "a.rec")
    writer = mx.recordio.MXIndexedRecordIO(*paths, "w", key_type=str)
    for key in ("cat", "dog"):
        writer.write_idx(key, key.encode())
    writer.close()
    reader = mx.recordio.MXIndexedRecordIO(*paths, "r", key_type=str)
    assert reader.read_idx("dog") == b"dog" and reader.keys == ["cat", "dog"]


def test_pickle():
    reader = mx.recordio.MXIndexedRecordIO(str(GOLDEN / "records.idx"), str(GOLDEN / "records.rec"), "r")
    copy = pickle.loads(pickle.dumps(reader))
    assert copy.is_open and copy.read_idx(9) == RECORDS[3] and copy.uri == reader.uri
    assert not reader.is_open  # as in MXNet: pickling closes
    closed = mx.recordio.MXRecordIO(str(GOLDEN / "records.rec"), "r")
    closed.close()
    assert not pickle.loads(pickle.dumps(closed)).is_open


def _child(plain, indexed, answer):
    try:
        plain.read()
        answer.put("read")
    except RuntimeError as error:
        answer.put(str(error))
    answer.put(indexed.read_idx(9))


def test_a_forked_process(tmp_path):
    rec = str(GOLDEN / "records.rec")
    plain = mx.recordio.MXRecordIO(rec, "r")
    indexed = mx.recordio.MXIndexedRecordIO(str(GOLDEN / "records.idx"), rec, "r")
    writer = mx.recordio.MXRecordIO(str(tmp_path / "a.rec"), "w")
    writer.write(b"parent")
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_child, args=(plain, indexed, answer))
    child.start()
    assert "Forbidden operation in multiple processes" in answer.get(timeout=20)
    assert answer.get(timeout=20) == RECORDS[3]
    child.join(20)
    assert plain.read() == RECORDS[0]
    writer.close()
    reader = mx.recordio.MXRecordIO(str(tmp_path / "a.rec"), "r")
    assert reader.read() == b"parent" and reader.read() is None


def test_images_need_a_codec():
    try:
        import cv2  # noqa: F401
    except ImportError:
        pytest.importorskip("PIL", reason="without a codec there is an error, below")
    image = np.zeros((4, 5, 3), np.uint8)
    image[:, :, 0] = 200
    packed = mx.recordio.pack_img(mx.recordio.IRHeader(0, 1.0, 2, 0), image, 9, ".png")
    header, back = mx.recordio.unpack_img(packed)
    assert header.label == 1.0 and (back == image).all()


def test_without_a_codec_the_error_says_so(monkeypatch):
    import sys
    monkeypatch.setitem(sys.modules, "cv2", None)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(mx.MXNetError, match="pack_img needs OpenCV or Pillow"):
        mx.recordio.pack_img((0, 1.0, 2, 0), np.zeros((2, 2, 3), np.uint8))
    with pytest.raises(mx.MXNetError, match="unpack_img needs OpenCV or Pillow"):
        mx.recordio.unpack_img(mx.recordio.pack((0, 1.0, 2, 0), b"x"))


def test_bad_input(tmp_path):
    bad = tmp_path / "bad.rec"
    bad.write_bytes((GOLDEN / "records.rec").read_bytes()[:50])
    reader = mx.recordio.MXRecordIO(str(bad), "r")
    with pytest.raises(OSError, match=r"bad.rec: .* \(at byte 48\)") as raised:
        while reader.read() is not None:
            pass
    assert isinstance(raised.value, mx.MXNetError)
    with pytest.raises(OSError, match="missing.rec"):
        mx.recordio.MXRecordIO(str(tmp_path / "missing.rec"), "r")
    with pytest.raises(ValueError, match="Invalid flag x"):
        mx.recordio.MXRecordIO(str(bad), "x")
    (tmp_path / "bad.idx").write_text("0\t0\none\n")
    with pytest.raises(OSError, match="bad.idx, line 2"):
        mx.recordio.MXIndexedRecordIO(str(tmp_path / "bad.idx"), str(bad), "r")
    with pytest.raises(OSError, match="missing.idx"):
        mx.recordio.MXIndexedRecordIO(str(tmp_path / "missing.idx"), str(bad), "r")
    writer = mx.recordio.MXRecordIO(str(tmp_path / "w.rec"), "w")
    with pytest.raises(TypeError, match="bytes"):
        writer.write(5)
    with pytest.raises(AssertionError):
        writer.read()
    writer.close()
    with pytest.raises(AssertionError, match="closed"):
        writer.write(b"x")
    with pytest.raises(ValueError, match="24"):
        mx.recordio.unpack(b"short")
