"""Trains whole networks in MXNet 1.9.1 and records every tensor after every step.

    PY tools/oracle/record_nets.py [net ...]      (PY: an interpreter with mxnet 1.9.1)

Writes tests/golden/nets/<net>.json and <net>-symbol.json (what MXNet's tojson gives).
"""
import math
import sys

import golden
import nets
from golden import Formula, fnv1a, mx, np, summary


# Where each kind of parameter starts, by the end of its name: (lo, hi), or the gain of a weight,
# whose bounds are then +-sqrt(gain / fan_in); 6 is He's. The first that fits counts.
START = {"_weight": 6.0, "_gamma": (0.75, 1.25), "_var": (0.75, 1.25), "": (-0.125, 0.125)}


class Net:
    """A symbol, its input shapes, and how it is trained.

    req: argument -> grad_req where it is not 'write'; data and label are 'null' unless named.
    sgd: attributes of sgd_mom_update; every parameter whose req is not null is updated.
    start: what comes before START. salt is part of the parameters' seeds: it was chosen so that no
    input of a ReLU is so close to 0, and no two of a max pooling so close to each other, that
    rounding in float32 decides; else two right implementations would differ by far more than that.
    """

    def __init__(self, name, symbol, shapes, classes, steps, sgd, dtype="float32", req=None,
                 start=None, salt=""):
        self.name, self.symbol, self.shapes, self.classes = name, symbol, shapes, classes
        self.steps, self.dtype, self.sgd = steps, dtype, sgd
        self.start = list((start or {}).items()) + list(START.items())
        self.salt = salt
        args = symbol.list_arguments()
        self.req = {a: "null" if a in shapes else "write" for a in args}
        self.req.update(req or {})
        arg_shapes, _, aux_shapes = symbol.infer_shape(**shapes)
        self.params = {n: self.parameter(n, s) for n, s in zip(args, arg_shapes) if n not in shapes}
        self.aux = {n: self.parameter(n, s)
                    for n, s in zip(symbol.list_auxiliary_states(), aux_shapes)}

    def seed(self, what):
        return fnv1a("%s/%s" % (self.family(), what))

    def family(self):
        return self.name.split("-float")[0]

    def parameter(self, name, shape):
        rule = next(r for end, r in self.start if name.endswith(end))
        if not isinstance(rule, tuple):
            bound = math.sqrt(rule / np.prod(shape[1:]))
            rule = (-bound, bound)
        return Formula(*shape, lo=rule[0], hi=rule[1], dtype=self.dtype,
                       seed=fnv1a("%s%s/%s" % (self.family(), self.salt, name)))

    def inputs(self, step):
        data = Formula(*self.shapes["data"], dtype=self.dtype,
                       seed=self.seed("data/%d" % step))
        words = golden.bits(self.seed("label/%d" % step), self.shapes["softmax_label"][0])
        return data, (words % np.uint64(self.classes)).astype(np.int64)

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
        file = "%s-symbol.json" % self.family()
        head = {"net": self.name, "mxnet": mx.__version__, "symbol": file, "dtype": self.dtype,
                "shapes": {n: list(s) for n, s in self.shapes.items()},
                "data": {"lo": -1.0, "hi": 1.0}, "grad_req": self.req,
                "sgd_mom_update": {k: str(v) for k, v in self.sgd.items()},
                "params": named(self.params), "aux": named(self.aux)}
        steps = self.record()
        golden.write(golden.golden_dir("nets", self.name + ".json"), head, "steps", steps)
        with open(golden.golden_dir("nets", file), "w") as f:
            f.write(self.symbol.tojson())


def sgd(batch):
    return {"lr": 0.05, "momentum": 0.9, "wd": 1e-4, "rescale_grad": 1 / batch}


def lenet():
    return Net("lenet", nets.lenet(), {"data": (8, 1, 28, 28), "softmax_label": (8,)}, 10, steps=10,
               sgd=sgd(8), start={"_weight": 1.0})


def resnet20(dtype, steps):
    req = {"data": "write", "conv0_weight": "add", "shared_weight": "add", "fc1_bias": "add",
           "stage1_unit2_bn2_gamma": "null", "stage3_unit1_sc_weight": "null",
           "stage3_unit2_conv1_weight": "null", "stage3_unit3_conv2_weight": "add"}
    return Net("resnet20-" + dtype, nets.resnet20(),
               {"data": (4, 3, 16, 16), "softmax_label": (4,)}, 10, steps=steps, sgd=sgd(4),
               dtype=dtype, req=req, salt="#27")


def resnet50():
    symbol = nets.resnet50()
    nets.check_resnet50(symbol)
    return Net("resnet50", symbol, {"data": (2, 3, 64, 64), "softmax_label": (2,)}, 1000, steps=1,
               sgd=sgd(2), salt="#9",
               start={"conv3_weight": 0.5, "bn_data_beta": (-0.125, 0.125), "_gamma": (0.25, 0.5),
                      "_beta": (-2, 2)})


NETS = {"lenet": lenet, "resnet20-float64": lambda: resnet20("float64", 10),
        "resnet20-float32": lambda: resnet20("float32", 3), "resnet50": resnet50}


if __name__ == "__main__":
    for name in sys.argv[1:] or NETS:
        with mx.name.NameManager():  # automatic names count from 0 in every net
            NETS[name]().write()
