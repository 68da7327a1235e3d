"""Trains a small network with MXNet's Module and saves it, as a user of MXNet would.

    PY tools/oracle/record_checkpoint.py     -> tests/golden/checkpoint/fashion-*

`fashion-symbol.json` and `fashion-0001.params` are MXNet's own files; `fashion.json` says what MXNet
then computes: how many of the 10,000 test images of Fashion-MNIST it names rightly, and the output
for the first four. Needs Debian's dataset-fashion-mnist.
"""
import gzip
import json
import os

from golden import golden_dir, mx, np

DATA = "/usr/share/datasets/fashion-mnist/"


def images(name):
    with gzip.open(DATA + name + "-images-idx3-ubyte.gz") as f:
        pixels = np.frombuffer(f.read(), np.uint8, offset=16)
    with gzip.open(DATA + name + "-labels-idx1-ubyte.gz") as f:
        labels = np.frombuffer(f.read(), np.uint8, offset=8)
    return pixels.reshape(-1, 1, 28, 28).astype("float32") / 255, labels.astype("float32")


def network():
    x = mx.sym.Convolution(mx.sym.Variable("data"), kernel=(5, 5), num_filter=8, name="conv1")
    x = mx.sym.BatchNorm(x, fix_gamma=False, name="bn1")
    x = mx.sym.Activation(x, act_type="relu", name="relu1")
    x = mx.sym.Pooling(x, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool1")
    return mx.sym.SoftmaxOutput(mx.sym.FullyConnected(x, num_hidden=10, name="fc1"), name="softmax")


def main():
    mx.random.seed(1)
    folder = golden_dir("checkpoint")
    os.makedirs(folder, exist_ok=True)
    prefix = os.path.join(folder, "fashion")
    pixels, labels = images("train")
    train = mx.io.NDArrayIter(pixels, labels, batch_size=100)
    module = mx.mod.Module(network())
    module.fit(train, num_epoch=1, optimizer_params={"learning_rate": 0.05, "momentum": 0.9},
               initializer=mx.init.Xavier(),
               epoch_end_callback=mx.callback.do_checkpoint(prefix))
    pixels, labels = images("t10k")
    outputs = module.predict(mx.io.NDArrayIter(pixels, labels, batch_size=100)).asnumpy()
    right = int((outputs.argmax(axis=1) == labels).sum())
    with open(prefix + ".json", "w") as f:
        json.dump({"mxnet": mx.__version__, "right": right,
                   "outputs": [[float("%.9g" % p) for p in row] for row in outputs[:4]]}, f)
        f.write("\n")
    print(right, "of", len(labels), outputs[:4].round(6))


if __name__ == "__main__":
    main()
