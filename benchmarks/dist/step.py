#!/usr/bin/env python3
"""Times training steps of several workers: Symbind, PyTorch (DDP over Gloo) and MXNet (dist_sync) in turns.

    benchmarks/dist/step.py lenet [--rounds 3] [--torch PYTHON] [--mxnet PYTHON]
    benchmarks/dist/step.py wire [--rounds 3] [--rate 1000] [--layers 7] [--sleep] [--torch PYTHON] [--mxnet PYTHON]

lenet: two workers with one thread each against one such worker, LeNet with a batch of 64 per worker. The output
has the ratio of the samples per second; 2 is perfect.

wire: two workers in network namespaces, connected by links of --rate Mbit/s, train a network whose gradients
take about as long on the wire as the step takes to compute. The output has the time of a step over the longer
of the two; 1 is perfect. The time on the wire is that of all bytes at the links' rate. The output also has the
shortest step that the order of the layers allows: a layer's gradient is sent when its backward has ended, and its
next forward waits for it. With --sleep the layers of Symbind's network sleep instead of computing: sending then has
the processor for itself. This needs root; the namespaces exist while the benchmark runs.

Each library runs in the Python given for it; a library without one is left out, and the output says so. Every
round runs each library once, in new processes with one thread each, and takes the median of its steps.
"""
import argparse
import contextlib
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile

from wire import Links

# Of the network of `wire`. As in most networks the first layer is small; the others have so many numbers in all.
INPUTS, NUMBERS = 64, 6 * 1024 * 1024
# The part of a link's rate that a sum reaches (wire.py), and the part of a step that is forward.
REACHED, FORWARD = 0.94, 1 / 3

# Symbind and MXNet run the same script.
MODULE = """
import os, time
import numpy as np
import {module} as mx
class Sleep(mx.operator.CustomOp):  # a layer that takes its time, and no processor
    def forward(self, is_train, req, in_data, out_data, aux):
        time.sleep({sleep} / 3)
    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        time.sleep({sleep} * 2 / 3)
@mx.operator.register("sleeps")
class SleepProp(mx.operator.CustomOpProp):
    def list_arguments(self):
        return ["data", "weight"]
    def infer_shape(self, shapes):
        return [shapes[0], ({units}, {units})], [shapes[0]], []
    def create_operator(self, ctx, shapes, dtypes):
        return Sleep()
kv = mx.kv.create("dist_sync") if {workers} > 1 else "local"
rng = np.random.RandomState(0)
if {lenet}:
    x = rng.rand({batch} * {steps}, 1, 28, 28).astype("float32")
    net = mx.sym.Variable("data")
    for filters in (20, 50):
        net = mx.sym.Activation(mx.sym.Convolution(net, kernel=(5, 5), num_filter=filters), act_type="tanh")
        net = mx.sym.Pooling(net, kernel=(2, 2), stride=(2, 2), pool_type="max")
    net = mx.sym.Activation(mx.sym.FullyConnected(mx.sym.Flatten(net), num_hidden=500), act_type="tanh")
else:
    x = rng.rand({batch} * {steps}, {inputs}).astype("float32")
    net = mx.sym.Variable("data")
    for i in range({layers}):
        if {sleep} and i > 0:
            net = mx.sym.Custom(net, op_type="sleeps")
        else:
            net = mx.sym.Activation(mx.sym.FullyConnected(net, num_hidden={units}), act_type="relu")
net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10), name="softmax")
y = rng.randint(0, 10, len(x)).astype("float32")
ends = []
mx.mod.Module(net).fit(mx.io.NDArrayIter(x, y, batch_size={batch}), num_epoch=1, kvstore=kv, optimizer="sgd",
                       optimizer_params=dict(learning_rate=0.01, momentum=0.9), initializer=mx.init.Xavier(),
                       batch_end_callback=lambda param: ends.append((time.perf_counter(), time.process_time())))
if {workers} == 1 or kv.rank == 0:
    print("MS", *(1000 * (b - a) / (len(ends) - 1 - {warm}) for a, b in zip(ends[{warm}], ends[-1])), flush=True)
"""

TORCH = """
import os, time
import torch
import torch.distributed as dist
torch.set_num_threads(1)
if {workers} > 1:
    dist.init_process_group("gloo")
torch.manual_seed(0)
layers = []
if {lenet}:
    data = torch.rand({batch}, 1, 28, 28)
    for before, after in ((1, 20), (20, 50)):
        layers += [torch.nn.Conv2d(before, after, 5), torch.nn.Tanh(), torch.nn.MaxPool2d(2)]
    layers += [torch.nn.Flatten(), torch.nn.Linear(800, 500), torch.nn.Tanh(), torch.nn.Linear(500, 10)]
else:
    data = torch.rand({batch}, {inputs})
    for i in range({layers}):
        layers += [torch.nn.Linear({units} if i else {inputs}, {units}), torch.nn.ReLU()]
    layers.append(torch.nn.Linear({units}, 10))
net = torch.nn.Sequential(*layers)
if {workers} > 1:
    net = torch.nn.parallel.DistributedDataParallel(net, gradient_as_bucket_view=True)
label = torch.randint(0, 10, ({batch},))
loss = torch.nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
ends = []
for i in range({steps}):
    optimizer.zero_grad()
    loss(net(data), label).backward()
    optimizer.step()
    ends.append((time.perf_counter(), time.process_time()))
if {workers} == 1 or dist.get_rank() == 0:
    print("MS", *(1000 * (b - a) / (len(ends) - 1 - {warm}) for a, b in zip(ends[{warm}], ends[-1])), flush=True)
if {workers} > 1:
    dist.barrier()
"""


def free_port():
    """A port that nothing uses now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def milliseconds(library, python, workers, links=None, **values):
    """The time of a step that worker 0 prints, and its processor time; with `links`, each worker is at one of them."""
    script = (TORCH if library == "torch" else MODULE).format(
        module=library, workers=workers, inputs=INPUTS, **values)
    servers = workers if library == "mxnet" and workers > 1 else 0
    roles = library != "torch" and workers > 1
    base = dict(os.environ, OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", SYMBIND_PROGRESS="0")
    port, host = str(free_port()), links.hub_address if links else "127.0.0.1"
    addresses = links.address if links else ["127.0.0.1"] * workers
    inside = ["ip", "netns", "exec"]
    places = [inside + [space] for space in links.spaces] if links else [[]] * workers
    if roles:
        base.update(DMLC_PS_ROOT_URI=host, DMLC_PS_ROOT_PORT=port, DMLC_NUM_WORKER=str(workers),
                    DMLC_NUM_SERVER=str(servers), SYMBIND_DIST_TOKEN=secrets.token_hex(32))
    elif workers > 1:
        base.update(MASTER_ADDR=addresses[0], MASTER_PORT=port, WORLD_SIZE=str(workers),
                    GLOO_SOCKET_IFNAME="wire" if links else "lo")
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file, contextlib.ExitStack() as running:
        file.write(script)
        file.flush()

        def start(place, command, **settings):
            process = subprocess.Popen(place + [python] + command, env=dict(base, **settings), text=True,
                                       stdout=subprocess.PIPE)
            running.callback(process.kill)
            return process

        serve = ["-c", "import " + library]
        hub = inside + [links.hub] if links else []
        others = [start(hub, serve, DMLC_ROLE="scheduler", SYMBIND_DIST_BIND=host)] if roles else []
        others += [start(places[i], serve, DMLC_ROLE="server") for i in range(servers)]
        processes = [start(places[rank], [file.name], RANK=str(rank), **({
            "DMLC_ROLE": "worker", "SYMBIND_DIST_RANK": str(rank),
            "SYMBIND_DIST_BIND": addresses[rank]} if roles else {})) for rank in range(workers)]
        texts = [process.communicate(timeout=600)[0] for process in processes]
        for process in others:
            process.communicate(timeout=60)
    found = [line for text in texts for line in text.splitlines() if line.startswith("MS ")]
    if len(found) != 1 or any(process.returncode for process in processes):
        raise SystemExit("a worker failed: " + " ".join(texts))
    return tuple(map(float, found[0].split()[1:]))


def libraries_of(options):
    """The Python of each library."""
    libraries = {"symbind": sys.executable}
    for name in ("torch", "mxnet"):
        if getattr(options, name):
            libraries[name] = getattr(options, name)
        else:
            print("{} is left out: --{} names no Python".format(name, name), file=sys.stderr)
    return libraries


def lenet(options):
    """Two workers against one."""
    rows = {}
    values = dict(lenet=True, batch=64, steps=options.steps, warm=options.steps // 4, layers=0, units=0, sleep=0)
    for _ in range(options.rounds):
        for name, python in libraries_of(options).items():
            one, two = (milliseconds(name, python, workers, **values)[0] for workers in (1, 2))
            rows.setdefault(name, []).append({"one": one, "two": two, "ratio": 2 * one / two})
    for name, runs in rows.items():
        ratios = [run["ratio"] for run in runs]
        print("LeNet, {}: {:.2f} ms with one worker, {:.2f} ms with two; {:.2f} times the samples per second "
              "({:.2f} to {:.2f})".format(name, statistics.median(run["one"] for run in runs),
                                          statistics.median(run["two"] for run in runs),
                                          statistics.median(ratios), min(ratios), max(ratios)))
    return rows


def shortest_step(forward, backward, sending, steps=8):
    """Of layers with these times, where the wire always sends the first layer's bytes first."""
    left, now, ends = [0.0] * len(forward), 0.0, []

    def advance(time):
        nonlocal now
        now += time
        for layer, rest in enumerate(left):
            sent = min(rest, time)
            left[layer] -= sent
            time -= sent

    for _ in range(steps):
        for layer, time in enumerate(forward):
            advance(sum(left[:layer + 1]))  # its weights are those of the last step
            advance(time)
        for layer in reversed(range(len(backward))):
            advance(backward[layer])
            left[layer] += sending[layer]
        ends.append(now)
    return ends[-1] - ends[-2]


def wire(options):
    """A step of two workers against the longer of computing and sending."""
    rows = {}
    units = round((NUMBERS / (options.layers - 1)) ** 0.5)
    numbers = [(INPUTS + 1) * units] + [(units + 1) * units] * (options.layers - 1) + [(units + 1) * 10]
    megabytes = 4e-6 * sum(numbers)
    sending = megabytes * 8 / options.rate * 1000
    sleep = sending / 1000 / (options.layers - 1) if options.sleep else 0
    values = dict(lenet=False, steps=options.steps, warm=options.steps // 4, layers=options.layers, units=units,
                  batch=8 if options.sleep else options.batch, sleep=sleep)
    libraries = {"symbind": sys.executable} if options.sleep else libraries_of(options)
    with Links(2, options.rate / 1000) as links:
        for _ in range(options.rounds):
            for name, python in libraries.items():
                (one, own), (two, both) = (
                    milliseconds(name, python, workers, links if workers > 1 else None, **values) for workers in (1, 2))
                computing = [one * n / sum(numbers) for n in numbers]
                shortest = shortest_step([FORWARD * t for t in computing], [(1 - FORWARD) * t for t in computing],
                                         [sending / REACHED * n / sum(numbers) for n in numbers])
                rows.setdefault(name, []).append({"one": one, "two": two, "ratio": two / max(one, sending),
                                                  "shortest": shortest, "processor": (own, both)})
    for name, runs in rows.items():
        ratios = [run["ratio"] for run in runs]
        print("{:.1f} MB at {:g} Mbit/s, {}: computing {:.0f} ms, wire {:.0f} ms, step {:.0f} ms; {:.2f} of the longer "
              "({:.2f} to {:.2f}); the shortest for {} layers {:.0f} ms; processor time {:.0f} ms instead of {:.0f}".format(
                  megabytes, options.rate, name, statistics.median(run["one"] for run in runs), sending,
                  statistics.median(run["two"] for run in runs), statistics.median(ratios), min(ratios), max(ratios),
                  options.layers, statistics.median(run["shortest"] for run in runs),
                  *(statistics.median(run["processor"][i] for run in runs) for i in (1, 0))))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("lenet", "wire"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, help="of each process; 200 for lenet, 24 for wire")
    parser.add_argument("--batch", type=int, default=512, help="rows per worker of wire; chosen so that computing takes "
                        "about as long as sending")
    parser.add_argument("--layers", type=int, default=7, help="of wire; the bytes are the same for any number")
    parser.add_argument("--sleep", action="store_true", help="layers of wire sleep instead of computing")
    parser.add_argument("--rate", type=float, default=1000, help="of the links of wire, in Mbit/s")
    parser.add_argument("--torch", metavar="PYTHON")
    parser.add_argument("--mxnet", metavar="PYTHON")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.steps = options.steps or {"lenet": 200, "wire": 24}[options.what]
    rows = {"lenet": lenet, "wire": wire}[options.what](options)
    if options.json:
        print(json.dumps(rows))


if __name__ == "__main__":
    main()
