"""Layers and products of MXNet's contrib: attention, moved taps, rotated and grouped regions, 8 bits."""
from golden import Case, Formula as F, Values as V


def attention():
    def selfatt(name, heads, length=3, batch=2, depth=4, req="write"):
        projection = F(length, batch, heads * 3 * depth)
        scores = F(batch * heads, length, length)
        yield Case("_contrib_interleaved_matmul_selfatt_qk", name, {"heads": heads},
                   {"queries_keys_values": projection}, train=(True,), req=req)
        yield Case("_contrib_interleaved_matmul_selfatt_valatt", name, {"heads": heads},
                   {"queries_keys_values": F(length, batch, heads * 3 * depth), "attention": scores},
                   train=(True,), req=req)

    def encdec(name, heads, queries=3, keys=5, batch=2, depth=4, req="write"):
        yield Case("_contrib_interleaved_matmul_encdec_qk", name, {"heads": heads},
                   {"queries": F(queries, batch, heads * depth),
                    "keys_values": F(keys, batch, heads * 2 * depth)}, train=(True,), req=req)
        yield Case("_contrib_interleaved_matmul_encdec_valatt", name, {"heads": heads},
                   {"keys_values": F(keys, batch, heads * 2 * depth),
                    "attention": F(batch * heads, queries, keys)}, train=(True,), req=req)

    cases = []
    for heads in (1, 2, 3):
        name = "%d heads" % heads
        cases += [*selfatt(name, heads), *encdec(name, heads)]
    cases += [*selfatt("one position", 4, length=1), *encdec("one query", 4, queries=1)]
    return cases


def deformable():
    def case(name, kernel=(3, 3), size=(6, 5), channels=4, filters=4, groups=1, batch=2, stride=(1, 1),
             dilate=(1, 1), pad=(1, 1), num_group=1, no_bias=False, reach=1.0, req="write", **attrs):
        out = [(s + 2 * p - (d * (k - 1) + 1)) // t + 1
               for s, p, d, k, t in zip(size, pad, dilate, kernel, stride)]
        attrs = dict(attrs, kernel=kernel, stride=stride, dilate=dilate, pad=pad, num_filter=filters,
                     num_group=num_group, num_deformable_group=groups, no_bias=no_bias)
        inputs = {"data": F(batch, channels, *size),
                  "offset": F(batch, 2 * kernel[0] * kernel[1] * groups, *out, lo=-reach, hi=reach),
                  "weight": F(filters, channels // num_group, *kernel)}
        if not no_bias:
            inputs["bias"] = F(filters)
        return Case("_contrib_DeformableConvolution", name, attrs, inputs, train=(True,), req=req)

    return [
        case("by default"),
        case("far offsets", reach=3.0),
        case("without bias", no_bias=True),
        case("two deformable groups", groups=2, pad=(2, 2), dilate=(2, 2)),
        case("strides and groups", stride=(2, 1), num_group=2, kernel=(1, 3), pad=(0, 1)),
    ]


def regions():
    rois = [[0, 0, 0, 13, 9], [1, 2.4, 3.6, 11.2, 12], [0, -3, 5, 4, 40], [1, 7, 7, 7, 7]]

    def grouped(name, size=3, group=3, dim=2, scale=0.5, req="write", dtype="float32"):
        attrs = {"spatial_scale": scale, "output_dim": dim, "pooled_size": size, "group_size": group}
        groups = group or size
        return Case("_contrib_PSROIPooling", name, attrs,
                    {"data": F(2, dim * groups * groups, 7, 8, dtype=dtype), "rois": V(rois, dtype=dtype)},
                    train=(True,), req={"data": req, "rois": "null"})

    turned = [[0, 8, 6, 6, 4, 0], [1, 7.5, 8, 9, 3, 30], [1, 3, 3, 5, 8, 135], [0, 14, 2, 3, 3, 60],
              [0, 5, 5, 0.2, 0.1, 45]]

    def rotated(name, size=(2, 3), scale=0.5, dtype="float32", **attrs):
        return Case("_contrib_RROIAlign", name, dict(attrs, pooled_size=size, spatial_scale=scale),
                    {"data": F(2, 3, 8, 9, dtype=dtype), "rois": V(turned, dtype=dtype)}, train=(True,),
                    req="null")

    return [
        grouped("a group a bin"),
        grouped("groups by default", group=0),
        grouped("groups of bins", size=4, group=2),
        grouped("one bin", size=1, group=1, dim=3, scale=1),
        grouped("float64", dtype="float64", scale=0.25),
        rotated("by default"),
        rotated("two points", sampling_ratio=2),
        rotated("one bin", size=(1, 1), scale=1),
        rotated("float64", dtype="float64", sampling_ratio=3),
        rotated("tall", size=(4, 1)),
    ]


def eight_bits():
    # MXNet's oneDNN build computes something else than it documents: uint8 without its minimum, int8
    # down to -128, dequantize by 255.5 and 127.5. Recorded is where the two agree, but for dequantize.
    one = lambda x: V([x])

    def quantize(name, low, high, values, **attrs):
        return Case("_contrib_quantize", name, attrs,
                    {"data": V(values), "min_range": one(low), "max_range": one(high)}, train=(False,),
                    req="null")

    def dequantize(name, high, kind, values, **attrs):
        return Case("_contrib_dequantize", name, attrs,
                    {"data": V(values, dtype=kind), "min_range": one(0), "max_range": one(high)},
                    train=(False,), req="null")

    def requantize(name, **attrs):
        wide = [-2**30, -10**6 * 300, -77, 0, 5, 123456789, 2**29, 2**30]
        return Case("_contrib_requantize", name, attrs,
                    {"data": V(wide, dtype="int32"), "min_range": one(-0.5), "max_range": one(1.7)},
                    train=(False,), req="null")

    positive = [0, 0.1392, 0.5928, 0.6027, 0.8579, 1, 1.3]
    both = [-1.6, -1, -0.5, -0.0039] + positive
    return [
        quantize("by default", 0, 1, positive),
        quantize("uint8", 0, 1.7, positive, out_type="uint8"),
        quantize("int8", -0.5, 1.7, both, out_type="int8"),
        dequantize("dequantize by default", 1, "uint8", [0, 1, 77, 254, 255]),
        dequantize("dequantize int8", 1.5, "int8", [-127, -1, 0, 77, 127], out_type="float32"),
        requantize("by the data"),
        requantize("by a calibration", min_calib_range=-0.9, max_calib_range=0.4),
        requantize("by a wide calibration", min_calib_range=-3.5, max_calib_range=0.4),
        requantize("int8 by name", out_type="int8", min_calib_range=-1, max_calib_range=1),
    ]


def sync_batch_norm():
    def case(name, shape=(4, 3, 2, 2), train=(True, False), **attrs):
        channels = shape[1]
        return Case("_contrib_SyncBatchNorm", name, dict(attrs, key=name.replace(" ", "_")),
                    {"data": F(*shape), "gamma": F(channels, lo=0.5, hi=2), "beta": F(channels)},
                    aux={"moving_mean": F(channels), "moving_var": F(channels, lo=0.5, hi=2)}, train=train)

    return [
        case("by default"),
        case("with gamma", fix_gamma=False, momentum=0.7),
        case("given statistics", fix_gamma=False, use_global_stats=True),
        case("a vector a row", (5, 4), fix_gamma=False, eps=0.01),
        # MXNet leaves mean and variance unwritten when it does not train.
        case("mean and variance", train=(True,), fix_gamma=False, output_mean_var=True),
    ]


ALL = [sync_batch_norm, attention, deformable, regions, eight_bits]
