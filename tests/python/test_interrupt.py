"""Ctrl-C during C++ calls, and forked children: each in a separate process."""
import os
import subprocess
import sys
import textwrap

import pytest

HEAD = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
import numpy as np
import symbind as mx

def fire(after):
    threading.Timer(after, lambda: (sent.append(time.time()), os.kill(os.getpid(), signal.SIGINT))).start()

sent = []
"""


def run(body, timeout=120):
    """What a program prints, line by line; it must end well and in time. One thread: what is
    long on one core is long everywhere."""
    result = subprocess.run([sys.executable, "-c", HEAD + textwrap.dedent(body)], text=True,
                            capture_output=True, timeout=timeout,
                            env={**os.environ, "OMP_NUM_THREADS": "1"})
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.split("\n")[:-1]


INTERRUPTED = """
    try:
        work()
        print("not interrupted")
    except KeyboardInterrupt:
        late = time.time() - sent[0]
        print("late" if late > 1 else "in time", flush=True)
"""


def test_during_one_long_product():
    """The arrays stay readable and the next product is right."""
    lines = run("""
    a, b = mx.nd.ones((8000, 8000)), mx.nd.zeros((8000, 8000))
    mx.nd.waitall()
    def work():
        fire(0.5)
        mx.nd.dot(a, a, out=b)
    """ + INTERRUPTED + """
    print(a[0, :3].asnumpy().tolist(), np.isfinite(b[0].asnumpy()).all())
    mx.nd.waitall()
    print(mx.nd.dot(a[:2, :3], mx.nd.ones((3, 2))).asnumpy().tolist())
    """)
    assert lines == ["in time", "[1.0, 1.0, 1.0] True", "[[3.0, 3.0], [3.0, 3.0]]"]


def test_during_a_loop_of_products():
    lines = run("""
    a = mx.nd.ones((300, 300))
    def work():
        fire(0.3)
        while True:
            mx.nd.dot(a, a)
    """ + INTERRUPTED + """
    print(float(mx.nd.dot(a, a)[0, 0].asscalar()))
    """)
    assert lines == ["in time", "300.0"]


def test_during_one_long_forward():
    """One run of some seconds: it stops between two operators, and the next run is right."""
    lines = run("""
    y = mx.sym.Variable("x")
    for _ in range(2000):
        y = mx.sym.cbrt(y)
    executor = y.simple_bind(mx.cpu(), grad_req="null", x=(1000, 500))
    executor.arg_dict["x"][:] = 1
    def work():
        fire(0.3)
        executor.forward()
    """ + INTERRUPTED + """
    print(executor.outputs[0].asnumpy().shape, executor.arg_dict["x"].asnumpy().mean())
    mx.nd.waitall()
    small = executor.reshape(x=(2, 1))
    small.arg_dict["x"][:] = 1
    print(small.forward()[0].asnumpy().tolist())
    """)
    assert lines == ["in time", "(1000, 500) 1.0", "[[1.0], [1.0]]"]


def test_a_handler_of_the_program_decides():
    """Another exception is raised unchanged; after a handler that returns, the work continues."""
    lines = run("""
    class Stop(Exception):
        pass
    def stop(*_):
        raise Stop("now")
    a = mx.nd.ones((3000, 3000))
    signal.signal(signal.SIGINT, stop)
    fire(0.2)
    try:
        for _ in range(1000):
            mx.nd.dot(a, a)
    except Stop as error:
        print(error)
    seen = []
    signal.signal(signal.SIGINT, lambda *_: seen.append(1))
    fire(0.2)
    print(mx.nd.dot(a, a)[0, 0].asscalar())
    while not seen:
        mx.nd.dot(a, a)
    """)
    assert lines == ["now", "3000.0"]


def test_other_threads_are_not_interrupted():
    lines = run("""
    a = mx.nd.ones((3000, 3000))
    results = []
    thread = threading.Thread(target=lambda: results.append(mx.nd.dot(a, a)[0, 0].asscalar()))
    fire(0.05)
    try:
        thread.start()
        while thread.is_alive() or not sent:
            time.sleep(0.01)
        time.sleep(0.2)
    except KeyboardInterrupt:
        print("main")
    thread.join()
    print(results)
    """)
    assert lines == ["main", "[3000.0]"]


CHILD = """
def compute():
    a = mx.nd.ones((64, 64))
    image = mx.nd.ones((1, 4, 16, 16))
    weight = mx.nd.ones((8, 4, 3, 3))
    conv = mx.nd.Convolution(image, weight, kernel=(3, 3), num_filter=8, no_bias=True)
    net = mx.sym.FullyConnected(mx.sym.Variable("data"), num_hidden=3, no_bias=True, name="fc")
    bound = net.bind(mx.cpu(), {"data": mx.nd.ones((2, 5)), "fc_weight": mx.nd.ones((3, 5))})
    bound.forward()
    return [float(mx.nd.dot(a, a).sum().asscalar()), float(conv.sum().asscalar()),
            float(bound.outputs[0].sum().asscalar())]
print(compute(), flush=True)
"""
EXPECTED = str([64.0 ** 3, 36.0 * 8 * 14 * 14, 30.0])


@pytest.mark.filterwarnings("ignore")
def test_fork_after_work():
    """The parent's threads are not there in the child: it must compute and not wait for them."""
    lines = run(CHILD + """
pid = os.fork()
if pid == 0:
    print(compute(), flush=True)
    os._exit(0)
assert os.waitpid(pid, 0)[1] == 0
print(compute())
""", timeout=60)
    assert lines == [EXPECTED] * 3


def test_multiprocessing_by_fork():
    lines = run(CHILD + """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    for result in pool.starmap(compute, [()] * 4):
        print(result)
""", timeout=60)
    assert lines == [EXPECTED] * 5


def test_signals_during_products_do_not_damage_memory():
    """A signal every half millisecond while convolutions are trained."""
    lines = run("""
    x = mx.sym.Variable("data")
    for i, filters in enumerate((20, 50)):
        x = mx.sym.Convolution(x, kernel=(5, 5), num_filter=filters, name="conv%d" % i)
        x = mx.sym.Pooling(mx.sym.Activation(x, act_type="tanh"), pool_type="max", kernel=(2, 2),
                           stride=(2, 2))
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.Flatten(x), num_hidden=10), name="softmax")
    train = mx.io.NDArrayIter(np.random.rand(1024, 1, 28, 28), np.zeros(1024), 64)
    seen = []
    signal.signal(signal.SIGALRM, lambda *_: seen.append(1))
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    mx.mod.Module(net).fit(train, num_epoch=2)
    signal.setitimer(signal.ITIMER_REAL, 0)
    print(len(seen) > 5)
    """)
    assert lines == ["True"]
