"""`import symbind.as_mxnet` and `python -m symbind`, each in a separate interpreter."""
import importlib
import os
import subprocess
import sys
import textwrap

import pytest


def run(*arguments, folder=None, status=0):
    """The output of an interpreter run with `arguments`, which must end with `status`."""
    done = subprocess.run([sys.executable, *arguments], cwd=folder, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True)
    assert done.returncode == status, done.stderr
    return done.stdout if status == 0 else done.stdout + done.stderr


def run_code(code):
    return run("-c", textwrap.dedent(code)).split()


def test_modules_are_the_same_objects():
    assert run_code("""
        import symbind.as_mxnet
        import mxnet as mx, symbind, mxnet.ndarray, mxnet.symbol.symbol
        from mxnet import nd, sym
        from mxnet.base import MXNetError
        import mxnet.gluon.model_zoo.vision as vision
        print(mx is symbind, nd is symbind.nd, MXNetError is symbind.MXNetError)
        print(mxnet.symbol.symbol is symbind.symbol.symbol, vision.__name__)
        print(mx.__spec__.name, nd.__spec__.name)
        """) == ["True", "True", "True", "True", "symbind.gluon.model_zoo.vision",
                 "symbind", "symbind.ndarray"]


def test_the_version_is_that_of_the_release_it_behaves_like():
    """Scripts refuse to run below some release, and compare texts for it."""
    own = importlib.import_module("symbind").__version__
    assert run_code("""
        import symbind
        print(symbind.__version__)
        import symbind.as_mxnet, mxnet
        print(mxnet.__version__, mxnet.__version__ >= '1.8', mxnet.libinfo.__version__)
        """) == [own, "1.9.1", "True", own]
    assert run("-m", "symbind", "--version").split() == ["symbind", own]


def test_modules_imported_later():
    assert run_code("""
        import sys
        import symbind.as_mxnet
        for name in [name for name in sys.modules if name.endswith('.executor_manager')]:
            del sys.modules[name]
        from mxnet.executor_manager import _split_input_slice
        import symbind.executor_manager
        print(symbind.executor_manager._split_input_slice is _split_input_slice)
        print(symbind.executor_manager.__spec__.name)
        try:
            import mxnet.no_such_module
        except ModuleNotFoundError as error:
            print(error.name)
        """) == ["True", "symbind.executor_manager", "symbind.no_such_module"]


def test_numpy_names_are_restored():
    assert run_code("""
        import numpy as np
        import symbind.as_mxnet
        for name in ('int', 'float', 'object', 'NaN', 'Inf', 'float_'):
            print(getattr(np, name))
        print(np.array([1, 2]).astype(np.bool).dtype, np.zeros(2, np.int).dtype.kind)
        print(np.product([2, 3]), np.cumproduct([2, 3]), np.sometrue([0, 1]), np.alltrue([0, 1]))
        print(np.in1d([1, 2], [2]))
        """) == ["<class", "'int'>", "<class", "'float'>", "<class", "'object'>", "nan", "inf",
                 "<class", "'numpy.float64'>", "bool", "i", "6", "[2", "6]", "True", "False",
                 "[False", "True]"]


def test_numpy_reads_bytes_from_a_string():
    assert run_code("""
        import numpy as np
        import symbind.as_mxnet, mxnet
        read = np.fromstring(b'\\x01\\x02\\xff\\x00', dtype=np.uint8)
        read[0] = 7
        print(read.tolist(), np.fromstring(b'\\x01\\x02', np.uint8, 1).tolist())
        print(np.fromstring('\\xff', dtype=np.uint8).tolist(), np.fromstring('1 2', dtype=int, sep=' ').tolist())
        print(np.asscalar(np.array([3])), np.asfarray([1, 2], int).dtype, np.alen(5), np.rank([[1]]), np.msort([2, 1]))
        """) == ["[7,", "2,", "255,", "0]", "[1]", "[255]", "[1,", "2]", "3", "float64", "1", "2", "[1", "2]"]


def test_names_that_python_removed():
    assert run_code("""
        import symbind.as_mxnet, mxnet
        import collections, inspect, time
        from collections import Iterable, Mapping
        print(isinstance({}, collections.Mapping), isinstance('a', Iterable), collections.OrderedDict.__name__)
        print(inspect.getargspec(lambda a, b=1, *c, **d: 0))
        print(0 <= time.clock() < 1000)
        """) == ["True", "True", "OrderedDict", "ArgSpec(args=['a',", "'b'],", "varargs='c',", "keywords='d',",
                 "defaults=(1,))", "True"]


def test_messages_of_the_library_leave_the_root_logger_to_the_script(tmp_path):
    """logging.basicConfig does nothing once the root logger has a handler, so nothing of ours may give it one."""
    assert run_code("""
        import logging, struct, sys
        import symbind.as_mxnet, mxnet as mx
        with open({0!r}, 'wb') as images, open({1!r}, 'wb') as labels:
            images.write(struct.pack('>IIII', 2051, 4, 2, 2) + bytes(16))
            labels.write(struct.pack('>II', 2049, 4) + bytes(4))
        mx.io.MNISTIter(image={0!r}, label={1!r}, batch_size=2, silent=False)
        print(logging.getLogger().handlers)
        logging.basicConfig(level=logging.DEBUG, stream=sys.stdout, format='%(message)s')
        logging.info('shown')
        """.format(str(tmp_path / "images"), str(tmp_path / "labels"))) == ["[]", "shown"]


def test_without_it_numpy_is_unchanged():
    assert run_code("""
        import numpy as np
        import symbind, sys
        print(hasattr(np, 'product') == (np.__version__ < '2'), 'mxnet' in sys.modules)
        """) == ["True", "False"]


def test_it_refuses_to_come_after_another_mxnet(tmp_path):
    (tmp_path / "mxnet.py").write_text("x = 1\n")
    text = run("-c", "import mxnet, symbind.as_mxnet", folder=tmp_path, status=1)
    assert "imported after the real mxnet" in text


@pytest.fixture
def script(tmp_path):
    """A script that says how it was started, beside a module it imports."""
    folder = tmp_path / "scripts"
    folder.mkdir()
    (folder / "helper.py").write_text("value = 42\n")
    path = folder / "train.py"
    path.write_text(textwrap.dedent("""
        import os, sys
        import mxnet as mx
        import helper

        class Kept:
            pass

        if __name__ == '__main__':
            import pickle
            print(sys.argv[1:], os.path.basename(sys.argv[0]), os.path.basename(__file__))
            print(helper.value, os.path.basename(sys.path[0]), mx.__name__)
            print(type(pickle.loads(pickle.dumps(Kept()))).__module__)
            sys.exit(int(sys.argv[1]))
        """))
    return path


def test_script(script, tmp_path):
    text = run("-m", "symbind", str(script), "3", "--epochs", "-x", folder=tmp_path, status=3)
    assert text.splitlines() == ["['3', '--epochs', '-x'] train.py train.py", "42 scripts symbind",
                                 "__main__"]


def test_script_that_fails(tmp_path):
    path = tmp_path / "fails.py"
    path.write_text("import mxnet\nraise ValueError('as planned')\n")
    text = run("-m", "symbind", str(path), status=1)
    assert "ValueError: as planned" in text and "fails.py" in text


def test_code_and_module(script):
    assert run("-m", "symbind", "-c", "import mxnet, sys; print(mxnet.__name__, sys.argv)",
               "a").split() == ["symbind", "['-c',", "'a']"]
    text = run("-m", "symbind", "-m", "train", "0", folder=script.parent)
    assert text.splitlines()[0] == "['0'] train.py train.py"


def test_usage():
    assert run("-m", "symbind", "--help").startswith("usage: python -m symbind SCRIPT")
    assert "usage:" in run("-m", "symbind", status=2)
    assert "can't open file 'none.py'" in run("-m", "symbind", "none.py", status=2)
    assert "unknown option -q" in run("-m", "symbind", "-q", status=2)
    assert "-m needs an argument" in run("-m", "symbind", "-m", status=2)
    import symbind
    assert run("-m", "symbind", "--version").split() == ["symbind", symbind.__version__]


def test_spawned_processes_find_it(tmp_path):
    path = tmp_path / "spawns.py"
    path.write_text(textwrap.dedent("""
        import multiprocessing
        import mxnet as mx

        def work(queue):
            import numpy as np
            queue.put((mx.__name__, np.product([2, 3])))

        if __name__ == '__main__':
            context = multiprocessing.get_context('spawn')
            queue = context.Queue()
            process = context.Process(target=work, args=(queue,))
            process.start()
            print(*queue.get(timeout=60))
            process.join()
        """))
    assert run("-m", "symbind", str(path)).split() == ["symbind", "6"]
