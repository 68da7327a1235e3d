"""Runs one script of MXNet's example/ from a given seed: launch.py SEED [OPTION ...] -- SCRIPT [ARGUMENT ...]

Most of the scripts do not seed, so two runs of one system would differ by an unknown amount. This seeds the three
generators they draw from and then runs the script as `python SCRIPT` would; of a notebook it runs the cells of code in
order. It is the same for both systems: `import mxnet` is MXNet 1.9.1 in its own interpreter, and Symbind under
`python -m symbind`. Options:

  gpu-as-cpu       mx.gpu(i) is mx.cpu(i). Only for MXNet, which has no such setting; Symbind has SYMBIND_GPU_AS_CPU
  absent=NAME      a function that another package has removed since (`sklearn.datasets.fetch_mldata`) can be imported
                   again; calling it is an error, so a script that needs what it did does not pass
"""
import importlib
import json
import os
import random
import runpy
import sys

import numpy as np

import mxnet as mx


def gpus_are_cpus():
    mx.gpu = mx.context.gpu = mx.cpu


def restore(name):
    place, attribute = name.rsplit(".", 1)
    module = importlib.import_module(place)

    def gone(*_arguments, **_options):
        raise RuntimeError(name + " is not in this version of its package")

    if not hasattr(module, attribute):
        setattr(module, attribute, gone)


def cells(path):
    """The code of a notebook, without the lines that are for the notebook's shell."""
    with open(path, encoding="utf-8") as file:
        notebook = json.load(file)
    code = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return "\n".join(line for cell in code for line in cell.split("\n") if not line.startswith("%"))


def main(arguments):
    border = arguments.index("--")
    seed, options = int(arguments[0]), arguments[1:border]
    sys.argv[:] = arguments[border + 1:]
    script = sys.argv[0]
    for option in options:
        if option == "gpu-as-cpu":
            gpus_are_cpus()
        else:
            restore(option.partition("=")[2])
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    random.seed(seed)
    np.random.seed(seed)
    mx.random.seed(seed)
    if script.endswith(".ipynb"):
        exec(compile(cells(script), script, "exec"), {"__name__": "__main__"})  # pylint: disable=exec-used
    else:
        runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1:])
