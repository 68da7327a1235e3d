"""Inception v3 (Szegedy et al., 2015), for images of 299 x 299."""
import mxnet as mx

from . import definition, integers, real

sym = mx.sym


class Layers:
    """Convolution, BatchNorm and ReLU; layers are named in order."""

    def __init__(self):
        self.count = 0

    def conv(self, x, filters, kernel=(1, 1), stride=1, pad=(0, 0)):
        self.count += 1
        name = "conv%d" % self.count
        x = sym.Convolution(x, num_filter=filters, kernel=kernel, stride=(stride, stride), pad=pad, no_bias=True,
                            name=name)
        x = sym.BatchNorm(x, eps=0.001, momentum=0.9, fix_gamma=True, name=name + "_bn")
        return sym.Activation(x, act_type="relu", name=name + "_relu")

    def tower(self, x, *filters_and_kernels):
        """Convolutions that keep the size; a kernel is a number, or (height, width)."""
        for filters, kernel in filters_and_kernels:
            kernel = kernel if isinstance(kernel, tuple) else (kernel, kernel)
            x = self.conv(x, filters, kernel, pad=(kernel[0] // 2, kernel[1] // 2))
        return x

    def pooled(self, x, filters, kind="avg"):
        x = sym.Pooling(x, kernel=(3, 3), stride=(1, 1), pad=(1, 1), pool_type=kind)
        return self.conv(x, filters)


def halved(x):
    return sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pool_type="max")


def inception_v3(batch):
    layers = Layers()
    tower, conv = layers.tower, layers.conv
    x = conv(sym.Variable("data"), 32, (3, 3), 2)
    x = tower(conv(x, 32, (3, 3)), (64, 3))
    x = halved(x)
    x = halved(conv(conv(x, 80), 192, (3, 3)))
    for projection in (32, 64, 64):
        x = sym.Concat(conv(x, 64), tower(x, (48, 1), (64, 5)), tower(x, (64, 1), (96, 3), (96, 3)),
                       layers.pooled(x, projection))
    x = sym.Concat(conv(x, 384, (3, 3), 2), conv(tower(x, (64, 1), (96, 3)), 96, (3, 3), 2), halved(x))
    for n in (128, 160, 160, 192):
        x = sym.Concat(conv(x, 192), tower(x, (n, 1), (n, (1, 7)), (192, (7, 1))),
                       tower(x, (n, 1), (n, (7, 1)), (n, (1, 7)), (n, (7, 1)), (192, (1, 7))), layers.pooled(x, 192))
    x = sym.Concat(conv(conv(x, 192), 320, (3, 3), 2),
                   conv(tower(x, (192, 1), (192, (1, 7)), (192, (7, 1))), 192, (3, 3), 2), halved(x))
    for kind in ("avg", "max"):
        single, double = conv(x, 384), tower(x, (448, 1), (384, 3))
        x = sym.Concat(conv(x, 320), tower(single, (384, (1, 3))), tower(single, (384, (3, 1))),
                       tower(double, (384, (1, 3))), tower(double, (384, (3, 1))), layers.pooled(x, 192, kind))
    x = sym.Pooling(x, kernel=(8, 8), global_pool=True, pool_type="avg")
    x = sym.FullyConnected(sym.Flatten(x), num_hidden=1000, name="fc1")
    return definition(sym.SoftmaxOutput(x, name="softmax"), {"data": real(batch, 3, 299, 299)},
                      {"softmax_label": integers(1000, batch)})


MODELS = {"inception_v3": inception_v3}
