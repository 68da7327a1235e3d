"""Records operators one by one from MXNet 1.9.1 into tests/golden/ops/<operator>.json.

    PY tools/oracle/record_ops.py [operator ...]      (PY: an interpreter with mxnet 1.9.1)
"""
import collections
import sys

import cases_boxes
import cases_contrib
import cases_family
import cases_image
import cases_index
import cases_layers
import cases_nn
import cases_random
import cases_rnn
import cases_shape
import cases_tensor
import cases_vision
import golden

TABLES = [
    *cases_nn.ALL,
    *cases_shape.ALL,
    *cases_index.ALL,
    *cases_tensor.ALL,
    *cases_layers.ALL,
    *cases_random.ALL,
    *cases_rnn.ALL,
    *cases_vision.ALL,
    *cases_image.ALL,
    *cases_boxes.ALL,
    *cases_contrib.ALL,
]


def main(only):
    files = collections.OrderedDict()
    for table in TABLES:
        for case in table():
            files.setdefault(case.op, []).append(case)
    files["families"] = cases_family.all_cases()
    for name, cases in files.items():
        if only and name not in only:
            continue
        names = [c.name for c in cases]
        assert len(names) == len(set(names)), (name, names)
        golden.write(golden.golden_dir("ops", name + ".json"),
                     {"op": name, "mxnet": golden.mx.__version__}, "cases",
                     [c.record() for c in cases])


if __name__ == "__main__":
    main(sys.argv[1:])
