"""The seeded formula, the JSON forms, and how one operator case is run in MXNet.

Every input is described by (seed, lo, hi) so that a test in another language can make it again
bit for bit; only labels, indices and special values are written out. README.md has the formula.
"""
import json
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MXNET_MKLDNN_ENABLED", "0")  # MXNet's own kernels have fewer bugs
os.environ.setdefault("MXNET_USE_MKLDNN_RNN", "0")
os.environ.setdefault("MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "0")
import mxnet as mx
import numpy as np

FULL = 512  # tensors up to this many elements are recorded whole
SAMPLES = 64
MASK = (1 << 64) - 1


def fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def bits(seed, count):
    """The first `count` 64-bit words of the stream `seed`."""
    with np.errstate(over="ignore"):
        i = np.arange(1, count + 1, dtype=np.uint64)
        z = np.uint64(seed) * np.uint64(0x9E3779B97F4A7C15) + i * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def dyadic(x):
    """Bounds are multiples of 2^-16: then lo + (hi - lo) * u is exact in double, fused or not."""
    return round(x * 65536) / 65536


class Formula:
    """A tensor made by the formula; its seed comes from its place unless given."""

    def __init__(self, *shape, lo=-1.0, hi=1.0, dtype="float32", seed=None):
        self.shape, self.dtype, self.seed = shape, dtype, seed
        self.lo, self.hi = dyadic(lo), dyadic(hi)

    def describe(self):
        return {"shape": list(self.shape), "dtype": self.dtype, "seed": self.seed,
                "lo": self.lo, "hi": self.hi}

    def array(self):
        count = int(np.prod(self.shape, dtype=np.int64))
        u = (bits(self.seed, count) >> np.uint64(40)).astype(np.float64) / 2.0**24
        return (self.lo + (self.hi - self.lo) * u).astype(self.dtype).reshape(self.shape)


class Values:
    """A tensor written out."""
    seed = 0

    def __init__(self, values, dtype="float32"):
        self.values = np.array(values, dtype=dtype)

    def describe(self):
        return tensor(self.values)

    def array(self):
        return self.values


def number(x):
    """One element as JSON: 9 digits for float32, 17 for float64, words for what JSON lacks."""
    if isinstance(x, (np.bool_, np.integer)):
        return int(x)
    if np.isnan(x) or np.isinf(x):
        return str(float(x))
    return float(repr(float(x)) if x.dtype == np.float64 else "%.9g" % x)


def summary(array):
    """Norm, largest magnitude and 64 sampled elements (all of them when there are no more)."""
    flat = np.asarray(array).reshape(-1)
    wide = flat.astype(np.float64)
    n = flat.size
    index = (bits(n, SAMPLES) % np.uint64(n)).astype(np.int64) if n > SAMPLES else np.arange(n)
    return {"norm": number(np.float64(np.sqrt(np.sum(wide * wide)))),
            "max": number(np.float64(np.max(np.abs(wide)))),
            "sample": [number(x) for x in flat[index]]}


def tensor(array):
    array = np.asarray(array)
    form = {"shape": list(array.shape), "dtype": str(array.dtype)}
    if array.size <= FULL:
        form["values"] = [number(x) for x in array.reshape(-1)]
    else:
        form.update(summary(array))
    return form


def write(path, head, key, entries):
    """One JSON file: the head's keys, then `key` as a list with one entry per line."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    dump = lambda x: json.dumps(x, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    with open(path, "w") as f:
        f.write("{\n")
        for name, value in head.items():
            f.write("%s: %s,\n" % (dump(name), dump(value)))
        f.write("%s: [\n%s\n]\n}\n" % (dump(key), ",\n".join(dump(e) for e in entries)))
    print("%s: %d %s, %d bytes" % (os.path.relpath(path), len(entries), key, os.path.getsize(path)))


def golden_dir(*parts):
    if "GOLDEN_DIR" in os.environ:
        return os.path.join(os.environ["GOLDEN_DIR"], *parts)
    here = os.path.dirname(os.path.abspath(__file__))
    return os.path.join(here, "..", "..", "tests", "golden", *parts)


def operator(namespace, op):
    for space in (namespace, namespace._internal, getattr(namespace, "contrib", None)):
        if hasattr(space, op):
            return getattr(space, op)
    for prefix in ("contrib", "linalg", "image"):
        if op.startswith(f"_{prefix}_"):
            return getattr(getattr(namespace, prefix), op[len(prefix) + 2:])
    raise KeyError(op)


class Case:
    """One attribute set of one operator.

    inputs, aux: name -> Formula or Values, in the operator's order.
    train: which of is_train True/False to run. heads: "formula" or None (backward without).
    req: 'write', or name -> req for the inputs that differ; 'null' everywhere: forward only.
    out: None for Symbol bind; a list of input names for an imperative call with out= the first
    `outs` of them (in the inputs' order), all of which are recorded after `repeat` calls.
    old: an operator whose auxiliary states are no inputs in MXNet.
    keyword: what MXNet's symbol calls its only input, where that differs from its signature.
    """

    def __init__(self, op, name, attrs=None, inputs=None, aux=None, train=(True, False),
                 heads="formula", req="write", out=None, outs=1, repeat=1,
                 note=None, old=False, keyword=None):
        self.op, self.name, self.note, self.old = op, name, note, old
        self.keyword = keyword
        self.attrs = {k: str(v) for k, v in (attrs or {}).items()}
        self.inputs, self.aux = inputs or {}, aux or {}
        self.train, self.heads, self.req = train, heads, req
        self.out, self.outs, self.repeat = out, outs, repeat
        for key, spec in list(self.inputs.items()) + list(self.aux.items()):
            if spec.seed is None:
                spec.seed = fnv1a("%s/%s/%s" % (op, name, key))

    def describe(self):
        named = lambda specs: [dict(name=k, **s.describe()) for k, s in specs.items()]
        form = {"name": self.name, "op": self.op, "attrs": self.attrs,
                "inputs": named(self.inputs), "aux": named(self.aux)}
        if self.note:
            form["note"] = self.note
        return form

    def record(self):
        form = self.describe()
        if self.out:
            form["imperative"] = self._invoke()
        else:
            form["runs"] = [self._run(t) for t in self.train]
            self._check_add(form["runs"])
            form["attrs"] = self.attrs
        return form

    def _invoke(self):
        arrays = {k: mx.nd.array(s.array(), dtype=s.array().dtype) for k, s in self.inputs.items()}
        into = [arrays[k] for k in self.out[:self.outs]]
        for _ in range(self.repeat):
            operator(mx.nd, self.op)(*arrays.values(), out=into if self.outs > 1 else into[0],
                                     **self.attrs)
        mx.nd.waitall()
        return {"out": self.out[:self.outs] if self.outs > 1 else self.out[0],
                "repeat": self.repeat,
                "after": [dict(name=k, **tensor(arrays[k].asnumpy())) for k in self.out]}

    def _requests(self):
        return {k: self.req if isinstance(self.req, str) else self.req.get(k, "write")
                for k in self.inputs}

    def _check_add(self, runs):
        """MXNet gets 'add' wrong for some operators; such cases must not become golden."""
        req = self.req
        self.req = {k: "write" if r == "add" else r for k, r in self._requests().items()}
        adding = [(r["is_train"], g) for r in runs for g in r.get("grads", []) if g["req"] == "add"]
        for train, added in adding:
            written = next(g for g in self._run(train)["grads"] if g["name"] == added["name"])
            before = Formula(*added["shape"], dtype=added["dtype"], seed=added["before"]["seed"])
            right = before.array().reshape(-1) + np.array(written["values"], added["dtype"])
            assert np.allclose(added["values"], right, 1e-5, 1e-5), (self.op, self.name)
        self.req = req

    def _symbol(self):
        names = list(self.inputs) + ([] if self.old else list(self.aux))
        variables = [mx.sym.Variable(k) for k in names]
        if self.keyword is not None:
            symbol = operator(mx.sym, self.op)(name="op", **{self.keyword: variables[0]},
                                               **self.attrs)
        else:
            symbol = operator(mx.sym, self.op)(*variables, name="op", **self.attrs)
        nodes = [n for n in json.loads(symbol.tojson())["nodes"] if n["op"] != "null"]
        assert len(nodes) == 1, nodes
        self.attrs = nodes[0].get("attrs", {})
        return symbol

    def _run(self, train):
        symbol = self._symbol()
        array = lambda s: mx.nd.array(s.array(), dtype=s.array().dtype)
        args = {k: array(s) for k, s in self.inputs.items()}
        aux = {k: array(s) for k, s in self.aux.items()}
        req = self._requests()
        before = {k: Formula(*args[k].shape, dtype=str(np.dtype(args[k].dtype)),
                             seed=fnv1a("%s/%s/%s/grad" % (self.op, self.name, k))) for k in args}
        grads = {k: array(before[k]) for k in args if req[k] != "null"}
        # gradients start from junk: write must overwrite it, add must keep it
        exe = symbol.bind(mx.cpu(), args, args_grad=grads, grad_req=req,
                          aux_states={"op_" * self.old + k: a for k, a in aux.items()})
        outputs = exe.forward(is_train=train)
        mx.nd.waitall()
        run = {"is_train": train, "outputs": [tensor(o.asnumpy()) for o in outputs]}
        if train and grads:
            heads = []
            if self.heads == "formula":
                heads = [Formula(*o.shape, dtype=str(np.dtype(o.dtype)),
                                 seed=fnv1a("%s/%s/head%d" % (self.op, self.name, i)))
                         for i, o in enumerate(outputs)]
            exe.backward([array(h) for h in heads] if heads else None)
            mx.nd.waitall()
            run["heads"] = [h.describe() for h in heads]
            run["grads"] = []
            for k in grads:
                entry = {"name": k, "req": req[k]}
                if req[k] == "add":
                    entry["before"] = before[k].describe()
                run["grads"].append(dict(entry, **tensor(grads[k].asnumpy())))
        if aux:
            run["aux"] = [dict(name=k, **tensor(aux[k].asnumpy())) for k in aux]
        changed = [k for k in args
                   if args[k].asnumpy().tobytes() != self.inputs[k].array().tobytes()]
        if changed:
            run["inputs_after"] = [dict(name=k, **tensor(args[k].asnumpy())) for k in changed]
        return run
