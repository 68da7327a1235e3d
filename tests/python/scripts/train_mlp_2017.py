"""A multilayer perceptron trained by hand, as scripts for MXNet 0.9 to 0.11 did it."""
import argparse
import logging
import time

import mxnet as mx
import numpy as np

logging.basicConfig(level=logging.INFO)

parser = argparse.ArgumentParser(description="train an MLP without Module")
parser.add_argument("--num-epochs", type=int, default=8)
parser.add_argument("--batch-size", type=int, default=50)
parser.add_argument("--lr", type=float, default=0.2)
parser.add_argument("--gpus", type=str, default="")
args = parser.parse_args()


def make_data(n):
    """Digits of seven segments with noise: ten classes a linear map cannot quite tell apart."""
    segments = np.array([[1, 1, 1, 0, 1, 1, 1], [0, 0, 1, 0, 0, 1, 0], [1, 0, 1, 1, 1, 0, 1],
                         [1, 0, 1, 1, 0, 1, 1], [0, 1, 1, 1, 0, 1, 0], [1, 1, 0, 1, 0, 1, 1],
                         [1, 1, 0, 1, 1, 1, 1], [1, 0, 1, 0, 0, 1, 0], [1, 1, 1, 1, 1, 1, 1],
                         [1, 1, 1, 1, 0, 1, 1]], dtype=np.float)
    label = np.random.randint(0, 10, size=n)
    flipped = np.random.uniform(size=(n, 1)) < 0.5
    data = np.where(flipped, 1 - segments[label], segments[label])
    return data + np.random.normal(0, 0.1, data.shape), label.astype(np.int)


def get_mlp():
    data = mx.symbol.Variable('data')
    fc1 = mx.symbol.FullyConnected(data=data, name='fc1', num_hidden=64)
    act1 = mx.symbol.Activation(data=fc1, name='relu1', act_type="relu")
    fc2 = mx.symbol.FullyConnected(data=act1, name='fc2', num_hidden=32)
    act2 = mx.symbol.Activation(data=fc2, name='relu2', act_type="relu")
    fc3 = mx.symbol.FullyConnected(data=act2, name='fc3', num_hidden=10)
    return mx.symbol.SoftmaxOutput(data=fc3, name='softmax')


np.random.seed(7)
mx.random.seed(7)
ctx = mx.gpu(int(args.gpus)) if args.gpus else mx.cpu()
net = get_mlp()
executor = net.simple_bind(ctx=ctx, data=(args.batch_size, 7), grad_req='write')
for name, arr in executor.arg_dict.items():
    if name not in ('data', 'softmax_label'):
        mx.random.uniform(low=-0.3, high=0.3, shape=arr.shape, ctx=ctx, out=arr)


def sgd(key, weight, grad, grad_norm=args.batch_size):
    norm = grad / grad_norm
    weight[:] -= args.lr * norm


def accuracy(label, pred_prob):
    pred = np.argmax(pred_prob, axis=1)
    return np.sum(label == pred) * 1.0 / label.shape[0]


train_x, train_y = make_data(2000)
test_x, test_y = make_data(500)
arg_arrays = dict(zip(net.list_arguments(), executor.arg_arrays))
data, label = arg_arrays['data'], arg_arrays['softmax_label']

for epoch in range(args.num_epochs):
    tic = time.time()
    train_acc, nbatch = 0., 0
    order = np.random.permutation(len(train_x))
    for start in range(0, len(order), args.batch_size):
        picked = order[start:start + args.batch_size]
        data[:] = train_x[picked]
        label[:] = train_y[picked]
        executor.forward(is_train=True)
        executor.backward()
        for i, pair in enumerate(zip(executor.arg_arrays, executor.grad_arrays)):
            weight, grad = pair
            if net.list_arguments()[i] in ('data', 'softmax_label'):
                continue
            sgd(i, weight, grad)
        train_acc += accuracy(label.asnumpy(), executor.outputs[0].asnumpy())
        nbatch += 1
    print("epoch %d: train accuracy %f (%.1f s)" % (epoch, train_acc / nbatch, time.time() - tic))

test_acc, nbatch = 0., 0
for start in range(0, len(test_x), args.batch_size):
    data[:] = test_x[start:start + args.batch_size]
    executor.forward(is_train=False)
    test_acc += accuracy(test_y[start:start + args.batch_size], executor.outputs[0].asnumpy())
    nbatch += 1
print("test accuracy %f" % (test_acc / nbatch))
