"""Trains a network on Fashion-MNIST or MNIST, whichever is on the machine.

    python train_mnist.py --network lenet --epochs 2 --save lenet
    python train_mnist.py --network lenet --evaluate lenet        loads the newest epoch and tests it
"""
import argparse
import glob
import logging

import symbind as mx


def parse(arguments):
    parser = argparse.ArgumentParser(description="Trains a network on Fashion-MNIST or MNIST.")
    parser.add_argument("--network", default="mlp", help="mlp or lenet (mlp)")
    parser.add_argument("--epochs", type=int, default=5, help="passes over the data (5)")
    parser.add_argument("--batch", type=int, default=100, help="pictures per step (100)")
    parser.add_argument("--lr", type=float, default=0.05,
                        help="learning rate, times 0.5 after each epoch (0.05)")
    parser.add_argument("--devices", type=int, default=1,
                        help="split each batch over N CPU devices (1)")
    parser.add_argument("--save", metavar="PREFIX",
                        help="write PREFIX-symbol.json and PREFIX-<epoch>.params after each epoch")
    parser.add_argument("--evaluate", metavar="PREFIX",
                        help="do not train: load the newest checkpoint of --save, and test it")
    return parser.parse_args(arguments)


def newest(prefix):
    """The last epoch saved under this prefix."""
    numbers = [int(path[-len("0000.params"):-len(".params")])
               for path in glob.glob(glob.escape(prefix) + "-[0-9][0-9][0-9][0-9].params")]
    return max(numbers, default=0)


def main(arguments=None):
    a = parse(arguments)
    found = mx.datasets.find_images()

    def pictures(images, labels, shuffle):
        return mx.io.MNISTIter(image=images, label=labels, batch_size=a.batch, shuffle=shuffle,
                               flat=a.network == "mlp", silent=True)

    test = pictures(found.test_images, found.test_labels, False)
    if a.evaluate:
        module = mx.mod.Module.load(a.evaluate, newest(a.evaluate))
        module.bind(test.provide_data, test.provide_label, for_training=False)
    else:
        mx.random.seed(1)
        train = pictures(found.train_images, found.train_labels, True)
        slower = mx.lr_scheduler.FactorScheduler(60000 // a.batch, 0.5, base_lr=a.lr)
        module = mx.mod.Module(mx.models.create(a.network, num_classes=10),
                               context=[mx.cpu(i) for i in range(a.devices)])
        module.fit(train, eval_data=test,
                   epoch_end_callback=mx.callback.do_checkpoint(a.save) if a.save else None,
                   batch_end_callback=mx.callback.Speedometer(a.batch, 200),
                   optimizer_params={"momentum": 0.9, "lr_scheduler": slower},
                   initializer=mx.init.Xavier(magnitude=2), num_epoch=a.epochs)
    accuracy = module.score(test, "acc")[0][1]
    print("test accuracy: %.4f" % accuracy)
    return accuracy


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main()
