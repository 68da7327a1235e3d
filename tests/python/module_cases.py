"""What tools/oracle/record_module.py runs under MXNet, and test_module_golden.py under Symbind: each
function takes the package, so both sides do the same. Parameters and data come from the formula of
tools/oracle/README.md; the C++ tests read the same cases from tests/golden/module/."""
import contextlib
import os

import numpy as np

MASK = (1 << 64) - 1


def seed_of(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & MASK
    return h


def bits(seed, count):
    with np.errstate(over="ignore"):
        i = np.arange(1, count + 1, dtype=np.uint64)
        z = np.uint64(seed * 0x9E3779B97F4A7C15 & MASK) + i * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def formula(shape, seed, lo=-1.0, hi=1.0, dtype="float32"):
    u = (bits(seed, int(np.prod(shape))) >> np.uint64(40)).astype(np.float64) / 2.0**24
    return (lo + (hi - lo) * u).astype(dtype).reshape(shape)


def classes(shape, seed, count):
    """Whole numbers below `count`, as floats: labels, words."""
    return (bits(seed, int(np.prod(shape))) % np.uint64(count)).astype("float32").reshape(shape)


# ---- networks of one Module

def mlp(mx):
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
    x = mx.sym.Activation(x, act_type="tanh", name="act1")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=4, name="fc2"), name="softmax")


def mlp_bn(mx):
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, no_bias=True, name="fc1")
    x = mx.sym.BatchNorm(x, fix_gamma=False, name="bn1")
    x = mx.sym.Activation(x, act_type="tanh", name="act1")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=4, name="fc2"), name="softmax")


def lenet(mx):
    x = mx.sym.Variable("data")
    for i, (kernel, filters) in enumerate([((3, 3), 4), ((2, 2), 6)], 1):
        x = mx.sym.Convolution(x, kernel=kernel, num_filter=filters, name="conv%d" % i)
        x = mx.sym.Activation(x, act_type="tanh", name="tanh%d" % i)
        x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool%d" % i)
    x = mx.sym.FullyConnected(mx.sym.Flatten(x, name="flat"), num_hidden=12, name="fc1")
    x = mx.sym.FullyConnected(mx.sym.Activation(x, act_type="tanh", name="tanh3"), num_hidden=4,
                              name="fc2")
    return mx.sym.SoftmaxOutput(x, name="softmax")


def mlp_half(mx):
    """Weights are float16, the arithmetic is float32: MXNet has no float16 products on a CPU."""
    half = lambda name, shape: mx.sym.Cast(mx.sym.Variable(name, shape=shape, dtype="float16"),
                                           dtype="float32", name=name + "_single")
    x = mx.sym.FullyConnected(mx.sym.Variable("data"), half("fc1_weight", (8, 6)),
                              half("fc1_bias", (8,)), num_hidden=8, name="fc1")
    x = mx.sym.Activation(x, act_type="tanh", name="act1")
    x = mx.sym.FullyConnected(x, half("fc2_weight", (4, 8)), half("fc2_bias", (4,)), num_hidden=4,
                              name="fc2")
    return mx.sym.SoftmaxOutput(x, name="softmax")


NETS = {"mlp": (mlp, (12, 6)), "mlp_bn": (mlp_bn, (12, 6)), "lenet": (lenet, (12, 1, 9, 9)),
        "mlp_half": (mlp_half, (12, 6))}
HALF = {"mlp_half"}


def case(name, net="mlp", devices=1, work_load=None, kvstore="local", fixed=(), grad_req="write",
         optimizer="sgd", steps=5, tolerance=1e-4, on_store=True, compression=None, **params):
    if not params:
        params = {"learning_rate": 0.2, "momentum": 0.9, "wd": 0.01}
    return {"name": name, "net": net, "data": list(NETS[net][1]), "devices": devices,
            "work_load": work_load, "kvstore": kvstore, "fixed": list(fixed), "grad_req": grad_req,
            "optimizer": optimizer, "optimizer_params": params, "steps": steps,
            "tolerance": tolerance, "on_store": on_store,
            **({"compression": compression} if compression else {})}


def optimizer_cases():
    rows = [("sgd", {"learning_rate": 0.2}),
            ("sgd", {"learning_rate": 0.2, "momentum": 0.9, "wd": 0.02, "clip_gradient": 0.05}),
            ("ccsgd", {"learning_rate": 0.2, "momentum": 0.5}),
            ("nag", {"learning_rate": 0.2, "momentum": 0.9}),
            ("signum", {"learning_rate": 0.02, "momentum": 0.9, "wd_lh": 0.01}),
            ("ftml", {"learning_rate": 0.02}),
            ("lars", {"learning_rate": 0.5, "momentum": 0.9, "eta": 0.1, "wd": 0.01}),
            ("lbsgd", {"learning_rate": 0.1, "momentum": 0.9, "updates_per_epoch": 3}),
            ("lamb", {"learning_rate": 0.02, "wd": 0.01}),
            ("dcasgd", {"learning_rate": 0.2, "wd": 0.01}),
            ("adam", {"learning_rate": 0.02, "wd": 0.01}),
            ("adagrad", {"learning_rate": 0.1}),
            ("rmsprop", {"learning_rate": 0.01}),
            ("rmsprop", {"learning_rate": 0.01, "centered": True, "gamma2": 0.8}),
            ("adadelta", {"rho": 0.9, "epsilon": 1e-3}),
            ("ftrl", {"learning_rate": 0.2, "lamda1": 0.001}),
            ("adamax", {"learning_rate": 0.02}),
            ("nadam", {"learning_rate": 0.02}),
            ("test", {"rescale_grad": -0.02})]
    for i, (name, params) in enumerate(rows):
        again = sum(r[0] == name for r in rows[:i])
        yield case("optimizer %s%s" % (name, " again" * again), optimizer=name, steps=10,
                   tolerance=1e-5, **params)


CASES = [
    *(case("%s on %d" % (net, n), net, n) for net in ("mlp", "mlp_bn", "lenet") for n in (1, 2, 4)),
    case("lenet on 2, store of devices", "lenet", 2, kvstore="device"),
    case("mlp on 3, work loads 1 3 2", devices=3, work_load=[1, 3, 2]),
    case("mlp_bn on 2, work loads 1 4", "mlp_bn", 2, work_load=[1, 4]),
    case("mlp_bn on 3, a row left over", "mlp_bn", 3, work_load=[2, 2, 3]),
    case("lenet on 4, work loads 1 1 1 3", "lenet", 4, work_load=[1, 1, 1, 3]),
    case("mlp on 2, gradients of 2 bits", devices=2, kvstore="device",
         compression={"type": "2bit", "threshold": "0.25"}),
    case("lenet on 3, gradients of 2 bits, updated beside the store", "lenet", 3, kvstore="device", on_store=False,
         compression={"type": "2bit", "threshold": "0.125"}),
    case("mlp without a store", kvstore=None),
    case("mlp on 2, updated beside the store", devices=2, on_store=False),
    case("adam on 4, updated beside the store", devices=4, on_store=False, optimizer="adam",
         learning_rate=0.02),
    case("adam on 3", devices=3, optimizer="adam", learning_rate=0.02),
    case("gradients added", grad_req="add", learning_rate=0.05),
    case("gradients added on 2", "mlp_bn", 2, grad_req="add", learning_rate=0.05),
    case("some gradients added", grad_req={"fc1_weight": "add", "fc2_bias": "null"},
         learning_rate=0.05),
    case("fixed parameters", fixed=["fc1_weight", "fc2_bias"]),
    case("fixed parameters on 2", "lenet", 2, fixed=["conv1_weight", "conv1_bias"]),
    *optimizer_cases(),
]


def initial(net, names, shapes):
    """name -> the formula of a first value: shape, dtype, seed, lo, hi."""
    rows = {}
    for name, shape in zip(names, shapes):
        lo, hi = (0.5, 1.5) if name.endswith(("gamma", "var")) else (-0.5, 0.5)
        rows[name] = {"shape": list(shape), "dtype": "float16" if net in HALF else "float32",
                      "seed": seed_of("%s/%s" % (net, name)), "lo": lo, "hi": hi}
    return rows


def first_params(net, symbol, **shapes):
    """The formulas of a network's parameters and states."""
    args, _, aux = symbol.infer_shape(**shapes)
    named = [(n, s) for n, s in zip(symbol.list_arguments(), args)
             if n not in shapes and not n.endswith("label")]
    return (initial(net, *zip(*named)),
            initial(net, symbol.list_auxiliary_states(), aux))


def arrays(mx, rows):
    return {name: mx.nd.array(formula(r["shape"], r["seed"], r["lo"], r["hi"], r["dtype"]),
                              dtype=r["dtype"]) for name, r in rows.items()}


def batch_of(mx, net, shape, step):
    data = formula(shape, seed_of("%s/data/%d" % (net, step)))
    label = classes(shape[:1], seed_of("%s/label/%d" % (net, step)), 4)
    return mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)], pad=0)


@contextlib.contextmanager
def updates_on_store(wanted):
    before = os.environ.get("MXNET_UPDATE_ON_KVSTORE")
    os.environ["MXNET_UPDATE_ON_KVSTORE"] = "1" if wanted else "0"
    yield
    os.environ.pop("MXNET_UPDATE_ON_KVSTORE")
    if before is not None:
        os.environ["MXNET_UPDATE_ON_KVSTORE"] = before


def contexts(mx, spec):
    return [mx.cpu(i) for i in range(spec["devices"])]


def make_module(mx, spec):
    """A Module bound, with first parameters, and the optimizer's arguments."""
    net, shape = NETS[spec["net"]]
    mod = mx.mod.Module(net(mx), context=contexts(mx, spec), work_load_list=spec["work_load"],
                        fixed_param_names=spec["fixed"] or None,
                        compression_params=spec.get("compression"))
    mod.bind([("data", shape)], [("softmax_label", shape[:1])], grad_req=spec["grad_req"])
    args, aux = first_params(spec["net"], mod.symbol, data=shape)
    mod.init_params(arg_params=arrays(mx, args), aux_params=arrays(mx, aux))
    return mod, {"kvstore": spec["kvstore"], "optimizer": spec["optimizer"],
                 "optimizer_params": dict(spec["optimizer_params"])}


def outputs(mod):
    return {n: o.asnumpy() for n, o in zip(mod.output_names, mod.get_outputs())}


def gradients(mod):
    """Those of the first device."""
    group = mod._exec_group
    return {n: g[0].asnumpy() for n, g in zip(group.param_names, group.grad_arrays)
            if g[0] is not None}


def settled_params(mx, mod):
    """MXNet's engine does not know that backward writes BatchNorm's moving statistics: an immediate read
    may get those of the previous step."""
    mx.nd.waitall()
    return mod.get_params()


def behind(mx, mod):
    """Outputs, parameters and states after the last step."""
    args, aux = settled_params(mx, mod)
    return {"outputs": outputs(mod), "params": {n: a.asnumpy() for n, a in args.items()},
            "aux": {n: a.asnumpy() for n, a in aux.items()}}


def run_module(mx, spec):
    """The training loop: values after the first and the last step, and the metrics."""
    with updates_on_store(spec["on_store"]):
        mod, optimizer = make_module(mx, spec)
        mod.init_optimizer(**optimizer)
    metric = mx.metric.create(["acc", "ce"])
    seen = []
    for step in range(spec["steps"]):
        batch = batch_of(mx, spec["net"], NETS[spec["net"]][1], step)
        mod.forward_backward(batch)
        mod.update()
        mod.update_metric(metric, batch.label)
        if step == 0:
            seen.append({"outputs": outputs(mod), "grads": gradients(mod)})
    seen.append(behind(mx, mod))
    return seen, [float(v) for _, v in metric.get_global_name_value()]
