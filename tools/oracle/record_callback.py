"""The log lines of callbacks and monitors, what differs from run to run masked.

    $PY tools/oracle/record_callback.py     # under MXNet -> tests/golden/log_lines.json

tests/python/test_callback.py runs `scenes` again under Symbind, tests/module in C++.
"""
import collections
import json
import logging
import os
import re

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden",
                      "log_lines.json")
BatchEndParam = collections.namedtuple("BatchEndParam", ["epoch", "nbatch", "eval_metric", "locals"])


class Lines(logging.Handler):
    """Keeps what is logged, with what differs from run to run masked."""

    def __init__(self):
        super().__init__()
        self.lines = []

    def emit(self, record):
        line = re.sub(r"Speed: [0-9.inf]+ ", "Speed: * ", record.getMessage())
        # Gradients that were not requested: MXNet shows memory it never wrote.
        line = re.sub(r"((out_backward_output1|fc_backward_output0) +)\S+", r"\1*", line)
        self.lines.append(line)


def trained(mx, metric, callback, epochs=2, batches=6):
    """Two short epochs: one of three outputs is wrong in even batches, two in odd ones."""
    for epoch in range(epochs):
        if metric is not None:
            metric.reset()
        for batch in range(batches):
            if metric is not None:
                metric.update([mx.nd.array([0, batch % 2, 1])],
                              [mx.nd.array([[0.25, 0.75], [0.75, 0.25], [0.5, 0.75]])])
            callback(BatchEndParam(epoch, batch, metric, {}))


def monitored(mx, monitor, value=2.0):
    """Two steps of a small net whose numbers are exact."""
    data = mx.sym.Variable("data")
    net = mx.sym.FullyConnected(data, num_hidden=4, name="fc")
    net = mx.sym.Activation(net, act_type="relu", name="act")
    net = mx.sym.LinearRegressionOutput(net, name="out")
    executor = net.simple_bind(mx.cpu(), data=(1, 4), out_label=(1, 4), grad_req={
        "data": "null", "fc_weight": "write", "fc_bias": "write", "out_label": "null"})
    executor.arg_dict["data"][:] = value
    executor.arg_dict["fc_weight"][:] = 0.5
    executor.arg_dict["fc_bias"][:] = -1.0
    monitor.install(executor)
    for _ in range(2):
        monitor.tic()
        executor.forward(is_train=True)
        executor.backward()
        monitor.toc_print()


def scenes(mx):
    """{name: the lines of one scene}"""
    acc = lambda: mx.metric.create("acc")
    both = lambda: mx.metric.create(["acc", "ce"])
    plays = {
        "speed": lambda: trained(mx, acc(), mx.callback.Speedometer(10, 2)),
        "speed_keep": lambda: trained(mx, acc(), mx.callback.Speedometer(10, 2, auto_reset=False)),
        "speed_two": lambda: trained(mx, both(), mx.callback.Speedometer(10, 3)),
        "speed_none": lambda: trained(mx, None, mx.callback.Speedometer(10, 2)),
        "train": lambda: trained(mx, acc(), mx.callback.log_train_metric(2)),
        "train_reset": lambda: trained(mx, both(), mx.callback.log_train_metric(2, True)),
        "bar": lambda: trained(mx, None, mx.callback.ProgressBar(6, 13), epochs=1, batches=7),
        "bar_long": lambda: trained(mx, None, mx.callback.ProgressBar(7), epochs=1, batches=3),
        "validation": lambda: trained(mx, both(), mx.callback.LogValidationMetricsCallback(), 1, 1),
        "monitor": lambda: monitored(mx, mx.mon.Monitor(1)),
        "monitor_second": lambda: monitored(mx, mx.mon.Monitor(2, pattern="fc.*", sort=True)),
        "monitor_all": lambda: monitored(mx, mx.mon.Monitor(
            2, stat_func=lambda x: [x, mx.nd.sum(x)], pattern="(act|out_output|fc_bias)",
            sort=True)),
        "monitor_digits": lambda: monitored(mx, mx.mon.Monitor(
            1, stat_func=lambda x: x.reshape((-1,))[0:1], pattern="data"), 0.1),
    }
    found = {}
    for name, play in plays.items():
        handler, root = Lines(), logging.getLogger()
        level = root.level
        root.addHandler(handler)
        root.setLevel(logging.INFO)
        try:
            play()
        finally:
            root.removeHandler(handler)
            root.setLevel(level)
        found[name] = handler.lines
    return found


def main():
    import mxnet as mx

    with open(TARGET, "w") as file:
        file.write(json.dumps(scenes(mx), indent=1) + "\n")


if __name__ == "__main__":
    main()
