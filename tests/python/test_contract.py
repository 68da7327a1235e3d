"""The behaviours S5 to S16 of docs/contract.md, as Python's users know them.

The others that belong to modules are in test_contract_bind.py and test_contract_train.py.
"""
import numpy as np
import pytest

import symbind as mx
from symbind.module.executor_group import DataParallelExecutorGroup

ARGUMENTS = ["data", "fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias", "softmax_label"]


def mlp(hidden=128, classes=10):
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), name="fc1", num_hidden=hidden)
    net = mx.sym.Activation(net, name="relu1", act_type="relu")
    net = mx.sym.FullyConnected(net, name="fc2", num_hidden=classes)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def cpus(n):
    return [mx.cpu(i) for i in range(n)]


def bound(context=None, batch=8, **kwargs):
    mod = mx.mod.Module(mlp(4, 3), context=context or mx.cpu(), **{
        k: kwargs.pop(k) for k in list(kwargs) if k in ("fixed_param_names", "work_load_list")})
    mod.bind([("data", (batch, 5))], [("softmax_label", (batch,))], **kwargs)
    return mod


def test_S5():
    out = mlp()
    assert repr(out) == "<Symbol softmax>"
    mod = mx.mod.Module(out)
    assert repr(mod) == "<mxnet.module.module.Module object at 0x%x>" % id(mod)
    assert out.list_arguments() == ARGUMENTS
    assert mod.output_names == ["softmax_output"]


def test_S6():
    data, label = np.zeros((128, 3, 224, 224), np.float32), np.zeros(128)
    train = mx.io.NDArrayIter(data, label, batch_size=128)
    assert str(train.provide_data[0]) == \
        "DataDesc[data,(128, 3, 224, 224),<class 'numpy.float32'>,NCHW]"
    assert str(train.provide_label[0]) == \
        "DataDesc[softmax_label,(128,),<class 'numpy.float32'>,NCHW]"
    net = mx.sym.Pooling(mx.sym.Variable("data"), kernel=(1, 1), global_pool=True, pool_type="avg")
    mod = mx.mod.Module(mx.sym.SoftmaxOutput(mx.sym.Flatten(net), name="softmax"))
    mod.bind(train.provide_data, train.provide_label)
    assert mod.data_shapes == [("data", (128, 3, 224, 224))]
    assert mod.label_shapes == [("softmax_label", (128,))]


def test_S7():
    mod = mx.mod.Module(mlp(16, 1000), context=cpus(4))
    assert mod._work_load_list == [1, 1, 1, 1]
    mod.bind([("data", (128, 12))], [("softmax_label", (128,))])
    mod.init_params(mx.init.Uniform(1))
    group = mod._exec_group
    assert group.workload == [1, 1, 1, 1]
    assert len(group.execs) == 4
    assert group.slices == [slice(0, 32), slice(32, 64), slice(64, 96), slice(96, 128)]
    rows = np.random.RandomState(1).uniform(-1, 1, (128, 12))
    mod.forward(mx.io.DataBatch([mx.nd.array(rows)], [mx.nd.zeros((128,))]), is_train=False)
    per_device = mod.get_outputs(merge_multi_context=False)
    assert [x.shape for x in per_device[0]] == [(32, 1000)] * 4
    assert [x.context for x in per_device[0]] == cpus(4)
    merged = mod.get_outputs()[0].asnumpy()
    assert merged.shape == (128, 1000)
    np.testing.assert_allclose(merged.sum(axis=1), 1, rtol=1e-5)
    np.testing.assert_array_equal(merged, np.concatenate([x.asnumpy() for x in per_device[0]]))
    assert mod.output_shapes == [("softmax_output", (128, 1000))]


def test_S8():
    assert mx.mod.Module(mlp())._work_load_list == [1]
    assert mx.mod.Module(mlp())._context == [mx.cpu()]
    assert mx.mod.Module(mlp(), context=cpus(3))._work_load_list == [1, 1, 1]
    assert mx.mod.Module(mlp(), context=cpus(2), work_load_list=[1, 3])._work_load_list == [1, 3]
    with pytest.raises(AssertionError):
        mx.mod.Module(mlp(), context=cpus(2), work_load_list=[1, 1, 1])
    mod = bound(cpus(2), batch=8, work_load_list=[1, 3])
    assert mod._exec_group.slices == [slice(0, 2), slice(2, 8)]


def test_S9():
    mod = mx.mod.Module(mlp())
    assert mod._param_names == ["fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"]
    mod = mx.mod.Module(mlp(), label_names=None, state_names=["fc1_bias"])
    assert mod._param_names == ["fc1_weight", "fc2_weight", "fc2_bias", "softmax_label"]
    mod = mx.mod.Module(mlp(), data_names=None, label_names=None, state_names=None,
                        fixed_param_names=None)
    assert mod._param_names == ARGUMENTS
    assert (mod._data_names, mod._label_names, mod._state_names, mod._fixed_param_names) == \
        ([], [], [], [])
    # Fixed parameters are parameters all the same.
    mod = mx.mod.Module(mlp(), fixed_param_names=["fc1_weight"])
    assert "fc1_weight" in mod._param_names


def test_S10():
    for kind in ("data_names", "state_names", "fixed_param_names"):
        with pytest.raises(ValueError, match="input with name 'nowhere' is not found in"):
            mx.mod.Module(mlp(), **{kind: ["nowhere"]})
    with pytest.warns(UserWarning, match="input with name 'nowhere' is not found in"):
        mod = mx.mod.Module(mlp(), label_names=["nowhere"])
    assert mod.label_names == ["nowhere"]


def test_S11():
    mod = mx.mod.Module(mlp())
    for name in ("_arg_params", "_aux_params", "_optimizer", "_kvstore", "_update_on_kvstore",
                 "_updater", "_preload_opt_states", "_grad_req", "_exec_group", "_data_shapes",
                 "_label_shapes"):
        assert getattr(mod, name) is None, name
    assert mod._params_dirty is False
    assert not (mod.binded or mod.for_training or mod.inputs_need_grad or mod.params_initialized
                or mod.optimizer_initialized)


def reqs(**kwargs):
    return bound(**kwargs)._exec_group.grad_req


def test_S12():
    params = ARGUMENTS[1:5]
    assert reqs(grad_req="add") == {"data": "null", "softmax_label": "null",
                                    **dict.fromkeys(params, "add")}
    assert reqs(grad_req="write", inputs_need_grad=True)["data"] == "write"
    listed = ["null", "write", "add", "null", "write", "null"]
    assert reqs(grad_req=listed) == dict(zip(ARGUMENTS, listed))
    assert reqs(grad_req=tuple(listed)) == dict(zip(ARGUMENTS, listed))
    with pytest.raises(AssertionError):
        reqs(grad_req=listed[1:])
    assert reqs(grad_req={"fc1_weight": "add", "data": "write"}) == {
        "data": "write", "fc1_weight": "add", "fc1_bias": "write", "fc2_weight": "write",
        "fc2_bias": "write", "softmax_label": "null"}
    with pytest.raises(ValueError, match="grad_req must be one of str, list, tuple, or dict."):
        bound(grad_req=3)
    assert set(reqs(grad_req="write", for_training=False).values()) == {"null"}
    assert set(reqs(grad_req=listed, for_training=False).values()) == {"null"}


def test_S13():
    mod = bound(fixed_param_names=["fc1_weight", "fc2_bias"])
    assert {n for n in ARGUMENTS[1:5] if mod._exec_group.grad_req[n] == "null"} == \
        {"fc1_weight", "fc2_bias"}
    grads = dict(zip(mod._param_names, mod._exec_group.grad_arrays))
    assert grads["fc1_weight"] == [None] and grads["fc2_bias"] == [None]
    assert grads["fc1_bias"][0].shape == (4,)
    mod.init_params(mx.init.One())
    mod.init_optimizer(optimizer_params={"learning_rate": 1.0})
    before = {k: v.asnumpy() for k, v in mod.get_params()[0].items()}
    rows = np.random.RandomState(2).rand(8, 5)
    mod.forward_backward(mx.io.DataBatch([mx.nd.array(rows)], [mx.nd.zeros((8,))]))
    mod.update()
    after = {k: v.asnumpy() for k, v in mod.get_params()[0].items()}
    for name in ("fc1_weight", "fc2_bias"):
        np.testing.assert_array_equal(before[name], after[name])
    assert (before["fc2_weight"] != after["fc2_weight"]).any()


def test_S14():
    mod = bound(cpus(2))
    own = mod._exec_group.shared_data_arrays
    assert [type(x) for x in own] == [dict, dict]
    mod.init_params()
    other = mx.mod.Module(mlp(4, 3), context=cpus(2))
    other.bind([("data", (4, 5))], [("softmax_label", (4,))], shared_module=mod)
    assert other._exec_group.shared_data_arrays is own


def test_S15():
    mod = bound(cpus(2))
    group = mod._exec_group
    with pytest.raises(AssertionError):
        group.bind_exec([("data", (4, 5))], [("softmax_label", (4,))])
    group.reshape([mx.io.DataDesc("data", (16, 5))], [mx.io.DataDesc("softmax_label", (16,))])
    assert group.batch_size == 16
    assert group.slices == [slice(0, 8), slice(8, 16)]
    assert [e.outputs[0].shape for e in group.execs] == [(8, 3)] * 2
    assert [e.outputs[0].shape for e in group._default_execs] == [(4, 3)] * 2
    with pytest.raises(AssertionError, match="all data must have the same batch size"):
        mx.mod.Module(mlp(4, 3)).bind([("data", (8, 5))], [("softmax_label", (6,))])


def test_S16():
    net = mx.sym.BatchNorm(mx.sym.Variable("data"), name="bn")
    net = mx.sym.FullyConnected(net, name="fc", num_hidden=3)
    net = mx.sym.SoftmaxOutput(net, name="softmax")
    net._set_attr(__layout__="NC")
    group = DataParallelExecutorGroup(
        net, cpus(2), [1, 1], [mx.io.DataDesc("data", (8, 5))],
        [mx.io.DataDesc("softmax_label", (8,))],
        ["bn_gamma", "bn_beta", "fc_weight", "fc_bias"], True, True)
    rows = [slice(0, 4), slice(4, 8)]
    for d, (at, array) in enumerate(group.data_arrays[0]):
        assert at == rows[d] and array.shape == (4, 5)
    for d, (at, array) in enumerate(group.label_arrays[0]):
        assert at == rows[d] and array.shape == (4,)
    shapes = [(5,), (5,), (3, 5), (3,)]
    assert [[a.shape for a in p] for p in group.param_arrays] == [[s, s] for s in shapes]
    assert [[a.shape for a in p] for p in group.grad_arrays] == [[s, s] for s in shapes]
    assert [[a.context for a in p] for p in group.param_arrays] == [cpus(2)] * 4
    assert [[a.shape for a in p] for p in group.aux_arrays] == [[(5,), (5,)]] * 2
    assert [[a.shape for a in p] for p in group.input_grad_arrays] == [[(4, 5), (4, 5)]]
    assert group.state_arrays == []
    assert (group.data_layouts, group.label_layouts, group.output_layouts) == ([0], [0], [0])
    plain = bound(for_training=False)._exec_group
    assert plain.grad_arrays is None and plain.input_grad_arrays is None
    assert bound()._exec_group.input_grad_arrays is None
