"""ImageIter: batches of decoded and augmented images, from records, a list of files, or both."""
import logging
import os
import random
from numbers import Number

from .. import io, recordio
from .. import ndarray as nd
from . import _functions as functions
from ._augmenters import CreateAugmenter

__all__ = ["ImageIter"]


class ImageIter(io.DataIter):
    """Batches of `data_shape`, (3, height, width), and labels.

    Images come from a record file (`path_imgrec`, for shuffling with its index `path_imgidx`), from
    a list file (`path_imglist`, lines of number, labels and file name with tabs between) or from
    `imglist`, a list of [label, …, file name], with files under `path_root`. A list beside records
    gives the labels. Further keywords are CreateAugmenter's.
    """

    def __init__(self, batch_size, data_shape, label_width=1, path_imgrec=None, path_imglist=None,
                 path_root=None, path_imgidx=None, shuffle=False, part_index=0, num_parts=1,
                 aug_list=None, imglist=None, data_name='data', label_name='softmax_label',
                 dtype='float32', last_batch_handle='pad', **kwargs):
        super().__init__()
        assert path_imgrec or path_imglist or isinstance(imglist, list), \
            "give path_imgrec, path_imglist or imglist"
        assert dtype in ('int32', 'float32', 'int64', 'float64'), dtype + ' label not supported'
        assert last_batch_handle in ('pad', 'discard', 'roll_over'), \
            "last_batch_handle is pad, discard or roll_over"
        name = type(self).__name__
        self.imgrec = self.imgidx = self.imglist = None
        if path_imgrec:
            logging.info('%s: loading recordio %s...', name, path_imgrec)
            if path_imgidx:
                self.imgrec = recordio.MXIndexedRecordIO(path_imgidx, path_imgrec, 'r')
                self.imgidx = list(self.imgrec.keys)
            else:
                self.imgrec = recordio.MXRecordIO(path_imgrec, 'r')
        if path_imglist:
            logging.info('%s: loading image list %s...', name, path_imglist)
            self.imglist = self._read_list(path_imglist, dtype)
        elif isinstance(imglist, list):
            logging.info('%s: loading image list...', name)
            self.imglist = {str(i): self._list_entry(entry, dtype)
                            for i, entry in enumerate(imglist, 1)}
        self.path_root = path_root
        self.check_data_shape(data_shape)
        data_shape = tuple(data_shape)
        self.provide_data = [(data_name, (batch_size,) + data_shape)]
        self.provide_label = [(label_name, (batch_size, label_width) if label_width > 1
                               else (batch_size,))]
        self.batch_size = batch_size
        self.data_shape = data_shape
        self.label_width = label_width
        self.shuffle = shuffle
        self.seq = self._sequence(shuffle, part_index, num_parts)
        self.num_image = None if self.seq is None else len(self.seq)
        self.auglist = CreateAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.last_batch_handle = last_batch_handle
        self.cur = 0
        self._allow_read = True
        self._cache_data = self._cache_label = self._cache_idx = None
        self.reset()

    @staticmethod
    def _read_list(path, dtype):
        """{number: (labels, file name)} of a list file."""
        entries = {}
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                fields = line.rstrip('\r\n').split('\t')
                if fields == ['']:
                    continue
                try:
                    if len(fields) < 3:
                        raise ValueError
                    labels = nd.array([float(x) for x in fields[1:-1]], dtype=dtype)
                    entries[int(fields[0])] = (labels, fields[-1])
                except ValueError:
                    raise ValueError("{}:{}: a line is a number, labels and a file name with tabs "
                                     "between, not {!r}".format(path, number, line.strip())) \
                        from None
        return entries

    @staticmethod
    def _list_entry(entry, dtype):
        """(labels, file name) of [label, …, file name] or [labels, file name]."""
        if len(entry) > 2:
            labels = entry[:-1]
        else:
            labels = [entry[0]] if isinstance(entry[0], Number) else entry[0]
        return nd.array(labels, dtype=dtype), entry[-1]

    def _sequence(self, shuffle, part_index, num_parts):
        """The keys of this part; None to read records in sequence."""
        if self.imgrec is None:
            keys = list(self.imglist)
        elif shuffle or num_parts > 1 or self.imgidx is not None:
            assert self.imgidx is not None, "shuffling and parts need path_imgidx"
            keys = self.imgidx
        else:
            return None
        if num_parts > 1:
            assert part_index < num_parts, "part_index counts from 0 to num_parts - 1"
            share = len(keys) // num_parts
            keys = keys[part_index * share:(part_index + 1) * share]
        return keys

    # ---------------------------------------------------------------------- iterating

    def reset(self):
        """Back to the beginning; rows kept by roll_over stay."""
        if self.seq is not None and self.shuffle:
            random.shuffle(self.seq)
        if self.last_batch_handle != 'roll_over' or self._cache_data is None:
            if self.imgrec is not None:
                self.imgrec.reset()
            self.cur = 0
            self._allow_read = True

    def hard_reset(self):
        """Back to the beginning; rows kept by roll_over are dropped."""
        self._cache_data = self._cache_label = self._cache_idx = None
        self.reset()

    def next_sample(self):
        """(label, bytes of the file) of the next image."""
        if not self._allow_read:
            raise StopIteration
        if self.seq is None:
            record = self.imgrec.read()
            if record is None:
                if self.last_batch_handle != 'discard':
                    self.imgrec.reset()
                raise StopIteration
            header, img = recordio.unpack(record)
            return header.label, img
        if self.cur >= self.num_image:
            if self.last_batch_handle != 'discard':
                self.cur = 0
            raise StopIteration
        key = self.seq[self.cur]
        self.cur += 1
        if self.imgrec is None:
            label, name = self.imglist[key]
            return label, self.read_image(name)
        header, img = recordio.unpack(self.imgrec.read_idx(key))
        return (header.label if self.imglist is None else self.imglist[key][0]), img

    def _decoded_sample(self):
        """(label, image) of the next valid image."""
        while True:
            label, encoded = self.next_sample()
            image = self.imdecode(encoded)
            try:
                self.check_valid_image([image])
            except RuntimeError as failure:
                logging.debug('Invalid image, skipping:  %s', str(failure))
                continue
            return label, image

    def _batchify(self, batch_data, batch_label, start=0):
        """Fills rows from `start`; how many rows are filled then. StopIteration if none is."""
        i = start
        try:
            while i < self.batch_size:
                label, image = self._decoded_sample()
                batch_data[i] = self.postprocess_data(self.augmentation_transform(image))
                batch_label[i] = label
                i += 1
        except StopIteration:
            if not i:
                raise
        return i

    def _empty_batch(self):
        return (nd.zeros((self.batch_size,) + self.data_shape),
                nd.empty(self.provide_label[0][1]))

    def next(self):
        """The next DataBatch."""
        if self._cache_data is not None:
            batch_data, batch_label, filled = \
                self._cache_data, self._cache_label, self._cache_idx
        else:
            batch_data, batch_label = self._empty_batch()
            filled = self._batchify(batch_data, batch_label)
        pad = self.batch_size - filled
        if pad:
            if self.last_batch_handle == 'discard':
                raise StopIteration
            if self.last_batch_handle == 'roll_over' and self._cache_data is None:
                self._cache_data, self._cache_label, self._cache_idx = \
                    batch_data, batch_label, filled
                raise StopIteration
            self._batchify(batch_data, batch_label, filled)
            if self.last_batch_handle == 'pad':
                self._allow_read = False
            else:
                self._cache_data = self._cache_label = self._cache_idx = None
        return io.DataBatch([batch_data], [batch_label], pad=pad)

    # ----------------------------------------------------------- methods to override

    def check_data_shape(self, data_shape):
        """Raises unless it is (3, height, width)."""
        if len(data_shape) != 3:
            raise ValueError('data_shape should have length 3, with dimensions CxHxW')
        if data_shape[0] != 3:
            raise ValueError('This iterator expects inputs to have 3 channels.')

    def check_valid_image(self, data):
        """Raises RuntimeError for an image without pixels; the iterator skips it."""
        if len(data[0].shape) == 0:
            raise RuntimeError('Data shape is wrong')

    def imdecode(self, s):
        """The image in the bytes of a file."""
        try:
            return functions.imdecode(s)
        except Exception as failure:
            where = 'a record'
            if self.seq is not None:
                key = self.seq[self.cur - 1]
                where = 'index: {}'.format(key) if self.imglist is None \
                    else 'filename: {}'.format(self.imglist[key][1])
            raise RuntimeError('Broken image {}, {}'.format(where, failure)) from failure

    def read_image(self, fname):
        """The bytes of a file under path_root."""
        with open(os.path.join(self.path_root or '', fname), 'rb') as file:
            return file.read()

    def augmentation_transform(self, data):
        """The image after all augmenters."""
        for augmenter in self.auglist:
            data = augmenter(data)
        return data

    def postprocess_data(self, datum):
        """Channels first."""
        return nd.transpose(datum, axes=(2, 0, 1))
