"""Gradient compression of the device store, as MXNet 1.9.1 computes it.

    $PY tools/oracle/record_compression.py    # under MXNet -> tests/golden/kvstore/compression.json

A case pushes `steps` times. The gradient of device d in step s is the formula's tensor of seed
`seed + 100 * s + d`; `pulled` has the value of the store after each step. With `updater` the store
adds what is pushed to its value, else the sum replaces it. `threshold_after` [s, t]: before step s
the threshold becomes t. `verb` is push (then pull) or pushpull.

`wire` has the bytes that a worker of dist_sync sent, in hexadecimal, for the gradients of seeds
`seed + step`. Needs strace: the bytes of the definition below must occur exactly once in what the
worker sent.
"""
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

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

WORKER = """
import mxnet as mx, numpy as np
store = mx.kv.create("dist_sync")
store.set_gradient_compression({"type": "2bit", "threshold": %r})
grads = np.load(%r)
store.init("w", mx.nd.zeros(grads[0].shape))
for grad in grads:
    store.push("w", mx.nd.array(grad))
    out = mx.nd.zeros(grad.shape)
    store.pull("w", out=out)
    out.wait_to_read()
"""


def sent_by_a_worker(grads, threshold, port=29871):
    """All bytes that a worker with one server sends."""
    job = dict(os.environ, DMLC_PS_ROOT_URI="127.0.0.1", DMLC_PS_ROOT_PORT=str(port), DMLC_NUM_SERVER="1",
               DMLC_NUM_WORKER="1", DMLC_NODE_HOST="127.0.0.1")
    with tempfile.TemporaryDirectory() as folder:
        np.save(folder + "/grads.npy", grads)
        others = [subprocess.Popen([sys.executable, "-c", "import mxnet"], env=dict(job, DMLC_ROLE=role))
                  for role in ("scheduler", "server")]
        subprocess.run(["strace", "-f", "-e", "trace=sendto,sendmsg,write", "-xx", "-s", "65536", "-o",
                        folder + "/trace", sys.executable, "-c", WORKER % (threshold, folder + "/grads.npy")],
                       env=dict(job, DMLC_ROLE="worker"), check=True, timeout=120)
        for other in others:
            other.wait(60)
        with open(folder + "/trace") as file:
            texts = re.findall(r'"((?:\\x[0-9a-f]{2})+)"', file.read())
    return b"".join(bytes.fromhex(text.replace("\\x", "")) for text in texts)


def wire(size, threshold, steps, seed):
    grads = np.stack([Formula(size, seed=seed + step).array() for step in range(steps)])
    trace = sent_by_a_worker(grads, threshold)
    residual, words = np.zeros(size, "float32"), []
    for grad in grads:
        total = residual + grad
        codes = np.where(total >= threshold, 3, np.where(total <= -threshold, 2, 0))
        residual = total - np.float32(threshold) * np.choose(codes, [0, 0, -1, 1]).astype("float32")
        packed = np.zeros((size + 15) // 16 * 4, "uint8")
        for i, code in enumerate(codes):
            packed[i // 4] |= code << (6 - 2 * (i % 4))
        assert trace.count(packed.tobytes()) == 1, "MXNet sent other bytes"
        words.append(packed.tobytes().hex())
    return {"size": size, "threshold": threshold, "seed": seed, "bytes": words}


if __name__ == "__main__":
    write(golden_dir("kvstore", "compression.json"),
          {"mxnet": mx.__version__, "wire": wire(200, 0.5, 4, 77)}, "cases", CASES)
