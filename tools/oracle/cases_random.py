"""Optimizer updates (called at once, twice) and densities of distributions.

Samplers cannot be recorded; nor is weight32 after mp_lamb_update_phase2: MXNet does not write it.
"""
from golden import Case, Formula as F, Values as V

SHAPE = (5, 7)


def update(op, name, attrs, states=(), dtype="float32", repeat=2, positive=(), mixed=False,
           w=(-1, 1)):
    """`states` are (name, lo, hi)."""
    kept = "float32" if mixed else dtype
    inputs = {"weight": F(*SHAPE, lo=w[0], hi=w[1], dtype=dtype),
              "grad": F(*SHAPE, lo=-4, hi=4, dtype=dtype)}
    for state, lo, hi in states:
        inputs[state] = F(*SHAPE, lo=lo, hi=hi, dtype=kept)
    if mixed:
        inputs["weight32"] = F(*SHAPE)
    return Case(op, name, attrs, inputs, repeat=repeat,
                out=["weight"] + [s for s, _, _ in states] + (["weight32"] if mixed else []))


TABLE = {  # operator: states, attribute sets
    "adam_update": ([("mean", -0.5, 0.5), ("var", 0.25, 1)], [
        ("plain", {"lr": 0.1}),
        ("clip behind the decay", {"lr": 0.1, "wd": 2.0, "rescale_grad": 0.5,
                                   "clip_gradient": 1.0}),
        ("betas", {"lr": 0.05, "beta1": 0.5, "beta2": 0.75, "epsilon": 0.25}),
        ("clip 0", {"lr": 0.1, "wd": 0.5, "clip_gradient": 0.0}),
        ("lazy_update", {"lr": 0.1, "wd": 0.01, "lazy_update": False})]),
    "nag_mom_update": ([("mom", -0.5, 0.5)], [
        ("plain", {"lr": 0.1}),
        ("momentum", {"lr": 0.1, "momentum": 0.9}),
        ("clip before the decay", {"lr": 0.1, "momentum": 0.75, "wd": 2.0, "rescale_grad": 0.5,
                                   "clip_gradient": 1.0}),
        ("clip 0", {"lr": 0.1, "wd": 0.5, "clip_gradient": 0.0})]),
    "rmsprop_update": ([("n", 0.25, 1)], [
        ("plain", {"lr": 0.1}),
        ("clip behind the decay", {"lr": 0.1, "wd": 2.0, "rescale_grad": 0.5,
                                   "clip_gradient": 1.0}),
        ("gamma, epsilon", {"lr": 0.05, "gamma1": 0.5, "epsilon": 0.25}),
        ("clip_weights", {"lr": 0.1, "clip_weights": 0.5}),
        ("clip_weights 0", {"lr": 0.1, "clip_weights": 0.0})]),
    "rmspropalex_update": ([("n", 1, 2), ("g", -0.5, 0.5), ("delta", -0.25, 0.25)], [
        ("plain", {"lr": 0.1}),
        ("clip behind the decay", {"lr": 0.1, "wd": 2.0, "rescale_grad": 0.5,
                                   "clip_gradient": 1.0}),
        ("gammas, epsilon", {"lr": 0.05, "gamma1": 0.5, "gamma2": 0.25, "epsilon": 0.25}),
        ("clip_weights", {"lr": 0.1, "clip_weights": 0.5})]),
    "ftml_update": ([("d", 1, 2), ("v", 0.25, 1), ("z", -0.5, 0.5)], [
        ("plain", {"lr": 0.1, "t": 1}),
        ("clip behind the decay", {"lr": 0.1, "t": 1, "wd": 2.0, "rescale_grad": 0.5,
                                   "clip_grad": 1.0}),
        ("betas", {"lr": 0.05, "t": 3, "beta1": 0.25, "beta2": 0.5, "epsilon": 0.125}),
        ("late", {"lr": 0.1, "t": 20, "beta2": 0.75})]),
    "ftrl_update": ([("z", -4, 4), ("n", 0.25, 1)], [
        ("plain", {"lr": 0.1}),
        ("clip", {"lr": 0.1, "wd": 2.0, "rescale_grad": 0.5, "clip_gradient": 1.0}),
        ("lamda1 zeroes some", {"lr": 0.5, "lamda1": 3.0, "beta": 0.25}),
        ("clip 0", {"lr": 0.1, "wd": 0.5, "clip_gradient": 0.0})]),
    "signsgd_update": ([], [
        ("plain", {"lr": 0.1}),
        ("wd", {"lr": 0.1, "wd": 0.5}),
        ("rescale and clip change nothing", {"lr": 0.1, "rescale_grad": -2.0,
                                             "clip_gradient": 0.0}),
        ("all", {"lr": 0.25, "wd": 0.125, "rescale_grad": 0.5, "clip_gradient": 1.0})]),
    "signum_update": ([("mom", -0.5, 0.5)], [
        ("plain", {"lr": 0.1}),
        ("momentum", {"lr": 0.1, "momentum": 0.9}),
        ("clip before the decay", {"lr": 0.1, "momentum": 0.75, "wd": 2.0, "rescale_grad": 0.5,
                                   "clip_gradient": 1.0}),
        ("wd_lh", {"lr": 0.1, "momentum": 0.5, "wd_lh": 0.5})]),
    "lamb_update_phase1": ([("mean", -0.5, 0.5), ("var", 0.25, 1)], [
        ("plain", {"t": 1, "wd": 0.0}),
        ("clip, decay apart", {"t": 1, "wd": 0.5, "rescale_grad": 0.5, "clip_gradient": 1.0}),
        ("no bias correction", {"t": 3, "wd": 0.125, "bias_correction": False}),
        ("betas", {"t": 4, "wd": 0.125, "beta1": 0.5, "beta2": 0.75, "epsilon": 0.25})]),
}


def updates():
    cases = []
    for op, (states, sets) in TABLE.items():
        for name, attrs in sets:
            cases.append(update(op, name, attrs, states))
        for name, attrs in sets[1:3]:
            cases.append(update(op, name + ", float64", attrs, states, dtype="float64"))
    return cases


def mixed():
    cases = []
    for name, attrs in [("plain", {"lr": 0.1}), ("momentum", {"lr": 0.1, "momentum": 0.9}),
                        ("clip", {"lr": 0.1, "momentum": 0.5, "rescale_grad": 0.5,
                                  "clip_gradient": 1.0}),
                        ("clip 0", {"lr": 0.1, "momentum": 0.5, "clip_gradient": 0.0}),
                        ("decay", {"lr": 0.1, "momentum": 0.5, "wd": 0.5, "rescale_grad": 0.5})]:
        cases.append(update("mp_nag_mom_update", name, attrs, [("mom", -0.5, 0.5)], mixed=True,
                            dtype="float16"))
    return cases


def lamb():
    cases = []
    for name, attrs in TABLE["lamb_update_phase1"][1]:
        # The direction is a new array: only the states can be compared.
        inputs = {"weight": F(*SHAPE, dtype="float16"),
                  "grad": F(*SHAPE, lo=-4, hi=4, dtype="float16"),
                  "mean": F(*SHAPE, lo=-0.5, hi=0.5), "var": F(*SHAPE, lo=0.25, hi=1),
                  "weight32": F(*SHAPE)}
        cases.append(Case("mp_lamb_update_phase1", name, attrs, inputs,
                          out=["weight32", "mean", "var"], repeat=2))
    sets = [("plain", {"lr": 0.1}, 3.0, 2.0),
            ("lower bound", {"lr": 0.1, "lower_bound": 4.0}, 3.0, 2.0),
            ("upper bound", {"lr": 0.1, "upper_bound": 2.5}, 3.0, 2.0),
            ("both", {"lr": 0.1, "lower_bound": 1.0, "upper_bound": 2.5}, 0.5, 2.0),
            ("no norm", {"lr": 0.1}, 0.0, 2.0),
            ("no direction", {"lr": 0.125}, 3.0, 0.0)]
    for name, attrs, r1, r2 in sets:
        for op, kind in (("lamb_update_phase2", "float32"), ("mp_lamb_update_phase2", "float16")):
            inputs = {"weight": F(*SHAPE, dtype=kind), "g": F(*SHAPE), "r1": V([r1]),
                      "r2": V([r2])}
            if op.startswith("mp"):
                inputs["weight32"] = F(*SHAPE)
            cases.append(Case(op, name, attrs, inputs, out=["weight"], repeat=1))
    return cases


SHAPES = [(3, 4), (5,), (2, 1, 3)]


def groups(op, name, attrs, states, count, dtype="float32", rates=None, repeat=2):
    """Several weights in one call; `rates` are arrays after the groups."""
    inputs, after, targets = {}, [], []
    for k in range(count):
        inputs["weight_%d" % k] = F(*SHAPES[k], dtype=dtype)
        inputs["grad_%d" % k] = F(*SHAPES[k], lo=-4, hi=4, dtype=dtype)
        targets.append("weight_%d" % k)
        for state, lo, hi, kept in states:
            inputs["%s_%d" % (state, k)] = F(*SHAPES[k], lo=lo, hi=hi, dtype=kept or dtype)
            after.append("%s_%d" % (state, k))
    for key, values in (rates or {}).items():
        inputs[key] = V(values)
    return Case(op, name, attrs, inputs, out=targets + after, outs=count, repeat=repeat)


def multi():
    lrs, wds = (0.1, 0.2, 0.05), (0.01, 0.0, 0.5)
    cases = []
    for prefix in ("multi_", "preloaded_multi_"):
        for mp in (False, True):
            for mom in (False, True):
                op = prefix + ("mp_" if mp else "") + ("sgd_mom_update" if mom else "sgd_update")
                states = ([("mom", -0.5, 0.5, "float32" if mp else None)] if mom else []) + \
                         ([("weight32", -1, 1, "float32")] if mp else [])
                sets = [("one", 1, {}), ("two", 2, {"rescale_grad": 0.5}),
                        ("three, clipped", 3, {"rescale_grad": 0.5, "clip_gradient": 1.0}),
                        ("clip 0", 2, {"clip_gradient": 0.0})]
                for name, n, attrs in sets:
                    attrs = dict(attrs, num_weights=n, **({"momentum": 0.9} if mom else {}))
                    rates = None
                    if prefix == "multi_":
                        attrs.update(lrs=lrs[:n], wds=wds[:n])
                    else:
                        rates = {"lrs": lrs[:n], "wds": wds[:n]}
                    cases.append(groups(op, name, attrs, states, n, rates=rates,
                                        dtype="float16" if mp else "float32"))
    cases.append(groups("multi_sgd_mom_update", "float64",
                        {"lrs": (0.1, 0.2), "wds": (0.01, 0.3), "momentum": 0.9,
                         "num_weights": 2}, [("mom", -0.5, 0.5, None)], 2, dtype="float64"))
    for mp in (False, True):
        op = "_multi_mp_lamb_update" if mp else "_multi_lamb_update"
        kept = "float32" if mp else None
        states = [("mean", -0.5, 0.5, kept), ("var", 0.25, 1, kept)] + \
                 ([("weight32", -1, 1, "float32")] if mp else [])
        for name, n, attrs in [
                ("one", 1, {"step_count": (1,)}),
                ("two", 2, {"step_count": (1, 4), "beta2": 0.75, "rescale_grad": 0.5}),
                ("clipped, bounds", 3, {"step_count": (1, 2, 3), "beta2": 0.75, "epsilon": 0.125,
                                        "lower_bound": 1.0, "upper_bound": 1.5,
                                        "clip_gradient": 1.0}),
                ("no bias correction", 2, {"step_count": (1, 2), "bias_correction": False,
                                           "beta1": 0.5})]:
            scale = 0.1 if mp else 1  # MXNet takes the norm of 16-bit weights in 16 bits
            attrs = dict(attrs, num_tensors=n, wds=wds[:n],
                         learning_rates=tuple(scale * x for x in lrs[:n]))
            cases.append(groups(op, name, attrs, states, n, repeat=1,
                                dtype="float16" if mp else "float32"))
    return cases


def many_arrays():
    arrays = lambda n, dtype="float32": {"array_%d" % k: F(*SHAPES[k], dtype=dtype)
                                         for k in range(n)}
    cases = [Case("multi_sum_sq", name, {"num_arrays": n}, arrays(n, dtype), req="null")
             for name, n, dtype in [("one", 1, "float32"), ("two", 2, "float32"),
                                    ("three", 3, "float32")]]
    four = dict(arrays(3), array_3=F(40, 50))
    cases.append(Case("multi_sum_sq", "a larger one", {"num_arrays": 4}, four, req="null"))
    for name, attrs, w, g in [
            ("plain", {"eta": 0.5, "eps": 0.125}, [1, 4, 9], [4, 1, 2]),
            ("rescale", {"eta": 0.5, "eps": 0.125, "rescale_grad": 0.25}, [1, 4, 9], [4, 1, 2]),
            ("no weight, no gradient", {"eta": 0.25, "eps": 0.5}, [0, 4, 9], [4, 0, 2]),
            ("eps 0", {"eta": 0.75, "eps": 0}, [2, 4, 9], [4, 8, 2])]:
        cases.append(Case("multi_lars", name, attrs, {
            "lrs": V([0.1, 0.2, 0.3]), "weights_sum_sq": V(w), "grads_sum_sq": V(g),
            "wds": V([0.5, 0.25, 0])}, req="null"))
    inf, nan = float("inf"), float("nan")
    for name, x in [("yes", [1.0, -2.0]), ("inf", [1.0, inf, 2.0]), ("-inf", [-inf]),
                    ("nan", [[0.0, 1.0], [2.0, nan]])]:
        cases.append(Case("all_finite", name, {"init_output": True}, {"data": V(x)}, req="null"))
    for init in (True, False):
        # Without init_output a 0 stays.
        cases.append(Case("all_finite", "into 0, init %s" % init, {"init_output": init},
                          {"data": V([0.0])}, out=["data"]))
    cases.append(Case("all_finite", "init, 1", {"init_output": 1}, {"data": V([3.0])},
                      out=["data"]))
    cases.append(Case("all_finite", "init, 0", {"init_output": 0}, {"data": V([nan])},
                      out=["data"]))
    for name, values in [("one", [[1.0, 2.0]]), ("two", [[1.0], [2.0, 3.0]]),
                         ("the second", [[1.0], [inf, 3.0]]), ("three", [[1.0], [2.0], [nan]])]:
        cases.append(Case("multi_all_finite", name, {"num_arrays": len(values)},
                          {"array_%d" % k: V(v) for k, v in enumerate(values)}, req="null"))
    cases.append(Case("multi_all_finite", "init", {"num_arrays": 2, "init_output": False},
                      {"array_0": V([0.0]), "array_1": V([1.0])}, out=["array_0"]))
    return cases


DENSITIES = {  # distribution: range of the samples (None: whole numbers), parameters
    "uniform": ((0.25, 0.75), [("low", -1, 0), ("high", 1, 2)]),
    "normal": ((-2, 2), [("mu", -1, 1), ("sigma", 0.5, 2)]),
    "gamma": ((0.25, 4), [("alpha", 0.5, 4), ("beta", 0.5, 2)]),
    "exponential": ((0.25, 4), [("lam", 0.5, 2)]),
    "poisson": (None, [("lam", 0.5, 8)]),
    "negative_binomial": (None, [("k", 1, 6), ("p", 0.25, 0.75)]),
    "generalized_negative_binomial": (None, [("mu", 1, 4), ("alpha", 0.25, 1)]),
}


def densities():
    """Only float32: with float64 MXNet has pi and digamma in float."""
    sets = [("density", {}), ("logarithm", {"is_log": True}), ("not log", {"is_log": False}),
            ("log 1", {"is_log": 1}), ("log 0", {"is_log": 0}),
            ("one sample each", {"is_log": True})]
    cases = []
    for name, (span, parameters) in DENSITIES.items():
        for title, attrs in sets:
            shape = (2, 3) if title == "one sample each" else (2, 3, 4)
            if span:
                sample = F(*shape, lo=span[0], hi=span[1])
            else:
                count = 6 if title == "one sample each" else 24
                sample = V([(5 * i + 3) % 11 for i in range(count)])
                sample.values = sample.values.reshape(shape)
            inputs = {"sample": sample}
            for key, lo, hi in parameters:
                inputs[key] = F(2, 3, lo=lo, hi=hi)
            cases.append(Case("_random_pdf_" + name, title, attrs, inputs, train=(True,)))
    for title, attrs in sets:
        shape = (2, 3) if title == "one sample each" else (2, 4, 3)
        cases.append(Case("_random_pdf_dirichlet", title, attrs, {
            "sample": F(*shape, lo=0.125, hi=0.5),
            "alpha": F(2, 3, lo=0.5, hi=3)}, train=(True,)))
    return cases


def adamw():
    states = [("mean", -0.5, 0.5), ("var", 0.25, 1)]
    sets = [("plain", {"lr": 0.1, "eta": 1.0}, 1.0),
            ("all", {"lr": 0.1, "eta": 0.5, "wd": 0.25, "beta1": 0.5, "beta2": 0.75,
                     "epsilon": 0.125, "clip_gradient": 1.0}, 0.5),
            ("decay apart", {"lr": 0.1, "eta": 0.25, "wd": 2.0}, 1.0),
            ("overflow", {"lr": 0.1, "eta": 1.0, "wd": 0.5}, float("inf")),
            ("scale 0", {"lr": 0.2, "eta": 1.0, "wd": 0.5}, 0.0)]
    cases = []
    for name, attrs, scale in sets:
        for mp in (False, True):
            c = update("_mp_adamw_update" if mp else "_adamw_update", name, attrs, states,
                       dtype="float16" if mp else "float32", mixed=mp,
                       repeat=2 if mp else 1)  # MXNet's _adamw_update rescales the gradient itself
            c.inputs["rescale_grad"] = V([scale])
            cases.append(c)
            attrs_of = {k: v for k, v in attrs.items() if k not in ("lr", "eta", "wd")}
            kept = "float32" if mp else None
            n = 2
            cases.append(groups(
                "_multi_mp_adamw_update" if mp else "_multi_adamw_update", name,
                dict(attrs_of, lrs=(attrs["lr"], 0.05), etas=(attrs["eta"], 0.5),
                     wds=(attrs.get("wd", 0.0), 0.125), num_weights=n),
                [("mean", -0.5, 0.5, kept), ("var", 0.25, 1, kept)] +
                ([("weight32", -1, 1, "float32")] if mp else []), n,
                dtype="float16" if mp else "float32", rates={"rescale_grad": [scale]}))
    return cases


def contrib():
    one = lambda op, name, attrs, shape, **more: Case(op, name, attrs, {
        "data": F(*shape, dtype=more.pop("dtype", "float32"))}, **more)
    cases = [one("_contrib_div_sqrt_dim", "2-D", {}, (3, 4)),
             one("_contrib_div_sqrt_dim", "1-D", {}, (5,)),
             one("_contrib_div_sqrt_dim", "3-D, add", {}, (2, 3, 7), req="add"),
             one("_contrib_div_sqrt_dim", "float64", {}, (2, 3), dtype="float64"),
             one("_contrib_quadratic", "all", {"a": 2, "b": -1.5, "c": 0.5}, (3, 4)),
             one("_contrib_quadratic", "a", {"a": 2}, (3, 4)),
             one("_contrib_quadratic", "b", {"b": 3}, (5,), req="add"),
             one("_contrib_quadratic", "nothing", {}, (2, 2)),
             one("_contrib_quadratic", "float64", {"a": 0.25, "c": -1}, (2, 3), dtype="float64"),
             Case("_contrib_quadratic", "int32", {"a": 2, "b": 1, "c": 3},
                  {"data": V([1, -2, 5], dtype="int32")}, req="null"),
             one("_contrib_arange_like", "all", {}, (2, 3)),
             one("_contrib_arange_like", "axis 1", {"axis": 1, "start": 2, "step": 0.5}, (2, 3)),
             one("_contrib_arange_like", "axis -1", {"axis": -1}, (2, 3, 4)),
             one("_contrib_arange_like", "repeat", {"repeat": 2}, (2, 4)),
             one("_contrib_arange_like", "repeat, an end cut", {"repeat": 2, "axis": 1}, (2, 3)),
             one("_contrib_arange_like", "float64", {"step": -0.3}, (4,), dtype="float64"),
             one("_contrib_index_array", "all", {}, (2, 3), req="null"),
             one("_contrib_index_array", "turned", {"axes": (1, 0)}, (2, 3), req="null"),
             one("_contrib_index_array", "last", {"axes": (-1,)}, (2, 3, 2), req="null"),
             one("_contrib_index_array", "twice", {"axes": (0, 0, 2)}, (2, 1, 2), req="null"),
             one("_contrib_index_array", "1-D", {}, (4,), req="null")]
    for name, shape, index, kind in [("rows", (4, 3), [2, 0], "int32"),
                                     ("vector", (5,), [4, 1, 0], "int64"),
                                     ("float indices", (3, 2, 2), [1], "float32"),
                                     ("all rows", (3, 2), [2, 0, 1], "int32")]:
        cases.append(Case("_contrib_index_copy", name, {}, {
            "old_tensor": F(*shape), "index_vector": V(index, dtype=kind),
            "new_tensor": F(len(index), *shape[1:])}, req={"index_vector": "null"}))
    nan, inf = float("nan"), float("inf")
    for name, attrs, a, b in [
            ("equal", {}, [1, 2], [1, 2]), ("not", {}, [1, 2], [1, 2.001]),
            ("rtol", {"rtol": 0.01}, [100, 2], [100.5, 2]),
            ("atol", {"rtol": 0, "atol": 0.25}, [1, 2], [1.125, 2]),
            ("atol exceeded", {"rtol": 0, "atol": 0.0625}, [1, 2], [1.125, 2]),
            ("nan", {}, [1, nan], [1, nan]), ("nan apart", {}, [1, nan], [1, 2]),
            ("nan differs", {"equal_nan": False}, [1, nan], [1, nan]),
            ("inf", {}, [inf, -inf], [inf, -inf])]:
        cases.append(Case("_contrib_allclose", name, attrs, {"a": V(a), "b": V(b)}, req="null"))
    return cases


def amp():
    cases = []
    for kind, to in [("float32", "float16"), ("float16", "float32"), ("float32", "float32"),
                     ("float16", "float64"), ("float64", "float16")]:
        cases.append(Case("amp_cast", "%s to %s" % (kind, to), {"dtype": to},
                          {"data": F(3, 4, dtype=kind)}))
    cases.append(Case("amp_cast", "int32 stays", {"dtype": "int32"},
                      {"data": V([1, 2], dtype="int32")}, req="null"))
    for name, kinds, attrs in [
            ("to the widest", ["float16", "float32"], {}),
            ("to the narrowest", ["float32", "float16", "float32"], {"cast_narrow": True}),
            ("one kind", ["float16", "float16"], {"cast_narrow": False}),
            ("one array", ["float32"], {}),
            ("narrow already wide", ["float32", "float32"], {"cast_narrow": True})]:
        cases.append(Case("amp_multicast", name, dict(attrs, num_outputs=len(kinds)), {
            "data_%d" % i: F(2 + i, 3, dtype=kind) for i, kind in enumerate(kinds)}))
    return cases


ALL = [updates, mixed, lamb, multi, many_arrays, densities, adamw, contrib, amp]
