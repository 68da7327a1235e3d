"""The same as train_mxnet.py with PyTorch, for benchmarks/python/table.py.

    train_torch.py SYMBOL.json ARRAYS.npz BATCH [predict | MODEL.onnx]

Builds the network of an MXNet symbol from PyTorch's functions, with the parameters of the file. ARRAYS.npz has the
parameters (arg:NAME, aux:NAME), data and softmax_label. The answers are those of train_mxnet.py. With MODEL.onnx
it only writes that file.
"""
import ast
import json
import sys
import time

import numpy as np
import torch
from torch.nn import functional as F


def pair(attrs, name, default):
    return ast.literal_eval(attrs.get(name, str((default, default))))


def pooling(x, a):
    if a.get("global_pool") in ("True", "1"):
        return x.mean((2, 3), keepdim=True)
    run = F.max_pool2d if a.get("pool_type", "max") == "max" else F.avg_pool2d
    return run(x, pair(a, "kernel", 1), pair(a, "stride", 1), pair(a, "pad", 0))


class Network(torch.nn.Module):
    """A symbol's nodes, run in order."""

    def __init__(self, symbol, arrays):
        super().__init__()
        self.nodes = symbol["nodes"]
        fixed = {self.nodes[node["inputs"][1][0]]["name"] for node in self.nodes
                 if node["op"] == "BatchNorm" and node.get("attrs", {}).get("fix_gamma", "True") in ("True", "1")}
        for key, array in arrays.items():
            kind, _, name = key.partition(":")
            if kind == "arg":
                # Convolutions are fastest in this layout, which is PyTorch's advice for CPUs.
                layout = torch.channels_last if array.ndim == 4 else torch.contiguous_format
                tensor = torch.from_numpy(array).contiguous(memory_format=layout)
                self.register_parameter(name, torch.nn.Parameter(tensor, requires_grad=name not in fixed))
            elif kind == "aux":
                self.register_buffer(name, torch.from_numpy(array))

    def forward(self, data):
        values = []
        for node in self.nodes:
            a = node.get("attrs", {})
            x = [values[i] for i, *_ in node["inputs"]]
            op = node["op"]
            if op == "null":
                value = data if node["name"] == "data" else getattr(self, node["name"], None)
            elif op == "Convolution":
                value = F.conv2d(x[0], x[1], x[2] if len(x) > 2 else None, pair(a, "stride", 1), pair(a, "pad", 0),
                                 pair(a, "dilate", 1), int(a.get("num_group", 1)))
            elif op == "FullyConnected":
                value = F.linear(x[0].flatten(1), x[1], x[2] if len(x) > 2 else None)
            elif op == "Activation":
                value = {"relu": F.relu, "tanh": torch.tanh}[a["act_type"]](x[0])
            elif op == "Pooling":
                value = pooling(x[0], a)
            elif op == "BatchNorm":
                value = F.batch_norm(x[0], x[3], x[4], x[1], x[2], self.training, 1 - float(a.get("momentum", 0.9)),
                                     float(a.get("eps", 1e-3)))
            elif op in ("elemwise_add", "_plus", "_Plus", "broadcast_add"):
                value = x[0] + x[1]
            elif op == "Flatten":
                value = x[0].flatten(1)
            elif op in ("identity", "_copy", "SoftmaxOutput"):  # the loss is computed from the scores
                value = x[0]
            else:
                raise NotImplementedError(op)
            values.append(value)
        return values[-1]


def main():
    symbol_file, array_file, _batch, *mode = sys.argv[1:]
    with open(symbol_file, encoding="utf-8") as file:
        symbol = json.load(file)
    arrays = dict(np.load(array_file))
    data, label = torch.from_numpy(arrays["data"]), torch.from_numpy(arrays["softmax_label"]).long()
    if data.ndim == 4:
        data = data.contiguous(memory_format=torch.channels_last)
    network = Network(symbol, arrays).train(not mode)
    if mode and mode != ["predict"]:
        torch.onnx.export(network, (data,), mode[0], input_names=["data"], output_names=["scores"])
        return
    decayed, others = [], []
    for name, parameter in network.named_parameters():
        if parameter.requires_grad:
            (decayed if name.endswith(("weight", "gamma")) else others).append(parameter)
    optimizer = torch.optim.SGD([{"params": decayed, "weight_decay": 1e-4}, {"params": others}], lr=0.00001, momentum=0.9)

    def step():
        if mode:
            with torch.inference_mode():
                return F.cross_entropy(network(data), label)
        optimizer.zero_grad()
        loss = F.cross_entropy(network(data), label)
        loss.backward()
        optimizer.step()
        return loss

    print("ready", torch.__version__, flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            loss = step()
        value = loss.item()
        print(time.perf_counter() - start, value, flush=True)


if __name__ == "__main__":
    main()
