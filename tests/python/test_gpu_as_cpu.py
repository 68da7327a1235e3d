"""Scripts that say gpu() on a machine without one: the error, and SYMBIND_GPU_AS_CPU.

Each scene is a separate process: the meaning of a GPU is fixed at its first use.
"""
import os
import subprocess
import sys

import pytest

import symbind as mx

SCRIPT = """
import logging, sys
import numpy as np
import symbind as mx

logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stdout)
draw = np.random.RandomState(0)
X = draw.uniform(-1, 1, (40, 4))
y = X[:, 0] > X[:, 1]
net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
net = mx.sym.SoftmaxOutput(mx.sym.Dropout(net, p=0.0), name="softmax")


def trained(contexts, kvstore="device"):
    module = mx.mod.Module(net, context=contexts)
    module.fit(mx.io.NDArrayIter(X, y, 10), num_epoch=2, kvstore=kvstore,
               initializer=mx.init.One(), optimizer_params={"learning_rate": .5, "momentum": .9})
    return module
"""


def run(code, **environment):
    done = subprocess.run([sys.executable, "-c", SCRIPT + code], text=True, capture_output=True,
                          env={**os.environ, **environment})
    return done.returncode, done.stdout, done.stderr


def passes(code, **environment):
    status, output, errors = run(code, **environment)
    assert status == 0, output + errors
    return output


pytestmark = pytest.mark.skipif(mx.context.num_gpus() > 0, reason="there is a GPU here")


def test_without_it_the_error_says_how():
    status, _, errors = run("trained([mx.gpu(0)])")
    assert status == 1
    assert "gpu(0) cannot be used: no CUDA device" in errors
    assert "run the script as it is on the CPU with SYMBIND_GPU_AS_CPU=1 in the environment" in errors
    # Naming one costs nothing.
    assert passes("print(mx.gpu(), mx.context.num_gpus())") == "gpu(0) 0\n"


def test_devices_keep_their_names():
    output = passes("""
a = mx.nd.ones((2, 3), ctx=mx.gpu(1))
print(a.context, a.context.device_type, a.context == mx.gpu(0), (a * 2).context)
print(a.as_in_context(mx.cpu()).context, a.copyto(mx.gpu(0)).context)
print(mx.context.num_gpus(), mx.test_utils.list_gpus())
a[:] = 5
a[0, 1] = 7
print(a.sum().asscalar(), a[0].asnumpy().tolist(), np.from_dlpack(a).sum())
with mx.gpu(3):
    print(mx.nd.zeros((1,)).context)
print(repr(a).splitlines()[-1])
mx.nd.waitall()
""", SYMBIND_GPU_AS_CPU="2")
    assert output.splitlines() == [
        "gpu(1) gpu False gpu(1)", "cpu(0) gpu(0)", "2 range(0, 2)", "32.0 [5.0, 7.0, 5.0] 32.0",
        "gpu(3)", "<NDArray 2x3 @gpu(1)>"]


@pytest.mark.parametrize("kvstore", ["'device'", "'local'", "None"])
def test_training_is_the_same_as_on_cpus(kvstore):
    output = passes("""
on_gpus, on_cpus = (trained([kind(0), kind(1)], %s) for kind in (mx.gpu, mx.cpu))
weights = [x.get_params()[0]["fc_weight"].asnumpy() for x in (on_gpus, on_cpus)]
print((weights[0] == weights[1]).all(), on_gpus._exec_group.param_arrays[0][1].context)
""" % kvstore, SYMBIND_GPU_AS_CPU="1")
    lines = output.splitlines()
    assert lines[-1] == "True gpu(1)"
    accuracy = [line for line in lines if "accuracy" in line]
    assert len(accuracy) == 4 and accuracy[:2] == accuracy[2:]


def test_a_network_with_reorders_trains_as_on_the_cpu():
    """A VGG's convolutions keep blocked layouts, so steps between them and FullyConnected reorder.
    Without its Dropout layers, whose random numbers differ by device."""
    output = passes("""
X, y = draw.uniform(-1, 1, (2, 3, 64, 64)), draw.randint(0, 10, 2)
convolutions = mx.models.vgg(num_layers=11).get_internals()["pool5_output"]
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(convolutions, num_hidden=10), name="softmax")
weights = []
for device in (mx.gpu(0), mx.cpu(0)):
    mx.random.seed(1)
    module = mx.mod.Module(net, context=device)
    module.fit(mx.io.NDArrayIter(X, y, 2), num_epoch=1, initializer=mx.init.Xavier(),
               optimizer_params={"learning_rate": .01})
    plan = module._exec_group.execs[0].plan_text().splitlines()[0]
    weights.append({k: v.asnumpy() for k, v in module.get_params()[0].items()})
print(plan)
print(max(np.abs(w - weights[1][k]).max() for k, w in weights[0].items()), len(weights[0]))
""", SYMBIND_GPU_AS_CPU="1", SYMBIND_KERNELS="")
    plan, differences = output.splitlines()[-2:]
    assert int(plan.split(",")[-1].split()[0]) > 0, plan
    assert differences == "0.0 18"


def test_groups_of_devices():
    output = passes("""
with mx.AttrScope(ctx_group="a"):
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, name="fc1")
with mx.AttrScope(ctx_group="b"):
    x = mx.sym.FullyConnected(x, num_hidden=2, name="fc2")
bound = x.simple_bind(mx.cpu(), data=(2, 4), group2ctx={"a": mx.gpu(0), "b": mx.gpu(1)})
for array in bound.arg_arrays:
    array[:] = 1
print([a.context for a in bound.arg_arrays], bound.forward()[0].asnumpy().tolist())
""", SYMBIND_GPU_AS_CPU="1")
    assert output == ("[gpu(0), gpu(0), gpu(0), gpu(1), gpu(1)] [[16.0, 16.0], [16.0, 16.0]]\n")


def test_checkpoints_load_anywhere(tmp_path):
    prefix = str(tmp_path / "net")
    passes("trained([mx.gpu(0), mx.gpu(1)]).save_checkpoint(%r, 2, True)" % prefix,
           SYMBIND_GPU_AS_CPU="1")
    module = mx.mod.Module.load(prefix, 2, True)
    module.bind([("data", (10, 4))], [("softmax_label", (10,))])
    module.init_optimizer(optimizer_params={"learning_rate": .5, "momentum": .9})
    args, _ = module.get_params()
    assert {x.context for x in args.values()} == {mx.cpu()}
    assert {x.context for x in mx.nd.load(prefix + "-0002.params").values()} == {mx.cpu()}


def test_an_invalid_value():
    status, _, errors = run("mx.nd.zeros((1,), mx.gpu())", SYMBIND_GPU_AS_CPU="yes")
    assert status == 1 and "setting SYMBIND_GPU_AS_CPU is 'yes'; it takes a whole number" in errors


def test_a_whole_script_under_the_name_of_mxnet(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import mxnet as mx\n"
        "devices = [mx.gpu(i) for i in range(mx.context.num_gpus())]\n"
        "model = mx.model.FeedForward(mx.sym.SoftmaxOutput(mx.sym.FullyConnected("
        "mx.sym.Variable('data'), num_hidden=2), name='softmax'), ctx=devices, num_epoch=1)\n"
        "import numpy as np\n"
        "model.fit(mx.io.NDArrayIter(np.ones((8, 3)), np.ones(8), 4), kvstore='device')\n"
        "print(len(devices), model.predict(np.ones((2, 3))).shape)\n")
    done = subprocess.run([sys.executable, "-m", "symbind", str(script)], text=True,
                          capture_output=True, env={**os.environ, "SYMBIND_GPU_AS_CPU": "2"})
    assert (done.returncode, done.stdout) == (0, "2 (2, 2)\n"), done.stderr
