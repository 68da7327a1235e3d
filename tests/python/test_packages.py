"""What packages built on MXNet hand over that its documents do not speak of: numbers for flags, attributes of operators
that have none, their own variables as hyper-parameters, abstract base classes. What MXNet 1.9.1 does with each was
seen there; Keras, Sockeye and Xfer do them."""
import abc
import json
import pickle
import subprocess
import sys

import numpy as np
import pytest

import symbind as mx

FLAGS = [1, np.int64(1), np.bool_(True)]


def classifier():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=2, name="fc")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def module(**options):
    mod = mx.mod.Module(classifier())
    mod.bind([("data", (4, 3))], [("softmax_label", (4,))], **options)
    mod.init_params(mx.init.One())
    return mod


def batch():
    return mx.io.DataBatch([mx.nd.ones((4, 3))], [mx.nd.zeros((4,))])


# ------------------------------------------------------------------------ flags

@pytest.mark.parametrize("yes", FLAGS, ids=lambda flag: type(flag).__name__)
def test_numbers_are_flags_in_a_module(yes, tmp_path):
    no = type(yes)(0)
    mod = module(for_training=yes, inputs_need_grad=yes)
    mod.init_params(mx.init.Zero(), {}, {}, allow_missing=yes, force_init=yes, allow_extra=yes)
    with pytest.raises(RuntimeError, match="fc_"):
        mod.init_params(mx.init.Zero(), {}, {}, allow_missing=no, force_init=yes)
    mod.init_optimizer(force_init=yes)
    mod.forward(batch(), is_train=yes)
    mod.backward()
    # softmax of equal scores: p - onehot is -1/2 and 1/2, and the weights it comes back through are 0
    assert mod.get_input_grads(merge_multi_context=yes)[0].asnumpy().tolist() == [[0, 0, 0]] * 4
    mod.update()
    mod.save_checkpoint(str(tmp_path / "m"), 1, save_optimizer_states=yes)
    mx.mod.Module.load(str(tmp_path / "m"), 1, load_optimizer_states=yes)
    mod.forward(batch(), is_train=no)
    assert mod.get_outputs(merge_multi_context=no)[0][0].shape == (4, 2)


@pytest.mark.parametrize("yes", FLAGS, ids=lambda flag: type(flag).__name__)
def test_numbers_are_flags_in_an_executor(yes):
    no = type(yes)(0)
    dropped = mx.sym.Dropout(mx.sym.Variable("data"), p=0.5)
    executor = dropped.simple_bind(mx.cpu(), data=(100,))
    executor.arg_dict["data"][:] = 1
    assert set(executor.forward(is_train=yes)[0].asnumpy()) == {0, 2}
    executor.backward([mx.nd.ones((100,))], is_train=yes)
    assert set(executor.forward(is_train=no)[0].asnumpy()) == {1}
    executor.copy_params_from({"data": mx.nd.zeros((100,)), "other": mx.nd.zeros((1,))}, {}, yes)
    with pytest.raises(ValueError, match="other"):
        executor.copy_params_from({"other": mx.nd.zeros((1,))}, {}, no)
    seen = []
    executor.set_monitor_callback(lambda name, array: seen.append(name), monitor_all=yes)
    executor.forward(is_train=no)
    assert any("data" in str(name) for name in seen)
    assert executor.reshape(partial_shaping=yes, allow_up_sizing=yes, data=(200,)).outputs[0].shape == (200,)


@pytest.mark.parametrize("yes", FLAGS, ids=lambda flag: type(flag).__name__)
def test_numbers_are_flags_elsewhere(yes):
    no = type(yes)(0)
    x = mx.nd.array([3.0])
    x.attach_grad()
    with mx.autograd.record(train_mode=yes):
        y = x * x
    y.backward(retain_graph=yes, train_mode=yes)
    mx.autograd.backward([y], retain_graph=no, train_mode=no)
    assert x.grad.asscalar() == 6
    with mx.autograd.record():
        y = x * x
    assert mx.autograd.grad(y, x, retain_graph=yes, create_graph=no, train_mode=yes)[0].asscalar() == 6
    assert x.astype("float32", copy=no) is x
    assert x.astype("float32", copy=yes) is not x
    order = mx.io.NDArrayIter(np.arange(50), batch_size=50, shuffle=yes).next().data[0].asnumpy()
    assert sorted(order) == list(range(50)) and list(order) != list(range(50))
    updater = mx.optimizer.get_updater(mx.optimizer.SGD())
    assert b"SGD" in updater.get_states(yes) and b"SGD" not in updater.get_states(no)


def test_text_is_no_flag():
    with pytest.raises(TypeError):
        classifier().simple_bind(mx.cpu(), data=(4, 3)).forward(is_train="False")
    with pytest.raises(TypeError):
        classifier().simple_bind(mx.cpu(), data=(4, 3)).forward(is_train=np.ones(3))


# ----------------------------------------------- attributes of operators without any

def test_an_operator_without_parameters_takes_any():
    x = mx.nd.array([4, 9])
    assert mx.nd.zeros_like(x, ctx=x.context).asnumpy().tolist() == [0, 0]
    assert mx.nd.ones_like(x, dtype="int32").dtype == np.float32  # without effect, as in MXNet
    assert x.sqrt(foo=1).asnumpy().tolist() == [2, 3]
    root = mx.sym.sqrt(mx.sym.Variable("x"), name="root", foo=1)
    assert root.attr_dict() == {"root": {"foo": "1"}}
    again = mx.sym.load_json(root.tojson())
    assert again.attr_dict() == {"root": {"foo": "1"}}
    assert again.eval(x=x)[0].asnumpy().tolist() == [2, 3]


@pytest.mark.parametrize("call", [
    lambda: mx.nd.sum(mx.nd.ones((2,)), ctx=mx.cpu()),
    lambda: mx.sym.FullyConnected(mx.sym.Variable("x"), num_hidden=2, ctx=mx.cpu()),
    lambda: mx.sym.add_n(mx.sym.Variable("x"), mx.sym.Variable("y"), foo=1),
    lambda: mx.sym.batch_dot(mx.sym.Variable("x"), mx.sym.Variable("y"), foo=1),
], ids=["sum", "FullyConnected", "add_n", "batch_dot"])
def test_one_with_parameters_takes_its_own(call):
    with pytest.raises(mx.MXNetError, match="ctx|foo"):
        call()


# ------------------------------------------------- hyper-parameters of one's own kind

class Variable:
    """Of a package that has its own scalars."""

    def __init__(self, value):
        self.value = value


class Decaying(mx.optimizer.SGD):
    def __init__(self, lr):
        super().__init__(learning_rate=0.5, momentum=0.5)
        self.lr = Variable(lr)

    def _get_lr(self, _):
        return self.lr.value / (1 + self.num_update)


def test_a_class_that_decides_the_rate_keeps_it_as_it_likes():
    optimizer = Decaying(0.4)
    assert optimizer.lr.value == 0.4
    weight, gradient = mx.nd.array([1.0]), mx.nd.array([1.0])
    updater = mx.optimizer.get_updater(optimizer)
    updater(0, gradient, weight)
    assert weight.asscalar() == pytest.approx(1 - 0.4 / 2)
    optimizer.lr.value = 0.6
    updater(0, gradient, weight)
    assert weight.asscalar() == pytest.approx(0.8 - 0.5 * 0.2 - 0.6 / 3)
    assert pickle.loads(pickle.dumps(optimizer)).lr.value == 0.6
    optimizer.lr = 0.25
    assert optimizer.lr == 0.25


@pytest.mark.parametrize("name", ["lr", "momentum"])
def test_what_the_library_uses_must_be_a_number(name):
    for optimizer in (mx.optimizer.SGD(), Decaying(0.4)):
        if name == "lr" and isinstance(optimizer, Decaying):
            continue
        before = getattr(optimizer, name)
        with pytest.raises(TypeError, match=name):
            setattr(optimizer, name, Variable(1))
        assert getattr(optimizer, name) == before


# ---------------------------------------------------------------------- the rest

def test_an_abstract_class_beside_an_absent_one():
    class Encoder(abc.ABC):
        pass

    class Both(Encoder, mx.gluon.HybridBlock):
        pass

    with pytest.raises(NotImplementedError, match="HybridBlock"):
        Both()
    assert not isinstance(3, mx.gluon.HybridBlock)


def test_a_scalar_prints_the_digits_it_has():
    third = mx.nd.array([1]) / 3
    assert str(third.asscalar()) == "0.33333334"
    assert "%s %.3f" % (third.asscalar(), third.asscalar()) == "0.33333334 0.333"
    assert repr(mx.nd.array([0.1], dtype="float64").asscalar()) == "0.1"
    assert json.dumps([third.asscalar()]) == "[0.3333333432674408]"
    assert str(mx.nd.array([7], dtype="int32").asscalar()) == "7"


def test_names_of_mxnets_time():
    out = subprocess.run([sys.executable, "-m", "symbind", "-c", """if True:
        import base64, fractions, io, json, threading
        print(json.loads('[1]', encoding='utf-8'), json.load(io.StringIO('{"a": 2}'), encoding='utf-8'), json.loads(b'3'))
        print(base64.encodestring(b'a'), base64.decodestring(b'YQ=='), fractions.gcd(12, 18))
        print(threading.Thread(target=print).isAlive())
        """], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["[1] {'a': 2} 3", "b'YQ==\\n' b'a' 6", "False"]


# --------------------------------------------------------------- custom states

class Moments:
    def __init__(self, weight):
        self.mean = mx.nd.zeros_like(weight)
        self.turns = 0


class Sly(Moments):
    def __reduce__(self):
        raise AssertionError("nothing of it is run")


@mx.optimizer.Optimizer.register
class Averaging(mx.optimizer.Optimizer):
    kept = Moments

    def create_state(self, index, weight):
        return self.kept(weight)

    def update(self, index, weight, grad, state):
        state.mean[:] = (state.mean * state.turns + grad) / (state.turns + 1)
        state.turns += 1
        weight[:] = weight - self.lr * state.mean


def test_states_of_a_custom_class_are_kept_in_files():
    updater = mx.optimizer.get_updater(Averaging(learning_rate=0.5))
    weight = mx.nd.array([1.0, 2.0])
    for gradient in ([2.0, 4.0], [4.0, 2.0]):
        updater(0, mx.nd.array(gradient), weight)
    again = mx.optimizer.get_updater(Averaging(learning_rate=0.5))
    again.set_states(updater.get_states())
    assert type(again.states[0]) is Moments and again.states[0].turns == 2
    assert again.states[0].mean.asnumpy().tolist() == [3, 3]
    other = weight.copy()
    updater(0, mx.nd.array([0.0, 6.0]), weight)
    again(0, mx.nd.array([0.0, 6.0]), other)
    assert weight.asnumpy().tolist() == other.asnumpy().tolist() == [-2.5, -3.5]


def test_a_class_that_makes_itself_is_no_state_for_files():
    updater = mx.optimizer.get_updater(Averaging())
    updater.optimizer.kept = Sly
    updater(0, mx.nd.ones((1,)), mx.nd.ones((1,)))
    with pytest.raises(NotImplementedError, match="Sly"):
        updater.get_states()


def test_classes_of_capitals_alone_can_be_imported():
    from symbind.gluon.rnn.rnn_layer import GRU, LSTM  # pylint: disable=import-outside-toplevel
    with pytest.raises(NotImplementedError, match="rnn_layer.LSTM"):
        LSTM(3)
    assert not isinstance(3, (GRU, LSTM))


def test_mxnet_is_not_imported_before_the_script_does():
    out = subprocess.run([sys.executable, "-m", "symbind", "-c", """if True:
        import sys
        print([name for name in sys.modules if name.startswith('mxnet')])
        import mxnet.ndarray, symbind
        print(mxnet is symbind, mxnet.ndarray is symbind.ndarray, sys.modules['mxnet.ndarray'] is symbind.ndarray)
        """], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["[]", "True True True"]
