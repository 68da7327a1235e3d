"""Settings, threads and forks: what the process does around the library."""
import numpy as np
import pytest

import symbind as mx
from child_process import run
from symbind import _core


def test_settings_are_taken_where_work_begins(monkeypatch):
    """The library reads a snapshot; each of these calls takes one."""
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=1, name="fc")
    net = mx.sym.LinearRegressionOutput(net, mx.sym.var("softmax_label"))
    module = mx.mod.Module(net)
    train = mx.io.NDArrayIter(np.ones((2, 3)), np.ones(2), 2)
    module.fit(train, num_epoch=1)
    text = net.tojson()
    saved = mx.nd.ones(2)._record()
    assert saved
    begins = {
        "bind": lambda: net.simple_bind(mx.cpu(), data=(2, 3)),
        "fit": lambda: module.fit(train, num_epoch=1),
        "iterator": lambda: mx.io.NDArrayIter(np.ones((2, 3))),
        "own iterator": lambda: mx.io.DataIter(2),
        "store": lambda: mx.kv.create("local"),
        "optimizer": lambda: mx.optimizer.SGD(),
        "load": lambda: mx.sym.load_json(text),
        "setenv": lambda: mx.util.setenv("SYMBIND_LOG", "1"),
    }
    for number, (what, begin) in enumerate(begins.items()):
        monkeypatch.setenv("SYMBIND_DATA", str(number))
        assert _core.setting("SYMBIND_DATA") != str(number), what
        begin()
        assert _core.setting("SYMBIND_DATA") == str(number), what
    mx.util.setenv("SYMBIND_LOG", None)
    monkeypatch.delenv("SYMBIND_DATA")
    _core.refresh_settings()
    assert _core.setting("SYMBIND_DATA") == ""


def test_setenv_refuses_invalid_names():
    for name in ("", "A=B", "A\0B"):
        with pytest.raises(ValueError, match="environment variable"):
            mx.util.setenv(name, "1")
        with pytest.raises(ValueError, match="environment variable"):
            mx.util.getenv(name)
    with pytest.raises(ValueError, match="NUL"):
        mx.util.setenv("SYMBIND_TEST_NUL", "a\0b")
    assert mx.util.getenv("SYMBIND_TEST_NUL") is None


ENVIRONMENT_CHANGES = """
import os, threading
import numpy as np
import symbind as mx

stop = threading.Event()
def change():
    i = 0
    while not stop.is_set():
        for i in range(2000):
            os.environ["SYMBIND_TEST_%d" % i] = "x" * (i % 50)
        for i in range(2000):
            del os.environ["SYMBIND_TEST_%d" % i]
thread = threading.Thread(target=change)
thread.start()
net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2)
for i in range(60):
    executor = net.simple_bind(mx.cpu(), data=(2, 3))
    executor.forward()
    mx.io.NDArrayIter(np.ones((4, 3)), batch_size=2)
    (mx.nd.ones(1 << 16) + 1).wait_to_read()
stop.set()
thread.join()
print("done")
"""


def test_the_environment_changes_while_others_work():
    done = run(ENVIRONMENT_CHANGES)
    assert done.stdout == "done\n", done.stderr[-2000:]


@pytest.mark.parametrize("name", ["SYMBIND_NUM_THREADS", "MXNET_OMP_MAX_THREADS", "OMP_NUM_THREADS"])
def test_a_hundred_thousand_threads(name):
    """More threads than SYMBIND_LIMIT_THREADS are an error; of what OpenMP offers only so many are used."""
    program = """if 1:
        import symbind as mx
        try:
            print((mx.nd.ones(1 << 20) + 1).sum().asscalar())
        except ValueError as error:
            print(error)
    """
    for many in ("100000",) if name == "OMP_NUM_THREADS" else ("100000", "2147483648"):
        done = run(program, SYMBIND_LIMIT_THREADS="8" if name == "OMP_NUM_THREADS" else "1024", **{name: many})
        assert done.returncode == 0, done.stderr[-2000:]
        if name == "OMP_NUM_THREADS":
            assert float(done.stdout) == 2 << 20
        else:
            assert many in done.stdout and "1024" in done.stdout


FORK = """
import os, sys
import symbind as mx

folder = sys.argv[1]
rec, idx = os.path.join(folder, "a.rec"), os.path.join(folder, "a.idx")
writer = mx.recordio.MXIndexedRecordIO(idx, rec, "w")
writer.write_idx(0, b"zero")
mx.profiler.set_config(profile_all=True, filename=os.path.join(folder, "trace.json"))
mx.profiler.set_state("run")
(mx.nd.ones(4) + 1).wait_to_read()
if os.fork() == 0:
    how = sys.argv[2]
    if how == "writes":
        try:
            writer.write(b"of the child")
        except mx.MXNetError:
            pass
    if how == "lets go":
        del writer
    sys.exit(0)  # not os._exit: everything that happens at the end of a process happens
assert os.wait()[1] == 0
assert not os.path.exists(os.path.join(folder, "trace.json")), "the child wrote the parent's trace"
writer.write_idx(1, b"one")
writer.close()
reader = mx.recordio.MXIndexedRecordIO(idx, rec, "r")
assert reader.keys == [0, 1], reader.keys
assert [reader.read_idx(k) for k in reader.keys] == [b"zero", b"one"]
reader = mx.recordio.MXRecordIO(rec, "r")
assert [reader.read(), reader.read(), reader.read()] == [b"zero", b"one", None]
print("done")
"""


@pytest.mark.parametrize("how", ["exits", "lets go", "writes"])
def test_a_forked_child_writes_nothing_of_the_parents(how, tmp_path):
    done = run("import sys; sys.argv = %r\n%s" % (["", str(tmp_path), how], FORK))
    assert done.stdout == "done\n", done.stderr[-2000:]
