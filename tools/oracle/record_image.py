"""mx.image on a small image: functions, augmenters under seeds, detection, and their dumps.

    $PY tools/oracle/record_image.py      # under MXNet -> tests/golden/python/image.json

tests/python/test_image.py runs `scenes` again under Symbind.
"""
import json
import os
import random

import numpy as np

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "golden",
                      "python", "image.json")
PIXELS = np.random.RandomState(0).randint(0, 256, (13, 10, 3)).astype(np.uint8)
BOXES = np.array([[0, .1, .2, .5, .6], [2, .4, .4, .9, .95]])
VALUES = np.array([55.46, 4.794, 1.148])
COLOURS = np.array([[-.5675, .7192, .4009], [-.5808, -.0045, -.814], [-.5836, -.6948, .4203]])

AUGMENTERS = {
    "ResizeAug": lambda i: i.ResizeAug(7),
    "ForceResizeAug": lambda i: i.ForceResizeAug((6, 5), 9),
    "RandomCropAug": lambda i: i.RandomCropAug((4, 5)),
    "CenterCropAug": lambda i: i.CenterCropAug((12, 9)),
    "RandomSizedCropAug": lambda i: i.RandomSizedCropAug((4, 4), (.1, .5), (.5, 2.)),
    "RandomSizedCropAug, too long": lambda i: i.RandomSizedCropAug((4, 4), .9, (8., 9.)),
    "BrightnessJitterAug": lambda i: i.BrightnessJitterAug(.3),
    "ContrastJitterAug": lambda i: i.ContrastJitterAug(.3),
    "SaturationJitterAug": lambda i: i.SaturationJitterAug(.3),
    "HueJitterAug": lambda i: i.HueJitterAug(.4),
    "ColorJitterAug": lambda i: i.ColorJitterAug(.1, .2, .3),
    "LightingAug": lambda i: i.LightingAug(.1, VALUES, COLOURS),
    "ColorNormalizeAug": lambda i: i.ColorNormalizeAug(np.array([1., 2, 3]), np.array([4., 5, 6])),
    "RandomGrayAug": lambda i: i.RandomGrayAug(.5),
    "HorizontalFlipAug": lambda i: i.HorizontalFlipAug(.5),
    "CastAug": lambda i: i.CastAug("float64"),
    "SequentialAug": lambda i: i.SequentialAug([i.CastAug(), i.HorizontalFlipAug(1.)]),
}
CREATED = {
    "all": dict(resize=11, rand_crop=True, rand_resize=True, rand_mirror=True, mean=True, std=True,
                brightness=.1, contrast=.1, saturation=.1, hue=.1, pca_noise=.1, rand_gray=.3),
    "rand_crop": dict(rand_crop=True, mean=np.array([1., 2, 3])),
    "any method": dict(inter_method=10),
}
DETECTION = dict(resize=12, rand_crop=.8, rand_pad=.8, rand_mirror=True, mean=True, brightness=.1,
                 min_object_covered=[.1, .5])


def seed(number):
    random.seed(number)
    np.random.seed(number)


def form(array):
    """Shape, type and numbers of an array."""
    if hasattr(array, "asnumpy"):
        array = array.asnumpy()
    digits = [int(x) if array.dtype == np.uint8 else float("%.8g" % x) for x in array.ravel()]
    return [list(array.shape), str(array.dtype), digits]


def scenes(mx):
    image = mx.image
    made = {}

    def pixels(dtype="uint8"):
        return mx.nd.array(PIXELS, dtype=dtype)

    for name, make in AUGMENTERS.items():
        for number in range(2):
            seed(number)
            augmenter = make(image)
            made["%s, seed %d" % (name, number)] = form(augmenter(pixels("float32")))
        made[name + ", dumps"] = augmenter.dumps()
    for name, options in CREATED.items():
        for number in range(2):
            seed(number)
            chosen, array = image.CreateAugmenter((3, 5, 4), **options), pixels()
            for augmenter in chosen:
                array = augmenter(array)
            made["CreateAugmenter, %s, seed %d" % (name, number)] = form(array)
        made["CreateAugmenter, %s, dumps" % name] = [x.dumps() for x in chosen]
    for number in range(6):
        seed(number)
        array, label = pixels(), BOXES.copy()
        for augmenter in image.CreateDetAugmenter((3, 6, 7), **DETECTION):
            array, label = augmenter(array, label)
        made["CreateDetAugmenter, seed %d" % number] = [form(array), form(label)]

    made["resize_short"] = form(image.resize_short(pixels(), 5))
    made["fixed_crop"] = form(image.fixed_crop(pixels(), 2, 3, 4, 5, (6, 6), 1))
    for name in ("random_crop", "center_crop"):
        seed(3)
        crop, place = getattr(image, name)(pixels(), (5, 20))
        made[name] = [form(crop), list(place)]
    made["scale_down"] = [list(image.scale_down((640, 480), (720, 120))),
                          list(image.scale_down((10, 100), (30, 30)))]
    made["color_normalize"] = form(image.color_normalize(pixels("float32"), 100., 50.))
    made["copyMakeBorder"] = form(image.copyMakeBorder(pixels(), 1, 2, 0, 3, 0, values=(1., 2., 3.)))
    made["interp"] = [image.image._get_interp_method(9, sizes)
                      for sizes in ((), (1, 1, 2, 2), (2, 2, 1, 1), (1, 2, 2, 1))]
    planes = pixels("float32").transpose((2, 0, 1))
    for name, zoom in (("", {}), (", in", {"zoom_in": True}), (", out", {"zoom_out": True})):
        made["imrotate" + name] = form(image.imrotate(planes, 25, **zoom))
    both = mx.nd.stack(planes, planes + 1)
    made["imrotate, two"] = form(image.imrotate(both, mx.nd.array([30, -70])))
    seed(5)
    made["random_rotate"] = form(image.random_rotate(both, (-20, 20)))
    return made


if __name__ == "__main__":
    import mxnet

    recorded = scenes(mxnet)
    with open(TARGET, "w") as file:
        file.write("{\n" + ",\n".join("%s: %s" % (json.dumps(k), json.dumps(v))
                                      for k, v in recorded.items()) + "\n}\n")
    print("%s: %d scenes" % (os.path.relpath(TARGET), len(recorded)))
