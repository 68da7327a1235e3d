"""Reads a symbol's JSON with the shapes of all values; what the converters to other engines work on."""
import ast
import collections
import json

# id: of the node; shapes of its outputs; inputs: [(node id, output)]
Node = collections.namedtuple("Node", "id op name attrs inputs shapes")


class Attrs(dict):
    """A node's attributes, which are texts."""

    def value(self, name, default=None):
        text = self.get(name)
        if text is None:
            return default
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            return text

    def flag(self, name, default):
        return self.value(name, default) in (True, 1, "true")

    def window(self, name, axes, default):
        """A number per spatial axis."""
        found = self.value(name)
        return tuple(found) if found else (default,) * axes


class Graph:
    """The nodes that the outputs need, in order. Labels of losses are not among them: `labels` maps a loss to the
    node of its label."""

    LOSSES = ("SoftmaxOutput", "LinearRegressionOutput")

    def __init__(self, file):
        with open(file, encoding="utf-8") as stream:
            stored = json.load(stream)
        nodes = [Node(i, n["op"], n["name"], Attrs(n.get("attrs") or n.get("attr") or {}),
                      [tuple(e[:2]) for e in n["inputs"]], [tuple(s) for s in stored["shapes"][i]])
                 for i, n in enumerate(stored["symbol"]["nodes"])]
        self.all = nodes
        self.heads = [tuple(head[:2]) for head in stored["symbol"]["heads"]]
        self.labels = {n.id: n.inputs[1][0] for n in nodes if n.op in self.LOSSES}
        needed, waiting = set(), [i for i, _ in self.heads]
        while waiting:
            node = nodes[waiting.pop()]
            if node.id not in needed:
                needed.add(node.id)
                inputs = node.inputs[:1] if node.id in self.labels else node.inputs
                waiting += [i for i, _ in inputs]
        self.nodes = [n for n in nodes if n.id in needed]

    def label_path(self, loss):
        """The variable from which a loss gets its labels, and the operators between, from the variable on."""
        node, path = self.all[self.labels[loss]], []
        while node.op != "null":
            path.append(node)
            node = self.all[node.inputs[0][0]]
        return node.name, path[::-1]

    def fixed_gammas(self):
        """Names of the gammas that BatchNorm takes as ones."""
        return {self.all[n.inputs[1][0]].name for n in self.nodes
                if n.op == "BatchNorm" and n.attrs.flag("fix_gamma", True)}
