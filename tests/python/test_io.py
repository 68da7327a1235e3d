"""Iterators: orders and batches as MXNet recorded them, classes scripts derive from, threads."""
import doctest
import json
import multiprocessing
import pathlib
import pickle
import struct
import sys
import threading

import numpy as np
import pytest

import symbind as mx

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "io"


def golden(name):
    return json.loads((GOLDEN / name).read_text())


def rows(batches):
    return [b.data[0].asnumpy().ravel().tolist() for b in batches]


# ------------------------------------------------------------------ NDArrayIter

@pytest.mark.parametrize("case", golden("arrays.json"),
                         ids=lambda c: "{last_batch_handle}-{rows}-{batch_size}-{shuffle}".format(**c))
@pytest.mark.parametrize("wrap", [lambda i: i, mx.io.PrefetchingIter], ids=["plain", "prefetched"])
def test_orders_are_mxnets(case, wrap):
    np.random.seed(case["seed"])
    inner = mx.io.NDArrayIter(np.arange(case["rows"]), np.arange(case["rows"]) * 2.0,
                              case["batch_size"], case["shuffle"], case["last_batch_handle"])
    iterator = wrap(inner)
    for number, epoch in enumerate(case["epochs"]):
        if case["shuffle"]:
            assert inner.idx.tolist() == epoch["idx"]
        for wanted in epoch["batches"]:
            batch = iterator.next()
            assert batch.data[0].asnumpy().tolist() == wanted["data"]
            assert (batch.label[0].asnumpy() == 2 * batch.data[0].asnumpy()).all()
            assert batch.pad == wanted["pad"]
            if iterator is inner:
                assert inner.cursor == wanted["cursor"]
        if case["stop_after"] is None or number % 2 == 0:
            with pytest.raises(StopIteration):
                iterator.next()
        iterator.reset()


def test_attributes():
    data = {"b": np.zeros((6, 2)), "a": mx.nd.ones((6, 3), dtype="int32")}
    it = mx.io.NDArrayIter(data, np.arange(6), batch_size=4)
    assert [d.name for d in it.provide_data] == ["a", "b"]
    assert str(it.provide_data[0]) == "DataDesc[a,(4, 3),<class 'numpy.int32'>,NCHW]"
    assert (it.num_data, it.batch_size, it.num_source, it.cursor) == (6, 4, 3, -4)
    assert [x.shape for x in it.data_list] == [(6, 3), (6, 2), (6,)]
    assert [name for name, _ in it.label] == ["softmax_label"]
    assert it.idx.tolist() == list(range(6))
    it.batch_size = 3
    assert [b.data[1].shape for b in it] == [(3, 2), (3, 2)]
    it.hard_reset()
    assert it.cursor == -3 and it.iter_next() and it.getpad() == 0
    assert it.getlabel()[0].asnumpy().tolist() == [0, 1, 2] and it.getindex() is None
    it.label = [("softmax_label", mx.nd.array([9] * 6))]
    assert it.next().label[0].asnumpy().tolist() == [9, 9, 9]


def test_shuffled_data_is_in_the_order_of_the_epoch():
    np.random.seed(1)
    it = mx.io.NDArrayIter(mx.nd.arange(8, dtype="int32"), batch_size=4, shuffle=True)
    for _ in range(2):
        order = it.data[0][1].asnumpy().tolist()
        assert sum(rows(it), []) == order
        it.reset()
    # MXNet's shuffling makes float32 of everything
    assert it.provide_data[0].dtype is np.float32 and it.data[0][1].dtype is np.float32


def test_a_batch_is_the_scripts_own():
    source = mx.nd.zeros((4, 2))
    it = mx.io.NDArrayIter(source, batch_size=2)
    batch = it.next()
    batch.data[0][:] = 7
    assert source.asnumpy().sum() == 0
    kept = [b.data[0] for b in it]
    assert [k.asnumpy().sum() for k in kept] == [0]


def test_layout():
    it = mx.io.NDArrayIter(np.arange(12).reshape(2, 6), batch_size=4, layout="TN")
    assert it.provide_data[0].shape == (2, 4) and it.provide_data[0].layout == "TN"
    assert rows(it) == [[0, 1, 2, 3, 6, 7, 8, 9], [4, 5, 0, 1, 10, 11, 6, 7]]


def test_pickle():
    np.random.seed(3)
    it = mx.io.NDArrayIter(np.arange(9), np.arange(9), 2, shuffle=True)
    it.next()
    state = np.random.get_state()
    copy = pickle.loads(pickle.dumps(it))
    assert rows(copy) == rows(it)
    np.random.set_state(state)
    it.reset()
    np.random.set_state(state)
    copy.reset()
    assert rows(copy) == rows(it)


def test_h5py(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.h5", "w") as f:
        f.create_dataset("data", data=np.arange(14).reshape(7, 2))
        for shuffle in (False, True):
            np.random.seed(5)
            want = mx.io.NDArrayIter(np.arange(14).reshape(7, 2), np.arange(7), 3, shuffle)
            np.random.seed(5)
            it = mx.io.NDArrayIter(f["data"], np.arange(7), 3, shuffle)
            assert it._native() is None
            for _ in range(2):
                for a, b in zip(it, want):
                    assert (a.data[0].asnumpy() == b.data[0].asnumpy()).all()
                    assert (a.label[0].asnumpy() == b.label[0].asnumpy()).all()
                for iterator in (it, want):
                    np.random.seed(6)
                    iterator.reset()


def test_csr_keeps_its_name():
    csr = mx.nd.array(np.eye(6)).tostype("csr")
    it = mx.io.NDArrayIter({"data": csr}, None, 2, last_batch_handle="discard")
    assert all(b.data[0].stype == "csr" for b in it)
    with pytest.raises(NotImplementedError):
        mx.io.NDArrayIter({"data": csr}, None, 2)


class Doubled(mx.io.NDArrayIter):
    def getdata(self):
        return [2 * x for x in super().getdata()]


class Counted(mx.io.NDArrayIter):
    """Overrides nothing that matters."""

    def describe(self):
        return "counted"


def test_subclasses_of_ndarrayiter():
    it = Doubled(np.arange(5), batch_size=2, last_batch_handle="roll_over")
    assert rows(it) == [[0, 2], [4, 6]]
    it.reset()
    batch = it.next()
    assert batch.data[0].asnumpy().tolist() == [8, 0] and batch.pad == 1
    assert it._native() is None
    assert Counted(np.arange(4))._native() is not None
    patched = mx.io.NDArrayIter(np.arange(4), batch_size=2)
    assert patched._native() is not None
    patched.next = lambda: None
    assert patched._native() is None
    sub = Counted(np.arange(4))
    sub.next = lambda: None
    assert sub._native() is None


# ------------------------------------------------------------- a script's own

class NoInit(mx.io.DataIter):
    """Never calls super().__init__(), as a quarter of public ones."""

    def __init__(self, count):
        self.count, self.at = count, 0
        self.provide_data = [mx.io.DataDesc("data", (1, 2))]
        self.provide_label = [("label", (1,))]

    def reset(self):
        self.at = 0

    def iter_next(self):
        self.at += 1
        return self.at <= self.count

    def getdata(self):
        return [mx.nd.full((1, 2), self.at)]

    def getlabel(self):
        return [mx.nd.full((1,), self.at)]

    def getpad(self):
        return 0


def test_own_iterators():
    it = NoInit(3)
    assert it.batch_size == 0 and it._native() is None
    assert rows(it) == [[1, 1], [2, 2], [3, 3]]
    it.reset()
    resized = mx.io.ResizeIter(it, 5)
    assert rows(resized) == [[1, 1], [2, 2], [3, 3], [1, 1], [2, 2]]
    copy = pickle.loads(pickle.dumps(it))
    assert copy.count == 3


def test_databatch_and_datadesc():
    batch = mx.io.DataBatch(data=[mx.nd.ones((2, 3))])
    assert str(batch) == "DataBatch: data shapes: [(2, 3)] label shapes: None"
    assert (batch.label, batch.pad, batch.index, batch.bucket_key) == (None, None, None, None)
    for wrong in ({"data": mx.nd.ones(2)}, {"data": [], "label": mx.nd.ones(2)}):
        with pytest.raises(AssertionError):
            mx.io.DataBatch(**wrong)
    desc = mx.io.DataDesc("data", (2, 3), np.int32, "TN")
    assert desc == mx.io.DataDesc("data", (2, 3)) == ("data", (2, 3))
    name, shape = desc
    assert (name, shape) == ("data", (2, 3))
    copy = pickle.loads(pickle.dumps(desc))
    assert (copy, copy.dtype, copy.layout) == (desc, np.int32, "TN")
    assert mx.io.DataDesc.get_batch_axis("TN") == 1 and mx.io.DataDesc.get_batch_axis(None) == 0
    assert mx.io.DataDesc.get_list([("a", (1,))], [("a", np.int8)])[0].dtype is np.int8
    assert mx.io.DataIter.__module__ == "symbind.io.io"


def test_S6():
    train = mx.io.NDArrayIter(mx.nd.zeros((128, 3, 224, 224)), mx.nd.zeros((128,)), 128)
    assert str(train.provide_data) == \
        "[DataDesc[data,(128, 3, 224, 224),<class 'numpy.float32'>,NCHW]]"
    assert str(train.provide_label) == \
        "[DataDesc[softmax_label,(128,),<class 'numpy.float32'>,NCHW]]"


# ----------------------------------------------------------------------- files

@pytest.mark.parametrize("case", golden("files.json"), ids=lambda c: c["iter"] + str(c["options"]))
def test_files_are_read_as_mxnet_reads_them(case, tmp_path):
    options = dict(case["options"])
    for key, contents in case["files"].items():
        (tmp_path / key).write_bytes(bytes.fromhex(contents))
        options[key] = str(tmp_path / key)
    it = getattr(mx.io, case["iter"])(**options)
    assert isinstance(it, mx.io.MXDataIter)
    assert str(it.provide_data[0]) == case["provide_data"]
    assert str(it.provide_label[0]) == case["provide_label"]
    for epoch in case["epochs"]:
        for wanted in epoch:
            assert it.iter_next()
            assert it.getdata().asnumpy().tolist() == wanted["data"]
            assert it.getlabel().asnumpy().tolist() == wanted["label"]
            assert it.getpad() == wanted["pad"]
            if "index" in wanted:
                assert it.getindex().tolist() == wanted["index"]
        with pytest.raises(StopIteration):
            it.next()
        it.reset()


def test_keywords_only():
    with pytest.raises(TypeError, match="can only accept keyword arguments"):
        mx.io.CSVIter("a.csv")


@pytest.mark.parametrize("name", ["ImageRecordIter", "ImageRecordUInt8Iter", "ImageDetRecordIter"])
def test_images_are_not_here_yet(name):
    with pytest.raises(mx.MXNetError, match=name + " is not in Symbind: mx.image.ImageIter"):
        getattr(mx.io, name)(path_imgrec="a.rec", data_shape=(3, 28, 28), batch_size=3)


def test_debug_skip_load(tmp_path):
    (tmp_path / "a.csv").write_text("1\n2\n3\n")
    it = mx.io.CSVIter(data_csv=tmp_path / "a.csv", data_shape=(1,), batch_size=1)
    it.debug_skip_load()
    assert [next(it).data[0].asscalar() for _ in range(5)] == [1] * 5


# -------------------------------------------------------------------- prefetch

def test_prefetch_joins_and_renames():
    def one(offset):
        return mx.io.NDArrayIter({"data": np.arange(4) + offset}, batch_size=2)
    for wrapped in (lambda i: i, Python):
        it = mx.io.PrefetchingIter([wrapped(one(0)), wrapped(one(10))],
                                   rename_data=[{"data": "x"}, {"data": "y"}])
        assert [d.name for d in it.provide_data] == ["x", "y"] and it.batch_size == 2
        for _ in range(2):
            assert [[a.asnumpy().tolist() for a in b.data] for b in it] == \
                [[[0, 1], [10, 11]], [[2, 3], [12, 13]]]
            it.reset()


class Python(mx.io.DataIter):
    """Hides an iterator of ours, so that it counts as a script's own."""

    def __init__(self, inner, fail_at=None):
        super().__init__(inner.batch_size)
        self.inner, self.fail_at, self.count = inner, fail_at, 0
        self.provide_data, self.provide_label = inner.provide_data, inner.provide_label
        self.threads = set()

    def reset(self):
        self.count = 0
        self.inner.reset()

    def next(self):
        self.threads.add(threading.get_ident())
        self.count += 1
        if self.count == self.fail_at:
            raise KeyError("no such picture")
        return self.inner.next()


def test_a_custom_prefetch_is_a_thread():
    own = Python(mx.io.NDArrayIter(np.arange(6), batch_size=2))
    it = mx.io.PrefetchingIter(own)
    assert it._native() is None
    for taken in (3, 1, 3):
        assert rows(it.next() for _ in range(taken)) == [[0, 1], [2, 3], [4, 5]][:taken]
        it.reset()
    assert threading.get_ident() not in own.threads and len(own.threads) == 1
    thread = it._readers[0].thread
    del it
    thread.join(10)
    assert not thread.is_alive()


def test_what_a_scripts_iterator_raises_is_raised_by_next():
    it = mx.io.PrefetchingIter(Python(mx.io.NDArrayIter(np.arange(6), batch_size=2), fail_at=2))
    it.next()
    for _ in range(2):
        with pytest.raises(KeyError, match="no such picture"):
            it.next()
    it.reset()
    assert it.next().data[0].asnumpy().tolist() == [0, 1]


def test_prefetch_leaves_the_interpreter_free():
    it = mx.io.PrefetchingIter(mx.io.NDArrayIter(np.zeros((64, 1000)), batch_size=2, shuffle=True))
    assert it._native() is not None
    for _ in range(30):
        it.next()
        it.reset()
    del it


def test_native_of_wrappers():
    inner = mx.io.NDArrayIter(np.arange(6), batch_size=2)
    assert mx.io.ResizeIter(inner, 2)._native() is not None
    assert mx.io.ResizeIter(Python(inner), 2)._native() is None
    resized = mx.io.ResizeIter(inner, 4)
    assert rows(resized) == [[0, 1], [2, 3], [4, 5], [0, 1]] and resized.cur == 4


def _child(it, answer):
    try:
        it.next()
        answer.put("read")
    except mx.MXNetError as error:
        answer.put(str(error))


def test_a_forked_child_gets_an_error():
    it = mx.io.PrefetchingIter(mx.io.NDArrayIter(np.arange(6), batch_size=2))
    context = multiprocessing.get_context("fork")
    answer = context.Queue()
    child = context.Process(target=_child, args=(it, answer))
    child.start()
    assert "forked process" in answer.get(timeout=20)
    child.join(20)
    assert child.exitcode == 0
    assert len(rows(it)) == 3


# -------------------------------------------------------------------- mistakes

def test_mistake_35_labels_that_do_not_match():
    with pytest.raises(ValueError, match="'data' has 100 rows and 'softmax_label' has 99") as raised:
        mx.io.NDArrayIter(np.zeros((100, 2)), np.zeros(99))
    assert isinstance(raised.value, mx.MXNetError)


def test_mistake_36_a_file_that_vanishes(tmp_path):
    path, second = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("1\n2\n")
    second.write_text("9\n")
    it = mx.io.CSVIter(data_csv="%s;%s" % (path, second), data_shape=(1,), batch_size=1)
    assert len(rows(it)) == 3
    path.unlink()
    it.reset()
    with pytest.raises(OSError, match="a.csv") as raised:
        it.next()
    assert isinstance(raised.value, mx.MXNetError)
    path.write_text("5\n4\n")
    it.reset()
    assert rows(it) == [[5], [4], [9]]


def test_a_single_file_stays_open(tmp_path):
    """As in MXNet 1.9.1, where a deleted file is read in every epoch."""
    path = tmp_path / "a.csv"
    path.write_text("1\n2\n")
    it = mx.io.CSVIter(data_csv=str(path), data_shape=(1,), batch_size=1)
    path.unlink()
    assert rows(it) == [[1], [2]]
    path.write_text("5\n")
    it.reset()
    assert rows(it) == [[1], [2]]


def test_bad_arguments(tmp_path):
    with pytest.raises(AssertionError):
        mx.io.NDArrayIter(None)
    with pytest.raises(TypeError, match="Input must be"):
        mx.io.NDArrayIter("data")
    with pytest.raises(TypeError, match="Invalid type"):
        mx.io.NDArrayIter({"data": object()})
    with pytest.raises(ValueError, match="roll_over"):
        mx.io.NDArrayIter(np.zeros(3), last_batch_handle="keep")
    (tmp_path / "bad.csv").write_text("1,2\n3,four\n")
    with pytest.raises(OSError, match="bad.csv, line 2: column 2: 'four'"):
        mx.io.CSVIter(data_csv=tmp_path / "bad.csv", data_shape=(2,), batch_size=2)


def test_a_batch_costs_little_python():
    """Counted, because times depend on the machine: few Python functions are called for a batch."""
    it = mx.io.NDArrayIter(np.zeros((200, 4), "f"), np.zeros(200, "f"), 1)
    calls = [0]

    def count(_frame, event, _arg):
        calls[0] += event == "call"

    next(it)
    sys.setprofile(count)
    batches = sum(1 for _ in it)
    sys.setprofile(None)
    assert batches == 199
    assert calls[0] / batches < 8, calls


def test_datasets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    labels = bytes([5, 0, 4, 1, 9, 2, 1, 3, 1, 4])
    for part in ("train", "t10k"):
        (tmp_path / "data" / (part + "-images-idx3-ubyte")).write_bytes(
            struct.pack(">IIII", 2051, 10, 28, 28) + bytes(7840))
        (tmp_path / "data" / (part + "-labels-idx1-ubyte")).write_bytes(
            struct.pack(">II", 2049, 10) + labels)
    found = mx.datasets.find_images("mnist")
    assert (found.name, found.folder) == ("MNIST", "data")
    train, val = mx.test_utils.get_mnist_iterator(batch_size=5, input_shape=(784,))
    assert train.provide_data[0].shape == (5, 784)
    assert len(list(train)) == len(list(val)) == 2
    dummy = mx.test_utils.DummyIter(mx.io.NDArrayIter(np.zeros(4), batch_size=2))
    assert isinstance(dummy, mx.io.DataIter) and dummy.next() is next(dummy)
    with pytest.raises(OSError, match="apt install dataset-fashion-mnist"):
        (tmp_path / "data" / "t10k-labels-idx1-ubyte").unlink()
        mx.datasets.find_images("MNIST")


def test_the_sessions_of_the_page():
    found = doctest.testfile(str(GOLDEN.parents[2] / "docs" / "data.md"), module_relative=False)
    assert found.attempted >= 15 and found.failed == 0
