"""Augmenters: objects that change an image, and the list of them CreateAugmenter makes.

Each draws from Python's `random` (lighting from NumPy's), in the order MXNet's do, so that equal
seeds give equal images. Colours are changed in place: the image must be float by then.
"""
import json
import random
import warnings

import numpy as np

from .. import ndarray as nd
from . import _functions as functions

__all__ = ["Augmenter", "SequentialAug", "RandomOrderAug", "ResizeAug", "ForceResizeAug",
           "RandomCropAug", "RandomSizedCropAug", "CenterCropAug", "BrightnessJitterAug",
           "ContrastJitterAug", "SaturationJitterAug", "HueJitterAug", "ColorJitterAug",
           "LightingAug", "ColorNormalizeAug", "RandomGrayAug", "HorizontalFlipAug", "CastAug",
           "CreateAugmenter"]

_GREY = (0.299, 0.587, 0.114)
# Mean, deviation and principal colours of ImageNet's pixels.
_MEAN = (123.68, 116.28, 103.53)
_STD = (58.395, 57.12, 57.375)
_COLOUR_VALUES = (55.46, 4.794, 1.148)
_COLOURS = ((-0.5675, 0.7192, 0.4009), (-0.5808, -0.0045, -0.8140), (-0.5836, -0.6948, 0.4203))


def plain(value):
    """Arrays as lists, so that json can write them."""
    if isinstance(value, nd.NDArray):
        value = value.asnumpy()
    return value.tolist() if isinstance(value, np.ndarray) else value


class Augmenter:
    """Changes an image when called with it. `dumps` shows the keywords."""

    def __init__(self, **kwargs):
        self._kwargs = {key: plain(value) for key, value in kwargs.items()}

    def dumps(self):
        """Name and parameters as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src):
        raise NotImplementedError("Must override implementation.")


class SequentialAug(Augmenter):
    """Several augmenters in sequence."""

    def __init__(self, ts):
        super().__init__()
        self.ts = ts

    def dumps(self):
        return [type(self).__name__.lower(), [each.dumps() for each in self.ts]]

    def __call__(self, src):
        for each in self.ts:
            src = each(src)
        return src


class RandomOrderAug(SequentialAug):
    """Several augmenters, each time in a new random order."""

    def __call__(self, src):
        random.shuffle(self.ts)
        return super().__call__(src)


class ResizeAug(Augmenter):
    """The shorter edge becomes `size` long."""

    def __init__(self, size, interp=2):
        super().__init__(size=size, interp=interp)
        self.size = size
        self.interp = interp

    def __call__(self, src):
        return functions.resize_short(src, self.size, self.interp)


class ForceResizeAug(ResizeAug):
    """The image becomes `size`, (width, height)."""

    def __call__(self, src):
        sizes = (src.shape[0], src.shape[1], self.size[1], self.size[0])
        return functions.imresize(src, *self.size,
                                  interp=functions._get_interp_method(self.interp, sizes))


class RandomCropAug(ResizeAug):
    """A crop of `size`, (width, height), anywhere."""

    def __call__(self, src):
        return functions.random_crop(src, self.size, self.interp)[0]


class CenterCropAug(ResizeAug):
    """The crop of `size`, (width, height), in the middle."""

    def __call__(self, src):
        return functions.center_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """A crop of random area and ratio, resized to `size`."""

    def __init__(self, size, area, ratio, interp=2, **kwargs):
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        if 'min_area' in kwargs:
            warnings.warn('`min_area` is deprecated. Please use `area` instead.',
                          DeprecationWarning, stacklevel=2)
            area = kwargs.pop('min_area')
        assert not kwargs, "unexpected keyword arguments for `RandomSizedCropAug`."
        self.size = size
        self.area = area
        self.ratio = ratio
        self.interp = interp

    def __call__(self, src):
        return functions.random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class BrightnessJitterAug(Augmenter):
    """Brightness times a factor between 1 - brightness and 1 + brightness."""

    def __init__(self, brightness):
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src):
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Contrast around the image's mean grey, times a random factor."""

    def __init__(self, contrast):
        super().__init__(contrast=contrast)
        self.contrast = contrast
        self.coef = nd.array([[_GREY]])

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.contrast, self.contrast)
        grey = src * self.coef
        grey = (3.0 * (1.0 - alpha) / grey.size) * nd.sum(grey)
        src *= alpha
        src += grey
        return src


class SaturationJitterAug(Augmenter):
    """Distance from each pixel's own grey, times a random factor."""

    def __init__(self, saturation):
        super().__init__(saturation=saturation)
        self.saturation = saturation
        self.coef = nd.array([[_GREY]])

    def __call__(self, src):
        alpha = 1.0 + random.uniform(-self.saturation, self.saturation)
        grey = nd.sum(src * self.coef, axis=2, keepdims=True)
        grey *= 1.0 - alpha
        src *= alpha
        src += grey
        return src


class HueJitterAug(Augmenter):
    """Hue turned by up to `hue` half turns, as a linear map of colours."""

    def __init__(self, hue):
        super().__init__(hue=hue)
        self.hue = hue
        self.tyiq = np.array([_GREY, (0.596, -0.274, -0.321), (0.211, -0.523, 0.311)])
        self.ityiq = np.array([(1.0, 0.956, 0.621), (1.0, -0.272, -0.647), (1.0, -1.107, 1.705)])

    def __call__(self, src):
        angle = random.uniform(-self.hue, self.hue) * np.pi
        turn = np.array([(1.0, 0.0, 0.0), (0.0, np.cos(angle), -np.sin(angle)),
                         (0.0, np.sin(angle), np.cos(angle))])
        return nd.dot(src, nd.array(self.ityiq.dot(turn).dot(self.tyiq).T))


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation, those above 0, in random order."""

    def __init__(self, brightness, contrast, saturation):
        changes = ((BrightnessJitterAug, brightness), (ContrastJitterAug, contrast),
                   (SaturationJitterAug, saturation))
        super().__init__([change(amount) for change, amount in changes if amount > 0])


class LightingAug(Augmenter):
    """Principal colours added in random amounts of deviation `alphastd`."""

    def __init__(self, alphastd, eigval, eigvec):
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd = alphastd
        self.eigval = eigval
        self.eigvec = eigvec

    def __call__(self, src):
        amounts = np.random.normal(0, self.alphastd, size=(3,))
        src += nd.array(np.dot(self.eigvec * amounts, self.eigval))
        return src


class ColorNormalizeAug(Augmenter):
    """(src - mean) / std; either may be None."""

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (x if x is None or isinstance(x, nd.NDArray) else nd.array(x)
                               for x in (mean, std))

    def __call__(self, src):
        return functions.color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Grey with probability p."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p
        self.mat = nd.array([[0.21] * 3, [0.72] * 3, [0.07] * 3])

    def __call__(self, src):
        return nd.dot(src, self.mat) if random.random() < self.p else src


class HorizontalFlipAug(Augmenter):
    """Mirrored left to right with probability p."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.flip(src, axis=1) if random.random() < self.p else src


class CastAug(Augmenter):
    """To another type."""

    def __init__(self, typ='float32'):
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src):
        return src.astype(self.typ)


def colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray):
    """Those of the amounts that are above 0, in order."""
    chosen = []
    if brightness or contrast or saturation:
        chosen.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        chosen.append(HueJitterAug(hue))
    if pca_noise > 0:
        chosen.append(LightingAug(pca_noise, np.array(_COLOUR_VALUES), np.array(_COLOURS)))
    if rand_gray > 0:
        chosen.append(RandomGrayAug(rand_gray))
    return chosen


def normalizers(mean, std):
    """One that subtracts `mean` and divides by `std` (True: ImageNet's; None: neither), or none."""
    mean = nd.array(_MEAN) if mean is True else mean
    std = nd.array(_STD) if std is True else std
    for value in (mean, std):
        if value is not None:
            assert isinstance(value, (np.ndarray, nd.NDArray)) and value.shape[0] in (1, 3), \
                "mean and std are arrays of 1 or 3 numbers, True or None"
    return [] if mean is None and std is None else [ColorNormalizeAug(mean, std)]


def CreateAugmenter(data_shape, resize=0, rand_crop=False, rand_resize=False, rand_mirror=False,
                    mean=None, std=None, brightness=0, contrast=0, saturation=0, hue=0,
                    pca_noise=0, rand_gray=0, inter_method=2):
    """The list of augmenters that leads to images of `data_shape`, (channels, height, width)."""
    chosen = []
    if resize > 0:
        chosen.append(ResizeAug(resize, inter_method))
    size = (data_shape[2], data_shape[1])
    if rand_resize:
        assert rand_crop, "rand_resize needs rand_crop"
        chosen.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    elif rand_crop:
        chosen.append(RandomCropAug(size, inter_method))
    else:
        chosen.append(CenterCropAug(size, inter_method))
    if rand_mirror:
        chosen.append(HorizontalFlipAug(0.5))
    chosen.append(CastAug())
    chosen += colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return chosen + normalizers(mean, std)
