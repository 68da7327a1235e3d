"""Trains whole networks in MXNet 1.9.1 and records every tensor after every step.

    PY tools/oracle/record_nets.py [net ...]      (PY: an interpreter with mxnet 1.9.1)

Writes tests/golden/nets/<net>.json and <net>-symbol.json (what MXNet's tojson gives).
"""
import math
import os
import sys

import golden
import nets
from golden import Formula, fnv1a, mx, np, summary


class Net:
    """symbol, input shapes, and how it is trained.

    req: argument -> grad_req where it is not 'write'; data and label are 'null' unless named.
    sgd: attributes of sgd_mom_update; every argument whose req is not null is updated, but data.
    """

    def __init__(self, name, symbol, shapes, classes, steps, dtype="float32", req=None, sgd=None,
                 gain=6.0):
        self.name, self.symbol, self.classes = name, symbol, classes
        self.steps, self.dtype = steps, dtype
        self.shapes, self.gain = shapes, gain
        self.sgd = sgd or {}
        args = symbol.list_arguments()
        self.req = {a: "null" if a in shapes else "write" for a in args}
        self.req.update(req or {})
        arg_shapes, self.out_shapes, aux_shapes = symbol.infer_shape(**shapes)
        self.params = {n: self.start(n, s) for n, s in zip(args, arg_shapes) if n not in shapes}
        self.aux = {n: self.start(n, s) for n, s in
                    zip(symbol.list_auxiliary_states(), aux_shapes)}

    def start(self, name, shape):
        """He's bounds for weights (gain 6), near 1 for gamma and variance, near 0 for the rest."""
        if name.endswith("_weight"):
            bound = math.sqrt(self.gain / np.prod(shape[1:]))
            lo, hi = -bound, bound
        elif name.endswith(("_gamma", "_var")):
            lo, hi = 0.75, 1.25
        else:
            lo, hi = -0.125, 0.125
        return Formula(*shape, lo=lo, hi=hi, dtype=self.dtype,
                       seed=fnv1a("%s/%s" % (self.net_seed(), name)))

    def net_seed(self):
        return self.name.split("-float")[0]

    def inputs(self, step):
        data = Formula(*self.shapes["data"], dtype=self.dtype,
                       seed=fnv1a("%s/data/%d" % (self.net_seed(), step)))
        seed = fnv1a("%s/label/%d" % (self.net_seed(), step))
        label = golden.bits(seed, self.shapes["softmax_label"][0]) % np.uint64(self.classes)
        return data, label.astype(np.int64)

    def record(self):
        array = lambda s: mx.nd.array(s.array(), dtype=self.dtype)
        args = {n: array(s) for n, s in self.params.items()}
        args.update({n: mx.nd.zeros(s, dtype=self.dtype) for n, s in self.shapes.items()})
        aux = {n: array(s) for n, s in self.aux.items()}
        grads = {n: mx.nd.zeros(args[n].shape, dtype=self.dtype)
                 for n in self.req if self.req[n] != "null"}
        moms = {n: mx.nd.zeros_like(grads[n]) for n in grads if n in self.params}
        exe = self.symbol.bind(mx.cpu(), args, args_grad=grads, grad_req=self.req, aux_states=aux)
        steps = []
        for step in range(self.steps):
            data, label = self.inputs(step)
            args["data"][:] = array(data)
            args["softmax_label"][:] = mx.nd.array(label, dtype=self.dtype)
            outputs = exe.forward(is_train=True)
            exe.backward()
            mx.nd.waitall()
            entry = {"data_seed": data.seed, "label": [int(x) for x in label],
                     "outputs": self.summaries(zip(self.symbol.list_outputs(), outputs)),
                     "grads": self.summaries(grads.items())}
            for n in moms:
                mx.nd.sgd_mom_update(args[n], grads[n], moms[n], out=args[n], **self.sgd)
            mx.nd.waitall()
            entry["params"] = self.summaries((n, args[n]) for n in self.params)
            entry["aux"] = self.summaries(aux.items())
            steps.append(entry)
        return steps

    def summaries(self, named):
        return {n: summary(a.asnumpy()) for n, a in named}

    def write(self):
        named = lambda specs: [dict(name=n, **s.describe()) for n, s in specs.items()]
        file = "%s-symbol.json" % self.net_seed()
        head = {"net": self.name, "mxnet": mx.__version__, "symbol": file, "dtype": self.dtype,
                "shapes": {n: list(s) for n, s in self.shapes.items()},
                "data": {"lo": -1.0, "hi": 1.0}, "grad_req": self.req,
                "sgd_mom_update": {k: str(v) for k, v in self.sgd.items()},
                "params": named(self.params), "aux": named(self.aux)}
        steps = self.record()
        golden.write(golden.golden_dir("nets", self.name + ".json"), head, "steps", steps)
        with open(golden.golden_dir("nets", file), "w") as f:
            f.write(self.symbol.tojson())


def lenet():
    return Net("lenet", nets.lenet(), {"data": (8, 1, 28, 28), "softmax_label": (8,)}, 10, steps=10,
               sgd={"lr": 0.05, "momentum": 0.9, "wd": 1e-4, "rescale_grad": 1 / 8}, gain=1.0)


NETS = {"lenet": lenet}


if __name__ == "__main__":
    for name in sys.argv[1:] or NETS:
        NETS[name]().write()
