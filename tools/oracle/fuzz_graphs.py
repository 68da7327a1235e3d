"""Draws one call of an operator at a time: what tools/oracle/fuzz makes random graphs of.

A call is {"op", "name", "attrs", "inputs"}; an input is a variable's name or [call, output].
Attributes are drawn so that most calls fit their inputs and some do not: both sides must refuse
the same ones. What MXNet 1.9.1 gets wrong is not drawn; EXCLUDED says why.
"""
import fuzz_families
from fuzz_families import tup

# MXNet's faults, kept out of the graphs.
EXCLUDED = {
    "Reshape -1 after -4 or -2": "a wrong shape, or a corrupted heap",
    "Reshape to another size": "(-1, 2, 0) of (3, 5, 2, 1) gives 28 of 30 elements and fails later",
    "hard_sigmoid": "its backward overwrites a gradient that add_n's other inputs still read",
    "BatchNorm output_mean_var, all req null": "overwrites a fixed gamma though nothing is trained",
    "max pooling of NaN": "the gradient of a window without a number differs between its kernels",
    "prelu after a layer, or of data that others read": "the gradient of gamma reads what was "
                                                        "overwritten",
    "moments, LayerNorm, GroupNorm whose first output nothing reads": "the others are not written: "
                                                                     "recorded with it",
    "selu": "its derivative is that of another function below 0",
    "ties in topk, sort, argsort": "their order is undefined",
    "an output twice in a Group": "one of the two head gradients is lost: recorded with their sum",
    "outputs of shape ()": "they count as unknown",
    "SoftmaxOutput out_grad": "multiplies by its own gradient where both share memory",
    "Pooling 'same'": "fails in every form",
    "degrees, radians, erf in float64": "their constants are float32: 1e-8 off",
    "gradients of labels and indices": "not written, refused, or 'wrong req'",
    "partial shapes that contradict the true ones": "Pad, Pooling, Concat, broadcast_like take an "
                                                    "unknown extent for a number",
    "infer_type through a float32 Embedding": "ours lets the weight be of another type",
    "SoftmaxOutput, MakeLoss, gamma, gammaln, LeakyReLU in float64": "computed in float32 in "
                                                                    "places: held to 1e-5",
    "InstanceNorm in float64": "refused; without a type it is float32",
    "sort without an axis": "its gradient is refused",
    "softmax, argmax along an axis that is not there": "taken by infer_shape",
    "grad_req add": "wrong in many operators: recorded as what was there plus what 'write' gives",
}

UNARY = ("abs arccos arcsin arcsinh arctan arctanh cbrt ceil cos cosh exp expm1 fix floor "
         "identity logical_not negative reciprocal relu rint round rsqrt sigmoid sign sin "
         "sinh softsign sqrt square tan tanh trunc zeros_like ones_like log log1p log2 log10 "
         "BlockGrad make_loss gamma gammaln rcbrt arccosh").split()
GENTLE = "tanh sin sigmoid relu abs square softsign cos arctan identity negative".split()
BINARY = "add sub mul div maximum minimum hypot power mod".split()
COMPARE = ("equal not_equal greater greater_equal lesser lesser_equal logical_and logical_or "
           "logical_xor").split()
SCALAR = ("_plus_scalar _minus_scalar _rminus_scalar _mul_scalar _div_scalar _rdiv_scalar "
          "_maximum_scalar _minimum_scalar _power_scalar _rpower_scalar _hypot_scalar _mod_scalar "
          "_rmod_scalar _equal_scalar _greater_scalar _lesser_equal_scalar _logical_and_scalar "
          "_logical_or_scalar _logical_xor_scalar _lesser_scalar _greater_equal_scalar "
          "_not_equal_scalar").split()
SCOPES = ({"__lr_mult__": "0.5"}, {"ctx_group": "dev1"}, {"__mood__": "so", "__wd_mult__": "0"})
REDUCE = "sum mean max min prod nansum nanprod".split()


class Draw(fuzz_families.Families):
    """Draws calls over a pool of entries: (reference, shape)."""

    def __init__(self, rng, dtype):
        self.rng, self.dtype = rng, dtype
        self.pool, self.made, self.fills = [], [], {}  # made: shapes of the variables by name

    def variable(self, shape, fill=None):
        name = "v%d" % len(self.made)
        self.made.append((name, tuple(shape)))
        if fill:
            self.fills[name] = fill
        else:
            self.pool.append((name, tuple(shape)))
        return name

    def shape(self, rank=None):
        rank = rank or self.rng.choice([1, 2, 2, 3, 3, 4, 4, 5])
        return tuple(self.rng.choice([1, 2, 2, 3, 4, 5]) for _ in range(rank))

    def pick(self, fits=lambda s: True):
        """An entry, late ones rather than early ones; a new variable when none fits."""
        found = [e for e in self.pool if fits(e[1])]
        if found and self.rng.random() < 0.92:
            return found[max(self.rng.randrange(len(found)), self.rng.randrange(len(found)))]
        for _ in range(50):
            shape = self.shape()
            if fits(shape):
                return self.variable(shape), shape
        return self.rng.choice(self.pool)

    def like(self, shape):
        """Another entry of this shape."""
        found = [e for e in self.pool if e[1] == shape]
        return self.rng.choice(found)[0] if found and self.rng.random() < 0.8 else self.variable(shape)

    def flag(self, p=0.5):
        return self.rng.random() < p

    def boolean(self):
        return self.rng.choice(["True", "False", "1", "0"])

    def axis(self, rank, wrong=0.02):
        if self.flag(wrong):
            return self.rng.choice([rank, -rank - 1, rank + 3])
        return self.rng.randrange(-rank, rank)

    def axes(self, rank):
        some = self.rng.sample(range(rank), self.rng.randint(1, rank))
        if self.flag(0.8):
            some.sort()
        return [a - rank if self.flag(0.3) else a for a in some]

    def indices(self, shape, extent):
        return self.variable(shape, {"ints": [-2, extent + 2] if self.flag(0.4) else [0, extent]})

    def shape_of(self, call):
        return next(s for r, s in self.pool if r == call["inputs"][0])

    def call(self):
        family = self.rng.choices([f for f, _ in FAMILIES], [w for _, w in FAMILIES])[0]
        op, inputs, attrs = family(self)
        call = {"op": op, "inputs": inputs, "attrs": {k: str(v) for k, v in attrs.items()}}
        if self.flag(0.15):
            call["prefix"] = "s%d_" % len(self.pool)
        if self.flag(0.15):
            call["scope"] = self.rng.choice(SCOPES)
        return call

    # ---- families: each answers operator, inputs, attributes

    def unary(self):
        ref, _ = self.pick()
        return self.rng.choice(GENTLE if self.flag(0.6) else UNARY), [ref], {}

    def binary(self):
        ref, shape = self.pick()
        kind = self.rng.choice(BINARY if self.flag(0.8) else COMPARE)
        other = self.rng.choice(self.pool)[0] if self.flag(0.05) else self.like(shape)
        pair = [ref, other] if self.flag() else [other, ref]
        if kind in ("add", "sub", "mul", "div"):
            return "elemwise_" + kind, pair, {}
        return "_" + kind, pair, {}

    def broadcast(self):
        ref, shape = self.pick()
        other = tuple(1 if self.flag(0.4) else d for d in shape)
        if self.flag(0.3):
            shape2 = self.rng.choice(self.pool)
            other_ref = shape2[0]
        else:
            other_ref = self.like(other)
        pair = [ref, other_ref] if self.flag() else [other_ref, ref]
        return "broadcast_" + self.rng.choice(BINARY if self.flag(0.8) else COMPARE), pair, {}

    def scalar(self):
        ref, _ = self.pick()
        return self.rng.choice(SCALAR), [ref], {
            "scalar": self.rng.choice(["2", "0.5", "-1.5", "3.0", "1", "0.1", "-2", "1e-1"])}

    def reduce(self):
        ref, shape = self.pick()
        attrs = {}
        if self.flag(0.8):
            attrs["axis"] = (self.axis(len(shape)) if self.flag(0.4) else tup(self.axes(len(shape)))
                             if self.flag(0.93) else "()")
        if self.flag():
            attrs["keepdims"] = self.boolean()
        if self.flag(0.4):
            attrs["exclude"] = self.boolean()
        return self.rng.choice(REDUCE), [ref], attrs

    def norm(self):
        ref, shape = self.pick()
        attrs = {}
        if self.flag(0.7):
            attrs["axis"] = (self.axis(len(shape)) if self.flag() else
                             tup(self.axes(len(shape))[:2]))
        if self.flag():
            attrs["ord"] = self.rng.choice([1, 2])
        if self.flag():
            attrs["keepdims"] = self.boolean()
        return "norm", [ref], attrs

    def arg(self):
        ref, shape = self.pick()
        if self.flag(0.2):
            return "argmax_channel", [self.pick(lambda s: len(s) == 2)[0]], {}
        attrs = {"axis": self.axis(len(shape), 0)} if self.flag(0.85) else {}
        if self.flag():
            attrs["keepdims"] = self.boolean()
        return self.rng.choice(["argmax", "argmin"]), [ref], attrs

    def reshape(self):
        ref, shape = self.pick()
        size = 1
        for d in shape:
            size *= d
        kind = self.rng.randrange(6)
        if kind == 0:
            return "Flatten", [ref], {}
        if kind == 1:
            return "reshape_like", [ref, self.pick(lambda s: self.size(s) == size)[0]], {}
        codes, used, inferred = [], 0, False
        while used < len(shape):
            code = self.rng.choice([0, 0, -1, -2, -3, -4, "n", "n"])
            if code == -1:
                if inferred or any(c in (-4, -2) for c in codes):
                    continue
                inferred = True
                used += self.rng.choice([1, 1, 2])
                codes.append(-1)
            elif code == -2:
                if inferred and self.flag(0.9):
                    continue
                codes.append(-2)
                break
            elif code == -3:
                if used + 1 >= len(shape):
                    continue
                codes.append(-3)
                used += 2
            elif code == -4:
                d = shape[used]
                f = self.rng.choice([k for k in range(1, d + 1) if d % k == 0])
                halves = [f, d // f]
                if self.flag(0.4):
                    halves[self.rng.randrange(2)] = -1
                codes += [-4] + halves
                used += 1
            else:
                codes.append(0 if code == 0 else shape[used])
                used += 1
        attrs = {"shape": tup(codes)}
        if self.flag(0.15):
            attrs = {"shape": "(-1,)"}
        if self.flag(0.2) and -4 not in codes:
            attrs["reverse"] = self.boolean()
        return "Reshape" if self.flag() else "reshape", [ref], attrs

    @staticmethod
    def size(shape):
        n = 1
        for d in shape:
            n *= d
        return n

    def view(self):
        ref, shape = self.pick()
        rank = len(shape)
        kind = self.rng.randrange(8)
        if kind == 0:
            axes = self.rng.sample(range(rank), rank)
            return "transpose", [ref], {} if self.flag(0.3) else {"axes": tup(axes)}
        if kind == 1:
            return "SwapAxis", [ref], {"dim1": self.rng.randrange(rank), "dim2": self.rng.randrange(rank)}
        if kind == 2:
            return "expand_dims", [ref], {"axis": self.rng.randint(-rank - 1, rank)}
        if kind == 3:
            ones = [i for i, d in enumerate(shape) if d == 1]
            if not ones or len(ones) == rank:
                return "squeeze", [ref], {}
            some = self.rng.sample(ones, self.rng.randint(1, len(ones)))
            return "squeeze", [ref], {} if self.flag(0.3) else {
                "axis": some[0] - rank if len(some) == 1 else tup(some)}
        if kind == 4:
            reps = [self.rng.randint(1, 3) for _ in range(self.rng.randint(1, rank + 1))]
            return "tile", [ref], {"reps": tup(reps)}
        if kind == 5:
            attrs = {"repeats": self.rng.randint(1, 3)}
            if self.flag(0.8):
                attrs["axis"] = self.axis(rank)
            return "repeat", [ref], attrs
        if kind == 6:
            if rank not in (4, 5):
                ref, shape = self.pick(lambda s: len(s) in (4, 5))
            mode = self.rng.choice(["constant", "edge", "reflect"])
            width = [0, 0, 0, 0]
            for d in shape[2:]:
                top = d - 1 if mode == "reflect" else 2
                width += [self.rng.randint(0, min(2, top)), self.rng.randint(0, min(2, top))]
            attrs = {"mode": mode, "pad_width": tup(width)}
            if self.flag():
                attrs["constant_value"] = self.rng.choice(["0", "1.5", "-0.1"])
            return "Pad", [ref], attrs
        return "broadcast_like", [self.like(tuple(1 if self.flag() else d for d in shape)), ref], {}

    def stretch(self):
        ref, shape = self.pick(lambda s: 1 in s)
        new = [d if d != 1 or self.flag(0.3) else self.rng.randint(1, 4) for d in shape]
        if self.flag():
            return "broadcast_to", [ref], {"shape": tup([0 if self.flag(0.3) and n == d else n
                                                         for n, d in zip(new, shape)])}
        ones = [i for i, d in enumerate(shape) if d == 1] or [0]
        some = self.rng.sample(ones, self.rng.randint(1, len(ones)))
        if len(some) == 1 and self.flag():
            return "broadcast_axis", [ref], {"axis": some[0], "size": new[some[0]]}
        return "broadcast_axis", [ref], {"axis": tup(some), "size": tup([new[i] for i in some])}

    def slices(self):
        ref, shape = self.pick()
        rank = len(shape)
        kind = self.rng.randrange(3)
        if kind == 0:
            axis = self.rng.randrange(-rank, rank)
            d = shape[axis]
            begin = self.rng.randint(0, d - 1)
            end = self.rng.randint(begin + 1, d + (1 if self.flag(0.1) else 0))
            begin = begin - d if self.flag(0.3) else begin
            end = "None" if self.flag(0.2) else end - d if end < d and self.flag(0.3) else end
            return "slice_axis", [ref], {"axis": axis, "begin": begin, "end": end}
        if kind == 1:
            smaller = tuple(self.rng.randint(1, d) for d in shape)
            attrs = {}
            if self.flag():
                attrs["axes"] = tup(self.axes(rank))
            return "slice_like", [ref, self.like(smaller)], attrs
        count = self.rng.randint(1, rank)
        begin, end, step = [], [], []
        for d in shape[:count]:
            s = self.rng.choice([1, 1, 2, -1, -2, None])
            b, e = self.rng.randint(0, d - 1), 0
            if s is None or s > 0:
                e = self.rng.randint(b + 1, d)
                b = self.rng.choice([b, b - d, None if b == 0 else b])
                e = self.rng.choice([e, e - d if e < d else None, e])
            else:
                e = self.rng.randint(-1, b - 1) if b else -1
                e = None if e == -1 else e
            begin.append(b), end.append(e), step.append(s)
        attrs = {"begin": tup(begin), "end": tup(end)}
        if any(s not in (1, None) for s in step) or self.flag(0.3):
            attrs["step"] = tup(step)
        return "slice", [ref], attrs

    def join(self):
        ref, shape = self.pick()
        rank, count = len(shape), self.rng.randint(1, 4)
        kind = self.rng.randrange(3)
        if kind == 0:
            return "add_n", [ref] + [self.like(shape) for _ in range(count - 1)], {"num_args": count}
        if kind == 1:
            return "stack", [ref] + [self.like(shape) for _ in range(count - 1)], {
                "num_args": count, "axis": self.rng.randint(-rank - 1, rank)}
        axis = self.rng.randrange(-rank, rank)
        refs = [ref]
        for _ in range(count - 1):
            other = list(shape)
            if self.flag():
                other[axis] = self.rng.randint(1, 3)
            refs.append(self.like(tuple(other)))
        attrs = {"num_args": count}
        if axis != 1 or self.flag():
            attrs["dim"] = axis
        return "Concat", refs, attrs

    def split(self):
        ref, shape = self.pick(lambda s: any(d in (2, 3, 4) for d in s))
        axis = self.rng.choice([i for i, d in enumerate(shape) if d > 1] or [0])
        d = shape[axis]
        parts = self.rng.choice([k for k in range(1, d + 1) if d % k == 0])
        attrs = {"num_outputs": parts}
        if axis != 1 or self.flag():
            attrs["axis"] = axis - len(shape) if self.flag(0.3) else axis
        if self.flag(0.3):
            attrs["squeeze_axis"] = "True" if parts == d or self.flag(0.1) else "False"
        return "SliceChannel", [ref], attrs

    def index(self):
        ref, shape = self.pick()
        rank = len(shape)
        kind = self.rng.randrange(4)
        if kind == 0:
            attrs = {}
            axis = 0
            if self.flag():
                attrs["axis"] = axis = self.rng.randrange(-rank, rank)
            if self.flag():
                attrs["mode"] = self.rng.choice(["clip", "wrap"])
            return "take", [ref, self.indices(self.shape(self.rng.randint(1, 2)), shape[axis])], attrs
        if kind == 1:
            axis = self.rng.randrange(-rank, rank)
            attrs = {"axis": axis} if axis != -1 or self.flag() else {}
            keep = [d for i, d in enumerate(shape) if i != axis % rank]
            if self.flag(0.3):
                keep = [1 if i == axis % rank else d for i, d in enumerate(shape)]
            if self.flag():
                attrs["keepdims"] = self.boolean()
            if self.flag():
                attrs["mode"] = self.rng.choice(["clip", "wrap"])
            return "pick", [ref, self.indices(keep or [1], shape[axis])], attrs
        if kind == 2:
            depth = self.rng.randint(1, 5)
            attrs = {"depth": depth, "dtype": self.dtype}
            if self.flag(0.4):
                attrs["on_value"] = "2.5"
            if self.flag(0.4):
                attrs["off_value"] = "-0.5"
            return "one_hot", [self.indices(self.shape(self.rng.randint(1, 3)), depth)], attrs
        rows = self.rng.randint(1, 5)
        attrs = {"input_dim": rows, "output_dim": self.rng.randint(1, 4), "dtype": self.dtype}
        return "Embedding", [self.indices(self.shape(self.rng.randint(1, 3)), rows)], attrs

    def layer(self):
        kind = self.rng.randrange(7)
        if kind <= 1:
            ref, _ = self.pick()
            attrs = {"num_hidden": self.rng.randint(1, 5)}
            if self.flag(0.4):
                attrs["no_bias"] = self.boolean()
            if self.flag(0.4):
                attrs["flatten"] = self.boolean()
            return "FullyConnected", [ref], attrs
        if kind == 2:
            ref, shape = self.pick(lambda s: len(s) >= 2)
            attrs = {}
            if self.flag(0.4):
                attrs["axis"] = self.axis(len(shape), 0.1)
            for key, p in (("fix_gamma", 0.6), ("use_global_stats", 0.3), ("output_mean_var", 0.2)):
                if self.flag(p):
                    attrs[key] = self.boolean()
            if self.flag():
                attrs["eps"] = self.rng.choice(["0.001", "2e-5", "0.1"])
            if self.flag():
                attrs["momentum"] = self.rng.choice(["0.9", "0.5", "0"])
            return "BatchNorm", [ref], attrs
        if kind == 3:
            attrs = {"p": "0"}
            if self.flag():
                attrs["mode"] = self.rng.choice(["always", "training"])
            return "Dropout", [self.pick()[0]], attrs
        if kind == 4:
            return "Activation", [self.pick()[0]], {
                "act_type": self.rng.choice("relu sigmoid softrelu softsign tanh".split())}
        if kind == 5:
            ref, _ = self.pick()
            return self.rng.choice([
                ("clip", [ref], {"a_min": "-0.5", "a_max": "0.75"}),
                ("smooth_l1", [ref], {"scalar": self.rng.choice(["1", "2.0", "0.5"])})])
        ref, shape = self.pick()
        condition = shape if self.flag(0.7) else shape[:1]
        return "where", [self.variable(condition, {"ints": [0, 2]}), ref, self.like(shape)], {}

    def image(self):
        ref, shape = self.pick(lambda s: len(s) in (3, 4, 5))
        spatial = shape[2:]
        kernel = [self.rng.randint(1, min(3, d + 1)) for d in spatial]
        attrs = {"kernel": tup(kernel)}
        if self.flag(0.6):
            attrs["stride"] = tup([self.rng.randint(1, 3) for _ in spatial])
        if self.flag(0.5):
            attrs["pad"] = tup([self.rng.randint(0, max(0, k - 1)) for k in kernel])
        if self.flag():
            if self.flag(0.3):
                attrs["dilate"] = tup([self.rng.randint(1, 2) for _ in spatial])
            groups = self.rng.choice([g for g in range(1, shape[1] + 1) if shape[1] % g == 0] + [1])
            attrs["num_filter"] = groups * self.rng.randint(1, 3)
            if groups > 1 or self.flag(0.1):
                attrs["num_group"] = groups
            if self.flag(0.4):
                attrs["no_bias"] = self.boolean()
            return "Convolution", [ref], attrs
        attrs["pool_type"] = self.rng.choice(["max", "avg", "sum", "lp"])
        if attrs["pool_type"] == "lp":
            attrs["p_value"] = self.rng.choice([1, 2, 3])
        if self.flag(0.5):
            attrs["pooling_convention"] = self.rng.choice(["valid", "full"])
        if self.flag(0.3):
            attrs["count_include_pad"] = self.boolean()
        if self.flag(0.25):
            attrs["global_pool"] = self.boolean()
        return "Pooling", [ref], attrs

    def source(self):
        shape = self.shape()
        op = self.rng.choice(["_zeros", "_ones", "_full", "_arange"])
        if op == "_arange":
            attrs = {"start": self.rng.choice(["0", "1.5", "-2"]), "stop": self.rng.choice(["4", "7.2"]),
                     "step": self.rng.choice(["1", "0.75", "2"])}
            if self.flag(0.3):
                attrs["repeat"] = "2"
        else:
            attrs = {"shape": tup(shape)}
        if op == "_full":
            attrs["value"] = "0.625"
        return op, [], dict(attrs, dtype=self.dtype)

    def cast(self):
        return "Cast", [self.pick()[0]], {"dtype": self.dtype}

    def loss(self):
        if self.flag(0.3):
            attrs = {"grad_scale": "0.5"} if self.flag() else {}
            if self.flag():
                attrs["normalization"] = self.rng.choice(["null", "batch", "valid"])
            if self.flag(0.3):
                attrs["valid_thresh"] = "0.25"
            return "MakeLoss", [self.pick()[0]], attrs
        ref, shape = self.pick(lambda s: len(s) >= 2)
        attrs, classes = {}, shape[-1]
        label = shape[:-1]
        if self.flag(0.3) and len(shape) > 2:
            attrs["multi_output"] = "True"
            classes, label = shape[1], (shape[0], self.size(shape[2:]))
            if self.flag():
                label = (shape[0],) + shape[2:]
        elif self.flag(0.2):
            attrs["preserve_shape"] = "True"
        elif len(shape) > 2:
            ref, shape = self.pick(lambda s: len(s) == 2)
            classes, label = shape[-1], shape[:-1]
        for key, value, p in (("grad_scale", "2.0", 0.3), ("use_ignore", "True", 0.3),
                              ("ignore_label", self.rng.choice(["0", "1", "-1"]), 0.3),
                              ("normalization", self.rng.choice(["null", "batch", "valid"]), 0.5),
                              ("smooth_alpha", "0.1", 0.2)):
            if self.flag(p):
                attrs[key] = value
        if self.flag(0.2):
            return "SoftmaxOutput", [ref], attrs
        if self.flag(0.1):
            return "SoftmaxOutput", [ref, self.variable(shape, {"lo": 0, "hi": 1, "label": 1})], attrs
        ints = [-1, classes + 1] if self.flag(0.2) else [0, classes]
        return "SoftmaxOutput", [ref, self.variable(label, {"ints": ints, "label": 1})], attrs


FAMILIES = [(Draw.unary, 12), (Draw.binary, 10), (Draw.broadcast, 8), (Draw.scalar, 6),
            (Draw.reduce, 8), (Draw.norm, 2), (Draw.arg, 2), (Draw.reshape, 8), (Draw.view, 10),
            (Draw.stretch, 4), (Draw.slices, 8), (Draw.join, 7), (Draw.split, 6), (Draw.index, 7),
            (Draw.layer, 14), (Draw.image, 10), (Draw.source, 2), (Draw.cast, 1), (Draw.loss, 4)]
FAMILIES += fuzz_families.FAMILIES
