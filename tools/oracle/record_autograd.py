"""Records what MXNet 1.9.1's autograd computes.

    PY tools/oracle/record_autograd.py      # -> tests/golden/python/autograd.json

The programs are in tests/python/autograd_cases.py, which the tests run again. A program's results
are arrays (shape, dtype, values), or numbers and texts as they are.
"""
import json
import os
import sys

import golden  # sets up MXNet's environment
from golden import golden_dir, mx, np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests",
                                "python"))
import autograd_cases as cases


def told(value):
    if isinstance(value, np.ndarray):
        return {"shape": list(value.shape), "dtype": str(value.dtype),
                "values": [float("%.7g" % x) for x in value.reshape(-1)]}
    return value


def message(text):
    """The sentence of a failed check, without the trace and the source line."""
    lines = [line for line in text.splitlines() if "Check failed" in line]
    return lines[-1].rsplit("): ", 1)[-1].strip() if lines else text.strip()


def main():
    rows = []
    for program in cases.PROGRAMS:
        try:
            found = program(mx)
        except Exception as reason:
            sys.exit("%s: %s" % (program.__name__, reason))
        if program.__name__ == "refusals":
            found = {what: message(text) for what, text in found.items()}
        rows.append('"%s": %s' % (program.__name__, json.dumps(
            {name: told(value) for name, value in sorted(found.items())})))
    with open(os.path.join(golden_dir("python"), "autograd.json"), "w") as file:
        file.write("{\n" + ",\n".join(rows) + "\n}\n")
    print("recorded", len(rows), "programs")


if __name__ == "__main__":
    main()
