"""Data sets and files from the network. A file that is there is not fetched again, so staged data
(data/train-images-idx3-ubyte and its siblings, data/cifar/train.rec …) needs no network."""
import bz2
import gzip
import logging
import os
import shutil
import zipfile

import numpy as np

from .. import error
from ..io import DataIter, MNISTIter

_DATA = 'http://data.mxnet.io/'
_MNIST = ('train-images-idx3-ubyte', 'train-labels-idx1-ubyte',
          't10k-images-idx3-ubyte', 't10k-labels-idx1-ubyte')
_MODELS = {  # name: path under models/, without -symbol.json; number of the parameter file
    'imagenet1k-inception-bn': ('imagenet/inception-bn/Inception-BN', 126),
    'imagenet1k-resnet-18': ('imagenet/resnet/18-layers/resnet-18', 0),
    'imagenet1k-resnet-34': ('imagenet/resnet/34-layers/resnet-34', 0),
    'imagenet1k-resnet-50': ('imagenet/resnet/50-layers/resnet-50', 0),
    'imagenet1k-resnet-101': ('imagenet/resnet/101-layers/resnet-101', 0),
    'imagenet1k-resnet-152': ('imagenet/resnet/152-layers/resnet-152', 0),
    'imagenet1k-resnext-50': ('imagenet/resnext/50-layers/resnext-50', 0),
    'imagenet1k-resnext-101': ('imagenet/resnext/101-layers/resnext-101', 0),
    'imagenet1k-resnext-101-64x4d': ('imagenet/resnext/101-layers/resnext-101-64x4d', 0),
    'imagenet11k-resnet-152': ('imagenet-11k/resnet-152/resnet-152', 0),
    'imagenet11k-place365ch-resnet-152': ('imagenet-11k-place365-ch/resnet-152', 0),
    'imagenet11k-place365ch-resnet-50': ('imagenet-11k-place365-ch/resnet-50', 0),
}


def download(url, fname=None, dirname=None, overwrite=False, retries=5):
    """Fetches `url` into a file, unless that is there already; returns its path.

    The name is the last part of the address unless given, the folder `dirname` is made. A failure
    leaves no half-written file and is raised after `retries` more attempts.
    """
    import urllib.request  # as slow to import as the rest of the package together
    assert retries >= 0, "Number of retries should be at least 0"
    fname = fname or url.split('/')[-1]
    if dirname is not None:
        fname = os.path.join(dirname, fname)
    folder = os.path.dirname(fname)
    if folder:
        os.makedirs(folder, exist_ok=True)
    if not overwrite and os.path.exists(fname):
        logging.info("%s exists, skipping download", fname)
        return fname
    part = "%s.part%d" % (fname, os.getpid())
    for left in reversed(range(retries + 1)):
        try:
            with urllib.request.urlopen(url) as source, open(part, 'wb') as target:
                shutil.copyfileobj(source, target)
            os.replace(part, fname)
            break
        except OSError:
            if os.path.exists(part):
                os.remove(part)
            if left == 0:
                raise
            print("download failed, retrying, {} attempt{} left".format(left, 's' * (left > 1)))
    logging.info("downloaded %s into %s successfully", url, fname)
    return fname


def download_model(model_name, dst_dir='./', meta_info=None):
    """Fetches a model's symbol and parameters; returns the prefix of its checkpoint and its epoch,
    or (None, 0) for an unknown name. `meta_info` maps names to {'symbol': url, 'params': url}."""
    if meta_info is None:
        base = _DATA + 'models/'
        meta_info = {name: {'symbol': base + path + '-symbol.json',
                            'params': base + '%s-%04d.params' % (path, epoch)}
                     for name, (path, epoch) in _MODELS.items()}
    if model_name not in meta_info:
        return None, 0
    meta = meta_info[model_name]
    prefix = os.path.join(dst_dir, model_name)
    for key, ending in (('symbol', '-symbol.json'), ('params', '-0000.params')):
        assert key in meta, "missing %s url" % key
        download(meta[key], prefix + ending)
    return prefix, 0


def get_mnist():
    """MNIST as NumPy arrays: train_data and test_data of shape (n, 1, 28, 28) in [0, 1], and
    train_label and test_label."""
    def read(name, offset, dtype):
        with gzip.open(download(_DATA + 'data/mnist/' + name + '.gz')) as file:
            return np.frombuffer(file.read()[offset:], dtype=dtype)

    def images(name):
        return read(name, 16, np.uint8).reshape(-1, 1, 28, 28).astype(np.float32) / 255

    train_images, train_labels, test_images, test_labels = _MNIST
    return {'train_data': images(train_images), 'train_label': read(train_labels, 8, np.int8),
            'test_data': images(test_images), 'test_label': read(test_labels, 8, np.int8)}


def get_mnist_pkl():
    """Fetches data/mnist.pkl.gz."""
    download('http://deeplearning.net/data/mnist/mnist.pkl.gz', dirname='data')


def _get_archive(archive, names):
    """Makes sure of the files `names` in the folder data, from a zip archive."""
    os.makedirs('data', exist_ok=True)
    if not all(os.path.exists(os.path.join('data', name)) for name in names):
        with zipfile.ZipFile(download(_DATA + 'mxnet/data/' + archive, dirname='data')) as file:
            file.extractall('data')


def get_mnist_ubyte():
    """Makes sure of MNIST's four files in the folder data."""
    _get_archive('mnist.zip', _MNIST)


def get_cifar10():
    """Makes sure of CIFAR-10's record files in the folder data/cifar."""
    _get_archive('cifar10.zip', ['cifar/%s.%s' % (part, ending)
                                 for part in ('train', 'test') for ending in ('rec', 'lst')])


def get_mnist_iterator(batch_size, input_shape, num_parts=1, part_index=0):
    """MNISTIters for training (shuffled) and validation, over the files of get_mnist_ubyte."""
    get_mnist_ubyte()

    def iterator(images, labels, **options):
        return MNISTIter(image=os.path.join('data', images), label=os.path.join('data', labels),
                         input_shape=input_shape, batch_size=batch_size,
                         flat=len(input_shape) != 3, num_parts=num_parts, part_index=part_index,
                         **options)

    return iterator(*_MNIST[:2], shuffle=True), iterator(*_MNIST[2:])


def get_zip_data(data_dir, url, data_origin_name):
    """Fetches a zip archive into `data_dir` and unpacks it there."""
    path = os.path.join(data_dir, data_origin_name)
    if not os.path.exists(path):
        download(url, dirname=data_dir, fname=data_origin_name)
        with zipfile.ZipFile(path) as file:
            file.extractall(data_dir)


def get_bz2_data(data_dir, data_name, url, data_origin_name):
    """Fetches a bz2 file into `data_dir`, unpacks it to `data_name`, and removes it."""
    path = os.path.join(data_dir, data_name)
    if not os.path.exists(path):
        archive = download(url, fname=data_origin_name, dirname=data_dir)
        with bz2.open(archive) as source, open(path, 'wb') as target:
            shutil.copyfileobj(source, target)
        os.remove(archive)


def get_im2rec_path(home_env="MXNET_HOME"):
    """The path of MXNet's im2rec.py, which runs with Symbind, in the checkout that `home_env` names."""
    home = os.environ.get(home_env)
    path = os.path.join(home or "", 'tools', 'im2rec.py')
    if home and os.path.isfile(path):
        return path
    raise error.OSError(
        "Could not find path to tools/im2rec.py: {}\n  fix: set {} to a checkout of apache/mxnet, or write "
        "the records with mx.recordio.pack_img".format(
            path + " is not there" if home else home_env + " is not set", home_env))


class DummyIter(DataIter):
    """An iterator that returns the first batch of `real_iter` for ever, for measuring speed."""

    def __init__(self, real_iter):
        super().__init__(real_iter.batch_size)
        self.real_iter = real_iter
        self.provide_data = real_iter.provide_data
        self.provide_label = real_iter.provide_label
        self.the_batch = next(real_iter)

    def next(self):
        """The batch."""
        return self.the_batch
