"""Records what MXNet's Python tools print and draw.

    PY tools/oracle/record_python.py      -> tests/golden/python/{compare,draws,checks,viz}.json

`compare.json` has the text of assert_almost_equal and of its error, `draws.json` the numbers of the
random helpers under a seed, `checks.json` the outcome of the symbol checks, `viz.json` the text of
print_summary and the calls plot_network makes to graphviz. The cases are tests/python/cases.py.
"""
import json
import os
import sys

from golden import golden_dir, mx, np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "python"))
import cases


def write(name, entries):
    folder = golden_dir("python")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".json"), "w") as f:
        f.write("{\n" + ",\n".join(json.dumps(key) + ": " + json.dumps(value)
                                   for key, value in entries.items()) + "\n}\n")
    print(name, len(entries))


def check(function):
    np.random.seed(3)
    return dict(cases.outcome(function, mx), next=np.random.rand())


def main():
    write("compare", {name: cases.outcome(mx.test_utils.assert_almost_equal, a, b, **options)
                      for name, (a, b, options) in cases.comparisons().items()})
    write("draws", {json.dumps(each): cases.draw(mx.test_utils, *each) for each in cases.draws()})
    write("checks", {name: check(function) for name, function in cases.symbol_checks().items()})
    write("viz", {name: {"summary": cases.summary(mx, symbol, shape),
                         "drawing": cases.drawing(mx, symbol, shape)}
                  for name, (symbol, shape) in cases.viz_networks(mx).items()})


if __name__ == "__main__":
    main()
