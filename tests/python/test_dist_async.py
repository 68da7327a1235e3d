"""dist_async: values on servers, every push acts once and at once, workers may die and come back."""
import os
import re
import signal
import time

import pytest

from dist_job import Job, check_all_passed, run_job

# All workers of these jobs fail: the scheduler does not wait the usual 10 s for them to join again.
ENDS_SOON = {"SYMBIND_DIST_JOIN_WAIT": "3"}

# Each worker pushes ones; the optimizer "test" adds rescale * gradient to the value and its state.
COUNT = """
import numpy as np
import symbind as mx
kv = mx.kv.create("dist_async")
n, rank = kv.num_workers, kv.rank
assert kv.type == "dist_async" and n == {workers}
kv.set_optimizer(mx.optimizer.create("test", rescale_grad=2))
kv.init("w", mx.nd.full((3, 5), 100 + rank))
kv.init(7, mx.nd.zeros((1001, 3)))
out = mx.nd.zeros((3, 5))
for step in range(50):
    kv.push("w", [mx.nd.ones((3, 5), ctx=mx.cpu(d)) for d in range(2)])
    kv.push(7, mx.nd.full((1001, 3), rank + 1))
    kv.pull("w", out=out)
    value = out.asnumpy()
    assert (value == value[0, 0]).all() and (value[0, 0] - 100) % 4 == 0, value
    assert 100 + 4 * (step + 1) <= value[0, 0] <= 100 + 4 * 50 * n
kv._barrier()
kv.pull("w", out=out)
assert (out.asnumpy() == 100 + 4 * 50 * n).all(), out.asnumpy()
big = mx.nd.zeros((1001, 3))
kv.pull(7, out=big)
assert (big.asnumpy() == 2 * 50 * n * (n + 1) / 2).all()
"""


@pytest.mark.parametrize("workers, servers, bound", [(2, 1, 10 ** 6), (3, 2, 1000)])
def test_pushes_of_all_workers_count_once(workers, servers, bound):
    check_all_passed(run_job(COUNT.format(workers=workers), workers, servers=servers,
                             settings={"MXNET_KVSTORE_BIGARRAY_BOUND": str(bound)}))


STATES = """
import numpy as np
import symbind as mx
kv = mx.kv.create("dist_async")
opt = mx.optimizer.create("sgd", momentum=0.9, learning_rate=0.1, wd=0)
kv.set_optimizer(opt)
kv.init("w", mx.nd.ones((7, 3)))
kv.init("v", mx.nd.ones((2,)))
gradient = mx.nd.array(np.arange(21).reshape(7, 3))
for _ in range(3):
    kv.push("w", gradient)
    kv.push("v", mx.nd.ones((2,)))
out, small = mx.nd.zeros((7, 3)), mx.nd.zeros((2,))
kv.pull("w", out=out)
kv.pull("v", out=small)
weight, momentum = np.ones((7, 3), "float32"), np.zeros((7, 3), "float32")
for _ in range(3):
    momentum = 0.9 * momentum - 0.1 * gradient.asnumpy()
    weight = weight + momentum
assert np.allclose(out.asnumpy(), weight, rtol=1e-6), out.asnumpy() - weight
kv.save_optimizer_states("states")
local = mx.optimizer.get_updater(mx.optimizer.create("sgd", momentum=0.9, learning_rate=0.1))
local.set_states(open("states", "rb").read())
assert sorted(local.states) == ["v", "w"] and local.states["w"].shape == (7, 3)
assert np.allclose(local.states["w"].asnumpy(), momentum, rtol=1e-6)
assert opt.num_update == 3
for _ in range(2):
    kv.push("w", gradient)
kv.load_optimizer_states("states")  # the momentum is that of three updates again
kv.pull("w", out=out)
before = out.asnumpy()
kv.push("w", gradient)
kv.pull("w", out=out)
expected = before + 0.9 * momentum - 0.1 * gradient.asnumpy()
assert np.allclose(out.asnumpy(), expected, rtol=1e-6), out.asnumpy() - expected
"""


@pytest.mark.parametrize("servers, bound", [(1, 10 ** 6), (3, 5)])
def test_states_are_saved_and_loaded(servers, bound):
    check_all_passed(run_job(STATES, 1, servers=servers, settings={"MXNET_KVSTORE_BIGARRAY_BOUND": str(bound)}))


CUSTOM = """
import symbind as mx


@mx.optimizer.register
class Halving(mx.optimizer.Optimizer):
    def __init__(self, factor=1.0, **kwargs):
        super().__init__(**kwargs)
        self.factor = factor

    def create_state(self, index, weight):
        return mx.nd.zeros(weight.shape)

    def update(self, index, weight, grad, state):
        state += 1
        weight[:] = weight * 0.5 + self.factor * grad + (1000 if index == "w" and self.lr != 0.25 else 0)
"""

USE_CUSTOM = """
import sys
sys.path.insert(0, {folder!r})
import symbind as mx
import halving
kv = mx.kv.create("dist_async")
kv.set_optimizer(mx.optimizer.create("halving", factor=3.0, learning_rate=0.25))
kv.init("w", mx.nd.full((4,), 8))
out = mx.nd.zeros((4,))
for expected in (7, 6.5, 6.25):
    kv.push("w", mx.nd.ones((4,)))
    kv.pull("w", out=out)
    assert (out.asnumpy() == expected).all(), out.asnumpy()
kv.save_optimizer_states("states")
assert (kv._updater.states["w"].asnumpy() == 3).all()
"""


def test_servers_run_a_custom_optimizer(tmp_path):
    (tmp_path / "halving.py").write_text(CUSTOM)
    script = USE_CUSTOM.format(folder=str(tmp_path))
    path = os.pathsep.join(filter(None, [str(tmp_path), os.environ.get("PYTHONPATH", "")]))
    check_all_passed(run_job(script, 1, servers=1, settings={"SYMBIND_DIST_SERVER_IMPORT": "halving",
                                                             "PYTHONPATH": path}))
    result, = run_job(script, 1, servers=1, settings=ENDS_SOON)
    assert result.status != 0 and "the servers know no optimizer 'Halving'" in result.err, result.err
    assert "--server-import" in result.err


@pytest.mark.parametrize("script, words", [
    ("kv.init('w', mx.nd.ones((2,)))\nkv.push('w', mx.nd.ones((2,)))\nkv.pull('w', out=mx.nd.ones((2,)))",
     "which have no optimizer"),
    ("kv.push('w', mx.nd.ones((2,)))", "has not been initialised"),
    ("kv.set_optimizer(opt)\nkv.init('w', mx.nd.ones((2,)))\nkv.push('w', mx.nd.ones((3,)))", r"the pushed array float32 \(3,\)"),
    ("kv.set_optimizer(opt)\nkv.init('w', mx.nd.ones((2 + kv.rank,)))\nkv._barrier()",
     r"key w is float32 \(2,\), but worker 1 gives float32 \(3,\)"),
    ("kv.set_gradient_compression({'type': '3bit'})", "3bit"),
    ("kv._set_updater(lambda *a: None)", "call set_optimizer"),
])
def test_bad_use_is_an_error_within_seconds(script, words):
    before = time.time()
    results = run_job("import symbind as mx\nkv = mx.kv.create('dist_async')\n"
                      "opt = mx.optimizer.create('sgd')\n" + script, 2, servers=1, settings=ENDS_SOON)
    assert time.time() - before < 20
    assert re.search(words, results[1].err), results
    assert results[1].status not in (0, None)


def test_a_job_without_servers_is_refused():
    result = run_job("import symbind as mx\nmx.kv.create('dist_async')", 1)[0]
    assert "keeps its values on servers, and this job has none" in result.err and "-s 1" in result.err


def test_compressed_pushes_have_the_values_of_a_device_store():
    script = """
import numpy as np
import symbind as mx
rng = np.random.RandomState(5)
gradients = [mx.nd.array(rng.randn(50, 7) * 0.4) for _ in range(6)]
def run(kv):
    kv.set_gradient_compression({params})
    kv.set_optimizer(mx.optimizer.create("test"))
    kv.init("w", mx.nd.zeros((50, 7)))
    for gradient in gradients:
        kv.push("w", gradient)
    out = mx.nd.zeros((50, 7))
    kv.pull("w", out=out)
    return out.asnumpy()
assert (run(mx.kv.create("dist_async")) == run(mx.kv.create("device"))).all()
"""
    for params in ({"type": "2bit", "threshold": 0.5}, {"type": "fp16"}, {"type": "bf16"}):
        check_all_passed(run_job(script.replace("{params}", repr(params)), 1, servers=2,
                                 settings={"MXNET_KVSTORE_BIGARRAY_BOUND": "100"}))


# Worker 1 is killed after a push that the server has answered, and started again.
REJOIN = """
import os, time
import symbind as mx
kv = mx.kv.create("dist_async")
kv.set_optimizer(mx.optimizer.create("test"))
kv.init("w", mx.nd.full((5,), kv.rank))
out = mx.nd.zeros((5,))
if kv.rank == 1 and not os.path.exists("died"):
    for _ in range(10):
        kv.push("w", mx.nd.ones((5,)))
    kv.pull("w", out=out)
    open("died", "w").close()
    time.sleep(60)
print("READY", flush=True)
for _ in range(100):
    kv.push("w", mx.nd.ones((5,)))
    kv.pull("w", out=out)
    time.sleep(0.01)
if kv.rank == 0:
    until = time.time() + 20
    while (out.asnumpy() != 210).any() and time.time() < until:
        kv.pull("w", out=out)
        time.sleep(0.05)
    assert (out.asnumpy() == 210).all(), out.asnumpy()
kv._barrier()
"""


def test_a_killed_worker_joins_again_and_the_sums_are_exact():
    job = Job(REJOIN, 2, servers=2)
    try:
        until = time.time() + 30
        while not os.path.exists(os.path.join(job.folder, "died")):
            assert time.time() < until, [job.read(p) for p in job.processes()]
            time.sleep(0.01)
        job.workers[1].send_signal(signal.SIGKILL)
        job.workers[1].wait()
        killed = time.time()
        job.restart_worker(1)
        while "READY" not in job.read(job.workers[1])[0]:
            assert time.time() < killed + 10, [job.read(p) for p in job.processes()]
            time.sleep(0.01)
    except BaseException:
        job.end()
        raise
    check_all_passed(job.wait())


def test_a_lost_server_ends_the_job_with_its_name():
    job = Job("""
import time
import symbind as mx
kv = mx.kv.create("dist_async")
kv.set_optimizer(mx.optimizer.create("test"))
kv.init("w", mx.nd.zeros((5,)))
print("READY", flush=True)
out = mx.nd.zeros((5,))
while True:
    kv.push("w", mx.nd.ones((5,)))
    kv.pull("w", out=out)
""", 2, servers=2)
    until = time.time() + 30
    while not all("READY" in job.read(w)[0] for w in job.workers):
        assert time.time() < until
        time.sleep(0.01)
    job.servers[1].send_signal(signal.SIGKILL)
    results = job.wait(20)
    for result in results:
        assert result.status == 75 and re.search(r"server 1 \(.*pid \d+\) lost", result.err), result


TRAIN = """
import numpy as np
import symbind as mx
rng = np.random.RandomState(1)
x = rng.randn(1200, 20).astype("float32")
truth = rng.randn(20, 4)
y = (x @ truth).argmax(1).astype("float32")
kv = mx.kv.create("dist_async")
rank, n = kv.rank, kv.num_workers
data = mx.io.NDArrayIter(x[rank::n], y[rank::n], batch_size=30)
net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=32, name="a")
net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu"), num_hidden=4, name="b")
module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"))
mx.random.seed(3)
module.fit(data, optimizer="sgd", optimizer_params={"learning_rate": 0.1, "momentum": 0.5}, kvstore=kv,
           initializer=mx.init.Xavier(), num_epoch=20)
score = module.score(mx.io.NDArrayIter(x, y, batch_size=30), "acc")[0][1]
print("SCORE", score, flush=True)
assert score > 0.9, score
"""


def test_a_module_trains_on_servers():
    check_all_passed(run_job(TRAIN, 2, servers=2))
