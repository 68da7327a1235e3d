"""ImageDetIter: batches of images and of the boxes in them."""
import logging

import numpy as np

from .. import ndarray as nd
from ._det_augmenters import CreateDetAugmenter
from ._iter import ImageIter

__all__ = ["ImageDetIter"]


class ImageDetIter(ImageIter):
    """Batches of images and of their boxes, -1 where an image has fewer than another.

    A label is (header width, object width, …header, then objects of that width).
    """

    def __init__(self, batch_size, data_shape, path_imgrec=None, path_imglist=None, path_root=None,
                 path_imgidx=None, shuffle=False, part_index=0, num_parts=1, aug_list=None,
                 imglist=None, data_name='data', label_name='label', last_batch_handle='pad',
                 **kwargs):
        super().__init__(batch_size=batch_size, data_shape=data_shape, path_imgrec=path_imgrec,
                         path_imglist=path_imglist, path_root=path_root, path_imgidx=path_imgidx,
                         shuffle=shuffle, part_index=part_index, num_parts=num_parts, aug_list=[],
                         imglist=imglist, data_name=data_name, label_name=label_name,
                         last_batch_handle=last_batch_handle)
        self.auglist = CreateDetAugmenter(data_shape, **kwargs) if aug_list is None else aug_list
        self.label_shape = self._estimate_label_shape()
        self.provide_label = [(label_name, (self.batch_size,) + self.label_shape)]

    def _check_valid_label(self, label):
        """Raises RuntimeError unless some row is an object."""
        if len(label.shape) != 2 or label.shape[1] < 5:
            raise RuntimeError("Label with shape (1+, 5+) required, %s received." % str(label))
        if not ((label[:, 0] >= 0) & (label[:, 3] > label[:, 1])).any():
            raise RuntimeError('Invalid label occurs.')

    def _estimate_label_shape(self):
        """(most objects of an image, width of an object); reads every label."""
        most = width = 0
        self.reset()
        try:
            while True:
                objects = self._parse_label(self.next_sample()[0])
                most, width = max(most, objects.shape[0]), objects.shape[1]
        except StopIteration:
            pass
        self.reset()
        return (most, width)

    def _parse_label(self, label):
        """The objects of a raw label that have an extent."""
        raw = (label.asnumpy() if isinstance(label, nd.NDArray) else np.asarray(label)).ravel()
        if raw.size < 7:
            raise RuntimeError("Label shape is invalid: " + str(raw.shape))
        header, width = int(raw[0]), int(raw[1])
        if header < 2 or width < 5 or (raw.size - header) % width != 0:
            raise RuntimeError("Label shape %s inconsistent with annotation width %d."
                               % (str(raw.shape), width))
        objects = raw[header:].reshape(-1, width)
        valid = (objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])
        if not valid.any():
            raise RuntimeError('Encounter sample with no valid label.')
        return objects[valid]

    def reshape(self, data_shape=None, label_shape=None):
        """Other shapes for the batches to come."""
        if data_shape is not None:
            self.check_data_shape(data_shape)
            self.provide_data = [(self.provide_data[0][0], (self.batch_size,) + tuple(data_shape))]
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            self.provide_label = [(self.provide_label[0][0],
                                   (self.batch_size,) + tuple(label_shape))]
            self.label_shape = tuple(label_shape)

    def _transformed_sample(self):
        """(label, image) of the next image whose objects survive the augmenters."""
        while True:
            label, image = self._decoded_sample()
            try:
                image, label = self.augmentation_transform(image, self._parse_label(label))
                self._check_valid_label(label)
            except RuntimeError as failure:
                logging.debug('Invalid image, skipping:  %s', str(failure))
                continue
            return label, image

    def _batchify(self, batch_data, batch_label, start=0):
        i = start
        try:
            while i < self.batch_size:
                label, image = self._transformed_sample()
                padded = np.full(self.label_shape, -1, np.float32)
                padded[:len(label)] = label
                batch_data[i] = self.postprocess_data(image)
                batch_label[i] = padded
                i += 1
        except StopIteration:
            if not i:
                raise
        return i

    def _empty_batch(self):
        data, label = super()._empty_batch()
        label[:] = -1
        return data, label

    def augmentation_transform(self, data, label):
        """Image and label after all augmenters."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return (data, label)

    def check_label_shape(self, label_shape):
        """Raises ValueError for a shape that cannot hold the labels."""
        if len(label_shape) != 2:
            raise ValueError('label_shape should have length 2')
        if label_shape[0] < self.label_shape[0]:
            raise ValueError('Attempts to reduce label count from %d to %d, not allowed.'
                             % (self.label_shape[0], label_shape[0]))
        if label_shape[1] != self.provide_label[0][1][2]:
            raise ValueError('label_shape object width inconsistent: %d vs %d.'
                             % (self.provide_label[0][1][2], label_shape[1]))

    def sync_label_shape(self, it, verbose=False):
        """Gives this and another iterator the larger of their label shapes."""
        assert isinstance(it, ImageDetIter), 'Synchronize with invalid iterator.'
        own, other = self.label_shape, it.label_shape
        assert own[1] == other[1], "object width mismatch."
        most = max(own[0], other[0])
        self.reshape(None, (most, own[1]))
        it.reshape(None, (most, own[1]))
        if verbose and most > min(own[0], other[0]):
            logging.info('Resized label_shape to (%d, %d).', most, own[1])
        return it
