"""PyTorch: eager and compiled, each in the plain layout and with channels last; the fastest counts.

Compiled predictions have frozen weights. Training uses the fused SGD.
"""
import os

import numpy as np
import torch

from compare_lib import torch_twin

MODES = {"step": ["eager", "channels_last", "compile", "compile, channels_last"], "imperative": ["eager"]}


def version():
    return torch.__version__


class Job:
    def __init__(self, problem, mode, threads):
        torch.set_num_threads(threads)
        if "compile" in mode:
            import torch._inductor.config as config
            config.freezing = not problem["train"]
            if os.environ.get("SYMBIND_COMPARE_ISA") == "avx2":
                config.cpp.simdlen = 256
            torch._dynamo.reset()
        self.train, self.last = problem["train"], "channels_last" in mode
        self.dtype = {"bfloat16": torch.bfloat16}.get(problem["dtype"])
        folder, shared = problem["folder"], {}
        weights = {k[4:]: v for k, v in np.load(os.path.join(folder, "weights.npz")).items()}
        if problem["dtype"] == "float16":
            weights = {k: v if k.endswith(("gamma", "beta", "mean", "var")) else v.astype("float16")
                       for k, v in weights.items()}
        self.parts = []
        for i, part in enumerate(problem["parts"]):
            arrays = np.load(os.path.join(folder, "part%d.npz" % i))
            twin = torch_twin.Twin(os.path.join(folder, "part%d.json" % i), weights, part["inputs"], self.train, shared)
            inputs = [self.laid_out(torch.from_numpy(arrays[name])) for name in part["inputs"]]
            loss = torch_twin.losses_of(twin.graph, arrays) if self.train else None
            self.parts.append((twin, inputs, loss, part["batch"]))
        if self.last and not any(p.ndim == 4 for p in shared.values()):
            raise NotImplementedError("no images: channels last means nothing")
        for value in shared.values():
            value.data = self.laid_out(value.data)
        if self.dtype:
            self.parts = [(twin.to(self.dtype), [x.to(self.dtype) for x in inputs], loss, batch)
                          for twin, inputs, loss, batch in self.parts]
        self.optimizer = self.make_optimizer(shared, problem["rate"]) if self.train else None
        self.functions = [self.function(*part) for part in self.parts]
        if "compile" in mode:
            self.functions = [torch.compile(function) for function in self.functions]

    def laid_out(self, tensor):
        return tensor.contiguous(memory_format=torch.channels_last) if self.last and tensor.ndim == 4 else tensor

    @staticmethod
    def make_optimizer(parameters, rate):
        """MXNet's rule: weight decay for names that end in _weight and _gamma."""
        wanted = {n: p for n, p in parameters.items() if getattr(p, "requires_grad", False)}
        decayed = [p for n, p in wanted.items() if n.endswith(("_weight", "_gamma"))]
        others = [p for n, p in wanted.items() if not n.endswith(("_weight", "_gamma"))]
        groups = [{"params": decayed, "weight_decay": 1e-4}, {"params": others, "weight_decay": 0.0}]
        return torch.optim.SGD([g for g in groups if g["params"]], lr=rate, momentum=0.9, fused=True)

    @staticmethod
    def function(twin, inputs, loss, batch):
        if loss is None:
            return lambda: twin(*inputs)
        return lambda: loss(twin(*inputs)) / batch

    def step(self):
        if not self.train:
            with torch.inference_mode():
                return [function() for function in self.functions]
        total = 0.0
        for function in self.functions:
            self.optimizer.zero_grad(set_to_none=True)
            value = function()
            value.backward()
            self.optimizer.step()
            total = total + value.detach()
        return total

    def run(self, steps):
        for _ in range(steps):
            self.step()

    def loss_of_step(self):
        return self.step().item()

    def outputs(self):
        return [output.float().numpy() for outputs in self.step() for output in outputs]


class Imperative:
    def __init__(self):
        self.a, self.b = torch.ones(64), torch.ones(64)

    def run(self, steps):
        a, b = self.a, self.b
        for _ in range(steps):
            c = a + b
        return c


def build(problem, mode, threads):
    if problem["kind"] == "imperative":
        torch.set_num_threads(threads)
        return Imperative()
    return Job(problem, mode, threads)
