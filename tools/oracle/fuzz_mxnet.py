"""MXNet's side of tools/oracle/fuzz: a request a line on standard input, a recording a line back.

A request is {"seed": n}, for which a graph is drawn, or a graph {"seed", "dtype", "shapes", "fills",
"req", "calls", "heads"} as the recordings have it.
"""
import contextlib
import json
import os
import random
import sys

os.environ.setdefault("MXNET_ENGINE_TYPE", "NaiveEngine")  # no waiting for other threads
from golden import Formula, Values, fnv1a, mx, np, operator, tensor
from fuzz_graphs import Draw


# Where MXNet gives up: too many axes; outputs of which only the shape is read.
LIMITS = ("too large", "Too many reduction axes", "kNullOp", "kWriteTo")


def symbol_of(calls, heads=None):
    """Composes the calls; the last one, or the heads as a group."""
    variables, made = {}, []

    def entry(ref):
        if isinstance(ref, str):
            return variables.setdefault(ref, mx.sym.Variable(ref))
        node = made[ref[0]]
        return node if len(node) == 1 else node[ref[1]]
    with mx.name.NameManager():
        for c in calls:
            inputs = [entry(r) for r in c["inputs"]]
            attrs = {k: v for k, v in c["attrs"].items() if k != "num_args"}
            names = mx.name.Prefix(c["prefix"]) if c.get("prefix") else contextlib.nullcontext()
            with names, mx.AttrScope(**c.get("scope", {})):
                made.append(operator(mx.sym, c["op"])(*inputs, name=c["name"] or None, **attrs))
    if heads is None:
        return made[-1]
    heads = [entry(h) for h in heads]
    return heads[0] if len(heads) == 1 else mx.sym.Group(heads)


def unique(heads):
    return [h for i, h in enumerate(heads) if h not in heads[:i]]


def first_outputs(graph):
    """First outputs that are no heads, of operators whose others are never written without it."""
    calls, reached, open_ = graph["calls"], set(), [h[0] for h in graph["heads"] if not isinstance(h, str)]
    while open_:
        i = open_.pop()
        if i not in reached:
            reached.add(i)
            open_ += [r[0] for r in calls[i]["inputs"] if not isinstance(r, str)]
    return [[i, 0] for i in sorted(reached)
            if calls[i]["op"] in ("moments", "LayerNorm", "GroupNorm") and [i, 0] not in graph["heads"]]


def first_line(error):
    lines = [l for l in str(error).split("\n") if l.strip()]
    return lines[-1][:300]


def shapes_for(symbol, shapes):
    names = symbol.list_arguments()
    return {k: v for k, v in shapes.items() if k in names}


def draw(seed):
    rng = random.Random(seed)
    dtype = "float32" if rng.random() < 0.15 else "float64"
    d = Draw(rng, dtype)
    for _ in range(rng.randint(1, 3)):
        d.variable(d.shape())
    calls, outputs, refusals = [], [], []
    count = rng.randint(3, 15)
    tries = 0
    while len(calls) < count and tries < 40:
        tries += 1
        try:
            call = d.call()
        except (ValueError, IndexError):  # nothing to draw from
            continue
        call["name"] = "" if rng.random() < 0.3 else "n%d" % len(calls)
        shapes = {k: list(s) for k, s in d.made}
        try:
            symbol = symbol_of(calls + [call])
            _, outs, _ = symbol.infer_shape(**{k: tuple(v) for k, v in
                                               shapes_for(symbol, shapes).items()})
        except Exception as e:
            if len(refusals) < 4:
                refusals.append({"calls": calls + [call], "shapes": shapes_for_calls(
                    calls + [call], shapes), "error": first_line(e)})
            continue
        if outs is None or any(0 in o or not 0 < len(o) < 6 or np.prod(o) > 3000 for o in outs):
            continue
        if call["op"] in ("Reshape", "reshape") and np.prod(outs[0]) != d.size(d.shape_of(call)):
            continue
        calls.append(call)
        outputs.append(outs)
        for o, shape in enumerate(outs):
            d.pool.append(([len(calls) - 1, o], tuple(shape)))
    used = {(r[0], r[1]) for c in calls for r in c["inputs"] if not isinstance(r, str)}
    heads = [[i, o] for i, outs in enumerate(outputs) for o in range(len(outs)) if (i, o) not in used]
    several = [h for h in heads if len(outputs[h[0]]) > 1]  # some outputs are read by nothing
    heads = [h for h in heads if h not in several or rng.random() < 0.5] or heads[:1]
    heads += [[i, 0] for i in range(len(calls)) if [i, 0] not in heads and rng.random() < 0.1]
    if heads and rng.random() < 0.1:
        heads.append(rng.choice(heads))
    rng.shuffle(heads)
    return {"seed": seed, "dtype": dtype, "shapes": {k: list(s) for k, s in d.made},
            "fills": d.fills, "calls": calls, "heads": heads, "refusals": refusals,
            "reqs": rng.choice(["write", "mixed", "mixed", "null"] if rng.random() < 0.3 else ["mixed"])}


def shapes_for_calls(calls, shapes):
    used = {r for c in calls for r in c["inputs"] if isinstance(r, str)}
    return {k: v for k, v in shapes.items() if k in used}


class Ints(Values):
    def describe(self):  # all of them
        return {"shape": list(self.values.shape), "dtype": str(self.values.dtype),
                "values": [float(v) for v in self.values.reshape(-1)]}


def fill(graph, name, shape):
    dtype, seed = graph["dtype"], fnv1a("%d/%s" % (graph["seed"], name))
    rule = graph["fills"].get(name)
    if rule is None and name.endswith("_label"):
        rule = {"ints": [0, 3]}
    if rule is None and name.endswith("_moving_var"):
        rule = {"lo": 0.5, "hi": 1.5}
    if rule and "ints" in rule:
        lo, hi = rule["ints"]
        return Ints(np.floor(Formula(*shape, lo=lo, hi=hi, seed=seed).array()), dtype)
    rule = rule or {"lo": -1.5, "hi": 1.5}
    return Formula(*shape, dtype=dtype, seed=seed, lo=rule["lo"], hi=rule["hi"])


def recorded(array, wild=False):
    form = tensor(array)
    if wild or not np.all(np.isfinite(array)) or np.max(np.abs(array)) > 1e7:
        form["wild"] = True
    return form


def run(graph, symbol, train, names, aux_names):
    """Symbol has each output once; a head that the graph has twice gets the sum of its gradients,
    a first output that it does not have gets 0."""
    once = unique(graph["heads"]) + first_outputs(graph)
    inputs = {k: fill(graph, k, s) for k, s in zip(names, graph["arg_shapes"])}
    states = {k: fill(graph, k, s) for k, s in zip(aux_names, graph["aux_shapes"])}
    array = lambda spec: mx.nd.array(spec.array(), dtype=spec.array().dtype)
    args, aux = {k: array(s) for k, s in inputs.items()}, {k: array(s) for k, s in states.items()}
    req = {k: "write" if graph["req"][k] == "add" else graph["req"][k] for k in names}
    grads = {k: array(Formula(*args[k].shape, dtype=graph["dtype"], seed=7)) for k in names
             if req[k] != "null"}
    executor = symbol.bind(mx.cpu(), args, args_grad=grads, grad_req=req, aux_states=aux)
    # what an "add" array holds, step after step
    graph["inputs"] = [dict(inputs[k].describe(), name=k) for k in names]
    graph["aux"] = [dict(states[k].describe(), name=k) for k in aux_names]
    graph["before"] = {k: Formula(*args[k].shape, dtype=graph["dtype"], seed=fnv1a(k)).describe()
                       for k in grads}
    sums = {k: Formula(*args[k].shape, dtype=graph["dtype"], seed=fnv1a(k)).array().copy()
            for k in grads}
    steps = []
    wild = False
    for n in range(2 if train else 1):
        outputs = executor.forward(is_train=train)
        mx.nd.waitall()
        extra = outputs[len(unique(graph["heads"])):]
        outputs = [outputs[once.index(h)] for h in graph["heads"]]
        step = {"outputs": [recorded(o.asnumpy()) for o in outputs]}
        if train and grads:
            heads = [Formula(*o.shape, dtype=str(np.dtype(o.dtype)),
                             seed=fnv1a("head%d" % (i + 10 * n))) for i, o in enumerate(outputs)]
            sums_of = [sum(h.array() for h, at in zip(heads, graph["heads"]) if at == one)
                       for one in unique(graph["heads"])]
            executor.backward([mx.nd.array(d, dtype=d.dtype) for d in sums_of] +
                              [mx.nd.zeros(o.shape, dtype=o.dtype) for o in extra])
            mx.nd.waitall()
            step["heads"] = [h.describe() for h in heads]
            step["grads"] = []
            for k in grads:
                g = grads[k].asnumpy()
                sums[k] = sums[k] + g if graph["req"][k] == "add" else g
                step["grads"].append(dict(recorded(sums[k]), name=k))
        step["aux"] = [dict(recorded(aux[k].asnumpy()), name=k) for k in aux_names]
        changed = [k for k in args if grads and args[k].asnumpy().tobytes() != inputs[k].array().tobytes()]
        step["inputs_after"] = [dict(recorded(args[k].asnumpy()), name=k) for k in changed]
        steps.append(step)
    return {"is_train": train, "steps": steps}


def finite_inside(graph, symbol, names):
    """Whether every value between the inputs and the heads is finite."""
    inside = symbol.get_internals()
    specs = {t["name"]: t for t in graph["inputs"] + graph["aux"]}
    arrays = {k: mx.nd.array(fill(graph, k, specs[k]["shape"]).array(), dtype=graph["dtype"])
              for k in specs}
    aux = inside.list_auxiliary_states()
    executor = inside.bind(mx.cpu(), {k: arrays[k] for k in names}, grad_req="null",
                           aux_states={k: arrays[k] for k in aux})
    return all(np.all(np.isfinite(o.asnumpy())) for o in executor.forward())


def entry_shapes(graph):
    """Shapes of what the calls give, "call,output" to shape: what fuzz needs to drop calls."""
    every = {}
    for i in range(len(graph["calls"])):
        symbol = symbol_of(graph["calls"][:i + 1])
        _, outs, _ = symbol.infer_shape(**{k: tuple(v) for k, v in
                                           shapes_for(symbol, graph["shapes"]).items()})
        every.update({"%d,%d" % (i, o): s for o, s in enumerate(outs or [])})
    return every


def partial(symbol, given, truth):
    try:
        found = symbol.infer_shape_partial(**{k: tuple(v) for k, v in given.items()})
        # MXNet computes with unknown extents as if they were numbers: what is not so is left out
        fits = lambda s, t: len(s) == len(t) and all(a in (0, b) for a, b in zip(s, t))
        found = [[s if fits(s, t) else () for s, t in zip(ss, ts)] for ss, ts in zip(found, truth)]
        return {"given": given, "args": found[0], "outs": found[1], "aux": found[2]}
    except Exception as e:
        return {"given": given, "error": first_line(e)}


def types(symbol, given):
    try:
        args, outs, aux = symbol.infer_type(**{k: np.dtype(v) for k, v in given.items()})
    except Exception as e:
        return {"given": given, "error": first_line(e)}
    if args is None:
        return {"given": given}
    name = lambda ts: [np.dtype(t).name for t in ts]
    return {"given": given, "args": name(args), "outs": name(outs), "aux": name(aux)}


def record(graph):
    rng = random.Random(graph["seed"] + 1)
    for key in ("error", "alone", "json", "runs", "partial", "types"):
        graph.pop(key, None)
    if not graph["heads"]:
        return graph
    try:
        stage = "compose"
        symbol = symbol_of(graph["calls"], graph["heads"])
        once = symbol_of(graph["calls"], unique(graph["heads"]) + first_outputs(graph))
        names, aux_names = symbol.list_arguments(), symbol.list_auxiliary_states()
        graph["shapes"] = shapes_for(symbol, graph["shapes"])
        stage = "infer"
        args, outs, aux = symbol.infer_shape(**{k: tuple(v) for k, v in graph["shapes"].items()})
        if args is None:
            raise ValueError("incomplete")
    except Exception as e:
        return dict(graph, error=stage + ": " + first_line(e))
    graph.update(arguments=names, outputs=symbol.list_outputs(), aux_states=aux_names,
                 internals=symbol.get_internals().list_outputs(), attr_dict=symbol.attr_dict(),
                 arg_shapes=args, out_shapes=outs, aux_shapes=aux, json=symbol.tojson())
    graph["entry_shapes"] = entry_shapes(graph)
    known = dict(zip(names, args))
    graph["partial"] = []
    for _ in range(2):
        given = {k: [0 if rng.random() < 0.3 else d for d in known[k]] for k in names
                 if rng.random() < 0.6}
        graph["partial"].append(partial(symbol, given, (args, outs, aux)))
    ops = {c["op"] for c in graph["calls"]}
    flat = all(c["attrs"].get("flatten") not in ("False", "0") for c in graph["calls"])
    if ops & {"broadcast_like", "diag"} or not flat:  # an unknown extent counts as a number there
        graph["partial"] = []
    if ops & {"SoftmaxOutput", "MakeLoss", "gamma", "gammaln", "LeakyReLU"}:
        graph["tolerance"] = 1e-5
    assumed = "InstanceNorm" in ops or ("Embedding" in ops and graph["dtype"] == "float32")
    graph["types"] = [] if assumed else [types(symbol, {k: graph["dtype"] for k in names if rng.random() < p})
                      for p in (1, 0.5, 0)]
    if "req" not in graph or set(names) - set(graph["req"]):
        choose = {"write": ["write"], "null": ["null"], "mixed": ["write", "write", "add", "null"]}
        graph["req"] = {k: rng.choice(choose[graph.get("reqs", "mixed")]) for k in names}
    for k in names:  # MXNet leaves the gradients of labels as they were, or refuses to make them
        if k.endswith("_label") or set(graph["fills"].get(k, {})) & {"label", "ints"}:
            graph["req"][k] = "null"
    try:
        try:
            graph["runs"] = [run(graph, once, t, names, aux_names) for t in (False, True)]
            if "Pooling" in ops and not finite_inside(graph, symbol, names):
                del graph["runs"]
        except mx.MXNetError as e:
            if "non-differentiable" not in str(e):
                raise
            graph["req"] = {k: "null" for k in names}
            graph["runs"] = [run(graph, once, t, names, aux_names) for t in (False, True)]
    except Exception as e:
        if not any(limit in str(e) for limit in LIMITS):
            graph["error"] = "run: " + first_line(e)
        else:
            graph["alone"] = True  # ours must run all the same
    return graph


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever else is printed
    for line in sys.stdin:
        request = json.loads(line)
        graph = record(request if "calls" in request else draw(request["seed"]))
        answers.write(json.dumps(graph) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
