"""Small networks, where an engine's overhead counts: the MLP, LeNet and a chain of additions."""
import mxnet as mx

from . import definition, integers, real

sym = mx.sym


def mlp(batch):
    x = sym.Variable("data")
    for i, hidden in enumerate((128, 64), 1):
        x = sym.FullyConnected(x, num_hidden=hidden, name="fc%d" % i)
        x = sym.Activation(x, act_type="relu", name="relu%d" % i)
    x = sym.FullyConnected(x, num_hidden=10, name="fc3")
    return definition(sym.SoftmaxOutput(x, name="softmax"), {"data": real(batch, 784)},
                      {"softmax_label": integers(10, batch)}, rate=0.05)


def lenet(batch):
    x = sym.Variable("data")
    for i, filters in enumerate((20, 50), 1):
        x = sym.Convolution(x, kernel=(5, 5), num_filter=filters, name="conv%d" % i)
        x = sym.Activation(x, act_type="tanh", name="tanh%d" % i)
        x = sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool%d" % i)
    x = sym.FullyConnected(sym.Flatten(x), num_hidden=500, name="fc1")
    x = sym.Activation(x, act_type="tanh", name="tanh3")
    x = sym.FullyConnected(x, num_hidden=10, name="fc2")
    return definition(sym.SoftmaxOutput(x, name="softmax"), {"data": real(batch, 1, 28, 28)},
                      {"softmax_label": integers(10, batch)}, rate=0.01)


def add_chain(batch, length=1000):
    x, y = sym.Variable("x"), sym.Variable("y")
    for _ in range(length):
        x = x + y
    return definition(x, {"x": real(batch), "y": real(batch)})


MODELS = {"mlp": mlp, "lenet": lenet, "add_chain": add_chain}
