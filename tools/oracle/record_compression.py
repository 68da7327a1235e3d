"""Gradient compression of the device store, as MXNet 1.9.1 computes it.

    $PY tools/oracle/record_compression.py    # under MXNet -> tests/golden/kvstore/compression.json

A case pushes `steps` times. The gradient of device d in step s is the formula's tensor of seed
`seed + 100 * s + d`; `pulled` has the value of the store after each step. With `updater` the store
adds what is pushed to its value, else the sum replaces it. `threshold_after` [s, t]: before step s
the threshold becomes t. `verb` is push (then pull) or pushpull.
"""
from golden import Formula, golden_dir, number, write

import mxnet as mx


def case(size, devices, threshold, steps=5, lo=-1.0, hi=1.0, updater=False, verb="push",
         threshold_after=None):
    seed = 1000 * size + 10 * devices
    store = mx.kv.create("device")
    store.set_gradient_compression({"type": "2bit", "threshold": threshold})
    if updater:
        def add(_, pushed, stored):
            stored += pushed
        store._set_updater(add)
    store.init("w", mx.nd.ones((size,)))
    pulled = []
    for step in range(steps):
        if threshold_after is not None and threshold_after[0] == step:
            store.set_gradient_compression({"type": "2bit", "threshold": threshold_after[1]})
        grads = [mx.nd.array(Formula(size, lo=lo, hi=hi, seed=seed + 100 * step + d).array(), ctx=mx.cpu(d))
                 for d in range(devices)]
        out = mx.nd.zeros((size,))
        if verb == "push":
            store.push("w", grads)
            store.pull("w", out=out)
        else:
            store.pushpull("w", grads, out=out)
        pulled.append([number(x) for x in out.asnumpy()])
    made = {"size": size, "devices": devices, "threshold": threshold, "steps": steps, "seed": seed, "lo": lo,
            "hi": hi, "updater": updater, "verb": verb, "pulled": pulled}
    if threshold_after is not None:
        made["threshold_after"] = threshold_after
    return made


CASES = [
    case(1, 1, 0.5), case(15, 2, 0.5), case(16, 2, 0.5), case(17, 3, 0.5), case(100, 4, 0.5),
    case(33, 5, 0.3), case(20, 2, 0.1, lo=-0.25, hi=0.25, steps=8), case(20, 3, 2.0, steps=8),
    case(40, 2, 0.7, updater=True), case(40, 1, 0.5, updater=True),
    case(40, 3, 0.5, verb="pushpull"), case(40, 2, 0.25, updater=True, verb="pushpull"),
    case(24, 2, 0.5, threshold_after=[3, 0.125], steps=6),
]

if __name__ == "__main__":
    write(golden_dir("kvstore", "compression.json"), {"mxnet": mx.__version__}, "cases", CASES)
