"""Face recognition and detection as InsightFace has them: ArcFace's ResNet-50, MobileFaceNet, MTCNN's three networks."""
import mxnet as mx

from . import definition, integers, pixels, real
from .sizes import pyramid

sym = mx.sym


def norm(x, name, fix_gamma=False):
    return sym.BatchNorm(x, eps=2e-5, momentum=0.9, fix_gamma=fix_gamma, name=name)


def prelu(x, name):
    return sym.LeakyReLU(x, act_type="prelu", name=name)


def conv(x, name, filters, kernel=3, stride=1, pad=None, groups=1):
    pad = kernel // 2 if pad is None else pad
    return sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
                           num_group=groups, no_bias=True, name=name)


def scaled_input():
    return (sym.Variable("data") - 127.5) * 0.0078125


def improved_unit(x, name, filters, stride, first):
    """The IR unit: BatchNorm, convolution, BatchNorm, PReLU, convolution, BatchNorm."""
    y = conv(norm(x, name + "_bn1"), name + "_conv1", filters)
    y = prelu(norm(y, name + "_bn2"), name + "_relu1")
    y = norm(conv(y, name + "_conv2", filters, stride=stride), name + "_bn3")
    if first:
        x = norm(conv(x, name + "_conv1sc", filters, 1, stride), name + "_sc")
    return y + x


def arcface_body():
    x = prelu(norm(conv(scaled_input(), "conv0", 64), "bn0"), "relu0")
    for stage, (units, filters) in enumerate(((3, 64), (4, 128), (14, 256), (3, 512)), 1):
        for i in range(1, units + 1):
            x = improved_unit(x, "stage%d_unit%d" % (stage, i), filters, 2 if i == 1 else 1, i == 1)
    x = sym.FullyConnected(norm(x, "bn1"), num_hidden=512, name="pre_fc1")
    return norm(x, "fc1", fix_gamma=True)


def arcface_r50(batch):
    return definition(arcface_body(), {"data": pixels(batch, 3, 112, 112)})


def arcface_training(batch):
    """The same with a plain softmax over 1,000 identities; dropout is left out, since random numbers differ."""
    x = sym.FullyConnected(arcface_body(), num_hidden=1000, no_bias=True, name="fc7")
    return definition(sym.SoftmaxOutput(x, name="softmax"), {"data": pixels(batch, 3, 112, 112)},
                      {"softmax_label": integers(1000, batch)}, rate=5e-6)


def layer(x, name, filters, kernel=1, stride=1, pad=0, groups=1, active=True):
    x = norm(conv(x, name + "_conv2d", filters, kernel, stride, pad, groups), name + "_batchnorm")
    return prelu(x, name + "_relu") if active else x


def bottleneck(x, name, filters, stride, groups):
    x = layer(x, name + "_conv_sep", groups)
    x = layer(x, name + "_conv_dw", groups, 3, stride, 1, groups)
    return layer(x, name + "_conv_proj", filters, active=False)


def mobilefacenet(batch):
    x = layer(scaled_input(), "conv_1", 64, 3, 2, 1)
    x = layer(x, "conv_2_dw", 64, 3, 1, 1, 64)
    for name, filters, groups, units, inner in (("23", 64, 128, 4, 128), ("34", 128, 256, 6, 256),
                                                ("45", 128, 512, 2, 256)):
        x = bottleneck(x, "dconv_" + name, filters, 2, groups)
        for i in range(units):
            x = x + bottleneck(x, "res_%s_block%d" % (name, i), filters, 1, inner)
    x = layer(x, "conv_6sep", 512)
    x = layer(x, "conv_6dw7_7", 512, 7, groups=512, active=False)
    x = sym.FullyConnected(x, num_hidden=128, name="pre_fc1")
    return definition(norm(x, "fc1", fix_gamma=True), {"data": pixels(batch, 3, 112, 112)})


def mtcnn_layer(x, i, filters, kernel, pool=None):
    x = sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), name="conv%s" % i)
    x = prelu(x, "prelu%s" % i)
    if pool:
        x = sym.Pooling(x, kernel=(pool, pool), stride=(2, 2), pool_type="max", pooling_convention="full",
                        name="pool%s" % i)
    return x


def mtcnn_pnet(batch, height=288, width=384):
    with mx.name.Prefix("pnet_"):
        x = mtcnn_layer(sym.Variable("data"), 1, 10, 3, 2)
        x = mtcnn_layer(mtcnn_layer(x, 2, 16, 3), 3, 32, 3)
        face = sym.Convolution(x, num_filter=2, kernel=(1, 1), name="conv4_1")
        boxes = sym.Convolution(x, num_filter=4, kernel=(1, 1), name="conv4_2")
        return definition(sym.Group([sym.SoftmaxActivation(face, mode="channel"), boxes]),
                          {"data": real(batch, 3, height, width)})


def mtcnn_heads(x, hidden, *others):
    x = prelu(sym.FullyConnected(x, num_hidden=hidden, name="fc"), "prelu_fc")
    face = sym.SoftmaxActivation(sym.FullyConnected(x, num_hidden=2, name="face"))
    return sym.Group([face] + [sym.FullyConnected(x, num_hidden=n, name="out%d" % n) for n in others])


def mtcnn_rnet(batch):
    with mx.name.Prefix("rnet_"):
        x = mtcnn_layer(sym.Variable("data"), 1, 28, 3, 3)
        x = mtcnn_layer(mtcnn_layer(x, 2, 48, 3, 3), 3, 64, 2)
        return definition(mtcnn_heads(x, 128, 4), {"data": real(batch, 3, 24, 24)})


def mtcnn_onet(batch):
    with mx.name.Prefix("onet_"):
        x = mtcnn_layer(mtcnn_layer(sym.Variable("data"), 1, 32, 3, 3), 2, 64, 3, 3)
        x = mtcnn_layer(mtcnn_layer(x, 3, 64, 3, 2), 4, 128, 2)
        return definition(mtcnn_heads(x, 256, 4, 10), {"data": real(batch, 3, 48, 48)})


MODELS = {"arcface_r50": arcface_r50, "arcface_training": arcface_training, "mobilefacenet": mobilefacenet,
          "mtcnn_rnet": mtcnn_rnet, "mtcnn_onet": mtcnn_onet}
for _height, _width in pyramid():
    MODELS["mtcnn_pnet_%dx%d" % (_height, _width)] = (
        lambda batch, height=_height, width=_width: mtcnn_pnet(batch, height, width))
