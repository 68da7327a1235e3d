"""What the engines that run ONNX models share: reading a problem."""
import os

import numpy as np

from compare_lib import onnx_twin


def parts_of(problem):
    """[(ONNX model as bytes, {input: array})]"""
    if problem["train"] or problem["kind"] != "step":
        raise NotImplementedError("runs trained networks only")
    folder = problem["folder"]
    weights = {key[4:]: array for key, array in np.load(os.path.join(folder, "weights.npz")).items()}
    found = []
    for i, part in enumerate(problem["parts"]):
        arrays = np.load(os.path.join(folder, "part%d.npz" % i))
        inputs = {name: arrays[name] for name in part["inputs"]}
        model = onnx_twin.convert(os.path.join(folder, "part%d.json" % i), weights, inputs,
                                  "float16" if problem["dtype"] == "float16" else "float32")
        found.append((model, inputs))
    return found
