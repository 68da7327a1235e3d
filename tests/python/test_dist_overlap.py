"""Sums that overlap with computing: bits of all kinds of trainings, a lost worker in mid-step, errors in backward."""
import os
import re
import subprocess
import sys

import pytest

from dist_job import Job, check_all_passed, run_job

# One script for a job of several workers and for one process with as many contexts. It gives each its
# rows of a batch of 12 and prints the hash of what was trained.
PRELUDE = """
import hashlib, os, signal, sys
import numpy as np
import symbind as mx
WORKERS = {workers}
kv = mx.kv.create("dist_sync") if os.environ.get("DMLC_ROLE") else "local"
rank = kv.rank if kv != "local" else 0
contexts = [mx.cpu(0)] if kv != "local" else [mx.cpu(i) for i in range(WORKERS)]
share = 12 // WORKERS
rng = np.random.RandomState(3)


def batches(count, *shape):
    for _ in range(count):
        x = rng.rand(12, *shape).astype("float32")
        y = rng.randint(0, 10, 12).astype("float32")
        rows = slice(0, 12) if kv == "local" else slice(share * rank, share * (rank + 1))
        yield mx.io.DataBatch([mx.nd.array(x[rows])], [mx.nd.array(y[rows])],
                              provide_data=[("data", x[rows].shape)],
                              provide_label=[("softmax_label", y[rows].shape)])


def iterator(count, *shape):
    all_of = list(batches(count, *shape))
    return mx.io.NDArrayIter(np.concatenate([b.data[0].asnumpy() for b in all_of]),
                             np.concatenate([b.label[0].asnumpy() for b in all_of]),
                             batch_size=12 if kv == "local" else share)


def mlp():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=32, name="fc1")
    for i in range(2, 5):
        net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu"), num_hidden=32, name="fc%d" % i)
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10, name="out"), name="softmax")


def ready(module, rows=None, optimizer="sgd", grad_req="write", **parameters):
    rows = rows or (12 if kv == "local" else share)
    module.bind([("data", (rows, 7))], [("softmax_label", (rows,))], grad_req=grad_req)
    mx.random.seed(5)
    module.init_params(mx.init.Xavier())
    parameters.setdefault("rescale_grad", 1 / 12)
    module.init_optimizer(kvstore=kv, optimizer=optimizer, optimizer_params=parameters)
    return module


def report(module):
    text = hashlib.sha256()
    for arrays in module.get_params():
        for name in sorted(arrays):
            text.update(name.encode() + arrays[name].asnumpy().tobytes())
    print("HASH", text.hexdigest())
"""


def hash_of_one(folder, script, workers):
    path = os.path.join(str(folder), "one.py")
    with open(path, "w", encoding="utf-8") as file:
        file.write(PRELUDE.format(workers=workers) + script)
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DMLC_")}
    done = subprocess.run([sys.executable, path], env=environment, cwd=str(folder), text=True, check=False,
                          capture_output=True)
    assert done.returncode == 0, done.stderr
    return re.search(r"HASH (\w+)", done.stdout).group(1)


def hashes_of_job(script, workers):
    results = run_job(PRELUDE.format(workers=workers) + script, workers)
    check_all_passed(results)
    return [re.search(r"HASH (\w+)", result.out).group(1) for result in results]


# Each kind of training, as the body of a script.
KINDS = {
    # float16 and float32 gradients are summed in different buckets.
    "two types": """
net = mx.sym.Cast(mx.sym.Variable("data"), dtype="float16")
net = mx.sym.FullyConnected(net, num_hidden=16, name="half")
net = mx.sym.FullyConnected(mx.sym.Cast(net, dtype="float32"), num_hidden=10, name="single")
module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), context=contexts)
ready(module, learning_rate=0.1, momentum=0.9, multi_precision=True)
assert module.get_params()[0]["half_weight"].dtype == np.float16
for batch in batches(8, 7):
    module.forward_backward(batch)
    module.update()
report(module)
""",
    # Gradients of two batches are added up in the executor.
    "grad_req add": """
module = ready(mx.mod.Module(mlp(), context=contexts), grad_req="add", learning_rate=0.1, momentum=0.9)
for i, batch in enumerate(batches(8, 7)):
    module.forward_backward(batch)
    if i % 2:
        module.update()
        for gradients in module._exec_group.grad_arrays:
            for gradient in gradients:
                gradient[:] = 0
report(module)
""",
    "a custom optimizer": """
@mx.optimizer.register
class Halving(mx.optimizer.Optimizer):
    def create_state(self, index, weight):
        return mx.nd.zeros(weight.shape)

    def update(self, index, weight, grad, state):
        self._update_count(index)
        state[:] = state / 2 + grad * self.rescale_grad
        weight[:] = weight - self._get_lr(index) * state


module = mx.mod.Module(mlp(), context=contexts)
data = iterator(8, 7)
mx.random.seed(5)
module.fit(data, num_epoch=1, kvstore=kv, optimizer="halving", optimizer_params=dict(learning_rate=0.1, rescale_grad=1 / 12),
           initializer=mx.init.Xavier(), progress=False)
report(module)
""",
    "frozen parameters": """
module = ready(mx.mod.Module(mlp(), context=contexts, fixed_param_names=["fc1_weight", "fc3_weight", "fc3_bias"]),
               learning_rate=0.1, momentum=0.9)
for batch in batches(8, 7):
    module.forward_backward(batch)
    module.update()
report(module)
""",
    # The update of a step must use the rate of that step, whenever its sum comes back.
    "a rate that changes between steps": """
module = ready(mx.mod.Module(mlp(), context=contexts), optimizer="adam", learning_rate=0.1)
optimizer = module._optimizer
for i, batch in enumerate(batches(9, 7)):
    module.forward_backward(batch)
    module.update()
    optimizer.lr = 0.1 / (i + 1)
    if i % 3 == 0:
        module._exec_group.param_arrays[2][0].asnumpy()
report(module)
""",
    # Networks of several lengths: they share keys and finish their gradients in different orders.
    "buckets": """
def network(length):
    data = mx.sym.Variable("data")
    weight, bias = mx.sym.Variable("shared_weight"), mx.sym.Variable("shared_bias")
    net = mx.sym.FullyConnected(data, num_hidden=7, weight=weight, bias=bias)
    for i in range(length):
        net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="relu"), num_hidden=7, weight=weight, bias=bias)
    if length > 2:  # another place for the same parameter
        net = mx.sym.FullyConnected(net, num_hidden=10, name="out")
    else:
        net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type="tanh"), num_hidden=10, name="out")
    return mx.sym.SoftmaxOutput(net, name="softmax"), ["data"], ["softmax_label"]


module = ready(mx.mod.BucketingModule(network, default_bucket_key=4, context=contexts), learning_rate=0.1, momentum=0.9)
for i, batch in enumerate(batches(12, 7)):
    batch.bucket_key = [4, 1, 3][i % 3]
    module.forward_backward(batch)
    module.update()
report(module)
""",
    "a chain of modules": """
first = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=9, name="a"), act_type="tanh")
second = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=10, name="b"), name="softmax")
module = mx.mod.SequentialModule()
module.add(mx.mod.Module(first, label_names=[], context=contexts))
module.add(mx.mod.Module(second, context=contexts), take_labels=True, auto_wiring=True)
ready(module, learning_rate=0.1, momentum=0.9)
for batch in batches(8, 7):
    module.forward_backward(batch)
    module.update()
report(module)
""",
    "clipping that clips some steps": """
module = mx.mod.Module(mlp(), context=contexts)
data = iterator(8, 7)
mx.random.seed(5)
module.fit(data, num_epoch=2, kvstore=kv, optimizer="adam", optimizer_params=dict(rescale_grad=1 / 12),
           initializer=mx.init.Xavier(), progress=False, clip_global_norm=0.7)
report(module)
""",
}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_bits_of_one_process(tmp_path, kind):
    # A power of 2: get_params of one process is the mean over its contexts, which must be exact.
    workers = 4 if kind == "buckets" else 2
    assert set(hashes_of_job(KINDS[kind], workers)) == {hash_of_one(tmp_path, KINDS[kind], workers)}


def test_workers_may_run_different_buckets_at_the_same_time():
    # All have the same keys, but their gradients become final in different orders: worker 0's counts.
    assert len(set(hashes_of_job("""
def network(key):
    net = mx.sym.Variable("data")
    for name in ["a", "b"] if key else ["b", "a"]:
        net = mx.sym.Activation(mx.sym.FullyConnected(net, num_hidden=7, name=name), act_type="tanh")
    net = mx.sym.FullyConnected(net, num_hidden=10, name="out")
    return mx.sym.SoftmaxOutput(net, name="softmax"), ["data"], ["softmax_label"]


module = ready(mx.mod.BucketingModule(network, default_bucket_key=0, context=contexts), learning_rate=0.1)
for i, batch in enumerate(batches(6, 7)):
    batch.bucket_key = (i + rank) % 2
    module.forward_backward(batch)
    module.update()
report(module)
""", 2))) == 1


def test_several_devices_per_worker():
    script = """
module = ready(mx.mod.Module(mlp(), context=[mx.cpu(0), mx.cpu(1)]), learning_rate=0.1, momentum=0.9)
for batch in batches(6, 7):
    module.forward_backward(batch)
    module.update()
a, b = (module._exec_group.param_arrays[0][d].asnumpy() for d in range(2))
assert (a == b).all()
report(module)
"""
    assert len(set(hashes_of_job(script, 2))) == 1


def test_the_last_update_reaches_the_others_when_a_worker_ends():
    # Nothing reads worker 1's weights after its last update: it leaves while worker 0 needs its sums.
    results = run_job(PRELUDE.format(workers=2) + """
import time
module = ready(mx.mod.Module(mlp(), context=contexts), learning_rate=0.1)
for batch in batches(4, 7):
    module.forward_backward(batch)
    if rank == 0:
        time.sleep(0.2)
    module.update()
if rank == 0:
    report(module)
""", 2)
    check_all_passed(results)


def test_a_worker_lost_in_backward():
    job = Job(PRELUDE.format(workers=3) + """
class Kill(mx.operator.CustomOp):
    count = 0

    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        Kill.count += 1
        if rank == 2 and Kill.count == 4:
            os.kill(os.getpid(), signal.SIGKILL)  # some sums of this step are started, others not
        self.assign(in_grad[0], req[0], out_grad[0])


@mx.operator.register("kill")
class KillProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Kill()


net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
net = mx.sym.FullyConnected(mx.sym.Custom(net, op_type="kill"), num_hidden=10, name="fc2")
module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), context=contexts)
data = mx.io.NDArrayIter(np.ones((80, 7), "float32"), np.zeros(80, "float32"), batch_size=4)
module.fit(data, num_epoch=1, kvstore=kv, progress=False)
""", 3)
    results = job.wait(30)
    assert results[2].status == -9
    for result in results[:2]:
        assert result.status == 75, result
        assert re.search(r"WorkerLostError: .*worker 2 \\(.*\\) lost at update \\d+: its connection is closed".replace(
            "\\\\", "\\"), result.err), result.err


def test_an_error_in_backward_ends_the_job_with_its_text():
    results = run_job(PRELUDE.format(workers=2) + """
class Fail(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        self.assign(out_data[0], req[0], in_data[0])

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        if rank == 1:
            raise ValueError("my backward fails")
        self.assign(in_grad[0], req[0], out_grad[0])


@mx.operator.register("fails")
class FailProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Fail()


net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
net = mx.sym.FullyConnected(mx.sym.Custom(net, op_type="fails"), num_hidden=10, name="fc2")
module = mx.mod.Module(mx.sym.SoftmaxOutput(net, name="softmax"), context=contexts)
data = mx.io.NDArrayIter(np.ones((80, 7), "float32"), np.zeros(80, "float32"), batch_size=4)
module.fit(data, num_epoch=1, kvstore=kv, progress=False)
""", 2, seconds=30)
    assert [result.status != 0 for result in results] == [True, True]
    assert all("my backward fails" in result.err for result in results), results
