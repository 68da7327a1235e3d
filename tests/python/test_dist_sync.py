"""dist_sync over several processes: values, first values, the bits of a training, disagreements."""
import os
import re
import subprocess
import sys

import numpy as np
import pytest

import symbind as mx
from dist_job import Job, check_all_passed, free_port, run_job

VALUES = """
import numpy as np
import symbind as mx
kv = mx.kv.create({name!r})
n, rank = kv.num_workers, kv.rank
assert kv.type == {name!r} and n == {workers}
kv.init("w", mx.nd.full((3, 5), 100 + rank))
out = mx.nd.zeros((3, 5))
kv.pull("w", out=out)
assert (out.asnumpy() == 100).all(), "the first value is that of worker 0"
for step in range(1, 4):
    devices = [mx.nd.full((3, 5), step * (rank + 1), ctx=mx.cpu(d)) for d in range(2)]
    kv.push("w", devices)
    kv.pull("w", out=out)
    assert (out.asnumpy() == 2 * step * n * (n + 1) / 2).all(), out.asnumpy()
kv.init(["a", "b"], [mx.nd.zeros((700001,)), mx.nd.zeros((2,), dtype="int32")])
big = mx.nd.array(np.arange(700001) % 1000 * (rank + 1))
small = mx.nd.array([rank, 2 ** 30], dtype="int32")
order = ["a", "b"] if rank % 2 else ["b", "a"]  # the order of pushes may differ
for key in order:
    kv.push(key, {{"a": big, "b": small}}[key])
kv.pull("a", out=big)
kv.pull("b", out=small)
assert (big.asnumpy() == np.arange(700001) % 1000 * (n * (n + 1) / 2)).all()
assert small.asnumpy().tolist() == [n * (n - 1) // 2, ((n * 2 ** 30 + 2 ** 31) % 2 ** 32) - 2 ** 31]
kv._barrier()
"""


@pytest.mark.parametrize("name, workers, servers", [("dist_sync", 2, 0), ("dist_device_sync", 3, 1)])
def test_sums_over_workers_and_devices(name, workers, servers):
    check_all_passed(run_job(VALUES.format(name=name, workers=workers), workers, servers=servers))


def test_the_updater_runs_on_every_worker():
    check_all_passed(run_job("""
import symbind as mx
kv = mx.kv.create("dist")
kv.init(3, mx.nd.ones((2, 3)))
kv.set_optimizer(mx.optimizer.create("test", rescale_grad=2))
out = mx.nd.zeros((2, 3))
for i in range(1, 4):
    kv.push(3, mx.nd.full((2, 3), kv.rank + 1))
    kv.pull(3, out=out)
    assert (out.asnumpy() == 1 + i * 2 * 3).all(), out.asnumpy()
""", 2))


# A network on one process with several contexts, or on as many workers: SCRIPT steps contexts kind
TRAIN = """
import hashlib, os, sys
import numpy as np
import symbind as mx
STEPS, KIND, CONTEXTS = {steps}, {kind!r}, {contexts}
kv = mx.kv.create("dist_sync") if os.environ.get("DMLC_ROLE") else None
n, rank = (kv.num_workers, kv.rank) if kv else (1, 0)
rng = np.random.RandomState(3)
x = rng.rand(12 * STEPS, 1, 12, 12).astype("float32")
y = rng.randint(0, 10, 12 * STEPS).astype("float32")
rows = np.arange(12 * STEPS).reshape(STEPS, n, 12 // n)[:, rank].ravel()
data = mx.io.NDArrayIter(x[rows], y[rows], batch_size=12 // n)
net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=8, name="c1")
if KIND == "adam":
    net = mx.sym.BatchNorm(net, fix_gamma=False, name="bn")
net = mx.sym.Pooling(mx.sym.Activation(net, act_type="relu"), kernel=(2, 2), stride=(2, 2), pool_type="max")
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=10, name="fc"), name="softmax")
mx.random.seed(7 + rank)  # the first values differ: those of worker 0 count
module = mx.mod.Module(net, context=[mx.cpu(i) for i in range(CONTEXTS)])
parameters = dict(learning_rate=0.01) if KIND == "adam" else dict(learning_rate=0.05, momentum=0.9)
module.fit(data, num_epoch={epochs}, kvstore=kv or "local", optimizer=KIND, optimizer_params=parameters,
           initializer=mx.init.Xavier(), progress=False, {options})
text = hashlib.sha256()
for arrays in module.get_params():
    for name in sorted(arrays):
        text.update(name.encode() + arrays[name].asnumpy().tobytes())
module.save_optimizer_states("states%d" % rank)
with open("states%d" % rank, "rb") as file:
    text.update(file.read())
print("HASH", text.hexdigest())
"""


def hash_of_one(folder, **values):
    """Of one process with several contexts."""
    path = os.path.join(str(folder), "one.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(TRAIN.format(**values))
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DMLC_")}
    done = subprocess.run([sys.executable, path], env=environment, cwd=str(folder), text=True, check=True,
                          capture_output=True)
    return re.search(r"HASH (\w+)", done.stdout).group(1)


def hashes_of(results):
    """Of all workers."""
    check_all_passed(results)
    return {re.search(r"HASH (\w+)", result.out).group(1) for result in results}


@pytest.mark.parametrize("kind, workers", [("sgd", 2), ("adam", 3)])
def test_a_training_has_the_bits_of_one_process_with_as_many_contexts(tmp_path, kind, workers):
    values = dict(steps=20, kind=kind, epochs=2, options="")
    assert hashes_of(run_job(TRAIN.format(contexts=1, **values), workers)) == \
        {hash_of_one(tmp_path, contexts=workers, **values)}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["sgd", "adam"])
@pytest.mark.parametrize("workers", [2, 3, 4])
def test_a_hundred_steps_repeat_and_equal_one_process(tmp_path, kind, workers):
    values = dict(steps=100, kind=kind, epochs=1, options="")
    first = hashes_of(run_job(TRAIN.format(contexts=1, **values), workers))
    assert first == hashes_of(run_job(TRAIN.format(contexts=1, **values), workers))
    assert first == {hash_of_one(tmp_path, contexts=workers, **values)}


def test_clipping_accumulation_and_average_act_on_the_sum(tmp_path):
    values = dict(steps=8, kind="sgd", epochs=1,
                  options="clip_global_norm=0.05, accumulate=2, ema_decay=0.9")
    assert hashes_of(run_job(TRAIN.format(contexts=1, **values), 2)) == \
        {hash_of_one(tmp_path, contexts=2, **values)}


def test_worker_0_decides_when_to_stop():
    # The workers see different values; without a common decision one would wait for the other.
    results = run_job("""
import numpy as np
import symbind as mx
kv = mx.kv.create("dist_sync")
data = mx.io.NDArrayIter(np.ones((4, 3), "float32"), np.zeros(4, "float32"), batch_size=2)
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), name="softmax")
epochs = []
def stop(epoch, symbol, arguments, auxiliary):
    epochs.append(epoch)
    if epoch == (2 if kv.rank == 0 else 1):
        raise mx.callback.StopTraining("enough")
mx.mod.Module(net).fit(data, num_epoch=5, kvstore=kv, epoch_end_callback=stop, progress=False)
print("EPOCHS", epochs)
""", 2)
    check_all_passed(results)
    assert ["EPOCHS [0, 1, 2]" in result.out for result in results] == [True, True]


# ------------------------------------------------------------------------ disagreements

def errors_of(script, workers=2, **options):
    """The last line that each worker printed to stderr; all must have failed."""
    results = run_job("import symbind as mx\n" + script, workers, seconds=20, **options)
    for result in results:
        assert result.status != 0, result
    return [result.err for result in results]


@pytest.mark.parametrize("script, text", [
    ("kv = mx.kv.create('dist_sync')\nkv.init('w', mx.nd.zeros((2, 2 + kv.rank)))",
     r"init of key w: the workers do not agree\n  worker 0: float32 \(2, 2\)\n  worker 1: float32 \(2, 3\)"),
    ("kv = mx.kv.create('dist_sync')\nkv.init('w', mx.nd.zeros(2, dtype=['float32', 'float16'][kv.rank]))",
     r"worker 1: float16 \(2,\)"),
    ("kv = mx.kv.create('dist_sync')\nkv.init('key%d' % kv.rank, mx.nd.zeros(2))",
     r"wait for different things.*init of key key0.*init of key key1"),
    ("kv = mx.kv.create('dist_sync')\nkv.init('w', mx.nd.zeros(2))\n"
     "kv.set_optimizer(mx.optimizer.SGD(learning_rate=0.1 + kv.rank))",
     r"set_optimizer: the workers do not agree.*worker 1: SGD.*"),
    ("kv = mx.kv.create('dist_sync')\nkv.push('w', mx.nd.zeros(2))", r"push of key w which has not been init"),
    ("kv = mx.kv.create('dist_sync')\nif kv.rank == 0: raise RuntimeError('my own fault')\n"
     "kv.init('w', mx.nd.zeros(2))", r"my own fault"),
])
def test_disagreements_name_the_workers(script, text):
    errors = errors_of(script)
    assert any(re.search(text, one, re.DOTALL) for one in errors), errors
    assert re.search(text, errors[1], re.DOTALL), errors[1]


# One batch more than the others needs no sum of theirs before the end of the epoch; two do.
@pytest.mark.parametrize("fewer, text", [
    (1, r"the end of epoch 0: the workers do not agree\n  worker 0: 4 batches\n  worker 1: 3 batches"),
    (2, r"worker 0 .* waits for the sum of key .*worker 1 .* waits for the end of epoch 0.*as many batches per epoch"),
])
def test_fewer_batches_on_one_worker_are_named(fewer, text):
    errors = errors_of("""
import numpy as np
kv = mx.kv.create("dist_sync")
rows = 8 - 2 * %d * kv.rank
data = mx.io.NDArrayIter(np.ones((rows, 3), "float32"), np.zeros(rows, "float32"), batch_size=2)
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2), name="softmax")
mx.mod.Module(net).fit(data, num_epoch=2, kvstore=kv, progress=False)
""" % fewer)
    for error in errors:
        assert re.search(text, error, re.DOTALL), error


def test_different_networks_are_named():
    errors = errors_of("""
import numpy as np
kv = mx.kv.create("dist_sync")
data = mx.io.NDArrayIter(np.ones((8, 3), "float32"), np.zeros(8, "float32"), batch_size=2)
act = ["relu", "tanh"][kv.rank]
net = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc"), act_type=act)
mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax")).fit(data, num_epoch=1, kvstore=kv, progress=False)
""")
    for error in errors:
        assert "the network: the workers do not agree" in error, error


def test_a_forked_child_is_refused():
    check_all_passed(run_job("""
import os
import symbind as mx
kv = mx.kv.create("dist_sync")
kv.init("w", mx.nd.zeros(2))
child = os.fork()
if child == 0:
    try:
        kv.push("w", mx.nd.zeros(2))
    except mx.MXNetError as error:
        os._exit(7 if "a forked process cannot use" in str(error) else 8)
    os._exit(9)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
kv._barrier()
""", 2))


# ------------------------------------------------------------------------------ joining

def test_outside_of_a_job_the_error_says_how_to_start_one():
    with pytest.raises(mx.MXNetError, match="belongs to none\n  fix:  start it with python -m symbind.launch"):
        mx.kv.create("dist_sync")


CREATE = "import symbind as mx\nkv = mx.kv.create('dist_sync')\nkv._barrier()\n"


def test_no_scheduler():
    job = Job(CREATE, 1, scheduler=False, settings={"SYMBIND_DIST_JOIN_WAIT": "1"})
    assert "no scheduler answers at 127.0.0.1:%d within 1 s" % job.port in job.wait(20)[0].err


def test_too_few_workers():
    job = Job(CREATE, 1, settings={"SYMBIND_DIST_JOIN_WAIT": "1", "DMLC_NUM_WORKER": "3"})
    assert "2 of 3 workers did not join within 1 s" in job.wait(20)[0].err


def test_two_of_one_rank():
    results = run_job(CREATE, 2, seconds=30, by_rank={1: {"SYMBIND_DIST_RANK": "0"}},
                      settings={"SYMBIND_DIST_JOIN_WAIT": "2"})
    assert any("two processes have one rank: worker 0" in result.err for result in results), results


def test_one_worker_too_many():
    job = Job("import time\n" + CREATE + "time.sleep(1)\n", 2, settings={"DMLC_NUM_WORKER": "1"},
              by_rank={0: {"SYMBIND_DIST_RANK": ""}, 1: {"SYMBIND_DIST_RANK": ""}})
    results = job.wait(20)
    assert sorted(result.status for result in results) == [0, 1], results
    assert any("is one too many: the job has 1 workers" in result.err for result in results), results


def test_a_port_in_use():
    import socket
    port = free_port()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", port))
        taken.listen()
        job = Job(CREATE, 1, port=port, settings={"SYMBIND_DIST_JOIN_WAIT": "2"})
        results = job.wait(20)
        assert "cannot listen at 127.0.0.1:%d: the port is in use" % port in job.read(job.scheduler)[1]
    assert results[0].status != 0


def test_a_wrong_token():
    tokens = ["%064x" % 1, "%064x" % 2]
    results = run_job(CREATE, 2, seconds=30, settings={"SYMBIND_DIST_TOKEN": tokens[0], "SYMBIND_DIST_JOIN_WAIT": "2"},
                      by_rank={1: {"SYMBIND_DIST_TOKEN": tokens[1]}})
    assert "the process does not know the job's token" in results[1].err, results[1].err
    assert "1 of 2 workers did not join" in results[0].err, results[0].err


# -------------------------------------------------------------------------- compression

def two_bits(gradient, residual, threshold):
    """MXNet's definition, number by number: what is sent, and what is kept for the next gradient."""
    total = gradient + residual
    sent = np.where(total >= threshold, threshold, np.where(total <= -threshold, -threshold, 0)).astype("float32")
    return sent, (total - sent).astype("float32")


COMPRESSED = """
import numpy as np
import symbind as mx
kv = mx.kv.create("dist_sync")
kv.set_gradient_compression({params})
kv.init("w", mx.nd.ones((37, 5)))
out = mx.nd.zeros((37, 5))
kv.pull("w", out=out)
assert (out.asnumpy() == 1).all(), "the first value is not compressed"
results = []
for step in range(4):
    gradient = np.random.RandomState(10 * step + kv.rank).uniform(-1, 1, (37, 5)).astype("float32")
    kv.push("w", mx.nd.array(gradient))
    kv.pull("w", out=out)
    results.append(out.asnumpy())
np.save("sums.npy", results) if kv.rank == 0 else None
"""


def gradient_of(step, rank):
    return np.random.RandomState(10 * step + rank).uniform(-1, 1, (37, 5)).astype("float32")


def sums_of(job):
    check_all_passed(job.wait())
    return np.load(os.path.join(job.folder, "sums.npy"))


def test_two_bits_sum_what_each_worker_sends():
    got = sums_of(Job(COMPRESSED.format(params={"type": "2bit", "threshold": 0.4}), 3))
    kept = [np.zeros((37, 5), "float32") for _ in range(3)]
    for step in range(4):
        want = np.zeros((37, 5), "float32")
        for rank in range(3):
            sent, kept[rank] = two_bits(gradient_of(step, rank), kept[rank], np.float32(0.4))
            want = want + sent
        np.testing.assert_array_equal(got[step], want)


def test_sixteen_bits_round_what_is_sent_and_the_sum():
    got = sums_of(Job(COMPRESSED.format(params={"type": "fp16"}), 2))
    for step in range(4):
        parts = [gradient_of(step, rank).astype("float16").astype("float32") for rank in range(2)]
        np.testing.assert_array_equal(got[step], (parts[0] + parts[1]).astype("float16").astype("float32"))


BYTES = """
import symbind as mx
kv = mx.kv.create("dist_sync")
kv.init("w", mx.nd.zeros((1000000,)))
if {params}:
    kv.set_gradient_compression({params})
before = kv._core.bytes_sent
gradient = mx.nd.ones((1000000,))
kv.push("w", gradient)
kv.pull("w", out=gradient)
print(kv._core.bytes_sent - before)
"""


def test_compression_sends_fewer_bytes():
    sent = {}
    for name, params in (("float32", None), ("bf16", {"type": "bf16"}), ("2bit", {"type": "2bit"})):
        results = run_job(BYTES.format(params=params), 4)
        check_all_passed(results)
        sent[name] = [int(result.out) for result in results]
    # Each worker sends three quarters to the owners, and its quarter of the sum to three others.
    assert sent["float32"] == [2 * 3 * 1000000] * 4
    assert sent["bf16"] == [3 * 1000000] * 4
    # Each worker sends all its numbers, 16 in four bytes, to three others.
    assert sent["2bit"] == [3 * 1000000 // 16 * 4] * 4
    assert all(7 * few <= many for few, many in zip(sent["2bit"], sent["float32"]))


ROWS = """
import numpy as np
import symbind as mx
kv = mx.kv.create("dist_sync")
n, rank = kv.num_workers, kv.rank
def given(r):  # worker 2 has no rows; rows of others overlap; -0 is a row as well
    values = np.zeros((1000, 64), "float32")
    for row in {{0: (3, 10, 999), 1: (10, 11, 500, 999)}}.get(r, ()):
        values[row] = np.random.RandomState(100 * r + row).uniform(-1, 1, 64).astype("float32")
    values[20] = -0.0 if r == 1 else 0.0
    return values
want = given(0)
for r in range(1, n):
    want = want + given(r)
kv.init("w", mx.nd.zeros((1000, 64)))
for call in ("push", "pushpull"):
    before = kv._core.bytes_sent
    gradient = mx.nd.array(given(rank)).tostype("row_sparse")
    out = mx.nd.zeros((1000, 64))
    if call == "push":
        kv.push("w", gradient)
        kv.pull("w", out=out)
    else:
        kv.pushpull("w", gradient, out=out)
    assert (out.asnumpy().view("int32") == want.view("int32")).all()
    # A number of rows, then each row and its number, to all others.
    rows = (3, 5, 0)[rank]
    assert kv._core.bytes_sent - before == (n - 1) * (8 + rows * (8 + 64 * 4)), kv._core.bytes_sent - before
some = mx.nd.zeros((1000, 64), stype="row_sparse")
kv.row_sparse_pull("w", out=some, row_ids=mx.nd.array([10, 999]))
only = np.zeros_like(want)
only[[10, 999]] = want[[10, 999]]
assert (some.asnumpy() == only).all()
kv.push("w", mx.nd.zeros((1000, 64)).tostype("row_sparse"))
kv.pull("w", out=out)
assert (out.asnumpy() == 0).all()
"""


def test_only_rows_that_are_not_0_are_sent():
    check_all_passed(run_job(ROWS.format(), 3))


PUSHPULL = """
import numpy as np
import symbind as mx
kv = mx.kv.create("dist_sync")
n, rank = kv.num_workers, kv.rank
given = [np.random.RandomState(r).uniform(-1, 1, 300001).astype("float32") for r in range(n)]
want = given[0]
for one in given[1:]:
    want = want + one
kv.init("w", mx.nd.zeros((300001,)))
for kind in ("same", "other", "two", "view"):
    whole = mx.nd.zeros((2, 300001))
    whole[0] = given[rank]
    values = whole[0] if kind == "view" else mx.nd.array(given[rank])
    out = {{"same": [values], "view": [values], "other": [mx.nd.zeros((300001,))],
           "two": [mx.nd.zeros((300001,)), values]}}[kind]
    kv.pushpull("w", values, out=out)
    for array in out:
        assert (array.asnumpy() == want).all(), kind
    if kind == "other":
        assert (values.asnumpy() == given[rank]).all(), "the pushed array changed"
    if kind == "view":
        assert (whole[1].asnumpy() == 0).all()
    out[0][:] = -1
    stored = mx.nd.zeros((300001,))
    kv.pull("w", out=stored)
    assert (stored.asnumpy() == want).all(), "the stored value is the sum"
kv._set_updater(lambda key, pushed, stored: stored.__isub__(pushed))
values = mx.nd.array(given[rank])
kv.pushpull("w", values, out=values)
assert (values.asnumpy() == want - want).all(), "the updater runs"
"""


@pytest.mark.parametrize("workers", [1, 3])
def test_pushpull_sums_in_rank_order_and_stores_the_sum(workers):
    check_all_passed(run_job(PUSHPULL.format(), workers))


def test_compression_that_differs_is_named():
    errors = errors_of("kv = mx.kv.create('dist_sync')\n"
                       "kv.set_gradient_compression({'type': ['2bit', 'fp16'][kv.rank]})")
    assert all("set_gradient_compression: the workers do not agree" in error for error in errors), errors
