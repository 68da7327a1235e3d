"""Networks that are explained, and a name that tries to break out."""
import json

import symbind as mx

HOSTILE = 'x</script><script>alert(1)</script>"\'&<b>\u2028ünï'


def small_net(name="fc"):
    net = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(3, 3), num_filter=8, name="conv")
    net = mx.sym.BatchNorm(net, name="bn")
    net = mx.sym.FullyConnected(net, num_hidden=10, name=name)
    return mx.sym.SoftmaxOutput(net, name="softmax")


def bound(training=True, name="fc"):
    return small_net(name).simple_bind(mx.cpu(), data=(2, 3, 8, 8),
                                       grad_req="write" if training else "null")


def resnet50(training):
    net = mx.models.create("resnet", num_layers=50, num_classes=1000, image_shape="3,224,224")
    return net.simple_bind(mx.cpu(), data=(1, 3, 224, 224),
                           grad_req="write" if training else "null")


def lstm():
    cell = mx.rnn.SequentialRNNCell()
    for layer in range(2):
        cell.add(mx.rnn.LSTMCell(32, prefix="lstm_l%d_" % layer))
    embed = mx.sym.Embedding(mx.sym.Variable("data"), input_dim=50, output_dim=16, name="embed")
    outputs, _ = cell.unroll(20, inputs=embed, merge_outputs=True)
    net = mx.sym.FullyConnected(mx.sym.Reshape(outputs, shape=(-1, 32)), num_hidden=50, name="pred")
    label = mx.sym.Reshape(mx.sym.Variable("softmax_label"), shape=(-1,))
    return mx.sym.SoftmaxOutput(net, label, name="softmax").simple_bind(
        mx.cpu(), data=(4, 20), softmax_label=(4, 20))


def facts_of(executor):
    """What explain knows, as data."""
    return json.loads(executor.explain(format="json"))
