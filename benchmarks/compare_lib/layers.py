"""Each distinct convolution of a model: Symbind's time, ONNX Runtime's, and the limit by fused multiply-adds.

Times are those inside the network, from each engine's own profile; what an engine has fused into a convolution counts as
part of it.
"""
import os
import tempfile

import numpy as np

from . import problem, report, symbol_json
from .process import Failed

STEPS = 15


def flops(node, graph):
    weight = graph.all[node.inputs[1][0]].shapes[0]
    return 2.0 * np.prod(node.shapes[0]) * np.prod(weight[1:])


def geometry(node, graph):
    """What makes a convolution distinct, as a text."""
    source, output = node.inputs[0]
    data = graph.all[source].shapes[output]
    axes = len(data) - 2

    def text(values):
        return "x".join(map(str, values))

    parts = ["%s -> %s" % (text(data[1:]), text(node.shapes[0][1:])), "kernel " + text(node.attrs.value("kernel"))]
    for name, default in (("stride", 1), ("pad", 0), ("dilate", 1)):
        window = node.attrs.window(name, axes, default)
        if window != (default,) * axes:
            parts.append("%s %s" % (name, text(window)))
    groups = node.attrs.value("num_group", 1)
    return ", ".join(parts + (["groups %d" % groups] if groups > 1 else []))


def convolution_of(name, graph, by_name, taken):
    """The convolution that a fused node computes: itself, or the nearest one before it that has no time yet."""
    waiting = [by_name[name]] if name in by_name else []
    while waiting:
        node = waiting.pop(0)
        if node.op == "Convolution":
            if node.name not in taken:
                return node.name
            continue
        waiting += [graph.all[i] for i, _ in node.inputs if graph.all[i].op != "null"]
    return None


def times_of(nodes, graph):
    """{convolution: (milliseconds, kernel)} of a profile's nodes."""
    by_name = {n.name: n for n in graph.nodes}
    found = {}
    ordered = sorted((n for n in nodes if "conv" in n[1].lower()), key=lambda n: by_name[n[0]].op != "Convolution"
                     if n[0] in by_name else True)
    for name, op, milliseconds, *kernel in ordered:
        convolution = convolution_of(name, graph, by_name, found)
        if convolution:
            found[convolution] = (milliseconds, kernel[0] if kernel else op)
    return found


def lines_of(graph, ours, theirs, peak):
    """The table, slowest layers of ours first."""
    groups = {}
    for node in graph.nodes:
        if node.op == "Convolution":
            groups.setdefault(geometry(node, graph), []).append(node)
    table = []
    for text, nodes in groups.items():
        own = [ours[n.name] for n in nodes if n.name in ours]
        other = [theirs[n.name][0] for n in nodes if n.name in theirs]
        limit = sum(flops(n, graph) for n in nodes) / peak / 1e6
        table.append((sum(t for t, _ in own), len(nodes), text, own, other, limit))
    total = [sum(row[0] for row in table), sum(sum(row[4]) for row in table), sum(row[5] for row in table)]
    yield "| convolution (%d) | how many | Symbind ms | kernel | ONNX Runtime ms | FMA limit ms | limit / ours |" % len(table)
    yield "|---|---|---|---|---|---|---|"
    for own_time, count, text, own, other, limit in sorted(table, key=lambda row: -row[0]):
        kernels = ", ".join(sorted({kernel for _, kernel in own})) or "not found"
        yield "| %s | %d | %s | %s | %s | %s | %.0f %% |" % (
            text, count, report.digits(own_time), kernels, report.digits(sum(other)) if other else "–",
            report.digits(limit), 100 * limit / own_time if own_time else 0)
    yield "| all | | %s | | %s | %s | %.0f %% |" % (*map(report.digits, total), 100 * total[2] / (total[0] or 1))


def compare(options, workers, run):
    """The report of --layers as Markdown."""
    lines = ["%s, batch %d; %s." % (options.layers, options.batch, run["machine"]["isa"]), ""]
    with tempfile.TemporaryDirectory(prefix="symbind-compare-") as folder:
        problem.write(folder, ((options.layers, options.batch),))
        graph = symbol_json.Graph(os.path.join(folder, "part0.json"))
        for threads in options.threads:
            found = {}
            for engine in ("symbind", "onnxruntime"):
                try:
                    if engine not in workers.engines:
                        raise Failed("is missing")
                    worker = workers.get(engine, threads)
                    mode = worker.modes["step"][0]
                    worker.call("build", problem=folder, mode=mode)
                    found[engine] = times_of(worker.call("profile", mode=mode, steps=STEPS)["nodes"], graph)
                except Failed as error:
                    lines += ["**%s: %s**" % (engine, error), ""]
                    found[engine] = {}
            peak = run["machine"]["peak"][str(threads)]["GFLOP/s"]
            lines += ["%d threads; peak %.0f GFLOP/s" % (threads, peak), "",
                      *lines_of(graph, found["symbind"], found["onnxruntime"], peak), ""]
            workers.end()
    return "\n".join(lines)
