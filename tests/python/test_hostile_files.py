"""Untrusted files: checkpoints, optimizer states and sparse arrays. Names and values in them are checked."""
import hashlib
import json
import os
import random
from pathlib import Path

import numpy as np
import pytest

import symbind as mx
from symbind import _core

GOLDEN = Path(__file__).parent.parent / "golden" / "sparse"


# --------------------------------------------------------------- optimizer states

class Velocity:
    """What Careful keeps for a weight."""


@mx.optimizer.register
class Careful(mx.optimizer.Optimizer):
    def __init__(self, patience=3, **kwargs):
        super().__init__(**kwargs)
        self.patience = patience

    def create_state(self, index, weight):
        kept = Velocity()
        kept.value = mx.nd.zeros(weight.shape)
        return kept

    def update(self, index, weight, grad, state):
        self._update_count(index)
        state.value[:] = grad
        weight[:] -= self._get_lr(index) * state.value


def careful_states(dump_optimizer, **attributes):
    optimizer = Careful(patience=7)
    updater = mx.optimizer.get_updater(optimizer)
    updater(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
    for name, value in attributes.items():
        optimizer.__dict__[name] = value
    return updater.get_states(dump_optimizer=dump_optimizer)


@pytest.mark.parametrize("dump_optimizer", [False, True])
def test_a_users_class_is_made_only_for_its_optimizer(dump_optimizer):
    data = careful_states(dump_optimizer)
    for other in (mx.optimizer.SGD(), mx.optimizer.Adam()):
        updater = mx.optimizer.get_updater(other)
        with pytest.raises(mx.MXNetError, match="test_hostile_files.(Velocity|Careful)"):
            updater.set_states(data)
        assert updater.optimizer is other and not updater.states
    updater = mx.optimizer.get_updater(Careful())
    updater.set_states(data)
    assert type(updater.states[0]) is Velocity and (updater.states[0].value.asnumpy() == 1).all()
    assert updater.optimizer.patience == (7 if dump_optimizer else 3)


def test_a_file_adds_no_attributes_to_an_optimizer():
    updater = mx.optimizer.get_updater(Careful())
    updater.set_states(careful_states(True, evil=5, update="not a method", _update_count=0))
    assert updater.optimizer.patience == 7 and not hasattr(updater.optimizer, "evil")
    assert callable(updater.optimizer.update) and callable(updater.optimizer._update_count)
    updater(0, mx.nd.ones((2,)), mx.nd.ones((2,)))
    sgd = mx.optimizer.SGD(momentum=0.5)
    sgd.anything, sgd.wd = [1], 0.25
    other = mx.optimizer.get_updater(mx.optimizer.SGD())
    other.set_states(mx.optimizer.get_updater(sgd).get_states(dump_optimizer=True))
    assert other.optimizer.wd == 0.25 and other.optimizer.momentum == 0.5
    assert not hasattr(other.optimizer, "anything")


class Object:
    """An object of a file: a class by name, and attributes."""

    def __init__(self, name, **attributes):
        self.parts = (name, attributes)


def pickled(value):
    return _core.dump_states(value, lambda item: item.parts)


SGD, ADAM = "mxnet.optimizer.optimizer.SGD", "mxnet.optimizer.optimizer.Adam"


@pytest.mark.parametrize("name, value", [
    ("num_update", float("nan")), ("num_update", float("inf")), ("num_update", 2 ** 63 - 1), ("num_update", -1),
    ("begin_num_update", 2 ** 63 - 1), ("_all_index_update_counts", {0: {0: 2 ** 63 - 1}}),
    ("_all_index_update_counts", {0: {0: float("nan")}}), ("_index_update_count", {0: float("inf")}),
    ("lr", float("nan")), ("wd_mult", {"a": float("inf")}), ("rescale_grad", "1"), ("beta1", None)])
def test_numbers_of_states_that_are_not_finite(name, value):
    updater = mx.optimizer.get_updater(mx.optimizer.Adam())
    with pytest.raises(mx.MXNetError, match=r"update count|multiplier|" + name):
        updater.set_states(pickled(({}, Object(ADAM, **{name: value}))))
    weight = mx.nd.ones((2,))
    updater(0, mx.nd.ones((2,)), weight)
    assert np.allclose(weight.asnumpy(), 0.999, atol=1e-4)


def test_schedulers_of_states_are_checked():
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    scheduler = Object("mxnet.lr_scheduler.FactorScheduler", step=5, factor=0.5, base_lr=0.3, evil=1, observe="x")
    updater.set_states(pickled(({}, Object(SGD, lr_scheduler=scheduler))))
    made = updater.optimizer.lr_scheduler
    assert made(1) == 0.3 and not hasattr(made, "evil") and callable(made.observe)
    for name, value in (("step", 0), ("base_lr", float("nan")), ("warmup_steps", 2 ** 63 - 1)):
        bad = Object("mxnet.lr_scheduler.FactorScheduler", **{name: value})
        with pytest.raises(mx.MXNetError, match=name):
            updater.set_states(pickled(({}, Object(SGD, lr_scheduler=bad))))


def test_invalid_keys():
    updater = mx.optimizer.get_updater(mx.optimizer.Test())
    for key in (b"]", b"}", b"L99999999999999999999999999L\n", b"(]t"):
        with pytest.raises(mx.MXNetError, match="key"):
            updater.set_states(b"\x80\x02}" + key + b"Ns.")


# --------------------------------------------------------------------- checkpoints

class Counting(mx.metric.EvalMetric):
    """Keeps a number that only Python knows."""

    def __init__(self):
        self.seen = 0
        super().__init__("counting")

    def update(self, labels, preds):
        self.seen += 1
        self.sum_metric += 1
        self.num_inst += 1


def module_and_data(shuffle=True):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    data = mx.io.NDArrayIter(np.eye(8, dtype="float32"), np.arange(8) % 2, batch_size=2, shuffle=shuffle)
    return mx.mod.Module(net), data


def train(prefix, epochs, resume=None, metric=None):
    module, data = module_and_data()
    module.fit(data, num_epoch=epochs, eval_metric=metric or "acc", resume=resume, optimizer="adam",
               checkpoint=mx.callback.Checkpoint(prefix, every_n_batches=3, background=False))
    return module


def change(prefix, edit):
    """Changes the newest manifest and signs it again: a checksum is no secret."""
    path = sorted(str(p) for p in Path(prefix).parent.glob(Path(prefix).name + "*.manifest.json"))[-1]
    manifest = json.loads(Path(path).read_text(encoding="utf-8"))
    edit(manifest["checkpoint"])
    text = json.dumps(manifest["checkpoint"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    manifest["sha256"] = hashlib.sha256(text.encode()).hexdigest()
    Path(path).write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize("place", [625, -1, 10 ** 6, 2 ** 31, 2 ** 63 - 1, 1.5, "7", None])
def test_numpys_position_is_checked(tmp_path, place):
    prefix = str(tmp_path / "m")
    train(prefix, 1)

    def edit(manifest):
        for when in ("random", "random_at_fetch"):
            manifest["training"][when]["numpy"]["state"]["pos"] = place
    change(prefix, edit)
    with pytest.raises(mx.MXNetError, match="position in NumPy's generator"):
        train(prefix, 2, resume=prefix)
    assert 0 <= np.random.get_state()[2] <= 624
    assert np.random.uniform(size=3).min() >= 0


def test_pythons_generator_is_checked(tmp_path):
    prefix = str(tmp_path / "m")
    train(prefix, 1)

    def edit(manifest):
        manifest["training"]["random_at_fetch"]["python"]["$tuple"][1]["$tuple"][-1] = 10 ** 6
    change(prefix, edit)
    with pytest.raises(mx.MXNetError, match="Python's generator"):
        train(prefix, 2, resume=prefix)
    random.random()


@pytest.mark.parametrize("what", ["idx", "rows"])
def test_the_order_of_rows_is_a_permutation(tmp_path, what):
    _, data = module_and_data()
    for bad in (np.arange(8) + 1, np.zeros(8, int), np.arange(7), -np.arange(8), np.linspace(0, 7, 8), [0] * 8):
        state = data.state_dict()
        state["order"] = dict(state["order"], **{what: bad})
        with pytest.raises(mx.MXNetError, match="order"):
            data.load_state_dict(state)
    data.load_state_dict(data.state_dict())
    resized = mx.io.ResizeIter(data, 3)
    for bad in (-1, 4, float("nan"), True, "1"):
        with pytest.raises(mx.MXNetError, match="cur="):
            resized.load_state_dict(dict(resized.state_dict(), cur=bad))


def test_a_checkpoint_adds_no_attributes(tmp_path, caplog):
    prefix = str(tmp_path / "m")
    train(prefix, 1, metric=Counting())

    def edit(manifest):
        facts = manifest["training"]
        assert facts["metric"]["own"]["seen"] == 4
        facts["metric"]["own"].update(update="not a method", evil=1, seen=40, __class__="x")
        facts["parts"][0]["own"].update(update="not a method", evil=1)
    change(prefix, edit)
    metric = Counting()
    module = train(prefix, 2, resume=prefix, metric=metric)
    assert callable(metric.update) and not hasattr(metric, "evil") and type(metric) is Counting
    assert metric.seen == 44
    assert not hasattr(module._optimizer, "evil") and callable(module._optimizer.update)
    assert "'evil', 'update'" in caplog.text


def test_a_manifest_removes_no_other_file(tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("mine")
    folder = tmp_path / "run"
    folder.mkdir()
    prefix = str(folder / "m")
    train(prefix, 1)

    def edit(manifest):
        manifest["files"]["-0001/../../victim"] = {"size": 4, "sha256": hashlib.sha256(b"mine").hexdigest()}
    change(prefix, edit)
    with pytest.raises(mx.MXNetError, match="it lists the file '-0001/../../victim'"):
        train(prefix, 2, resume=prefix)
    module, data = module_and_data()
    module.fit(data, num_epoch=3, checkpoint=mx.callback.Checkpoint(prefix, keep_last=1, background=False))
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("value", [{"__numpy__": "|O", "shape": [1], "data": {"$bytes": "00" * 8}},
                                   {"__numpy__": "<f4", "shape": [10 ** 9], "data": {"$bytes": "00" * 4}},
                                   {"__numpy__": "nonsense", "shape": [], "data": 5}])
def test_numpy_arrays_of_a_checkpoint(tmp_path, value):
    prefix = str(tmp_path / "m")
    train(prefix, 1)
    change(prefix, lambda m: m["training"]["random_at_fetch"]["numpy"]["state"].update(key=value))
    with pytest.raises(mx.MXNetError, match="NumPy array"):
        train(prefix, 2, resume=prefix)


# ------------------------------------------------------------------- sparse arrays

@pytest.mark.parametrize("name", ["rows", "csr", "empty", "mixed"])
def test_sparse_files_are_written_back_byte_for_byte(name, tmp_path):
    source = GOLDEN / (name + ".params")
    wanted = json.loads((GOLDEN / "dense.json").read_text())[name]
    loaded = mx.nd.load(str(source))
    items = loaded.items() if isinstance(loaded, dict) else [(str(i), a) for i, a in enumerate(loaded)]
    for key, array in items:
        assert array.stype == wanted[key]["stype"] and array.dtype == np.dtype(wanted[key]["dtype"])
        assert array.asnumpy().ravel().tolist() == wanted[key]["values"]
    for arrays in (loaded, mx.nd.load_frombuffer(source.read_bytes())):
        mx.nd.save(str(tmp_path / "again.params"), arrays)
        assert (tmp_path / "again.params").read_bytes() == source.read_bytes()


def test_sparse_arrays_made_here_are_saved_as_sparse(tmp_path):
    path = str(tmp_path / "a.params")
    rows = mx.nd.sparse.row_sparse_array(([[9.0, 8.0]], [1]), shape=(3, 2))
    csr = mx.nd.sparse.csr_matrix(([5.0], [2], [0, 0, 1]), shape=(2, 3))
    mx.nd.save(path, [mx.nd.array([[1, 2], [3, 4]]), rows, csr, mx.nd.array([1, 2, 3], dtype="int32")])
    assert Path(path).read_bytes() == (GOLDEN / "mixed.params").read_bytes()  # MXNet's
    loaded = mx.nd.load(path)
    assert [a.stype for a in loaded] == ["default", "row_sparse", "csr", "default"]
    mx.nd.save(path, [loaded[1].tostype("default"), loaded[2].copy()])
    assert [a.stype for a in mx.nd.load(path)] == ["default", "csr"]


# ----------------------------------------------------------------------------- NUL

def test_paths_with_nul(tmp_path):
    kept = tmp_path / "kept"
    kept.write_text("mine")
    path = str(kept) + "\0.params"
    data = mx.nd.ones((2, 2))
    net = mx.sym.Variable("x")

    def fit(**options):
        module = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.Variable("data"), name="softmax"))
        module.fit(mx.io.NDArrayIter(np.ones((4, 2)), np.zeros(4), batch_size=2), num_epoch=1, **options)
    calls = [lambda: mx.nd.save(path, [data]), lambda: mx.nd.load(path), lambda: net.save(path),
             lambda: mx.sym.load(path), lambda: mx.recordio.MXRecordIO(path, "w"),
             lambda: mx.recordio.MXRecordIO(path, "r"),
             lambda: fit(checkpoint=path), lambda: fit(run=mx.callback.Run("a", folder=path)),
             lambda: mx.io.CSVIter(data_csv=path, data_shape=(1,), batch_size=1),
             lambda: mx.io.LibSVMIter(data_libsvm=path, data_shape=(1,), batch_size=1),
             lambda: mx.recordio.MXIndexedRecordIO(path, str(tmp_path / "r.rec"), "w"),
             lambda: mx.model.load_checkpoint(path, 0)]
    for call in calls:
        with pytest.raises((mx.MXNetError, ValueError), match="(?i)nul"):
            call()
    assert kept.read_text() == "mine" and set(os.listdir(tmp_path)) <= {"kept", "r.rec"}
