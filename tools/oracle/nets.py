"""The networks of the golden recordings, as MXNet symbols."""
from golden import mx

sym = mx.sym


def lenet():
    x = sym.Variable("data")
    for i, filters in ((1, 20), (2, 50)):
        x = sym.Convolution(x, num_filter=filters, kernel=(5, 5), name="conv%d" % i)
        x = sym.Activation(x, act_type="tanh", name="tanh%d" % i)
        x = sym.Pooling(x, pool_type="max", kernel=(2, 2), stride=(2, 2), name="pool%d" % i)
    x = sym.Flatten(x, name="flatten")
    x = sym.FullyConnected(x, num_hidden=500, name="fc1")
    x = sym.Activation(x, act_type="tanh", name="tanh3")
    x = sym.FullyConnected(x, num_hidden=10, name="fc2")
    return sym.SoftmaxOutput(x, name="softmax")
