"""Augmenters of images with labelled boxes, which change both.

Labels are NumPy arrays of rows (class, x_min, y_min, x_max, y_max, …), corners as shares of width
and height.
"""
import json
import logging
import random
import warnings
from math import sqrt
from numbers import Number

import numpy as np

from .. import ndarray as nd
from ._augmenters import (Augmenter, CastAug, ForceResizeAug, ResizeAug, colour_augmenters,
                          normalizers, plain)
from ._functions import copyMakeBorder, fixed_crop

__all__ = ["DetAugmenter", "DetBorrowAug", "DetRandomSelectAug", "DetHorizontalFlipAug",
           "DetRandomCropAug", "DetRandomPadAug", "CreateMultiRandCropAugmenter",
           "CreateDetAugmenter"]

_X, _Y, _CORNERS = (1, 3), (2, 4), slice(1, 5)


class DetAugmenter:
    """Changes an image and its label when called with both."""

    def __init__(self, **kwargs):
        self._kwargs = {key: plain(value) for key, value in kwargs.items()}

    def dumps(self):
        """Name and parameters as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src, label):
        raise NotImplementedError("Must override implementation.")


class DetBorrowAug(DetAugmenter):
    """An augmenter that does not change the boxes."""

    def __init__(self, augmenter):
        if not isinstance(augmenter, Augmenter):
            raise TypeError('Borrowing from invalid Augmenter')
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self):
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src, label):
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of several, drawn each time; none with probability `skip_prob`."""

    def __init__(self, aug_list, skip_prob=0):
        super().__init__(skip_prob=skip_prob)
        if not isinstance(aug_list, (list, tuple)):
            aug_list = [aug_list]
        if not all(isinstance(each, DetAugmenter) for each in aug_list):
            raise ValueError('Allow DetAugmenter in list only')
        self.aug_list = list(aug_list)
        self.skip_prob = skip_prob if aug_list else 1

    def dumps(self):
        return [type(self).__name__.lower(), [each.dumps() for each in self.aug_list]]

    def __call__(self, src, label):
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        return self.aug_list[0](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Mirrored left to right with probability p; the label is changed in place."""

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src, label):
        if random.random() < self.p:
            src = nd.flip(src, axis=1)
            self._flip_label(label)
        return src, label

    def _flip_label(self, label):
        label[:, _X] = 1.0 - label[:, _X[::-1]]


def _pair(value, what, owner):
    if isinstance(value, (tuple, list)):
        return value
    assert isinstance(value, Number), "{} is a number or a pair".format(what)
    logging.info('Using fixed %s: %s in %s', what, value, owner)
    return (value, value)


class _RandomFrame(DetAugmenter):
    """A rectangle of random area and ratio, inside the image or around it."""

    _least_area = 0.0

    def __init__(self, aspect_ratio_range, area_range, max_attempts, **kwargs):
        name = type(self).__name__
        self.aspect_ratio_range = _pair(aspect_ratio_range, 'aspect ratio', name)
        self.area_range = _pair(area_range, 'area range', name)
        super().__init__(aspect_ratio_range=self.aspect_ratio_range, area_range=self.area_range,
                         max_attempts=max_attempts, **kwargs)
        self.max_attempts = max_attempts
        low, high = self.area_range
        least, most = self.aspect_ratio_range
        self.enabled = False
        if high <= self._least_area or low > high:
            warnings.warn('Skip %s due to invalid area_range: %s' % (name, self.area_range))
        elif least > most or least <= 0:
            warnings.warn('Skip %s due to invalid aspect_ratio_range: %s'
                          % (name, self.aspect_ratio_range))
        else:
            self.enabled = True

    def _attempts(self, height, width):
        """Yields (ratio, least height, greatest height, least area, greatest area) of rectangles
        to try."""
        if not self.enabled or height <= 0 or width <= 0:
            return
        low, high = (share * height * width for share in self.area_range)
        for _ in range(self.max_attempts):
            ratio = random.uniform(*self.aspect_ratio_range)
            if ratio > 0:
                yield (ratio, int(round(sqrt(low / ratio))), int(round(sqrt(high / ratio))),
                       low, high)


class DetRandomCropAug(_RandomFrame):
    """A random crop that covers more than `min_object_covered` of every object it touches; objects
    of which no more than `min_eject_coverage` is left are dropped."""

    def __init__(self, min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33),
                 area_range=(0.05, 1.0), min_eject_coverage=0.3, max_attempts=50):
        super().__init__(aspect_ratio_range, area_range, max_attempts,
                         min_object_covered=min_object_covered,
                         min_eject_coverage=min_eject_coverage)
        self.min_object_covered = min_object_covered
        self.min_eject_coverage = min_eject_coverage

    def __call__(self, src, label):
        crop = self._random_crop_proposal(label, src.shape[0], src.shape[1])
        if crop:
            x, y, w, h, label = crop
            src = fixed_crop(src, x, y, w, h, None)
        return src, label

    def _calculate_areas(self, label):
        """The area of each (x_min, y_min, x_max, y_max)."""
        return np.maximum(0, label[:, 3] - label[:, 1]) * np.maximum(0, label[:, 2] - label[:, 0])

    def _intersect(self, label, xmin, ymin, xmax, ymax):
        out = label.copy()
        out[:, :2] = np.maximum(label[:, :2], (xmin, ymin))
        out[:, 2:4] = np.minimum(label[:, 2:4], (xmax, ymax))
        out[(out[:, 0] >= out[:, 2]) | (out[:, 1] >= out[:, 3])] = 0
        return out

    def _check_satisfy_constraints(self, label, xmin, ymin, xmax, ymax, width, height):
        """Whether the crop covers enough of what it touches. Objects of two pixels do not count."""
        if (xmax - xmin) * (ymax - ymin) < 2:
            return False
        areas = self._calculate_areas(label[:, 1:])
        counted = areas * width * height > 2
        if not counted.any():
            return False
        inside = self._intersect(label[counted, 1:], xmin / width, ymin / height, xmax / width,
                                 ymax / height)
        covered = self._calculate_areas(inside) / areas[counted]
        covered = covered[covered > 0]
        return covered.size > 0 and covered.min() > self.min_object_covered

    def _update_labels(self, label, crop_box, height, width):
        """The boxes as seen from the crop; None when none is left."""
        x, y, w, h = crop_box[0] / width, crop_box[1] / height, crop_box[2] / width, \
            crop_box[3] / height
        out = label.copy()
        out[:, _X] = (out[:, _X] - x) / w
        out[:, _Y] = (out[:, _Y] - y) / h
        out[:, _CORNERS] = np.clip(out[:, _CORNERS], 0, 1)
        with np.errstate(divide='ignore', invalid='ignore'):
            left = self._calculate_areas(out[:, 1:]) * w * h / self._calculate_areas(label[:, 1:])
        valid = (out[:, 3] > out[:, 1]) & (out[:, 4] > out[:, 2]) & (left > self.min_eject_coverage)
        return out[valid] if valid.any() else None

    def _random_crop_proposal(self, label, height, width):
        """(x, y, width, height, label) of a crop, or ()."""
        for ratio, h, max_h, min_area, max_area in self._attempts(height, width):
            if round(max_h * ratio) > width:
                max_h = int((width + 0.4999999) / ratio)
            max_h = min(max_h, height)
            h = min(h, max_h)
            if h < max_h:
                h = random.randint(h, max_h)
            w = int(round(h * ratio))
            if w * h < min_area:
                h += 1
                w = int(round(h * ratio))
            if w * h > max_area:
                h -= 1
                w = int(round(h * ratio))
            if not (min_area <= w * h <= max_area and 0 <= w <= width and 0 <= h <= height):
                continue
            y = random.randint(0, max(0, height - h))
            x = random.randint(0, max(0, width - w))
            if self._check_satisfy_constraints(label, x, y, x + w, y + h, width, height):
                new_label = self._update_labels(label, (x, y, w, h), height, width)
                if new_label is not None:
                    return (x, y, w, h, new_label)
        return ()


class DetRandomPadAug(_RandomFrame):
    """The image somewhere in a larger one of `pad_val`."""

    _least_area = 1.0

    def __init__(self, aspect_ratio_range=(0.75, 1.33), area_range=(1.0, 3.0), max_attempts=50,
                 pad_val=(128, 128, 128)):
        if not isinstance(pad_val, (list, tuple)):
            assert isinstance(pad_val, Number), "pad_val is a number or one for each channel"
            pad_val = (pad_val,) * 3
        super().__init__(aspect_ratio_range, area_range, max_attempts, pad_val=pad_val)
        self.pad_val = pad_val

    def __call__(self, src, label):
        height, width, _ = src.shape
        pad = self._random_pad_proposal(label, height, width)
        if pad:
            x, y, w, h, label = pad
            src = copyMakeBorder(src, y, h - y - height, x, w - x - width, values=self.pad_val)
        return src, label

    def _update_labels(self, label, pad_box, height, width):
        out = label.copy()
        out[:, _X] = (out[:, _X] * width + pad_box[0]) / pad_box[2]
        out[:, _Y] = (out[:, _Y] * height + pad_box[1]) / pad_box[3]
        return out

    def _random_pad_proposal(self, label, height, width):
        """(x, y, width, height, label) of the larger image, or ()."""
        for ratio, h, max_h, _, _ in self._attempts(height, width):
            if round(h * ratio) < width:
                h = int((width + 0.499999) / ratio)
            h = min(max(h, height), max_h)
            if h < max_h:
                h = random.randint(h, max_h)
            w = int(round(h * ratio))
            if h - height < 2 or w - width < 2:
                continue
            y = random.randint(0, max(0, h - height))
            x = random.randint(0, max(0, w - width))
            return (x, y, w, h, self._update_labels(label, (x, y, w, h), height, width))
        return ()


def CreateMultiRandCropAugmenter(min_object_covered=0.1, aspect_ratio_range=(0.75, 1.33),
                                 area_range=(0.05, 1.0), min_eject_coverage=0.3, max_attempts=50,
                                 skip_prob=0):
    """Several random crops to draw from: parameters may be lists, one member for each crop."""
    given = [x if isinstance(x, list) else [x] for x in (
        min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts)]
    count = max(len(x) for x in given)
    assert all(len(x) in (1, count) for x in given), \
        "lists have %d members, or one" % count
    aligned = [x * count if len(x) == 1 else x for x in given]
    return DetRandomSelectAug([DetRandomCropAug(*each) for each in zip(*aligned)],
                              skip_prob=skip_prob)


def CreateDetAugmenter(data_shape, resize=0, rand_crop=0, rand_pad=0, rand_gray=0,
                       rand_mirror=False, mean=None, std=None, brightness=0, contrast=0,
                       saturation=0, pca_noise=0, hue=0, inter_method=2, min_object_covered=0.1,
                       aspect_ratio_range=(0.75, 1.33), area_range=(0.05, 3.0),
                       min_eject_coverage=0.3, max_attempts=50, pad_val=(127, 127, 127)):
    """The list of augmenters that leads to images of `data_shape`, (channels, height, width)."""
    chosen = []
    if resize > 0:
        chosen.append(DetBorrowAug(ResizeAug(resize, inter_method)))
    if rand_crop > 0:
        chosen.append(CreateMultiRandCropAugmenter(
            min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts,
            skip_prob=1 - rand_crop))
    if rand_mirror > 0:
        chosen.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        pad = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        chosen.append(DetRandomSelectAug([pad], 1 - rand_pad))
    borrowed = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug()]
    borrowed += colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return chosen + [DetBorrowAug(each) for each in borrowed + normalizers(mean, std)]
