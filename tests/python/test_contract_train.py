"""The behaviours S35 to S42 of docs/contract.md: training steps."""
import logging
import os
import re
import warnings

import numpy as np
import pytest

import symbind as mx
from test_contract import bound, cpus, mlp
from test_contract_bind import DATA, LABEL, assert_equal, batch, numbers


def ready(context=None, **optimizer):
    mod = bound(context)
    mod.init_params(mx.init.Uniform(1))
    mod.init_optimizer(**{"optimizer_params": {"learning_rate": 0.5}, **optimizer})
    return mod


def test_S35():
    with pytest.raises(AssertionError, match="call bind before initializing the parameters"):
        mx.mod.Module(mlp(4, 3)).init_params()
    mod = bound(cpus(2))
    with pytest.raises(RuntimeError, match="fc1_bias is not presented"):
        mod.init_params(arg_params={"fc1_weight": mx.nd.ones((4, 5)),
                                    "fc2_weight": mx.nd.ones((3, 4)),
                                    "fc2_bias": mx.nd.ones((3,))})
    assert not mod.params_initialized
    mod.init_params(mx.init.Uniform(1))
    assert mod.params_initialized and mod._params_dirty is False
    for name, array in mod._arg_params.items():  # pushed to every device
        for executor in mod._exec_group.execs:
            np.testing.assert_array_equal(executor.arg_dict[name].asnumpy(), array.asnumpy())
    before = numbers(mod.get_params()[0])
    with pytest.warns(UserWarning, match=re.escape(
            "Parameters already initialized and force_init=False. init_params call ignored.")):
        mod.init_params(mx.init.One())
    assert_equal(numbers(mod.get_params()[0]), before)
    # The cached arrays themselves may be given back; the initializer fills what is missing.
    args = mod.get_params()[0]
    mod.init_params(arg_params=args, force_init=True)
    assert_equal(numbers(mod.get_params()[0]), before)
    mod.init_params(mx.init.One(), arg_params={"fc1_bias": mx.nd.ones((4,)) * 3},
                    allow_missing=True, force_init=True)
    assert (args["fc1_bias"].asnumpy() == 3).all() and (args["fc1_weight"].asnumpy() == 1).all()


def test_S36():
    mod = bound()
    given = {k: mx.nd.ones(v.shape) * 2 for k, v in mod._arg_params.items()}
    mod.set_params(given, {})
    assert mod.params_initialized and mod._params_dirty is False
    assert (mod._arg_params["fc1_bias"].asnumpy() == 2).all()
    mod.set_params({"fc1_bias": mx.nd.ones((4,)) * 9}, {}, allow_missing=True)
    assert mod._params_dirty is True
    assert (mod._arg_params["fc1_bias"].asnumpy() == 2).all(), "the host's copy waits"
    assert (mod._exec_group.execs[0].arg_dict["fc1_bias"].asnumpy() == 9).all()
    assert (mod.get_params()[0]["fc1_bias"].asnumpy() == 9).all()
    assert mod._params_dirty is False
    with pytest.raises(RuntimeError, match="is not presented"):
        mod.set_params({"fc1_bias": mx.nd.ones((4,))}, {})
    with pytest.raises(ValueError, match="nowhere"):
        mod.set_params({"nowhere": mx.nd.ones((4,))}, {}, allow_missing=True)
    mod.set_params({"nowhere": mx.nd.ones((4,))}, {}, allow_missing=True, allow_extra=True)
    mod.set_params({**given, "nowhere": mx.nd.ones((4,))}, {})  # as MXNet, init_params ignores it


def test_S37(caplog):
    mod = ready()
    assert mod._optimizer.rescale_grad == 1.0 / 8
    assert mod._kvstore is None and mod._update_on_kvstore is False
    assert mod._optimizer.idx2name == dict(enumerate(mod._param_names))
    with caplog.at_level(logging.WARNING):
        mod.init_optimizer(optimizer="adam")
    assert caplog.messages == ["optimizer already initialized, ignoring..."]
    assert type(mod._optimizer) is mx.optimizer.SGD
    # Several devices: on the store by name, beside it by index and device.
    on_store = ready(cpus(2), kvstore="local")
    assert on_store._update_on_kvstore is True and on_store._updater is None
    assert on_store._optimizer.idx2name == dict(enumerate(mod._param_names))
    os.environ["MXNET_UPDATE_ON_KVSTORE"] = "0"
    try:
        beside = ready(cpus(2), kvstore="device")
    finally:
        del os.environ["MXNET_UPDATE_ON_KVSTORE"]
    assert beside._update_on_kvstore is False and beside._kvstore.type == "device"
    assert beside._optimizer.idx2name == {
        2 * i + k: name for i, name in enumerate(mod._param_names) for k in range(2)}
    # A scale the user gave is kept.
    mod = ready(optimizer_params={"learning_rate": 0.1, "rescale_grad": 3.0})
    assert mod._optimizer.rescale_grad == 3.0
    made = mx.optimizer.SGD(learning_rate=0.1)
    with pytest.warns(UserWarning, match=re.escape(
            "Optimizer created manually outside Module but rescale_grad is not normalized to "
            "1.0/batch_size/num_workers (1.0 vs. 0.125). Is this intended?")):
        mod = ready(optimizer=made)
    assert mod._optimizer is made and made.rescale_grad == 1.0
    assert made.idx2name == dict(enumerate(mod._param_names)), "filled as it was empty"
    fitting = mx.optimizer.SGD(learning_rate=0.1, rescale_grad=1.0 / 8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ready(optimizer=fitting)
    # Dirty parameters are fetched first.
    mod = bound()
    mod.init_params(mx.init.Uniform(1))
    mod.set_params({"fc1_bias": mx.nd.ones((4,)) * 9}, {}, allow_missing=True)
    mod.init_optimizer()
    assert mod._params_dirty is False and (mod._arg_params["fc1_bias"].asnumpy() == 9).all()


class DistSync(mx.kv.KVStoreBase):
    """Three workers, as far as Module can tell."""
    type = property(lambda self: "dist_sync")
    num_workers = property(lambda self: 3)
    rank = property(lambda self: 0)
    is_capable = staticmethod(lambda capability: False)

    def init(self, key, value):
        pass


def test_S37_workers():
    mod = ready(kvstore=DistSync())
    assert mod._optimizer.rescale_grad == 1.0 / (8 * 3)


@pytest.mark.parametrize("kvstore", ["local", "device", None])
def test_S38(kvstore):
    contexts = mx.cpu() if kvstore is None else cpus(2)
    mod = ready(contexts, kvstore=kvstore)
    before = numbers(mod.get_params()[0])
    mod.forward_backward(batch())
    grads = {name: sum(g.asnumpy().astype(np.float64) for g in row)
             for name, row in zip(mod._param_names, mod._exec_group.grad_arrays)}
    assert mod._params_dirty is False
    mod.update()
    assert mod._params_dirty is True
    after = numbers(mod.get_params()[0])
    assert mod._params_dirty is False
    for name in before:  # plain SGD: w - lr * sum / batch
        np.testing.assert_allclose(after[name], before[name] - 0.5 * grads[name] / 8,
                                   rtol=1e-5, atol=1e-6)
        on_devices = mod._exec_group.param_arrays[mod._param_names.index(name)]
        np.testing.assert_allclose(
            after[name], np.mean([a.asnumpy() for a in on_devices], axis=0), rtol=1e-6)
    # The mean, where devices differ.
    if kvstore is not None:
        first, second = mod._exec_group.param_arrays[1]
        first[:], second[:] = 1, 4
        mod._params_dirty = True
        assert (mod.get_params()[0]["fc1_bias"].asnumpy() == 2.5).all()


def test_S39():
    mod = ready()
    rows = mx.nd.array(np.random.RandomState(5).uniform(-1, 1, (14, 5)))
    mod.forward(mx.io.DataBatch([rows[:8]]), is_train=False)  # no labels: accepted
    eight = mod.get_outputs()[0].asnumpy()
    mod.forward(mx.io.DataBatch([rows], None), is_train=False)  # reshaped; MXNet wants labels then
    assert mod.data_shapes == [("data", (14, 5))]
    np.testing.assert_allclose(mod.get_outputs()[0].asnumpy()[:8], eight, rtol=1e-6)
    mod.forward(mx.io.DataBatch([rows[:3]], [mx.nd.zeros((3,))],
                                provide_data=[mx.io.DataDesc("data", (3, 5))],
                                provide_label=[mx.io.DataDesc("softmax_label", (3,))]))
    assert mod.label_shapes == [("softmax_label", (3,))]
    np.testing.assert_allclose(mod.get_outputs()[0].asnumpy(), eight[:3], rtol=1e-6)
    mod.backward()
    mod.update()
    assert mod._optimizer.rescale_grad == 1.0 / 8, "a reshape leaves it alone"


def test_S40():
    mod = bound(cpus(2), inputs_need_grad=True)
    mod.init_params(mx.init.Uniform(1))
    mod.forward_backward(batch())
    nested, merged = mod.get_outputs(False), mod.get_outputs(True)
    assert [len(x) for x in nested] == [2] and len(merged) == 1
    np.testing.assert_array_equal(np.concatenate([x.asnumpy() for x in nested[0]]),
                                  merged[0].asnumpy())
    nested, merged = mod.get_input_grads(False), mod.get_input_grads()
    assert [x.shape for x in nested[0]] == [(4, 5)] * 2 and merged[0].shape == (8, 5)
    np.testing.assert_array_equal(np.concatenate([x.asnumpy() for x in nested[0]]),
                                  merged[0].asnumpy())
    with pytest.raises(AssertionError):
        ready().get_input_grads()


def test_S40_states():
    state = mx.sym.Variable("state")
    out = mx.sym.Variable("data") + state
    mod = mx.mod.Module(mx.sym.Group([out, out * 2]), label_names=None, state_names=["state"],
                        context=cpus(2))
    mod.bind([("data", (4, 3))], for_training=False)
    mod.init_params()
    assert mod._param_names == []
    with pytest.raises(AssertionError):
        mod.get_states(merge_multi_context=True)
    states = mod.get_states(merge_multi_context=False)
    assert [[a.shape for a in row] for row in states] == [[(2, 3), (2, 3)]]
    assert not states[0][0].asnumpy().any()
    mod.set_states(value=3)
    mod.forward(mx.io.DataBatch([mx.nd.ones((4, 3))]))
    assert (mod.get_outputs()[0].asnumpy() == 4).all()
    mod.set_states(states=mod.get_outputs(merge_multi_context=False)[1:])
    mod.forward(mx.io.DataBatch([mx.nd.ones((4, 3))]))
    assert (mod.get_outputs()[0].asnumpy() == 9).all()
    with pytest.raises(AssertionError):
        mod.set_states(states=mod.get_outputs(False)[:1], value=1)
    with pytest.raises(AssertionError):
        mod.set_states()


def test_S41(tmp_path, caplog):
    prefix = str(tmp_path / "net")
    mod = ready(optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
    for seed in range(3):
        mod.forward_backward(batch(seed=seed))
        mod.update()
    with caplog.at_level(logging.INFO):
        mod.save_checkpoint(prefix, 7, save_optimizer_states=True)
    assert caplog.messages == [f'Saved checkpoint to "{prefix}-0007.params"',
                               f'Saved optimizer state to "{prefix}-0007.states"']
    assert sorted(os.listdir(tmp_path)) == ["net-0007.params", "net-0007.states",
                                            "net-symbol.json"]
    again = mx.mod.Module.load(prefix, 7, load_optimizer_states=True)
    assert again.params_initialized and not again.binded and not again.optimizer_initialized
    assert again._preload_opt_states == prefix + "-0007.states"
    again.bind(DATA, LABEL)
    again.init_optimizer(optimizer_params={"learning_rate": 0.5, "momentum": 0.9})
    assert again._preload_opt_states is None
    assert_equal(numbers(again.get_params()[0]), numbers(mod.get_params()[0]))
    for one in (mod, again):  # the momentum continues
        one.forward_backward(batch(seed=9))
        one.update()
    assert_equal(numbers(again.get_params()[0]), numbers(mod.get_params()[0]))
    mod.save_checkpoint(prefix, 8)
    assert not os.path.exists(prefix + "-0008.states")


def test_S42():
    mod = ready(cpus(4), kvstore="local")
    mod.forward_backward(batch())
    own = [[g.asnumpy() for g in row] for row in mod._exec_group.grad_arrays]
    # Each device has the gradient of its rows: that of one device over the whole batch is the sum.
    single = bound()
    single.init_params(arg_params=mod.get_params()[0], aux_params={})
    single.forward_backward(batch())
    for row, whole in zip(own, single._exec_group.grad_arrays):
        assert len(row) == 4 and (row[0] != row[1]).any()
        np.testing.assert_allclose(sum(row), whole[0].asnumpy(), rtol=1e-4, atol=1e-6)
    before = numbers(mod.get_params()[0])
    mod.update()
    for i, row in enumerate(mod._exec_group.grad_arrays):  # the store leaves them where they are
        for d, grad in enumerate(row):
            np.testing.assert_array_equal(grad.asnumpy(), own[i][d])
    after = numbers(mod.get_params()[0])
    for i, name in enumerate(mod._param_names):
        np.testing.assert_allclose(after[name], before[name] - 0.5 / 8 * sum(own[i]),
                                   rtol=1e-5, atol=1e-6)


def test_S42_chain():
    """forward and backward of a module reach every executor once."""
    mod = ready(cpus(2))
    group, calls = mod._exec_group, []
    forward, backward = group.forward, group.backward
    group.forward = lambda *a, **k: (calls.append("forward"), forward(*a, **k))
    group.backward = lambda *a, **k: (calls.append("backward"), backward(*a, **k))
    mod.forward_backward(batch())
    assert calls == ["forward", "backward"]
    assert all(e.outputs[0].asnumpy().any() for e in group.execs)
