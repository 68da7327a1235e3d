"""The names a monitor is shown, operator by operator, with monitor_all.

    $PY tools/oracle/monitor_names.py     # under MXNet -> tests/golden/python/monitor_names.json

The first recorded case of every operator is bound and run forward once; tests/python replays it.
"""
import glob
import json
import os
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden")
TARGET = os.path.join(ROOT, "python", "monitor_names.json")


def first_cases():
    """{operator: its first case that runs as a symbol}"""
    found = {}
    for path in sorted(glob.glob(os.path.join(ROOT, "ops", "*.json"))):
        with open(path) as file:
            for case in json.load(file)["cases"]:
                if "runs" in case:
                    found.setdefault(case["op"], case)
    return found


def function_of(mx, op):
    for space in (mx.sym, mx.sym._internal):
        if hasattr(space, op):
            return getattr(space, op)
    for prefix in ("contrib", "linalg"):
        if op.startswith("_%s_" % prefix):
            return getattr(getattr(mx.sym, prefix), op[len(prefix) + 2:])
    raise KeyError(op)


def names_shown(mx, case):
    """What a monitor is shown, in order."""
    tensors = case["inputs"] + case.get("aux", [])
    variables = [mx.sym.Variable("in_%d" % i) for i in range(len(tensors))]
    symbol = function_of(mx, case["op"])(*variables, name="node", **case["attrs"])
    arrays = {"in_%d" % i: mx.nd.ones(tuple(t["shape"]), dtype=t["dtype"])
              for i, t in enumerate(tensors)}
    executor = symbol.bind(
        mx.cpu(), {n: arrays[n] for n in symbol.list_arguments()}, grad_req="null",
        aux_states={n: arrays[n] for n in symbol.list_auxiliary_states()})
    shown = []
    executor.set_monitor_callback(lambda name, _: shown.append(name.decode()), monitor_all=True)
    executor.forward(is_train=True)
    mx.nd.waitall()
    return shown


def main():
    import mxnet as mx

    answers = {}
    for op, case in sorted(first_cases().items()):
        try:
            answers[op] = names_shown(mx, case)
        except Exception as error:  # an operator MXNet cannot run so; say which
            print("left out: %s: %s" % (op, str(error).splitlines()[0][:80]), file=sys.stderr)
    with open(TARGET, "w") as file:
        file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(op), json.dumps(names))
                                      for op, names in sorted(answers.items())) + "\n}\n")


if __name__ == "__main__":
    main()
