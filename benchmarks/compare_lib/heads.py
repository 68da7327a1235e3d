"""The loss of a training step from the outputs of MXNet's loss operators.

It is the number whose gradient these operators compute, divided by the batch size, as the optimizer's rescale_grad
does. The other engines compute the same number by their own functions.
"""
import os

import numpy as np

from . import symbol_json


def apply_label_path(path, labels, reshape, swap):
    """The labels as the loss gets them; `path` is that of Graph.label_path."""
    for node in path:
        if node.op == "Reshape":
            labels = reshape(labels, node.shapes[0])
        elif node.op == "SwapAxis":
            labels = swap(labels, node.attrs.value("dim1", 0), node.attrs.value("dim2", 0))
        else:
            raise NotImplementedError("labels through " + node.op)
    return labels


class Losses:
    """The losses of one part."""

    def __init__(self, problem, part):
        folder = problem["folder"]
        graph = symbol_json.Graph(os.path.join(folder, "part%d.json" % part))
        arrays = np.load(os.path.join(folder, "part%d.npz" % part))
        self.batch = problem["parts"][part]["batch"]
        self.heads = []
        for node, _ in graph.heads:
            if node in graph.labels:
                name, path = graph.label_path(node)
                labels = apply_label_path(path, arrays[name], np.reshape, np.swapaxes)
                self.heads.append((graph.all[node].op, labels))

    def of(self, outputs):
        total = 0.0
        for (op, labels), output in zip(self.heads, outputs):
            if op == "SoftmaxOutput":
                classes = labels.astype(int)
                total -= np.log(np.maximum(output[np.arange(len(classes)), classes], 1e-30)).sum(dtype="float64")
            else:  # LinearRegressionOutput divides by the numbers of one example
                total += 0.5 * np.square(output - labels, dtype="float64").sum() * len(labels) / labels.size
        return total / self.batch
