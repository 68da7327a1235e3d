"""Measures training and prediction with Symbind, MXNet, PyTorch and ONNX Runtime, and prints README.md's table.

    python benchmarks/python/table.py --mxnet PYTHON --torch PYTHON [--onnx PYTHON] [--rounds N] [--only TEXT]

Run it with the Python that has symbind; each option names a Python that has the other library (--onnx: onnxruntime; the
model is exported by PyTorch, which then needs the packages onnx and onnxscript). A library that is not given is left
out. Every library computes the same network with the same parameters and numbers, and their losses must agree. Symbind
runs the script that MXNet runs. The libraries take turns, on all cores; a figure is the median of the rounds.
"""
import argparse
import datetime
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import symbind as mx

PEERS = pathlib.Path(__file__).resolve().parents[1] / "peers"
TURN = 0.4    # seconds of work per turn, at least one step
PAUSE = 0.25  # between turns: threads of the library before stop waiting for work
LOSSES = 0.01  # how much losses may differ, relatively


def mlp():
    net = mx.sym.Variable("data")
    for i, hidden in enumerate((128, 64)):
        net = mx.sym.FullyConnected(net, num_hidden=hidden, name="fc%d" % (i + 1))
        net = mx.sym.Activation(net, act_type="relu", name="relu%d" % (i + 1))
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=10, name="fc3"), name="softmax")


# what the table says, the network, the shape of its data, classes, whether it is trained
ROWS = [
    ("train an MLP (784-128-64-10), batch 100", mlp, (100, 784), 10, True),
    ("train LeNet, batch 64", mx.models.lenet, (64, 1, 28, 28), 10, True),
    ("train ResNet-50, batch 8", mx.models.resnet, (8, 3, 224, 224), 1000, True),
    ("predict with ResNet-50, batch 1", mx.models.resnet, (1, 3, 224, 224), 1000, False),
]


class Peer:
    """A process that runs as many steps as a line says; its first line has its version."""

    def __init__(self, command):
        threads = str(os.cpu_count())
        self.process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, env={**os.environ, "OMP_NUM_THREADS": threads})
        self.version = self.process.stdout.readline().split()[1].split("+")[0]
        self.loss = None

    def run(self, steps):
        """Milliseconds per step."""
        self.process.stdin.write("%d\n" % steps)
        self.process.stdin.flush()
        seconds, self.loss = map(float, self.process.stdout.readline().split())
        return 1e3 * seconds / steps

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def write_network(net, shape, classes, prefix):
    """The symbol, its parameters and one batch, as files of MXNet and of NumPy."""
    random = np.random.RandomState(7)
    executor = net.simple_bind(mx.cpu(), data=shape, grad_req="null")

    def values(name, array):
        if name.endswith(("gamma", "moving_var")):
            return np.ones(array.shape, "float32")
        if not name.endswith("weight"):
            return np.zeros(array.shape, "float32")
        bound = np.sqrt(3 / np.prod(array.shape[1:]))
        return random.uniform(-bound, bound, array.shape).astype("float32")

    arrays = {"arg:" + k: values(k, v) for k, v in executor.arg_dict.items() if k not in ("data", "softmax_label")}
    arrays.update({"aux:" + k: values(k, v) for k, v in executor.aux_dict.items()})
    batch = {"data": random.uniform(-1, 1, shape).astype("float32"),
             "softmax_label": random.randint(0, classes, shape[0]).astype("float32")}
    net.save(prefix + "-symbol.json")
    mx.nd.save(prefix + ".params", {k: mx.nd.array(v) for k, v in arrays.items()})
    mx.nd.save(prefix + ".data", {k: mx.nd.array(v) for k, v in batch.items()})
    np.savez(prefix + ".npz", **arrays, **batch)


def start(options, prefix, batch, train):
    """The libraries by name."""
    script = [str(PEERS / "train_mxnet.py"), prefix + "-symbol.json", prefix + ".params", prefix + ".data", str(batch)]
    torch = [options.torch, str(PEERS / "train_torch.py"), prefix + "-symbol.json", prefix + ".npz", str(batch)]
    mode = [] if train else ["predict"]
    peers = {"Symbind": Peer([sys.executable, "-m", "symbind", *script, *mode])}
    if options.mxnet:
        peers["MXNet"] = Peer([options.mxnet, *script, *mode])
    if options.torch:
        peers["PyTorch"] = Peer(torch + mode)
    if options.onnx and options.torch and not train:
        subprocess.run(torch + [prefix + ".onnx"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peers["ONNX Runtime"] = Peer([options.onnx, str(PEERS / "predict_onnx.py"), prefix + ".onnx", prefix + ".npz"])
    return peers


def measure(options, row):
    """{library: (milliseconds, ratio to Symbind)} and {library: version}."""
    _, make, shape, classes, train = row
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "net")
        write_network(make(), shape, classes, prefix)
        peers = start(options, prefix, shape[0], train)
        steps = {name: max(1, round(1e3 * TURN / min(peer.run(2) for _ in range(2)))) for name, peer in peers.items()}
        losses = {name: peer.loss for name, peer in peers.items()}  # after the same number of steps
        if max(losses.values()) > (1 + LOSSES) * min(losses.values()):
            raise SystemExit("%s: the losses differ: %s" % (row[0], losses))
        rounds = []
        for _ in range(options.rounds):
            times = {}
            for name, peer in peers.items():
                time.sleep(PAUSE)
                times[name] = peer.run(steps[name])
            rounds.append(times)
        for peer in peers.values():
            peer.end()
    print(row[0] + ":", ", ".join("%s %.5f" % item for item in losses.items()), file=sys.stderr)
    figures = {name: (statistics.median(r[name] for r in rounds),
                      statistics.median(r[name] / r["Symbind"] for r in rounds)) for name in peers}
    return figures, {name: peer.version for name, peer in peers.items()}


def cpu_name():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    return re.search(r"model name\s*: (.*)", text).group(1)


def digits(milliseconds):
    return "%.3g" % milliseconds if milliseconds < 100 else "%.0f" % milliseconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("mxnet", "torch", "onnx"):
        parser.add_argument("--" + name, metavar="PYTHON")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", metavar="TEXT", help="only the rows that contain it")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    results, versions = [], {}
    for row in ROWS:
        if options.only in row[0]:
            figures, found = measure(options, row)
            results.append((row[0], figures))
            versions.update(found)
    versions["Symbind"] = mx.libinfo.__version__
    names = [name for name in ("Symbind", "MXNet", "PyTorch", "ONNX Runtime") if name in versions]
    print("| milliseconds per batch | %s |" % " | ".join("%s %s" % (name, versions[name]) for name in names))
    print("|---" * (len(names) + 1) + "|")
    for text, figures in results:
        cells = ["%s (%.2f×)" % (digits(figures[name][0]), figures[name][1]) if name in figures else ""
                 for name in names]
        cells[0] = digits(figures["Symbind"][0])
        print("| %s | %s |" % (text, " | ".join(cells)))
    print("\n%s, %s, %d cores, %s (load %.1f before the run); %d rounds in turns."
          % (datetime.date.today(), cpu_name(), os.cpu_count(), "quiet" if load < 0.5 else "busy with other work", load,
             options.rounds))


if __name__ == "__main__":
    main()
