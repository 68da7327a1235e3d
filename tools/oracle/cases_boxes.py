"""Boxes of objects: anchors, what they shall predict, and what they found."""
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
    """One row per object, -1 behind them."""
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


def proposals():
    def case(name, op="_contrib_Proposal", images=1, size=((60, 75, 1),), anchors=6, shift=0.5, **attrs):
        attrs = dict(dict(feature_stride=16, scales=(1, 2), ratios=(0.5, 1, 2), rpn_min_size=4,
                          rpn_pre_nms_top_n=40, rpn_post_nms_top_n=8), **attrs)
        return Case(op, name, attrs,
                    {"cls_prob": F(images, 2 * anchors, 4, 5, lo=0, hi=1),
                     "bbox_pred": F(images, 4 * anchors, 4, 5, lo=-shift, hi=shift),
                     "im_info": V(np.array(size, np.float32))},
                    train=(False,), req="null")

    def several(name, **attrs):
        return case(name, "_contrib_MultiProposal", 2, ((60, 75, 1), (48, 64, 1.5)), **attrs)

    return [
        case("few of many"),
        case("their scores", output_score=True),
        case("all are compared", rpn_pre_nms_top_n=-1, rpn_post_nms_top_n=30),
        case("more rows than regions", rpn_pre_nms_top_n=5, rpn_post_nms_top_n=12, output_score=True),
        case("hardly any may overlap", threshold=0.125, rpn_post_nms_top_n=20),
        case("nothing is suppressed", threshold=1),
        case("small ones lose", rpn_min_size=24, rpn_post_nms_top_n=40, threshold=0.9, output_score=True),
        case("a scaled image", size=((60, 75, 2.5),), rpn_min_size=12, output_score=True),
        case("cells beyond the image", size=((33, 31, 1),), rpn_post_nms_top_n=30, output_score=True),
        case("shifts of corners", iou_loss=True, shift=8),
        case("one anchor", anchors=1, scales=(2,), ratios=(1,), rpn_post_nms_top_n=20),
        case("another stride", feature_stride=15, ratios=(0.3, 0.7, 3)),
        several("two images"),
        several("two with scores", output_score=True, rpn_pre_nms_top_n=5, rpn_post_nms_top_n=12),
        several("two, of corners", iou_loss=True, shift=8, threshold=0.3),
    ]


ALL = [priors, targets, detections, proposals]
