"""One side of tools/oracle/exchange_states: trains a case of record_optimizer.py and leaves files.

    PY mx_states.py mxnet|symbind start    DIR CASE index|name 0|1    # steps 1..3, writes states, weights
    PY mx_states.py mxnet|symbind continue DIR CASE index|name 0|1    # reads them, steps 4..8
"""
import os
import sys

if sys.argv[1] == "symbind":
    import symbind.as_mxnet  # import mxnet means Symbind from here on

import mxnet as mx
import record_optimizer as r


def main(side, what, folder, case, keys, dump):
    spec, dump = r.CASES[case], dump == "1"
    keys = r.NAMES if keys == "name" else list(range(len(r.NAMES)))
    states, start = os.path.join(folder, "states"), os.path.join(folder, "start.params")
    # Of the same class where the file brings the optimizer: MXNet decides on groups before it reads.
    updater = mx.optimizer.get_updater(mx.optimizer.create(spec["optimizer"])
                                       if dump and what == "continue" else r.make(spec))
    weights = r.weights_of(spec)
    if what == "start":
        for number in (1, 2, 3):
            r.step(updater, spec, weights, number, keys)
        with open(states, "wb") as f:
            f.write(updater.get_states(dump_optimizer=dump))
        mx.nd.save(start, {"%d" % i: w for i, w in enumerate(weights)})
        return
    with open(states, "rb") as f:
        updater.set_states(f.read())
    arrays = mx.nd.load(start)
    weights = [arrays["%d" % i] for i in range(len(weights))]
    for number in (4, 5, 6, 7, 8):
        r.step(updater, spec, weights, number, keys)
    mx.nd.save(os.path.join(folder, side + ".params"), {"%d" % i: w for i, w in enumerate(weights)})


if __name__ == "__main__":
    main(*sys.argv[1:])
