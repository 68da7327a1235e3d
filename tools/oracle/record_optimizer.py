"""Records MXNet 1.9.1's optimizers, learning rate schedules and `.states` files.

    PY tools/oracle/record_optimizer.py      # -> tests/golden/optimizer/

cases.json: each optimizer, 10 steps through an Updater on given weights and gradients with
multipliers, weight decay, clipping and rescaling; weights and states after steps 1 and 10.
schedules.json: the rate at every update 0..N of every scheduler, and what was logged.
*.states: files that an Updater wrote after step 3, and *.params: the weights after step 3 and,
continued, step 8.
"""
import json
import logging
import os
import pickle

import golden  # sets up MXNet's environment
import mxnet as mx
import numpy as np

OUT = os.path.join(os.environ.get("GOLDEN_DIR", os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden")), "optimizer")
NAMES = ["fc1_weight", "fc1_bias", "bn_gamma", "bn_beta", "emb_weight"]
SHAPES = [(3, 4), (4,), (3,), (3,), (6, 2)]
LR_MULT = {"fc1_bias": 2.0, "emb_weight": 0.5}
WD_MULT = {"bn_gamma": 0.25}
COMMON = {"wd": 0.05, "clip_gradient": 0.4, "rescale_grad": 0.5}


def case(optimizer, scheduler=None, dtype="float32", single=False, common=True, **params):
    return dict(optimizer=optimizer, scheduler=scheduler, dtype=dtype, single=single,
                params=dict(COMMON if common else {}, **params))


FACTOR = ["FactorScheduler", {"step": 3, "factor": 0.5, "base_lr": 0.1}]
CASES = {
    "sgd": case("sgd", learning_rate=0.1),
    "sgd plain": case("sgd", common=False),
    "sgd momentum": case("sgd", learning_rate=0.1, momentum=0.9),
    "sgd one by one": case("sgd", learning_rate=0.1, momentum=0.9, single=True),
    "sgd schedule": case("sgd", FACTOR, momentum=0.9),
    "sgd begin": case("sgd", FACTOR, momentum=0.9, begin_num_update=5),
    "sgd half": case("sgd", dtype="float16", learning_rate=0.1, multi_precision=True),
    "sgd momentum half": case("sgd", dtype="float16", learning_rate=0.1, momentum=0.9,
                              multi_precision=True),
    "ccsgd": case("ccsgd", learning_rate=0.1, momentum=0.5),
    "nag": case("nag", learning_rate=0.1),
    "nag momentum": case("nag", learning_rate=0.1, momentum=0.9),
    "nag half": case("nag", dtype="float16", learning_rate=0.1, momentum=0.9, multi_precision=True),
    "signum": case("signum", learning_rate=0.02, wd_lh=0.1),
    "signsgd": case("signum", learning_rate=0.02, momentum=0.0),
    "dcasgd": case("dcasgd", learning_rate=0.1),
    "lbsgd": case("lbsgd", learning_rate=0.1, momentum=0.9, batch_scale=2, updates_per_epoch=2),
    "lbsgd power2": case("lbsgd", FACTOR, batch_scale=2, warmup_strategy="power2", warmup_epochs=1,
                         updates_per_epoch=9),
    "lbsgd sqrt": case("lbsgd", learning_rate=0.1, batch_scale=3, warmup_strategy="sqrt",
                       begin_epoch=1),
    "lbsgd lars": case("lbsgd", learning_rate=0.1, momentum=0.9, batch_scale=2,
                       warmup_strategy="lars"),
    "lars": case("lars", learning_rate=0.5, momentum=0.9, eta=0.1),
    "lars schedule": case("lars", FACTOR, momentum=0.9, eta=0.2, eps=1e-3),
    "lars plain": case("lars", learning_rate=0.5, eta=0.1),
    "lars half": case("lars", dtype="float16", learning_rate=0.5, momentum=0.9, eta=0.1,
                      multi_precision=True),
    "lamb": case("lamb", learning_rate=0.01),
    "lamb bounds": case("lamb", learning_rate=0.01, lower_bound=0.5, upper_bound=0.7,
                        bias_correction=False),
    "lamb half": case("lamb", dtype="float16", learning_rate=0.01, multi_precision=True),
    "adam": case("adam"),
    "adam rates": case("adam", learning_rate=0.05, beta1=0.8, beta2=0.99, epsilon=1e-6),
    "adam schedule": case("adam", FACTOR, learning_rate=0.1),
    "adam half": case("adam", dtype="float16", learning_rate=0.05, multi_precision=True),
    "adamax": case("adamax", learning_rate=0.05),
    "nadam": case("nadam", learning_rate=0.05),
    "adagrad": case("adagrad", learning_rate=0.1, eps=1e-5),
    "groupadagrad": case("groupadagrad", learning_rate=0.1, common=False),
    "adadelta": case("adadelta", rho=0.8, epsilon=1e-4),
    "rmsprop": case("rmsprop", learning_rate=0.02),
    "rmsprop centered": case("rmsprop", learning_rate=0.02, centered=True, gamma2=0.8,
                             clip_weights=0.9),
    "rmsprop half": case("rmsprop", dtype="float16", learning_rate=0.02, multi_precision=True),
    "ftrl": case("ftrl", lamda1=0.02, beta=0.5),
    "ftrl schedule": case("ftrl", FACTOR),
    "ftml": case("ftml", learning_rate=0.05),
    "test": case("test", common=False, rescale_grad=0.25),
}


def formula(name, shape, dtype="float32"):
    return golden.Formula(*shape, dtype=dtype, seed=golden.fnv1a(name))


def places(spec):
    """Which weights take part: GroupAdaGrad updates matrices only."""
    return [0, 4] if spec["optimizer"] == "groupadagrad" else range(len(NAMES))


def make(spec, idx2name=True):
    params = dict(spec["params"])
    if spec["scheduler"]:
        name, arguments = spec["scheduler"]
        params["lr_scheduler"] = getattr(mx.lr_scheduler, name)(**arguments)
    if idx2name:
        params["param_idx2name"] = dict(enumerate(NAMES))
    optimizer = mx.optimizer.create(spec["optimizer"], **params)
    optimizer.set_lr_mult(LR_MULT)
    optimizer.set_wd_mult(WD_MULT)
    return optimizer


def weights_of(spec):
    return [mx.nd.array(formula("weight %d" % i, SHAPES[i], spec["dtype"]).array(),
                        dtype=spec["dtype"]) for i in range(len(NAMES))]


def step(updater, spec, weights, number, keys=None):
    grads = [mx.nd.array(formula("grad %d %d" % (number, i), SHAPES[i], spec["dtype"]).array(),
                         dtype=spec["dtype"]) for i in range(len(NAMES))]
    chosen = list(places(spec))
    keys = keys or list(range(len(NAMES)))
    if spec["single"]:
        for i in chosen:
            updater(keys[i], grads[i], weights[i])
    else:
        updater([keys[i] for i in chosen], [grads[i] for i in chosen], [weights[i] for i in chosen])


def flat(state):
    if state is None:
        return []
    if isinstance(state, (tuple, list)):
        return [a for part in state for a in flat(part)]
    return [state]


def numbers(array):
    return [float("%.9g" % x) for x in array.asnumpy().astype("float64").ravel()]


def record_cases():
    lines = []
    for name, spec in CASES.items():
        updater = mx.optimizer.get_updater(make(spec))
        weights = weights_of(spec)
        after = {}
        for number in range(1, 11):
            step(updater, spec, weights, number)
            if number in (1, 10):
                after[str(number)] = {
                    "weights": [numbers(weights[i]) for i in places(spec)],
                    "states": [[numbers(a) for a in flat(updater.states[i])] for i in places(spec)]}
        lines.append("%s: %s" % (json.dumps(name), json.dumps(dict(
            spec, places=list(places(spec)), after=after))))
    head = {"names": NAMES, "shapes": SHAPES, "lr_mult": LR_MULT, "wd_mult": WD_MULT,
            "seeds": {k: golden.fnv1a(k) for k in
                      ["weight %d" % i for i in range(len(NAMES))]
                      + ["grad %d %d" % (s, i) for s in range(1, 11) for i in range(len(NAMES))]}}
    with open(os.path.join(OUT, "cases.json"), "w") as f:
        f.write('{"mxnet": "%s", "setup": %s,\n"cases": {\n%s\n}}\n'
                % (mx.__version__, json.dumps(head), ",\n".join(lines)))


SCHEDULES = [
    ("FactorScheduler", {"step": 7, "factor": 0.3, "base_lr": 0.1}, 60),
    ("FactorScheduler", {"step": 5, "factor": 0.1, "stop_factor_lr": 1e-3, "base_lr": 0.5}, 40),
    ("FactorScheduler", {"step": 4, "factor": 0.9, "base_lr": 0.2, "warmup_steps": 10,
                         "warmup_begin_lr": 0.05}, 40),
    ("FactorScheduler", {"step": 4, "factor": 0.9, "base_lr": 0.2, "warmup_steps": 6,
                         "warmup_begin_lr": 0.05, "warmup_mode": "constant"}, 40),
    ("MultiFactorScheduler", {"step": [5, 11, 30], "factor": 0.1, "base_lr": 0.1}, 40),
    ("MultiFactorScheduler", {"step": [5, 11, 30], "factor": 0.7, "base_lr": 0.3,
                              "warmup_steps": 8}, 40),
    ("PolyScheduler", {"max_update": 37, "base_lr": 0.1}, 45),
    ("PolyScheduler", {"max_update": 37, "base_lr": 0.1, "pwr": 3, "final_lr": 1e-3,
                       "warmup_steps": 7, "warmup_begin_lr": 0.01}, 45),
    ("PolyScheduler", {"max_update": 30, "base_lr": 0.7, "pwr": 1, "warmup_steps": 5,
                       "warmup_mode": "constant", "warmup_begin_lr": 0.02}, 35),
    ("CosineScheduler", {"max_update": 37, "base_lr": 0.1}, 45),
    ("CosineScheduler", {"max_update": 37, "base_lr": 0.3, "final_lr": 0.01, "warmup_steps": 9,
                         "warmup_begin_lr": 0.02}, 45),
    ("CosineScheduler", {"max_update": 20, "base_lr": 0.3, "final_lr": 0.01, "warmup_steps": 3,
                         "warmup_mode": "constant", "warmup_begin_lr": 0.1}, 25),
]


class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


def record_schedules():
    lines = []
    root = logging.getLogger()
    root.setLevel(logging.INFO)
    for name, arguments, last in SCHEDULES:
        handler = Lines()
        root.addHandler(handler)
        schedule = getattr(mx.lr_scheduler, name)(**arguments)
        rates = [float(schedule(n)) for n in range(last + 1)]
        root.removeHandler(handler)
        late = getattr(mx.lr_scheduler, name)(**arguments)
        lines.append(json.dumps({"class": name, "arguments": arguments, "rates": rates,
                                 "log": handler.lines, "late": float(late(last))}))
    with open(os.path.join(OUT, "schedules.json"), "w") as f:
        f.write('{"mxnet": "%s", "schedules": [\n%s\n]}\n' % (mx.__version__, ",\n".join(lines)))


STATES = {  # file: case, keys by name, with the optimizer
    "sgd_index": ("sgd momentum", False, False),
    "sgd_name": ("sgd momentum", True, False),
    "sgd_none": ("sgd", False, False),
    "sgd_half": ("sgd momentum half", False, False),
    "sgd_dump": ("sgd schedule", False, True),
    "adam_index": ("adam rates", False, False),
    "adam_half_dump": ("adam half", True, True),
    "rmsprop_name": ("rmsprop centered", True, False),
    "lbsgd_dump": ("lbsgd", False, True),  # within a sum of two gradients
}


def record_states():
    facts = {}
    for file, (name, by_name, dump) in STATES.items():
        spec = CASES[name]
        updater = mx.optimizer.get_updater(make(spec))
        weights = weights_of(spec)
        keys = NAMES if by_name else list(range(len(NAMES)))
        for number in (1, 2, 3):
            step(updater, spec, weights, number, keys)
        data = updater.get_states(dump_optimizer=dump)
        with open(os.path.join(OUT, file + ".states"), "wb") as f:
            f.write(data)
        arrays = {"3/%d" % i: w.copy() for i, w in enumerate(weights)}
        if not dump:  # who loads states alone starts to count again
            updater = mx.optimizer.get_updater(make(spec))
            updater.set_states(data)
        for number in (4, 5, 6, 7, 8):
            step(updater, spec, weights, number, keys)
        arrays.update({"8/%d" % i: w for i, w in enumerate(weights)})
        mx.nd.save(os.path.join(OUT, file + ".params"), arrays)
        facts[file] = {"case": name, "by_name": by_name, "dump": dump}
    states = {0: mx.nd.array([1.5, -2]), 3: (None, mx.nd.array([[4.0]])), "w": [None],
              -70000: ()}
    for protocol in range(5):
        with open(os.path.join(OUT, "protocol%d.states" % protocol), "wb") as f:
            f.write(pickle.dumps(states, protocol))
    with open(os.path.join(OUT, "states.json"), "w") as f:
        json.dump(facts, f, indent=1, sort_keys=True)
        f.write("\n")


if __name__ == "__main__":
    os.makedirs(OUT, exist_ok=True)
    record_cases()
    record_schedules()
    record_states()
