"""Functions on one image, an NDArray (height, width, channels): decode, resize, crop, rotate."""
import random
import warnings
from numbers import Number

import numpy as np

from .. import error
from .. import ndarray as nd
from ..ndarray import _internal
from . import _codec

__all__ = ["imread", "imdecode", "imresize", "copyMakeBorder", "scale_down", "resize_short",
           "fixed_crop", "random_crop", "center_crop", "color_normalize", "random_size_crop",
           "imrotate", "random_rotate"]

_NEAREST, _LINEAR, _CUBIC, _AREA, _LANCZOS, _AUTO, _RANDOM = 0, 1, 2, 3, 4, 9, 10


def imdecode(buf, flag=1, to_rgb=True, out=None):
    """The image in the bytes of a file; grey with flag 0, BGR unless to_rgb."""
    if isinstance(buf, nd.NDArray):
        buf = buf.asnumpy().astype(np.uint8)
    if not isinstance(buf, (bytes, bytearray, memoryview, np.ndarray)):
        raise error.ValueError("buf must be of type bytes, bytearray or numpy.ndarray, "
                               "if you would like to input type str, please convert to bytes")
    pixels = _codec.decode(buf, colour=flag != 0)
    if flag != 0 and not to_rgb:
        pixels = pixels[..., ::-1]
    decoded = nd.array(np.ascontiguousarray(pixels), dtype=np.uint8)
    if out is None:
        return decoded
    out[:] = decoded
    return out


def imread(filename, flag=1, to_rgb=True, out=None):
    """The image in a file."""
    try:
        with open(filename, "rb") as file:
            data = file.read()
    except OSError as failure:
        raise error.OSError("imread cannot open {}: {}".format(filename, failure.strerror)) \
            from None
    try:
        return imdecode(data, flag, to_rgb, out)
    except error.MXNetError as failure:
        raise type(failure)("{}: {}".format(filename, failure)) from None


def imresize(src, w, h, interp=_LINEAR, out=None):
    """The image as w x h pixels. interp: 0 nearest, 1 bilinear, 2 bicubic, 3 area, 4 Lanczos."""
    return _internal._cvimresize(src, w=w, h=h, interp=interp, out=out)


def copyMakeBorder(src, top, bot, left, right, type=0, value=0.0, values=(), out=None):
    """The image with a border. type: 0 constant (`values`, one per channel), 1 the edge,
    2 mirrored with the edge, 3 wrapped around, 4 mirrored."""
    return _internal._cvcopyMakeBorder(src, top=top, bot=bot, left=left, right=right, type=type,
                                       value=value, values=tuple(values), out=out)


def scale_down(src_size, size):
    """A crop's (width, height), made smaller with its ratio kept until it fits into src_size."""
    w, h = size
    sw, sh = src_size
    if sh < h:
        w, h = float(w * sh) / h, sh
    if sw < w:
        w, h = sw, float(h * sw) / w
    return int(w), int(h)


def _get_interp_method(interp, sizes=()):
    """A method 0 to 4. 9 chooses by `sizes`, (old height, old width, new height, new width):
    bicubic to enlarge, area to shrink, else bilinear; 10 draws one."""
    if interp == _AUTO:
        if not sizes:
            return _CUBIC
        old_h, old_w, new_h, new_w = sizes
        if new_h > old_h and new_w > old_w:
            return _CUBIC
        return _AREA if new_h < old_h and new_w < old_w else _LINEAR
    if interp == _RANDOM:
        return random.randint(0, 4)
    if interp not in (_NEAREST, _LINEAR, _CUBIC, _AREA, _LANCZOS):
        raise error.ValueError('Unknown interp method %d' % interp)
    return interp


def resize_short(src, size, interp=_CUBIC):
    """The image with its shorter edge `size` pixels long."""
    h, w, _ = src.shape
    new_h, new_w = (size * h // w, size) if h > w else (size, size * w // h)
    return imresize(src, new_w, new_h, interp=_get_interp_method(interp, (h, w, new_h, new_w)))


def fixed_crop(src, x0, y0, w, h, size=None, interp=_CUBIC):
    """The w x h pixels at (x0, y0), resized to `size`, (width, height), if given."""
    out = src[y0:y0 + h, x0:x0 + w]
    if size is not None and (w, h) != size:
        out = imresize(out, *size, interp=_get_interp_method(interp, (h, w, size[1], size[0])))
    return out


def random_crop(src, size, interp=_CUBIC):
    """(a crop anywhere, (x0, y0, width, height)); smaller images are enlarged to `size`."""
    h, w, _ = src.shape
    new_w, new_h = scale_down((w, h), size)
    x0 = random.randint(0, w - new_w)
    y0 = random.randint(0, h - new_h)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def center_crop(src, size, interp=_CUBIC):
    """(the crop in the middle, (x0, y0, width, height)); smaller images are enlarged to `size`."""
    h, w, _ = src.shape
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = int((w - new_w) / 2), int((h - new_h) / 2)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def random_size_crop(src, size, area, ratio, interp=_CUBIC, **kwargs):
    """(a crop of random area and ratio resized to `size`, its place). `area`: the share of the
    image, (least, most) or the least; after ten that do not fit, the middle."""
    if 'min_area' in kwargs:
        warnings.warn('`min_area` is deprecated. Please use `area` instead.', DeprecationWarning,
                      stacklevel=2)
        area = kwargs.pop('min_area')
    assert not kwargs, "unexpected keyword arguments for `random_size_crop`."
    least, most = (area, 1.0) if isinstance(area, Number) else area
    h, w, _ = src.shape
    for _ in range(10):
        target = random.uniform(least, most) * (h * w)
        new_ratio = np.exp(random.uniform(np.log(ratio[0]), np.log(ratio[1])))
        new_w = int(round(np.sqrt(target * new_ratio)))
        new_h = int(round(np.sqrt(target / new_ratio)))
        if new_w <= w and new_h <= h:
            x0 = random.randint(0, w - new_w)
            y0 = random.randint(0, h - new_h)
            return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)
    return center_crop(src, size, interp)


def color_normalize(src, mean, std=None):
    """src - mean, divided by std, in place."""
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src


def _zoom(angles, h, w, zoom_out):
    """The factor by which each rotated image fits into its frame (zoom_out) or fills it."""
    diagonal, corner = np.hypot(h, w), np.arctan(h / w)
    turned = [corner + np.abs(angles), corner - np.abs(angles)]
    reach_x = np.max([np.abs(diagonal * np.cos(angle)) for angle in turned], axis=0)
    reach_y = np.max([np.abs(diagonal * np.sin(angle)) for angle in turned], axis=0)
    if zoom_out:
        return np.maximum(reach_x / w, reach_y / h)
    return np.minimum(w / reach_x, h / reach_y)


def imrotate(src, rotation_degrees, zoom_in=False, zoom_out=False):
    """Rotates float32 images, (channels, height, width) by a number or a batch of them by one each.
    zoom_in leaves no empty corners, zoom_out shows all of the image."""
    if zoom_in and zoom_out:
        raise error.ValueError("`zoom_in` and `zoom_out` cannot be both True")
    if src.dtype is not np.float32:
        raise error.TypeError("Only `float32` images are supported by this function")
    if src.ndim not in (3, 4):
        raise error.ValueError("Only 3D and 4D are supported by this function")
    single = src.ndim == 3
    if single and not isinstance(rotation_degrees, Number):
        raise error.TypeError("When a single image is passed the rotation angle is required to be "
                              "a scalar.")
    images = src.expand_dims(axis=0) if single else src
    count, _, h, w = images.shape
    degrees = rotation_degrees.asnumpy() if isinstance(rotation_degrees, nd.NDArray) \
        else rotation_degrees
    degrees = np.full(count, degrees) if np.ndim(degrees) == 0 else np.asarray(degrees)
    if len(degrees) != count:
        raise error.ValueError("The number of images must be equal to the number of rotation "
                               "angles")
    angles = (np.pi * degrees / 180).astype(np.float32)[:, None, None]
    y, x = np.mgrid[0:h, 0:w].astype(np.float32)
    y, x = y - (h - 1) / 2, x - (w - 1) / 2
    grid = np.stack([(x * np.cos(angles) - y * np.sin(angles)) / ((w - 1) / 2),
                     (x * np.sin(angles) + y * np.cos(angles)) / ((h - 1) / 2)], axis=1)
    if zoom_in or zoom_out:
        grid = grid * _zoom(angles, h, w, zoom_out)[:, None]
    rotated = nd.BilinearSampler(images, nd.array(grid, ctx=src.context))
    return rotated[0] if single else rotated


def random_rotate(src, angle_limits, zoom_in=False, zoom_out=False):
    """Rotates by angles drawn between the two limits."""
    count = None if src.ndim == 3 else src.shape[0]
    return imrotate(src, np.random.uniform(*angle_limits, size=count), zoom_in, zoom_out)

