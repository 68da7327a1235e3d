"""What tools/oracle/record_autograd.py runs under MXNet, and test_autograd_golden.py under Symbind:
each program takes the package and returns named arrays, numbers or texts. Data come from the formula
of tools/oracle/README.md."""
import numpy as np

from module_cases import classes, formula, seed_of


def data(mx, name, shape, lo=-1.0, hi=1.0, dtype="float32", ctx=None):
    return mx.nd.array(formula(shape, seed_of("autograd/" + name), lo, hi), ctx=ctx, dtype=dtype)


def variables(mx, **shapes):
    made = {}
    for name, shape in shapes.items():
        made[name] = data(mx, name, shape)
        made[name].attach_grad()
    return made


def grads(made):
    return {"d" + name: array.grad.asnumpy() for name, array in made.items()}


def elementwise(mx):
    v = variables(mx, x=(3, 4), y=(3, 4))
    with mx.autograd.record():
        z = mx.nd.exp(v["x"]) * v["y"] + mx.nd.sin(v["x"]) / (1 + v["y"] ** 2) - 2 / (v["x"] + 3)
        z = mx.nd.relu(z - 0.3) + mx.nd.tanh(v["y"] * 0.5) ** 2 + mx.nd.sqrt(v["x"] + 2)
    z.backward()
    return dict(grads(v), z=z.asnumpy())


def broadcasting(mx):
    v = variables(mx, x=(2, 3, 4), b=(3, 1), c=(4,))
    with mx.autograd.record():
        z = (v["x"] * v["b"] - v["c"] / (v["b"] + 3)).sum(axis=1)
        z = mx.nd.broadcast_maximum(z, v["c"].reshape((1, 4))).mean()
    z.backward()
    return dict(grads(v), z=z.asnumpy())


def mlp(mx):
    v = variables(mx, w1=(6, 5), b1=(6,), w2=(4, 6), b2=(4,))
    x, label = data(mx, "mlp", (8, 5)), mx.nd.array(classes((8,), seed_of("mlp"), 4))
    with mx.autograd.record():
        h = mx.nd.Activation(mx.nd.FullyConnected(x, v["w1"], v["b1"], num_hidden=6), act_type="relu")
        out = mx.nd.FullyConnected(h, v["w2"], v["b2"], num_hidden=4)
        loss = -mx.nd.pick(mx.nd.log_softmax(out), label).mean()
    loss.backward()
    return dict(grads(v), loss=loss.asnumpy())


def convnet_steps(mx):
    """Three steps of descent through convolution, BatchNorm, pooling; the moving statistics too."""
    v = variables(mx, w=(4, 2, 3, 3), b=(4,), gamma=(4,), beta=(4,), fc=(3, 36), fb=(3,))
    mean, var = mx.nd.zeros((4,)), mx.nd.ones((4,))
    x, label = data(mx, "images", (5, 2, 8, 8)), mx.nd.array(classes((5,), seed_of("images"), 3))
    losses = []
    for _ in range(3):
        with mx.autograd.record():
            y = mx.nd.Convolution(x, v["w"], v["b"], kernel=(3, 3), num_filter=4)
            y = mx.nd.BatchNorm(y, v["gamma"], v["beta"], mean, var, fix_gamma=False, momentum=0.8)
            y = mx.nd.Pooling(mx.nd.Activation(y, act_type="tanh"), kernel=(2, 2), stride=(2, 2),
                              pool_type="max")
            out = mx.nd.SoftmaxOutput(mx.nd.FullyConnected(y, v["fc"], v["fb"], num_hidden=3), label)
        out.backward()
        losses.append(float(-np.log(out.asnumpy()[np.arange(5), label.asnumpy().astype(int)]).mean()))
        for array in v.values():
            array[:] -= 0.05 * array.grad
    return dict({name: a.asnumpy() for name, a in v.items()}, mean=mean.asnumpy(), var=var.asnumpy(),
                losses=np.array(losses))


def batch_norm_predicting(mx):
    v = variables(mx, x=(4, 3, 2), gamma=(3,), beta=(3,))
    mean, var = data(mx, "mean", (3,)), data(mx, "var", (3,), 0.5, 2.0)
    with mx.autograd.record(train_mode=False):
        y = mx.nd.BatchNorm(v["x"], v["gamma"], v["beta"], mean, var, fix_gamma=False)
    y.backward(data(mx, "head", (4, 3, 2)), train_mode=False)
    return dict(grads(v), y=y.asnumpy(), mean=mean.asnumpy(), var=var.asnumpy())


def dropout(mx):
    """The same elements are dropped in both directions; nothing is while predicting."""
    v = variables(mx, x=(20, 30))
    found = {}
    for train in (True, False):
        with mx.autograd.record(train_mode=train):
            y = mx.nd.Dropout(v["x"], p=0.4)
        y.backward(train_mode=train)
        ratio = y.asnumpy() / v["x"].asnumpy()
        found["same%d" % train] = bool(np.abs(ratio - v["x"].grad.asnumpy()).max() < 1e-5)
        found["values%d" % train] = sorted({round(float(r), 4) for r in np.abs(ratio).ravel()})
    return found


def indexing(mx):
    """Every kind of key, each with its own weight."""
    v = variables(mx, x=(4, 5), t=(2, 3, 4))
    x, t = v["x"], v["t"]
    rows = mx.nd.array([3, 0, 3], dtype="int32")
    with mx.autograd.record():
        parts = [x[1], x[:, 2], x[1:3], x[::2], x[::-1, 1:4], x[3, 4], x[rows], x[[0, 2]], x[-1, :-1],
                 t[1, :, 2], t[:, 1:], t[..., 0], t[0, 1:3, ::2], x.reshape((2, 10))[1],
                 x.slice_axis(axis=1, begin=1, end=3), x.take(rows), t.flatten()[0], t.T[1],
                 x.expand_dims(0)[0, 2], x.reshape((-1,))[7:9], t[:, None, 0],
                 x[mx.nd.array([0, 1], dtype="int32"), mx.nd.array([2, 2], dtype="int32")]]
        total = 0
        for i, part in enumerate(parts):
            total = total + (i + 1) * (part * part).sum()
    total.backward()
    return dict(grads(v), total=total.asnumpy())


def writing(mx):
    """What is written over a whole array that was not recorded before is recorded."""
    v = variables(mx, x=(3, 4), y=(4,))
    whole, stretched, out = mx.nd.zeros((3, 4)), mx.nd.zeros((3, 4)), mx.nd.zeros((3, 4))
    with mx.autograd.record():
        whole[:] = v["x"] * 2
        stretched[:] = v["y"] * v["y"]
        mx.nd.broadcast_mul(v["x"], v["y"], out=out)
        constant = mx.nd.zeros((3, 4))
        constant[1] = 5
        constant += 1
        total = (whole * constant).sum() + (stretched * 4).sum() + (out * whole).sum()
    total.backward()
    return dict(grads(v), whole=whole.asnumpy(), stretched=stretched.asnumpy(),
                total=total.asnumpy())


def copies(mx):
    """Through other types, other devices, copies and views."""
    v = variables(mx, x=(3, 4))
    x = v["x"]
    there = mx.nd.zeros((3, 4), ctx=mx.cpu(1))
    with mx.autograd.record():
        half = x.astype("float64") * 2
        moved = (x.as_in_context(mx.cpu(1)) ** 2).as_in_context(mx.cpu(0))
        (x * 3).copyto(there)
        back = there.copyto(mx.cpu(0)) * x.copy()
        total = half.astype("float32").sum() + moved.sum() + back.sum() + (x.detach() * x).sum()
    total.backward()
    return dict(grads(v), total=total.asnumpy(), kind=str(np.dtype(half.dtype)), at=str(there.context))


def requests(mx):
    """write, add and null, heads with and without gradients, a graph kept for a second walk."""
    x, y, z = (data(mx, n, (2, 3)) for n in "xyz")
    x.attach_grad()
    y.attach_grad("add")
    z.attach_grad(grad_req="null")
    for _ in range(2):
        with mx.autograd.record():
            a, b = x * y + z, mx.nd.exp(y) * z
        mx.autograd.backward([a, b], [data(mx, "head", (2, 3)), None], retain_graph=True)
    first = {"dx": x.grad.asnumpy(), "dy": y.grad.asnumpy()}
    mx.autograd.backward([a])
    return dict(first, dx2=x.grad.asnumpy(), dy2=y.grad.asnumpy())


def grad_function(mx):
    """autograd.grad leaves .grad alone; create_graph differentiates twice."""
    v = variables(mx, x=(5,), y=(5,))
    x, y = v["x"], v["y"]
    with mx.autograd.record():
        z = x * x * y + mx.nd.elemwise_add(mx.nd.exp(x), y)
    dx, dy = mx.autograd.grad(z, [x, y], head_grads=data(mx, "head", (5,)), retain_graph=True)
    alone, = mx.autograd.grad([z], x)
    found = {"dx": dx.asnumpy(), "dy": dy.asnumpy(), "alone": alone.asnumpy(),
             "kept": x.grad.asnumpy()}
    with mx.autograd.record():
        z = mx.nd.log(mx.nd.sin(x) + 2)
        first, = mx.autograd.grad(z, x, create_graph=True, retain_graph=True)
        first = first * first
    first.backward()
    return dict(found, second=x.grad.asnumpy())


def blocked(mx):
    v = variables(mx, x=(3,), y=(3,))
    x, y = v["x"], v["y"]
    with mx.autograd.record():
        a = mx.nd.BlockGrad(x * y) * x
        with mx.autograd.pause():
            b = x * 7
        c = (y * 2).detach() * x + b * y
        total = a + c
    total.backward()
    return dict(grads(v), total=total.asnumpy())


def recurrent(mx):
    """An LSTM written out over three steps, and the fused operator."""
    v = variables(mx, i2h=(16, 3), h2h=(16, 4), bias=(16,))
    x = data(mx, "sequence", (3, 2, 3))
    with mx.autograd.record():
        h, c = mx.nd.zeros((2, 4)), mx.nd.zeros((2, 4))
        for step in range(3):
            gates = (mx.nd.FullyConnected(x[step], v["i2h"], v["bias"], num_hidden=16)
                     + mx.nd.FullyConnected(h, v["h2h"], no_bias=True, num_hidden=16))
            i, f, g, o = mx.nd.split(gates, num_outputs=4, axis=1)
            c = mx.nd.sigmoid(f) * c + mx.nd.sigmoid(i) * mx.nd.tanh(g)
            h = mx.nd.sigmoid(o) * mx.nd.tanh(c)
    h.backward()
    found = dict(grads(v), h=h.asnumpy())
    p = data(mx, "packed", (16 * 3 + 16 * 4 + 32,), -0.5, 0.5)
    p.attach_grad()
    with mx.autograd.record():
        out = mx.nd.RNN(x, p, mx.nd.zeros((1, 2, 4)), mx.nd.zeros((1, 2, 4)), state_size=4,
                        num_layers=1, mode="lstm")
    out.backward()
    return dict(found, dpacked=p.grad.asnumpy(), out=out.asnumpy())


def losses(mx):
    """Heads that bring their own gradient."""
    found = {}
    label = data(mx, "label", (4, 3))
    for op in ("LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"):
        x = data(mx, op, (4, 3))
        x.attach_grad()
        with mx.autograd.record():
            y = getattr(mx.nd, op)(x, label, grad_scale=2)
        y.backward()
        found[op] = x.grad.asnumpy()
    x = data(mx, "made", (4, 3))
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.MakeLoss(x * x, grad_scale=3)
    y.backward()
    found["MakeLoss"] = x.grad.asnumpy()
    return found


def several_outputs(mx):
    """Some outputs lead nowhere."""
    v = variables(mx, x=(4, 6), e=(5, 3))
    index = mx.nd.array([4, 0, 4, 1])
    with mx.autograd.record():
        a, b, c = mx.nd.split(v["x"], num_outputs=3, axis=1)
        top = mx.nd.topk(v["x"], k=2, ret_typ="value")
        e = mx.nd.Embedding(index, v["e"], input_dim=5, output_dim=3)
        joined = mx.nd.concat(b * 2, e, mx.nd.stack(b[:, 0], c[:, 1], axis=1), dim=1)
        total = (joined * joined).sum() + top.sum() + mx.nd.dot(b.T, e).sum()
        picked = mx.nd.where(v["x"] > 0, v["x"] * 3, v["x"] * v["x"])
        total = total + mx.nd.clip(picked, -0.4, 0.9).sum()
    total.backward()
    return dict(grads(v), total=total.asnumpy())


def function(mx):
    """autograd.Function: one input, several, an object that keeps a number."""
    class Sigmoid(mx.autograd.Function):
        def forward(self, x):
            y = 1 / (1 + mx.nd.exp(-x))
            self.save_for_backward(y)
            return y

        def backward(self, dy):
            y, = self.saved_tensors
            return dy * y * (1 - y)

    class Pair(mx.autograd.Function):
        def __init__(self, scale):
            super(Pair, self).__init__()
            self.scale = scale

        def forward(self, a, b):
            self.save_for_backward(a, b)
            return a * b * self.scale, a + b

        def backward(self, dproduct, dsum):
            a, b = self.saved_tensors
            return dproduct * b * self.scale + dsum, dproduct * a * self.scale - dsum

    v = variables(mx, x=(3, 2), y=(3, 2))
    with mx.autograd.record():
        s = Sigmoid()(v["x"] * 2)
        p, q = Pair(3)(s, v["y"])
        total = p * q + s
    total.backward()
    return dict(grads(v), total=total.asnumpy())


def custom(mx):
    """A CustomOp among recorded operators."""
    class Cube(mx.operator.CustomOp):
        def forward(self, is_train, req, in_data, out_data, aux):
            self.assign(out_data[0], req[0], in_data[0] ** 3 + (1 if is_train else 0))

        def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
            self.assign(in_grad[0], req[0], 3 * out_grad[0] * in_data[0] ** 2)

    class CubeProp(mx.operator.CustomOpProp):
        def create_operator(self, ctx, shapes, dtypes):
            return Cube()

    mx.operator.register("autograd_cube")(CubeProp)
    v = variables(mx, x=(3, 2))
    with mx.autograd.record():
        y = mx.nd.Custom(v["x"] * 2, op_type="autograd_cube") * v["x"]
    y.backward()
    return dict(grads(v), y=y.asnumpy())


def old_interface(mx):
    from_contrib = mx.contrib.autograd
    x, y = data(mx, "x", (4,)), data(mx, "y", (4,))
    (dx, dy), loss = from_contrib.grad_and_loss(lambda a, b: a * a + mx.nd.exp(b) * a)(x, y)
    only, = from_contrib.grad(lambda a, b: a * b, argnum=1)(x, y)
    modes = []
    with from_contrib.train_section():
        modes.append([mx.autograd.is_recording(), mx.autograd.is_training()])
        with from_contrib.test_section():
            modes.append([mx.autograd.is_recording(), mx.autograd.is_training()])
    g = mx.nd.zeros((4,))
    from_contrib.mark_variables([x], [g], "add")
    for _ in range(2):
        with from_contrib.train_section():
            z = x * 3
        from_contrib.backward([z], [y])
    return {"dx": dx.asnumpy(), "dy": dy.asnumpy(), "loss": loss.asnumpy(), "only": only.asnumpy(),
            "modes": modes, "added": g.asnumpy()}


def modes(mx):
    seen = []

    def note():
        seen.append([mx.autograd.is_recording(), mx.autograd.is_training()])

    note()
    with mx.autograd.record():
        note()
        with mx.autograd.predict_mode():
            note()
            with mx.autograd.pause():
                note()
            with mx.autograd.pause(train_mode=True):
                note()
        with mx.autograd.train_mode():
            note()
    with mx.autograd.record(train_mode=False):
        note()
    with mx.autograd.train_mode():
        note()
    note()
    seen.append([mx.autograd.set_recording(True), mx.autograd.set_training(True)])
    note()
    seen.append([mx.autograd.set_recording(False), mx.autograd.set_training(False)])
    return {"seen": seen}


def symbol(mx):
    v = variables(mx, x=(2, 3), w=(4, 3))
    with mx.autograd.record():
        y = mx.nd.FullyConnected(v["x"] * 2, v["w"], no_bias=True, num_hidden=4)
        z = mx.nd.tanh(y).sum()
    made = mx.autograd.get_symbol(z)
    names = made.list_arguments()
    executor = made.bind(mx.cpu(), dict(zip(names, [v["x"], v["w"]])))
    return {"count": len(names), "outputs": len(made.list_outputs()),
            "value": executor.forward()[0].asnumpy(), "z": z.asnumpy()}


def training(mx):
    """Ten steps of logistic regression with momentum."""
    w, b = data(mx, "w", (1, 6)), mx.nd.zeros((1,))
    w.attach_grad()
    b.attach_grad()
    speed = [mx.nd.zeros(w.shape), mx.nd.zeros(b.shape)]
    x = data(mx, "points", (32, 6))
    y = (x.sum(axis=1) > 0).reshape((32, 1))
    curve = []
    for _ in range(10):
        with mx.autograd.record():
            p = mx.nd.sigmoid(mx.nd.FullyConnected(x, w, b, num_hidden=1))
            loss = -(y * mx.nd.log(p) + (1 - y) * mx.nd.log(1 - p)).mean()
        loss.backward()
        curve.append(float(loss.asscalar()))
        for param, state in zip((w, b), speed):
            mx.nd.sgd_mom_update(param, param.grad, state, lr=0.5, momentum=0.9, out=param)
    return {"w": w.asnumpy(), "b": b.asnumpy(), "curve": np.array(curve)}


def refusals(mx):
    """What each mistake's message says, up to the part that names this machine's source lines."""
    def told(action):
        try:
            action()
        except Exception as reason:
            return str(reason)
        return "nothing"

    x = data(mx, "x", (3,))
    found = {"not recorded": told(lambda: (x * 2).backward())}
    with mx.autograd.record():
        y = x * 2
    found["no variable"] = told(y.backward)
    x.attach_grad()
    with mx.autograd.record():
        y = x * 2
        found["add in place"] = told(lambda: x.__iadd__(1))
        found["set"] = told(lambda: x.__setitem__(slice(None), 1))
        found["set part"] = told(lambda: y.__setitem__(0, 1))
        fresh = mx.nd.zeros((3,))
        found["write into a part"] = told(lambda: fresh.__setitem__(0, y[1]))
        found["add to a new one"] = told(lambda: fresh.__iadd__(y))
        found["write over an input"] = told(lambda: mx.nd.relu(y, out=y))
    y.backward()
    found["twice"] = told(y.backward)
    with mx.autograd.record():
        y = x * 2
    found["grad of another"] = told(lambda: mx.autograd.grad(y, [data(mx, "y", (3,))]))
    return found


PROGRAMS = [elementwise, broadcasting, mlp, convnet_steps, batch_norm_predicting, dropout, indexing,
            writing, copies, requests, grad_function, blocked, recurrent, losses, several_outputs,
            function, custom, old_interface, modes, symbol, training, refusals]
