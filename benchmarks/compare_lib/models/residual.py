"""ResNet-50: v1.5 (the stride in the 3x3 convolution), with squeeze and excitation, MXNet's v2, and in float16."""
import mxnet as mx

from . import definition, integers, real

sym = mx.sym
UNITS = (3, 4, 6, 3)


def conv(x, name, filters, kernel, stride=1):
    return sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride),
                           pad=(kernel // 2, kernel // 2), no_bias=True, name=name)


def norm(x, name, fix_gamma=False):
    return sym.BatchNorm(x, eps=2e-5, momentum=0.9, fix_gamma=fix_gamma, name=name)


def relu(x, name):
    return sym.Activation(x, act_type="relu", name=name)


def squeeze_excite(x, name, filters):
    y = sym.Pooling(x, kernel=(7, 7), global_pool=True, pool_type="avg", name=name + "_squeeze")
    y = sym.FullyConnected(sym.Flatten(y), num_hidden=filters // 16, name=name + "_down")
    y = sym.FullyConnected(relu(y, name + "_relu"), num_hidden=filters, name=name + "_up")
    y = sym.Activation(y, act_type="sigmoid", name=name + "_gate")
    return sym.broadcast_mul(x, sym.Reshape(y, shape=(0, -1, 1, 1)))


def unit_v1(x, name, filters, stride, first, excite):
    y = relu(norm(conv(x, name + "_conv1", filters // 4, 1), name + "_bn1"), name + "_relu1")
    y = relu(norm(conv(y, name + "_conv2", filters // 4, 3, stride), name + "_bn2"), name + "_relu2")
    y = norm(conv(y, name + "_conv3", filters, 1), name + "_bn3")
    if excite:
        y = squeeze_excite(y, name + "_se", filters)
    if first:
        x = norm(conv(x, name + "_sc", filters, 1, stride), name + "_sc_bn")
    return relu(y + x, name + "_relu3")


def unit_v2(x, name, filters, stride, first, _excite):
    active = relu(norm(x, name + "_bn1"), name + "_relu1")
    y = conv(active, name + "_conv1", filters // 4, 1)
    y = conv(relu(norm(y, name + "_bn2"), name + "_relu2"), name + "_conv2", filters // 4, 3, stride)
    y = conv(relu(norm(y, name + "_bn3"), name + "_relu3"), name + "_conv3", filters, 1)
    return y + (conv(active, name + "_sc", filters, 1, stride) if first else x)


def resnet(batch, unit=unit_v1, excite=False, dtype="float32"):
    x = sym.Variable("data")
    if dtype != "float32":
        x = sym.Cast(x, dtype=dtype)
    if unit is unit_v2:
        x = norm(x, "bn_data", fix_gamma=True)
    x = relu(norm(conv(x, "conv0", 64, 7, 2), "bn0"), "relu0")
    x = sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max", name="pool0")
    for stage, units in enumerate(UNITS):
        for i in range(units):
            stride = 2 if i == 0 and stage > 0 else 1
            x = unit(x, "stage%d_unit%d" % (stage + 1, i + 1), 256 << stage, stride, i == 0, excite)
    if unit is unit_v2:
        x = relu(norm(x, "bn1"), "relu1")
    x = sym.Pooling(x, kernel=(7, 7), global_pool=True, pool_type="avg", name="pool1")
    x = sym.FullyConnected(sym.Flatten(x), num_hidden=1000, name="fc1")
    if dtype != "float32":
        x = sym.Cast(x, dtype="float32")
    return definition(sym.SoftmaxOutput(x, name="softmax"), {"data": real(batch, 3, 224, 224)},
                      {"softmax_label": integers(1000, batch)}, rate=2e-6)


MODELS = {
    "resnet50": resnet,
    "resnet50_v2": lambda batch: resnet(batch, unit_v2),
    "se_resnet50": lambda batch: resnet(batch, excite=True),
    "resnet50_fp16": lambda batch: resnet(batch, dtype="float16"),
}
