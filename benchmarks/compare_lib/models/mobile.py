"""MobileNet v2 (Sandler et al., 2018), with ReLU6 as a clip, as Gluon's model zoo has it."""
import mxnet as mx

from . import definition, integers, real

sym = mx.sym
# widening, filters, blocks, stride of the first
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def layer(x, name, filters, kernel=1, stride=1, groups=1, active=True):
    x = sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), stride=(stride, stride), num_group=groups,
                        pad=(kernel // 2, kernel // 2), no_bias=True, name=name)
    x = sym.BatchNorm(x, fix_gamma=False, name=name + "_bn")
    return sym.clip(x, a_min=0, a_max=6, name=name + "_relu6") if active else x


def mobilenet_v2(batch):
    x = layer(sym.Variable("data"), "first", 32, 3, 2)
    width = 32
    for s, (widening, filters, blocks, stride) in enumerate(STAGES):
        for b in range(blocks):
            name, step = "stage%d_block%d" % (s + 1, b + 1), stride if b == 0 else 1
            y = layer(x, name + "_expand", widening * width)
            y = layer(y, name + "_depthwise", widening * width, 3, step, widening * width)
            y = layer(y, name + "_project", filters, active=False)
            x = x + y if step == 1 and width == filters else y
            width = filters
    x = layer(x, "last", 1280)
    x = sym.Pooling(x, kernel=(7, 7), global_pool=True, pool_type="avg", name="pool")
    x = sym.Flatten(sym.Convolution(x, num_filter=1000, kernel=(1, 1), no_bias=True, name="scores"))
    return definition(sym.SoftmaxOutput(x, name="softmax"), {"data": real(batch, 3, 224, 224)},
                      {"softmax_label": integers(1000, batch)}, rate=2e-5)


MODELS = {"mobilenet_v2": mobilenet_v2}
