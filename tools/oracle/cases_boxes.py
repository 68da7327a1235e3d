"""Boxes of objects: anchors, their training targets, and detections."""
import numpy as np

from golden import Case, Formula as F, Values as V


def priors():
    def case(name, height, width, dtype="float32", **attrs):
        return Case("_contrib_MultiBoxPrior", name, attrs, {"data": F(2, 3, height, width, dtype=dtype)},
                    train=(True,))

    return [
        case("by default", 2, 3),
        case("sizes and ratios", 3, 2, sizes=(0.3, 0.5), ratios=(1, 2, 0.5)),
        case("cut at the edges", 2, 2, sizes=(0.9, 1.2), ratios=(1, 3), clip=True),
        case("steps and offsets", 2, 3, sizes=0.2, steps=(0.4, 0.25), offsets=(0.25, 0.75)),
    ]


def boxes(seed, count):
    draw = np.random.RandomState(seed)
    corner, extent = draw.uniform(0, 0.6, (count, 2)), draw.uniform(0.15, 0.4, (count, 2))
    return np.round(np.hstack([corner, corner + extent]), 3)


def anchors(count=12):
    return V(boxes(1, count)[None])


def labels(*images, width=5):
    """One row per object, -1 after them."""
    most = max(len(image) for image in images)
    rows = np.full((len(images), most, width), -1.0)
    for n, image in enumerate(images):
        for i, (kind, box) in enumerate(image):
            rows[n, i, :5], rows[n, i, 5:] = (kind, *box), 7
    return V(rows)


def targets():
    some = boxes(2, 4)
    two = labels([(0, some[0]), (2, some[1])], [(1, some[2])])
    own = boxes(1, 12)

    def case(name, label=two, batch=2, classes=4, **attrs):
        return Case("_contrib_MultiBoxTarget", name, attrs,
                    {"anchor": anchors(), "label": label, "cls_pred": F(batch, classes, 12, lo=-2, hi=2)},
                    train=(False,), req="null")

    return [
        case("by default"),
        case("a low threshold", overlap_threshold=0.1),
        case("no threshold", overlap_threshold=-1),
        case("mined", negative_mining_ratio=2),
        case("mined, a low threshold", negative_mining_ratio=3, negative_mining_thresh=0.3,
             overlap_threshold=0.2),
        case("variances", variances=(1, 1, 1, 1), ignore_label=-7),
        case("no objects in an image", labels([], [(1, some[2])])),
        case("objects that are anchors", labels([(3, own[4]), (0, own[7])], [(1, own[0])])),
        case("wide labels", labels([(0, some[0])], [(2, some[3]), (1, some[1])], width=7)),
    ]


def detections():
    draw = np.random.RandomState(3)
    raw = np.exp(draw.uniform(-2, 2, (2, 3, 12)))
    probabilities = V(np.round(raw / raw.sum(1, keepdims=True), 4))

    def case(name, **attrs):
        return Case("_contrib_MultiBoxDetection", name, attrs,
                    {"cls_prob": probabilities, "loc_pred": F(2, 48), "anchor": anchors()},
                    train=(False,), req="null")

    return [
        case("by default"),
        case("a threshold", threshold=0.5),
        case("no object", threshold=1),
        case("strict", nms_threshold=0.1),
        case("over all classes", nms_threshold=0.1, force_suppress=True),
        case("the likeliest", nms_topk=3, nms_threshold=0.3),
        case("all of them", nms_threshold=-1),
        case("not cut", clip=False, variances=(1, 1, 0.5, 0.5)),
    ]


def rows(seed, *batch, count=10, classes=3):
    """Rows (class, score, x1, y1, x2, y2) of boxes that overlap here and there."""
    draw = np.random.RandomState(seed)
    shape = (*batch, count)
    made = np.empty((*shape, 6))
    made[..., 0] = draw.randint(0, classes, shape)
    made[..., 1] = draw.permutation(int(np.prod(shape))).reshape(shape) / np.prod(shape)
    corner, extent = draw.uniform(0.1, 0.5, (*shape, 2)), draw.uniform(0.2, 0.4, (*shape, 2))
    made[..., 2:4], made[..., 4:] = corner, corner + extent
    return np.round(made, 3)


def suppressed():
    def case(name, values, dtype="float32", **attrs):
        return Case("_contrib_box_nms", name, attrs, {"data": V(values, dtype=dtype)}, train=(True,))

    def centred(values):
        values = values.copy()
        low, high = values[..., 2:4].copy(), values[..., 4:].copy()
        values[..., 2:4], values[..., 4:] = (low + high) / 2, high - low
        return np.round(values, 3)

    one, several = rows(5, 2), rows(6, 2, 2, count=6)
    wide = np.concatenate([one[..., 2:], one[..., :2], one[..., :1] + 7], -1)
    tied = one.copy()
    tied[..., 1] = np.round(tied[..., 1] * 4) / 4
    return [
        case("by default", one),
        case("one list", one[0]),
        case("more batches", several, overlap_thresh=0.2),
        case("classes", one, id_index=0, overlap_thresh=0.1),
        case("classes, all compared", one, id_index=0, overlap_thresh=0.1, force_suppress=True),
        case("background", one, id_index=0, background_id=1, overlap_thresh=0.3),
        case("scores", one, valid_thresh=0.4, overlap_thresh=0.3),
        case("none valid", one, valid_thresh=2),
        case("none valid in a batch", np.stack([one[0], one[1] * 0]), overlap_thresh=0.3),
        case("the best", one, topk=3, overlap_thresh=0.3),
        case("topk 0", one, topk=0, out_format="center"),
        case("equal scores", tied, overlap_thresh=0.3),
        case("other places", wide, coord_start=0, score_index=5, id_index=4, overlap_thresh=0.2),
        case("centres", centred(one), in_format="center", out_format="center", overlap_thresh=0.3),
        case("to centres", one, out_format="center", overlap_thresh=0.3),
        case("to corners", centred(one), in_format="center", overlap_thresh=0.3),
        case("float64", one, dtype="float64", overlap_thresh=0.3),
        case("inside out", np.concatenate([one[..., :2], one[..., 4:], one[..., 2:4]], -1)),
    ]


def overlaps():
    def case(name, left, right, **attrs):
        return Case("_contrib_box_iou", name, attrs, {"lhs": V(left), "rhs": V(right)}, train=(True,))

    return [
        case("corners", boxes(7, 4), boxes(8, 5)),
        case("more axes", boxes(7, 4).reshape(2, 2, 4), boxes(8, 3)),
        case("centres", boxes(7, 4), boxes(8, 5), format="center"),
        case("corners, said", boxes(7, 2), boxes(8, 3), format="corner"),
        case("apart and without area", [[0, 0, 1, 1], [2, 2, 2, 2]], [[2, 2, 3, 3], [2, 2, 2, 2]]),
        case("inside out", boxes(7, 3)[:, [2, 3, 0, 1]], boxes(8, 3)),
    ]


def decoded():
    def case(name, anchors, batch=2, **attrs):
        return Case("_contrib_box_decode", name, attrs,
                    {"data": F(batch, len(anchors), 4, lo=-2, hi=2), "anchors": V([anchors])}, train=(True,))

    return [
        case("centres", boxes(9, 5)),
        case("corners", boxes(9, 5), format="corner"),
        case("divided", boxes(9, 3), std0=0.1, std1=0.2, std2=0.3, std3=0.4, format="corner"),
        case("bounded", boxes(9, 4), clip=0.5, std2=0.7),
    ]


def aligned():
    regions = [[0, 0.5, 0.25, 5.2, 4.75], [1, 2, 1, 2.5, 1.25], [0, -2, -3, 3, 2],
               [1, 4.4, 3.1, 20, 30], [1, 6, 5, 3, 2]]
    inside = [r for r in regions if r[3] > r[1]]

    def case(name, regions=regions, channels=3, scale=1.0, size=(2, 3), dtype="float32", req="write", **attrs):
        return Case("_contrib_ROIAlign", name, dict(attrs, pooled_size=size, spatial_scale=scale),
                    {"data": F(2, channels, 6, 8, dtype=dtype), "rois": V(regions, dtype=dtype)},
                    train=(True,), req={"data": req, "rois": "null"})

    return [
        case("by default"),
        case("two points", sample_ratio=2),
        case("scaled", scale=0.5),
        case("position sensitive", channels=12, position_sensitive=True),
        case("moved by half a pixel", inside, aligned=True, sample_ratio=2),
        case("one bin", size=(1, 1)),
        case("float64", dtype="float64", sample_ratio=3),
        case("add", req="add"),
    ]


def proposals():
    def case(op, name, images=1, height=4, width=5, info=None, **attrs):
        attrs = dict({"scales": (2, 4), "ratios": (0.5, 1, 2), "feature_stride": 8, "rpn_min_size": 4,
                      "rpn_post_nms_top_n": 12, "output_score": True}, **attrs)
        kinds = len(attrs["scales"]) * len(attrs["ratios"])
        size = [[height * 8, width * 8, 1]] * images
        return Case(op, name, attrs,
                    {"cls_prob": F(images, 2 * kinds, height, width, lo=0, hi=1),
                     "bbox_pred": F(images, 4 * kinds, height, width, lo=-0.5, hi=0.5),
                     "im_info": V(info or size)}, train=(False,), req="null")

    both = [case(op, *a, **k) for op in ("_contrib_Proposal", "_contrib_MultiProposal") for a, k in [
        (("one image",), {}),
        (("the best few",), {"rpn_pre_nms_top_n": 20, "threshold": 0.3}),
        (("fewer than asked for",), {"rpn_pre_nms_top_n": 15, "threshold": 0.1, "rpn_post_nms_top_n": 9}),
        (("padding, scaled",), {"info": [[26, 33, 1.5]]}),
        (("corners",), {"iou_loss": True}),
        (("without scores",), {"output_score": False}),
        (("small regions among the results",), {"rpn_min_size": 30, "threshold": 0.9, "rpn_post_nms_top_n": 110}),
        (("ratios of no square",), {"scales": (1.5, 3), "ratios": (0.3, 1.7), "rpn_min_size": 0}),
    ]]
    return both + [case("_contrib_MultiProposal", "three images", images=3,
                        info=[[32, 40, 1], [24, 40, 1.2], [32, 17, 0.5]])]


ALL = [priors, targets, detections, suppressed, overlaps, decoded, aligned, proposals]
