"""CERN's taggers: DeepAK8 (1-D convolutions over lists of particles) and ParticleNet (convolutions over neighbours)."""
import mxnet as mx

from . import definition, integers, real

sym = mx.sym
PARTICLES, PARTICLE_FEATURES, VERTICES, VERTEX_FEATURES = 100, 42, 7, 15
POINTS, POINT_FEATURES, NEIGHBOURS = 128, 16, 16


def unit_1d(x, name, filters, first):
    y = x
    for i in (1, 2):
        y = sym.BatchNorm(y, fix_gamma=False, name="%s_bn%d" % (name, i))
        y = sym.Activation(y, act_type="relu", name="%s_relu%d" % (name, i))
        y = sym.Convolution(y, num_filter=filters, kernel=(3,), pad=(1,), no_bias=True, name="%s_conv%d" % (name, i))
    if first:
        x = sym.Convolution(x, num_filter=filters, kernel=(1,), no_bias=True, name=name + "_sc")
    return x + y


def list_network(name, widths):
    x = sym.BatchNorm(sym.Variable(name), fix_gamma=True, name=name + "_bn")
    x = sym.Convolution(x, num_filter=widths[0], kernel=(3,), pad=(1,), no_bias=True, name=name + "_conv0")
    for stage, filters in enumerate(widths):
        for i in range(2):
            x = unit_1d(x, "%s_stage%d_unit%d" % (name, stage, i), filters, i == 0 and stage > 0)
    x = sym.Activation(sym.BatchNorm(x, fix_gamma=False, name=name + "_last"), act_type="relu")
    return sym.Flatten(sym.Pooling(x, kernel=(2,), global_pool=True, pool_type="avg"))


def deepak8(batch):
    x = sym.Concat(list_network("particles", (32, 64, 128)), list_network("vertices", (32, 64)))
    x = sym.Activation(sym.FullyConnected(x, num_hidden=512, name="fc1"), act_type="relu")
    x = sym.FullyConnected(x, num_hidden=17, name="fc2")
    return definition(sym.SoftmaxOutput(x, name="softmax"),
                      {"particles": real(batch, PARTICLE_FEATURES, PARTICLES),
                       "vertices": real(batch, VERTEX_FEATURES, VERTICES)},
                      {"softmax_label": integers(17, batch)}, rate=0.01)


def nearest(points):
    """(N, P, K): the nearest neighbours of points (N, C, P), without the point itself."""
    product = sym.batch_dot(points, points, transpose_a=True)
    square = sym.sum(points * points, axis=1, keepdims=True)
    distance = sym.broadcast_add(sym.broadcast_sub(sym.transpose(square, axes=(0, 2, 1)), product * 2), square)
    order = sym.topk(distance, axis=2, k=NEIGHBOURS + 1, ret_typ="indices", is_ascend=True)
    return sym.slice_axis(order, axis=2, begin=1, end=NEIGHBOURS + 1)


def edge_convolution(points, features, batch, channels, name):
    index = sym.BlockGrad(nearest(points))
    image = sym.Reshape(sym.arange(0, batch), shape=(batch, 1, 1))
    image = sym.broadcast_to(image, shape=(batch, POINTS, NEIGHBOURS))
    index = sym.stack(image, index, axis=0)                                    # (2, N, P, K)
    rows = sym.gather_nd(sym.transpose(features, axes=(0, 2, 1)), index)       # (N, P, K, C)
    others = sym.transpose(rows, axes=(0, 3, 1, 2))                            # (N, C, P, K)
    center = sym.broadcast_axis(sym.expand_dims(features, axis=3), axis=3, size=NEIGHBOURS)
    x = sym.Concat(center, others - center, dim=1)
    for i in range(3):
        x = sym.Convolution(x, num_filter=channels, kernel=(1, 1), no_bias=True, name="%s_conv%d" % (name, i))
        x = sym.Activation(sym.BatchNorm(x, fix_gamma=False, name="%s_bn%d" % (name, i)), act_type="relu")
    x = sym.mean(x, axis=3)
    shortcut = sym.Convolution(features, num_filter=channels, kernel=(1,), no_bias=True, name=name + "_sc")
    return sym.Activation(x + sym.BatchNorm(shortcut, fix_gamma=False, name=name + "_sc_bn"), act_type="relu")


def particlenet(batch):
    points = sym.Variable("points")
    x = sym.BatchNorm(sym.Variable("features"), fix_gamma=False, name="bn_features")
    for i, channels in enumerate((64, 128, 256)):
        x = edge_convolution(points if i == 0 else x, x, batch, channels, "edge%d" % i)
    x = sym.Activation(sym.FullyConnected(sym.mean(x, axis=2), num_hidden=256, name="fc1"), act_type="relu")
    x = sym.FullyConnected(x, num_hidden=5, name="fc2")
    return definition(sym.SoftmaxOutput(x, name="softmax"),
                      {"points": real(batch, 2, POINTS), "features": real(batch, POINT_FEATURES, POINTS)},
                      {"softmax_label": integers(5, batch)}, rate=0.001)


MODELS = {"deepak8": deepak8, "particlenet": particlenet}
