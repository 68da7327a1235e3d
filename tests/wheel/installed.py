#!/usr/bin/env python3
"""Checks the installed wheel of the Python that runs this: `installed.py [PAGE...]`.

It checks which libraries the files of the wheel use, which ones a training loads, which instructions the CPU
dispatch selects, and runs the pages of the manual by run_page.py, which is in the same folder or in
tests/python. It needs the wheel, NumPy and the standard library.
"""
import importlib.metadata
import json
import os
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
from run_page import main as run_pages  # pylint: disable=wrong-import-position

# What the system supplies: glibc, libgcc, libstdc++.
SYSTEM = re.compile(r"(linux-vdso|libc|libm|libmvec|libdl|librt|libpthread|libgcc_s|libstdc\+\+|.*/ld-linux-x86-64)\.so\.\d+$")
# A library that must come from the wheel; NumPy's own wheel has its OpenBLAS and libgfortran in numpy.libs.
NUMERIC = re.compile(r"/lib(\w*openblas\w*|dnnl|[gi]?omp5?|gfortran|quadmath|OpenCL|fmt)\b[^/]*$")

TRAINING = """
import numpy as np, symbind as mx
points = np.random.RandomState(1).uniform(-1, 1, (400, 2)).astype('float32')
inside = ((points ** 2).sum(axis=1) < 0.5).astype('float32')
data = mx.io.NDArrayIter(points, inside, batch_size=40)
net = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=16)
net = mx.sym.FullyConnected(mx.sym.Activation(net, act_type='relu'), num_hidden=2)
mx.random.seed(1); np.random.seed(1)
mod = mx.mod.Module(mx.sym.SoftmaxOutput(net, name='softmax'))
mod.fit(data, optimizer='adam', optimizer_params={'learning_rate': 0.05}, num_epoch=20, initializer=mx.init.Xavier())
mx.nd.Convolution(mx.nd.ones((1, 3, 8, 8)), mx.nd.ones((4, 3, 3, 3)), kernel=(3, 3), num_filter=4, no_bias=True).asnumpy()
accuracy = mod.score(data, 'acc')[0][1]
assert accuracy > 0.9, accuracy
print(open('/proc/self/maps').read())
"""


def binaries(site):
    """The libraries and programs of the wheel that is unpacked in the folder `site`."""
    paths = [path for name in ("symbind", "symbind.libs") for path in sorted((site / name).rglob("*")) if path.is_file()]
    return [path for path in paths if path.read_bytes()[:4] == b"\x7fELF"]


def libraries_from_outside(site):
    """A line for each library, as ldd finds it, that is neither one of SYSTEM nor in the wheel. gRPC, in wheels with
    distributed stores, uses the system's libz, which every manylinux system has."""
    zlib = {"libz.so.1"} if (site / "symbind" / "libsymbind_dist.so").exists() else set()
    wheel = tuple(f"{site.resolve()}/{name}/" for name in ("symbind", "symbind.libs"))
    found = []
    for path in binaries(site):
        listed = subprocess.run(["ldd", str(path)], capture_output=True, text=True, check=True).stdout
        for line in listed.splitlines():
            if line.strip() == "statically linked":  # it needs no library
                continue
            name, _, where = re.sub(r" \(0x[0-9a-f]+\)$", "", line.strip()).partition(" => ")
            if not SYSTEM.match(name) and name not in zlib and not os.path.realpath(where).startswith(wheel):
                found.append(f"{path.name}: {line.strip()}")
    return found


def check_libraries(site):
    outside = libraries_from_outside(site)
    assert not outside, "\n".join(["libraries from outside the wheel:", *outside])
    names = [path.name for path in binaries(site)]
    print("ldd:", len(names), "files use only each other, glibc, libgcc and libstdc++:", ", ".join(names))


def check_training(site):
    environment = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
    maps = subprocess.run([sys.executable, "-c", TRAINING], capture_output=True, text=True, check=True, env=environment)
    loaded = {line.split()[-1] for line in maps.stdout.splitlines() if NUMERIC.search(line)}
    ours = {path for path in loaded if os.path.dirname(path) == str(site / "symbind.libs")}
    others = {path for path in loaded - ours if os.path.basename(os.path.dirname(path)) != "numpy.libs"}
    assert not others, f"a training loads libraries from outside the wheel: {sorted(others)}"
    for name in ("openblas", "dnnl", "gomp"):
        assert len([path for path in ours if name in path]) == 1, f"{name}: {sorted(loaded)}"
    runtimes = [path for path in loaded if re.search(r"/lib[gi]?omp5?\b", path)]
    assert len(runtimes) == 1, f"several OpenMP runtimes: {runtimes}"
    print("training: accuracy above 0.9 with", ", ".join(sorted(map(os.path.basename, ours))))


def doctor(**environment):
    program = os.path.join(os.path.dirname(sys.executable), "symbind")
    done = subprocess.run([program, "doctor", "--seconds", "1", "--json"], capture_output=True, text=True, check=True,
                          env={**os.environ, **environment})
    document = json.loads(done.stdout)
    assert document["ok"], done.stdout
    cores = {library["name"]: library["build"] for library in document["libraries"]}
    return document["cpu"]["instructions"], cores["OpenBLAS"], document["self_test"]


def check_dispatch():
    """The newest instructions of this CPU are used, and older ones if a variable limits them."""
    flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.M).group(1).split())
    newest = ("AVX-512" if {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"} <= flags else
              "AVX2" if {"avx2", "fma", "bmi2"} <= flags else "SSE4.1")
    for environment, expected, core in [({}, newest, None),
                                        ({"ONEDNN_MAX_CPU_ISA": "SSE41", "OPENBLAS_CORETYPE": "Nehalem"},
                                         "SSE4.1", "Nehalem")]:
        instructions, blas, speed = doctor(**environment)
        assert instructions == expected, f"{instructions} instead of {expected}"
        assert core is None or core in blas, f"OpenBLAS is {blas}, not {core}"
        print(f"doctor {environment or ''}: {instructions}; OpenBLAS: {blas}; product {speed['gemm_gflops']:.0f}, "
              f"convolution {speed['convolution_gflops']:.0f} GFLOP/s")


def main(pages):
    site = pathlib.Path(importlib.metadata.distribution("symbind").locate_file("symbind")).resolve().parent
    print(f"Python {sys.version.split()[0]}, NumPy {importlib.metadata.version('numpy')}, {site}")
    check_libraries(site)
    check_training(site)
    check_dispatch()
    run_pages(pages)


if __name__ == "__main__":
    main(sys.argv[1:])
