"""Deconvolution and its relatives: images made larger, smaller and cut."""
from golden import Case, Formula as F, Values as V


def deconvolution():
    def case(name, data, filters, kernel, group=1, bias=False, dtype="float32", req="write", **attrs):
        inputs = {"data": F(*data, dtype=dtype),
                  "weight": F(data[1], filters // group, *kernel, dtype=dtype)}
        attrs = dict(attrs, num_filter=filters, kernel=kernel)
        if bias:
            inputs["bias"] = F(filters, dtype=dtype)
            attrs["no_bias"] = False
        if group > 1:
            attrs["num_group"] = group
        return Case("Deconvolution", name, attrs, inputs, train=(True,), req=req)

    return [
        case("3x3", (2, 3, 4, 5), 4, (3, 3)),
        case("stride and pad", (2, 3, 4, 3), 2, (4, 4), stride=(2, 2), pad=(1, 1)),
        case("bias", (2, 3, 4, 5), 4, (3, 3), bias=True, pad=(1, 1)),
        case("adj", (1, 2, 3, 4), 3, (3, 3), stride=(3, 2), pad=(1, 1), adj=(2, 1)),
        case("target_shape", (1, 2, 3, 4), 3, (4, 4), stride=(2, 2), target_shape=(6, 8)),
        case("target_shape, odd", (1, 2, 3, 4), 3, (4, 4), stride=(2, 2), target_shape=(7, 9),
             pad=(5, 5)),
        case("groups", (2, 4, 3, 3), 6, (3, 3), group=2, stride=(2, 2), bias=True),
        case("depthwise", (2, 3, 3, 4), 3, (4, 4), group=3, stride=(2, 2), pad=(1, 1)),
        case("dilate", (1, 2, 4, 4), 2, (3, 3), dilate=(2, 3), pad=(1, 2)),
        case("1x1", (2, 3, 3, 4), 5, (1, 1)),
        case("1-D", (2, 3, 5), 4, (3,), stride=(2,), pad=(1,)),
        case("float64", (2, 3, 4, 3), 2, (4, 3), stride=(2, 1), pad=(1, 0), dtype="float64"),
        case("float64, bias, groups", (1, 4, 3, 3), 4, (3, 3), group=2, bias=True, dtype="float64"),
        case("accepted and ignored", (1, 2, 3, 3), 2, (2, 2), workspace=64, cudnn_tune="off",
             cudnn_off=True, layout="NCHW"),
        case("add", (2, 3, 4, 4), 2, (3, 3), bias=True, req="add"),
        case("16 channels, as blocked layouts like them", (1, 16, 4, 4), 16, (3, 3), stride=(2, 2),
             pad=(1, 1), adj=(1, 1)),
    ]


def upsampling():
    op = "UpSampling"

    def nearest(name, shapes, dtype="float32", **attrs):
        inputs = {"arg%d" % i: F(*s, dtype=dtype) for i, s in enumerate(shapes)}
        return Case(op, name, dict(attrs, sample_type="nearest", num_args=len(shapes)), inputs,
                    train=(True,))

    def bilinear(name, data, scale, dtype="float32"):
        kernel = 2 * scale - scale % 2
        return Case(op, name, {"scale": scale, "sample_type": "bilinear", "num_filter": data[1],
                               "num_args": 2},
                    {"data": F(*data, dtype=dtype),
                     "weight": F(data[1], 1, kernel, kernel, dtype=dtype)}, train=(True,))

    return [
        nearest("nearest", [(2, 3, 2, 4)], scale=2),
        nearest("nearest, 3", [(1, 2, 3, 2)], scale=3),
        nearest("scale 1", [(1, 2, 3, 2)], scale=1),
        nearest("joined", [(2, 2, 2, 3), (2, 1, 4, 6), (2, 3, 1, 3)][:2], scale=2),
        nearest("summed", [(2, 2, 2, 2), (2, 2, 4, 4)], scale=2, multi_input_mode="sum"),
        nearest("three joined", [(1, 2, 2, 2), (1, 1, 4, 4), (1, 3, 1, 1)], scale=4),
        nearest("float64", [(1, 2, 2, 3)], dtype="float64", scale=2),
        bilinear("bilinear, 2", (2, 3, 3, 4), 2),
        bilinear("bilinear, 3", (1, 2, 3, 3), 3),
        bilinear("bilinear, 4", (1, 2, 2, 3), 4),
        bilinear("bilinear, float64", (1, 2, 3, 2), 2, dtype="float64"),
    ]


def crop():
    def case(name, data, like=None, **attrs):
        inputs = {"arg0": F(*data)}
        if like:
            inputs["arg1"] = F(*like)
        return Case("Crop", name, dict(attrs, num_args=len(inputs)), inputs, train=(True,))

    return [
        case("h_w", (2, 3, 4, 5), h_w=(2, 3)),
        case("offset", (2, 3, 4, 5), h_w=(2, 3), offset=(1, 2)),
        case("in the middle", (1, 2, 5, 6), h_w=(2, 3), center_crop=True),
        case("like", (2, 3, 4, 5), (1, 2, 3, 2)),
        case("like, offset", (2, 3, 4, 5), (2, 3, 3, 2), offset=(1, 3)),
        case("like, in the middle", (2, 3, 5, 5), (2, 1, 2, 2), center_crop=True),
    ]


def resize():
    def case(op, name, attrs, *data, dtype="float32", like=None, **more):
        inputs = {"data": F(*data, dtype=dtype)}
        if like:
            inputs["like"] = F(*like, dtype=dtype)
        return Case(op, name, attrs, inputs, train=(True,), **more)

    pool = lambda *a, **k: case("_contrib_AdaptiveAvgPooling2D", *a, **k)
    size = lambda *a, **k: case("_contrib_BilinearResize2D", *a, **k)
    return [
        pool("one by default", {}, 2, 3, 4, 5),
        pool("one number", {"output_size": 2}, 2, 3, 5, 7),
        pool("two numbers", {"output_size": (3, 2)}, 1, 2, 7, 5),
        pool("larger than the input", {"output_size": (5, 4)}, 1, 2, 3, 3),
        pool("float64", {"output_size": (2, 3)}, 1, 2, 5, 4, dtype="float64"),
        size("larger", {"height": 5, "width": 7}, 2, 3, 3, 4),
        size("smaller", {"height": 2, "width": 3}, 1, 2, 5, 7),
        size("corners not aligned", {"height": 5, "width": 3, "align_corners": False}, 1, 2, 3, 6),
        size("factors", {"scale_height": 2, "scale_width": 1.5}, 1, 2, 3, 4),
        size("odd_scale", {"mode": "odd_scale", "scale_height": 2, "scale_width": 2}, 1, 2, 3, 4),
        size("to_even_up", {"mode": "to_even_up"}, 1, 2, 3, 4),
        size("to_even_down", {"mode": "to_even_down"}, 1, 2, 3, 5),
        size("to_odd_up", {"mode": "to_odd_up"}, 1, 2, 4, 6),
        size("to_odd_down", {"mode": "to_odd_down"}, 1, 2, 4, 5),
        size("like", {"mode": "like"}, 1, 2, 3, 4, like=(1, 1, 5, 6)),
        size("to one", {"height": 1, "width": 1}, 1, 2, 3, 3),
        size("the same size", {"height": 3, "width": 4, "align_corners": False}, 1, 2, 3, 4),
        size("float64", {"height": 4, "width": 5}, 1, 2, 3, 3, dtype="float64"),
    ]


def im2col():
    # Images of two axes: MXNet announces one and three as well, and fails on them.
    def case(op, name, data, dtype="float32", **attrs):
        return Case(op, name, attrs, {"data": F(*data, dtype=dtype)}, train=(True,))

    return [
        case("im2col", "3x3", (2, 3, 4, 5), kernel=(3, 3)),
        case("im2col", "stride", (1, 2, 5, 6), kernel=(2, 3), stride=(2, 1)),
        case("im2col", "stride, dilate and pad", (2, 2, 7, 6), kernel=(3, 2), stride=(2, 1),
             dilate=(2, 3), pad=(1, 2)),
        case("im2col", "float64", (1, 2, 4, 4), kernel=(2, 2), stride=(2, 2), dtype="float64"),
        case("col2im", "3x3", (2, 27, 6), output_size=(4, 5), kernel=(3, 3)),
        case("col2im", "stride", (1, 12, 8), output_size=(5, 6), kernel=(2, 3), stride=(2, 1)),
        case("col2im", "stride, dilate and pad", (2, 12, 21), output_size=(7, 6), kernel=(3, 2),
             stride=(2, 1), dilate=(2, 3), pad=(1, 2)),
        case("col2im", "float64", (1, 8, 4), output_size=(4, 4), kernel=(2, 2), stride=(2, 2),
             dtype="float64"),
    ]


def roi_pooling():
    def case(name, rois, scale, size, *data, dtype="float32"):
        return Case("ROIPooling", name, {"pooled_size": size, "spatial_scale": scale},
                    {"data": F(*data, dtype=dtype), "rois": V(rois, dtype)}, train=(True,),
                    req={"rois": "null"})

    return [
        case("whole", [[0, 0, 0, 4, 4]], 1.0, (2, 2), 1, 2, 5, 5),
        case("two images", [[1, 0, 1, 3, 4], [0, 2, 2, 5, 3], [1, 1, 1, 1, 1]], 1.0, (2, 3),
             2, 2, 6, 6),
        case("scaled", [[0, 0, 0, 9, 7], [0, 4, 4, 11, 11]], 0.5, (3, 2), 1, 2, 6, 6),
        case("beyond the edge", [[0, 4, 4, 9, 9], [0, -3, -3, 2, 2]], 1.0, (2, 2), 1, 1, 6, 6),
        case("corners crossed", [[0, 3, 3, 1, 1]], 1.0, (2, 2), 1, 2, 5, 5),
        case("overlapping", [[0, 0, 0, 3, 3], [0, 1, 1, 4, 4], [0, 0, 0, 3, 3]], 1.0, (2, 2),
             1, 2, 5, 5),
        case("no such image", [[3, 0, 0, 3, 3], [0, 0, 0, 3, 3]], 1.0, (2, 2), 1, 1, 4, 4),
        case("float64", [[0, 0, 1, 3, 4]], 0.75, (2, 2), 1, 2, 5, 5, dtype="float64"),
    ]


def spatial_transformer():
    near = lambda n, dtype="float32": {
        "loc": V([[0.87, 0.13, 0.043, -0.17, 0.79, -0.11],
                   [1.07, -0.31, 0.19, 0.12, 1.17, 0.09]][:n], dtype)}
    sampler = lambda name, data, grid, lo=-0.9, hi=0.9, dtype="float32", **attrs: Case(
        "BilinearSampler", name, attrs,
        {"data": F(*data, dtype=dtype), "grid": F(*grid, lo=lo, hi=hi, dtype=dtype)}, train=(True,))
    grid = lambda name, data, lo=-1, hi=1, **attrs: Case(
        "GridGenerator", name, attrs, {"data": F(*data, lo=lo, hi=hi)}, train=(True,))

    def transformer(name, data, target, dtype="float32", **more):
        inputs = {"data": F(*data, dtype=dtype)}
        inputs.update(near(data[0], dtype))
        return Case("SpatialTransformer", name,
                    dict(more, target_shape=target, transform_type="affine",
                         sampler_type="bilinear"), inputs, train=(True,))

    return [
        sampler("inside", (2, 3, 4, 5), (2, 2, 3, 4)),
        sampler("partly outside", (1, 2, 4, 4), (1, 2, 5, 3), lo=-1.5, hi=1.5, cudnn_off=None),
        sampler("larger", (1, 2, 3, 3), (1, 2, 6, 5), cudnn_off=True),
        sampler("float64", (1, 2, 4, 3), (1, 2, 3, 3), dtype="float64", cudnn_off=False),
        grid("affine", (2, 6), transform_type="affine", target_shape=(3, 4)),
        grid("affine, high", (1, 6), transform_type="affine", target_shape=(4, 2)),
        grid("warp", (2, 2, 3, 4), lo=-2, hi=2, transform_type="warp"),
        grid("warp, a target is ignored", (1, 2, 4, 3), lo=-2, hi=2, transform_type="warp",
             target_shape=(9, 9)),
        transformer("smaller", (2, 3, 5, 6), (3, 4)),
        transformer("larger", (1, 2, 3, 3), (5, 4)),
        transformer("cudnn_off", (1, 2, 4, 4), (4, 4), cudnn_off=True),
        transformer("float64", (1, 2, 4, 5), (3, 3), dtype="float64"),
    ]


def ctc_loss():
    def case(name, label, *data, lengths=None, label_lengths=None, **attrs):
        inputs = {"data": F(*data, lo=-2, hi=2), "label": V(label)}
        req = {"label": "null"}
        for key, given in (("data_lengths", lengths), ("label_lengths", label_lengths)):
            if given:
                inputs[key] = V(given)
                attrs["use_" + key] = True
                req[key] = "null"
        return Case("CTCLoss", name, attrs, inputs, train=(True,), req=req)

    return [
        case("plain", [[1, 2, 0], [3, 1, 2]], 5, 2, 4),
        case("repeats", [[1, 1, 0], [2, 2, 2]], 6, 2, 3),
        case("empty label", [[0, 0], [2, 0]], 4, 2, 3),
        case("does not fit", [[1, 2, 3], [2, 2, 1]], 3, 2, 4),
        case("blank last", [[0, 1, -1], [2, 0, 1]], 5, 2, 4, blank_label="last"),
        case("data lengths", [[1, 2], [3, 0]], 6, 2, 4, lengths=[4, 6]),
        case("both lengths, blank last", [[1, 2, 0], [0, 1, 1]], 6, 2, 4, lengths=[5, 6],
             label_lengths=[2, 1], blank_label="last"),
    ]


def correlation():
    def case(name, *data, dtype="float32", **attrs):
        return Case("Correlation", name, attrs,
                    {"data1": F(*data, dtype=dtype), "data2": F(*data, dtype=dtype)}, train=(True,))

    return [
        case("plain", 1, 2, 5, 6),
        case("padded", 2, 3, 4, 4, pad_size=1),
        case("patches", 1, 2, 6, 6, kernel_size=3, pad_size=2),
        case("strides", 1, 2, 7, 8, max_displacement=2, stride1=2, stride2=2, pad_size=2),
        case("distances", 1, 2, 5, 5, is_multiply=False, pad_size=1),
        case("distances, patches", 1, 2, 5, 5, is_multiply=False, kernel_size=3, pad_size=2,
             max_displacement=2, stride2=2),
        case("float64", 1, 2, 4, 5, pad_size=1, dtype="float64"),
    ]


def sparse_reg():
    def case(name, *data, **attrs):
        return Case("IdentityAttachKLSparseReg", name, attrs,
                    {"data": F(*data, lo=0.1, hi=0.9)}, {"moving_avg": F(data[1], lo=0.2, hi=0.6)},
                    train=(True, False), old=True)

    return [
        case("default", 4, 3),
        case("penalty", 3, 5, penalty=0.5),
        case("target", 4, 3, sparseness_target=0.25, penalty=0.125),
        case("momentum", 5, 2, momentum=0.5, penalty=0.25),
    ]


ALL = [deconvolution, upsampling, crop, resize, im2col, roi_pooling, spatial_transformer, ctc_loss,
       correlation, sparse_reg]
