"""RecordIO: MXNet's packed data files, and the header of an image record."""
import numbers
import os
import struct
from collections import namedtuple

import numpy as np

from . import _core
from ._absent import NotInSymbind
from .error import AssertionError as AssertionError_
from .error import MXNetError
from .error import OSError as OSError_
from .error import ValueError as ValueError_


class MXRecordIO:
    """A record file, read ('r') or written ('w') from its start to its end."""

    def __init__(self, uri, flag):
        self.uri = uri
        self.flag = flag
        self.handle = None
        self.pid = None
        self.is_open = False
        self.open()

    def open(self):
        """Opens the file; a file opened for writing is truncated."""
        if self.flag not in ('r', 'w'):
            raise ValueError_("Invalid flag %s: there are 'r' and 'w'" % self.flag)
        self.writable = self.flag == 'w'
        self.handle = (_core.RecordWriter if self.writable else _core.RecordReader)(str(self.uri))
        self.pid = os.getpid()
        self.is_open = True

    def close(self):
        """Closes the file."""
        if self.__dict__.get('is_open'):
            self.is_open = False
            self.pid = None
            handle, self.handle = self.handle, None
            handle.close()

    def __del__(self):
        if self.__dict__.get('pid') == os.getpid():
            self.close()

    def __getstate__(self):
        is_open = self.is_open
        self.close()
        return dict(self.__dict__, is_open=is_open, handle=None)

    def __setstate__(self, state):
        self.__dict__.update(state)
        is_open, self.is_open = self.is_open, False
        if is_open:
            self.open()

    def _check_pid(self, allow_reset=False):
        """Two processes that share one place in a file would read each other's records."""
        if not self.is_open:
            raise AssertionError_("{}: the file is closed".format(self.uri))
        if self.pid != os.getpid():
            if not allow_reset:
                raise MXNetError("Forbidden operation in multiple processes: {} was opened by another "
                                 "process; call reset() in this one".format(self.uri))
            self.reset()

    def reset(self):
        """Back to the first record; a file opened for writing is truncated."""
        if self.pid == os.getpid():
            self.close()
        self.open()

    def write(self, buf):
        """Writes one record."""
        assert self.writable, "opened for reading"
        self._check_pid()
        self.handle.write(buf.encode() if isinstance(buf, str) else buf)

    def read(self):
        """The next record as bytes, None after the last."""
        assert not self.writable, "opened for writing"
        self._check_pid()
        return self.handle.read()


class MXIndexedRecordIO(MXRecordIO):
    """A record file with an index of keys, read in any order."""

    def __init__(self, idx_path, uri, flag, key_type=int):
        self.idx_path = idx_path
        self.idx = {}
        self.keys = []
        self.key_type = key_type
        self.fidx = None
        super().__init__(uri, flag)

    def open(self):
        super().open()
        self.idx = {}
        self.keys = []
        try:
            # Line by line: a forked child that exits must find nothing of the parent's to write.
            self.fidx = open(self.idx_path, self.flag, buffering=1 if self.writable else -1)
        except OSError as error:
            raise OSError_(str(error)) from error
        if not self.writable:
            for number, line in enumerate(self.fidx, 1):
                self._add(number, line)

    def _add(self, number, line):
        parts = line.strip().split('\t')
        if parts == ['']:
            return
        try:
            key, offset = self.key_type(parts[0]), int(parts[1])
        except (IndexError, ValueError) as error:
            raise OSError_("{}, line {}: {!r} is not of the form key, tab, offset".format(
                self.idx_path, number, line.strip())) from error
        self.idx[key] = offset
        self.keys.append(key)

    def close(self):
        """Closes both files."""
        if self.__dict__.get('is_open'):
            super().close()
            if self.fidx is not None:
                self.fidx.close()

    def __getstate__(self):
        return dict(super().__getstate__(), fidx=None)

    def seek(self, idx):
        """Goes to the record of a key; a forked process opens the file for itself."""
        assert not self.writable, "opened for writing"
        self._check_pid(allow_reset=True)
        self.handle.seek(self.idx[idx])

    def tell(self):
        """Where the next record will be written."""
        assert self.writable, "opened for reading"
        self._check_pid()
        return self.handle.tell()

    def read_idx(self, idx):
        """The record of a key."""
        self.seek(idx)
        return self.read()

    def write_idx(self, idx, buf):
        """Writes one record under a key."""
        key = self.key_type(idx)
        pos = self.tell()
        self.write(buf)
        self.fidx.write('%s\t%d\n' % (key, pos))
        self.idx[key] = pos
        self.keys.append(key)


IRHeader = namedtuple('HEADER', ['flag', 'label', 'id', 'id2'])
IRHeader.__doc__ = "The header of an image record: flag, one label or an array of labels, and two ids."

_IR_FORMAT = 'IfQQ'
_IR_SIZE = struct.calcsize(_IR_FORMAT)


def pack(header, s):
    """Header and bytes as one record. An array of labels is stored after the header, and its length
    as the flag."""
    header = IRHeader(*header)
    if isinstance(header.label, numbers.Number):
        header = header._replace(flag=0)
    else:
        label = np.asarray(header.label, dtype=np.float32)
        header = header._replace(flag=label.size, label=0)
        s = label.tobytes() + s
    return struct.pack(_IR_FORMAT, *header) + s


def unpack(s):
    """Header and bytes of a record."""
    if len(s) < _IR_SIZE:
        raise ValueError_("an image record of {} bytes; its header alone has {}".format(len(s), _IR_SIZE))
    header = IRHeader(*struct.unpack(_IR_FORMAT, s[:_IR_SIZE]))
    s = s[_IR_SIZE:]
    if header.flag > 0:
        if header.flag * 4 > len(s):
            raise ValueError_("an image record announces {} labels, and {} bytes follow".format(
                header.flag, len(s)))
        header = header._replace(label=np.frombuffer(s, np.float32, header.flag))
        s = s[header.flag * 4:]
    return header, s


def _codec(what):
    """The module cv2, or else PIL.Image."""
    try:
        import cv2
        return cv2, None
    except ImportError:
        pass
    try:
        from PIL import Image
        return None, Image
    except ImportError:
        raise NotInSymbind("mxnet.{} needs OpenCV or Pillow to {}: pip install "
                           "opencv-python-headless, or pillow".format(*what)) from None


def unpack_img(s, iscolor=-1):
    """Header and image of a record: height, width and channels in the order blue, green, red."""
    header, s = unpack(s)
    cv2, image = _codec(('recordio.unpack_img', 'decode an image'))
    if cv2 is not None:
        return header, cv2.imdecode(np.frombuffer(s, dtype=np.uint8), iscolor)
    import io
    picture = image.open(io.BytesIO(s))
    grey = iscolor == 0 or (iscolor < 0 and picture.mode in ('L', '1', 'I;16'))
    pixels = np.asarray(picture.convert('L' if grey else 'RGB'))
    return header, pixels if grey else pixels[:, :, ::-1].copy()


def pack_img(header, img, quality=95, img_fmt='.jpg'):
    """A record of a header and an image, encoded as JPEG (quality 1 to 100) or PNG (compression 1
    to 9)."""
    cv2, image = _codec(('recordio.pack_img', 'encode an image'))
    ending = img_fmt.upper()
    if cv2 is not None:
        params = None
        if ending in ('.JPG', '.JPEG'):
            params = [cv2.IMWRITE_JPEG_QUALITY, quality]
        elif ending == '.PNG':
            params = [cv2.IMWRITE_PNG_COMPRESSION, quality]
        done, encoded = cv2.imencode(img_fmt, img, params)
        assert done, 'failed to encode image'
        return pack(header, encoded.tobytes())
    import io
    out = io.BytesIO()
    pixels = np.asarray(img)
    picture = image.fromarray(pixels if pixels.ndim == 2 else pixels[:, :, ::-1])
    options = {'compress_level': quality} if ending == '.PNG' else {'quality': quality}
    picture.save(out, 'PNG' if ending == '.PNG' else 'JPEG', **options)
    return pack(header, out.getvalue())
