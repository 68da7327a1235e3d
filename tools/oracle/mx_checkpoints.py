"""One side of the exchange of checkpoints with `.states`; tools/oracle/exchange runs it under both.

    PY tools/oracle/mx_checkpoints.py PACKAGE save DIR          trains and saves every case in DIR
    PY tools/oracle/mx_checkpoints.py PACKAGE continue DIR OUT  continues from DIR; arrays to OUT
    PY tools/oracle/mx_checkpoints.py mxnet record              -> tests/golden/states/

PACKAGE is mxnet or symbind. OUT/<case>.params has `param/<name>` and `state/<key>/<i>` as they are
5 steps after the checkpoint. The cases are in tests/python/checkpoint_cases.py.
"""
import importlib
import json
import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MXNET_MKLDNN_ENABLED", "0")
os.environ.setdefault("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.environ.get("GOLDEN_DIR", os.path.join(HERE, "..", "..", "tests", "golden"))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "python"))
import checkpoint_cases
import module_cases


def save(mx, folder):
    os.makedirs(folder, exist_ok=True)
    for spec in checkpoint_cases.CASES:
        checkpoint_cases.save(mx, spec, folder)


def go_on(mx, folder, out):
    os.makedirs(out, exist_ok=True)
    for spec in checkpoint_cases.CASES:
        found = checkpoint_cases.go_on(mx, spec, folder)
        mx.nd.save(os.path.join(out, spec["name"] + ".params"), found)


def record(mx):
    """MXNet's own files, where they lead, and what a reader in another language needs."""
    folder = os.path.join(GOLDEN, "states")
    save(mx, folder)
    go_on(mx, folder, os.path.join(folder, "continued"))
    lines = []
    for spec in checkpoint_cases.CASES:
        steps = range(checkpoint_cases.SAVED, checkpoint_cases.SAVED + checkpoint_cases.STEPS)
        label = lambda s: module_cases.classes(spec["data"][:1], module_cases.seed_of(
            "%s/label/%d" % (spec["net"], s)), 4).tolist()
        lines.append(json.dumps(dict(
            spec, labels=[label(s) for s in steps],
            data_seeds=[module_cases.seed_of("%s/data/%d" % (spec["net"], s)) for s in steps])))
    with open(os.path.join(folder, "cases.json"), "w") as file:
        file.write('{"mxnet": "%s", "cases": [\n%s\n]}\n' % (mx.__version__, ",\n".join(lines)))


if __name__ == "__main__":
    package, verb, folders = importlib.import_module(sys.argv[1]), sys.argv[2], sys.argv[3:]
    {"save": save, "continue": go_on, "record": record}[verb](package, *folders)
