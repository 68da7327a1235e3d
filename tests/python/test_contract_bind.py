"""The behaviours S17 to S23 of docs/contract.md: binding and memory."""
import logging

import numpy as np
import pytest

import symbind as mx
from test_contract import bound, cpus, mlp

DATA, LABEL = [("data", (8, 5))], [("softmax_label", (8,))]


def batch(n=8, seed=3):
    rng = np.random.RandomState(seed)
    return mx.io.DataBatch([mx.nd.array(rng.uniform(-1, 1, (n, 5)))],
                           [mx.nd.array(rng.randint(0, 3, n))])


def numbers(params):
    return {k: v.asnumpy() for k, v in params.items()}


def assert_equal(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def with_batch_norm():
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn", fix_gamma=False)
    net = mx.sym.FullyConnected(net, name="fc", num_hidden=3)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def test_S17():
    mod = mx.mod.Module(with_batch_norm())
    mod.bind(DATA, LABEL)
    assert set(mod._arg_params) == {"bn_gamma", "bn_beta", "fc_weight", "fc_bias"}
    assert set(mod._aux_params) == {"bn_moving_mean", "bn_moving_var"}
    for array in list(mod._arg_params.values()) + list(mod._aux_params.values()):
        assert array.context == mx.cpu()
    executor = mod._exec_group.execs[0]
    assert {"data", "softmax_label"} <= set(executor.arg_dict)
    for name, array in mod._arg_params.items():
        array[:] = 7
        assert not executor.arg_dict[name].asnumpy().any(), "the executor has its own copy"


def test_S18():
    mod = mx.mod.Module(with_batch_norm(), context=cpus(2))
    mod.bind(DATA, LABEL)
    group = mod._exec_group
    arrays = [a for row in group.data_arrays + group.label_arrays for _, a in row]
    assert [a.shape for a in arrays] == [(4, 5), (4, 5), (4,), (4,)]
    arrays += [a for row in group.param_arrays + group.grad_arrays for a in row]
    assert len(arrays) == 4 + 16
    for array in arrays:
        assert not array.asnumpy().any()
    mod.init_params(mx.init.Xavier())
    weight = group.param_arrays[mod._param_names.index("fc_weight")]
    assert all(a.asnumpy().any() for a in weight)
    # What a user gives is copied.
    given = {"fc_bias": mx.nd.array([1, 2, 3])}
    mod.init_params(mx.init.Xavier(), arg_params=given, allow_missing=True, force_init=True)
    given["fc_bias"][:] = 0
    for array in group.param_arrays[mod._param_names.index("fc_bias")]:
        np.testing.assert_array_equal(array.asnumpy(), [1, 2, 3])
    np.testing.assert_array_equal(mod.get_params()[0]["fc_bias"].asnumpy(), [1, 2, 3])


def test_S19():
    group = bound(cpus(3), batch=9)._exec_group
    assert len(group.grad_arrays) == len(group.param_arrays) == 4
    for params, grads in zip(group.param_arrays, group.grad_arrays):
        assert [g.shape for g in grads] == [p.shape for p in params]
        assert [g.context for g in grads] == cpus(3)


def test_S20():
    mod = bound(cpus(2))
    mod.init_params(mx.init.Uniform(1))
    group = mod._exec_group
    held = group.grad_arrays
    shown = [[a for a in row] for row in held]
    assert not shown[0][0].asnumpy().any()
    mod.forward_backward(batch())
    for i, name in enumerate(group.param_names):
        for d in range(2):
            executors = group.execs[d].grad_dict[name].asnumpy()
            assert executors.any()
            np.testing.assert_array_equal(shown[i][d].asnumpy(), executors)
            np.testing.assert_array_equal(group.grad_arrays[i][d].asnumpy(), executors)
    # One memory, seen from both sides.
    group.grad_arrays[0][1][:] = 5
    assert (group.execs[1].grad_dict[group.param_names[0]].asnumpy() == 5).all()


def test_S21(caplog):
    mod = bound()
    group = mod._exec_group
    with caplog.at_level(logging.WARNING):
        mod.bind([("data", (2, 5))], [("softmax_label", (2,))])
    assert caplog.messages == ["Already bound, ignoring bind()"]
    assert mod._exec_group is group and mod.data_shapes == DATA
    mod.bind([("data", (2, 5))], [("softmax_label", (2,))], force_rebind=True)  # no parameters yet
    assert mod._exec_group is not group and mod.data_shapes == [("data", (2, 5))]
    mod.init_params(mx.init.Uniform(1))
    before = numbers(mod.get_params()[0])
    mod.bind(DATA, LABEL, force_rebind=True)
    assert_equal(numbers(mod.get_params()[0]), before)
    fresh = mx.mod.Module(mlp(4, 3))
    with pytest.raises(AssertionError):
        fresh.bind(DATA, LABEL, for_training=False, inputs_need_grad=True)
    assert not fresh.binded
    with pytest.warns(UserWarning, match="label_shapes don't match names specified by label_names"):
        fresh.bind(DATA, None)
    assert fresh.binded and fresh.label_shapes is None and fresh.for_training


def test_S22():
    lender, taker = bound(), mx.mod.Module(mlp(4, 3))
    with pytest.raises(AssertionError):  # not initialised
        taker.bind(DATA, LABEL, shared_module=lender)
    with pytest.raises(AssertionError):  # not bound
        taker.bind(DATA, LABEL, shared_module=mx.mod.Module(mlp(4, 3)))
    with pytest.raises(AssertionError):  # no module
        taker.bind(DATA, LABEL, shared_module="lender")
    assert not taker.binded
    lender.init_params(mx.init.Uniform(1))
    taker.bind([("data", (4, 5))], [("softmax_label", (4,))], shared_module=lender)
    assert taker.params_initialized and not taker.optimizer_initialized
    assert taker._arg_params is lender._arg_params and taker._aux_params is lender._aux_params
    lender.init_optimizer(optimizer_params={"learning_rate": 0.5})
    other = mx.mod.Module(mlp(4, 3))
    other.bind(DATA, LABEL, shared_module=lender)
    assert other.optimizer_initialized
    assert other._optimizer is lender._optimizer and other._updater is lender._updater
    # One set of weights: what one changes the other sees.
    other.forward_backward(batch())
    other.update()
    for a, b in zip(other._exec_group.param_arrays, lender._exec_group.param_arrays):
        np.testing.assert_array_equal(a[0].asnumpy(), b[0].asnumpy())


def test_S23():
    mod = mx.mod.Module(mlp(4, 3))
    mod.bind(DATA, LABEL)
    for name, array in mod._arg_params.items():
        assert array.dtype == np.float32 and not array.asnumpy().any(), name
    assert mod._arg_params["fc1_weight"].shape == (4, 5)
    mod.init_params(mx.init.Uniform(1))
    mod.init_optimizer(optimizer_params={"learning_rate": 0.5})
    mod.forward_backward(batch())
    mod.update()
    trained = numbers(mod.get_params()[0])
    mod.bind([("data", (2, 5))], None, for_training=False, force_rebind=True)
    executor = mod._exec_group.execs[0]
    assert_equal({k: executor.arg_dict[k].asnumpy() for k in trained}, trained)
    half = mx.sym.FullyConnected(mx.sym.Variable("data", dtype="float16"), num_hidden=3, name="fc")
    mod = mx.mod.Module(half, label_names=None)
    mod.bind([mx.io.DataDesc("data", (8, 5), "float16")])
    assert mod._arg_params["fc_weight"].dtype == np.float16
