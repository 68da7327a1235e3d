"""A residual network on one to four devices.

    python resnet.py --devices 2 --layers 20 --epochs 2        pictures of Fashion-MNIST
    python resnet.py --synthetic --layers 8                    synthetic images, in seconds

Every device gets its share of the batch; the store adds their gradients up. CPU devices share the
cores; with a CUDA build, mx.gpu(i) in place of mx.cpu(i) is the only change.
"""
import argparse
import logging

import numpy as np

import symbind as mx


def synthetic(count, batch):
    """Pictures of ten classes: class k has k + 1 stripes, under noise."""
    random = np.random.RandomState(count)
    labels = np.arange(count) % 10
    height = np.linspace(0, 2 * np.pi, 28)
    stripes = np.sin((labels[:, None] + 1) * height)[:, None, :, None]
    pictures = (stripes + random.normal(0, 0.3, (count, 1, 28, 28))).astype("float32")
    return mx.io.NDArrayIter(pictures, labels, batch, shuffle=True)


def fashion(batch):
    found = mx.datasets.find_images()
    return (mx.io.MNISTIter(image=found.train_images, label=found.train_labels, batch_size=batch),
            mx.io.MNISTIter(image=found.test_images, label=found.test_labels, batch_size=batch,
                            shuffle=False))


def main(arguments=None):
    parser = argparse.ArgumentParser(description="A residual network on one to four devices.")
    parser.add_argument("--devices", type=int, default=1, help="1 to 4 (1)")
    parser.add_argument("--layers", type=int, default=20, help="6n + 2 (20)")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=64, help="pictures per step, over all devices")
    parser.add_argument("--kvstore", default="local", help="local or device")
    parser.add_argument("--synthetic", action="store_true", help="synthetic images")
    parser.add_argument("--count", type=int, default=640, help="how many of those (640)")
    a = parser.parse_args(arguments)

    mx.random.seed(1)
    np.random.seed(1)
    if a.synthetic:
        train, test = synthetic(a.count, a.batch), synthetic(a.batch * 2, a.batch)
    else:
        train, test = fashion(a.batch)
    net = mx.models.resnet(num_classes=10, num_layers=a.layers, image_shape=(1, 28, 28))
    module = mx.mod.Module(net, context=[mx.cpu(i) for i in range(a.devices)])
    module.fit(train, eval_data=test, kvstore=a.kvstore,
               batch_end_callback=mx.callback.Speedometer(a.batch, 20),
               optimizer_params={"learning_rate": 0.05, "momentum": 0.9, "wd": 1e-4},
               initializer=mx.init.Xavier(rnd_type="gaussian", factor_type="in", magnitude=2),
               num_epoch=a.epochs)
    accuracy = module.score(test, "acc")[0][1]
    print("%d devices: test accuracy %.4f" % (a.devices, accuracy))
    return accuracy


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
