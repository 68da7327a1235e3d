"""The update policy is resumed too: accumulated batches and the EMA weights."""
import numpy as np

import symbind as mx


def train(prefix, stop_at=None, resume=None):
    """Parameters and average of two epochs, or what was reached before batch `stop_at`."""
    mx.random.seed(3)
    np.random.seed(3)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=5, name="fc1")
    net = mx.sym.Dropout(mx.sym.Activation(net, act_type="tanh", name="act"), p=0.3, name="drop")
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=3, name="fc2"), name="softmax")
    rng = np.random.RandomState(0)
    data = mx.io.NDArrayIter(rng.normal(0, 1, (42, 4)), rng.randint(0, 3, 42), 6, shuffle=True)
    mod = mx.mod.Module(net)

    def stop(param):
        if stop_at is not None and param.nbatch == stop_at:
            raise mx.callback.StopTraining("enough")

    mod.fit(data, num_epoch=2, accumulate=2, ema_decay=0.9, clip_global_norm=0.5,
            optimizer_params={"learning_rate": 0.3, "momentum": 0.9}, initializer=mx.init.Xavier(),
            batch_end_callback=stop, resume=resume,
            checkpoint=mx.callback.Checkpoint(prefix, every_n_batches=1))
    return [{name: array.asnumpy() for name, array in arrays.items()}
            for arrays in (mod.get_params()[0], mod.get_ema_params())]


def test_waiting_batches_and_the_average_are_resumed(tmp_path):
    whole = train(str(tmp_path / "whole"))
    prefix = str(tmp_path / "cut")
    before = train(prefix, stop_at=5)  # five batches are saved: two updates, and one batch waits
    after = train(prefix, resume=prefix)
    for want, have, early in zip(whole, after, before):
        assert sorted(want) == sorted(have) and len(want) == 4
        for name in want:
            np.testing.assert_array_equal(have[name], want[name], err_msg=name)
        assert any((early[name] != want[name]).any() for name in want)
