"""From the bytes of an image file to an array.

Symbind reads netpbm files (.pgm, .ppm) itself. It decodes other formats with OpenCV's Python package,
which gives MXNet's numbers, or with Pillow, whichever is installed.
"""
import re

import numpy as np

from .. import error
from ..recordio import _codec

_FORMATS = ((b"\xff\xd8", "JPEG"), (b"\x89PNG", "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"),
            (b"RIFF", "WebP"), (b"II*\0", "TIFF"), (b"MM\0*", "TIFF"))


def _netpbm(data):
    """(height, width, channels) bytes of a binary PGM or PPM file."""
    gap = rb"(?:\s|#[^\n]*\n)+"
    head = re.match(rb"P([56])" + gap + rb"(\d{1,9})" + gap + rb"(\d{1,9})" + gap + rb"(\d{1,5})\s",
                    data)
    if head is None:
        raise error.ValueError("the image's header is damaged: it begins with {!r} as a PGM or PPM "
                               "file does, but no sizes follow".format(data[:2]))
    kind, width, height, highest = (int(group) for group in head.groups())
    channels = 3 if kind == 6 else 1
    if highest != 255:
        raise error.NotImplementedError("the image has values up to {}; files of bytes, up to 255, "
                                        "are read".format(highest))
    size = width * height * channels
    if size == 0 or len(data) - head.end() < size:
        raise error.ValueError("the image is cut off: {} bytes for {} x {} pixels of {}".format(
            len(data) - head.end(), width, height, channels))
    return np.frombuffer(data, np.uint8, size, head.end()).reshape(height, width, channels)


def _grey(rgb):
    """OpenCV's grey value, in 14-bit fixed point."""
    weighed = rgb.astype(np.int32) @ np.array([4899, 9617, 1868], np.int32)
    return ((weighed + (1 << 13)) >> 14).astype(np.uint8)[..., None]


def _by_opencv(cv2, data, colour):
    flag = (cv2.IMREAD_COLOR if colour else cv2.IMREAD_GRAYSCALE) | cv2.IMREAD_IGNORE_ORIENTATION
    decoded = cv2.imdecode(np.frombuffer(data, np.uint8), flag)
    if decoded is None:
        raise error.ValueError("Decoding failed. Invalid image file.")
    return decoded[..., ::-1] if colour else decoded[..., None]


def _by_pillow(pillow, data, colour):
    import io

    try:
        decoded = np.asarray(pillow.open(io.BytesIO(data)).convert("RGB" if colour else "L"))
    except Exception as failure:  # Pillow raises various exceptions for a damaged file
        raise error.ValueError("Decoding failed. Invalid image file: {}".format(failure)) from None
    return decoded if colour else decoded[..., None]


def decode(data, colour=True):
    """(height, width, 3) of RGB, or (height, width, 1) of grey, uint8."""
    data = bytes(data)
    if not data:
        raise error.ValueError("Input cannot be an empty buffer")
    if data[:2] in (b"P5", b"P6"):
        pixels = _netpbm(data)
        if colour:
            return np.repeat(pixels, 3, axis=2) if pixels.shape[2] == 1 else pixels
        return pixels if pixels.shape[2] == 1 else _grey(pixels)
    kind = next((name for mark, name in _FORMATS if data.startswith(mark)), None)
    if kind is None:
        raise error.ValueError("Decoding failed. Invalid image file: it begins with {!r}, which is "
                               "no known format".format(data[:8]))
    cv2, pillow = _codec(("image.imdecode", "decode a {} image (.ppm and .pgm files need neither)"
                          .format(kind)))
    return _by_opencv(cv2, data, colour) if cv2 else _by_pillow(pillow, data, colour)
