"""Records how MXNet 1.9.1's modules train: devices, work loads, optimizers, buckets, chains, states.

    PY tools/oracle/record_module.py      # -> tests/golden/module/

What is run is in tests/python/module_cases.py and module_kinds.py, which the tests run again. modules.json, buckets.json,
chains.json, states.json: a case per line with its settings, the formulas of its first `params` and
`aux`, the seeds of `data_seeds` and labels of each step, what was `seen` (after the first and the
last step of modules, after every step of the others) and the `metrics`. fit.json: the log lines of
whole trainings. Networks are in the same folder as <net>-symbol.json, those of buckets as lstm-<key>-symbol.json.
"""
import os
import sys
import tempfile

import golden  # sets up MXNet's environment
from golden import golden_dir, mx, np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests",
                                "python"))
import module_cases as cases
import module_kinds as kinds

OUT = golden_dir("module")


def values(array):
    """Seven digits are plenty where 1e-5 is asked for."""
    return [float("%.7g" % x) for x in array.reshape(-1)]


def tensor(array):
    return {"shape": list(array.shape), "dtype": str(array.dtype), "values": values(array)}


def told(seen):
    return [{what: {name: tensor(a) for name, a in arrays.items()}
             for what, arrays in one.items() if arrays} for one in seen]


def entry(spec, symbol, shapes, inputs, result):
    seen, metrics = result
    args, aux = cases.first_params("mlp" if spec["net"] == "chain" else spec["net"], symbol,
                                   **shapes)
    named = lambda rows: [dict(name=n, **r) for n, r in rows.items()]
    return dict(spec, params=named(args), aux=named(aux), seen=told(seen), metrics=metrics,
                **inputs)


def batches(make, count):
    """Data and labels of each step, written out: they are small."""
    made = [make(step) for step in range(count)]
    return {"batches": [{"data": tensor(b.data[0].asnumpy()),
                         "label": tensor(b.label[0].asnumpy())} for b in made]}


def seeds(net, shape, count):
    steps = [cases.batch_of(mx, net, shape, s) for s in range(count)]
    return {"data_seeds": [cases.seed_of("%s/data/%d" % (net, s)) for s in range(count)],
            "labels": [values(b.label[0].asnumpy()) for b in steps]}


def record(file, entries):
    golden.write(os.path.join(OUT, file), {"mxnet": mx.__version__}, "cases", entries)


def save(symbol, name):
    symbol.save(os.path.join(OUT, name + "-symbol.json"))


def record_modules():
    entries = []
    for net, (make, _) in cases.NETS.items():
        save(make(mx), net)
    for spec in cases.CASES:
        make, shape = cases.NETS[spec["net"]]
        entries.append(entry(spec, make(mx), {"data": shape},
                             seeds(spec["net"], shape, spec["steps"]),
                             cases.run_module(mx, spec)))
    record("modules.json", entries)


def record_others():
    generate = kinds.lstm(mx)
    for key in kinds.BUCKETS:
        with mx.name.NameManager():
            save(generate(key)[0], "lstm-%d" % key)
    shapes = {"data": (kinds.ROWS, 6), "softmax_label": (kinds.ROWS, 6)}
    record("buckets.json", [
        dict(entry(spec, generate(6)[0], shapes,
                   batches(lambda s: kinds.bucket_batch(mx, s), spec["steps"]),
                   kinds.run_buckets(mx, spec)), order=kinds.BUCKET_ORDER)
        for spec in kinds.BUCKET_CASES])

    for symbol, name in zip(kinds.chain_symbols(mx), ("features", "scores", "classes")):
        save(symbol, name)
    record("chains.json", [
        entry(spec, cases.mlp(mx), {"data": (12, 6)},
              batches(lambda s: kinds.chain_batch(mx, spec, s), spec["steps"]),
              kinds.run_chain(mx, spec)) for spec in kinds.CHAIN_CASES])

    with mx.name.NameManager():
        symbol, names = kinds.state_network(mx)
    save(symbol, "states")
    shapes = dict({n: (kinds.ROWS, 6) for n in names}, data=(kinds.ROWS, 3, 5))
    record("states.json", [
        dict(entry(spec, symbol, shapes,
                   {"data_seeds": [cases.seed_of("states/data/%d" % s) for s in range(3)]},
                   kinds.run_states(mx, spec)), names=names) for spec in kinds.STATE_CASES])


def record_fit():
    home, entries = os.getcwd(), []
    rows = [[b.label[0].asnumpy()[:10 - b.pad] for b in it] for it in kinds.fit_data(mx)]
    for spec in kinds.FIT_CASES:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            lines, params = kinds.run_fit(mx, spec)
            files = sorted(os.listdir())
            os.chdir(home)
        args, _ = cases.first_params("mlp", cases.mlp(mx), data=(10, 6))
        entries.append(dict(spec, lines=lines, files=files, data_seed=cases.seed_of("fit/data"),
                            labels=values(np.concatenate(rows[0] + rows[1])),
                            params=[dict(name=n, **r) for n, r in args.items()],
                            seen={n: tensor(a) for n, a in params.items()}))
    record("fit.json", entries)


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    record_modules()
    record_others()
    record_fit()
