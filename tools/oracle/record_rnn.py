"""Records what MXNet's recurrent cells and BucketSentenceIter give.

    PY tools/oracle/record_rnn.py      -> tests/golden/python/rnn.json

The cases, and what is kept of each, are tests/python/rnn_cases.py.
"""
import os
import sys
import warnings

from golden import golden_dir, mx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "python"))
import json

import rnn_cases


def main():
    warnings.simplefilter("ignore")  # NTC is slower for fused cells
    entries = {name: rnn_cases.seen(mx, name) for name in rnn_cases.CASES}
    entries.update({"iterator: " + name: rnn_cases.batches(mx, **options)
                    for name, options in rnn_cases.ITERATORS.items()})
    dump = lambda x: json.dumps(x, separators=(",", ":"))
    path = os.path.join(golden_dir("python"), "rnn.json")
    with open(path, "w") as f:
        f.write("{\n" + ",\n".join(dump(k) + ":" + dump(v) for k, v in entries.items()) + "\n}\n")
    print(len(entries), "cases,", os.path.getsize(path), "bytes")


if __name__ == "__main__":
    main()
