"""What every metric says over a few batches, locally and globally.

    $PY tools/oracle/record_metric.py     # under MXNet -> tests/golden/metrics.json

Numbers of the batches have four decimals and are in the file, so that every reader has the same
float32. `values` has one entry per moment: after each batch, after reset_local, after reset, and
after one more batch; an entry is [local values, global values], null for NaN.
"""
import json
import math
import os
import random

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden",
                      "metrics.json")

# name, parameters, kind of batch
CASES = [
    ("acc", {}, "classes"), ("acc", {}, "indices"), ("acc", {}, "column"), ("acc", {"axis": 2}, "last"),
    ("acc", {"axis": 1}, "spatial"), ("top_k_accuracy", {"top_k": 2}, "classes"),
    ("top_k_accuracy", {"top_k": 4}, "classes"),
    ("f1", {}, "binary"), ("f1", {"average": "micro"}, "binary"),
    ("mcc", {}, "binary"), ("mcc", {"average": "micro"}, "binary"),
    ("perplexity", {"ignore_label": None}, "classes"), ("perplexity", {"ignore_label": 2}, "classes"),
    ("perplexity", {"ignore_label": 0, "axis": -1}, "zeros"),
    ("mae", {}, "regression"), ("mae", {}, "vector"), ("mae", {}, "wide"),
    ("mse", {}, "regression"), ("mse", {}, "vector"), ("rmse", {}, "regression"),
    ("rmse", {}, "vector"), ("ce", {}, "classes"), ("ce", {"eps": 0.125}, "classes"),
    ("ce", {}, "zeros"), ("nll_loss", {}, "classes"), ("pearsonr", {}, "regression"),
    ("pearsonr", {"average": "micro"}, "regression"), ("pearsonr", {"average": "micro"}, "vector"),
    ("pcc", {}, "classes"), ("pcc", {}, "indices"), ("pcc", {}, "binary"),
    ("loss", {}, "classes"), ("torch", {}, "regression"), ("caffe", {}, "vector"),
    ("mse", {}, "two"), ("acc", {}, "two_classes"),
]


def tensor(shape, draw):
    return {"shape": list(shape), "values": [draw() for _ in range(math.prod(shape))]}


def batch(kind, rng):
    """(labels, outputs) of one batch."""
    number = lambda: round(rng.uniform(-1, 1), 4)
    chance = lambda: round(rng.uniform(0.01, 1), 4)
    sparse = lambda: rng.choice([0.0, chance()])
    of = lambda n: lambda: rng.randrange(n)
    rows = rng.choice([5, 6, 7])
    return {
        "classes": lambda: ([tensor((rows,), of(5))], [tensor((rows, 5), chance)]),
        "zeros": lambda: ([tensor((rows,), of(3))], [tensor((rows, 3), sparse)]),
        "indices": lambda: ([tensor((rows,), of(4))], [tensor((rows,), of(4))]),
        "column": lambda: ([tensor((rows, 1), of(3))], [tensor((rows, 3), chance)]),
        "last": lambda: ([tensor((rows, 2), of(3))], [tensor((rows, 2, 3), chance)]),
        "spatial": lambda: ([tensor((rows, 2), of(3))], [tensor((rows, 3, 2), chance)]),
        "binary": lambda: ([tensor((rows,), of(2))], [tensor((rows, 2), chance)]),
        "regression": lambda: ([tensor((rows, 3), number)], [tensor((rows, 3), number)]),
        "vector": lambda: ([tensor((rows,), number)], [tensor((rows,), number)]),
        "wide": lambda: ([tensor((rows,), number)], [tensor((rows, 3), number)]),
        "two": lambda: ([tensor((rows,), number), tensor((3, 2), number)],
                        [tensor((rows, 1), number), tensor((3, 2), number)]),
        "two_classes": lambda: ([tensor((rows,), of(3)), tensor((4,), of(2))],
                                [tensor((rows, 3), chance), tensor((4, 2), chance)]),
    }[kind]()


def reading(metric):
    def values(pairs):
        return [None if math.isnan(v) else float(v) for _, v in pairs]
    return [values(metric.get_name_value()), values(metric.get_global_name_value())]


def replay(mx, np, case):
    """What the metric of `case` says at each moment; also its names."""
    arrays = lambda side: [mx.nd.array(np.array(t["values"]).reshape(t["shape"])) for t in side]
    metric = mx.metric.create(case["metric"], **case["params"])
    values = []
    for i, (labels, preds) in enumerate(case["batches"]):
        metric.update(arrays(labels), arrays(preds))
        values.append(reading(metric))
        if i == 1:
            metric.reset_local()
            values.append(reading(metric))
    metric.reset()
    values.append(reading(metric))
    metric.update(*[arrays(side) for side in case["batches"][0]])
    values.append(reading(metric))
    return [name for name, _ in metric.get_name_value()], values


def main():
    import mxnet as mx
    import numpy as np

    cases = []
    for number, (metric, params, kind) in enumerate(CASES):
        rng = random.Random(number)
        case = {"metric": metric, "params": params, "kind": kind,
                "batches": [batch(kind, rng) for _ in range(4)]}
        case["names"], case["values"] = replay(mx, np, case)
        cases.append(case)
    with open(TARGET, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(case) for case in cases) + "\n]\n")


if __name__ == "__main__":
    main()
