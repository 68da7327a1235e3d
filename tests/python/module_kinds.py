"""The other half of module_cases.py: buckets, chains, states, and a whole fit as its log tells it."""
import logging
import re

import numpy as np

from module_cases import (arrays, batch_of, case, classes, contexts, first_params, formula, mlp,
                          seed_of)

# ---- buckets

BUCKETS, VOCABULARY, ROWS = (3, 4, 6), 7, 4
BUCKET_ORDER = [6, 3, 4, 4, 6, 3, 3, 6, 4]


def lstm(mx):
    """The generator of an LSTM over sequences of `length` words."""
    def generate(length):
        stack = mx.rnn.SequentialRNNCell()
        for layer in range(2):
            stack.add(mx.rnn.LSTMCell(6, prefix="lstm_l%d_" % layer))
        data, label = mx.sym.Variable("data"), mx.sym.Variable("softmax_label")
        words = mx.sym.Embedding(data, input_dim=VOCABULARY, output_dim=5, name="embed")
        outputs, _ = stack.unroll(length, inputs=words, merge_outputs=True)
        x = mx.sym.Reshape(outputs, shape=(-1, 6), name="flat")
        x = mx.sym.FullyConnected(x, num_hidden=VOCABULARY, name="pred")
        label = mx.sym.Reshape(label, shape=(-1,), name="flat_label")
        return mx.sym.SoftmaxOutput(x, label, name="softmax"), ("data",), ("softmax_label",)
    return generate


BUCKET_CASES = [dict(case("buckets on %d, %s" % (n, req), devices=n, grad_req=req,
                          optimizer="sgd", learning_rate=0.5 if req == "write" else 0.05,
                          momentum=0.9), data=[ROWS, 6], net="lstm", steps=len(BUCKET_ORDER))
                for n, req in ((1, "write"), (2, "write"), (1, "add"))] + [
    dict(case("buckets on 2, gradients of 2 bits", devices=2, kvstore="device", learning_rate=0.5,
              compression={"type": "2bit", "threshold": "0.25"}),
         data=[ROWS, 6], net="lstm", steps=len(BUCKET_ORDER))]


def bucket_batch(mx, step):
    key = BUCKET_ORDER[step]
    words = [classes((ROWS, key), seed_of("lstm/%s/%d" % (what, step)), VOCABULARY)
             for what in ("data", "label")]
    return mx.io.DataBatch([mx.nd.array(words[0])], [mx.nd.array(words[1])], bucket_key=key,
                           provide_data=[("data", (ROWS, key))],
                           provide_label=[("softmax_label", (ROWS, key))])


def make_buckets(mx, spec):
    """A BucketingModule bound, with first parameters, and the optimizer's arguments."""
    mod = mx.mod.BucketingModule(lstm(mx), default_bucket_key=6, context=contexts(mx, spec),
                                 compression_params=spec.get("compression"))
    mod.bind([("data", (ROWS, 6))], [("softmax_label", (ROWS, 6))], grad_req=spec["grad_req"])
    args, aux = first_params("lstm", mod.symbol, data=(ROWS, 6), softmax_label=(ROWS, 6))
    mod.init_params(arg_params=arrays(mx, args), aux_params=arrays(mx, aux))
    return mod, {"kvstore": spec["kvstore"], "optimizer": spec["optimizer"],
                 "optimizer_params": dict(spec["optimizer_params"])}


def run_buckets(mx, spec):
    mod, optimizer = make_buckets(mx, spec)
    mod.init_optimizer(**optimizer)
    seen = []
    for step in range(spec["steps"]):
        batch = bucket_batch(mx, step)
        mod.forward_backward(batch)
        mod.update()
        output, = mod.get_outputs()
        seen.append({"outputs": {"softmax_output": output.asnumpy()}})
    seen[-1]["params"] = {n: a.asnumpy() for n, a in mod.get_params()[0].items()}
    return seen, []


# ---- modules in a row

def chain_symbols(mx):
    first = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=8, name="fc1")
    first = mx.sym.Activation(first, act_type="tanh", name="act1")
    second = mx.sym.FullyConnected(mx.sym.Variable("features"), num_hidden=4, name="fc2")
    return first, second, mx.sym.SoftmaxOutput(second, name="softmax")


CHAIN_CASES = [dict(case(name), net="chain") for name in ("two modules", "a loss in Python")]


def difference(scores, labels):
    return scores - labels


def chain_batch(mx, spec, step):
    if spec["name"] == "two modules":
        return batch_of(mx, "mlp", (12, 6), step)
    data = formula((12, 6), seed_of("mlp/data/%d" % step))
    target = formula((12, 4), seed_of("chain/label/%d" % step))
    return mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(target)], pad=0)


def run_chain(mx, spec):
    first, scores, softmax = chain_symbols(mx)
    two = spec["name"] == "two modules"
    mod = mx.mod.SequentialModule()
    mod.add(mx.mod.Module(first, label_names=None))
    last = mx.mod.Module(softmax if two else scores, data_names=["features"],
                         label_names=["softmax_label"] if two else None)
    mod.add(last, take_labels=two, auto_wiring=True)
    if not two:
        mod.add(mx.mod.PythonLossModule(grad_func=difference), take_labels=True, auto_wiring=True)
    mod.bind([("data", (12, 6))], [("softmax_label", (12,) if two else (12, 4))])
    args, _ = first_params("mlp", mlp(mx), data=(12, 6))
    mod.init_params(arg_params=arrays(mx, args))
    mod.init_optimizer(optimizer=spec["optimizer"],
                       optimizer_params=dict(spec["optimizer_params"]))
    seen = []
    for step in range(spec["steps"]):
        mod.forward_backward(chain_batch(mx, spec, step))
        mod.update()
        output, = mod.get_outputs()
        seen.append({"outputs": {mod.output_names[0]: output.asnumpy()}})
    seen[-1]["params"] = {n: a.asnumpy() for n, a in mod.get_params()[0].items()}
    return seen, []


# ---- states that stay between batches

STATE_CASES = [dict(case("states on %d" % n, devices=n), net="states", data=[ROWS, 3, 5], steps=3)
               for n in (1, 2)]


def state_network(mx):
    stack = mx.rnn.SequentialRNNCell()
    for layer in range(2):
        stack.add(mx.rnn.LSTMCell(6, prefix="lstm_l%d_" % layer))
    begin = stack.begin_state(func=mx.sym.Variable)
    _, states = stack.unroll(3, begin_state=begin, inputs=mx.sym.Variable("data"))
    last = mx.sym.identity(states[2], name="last")
    return mx.sym.Group([last] + list(states)), [s.name for s in begin]


def run_states(mx, spec):
    symbol, names = state_network(mx)
    shape = tuple(spec["data"])
    mod = mx.mod.Module(symbol, context=contexts(mx, spec), label_names=None, state_names=names)
    mod.bind([("data", shape)], for_training=False)
    args, _ = first_params("states", symbol, data=shape, **{n: (ROWS, 6) for n in names})
    mod.init_params(arg_params=arrays(mx, args))
    mod.set_states(value=1)
    seen = []
    for step in range(spec["steps"]):
        data = mx.nd.array(formula(shape, seed_of("states/data/%d" % step)))
        mod.forward(mx.io.DataBatch([data], []))
        outputs = {"output%d" % i: o.asnumpy() for i, o in enumerate(mod.get_outputs())}
        mod.set_states(states=mod.get_outputs(merge_multi_context=False)[1:])
        states = {n: np.concatenate([part.asnumpy() for part in parts]) for n, parts
                  in zip(names, mod.get_states(merge_multi_context=False))}
        seen.append({"outputs": outputs, "states": states})
    return seen, []


# ---- a whole fit, as its log tells it

class Lines(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        self.lines.append("%s %s" % (record.levelname, record.getMessage()))


def masked(line):
    line = re.sub(r"Speed: [0-9.inf]+ samples", "Speed: * samples", line)
    return re.sub(r"Time cost=[0-9.]+", "Time cost=*", line)


# Rates for which no logged value is near a rounding border of its six digits.
FIT_CASES = [{"name": "fit on %d%s" % (n, ", more callbacks" * more), "devices": n, "more": more,
              "optimizer": optimizer, "optimizer_params": params, "step": 7, "factor": 0.5}
             for n, more, optimizer, params in (
                 (1, False, "sgd", {"learning_rate": 0.3, "momentum": 0.9}),
                 (2, False, "adam", {"learning_rate": 0.05}),
                 (2, True, "nag", {"learning_rate": 0.2, "momentum": 0.5}))]


def fit_options(mx, mod, more):
    """Metrics, epochs and callbacks: the usual ones, or the others."""
    call = mx.callback
    if not more:
        return dict(eval_metric=["acc", "ce"], num_epoch=3,
                    batch_end_callback=call.Speedometer(10, 3),
                    epoch_end_callback=call.do_checkpoint("run"),
                    eval_end_callback=call.LogValidationMetricsCallback())
    return dict(eval_metric="acc", validation_metric=["ce", "rmse"], begin_epoch=1, num_epoch=5,
                batch_end_callback=[call.Speedometer(10, 4, auto_reset=False),
                                    call.log_train_metric(5)],
                epoch_end_callback=call.module_checkpoint(mod, "run", 2, True),
                eval_batch_end_callback=call.Speedometer(10, 2))


def fit_data(mx):
    """Labels follow from the data, so that there is something to learn."""
    data = formula((135, 6), seed_of("fit/data"))
    label = (data[:, 0] > 0) * 2 + (data[:, 1] > 0.2)
    iters = [mx.io.NDArrayIter(data[rows], label[rows].astype("float32"), 10)
             for rows in (slice(0, 100), slice(100, 135))]
    return iters


def run_fit(mx, spec):
    """Log lines of a training in the current folder, times masked; parameters after it."""
    train, val = fit_data(mx)
    handler, root = Lines(), logging.getLogger()
    level = root.level
    root.setLevel(logging.INFO)
    root.addHandler(handler)
    try:
        mod = mx.mod.Module(mlp(mx), context=contexts(mx, spec))
        args, _ = first_params("mlp", mod.symbol, data=(10, 6))
        schedule = mx.lr_scheduler.FactorScheduler(
            spec["step"], spec["factor"], base_lr=spec["optimizer_params"]["learning_rate"])
        mod.fit(train, eval_data=val, arg_params=arrays(mx, args), optimizer=spec["optimizer"],
                optimizer_params=dict(spec["optimizer_params"], lr_scheduler=schedule),
                **fit_options(mx, mod, spec["more"]))
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    return ([masked(line) for line in handler.lines],
            {n: a.asnumpy() for n, a in mod.get_params()[0].items()})
