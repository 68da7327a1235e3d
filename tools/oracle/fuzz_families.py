"""Families of calls for fuzz_graphs.Draw: normalisations, sorting, products, sequences, sampling,
losses with labels, and layers that share weights. Each answers operator, inputs, attributes."""


def tup(values):
    values = ["None" if v is None else str(v) for v in values]
    return "(%s,)" % values[0] if len(values) == 1 else "(%s)" % ", ".join(values)


class Families:
    """Over the drawing methods of Draw: pick, like, variable, flag, axis, boolean."""

    def weight(self, shape):
        """A variable of this shape: often one that another call has too."""
        shape = tuple(shape)
        found = [n for n, s in self.made if s == shape and n not in self.fills]
        return self.rng.choice(found) if found and self.flag(0.7) else self.variable(shape)

    def shared(self):
        """Layers whose weights are given, and given again."""
        kind = self.rng.randrange(4)
        if kind <= 1:
            ref, shape = self.pick()
            flat = self.flag(0.7)
            width = self.size(shape[1:]) if flat else shape[-1]
            if flat and len(shape) == 1:
                width = 1
            hidden = self.rng.choice([2, 3, shape[-1]])
            inputs = [ref, self.weight((hidden, width))]
            attrs = {"num_hidden": hidden}
            if not flat:
                attrs["flatten"] = "False"
            if self.flag(0.4):
                attrs["no_bias"] = "True"
            elif self.flag(0.6):
                inputs.append(self.weight((hidden,)))
            return "FullyConnected", inputs, attrs
        if kind == 2:
            ref, shape = self.pick(lambda s: len(s) == 4)
            kernel = [self.rng.randint(1, min(2, d)) for d in shape[2:]]
            filters = self.rng.choice([2, shape[1]])
            inputs = [ref, self.weight([filters, shape[1]] + kernel)]
            attrs = {"kernel": tup(kernel), "num_filter": filters}
            if self.flag():
                inputs.append(self.weight((filters,)))
            else:
                attrs["no_bias"] = "True"
            return "Convolution", inputs, attrs
        rows, width = 4, self.rng.choice([2, 3])
        return "Embedding", [self.indices(self.shape(self.rng.randint(1, 2)), rows),
                             self.weight((rows, width))], {
            "input_dim": rows, "output_dim": width, "dtype": self.dtype}

    def normal(self):
        kind = self.rng.randrange(6)
        eps = {"eps": self.rng.choice(["0.001", "1e-05", "0.1"])} if self.flag() else {}
        if kind <= 1:
            ref, shape = self.pick(lambda s: len(s) >= 2)
            attrs = dict(eps)
            if self.flag():
                attrs["axis"] = self.axis(len(shape))
            if self.flag(0.4):
                attrs["output_mean_var"] = "True"
            return "LayerNorm", [ref], attrs
        if kind == 2:
            op = "InstanceNorm" if self.dtype == "float32" else "LayerNorm"
            return op, [self.pick(lambda s: len(s) >= 3)[0]], eps
        if kind == 3:
            ref, shape = self.pick(lambda s: len(s) >= 3)
            groups = self.rng.choice([g for g in range(1, shape[1] + 1) if shape[1] % g == 0])
            attrs = dict(eps, num_groups=groups)
            if self.flag(0.4):
                attrs["output_mean_var"] = "True"
            return "GroupNorm", [ref], attrs
        if kind == 4:
            mode = self.rng.choice(["instance", "channel", "spatial"])
            ref, _ = self.pick(lambda s: len(s) >= (2 if mode == "instance" else 3))
            return "L2Normalization", [ref], {"mode": mode}
        ref, shape = self.pick()
        attrs = {"axes": tup(sorted(self.rng.sample(range(len(shape)), self.rng.randint(1, len(shape)))))}
        if self.flag():
            attrs["keepdims"] = self.boolean()
        return "moments", [ref], attrs

    def order(self):
        """Of variables only: their numbers differ, and MXNet orders equal ones by chance."""
        shape = self.shape(self.rng.randint(1, 3))
        ref, axis = self.variable(shape), self.rng.randrange(-len(shape), len(shape))
        attrs = {"axis": axis}
        if self.flag():
            attrs["is_ascend"] = self.boolean()
        kind = self.rng.randrange(4)
        if kind == 0:
            return "sort", [ref], attrs
        attrs["dtype"] = self.dtype
        if kind == 1:
            return "argsort", [ref], attrs
        attrs["k"] = self.rng.randint(1, shape[axis])
        attrs["ret_typ"] = self.rng.choice(["value", "both", "both", "indices", "mask"])
        return "topk", [ref], attrs

    def soft(self):
        ref, shape = self.pick()
        attrs = {"axis": self.axis(len(shape), 0)} if self.flag() else {}
        if self.flag(0.4):
            attrs["temperature"] = self.rng.choice(["0.5", "2.0"])
        return self.rng.choice(["softmax", "log_softmax", "softmin"]), [ref], attrs

    def leaky(self):
        kind = self.rng.choice(["leaky", "elu", "gelu", "prelu"])
        if kind == "prelu":  # of data that nothing else reads
            data = self.variable(self.shape(self.rng.randint(2, 4)), {"lo": -1.5, "hi": 1.5})
            return "LeakyReLU", [data], {"act_type": kind}
        attrs = {"act_type": kind}
        if kind != "gelu" and self.flag():
            attrs["slope"] = self.rng.choice(["0.1", "0.5"])
        return "LeakyReLU", [self.pick()[0]], attrs

    def product(self):
        left, right = self.flag(0.3), self.flag(0.3)
        attrs = {}
        if left or self.flag(0.1):
            attrs["transpose_a"] = str(left)
        if right or self.flag(0.1):
            attrs["transpose_b"] = str(right)
        batch = self.flag(0.4)
        ref, shape = self.pick(lambda s: len(s) == (3 if batch else 2))
        rows, width = (shape[-1], shape[-2]) if left else (shape[-2], shape[-1])
        other = self.rng.randint(1, 4)
        second = (other, width) if right else (width, other)
        lead = shape[:1] if batch else ()
        del rows
        return ("batch_dot" if batch else "dot"), [ref, self.like(lead + second)], attrs

    def sequence(self):
        ref, shape = self.pick(lambda s: len(s) >= 2)
        op = self.rng.choice(["SequenceMask", "SequenceLast", "SequenceReverse"])
        attrs, axis = {}, 0
        if op != "SequenceReverse" and self.flag(0.4):
            attrs["axis"] = axis = 1
        if op == "SequenceMask" and self.flag():
            attrs["value"] = "0.5"
        if self.flag(0.3):
            return op, [ref], attrs
        attrs["use_sequence_length"] = "True"
        return op, [ref, self.variable((shape[1 - axis],), {"ints": [1, shape[axis] + 1]})], attrs

    def places(self):
        ref, shape = self.pick()
        kind = self.rng.randrange(5)
        rank = len(shape)
        if kind == 0:
            depth = self.rng.randint(1, rank)
            lowest = min(shape[:depth])
            return "gather_nd", [ref, self.variable((depth,) + self.shape(1), {"ints": [0, lowest]})], {}
        if kind == 1:
            return "reverse", [ref], {"axis": tup(sorted(self.rng.sample(range(rank), self.rng.randint(1, rank))))}
        if kind == 2:
            ref, shape = self.pick(lambda s: len(s) <= 3)
            attrs = {"k": self.rng.choice([0, 1, -1])} if self.flag() else {}
            return "diag", [ref], attrs
        if kind == 3:
            if self.flag():
                lead = (self.rng.randint(1, 2), 4 * self.rng.randint(1, 2))
                return "depth_to_space", [self.like(lead + self.shape(2))], {"block_size": 2}
            return "space_to_depth", [self.like(self.shape(2) + (4, 2))], {"block_size": 2}
        axis = self.rng.randrange(rank)
        cuts = sorted(self.rng.sample(range(1, shape[axis]), min(2, shape[axis] - 1)))
        return "_split_v2", [ref], {"indices": tup([0] + cuts), "axis": axis}

    def widen(self):
        kind = self.rng.randrange(3)
        if kind == 0:
            ref, shape = self.pick(lambda s: len(s) == 4)
            inputs = [ref]
            if self.flag(0.4):
                inputs.append(self.like((shape[0], self.rng.randint(1, 3)) + shape[2:]))
            attrs = {"scale": 2, "sample_type": "nearest", "num_args": len(inputs)}
            return "UpSampling", inputs, attrs
        if kind == 1:
            ref, shape = self.pick(lambda s: len(s) == 4)
            return "UpSampling", [ref], {"scale": self.rng.randint(1, 3), "sample_type": "bilinear",
                                         "num_filter": shape[1], "num_args": 1}
        ref, shape = self.pick(lambda s: len(s) in (3, 4))
        spatial = shape[2:]
        kernel = [self.rng.randint(1, 3) for _ in spatial]
        attrs = {"kernel": tup(kernel)}
        if self.flag(0.6):
            attrs["stride"] = tup([self.rng.randint(1, 2) for _ in spatial])
        if self.flag(0.4):
            attrs["pad"] = tup([self.rng.randint(0, k - 1) for k in kernel])
        groups = self.rng.choice([g for g in range(1, shape[1] + 1) if shape[1] % g == 0] + [1])
        attrs["num_filter"] = groups * self.rng.randint(1, 2)
        if groups > 1:
            attrs["num_group"] = groups
        if self.flag(0.5):
            attrs["no_bias"] = self.boolean()
        return "Deconvolution", [ref], attrs

    def labelled(self):
        kind = self.rng.randrange(3)
        if kind == 0:
            op = self.rng.choice(["LinearRegressionOutput", "LogisticRegressionOutput",
                                  "MAERegressionOutput"])
            ref, shape = self.pick()
            attrs = {"grad_scale": "0.5"} if self.flag() else {}
            return op, [ref, self.variable(shape, {"lo": -1, "hi": 1, "label": 1})], attrs
        ref, shape = self.pick(lambda s: len(s) == 2)
        label = self.variable(shape[:1], {"ints": [0, shape[1]], "label": 1})
        if kind == 1:
            attrs = {"use_linear": self.boolean()} if self.flag() else {}
            if self.flag():
                attrs["margin"] = "0.5"
            return "SVMOutput", [ref, label], attrs
        return "softmax_cross_entropy", [ref, label], {}

    def shape_only(self):
        """Reads the shape of something: where nothing else reads it, it is never computed."""
        ref, shape = self.pick()
        kind = self.rng.randrange(3)
        if kind == 0:
            return self.rng.choice(["ones_like", "zeros_like"]), [ref], {}
        other = self.like(shape)
        if kind == 1:
            return "reshape_like", [other, ref], {}
        return "broadcast_like", [other, ref], {}


FAMILIES = [(Families.shared, 8), (Families.normal, 6), (Families.order, 4), (Families.soft, 4),
            (Families.leaky, 4), (Families.product, 5), (Families.sequence, 4), (Families.places, 5),
            (Families.widen, 5), (Families.labelled, 3), (Families.shape_only, 3)]
