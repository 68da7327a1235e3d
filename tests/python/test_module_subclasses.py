"""Classes users derive, of the kinds found in public code; their results against NumPy or ours."""
import logging
import pickle
import weakref

import numpy as np
import pytest

import symbind as mx
from test_contract import bound, cpus, mlp
from test_contract_bind import DATA, LABEL, assert_equal, batch, numbers
from test_contract_train import ready


def iterator(rows=24, batch_size=8, seed=0):
    rng = np.random.RandomState(seed)
    return mx.io.NDArrayIter(rng.uniform(-1, 1, (rows, 5)).astype("float32"),
                             rng.randint(0, 3, rows), batch_size)


def start():
    rng = np.random.RandomState(7)
    return {k: mx.nd.array(rng.uniform(-1, 1, s)) for k, s in
            {"fc1_weight": (4, 5), "fc1_bias": (4,), "fc2_weight": (3, 4), "fc2_bias": (3,)}.items()}


def fitted(mod, **kwargs):
    mod.fit(iterator(), num_epoch=2, arg_params=start(), aux_params={}, **{
        "optimizer_params": {"learning_rate": 0.5, "momentum": 0.9}, **kwargs})
    return numbers(mod.get_params()[0])


def plain():
    """What our own Module makes of the same data."""
    return fitted(mx.mod.Module(mlp(4, 3)))


# ------------------------------------------------------------- a BaseModule of two Modules

class ParallModule(mx.mod.BaseModule):
    """A backbone on one module, the classifier on another that takes its features and hands its
    input gradients back, as the parallel modules of face recognition do."""

    def __init__(self, logger=logging):
        super().__init__(logger=logger)
        feature = mx.sym.FullyConnected(mx.sym.Variable("data"), name="fc1", num_hidden=4)
        feature = mx.sym.Activation(feature, name="relu1", act_type="relu")
        head = mx.sym.FullyConnected(mx.sym.Variable("feature"), name="fc2", num_hidden=3)
        self._symbol = feature
        self._curr_module = mx.mod.Module(feature, label_names=None)
        self._arcface_module = mx.mod.Module(mx.sym.SoftmaxOutput(head, name="softmax"),
                                             data_names=["feature"])

    data_names = property(lambda self: self._curr_module.data_names)
    output_names = property(lambda self: self._arcface_module.output_names)
    data_shapes = property(lambda self: self._curr_module.data_shapes)
    label_shapes = property(lambda self: self._arcface_module.label_shapes)
    output_shapes = property(lambda self: self._arcface_module.output_shapes)

    def get_params(self):
        both = [m.get_params() for m in (self._curr_module, self._arcface_module)]
        return ({**both[0][0], **both[1][0]}, {**both[0][1], **both[1][1]})

    def init_params(self, initializer=mx.init.Uniform(0.01), arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        if self.params_initialized and not force_init:
            return
        assert self.binded
        for m in (self._curr_module, self._arcface_module):
            m.init_params(initializer=initializer, arg_params=arg_params, aux_params=aux_params,
                          allow_missing=allow_missing, force_init=force_init,
                          allow_extra=allow_extra)
        self.params_initialized = True

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False,
             force_rebind=False, shared_module=None, grad_req='write'):
        self.for_training = for_training
        self._curr_module.bind(data_shapes, None, for_training, inputs_need_grad, force_rebind)
        (_, shape), = self._curr_module.output_shapes
        self._arcface_module.bind([("feature", shape)], label_shapes, for_training, for_training,
                                  force_rebind)
        self.binded = True

    def init_optimizer(self, kvstore='local', optimizer='sgd',
                       optimizer_params=(('learning_rate', 0.01),), force_init=False):
        for m in (self._curr_module, self._arcface_module):
            m.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        self.optimizer_initialized = True

    def forward(self, data_batch, is_train=None):
        self._curr_module.forward(data_batch, is_train=is_train)
        features = self._curr_module.get_outputs(merge_multi_context=True)
        self._arcface_module.forward(mx.io.DataBatch(features, data_batch.label),
                                     is_train=is_train)

    def backward(self, out_grads=None):
        self._arcface_module.backward()
        self._curr_module.backward(out_grads=self._arcface_module.get_input_grads())

    def update(self):
        self._curr_module.update()
        self._arcface_module.update()

    def get_outputs(self, merge_multi_context=True):
        return self._arcface_module.get_outputs(merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._arcface_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        self._curr_module.install_monitor(mon)


class Bare(ParallModule):
    """The same without a call of BaseModule's constructor."""

    def __init__(self):  # pylint: disable=super-init-not-called
        made = ParallModule()
        self._symbol = made._symbol
        self._curr_module, self._arcface_module = made._curr_module, made._arcface_module


@pytest.mark.parametrize("kind", [ParallModule, Bare])
def test_two_modules_share_a_forward(kind, caplog):
    mod = kind()
    with caplog.at_level(logging.INFO):
        got = fitted(mod, eval_data=iterator())
    want = plain()
    assert got.keys() == want.keys()
    for name in want:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-5, atol=1e-6, err_msg=name)
    lines = [m.split("=")[0] for m in caplog.messages]
    assert lines == ["Epoch[0] Train-accuracy", "Epoch[0] Time cost", "Epoch[0] Validation-accuracy",
                     "Epoch[1] Train-accuracy", "Epoch[1] Time cost",
                     "Epoch[1] Validation-accuracy"]
    assert mod.predict(iterator()).shape == (24, 3)
    assert dict(mod.score(iterator(), "acc")).keys() == {"accuracy"}


# --------------------------------------------------------- a Module with other verbs

class Clipped(mx.mod.Module):
    """Clips gradients by their norm before every update (as examples for language models do), and
    keeps count of what it was asked to prepare for."""
    max_norm = 0.05

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.prepared, self.norms = [], []

    def update(self):
        total = np.sqrt(sum((g.asnumpy() ** 2).sum()
                            for row in self._exec_group.grad_arrays for g in row))
        self.norms.append(total)
        for row in self._exec_group.grad_arrays:
            for grad in row:
                grad *= min(1.0, self.max_norm / total)
        super().update()

    def prepare(self, data_batch, sparse_row_id_fn=None):
        self.prepared.append(data_batch.data[0].asnumpy())
        super().prepare(data_batch, sparse_row_id_fn)


def test_module_with_its_own_update_and_prepare():
    mod = Clipped(mlp(4, 3))
    before = {k: v.asnumpy() for k, v in start().items()}
    mod.fit(iterator(8), num_epoch=1, arg_params=start(), aux_params={},
            optimizer_params={"learning_rate": 0.5})
    moved = np.sqrt(sum(((v - before[k]) ** 2).sum()
                        for k, v in numbers(mod.get_params()[0]).items()))
    assert len(mod.norms) == 1 and mod.norms[0] > 0.05
    np.testing.assert_allclose(moved, 0.5 / 8 * 0.05, rtol=1e-4)
    mod = Clipped(mlp(4, 3))
    mod.max_norm = 1e9
    assert_equal(fitted(mod), plain())
    assert len(mod.norms) == 6  # three batches, two epochs
    whole = iterator().data[0][1].asnumpy()
    assert len(mod.prepared) == 4  # the second and third of each
    np.testing.assert_array_equal(mod.prepared[0], whole[8:16])
    np.testing.assert_array_equal(mod.prepared[3], whole[16:])


class Watched(mx.mod.Module):
    """Overrides only forward: fit must call it."""
    seen = 0

    def forward(self, data_batch, is_train=None):
        self.seen += 1
        super().forward(data_batch, is_train)


def test_module_with_its_own_forward():
    mod = Watched(mlp(4, 3))
    assert_equal(fitted(mod), plain())
    assert mod.seen == 6


# ------------------------------------------------------------ a custom Optimizer

@mx.optimizer.register
class HandMomentum(mx.optimizer.Optimizer):
    """SGD with momentum written out."""

    def __init__(self, momentum=0.0, **kwargs):
        super().__init__(**kwargs)
        self.momentum = momentum
        self.calls = 0

    def create_state(self, index, weight):
        return mx.nd.zeros(weight.shape, weight.context, dtype=weight.dtype)

    def update(self, index, weight, grad, state):
        assert isinstance(weight, mx.nd.NDArray) and isinstance(grad, mx.nd.NDArray)
        self.calls += 1
        self._update_count(index)
        lr, wd = self._get_lr(index), self._get_wd(index)
        state[:] = self.momentum * state - lr * (grad * self.rescale_grad + wd * weight)
        weight[:] += state


@pytest.mark.parametrize("devices", [1, 2])
def test_custom_optimizer(devices):
    mod = mx.mod.Module(mlp(4, 3), context=cpus(devices))
    got = fitted(mod, optimizer="handmomentum")
    want = fitted(mx.mod.Module(mlp(4, 3), context=cpus(devices)))
    for name in want:
        np.testing.assert_allclose(got[name], want[name], rtol=1e-5, atol=1e-6, err_msg=name)
    assert mod._optimizer.calls == 24 and mod._optimizer.num_update == 6


def test_custom_optimizer_has_states(tmp_path):
    path = str(tmp_path / "states")
    mod = ready(optimizer=HandMomentum(momentum=0.9, learning_rate=0.5, rescale_grad=1 / 8))
    mod.forward_backward(batch())
    mod.update()
    mod.save_optimizer_states(path)
    before = {k: v.asnumpy() for k, v in mod._updater.states.items()}
    mod.forward_backward(batch())
    mod.update()
    mod.load_optimizer_states(path)
    assert_equal({k: v.asnumpy() for k, v in mod._updater.states.items()}, before)


class Lazy(mx.optimizer.SGD):
    """Derives from ours and never calls its constructor."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.lr = 0.5
        self.momentum = 0.9
        self.rescale_grad = 1 / 8


def test_optimizer_without_super_init():
    assert_equal(fitted(mx.mod.Module(mlp(4, 3)), optimizer=Lazy()), plain())


# ----------------------------------------------------------- metrics and iterators

class Hits(mx.metric.EvalMetric):
    """Accuracy by hand, without a call of the constructor."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.name = "hits"
        self.output_names = self.label_names = None
        self.reset()

    def update(self, labels, preds):
        for label, pred in zip(labels, preds):
            self.sum_metric += (pred.asnumpy().argmax(1) == label.asnumpy()).sum()
            self.num_inst += label.shape[0]

    def reset(self):
        self.sum_metric = 0.0
        self.num_inst = 0

    def get_global_name_value(self):
        return self.get_name_value()


def test_custom_metric():
    mod = ready()
    ours, own = mod.score(iterator(), "acc"), mod.score(iterator(), Hits())
    assert own == [("hits", ours[0][1])]
    both = mod.score(iterator(), mx.metric.create([Hits(), "acc"]))
    assert dict(both) == {"hits": ours[0][1], "accuracy": ours[0][1]}
    assert_equal(fitted(mx.mod.Module(mlp(4, 3)), eval_metric=Hits()), plain())


class Own(mx.io.DataIter):
    """An iterator of three batches whose class never calls DataIter's constructor."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self.whole, self.at = iterator(), 0

    provide_data = property(lambda self: self.whole.provide_data)
    provide_label = property(lambda self: self.whole.provide_label)

    def reset(self):
        self.at = 0

    def iter_next(self):
        self.at += 1
        return self.at <= 3

    def _rows(self, source):
        return [mx.nd.array(source[0][1].asnumpy()[8 * self.at - 8:8 * self.at])]

    def getdata(self):
        return self._rows(self.whole.data)

    def getlabel(self):
        return self._rows(self.whole.label)

    def getpad(self):
        return 0

    def getindex(self):
        return None


def test_custom_iterator():
    mod = mx.mod.Module(mlp(4, 3))
    mod.fit(Own(), num_epoch=2, arg_params=start(), aux_params={},
            optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
    assert_equal(numbers(mod.get_params()[0]), plain())
    assert len(list(mx.io.PrefetchingIter(Own()))) == 3


class Batch:
    """All that forward asks of a batch."""

    def __init__(self, data, label):
        self.data, self.label = data, label


def test_any_object_is_a_batch():
    mod, other = ready(), ready()
    other.set_params(*mod.get_params())
    given = batch()
    mod.forward(Batch(given.data, given.label), is_train=True)
    other.forward(given, is_train=True)
    np.testing.assert_array_equal(mod.get_outputs()[0].asnumpy(), other.get_outputs()[0].asnumpy())


# ------------------------------------------------------------------------- pickling

def again(x):
    return pickle.loads(pickle.dumps(x))


def test_pickles():
    sgd = mx.optimizer.SGD(learning_rate=0.3, momentum=0.9, wd=1e-3,
                           lr_scheduler=mx.lr_scheduler.FactorScheduler(3, 0.5))
    sgd.set_lr_mult({"fc1_weight": 2.0})
    copy = again(sgd)
    assert type(copy) is mx.optimizer.SGD
    assert (copy.momentum, copy.wd, copy.lr_mult) == (0.9, 1e-3, {"fc1_weight": 2.0})
    assert copy.lr_scheduler.factor == 0.5 and copy.lr_scheduler.base_lr == 0.3
    own = again(HandMomentum(momentum=0.7, learning_rate=0.1))
    assert (own.momentum, own.lr, own.calls) == (0.7, 0.1, 0)
    metric = mx.metric.TopKAccuracy(top_k=2)
    metric.update([mx.nd.array([0, 1])], [mx.nd.array([[.5, .2, .3], [.5, .2, .3]])])
    copy = again(metric)
    assert copy.get() == metric.get() and (copy.sum_metric, copy.num_inst) == (1.0, 2)
    hits = Hits()
    hits.sum_metric = 3.0
    assert again(hits).sum_metric == 3.0
    init = again(mx.init.Xavier(magnitude=2.0))
    assert init.dumps() == mx.init.Xavier(magnitude=2.0).dumps()
    schedule = again(mx.lr_scheduler.MultiFactorScheduler([2, 4], factor=0.1, base_lr=1.0))
    assert [round(schedule(i), 6) for i in (1, 3, 5)] == [1.0, 0.1, 0.01]
    net = again(mlp())
    assert net.list_arguments() == mlp().list_arguments() and net.tojson() == mlp().tojson()


# ------------------------------------------------------------------------ callbacks

def test_locals_of_a_batch():
    seen = []

    def callback(param):
        seen.append((param.epoch, param.nbatch))
        assert type(param).__name__ == "BatchEndParams"
        assert param.locals["self"] is mod
        assert param.locals["data_batch"].data[0].shape == (8, 5)
        assert param.locals["eval_metric"] is param.eval_metric
        assert param.locals["train_data"] is data
        for name in ("epoch", "nbatch", "end_of_batch", "next_data_batch", "monitor",
                     "batch_end_callback", "sparse_row_id_fn", "tic", "data_iter"):
            assert name in param.locals, name

    mod, data = mx.mod.Module(mlp(4, 3)), iterator()
    mod.fit(data, num_epoch=2, batch_end_callback=callback)
    assert seen == [(e, b) for e in range(2) for b in range(3)]


def test_callbacks_do_not_keep_batches():
    """Of the batches that went by, none is alive."""
    class Counted(mx.io.DataBatch):
        """Can be referred to weakly."""

    class Counting(mx.io.ResizeIter):
        """Hands out batches it can count."""

        def next(self):
            given = super().next()
            made = Counted(given.data, given.label)
            alive.append(weakref.ref(made))
            return made

    def callback(param):
        most.append(sum(ref() is not None for ref in alive))

    mod = mx.mod.Module(mlp(4, 3))
    alive, most = [], []
    mod.fit(Counting(iterator(), 9), num_epoch=1, batch_end_callback=callback)
    assert max(most) <= 2, most
    alive, most = [], []
    mod.score(Counting(iterator(), 9), "acc", batch_end_callback=callback)
    assert max(most) <= 2, most


def test_locals_of_fit_itself():
    """Names of MXNet's fit that callbacks in public code read."""
    names = {"optimizer", "optimizer_params", "kvstore", "arg_params", "aux_params", "begin_epoch",
             "num_epoch", "initializer", "eval_data", "validation_metric", "force_rebind",
             "allow_missing", "epoch_end_callback"}
    seen = set()
    mx.mod.Module(mlp(4, 3)).fit(iterator(), num_epoch=1,
                                 batch_end_callback=lambda p: seen.update(p.locals))
    assert names <= seen, names - seen
