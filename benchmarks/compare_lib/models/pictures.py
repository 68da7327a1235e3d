"""Super-resolution: EDSR's baseline (Lim et al., 2017) for twice the size; trained by the squared error."""
import mxnet as mx

from . import definition, real

sym = mx.sym
SIZE, WIDTH = 96, 64


def conv(x, name, filters=WIDTH):
    return sym.Convolution(x, num_filter=filters, kernel=(3, 3), pad=(1, 1), name=name)


def pixel_shuffle(x, channels, size):
    x = sym.Reshape(x, shape=(0, channels, 2, 2, size, size))
    x = sym.transpose(x, axes=(0, 1, 4, 2, 5, 3))
    return sym.Reshape(x, shape=(0, channels, 2 * size, 2 * size))


def edsr_picture(size):
    first = x = conv(sym.Variable("data"), "head")
    for i in range(16):
        y = sym.Activation(conv(x, "block%d_conv1" % i), act_type="relu")
        x = x + conv(y, "block%d_conv2" % i) * 0.1
    x = conv(x, "body") + first
    return conv(pixel_shuffle(conv(x, "widen", 4 * WIDTH), WIDTH, size), "tail", 3)


def edsr(batch):
    return definition(edsr_picture(SIZE), {"data": real(batch, 3, SIZE, SIZE)})


def edsr_training(batch, size=48):
    loss = sym.LinearRegressionOutput(edsr_picture(size), sym.Variable("target"), name="loss")
    return definition(loss, {"data": real(batch, 3, size, size)}, {"target": real(batch, 3, 2 * size, 2 * size)},
                      rate=1e-3)


MODELS = {"edsr": edsr, "edsr_training": edsr_training}
