"""Array files with row_sparse and csr arrays, as MXNet 1.9.1 saves them.

    $PY tools/oracle/record_sparse.py      # under MXNet -> tests/golden/sparse/

Each file is also loaded and saved again by MXNet, which must give the same bytes. dense.json has the
values: what asnumpy() of the loaded arrays answers.
"""
import json
import os

import mxnet as mx
import numpy as np

TARGET = os.environ.get("GOLDEN_DIR") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden", "sparse")


def rows(values, places, shape, dtype="float32"):
    return mx.nd.sparse.row_sparse_array((np.array(values, dtype), places), shape=shape, dtype=dtype)


def csr(values, columns, starts, shape, dtype="float32"):
    return mx.nd.sparse.csr_matrix((np.array(values, dtype), columns, starts), shape=shape, dtype=dtype)


FILES = {
    # a stored row of zeros and one of -0, which are no rows of a file made from the dense array
    "rows": {"arg:embedding": rows([[1, 2], [0, 0], [0, -0.0], [5, 6]], [0, 2, 3, 6], (7, 2)),
             "arg:cube": rows(np.arange(12).reshape(2, 2, 3), [1, 4], (5, 2, 3)),
             "arg:vector": rows([1.5, -2], [3, 9], (10,)),
             "arg:half": rows([[1, 0.5]], [1], (3, 2), "float16"),
             "arg:double": rows([[1e-300, 3]], [0], (2, 2), "float64"),
             "aux:whole": rows([[7, -7]], [2], (4, 2), "int64")},
    # stored zeros, empty rows at the start, in the middle and at the end
    "csr": {"w": csr([1, 2, 0, 3], [1, 0, 1, 2], [0, 0, 1, 3, 3, 4, 4], (6, 3)),
            "half": csr([0.5, 4], [0, 4], [0, 1, 2], (2, 5), "float16")},
    "empty": {"rows": mx.nd.sparse.zeros("row_sparse", (4, 2)), "csr": mx.nd.sparse.zeros("csr", (3, 3))},
    "mixed": [mx.nd.array([[1, 2], [3, 4]]), rows([[9, 8]], [1], (3, 2)), csr([5], [2], [0, 0, 1], (2, 3)),
              mx.nd.array([1, 2, 3], dtype="int32")],
}


def save(path, arrays):
    mx.nd.save(path, arrays)
    with open(path, "rb") as file:
        return file.read()


def main():
    os.makedirs(TARGET, exist_ok=True)
    dense = {}
    for name, arrays in FILES.items():
        path = os.path.join(TARGET, name + ".params")
        first = save(path, arrays)
        loaded = mx.nd.load(path)
        assert save(path, loaded) == first, name
        pairs = loaded.items() if isinstance(loaded, dict) else enumerate(loaded)
        dense[name] = {str(key): {"stype": a.stype, "dtype": np.dtype(a.dtype).name, "shape": list(a.shape),
                                  "values": a.asnumpy().astype("float64").ravel().tolist()} for key, a in pairs}
    with open(os.path.join(TARGET, "dense.json"), "w") as file:
        json.dump(dense, file, indent=1, sort_keys=True)
        file.write("\n")


if __name__ == "__main__":
    main()
