"""SVRGModule: what its runs share with MXNet's is in test_feed_forward.py; here the rule itself, and
what goes wrong."""
import numpy as np
import pytest

import symbind as mx
from symbind.contrib.svrg_optimization.svrg_module import SVRGModule
from symbind.contrib.svrg_optimization.svrg_optimizer import _SVRGOptimizer

DRAW = np.random.RandomState(0)
X = DRAW.uniform(-1, 1, (24, 3)).astype(np.float32)
Y = X @ np.array([1, -2, 0.5], np.float32)


def network():
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=1, name="fc", no_bias=True)
    return mx.sym.LinearRegressionOutput(net, mx.sym.Variable("lin_label"), name="lin")


def module(update_freq=2, **options):
    return SVRGModule(network(), label_names=["lin_label"], update_freq=update_freq, **options)


def batches(batch_size=8):
    return mx.io.NDArrayIter(X, Y, batch_size, label_name="lin_label")


def test_the_rule_in_numpy():
    trained = module(update_freq=1)
    trained.fit(batches(), optimizer_params={"learning_rate": 0.1}, num_epoch=2, eval_metric="mse",
                initializer=mx.init.Zero())

    def gradient(w, rows):  # as the operator gives it, before rescale_grad
        return (X[rows] @ w - Y[rows]) @ X[rows]

    parts = [slice(0, 8), slice(8, 16), slice(16, 24)]
    w, full = np.zeros(3), np.zeros(3)
    for _ in range(2):
        kept = w.copy()
        full = (full + sum(gradient(kept, rows) for rows in parts)) / 3
        for rows in parts:
            w = w - 0.1 * (gradient(w, rows) - gradient(kept, rows) + full) / 8
    np.testing.assert_allclose(trained.get_params()[0]["fc_weight"].asnumpy()[0], w, 1e-5)
    np.testing.assert_allclose(trained._param_dict[0]["fc_weight"].asnumpy()[0], full, 1e-5)


def test_padding_counts_as_no_batch():
    trained = module(update_freq=1)
    data = batches(16)  # the second batch has 8 rows of the first again
    trained.bind(data.provide_data, data.provide_label)
    trained.init_params(mx.init.Zero())
    trained.init_optimizer(optimizer_params={"learning_rate": 0.1})
    trained.update_full_grads(data)
    rows = np.concatenate([np.arange(24), np.arange(8)])
    expected = -(Y[rows] @ X[rows]) / 1.5
    np.testing.assert_allclose(trained._param_dict[0]["fc_weight"].asnumpy()[0], expected, 1e-5)


def test_fixed_parameters_stay():
    trained = module(fixed_param_names=["fc_weight"])
    trained.fit(batches(), num_epoch=1, eval_metric="mse", initializer=mx.init.One())
    assert trained.get_params()[0]["fc_weight"].asnumpy().tolist() == [[1, 1, 1]]


def test_inference_and_reshape():
    trained = module()
    trained.fit(batches(), num_epoch=1, eval_metric="mse", initializer=mx.init.One())
    assert trained.predict(batches(4)).shape == (24, 1)
    trained.reshape([("data", (4, 3))], [("lin_label", (4,))])
    trained.forward_backward(next(batches(4)))
    trained.update()
    bound = module()
    bound.bind([("data", (2, 3))], for_training=False)
    assert not bound._mod_aux.binded


@pytest.mark.parametrize("update_freq, kind", [(None, TypeError), (0.5, TypeError), (0, ValueError),
                                               (-1, ValueError)])
def test_how_often(update_freq, kind):
    with pytest.raises(kind, match="update_freq in SVRGModule must be"):
        module(update_freq)


def test_the_optimizer_knows_its_keys():
    names = {0: "fc_weight", 1: "fc_weight_full"}
    both = _SVRGOptimizer("sgd", learning_rate=0.5, momentum=0.9, param_idx2name=names)
    weight, grad = mx.nd.ones((2,)), mx.nd.array([2, 4])
    state = both.create_state(0, weight)
    both.update(0, weight, grad, state)
    assert weight.asnumpy().tolist() == [0, -1]
    assert both.create_state("fc_weight_full", weight) is None
    both.update("fc_weight_full", weight, grad, None)
    assert weight.asnumpy().tolist() == [2, 4]
    with pytest.raises(KeyError):
        both.update(7, weight, grad, None)


def test_a_dry_run_does_not_change_it():
    trained = module()
    trained.dry_run(batches(), eval_metric="mse", num_epoch=1)
    assert not trained.binded and not trained._mod_aux.binded
