"""The quickstart's trainings in MXNet 1.9.1: the same networks, data and hyper-parameters.

    python tools/oracle/quickstart.py PREFIX EPOCHS [--data FOLDER] [--seed N]

PREFIX-symbol.json is what ./quickstart saved (quickstart-output/mlp, quickstart-output/lenet).
"""
import argparse
import gzip
import os
import shutil
import tempfile

import mxnet as mx


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("prefix")
    parser.add_argument("epochs", type=int)
    parser.add_argument("--data", default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    symbol = mx.sym.load(a.prefix + "-symbol.json")
    flat = "conv" not in "".join(symbol.get_internals().list_outputs())
    with tempfile.TemporaryDirectory() as folder:
        def pictures(part, shuffle):
            paths = []
            for kind in ("images-idx3", "labels-idx1"):
                name = "%s-%s-ubyte" % (part, kind)
                paths.append(os.path.join(folder, name))
                with gzip.open(os.path.join(a.data, name + ".gz")) as packed, \
                        open(paths[-1], "wb") as plain:
                    shutil.copyfileobj(packed, plain)
            return mx.io.MNISTIter(image=paths[0], label=paths[1], batch_size=100, flat=flat,
                                   shuffle=shuffle, silent=True)

        train, test = pictures("train", True), pictures("t10k", False)
        mx.random.seed(a.seed)
        slower = mx.lr_scheduler.FactorScheduler(600, 0.5, base_lr=0.05)
        module = mx.mod.Module(symbol)
        module.fit(train, num_epoch=a.epochs, initializer=mx.init.Xavier(magnitude=2),
                   optimizer_params={"momentum": 0.9, "lr_scheduler": slower,
                                     "learning_rate": 0.05})
        print("test accuracy: %.4f" % module.score(test, "acc")[0][1])


if __name__ == "__main__":
    main()
