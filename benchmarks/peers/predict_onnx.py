"""The same as `train_mxnet.py … predict` with ONNX Runtime, for benchmarks/python/table.py.

    predict_onnx.py MODEL.onnx ARRAYS.npz
"""
import os
import sys
import time

import numpy as np
import onnxruntime


def main():
    model, array_file = sys.argv[1:]
    arrays = np.load(array_file)
    data, label = arrays["data"], arrays["softmax_label"].astype(int)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["OMP_NUM_THREADS"])
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    print("ready", onnxruntime.__version__, flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        for _ in range(int(line)):
            scores, = session.run(None, {"data": data})
        seconds = time.perf_counter() - start
        scores = scores - scores.max(axis=1, keepdims=True)
        loss = np.log(np.exp(scores).sum(axis=1)) - scores[np.arange(len(label)), label]
        print(seconds, loss.mean(), flush=True)


if __name__ == "__main__":
    main()
