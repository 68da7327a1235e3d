"""Records operators one by one from MXNet 1.9.1 into tests/golden/ops/<operator>.json.

    PY tools/oracle/record_ops.py [operator ...]      (PY: an interpreter with mxnet 1.9.1)
"""
import collections
import sys

import golden
import cases_nn
import cases_shape


def main(only):
    files = collections.OrderedDict()
    for table in cases_nn.ALL + cases_shape.ALL:
        for case in table():
            files.setdefault(case.op, []).append(case)
    for op, cases in files.items():
        if only and op not in only:
            continue
        names = [c.name for c in cases]
        assert len(names) == len(set(names)), (op, names)
        head = {"op": op, "mxnet": golden.mx.__version__}
        golden.write(golden.golden_dir("ops", op + ".json"), head, "cases",
                     [c.record() for c in cases])


if __name__ == "__main__":
    main(sys.argv[1:])
