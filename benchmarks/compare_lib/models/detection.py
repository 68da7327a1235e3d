"""SSD-300 on a reduced VGG-16 (Liu et al., 2016), for 20 classes and the background."""
import mxnet as mx

from . import definition, real

sym = mx.sym
CLASSES = 21
SIZES = ((.1, .141), (.2, .272), (.37, .447), (.54, .619), (.71, .79), (.88, .961))
RATIOS = ((1, 2, .5),) + ((1, 2, .5, 3, 1 / 3),) * 3 + ((1, 2, .5),) * 2


def conv(x, name, filters, kernel=3, stride=1, pad=None, dilate=1):
    pad = kernel // 2 if pad is None else pad
    x = sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad),
                        dilate=(dilate, dilate), name="conv" + name)
    return sym.Activation(x, act_type="relu", name="relu" + name)


def pool(x, kernel=2, stride=2, pad=0, convention="valid"):
    return sym.Pooling(x, kernel=(kernel, kernel), stride=(stride, stride), pad=(pad, pad), pool_type="max",
                       pooling_convention=convention)


def feature_maps():
    x = sym.Variable("data")
    for block, (layers, filters) in enumerate(((2, 64), (2, 128), (3, 256), (3, 512), (3, 512)), 1):
        for i in range(1, layers + 1):
            x = conv(x, "%d_%d" % (block, i), filters)
        if block == 4:
            scale = sym.Variable("relu4_3_scale", shape=(1, 512, 1, 1))
            maps = [sym.broadcast_mul(scale, sym.L2Normalization(x, mode="channel", name="relu4_3_norm"))]
        x = pool(x, 3, 1, 1) if block == 5 else pool(x, convention="full" if block == 3 else "valid")
    x = conv(conv(x, "6", 1024, pad=6, dilate=6), "7", 1024, 1)
    maps.append(x)
    for i, (filters, stride, pad) in enumerate(((512, 2, 1), (256, 2, 1), (256, 1, 0), (256, 1, 0)), 8):
        x = conv(conv(x, "%d_1" % i, filters // 2, 1), "%d_2" % i, filters, 3, stride, pad)
        maps.append(x)
    return maps


def predictions():
    """Scores (N, classes, anchors), boxes (N, 4 * anchors), anchors."""
    scores, boxes, anchors = [], [], []
    for i, x in enumerate(feature_maps()):
        count = len(SIZES[i]) + len(RATIOS[i]) - 1
        for name, values, outputs in (("cls", CLASSES, scores), ("loc", 4, boxes)):
            y = sym.Convolution(x, num_filter=count * values, kernel=(3, 3), pad=(1, 1), name="head%d_%s" % (i, name))
            outputs.append(sym.Flatten(sym.transpose(y, axes=(0, 2, 3, 1))))
        prior = sym.contrib.MultiBoxPrior(x, sizes=SIZES[i], ratios=RATIOS[i], clip=False, name="head%d_anchors" % i)
        anchors.append(sym.Reshape(prior, shape=(0, -1)))
    scores = sym.Reshape(sym.Concat(*scores, dim=1), shape=(0, -1, CLASSES))
    scores = sym.SoftmaxActivation(sym.transpose(scores, axes=(0, 2, 1)), mode="channel", name="cls_prob")
    return scores, sym.Concat(*boxes, dim=1), sym.Reshape(sym.Concat(*anchors, dim=1), shape=(0, -1, 4))


def ssd_vgg_heads(batch):
    scores, boxes, _ = predictions()
    return definition(sym.Group([scores, boxes]), {"data": real(batch, 3, 300, 300)})


def ssd_vgg(batch):
    detected = sym.contrib.MultiBoxDetection(*predictions(), nms_threshold=0.45, nms_topk=400, force_suppress=False,
                                             threshold=0.01, name="detection")
    return definition(detected, {"data": real(batch, 3, 300, 300)})


MODELS = {"ssd_vgg_heads": ssd_vgg_heads, "ssd_vgg": ssd_vgg}
