"""RNN: all modes, layers and directions, in both precisions MXNet's CPU has."""
from golden import Case, Formula as F

GATES = {"rnn_relu": 1, "rnn_tanh": 1, "lstm": 4, "gru": 3}


def rnn():
    def case(name, mode, layers=1, both=False, steps=3, batch=2, width=3, hidden=4,
             dtype="float32", req="write", train=(True, False), **attrs):
        directions = 2 if both else 1
        gate = GATES[mode] * hidden * directions
        count = gate * (width + hidden + 2) + (layers - 1) * gate * (directions * hidden + hidden + 2)
        states = (layers * directions, batch, hidden)
        side = lambda *shape, **r: F(*shape, dtype=dtype, **r)
        inputs = {"data": side(steps, batch, width), "parameters": side(count, lo=-0.6, hi=0.6),
                  "state": side(*states)}
        if mode == "lstm":
            inputs["state_cell"] = side(*states)
        attrs = dict(attrs, mode=mode, state_size=hidden, num_layers=layers)
        if both:
            attrs["bidirectional"] = True
        return Case("RNN", name, attrs, inputs, train=train, req=req)

    # MXNet's bugs are not recorded: between two other layers a relu or tanh layer gets a wrong
    # gradient of its i2h matrix (and none at all without it), and relu rounds float64 to float32.
    cases = []
    for mode in GATES:
        for layers in (1, 2, 3):
            for both in (False, True):
                name = "%s, %d layers%s" % (mode, layers, ", both ways" if both else "")
                more = {"state_outputs": True, "hidden": 3, "train": (True,)}
                if GATES[mode] == 1 and layers == 3:
                    more["req"] = "null"
                cases.append(case(name, mode, layers, both, **more))
                if mode != "rnn_relu":
                    cases.append(case(name + ", float64", mode, layers, both, dtype="float64",
                                      **more))
        cases += [
            case(mode + ", no state outputs", mode),
            case(mode + ", one step", mode, steps=1, layers=2, both=True),
            case(mode + ", one sample", mode, batch=1, steps=5, state_outputs=True),
            case(mode + ", p in inference", mode, layers=2, p=0.5, train=(False,), req="null"),
            case(mode + ", sizes no vector divides", mode, layers=2, steps=4, batch=19, width=7,
                 hidden=21, state_outputs=True, train=(True,)),
        ]
    return cases


ALL = [rnn]
