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


def resnet20():
    """ResNet v2 of 20 layers for small images, with what golden nets should cover besides: one
    convolution weight used by two layers, and fix_gamma in some BatchNorms only."""
    shared = sym.Variable("shared_weight")

    def norm(x, name, fixed=False):
        x = sym.BatchNorm(x, fix_gamma=fixed, eps=2e-5, momentum=0.9, name=name)
        return x

    def relu(x, name):
        return sym.Activation(x, act_type="relu", name=name)

    def conv(x, filters, name, kernel=3, stride=1, weight=None):
        more = {} if weight is None else {"weight": weight}
        return sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel), no_bias=True,
                               stride=(stride, stride), pad=(kernel // 2, kernel // 2), name=name,
                               **more)

    x = norm(sym.Variable("data"), "bn_data", fixed=True)
    x = conv(x, 8, "conv0")
    for stage, filters in enumerate((8, 16, 32), 1):
        for unit in (1, 2, 3):
            name = "stage%d_unit%d_" % (stage, unit)
            first = stage > 1 and unit == 1
            act = relu(norm(x, name + "bn1"), name + "relu1")
            y = conv(act, filters, name + "conv1", stride=2 if first else 1,
                     weight=shared if stage == 2 and unit > 1 else None)
            y = relu(norm(y, name + "bn2", fixed=stage == 2), name + "relu2")
            y = conv(y, filters, name + "conv2")
            x = y + (conv(act, filters, name + "sc", kernel=1, stride=2) if first else x)
    x = relu(norm(x, "bn1"), "relu1")
    x = sym.Pooling(x, global_pool=True, kernel=(4, 4), pool_type="avg", name="pool1")
    x = sym.FullyConnected(sym.Flatten(x, name="flatten"), num_hidden=10, name="fc1")
    return sym.SoftmaxOutput(x, name="softmax")


def resnet50(classes=1000):
    """ResNet-50 v2 under the names users know from MXNet's examples (behaviours S1 to S4)."""

    def norm(x, name, fixed=False):
        return sym.BatchNorm(x, fix_gamma=fixed, eps=2e-5, momentum=0.9, name=name)

    def relu(x, name):
        return sym.Activation(x, act_type="relu", name=name)

    def conv(x, filters, kernel, stride, name):
        return sym.Convolution(x, num_filter=filters, kernel=(kernel, kernel),
                               stride=(stride, stride), pad=(kernel // 2, kernel // 2),
                               no_bias=True, workspace=256, name=name)

    x = norm(sym.identity(sym.Variable("data"), name="id"), "bn_data", fixed=True)
    x = relu(norm(conv(x, 64, 7, 2, "conv0"), "bn0"), "relu0")
    x = sym.Pooling(x, kernel=(3, 3), stride=(2, 2), pad=(1, 1), pool_type="max", name="pool0")
    for stage, (units, filters) in enumerate(((3, 256), (4, 512), (6, 1024), (3, 2048)), 1):
        for unit in range(1, units + 1):
            name = "stage%d_unit%d_" % (stage, unit)
            stride = 2 if stage > 1 and unit == 1 else 1
            act = relu(norm(x, name + "bn1"), name + "relu1")
            y = conv(act, filters // 4, 1, 1, name + "conv1")
            y = relu(norm(y, name + "bn2"), name + "relu2")
            y = conv(y, filters // 4, 3, stride, name + "conv2")
            y = relu(norm(y, name + "bn3"), name + "relu3")
            y = conv(y, filters, 1, 1, name + "conv3")
            x = y + (conv(act, filters, 1, stride, name + "sc") if unit == 1 else x)
    x = relu(norm(x, "bn1"), "relu1")
    x = sym.Pooling(x, global_pool=True, kernel=(7, 7), pool_type="avg", name="pool1")
    x = sym.FullyConnected(sym.Flatten(x), num_hidden=classes, name="fc1")
    return sym.SoftmaxOutput(x, name="softmax")


def check_resnet50(symbol):
    """S1 to S4: the lists a user of MXNet's examples expects."""
    args, aux = symbol.list_arguments(), symbol.list_auxiliary_states()
    params = [a for a in args if a not in ("data", "softmax_label")]
    unit = "stage1_unit1_"
    assert (len(params), len(args), len(aux), len(symbol.list_outputs())) == (157, 159, 102, 1)
    assert params[:5] == ["bn_data_gamma", "bn_data_beta", "conv0_weight", "bn0_gamma", "bn0_beta"]
    assert params[5:12] == [unit + n for n in ("bn1_gamma", "bn1_beta", "conv1_weight", "bn2_gamma",
                                               "bn2_beta", "conv2_weight", "bn3_gamma")]
    assert params[151:] == ["stage4_unit3_bn3_beta", "stage4_unit3_conv3_weight", "bn1_gamma",
                            "bn1_beta", "fc1_weight", "fc1_bias"]
    assert params[params.index(unit + "conv3_weight") + 1] == unit + "sc_weight"
    assert aux[:4] == ["bn_data_moving_mean", "bn_data_moving_var", "bn0_moving_mean",
                       "bn0_moving_var"]
    assert aux[98:] == ["stage4_unit3_bn3_moving_mean", "stage4_unit3_bn3_moving_var",
                        "bn1_moving_mean", "bn1_moving_var"]
