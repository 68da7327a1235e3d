"""Operators on images: resampling as OpenCV does it, borders, tensors, colours."""
from golden import Case, Formula as F

METHODS = ("nearest", "bilinear", "bicubic", "area", "lanczos")


def image(*shape, dtype="uint8"):
    return F(*shape, lo=0, hi=256, dtype=dtype)


def resize():
    def case(name, shape, w, h, interp, dtype="uint8"):
        return Case("_cvimresize", name, {"w": w, "h": h, "interp": interp},
                    {"src": image(*shape, dtype=dtype)}, train=(False,), req="null",
                    keyword="data")

    cases = []
    for interp, method in enumerate(METHODS):
        cases += [
            case(method + ", larger", (5, 6, 3), 11, 8, interp),
            case(method + ", smaller", (9, 12, 3), 5, 4, interp),
            case(method + ", a half", (8, 10, 3), 5, 4, interp),
            case(method + ", a half, 2 channels", (8, 10, 2), 5, 4, interp),
            case(method + ", a third", (9, 12, 1), 4, 3, interp),
            case(method + ", wider and lower", (9, 5, 3), 12, 4, interp),
            case(method + ", to one pixel", (7, 5, 3), 1, 1, interp),
            case(method + ", from one pixel", (1, 1, 3), 4, 3, interp),
            case(method + ", float32", (6, 7, 3), 9, 10, interp, "float32"),
            case(method + ", float32, smaller", (9, 12, 2), 5, 4, interp, "float32"),
            case(method + ", float64", (6, 7, 1), 4, 9, interp, "float64"),
        ]

    def resized(name, shape, **attrs):
        return Case("_image_resize", name, attrs, {"data": image(*shape)}, train=(False,),
                    req="null")

    return cases + [
        resized("width and height", (7, 5, 3), size=(9, 4)),
        resized("one number", (7, 5, 3), size=6),
        resized("the shorter edge", (7, 5, 3), size=6, keep_ratio=True),
        resized("the shorter edge of a wide one", (5, 8, 1), size=6, keep_ratio=True),
        resized("bicubic", (7, 5, 3), size=(4, 9), interp=2),
        resized("a batch", (2, 5, 6, 3), size=(3, 4)),
    ]


def border():
    def case(name, margins, dtype="uint8", **attrs):
        names = ("top", "bot", "left", "right")
        return Case("_cvcopyMakeBorder", name, dict(zip(names, margins), **attrs),
                    {"src": image(4, 5, 3, dtype=dtype)}, train=(False,), req="null",
                    keyword="data")

    return [
        case("none", (0, 0, 0, 0)),
        case("constant, one value", (1, 2, 0, 3), value=7),
        case("constant, a value each", (1, 0, 2, 1), values=(1, 2, 300)),
        case("replicate", (2, 1, 3, 0), type=1),
        case("reflect", (2, 1, 3, 4), type=2),
        case("wrap", (2, 3, 4, 1), type=3),
        case("reflect 101", (3, 1, 2, 4), type=4),
        case("isolated", (1, 1, 1, 1), type=16, values=(9, 8, 7)),
        case("float32", (1, 1, 1, 1), "float32", value=0.5),
    ]


def tensors():
    def case(op, name, data, req="null", **attrs):
        train = (True,) if req == "write" else (False,)
        return Case("_image_" + op, name, attrs, {"data": data}, train=train, req=req)

    chw = F(3, 4, 5, lo=0, hi=1)
    return [
        case("to_tensor", "one image", image(4, 5, 3)),
        case("to_tensor", "a batch", image(2, 3, 4, 1)),
        case("to_tensor", "float32", image(3, 4, 3, dtype="float32")),
        case("to_tensor", "a grey image", image(5, 2, 1)),
        case("normalize", "one number", chw, "write", mean=0.5, std=0.25),
        case("normalize", "one of each channel", chw, "write", mean=(0.1, 0.2, 0.3),
             std=(0.5, 0.25, 3)),
        case("normalize", "a batch of grey", F(2, 1, 3, 4), "write", mean=0.5, std=2),
        case("normalize", "the same deviation", chw, "write", mean=(0.5, 0, -1), std=0.5),
        case("crop", "one image", F(6, 7, 3), "write", x=2, y=1, width=4, height=3),
        case("crop", "a batch", F(2, 5, 4, 1), "write", x=0, y=2, width=4, height=3),
        case("crop", "bytes", image(5, 4, 3), x=1, y=1, width=2, height=2),
        case("crop", "a corner", F(5, 4, 1), "write", x=3, y=4, width=1, height=1),
    ] + [
        case("flip_" + way, name, image(*shape, dtype=dtype))
        for way in ("left_right", "top_bottom")
        # MXNet leaves out the middle of an odd number.
        for name, shape, dtype in (("square", (4, 4, 3), "uint8"), ("grey", (6, 2, 1), "uint8"),
                                   ("wide", (2, 8, 3), "uint8"),
                                   ("float32", (4, 6, 3), "float32"))
    ] + [
        case("adjust_lighting", "bytes", image(4, 5, 3), alpha=(0.1, -0.5, 0.3)),
        case("adjust_lighting", "float32", image(4, 5, 3, dtype="float32"), alpha=(-1, 0.25, 2)),
        case("adjust_lighting", "nothing", image(3, 4, 3), alpha=(0, 0, 0)),
        case("adjust_lighting", "float32, one of them", image(3, 4, 3, dtype="float32"),
             alpha=(0, 1.5, 0)),
    ]


def colours():
    # Both ends of the amount are the same, so that nothing is left to chance.
    return [Case("_image_random_" + op, "%g, %s, %d channels" % (amount, dtype, channels),
                 {"min_factor": amount, "max_factor": amount},
                 {"data": image(4, 6, channels, dtype=dtype)}, train=(False,), req="null")
            for op in ("brightness", "contrast", "saturation", "hue")
            for amount in (0.5, 1.25) for dtype in ("uint8", "float32")
            # MXNet does not write a grey image whose hue it turns
            for channels in ((3,) if op == "hue" else (3, 1))]


ALL = [resize, border, tensors, colours]
