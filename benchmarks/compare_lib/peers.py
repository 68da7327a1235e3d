"""The peers' environments: a folder with one virtual environment per engine, made on request."""
import os
import pathlib
import shutil
import subprocess
import sys

TITLES = {"symbind": "Symbind", "mxnet": "MXNet", "torch": "PyTorch", "onnxruntime": "ONNX Runtime",
          "openvino": "OpenVINO"}
PACKAGES = {"mxnet": ["mxnet==1.9.1", "numpy==1.23.5"], "torch": ["torch", "numpy"],
            "onnxruntime": ["onnxruntime", "onnx", "numpy"], "openvino": ["openvino", "onnx", "numpy"]}
# Pythons for which NumPy 1.23 has wheels; MXNet 1.9.1 uses names that later versions of NumPy have removed.
MXNET_PYTHONS = ("3.8", "3.9", "3.10", "3.11")


def default_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return pathlib.Path(cache) / "symbind" / "peers"


def python_of(folder, engine):
    """The engine's Python, or None."""
    if engine == "symbind":
        return sys.executable
    python = pathlib.Path(folder) / engine / "bin" / "python"
    return str(python) if python.exists() else None


def find_python(versions):
    """The first of these versions of Python on this machine, in PATH or in pyenv's folder; else None."""
    for version in versions:
        found = shutil.which("python" + version)
        if found and subprocess.run([found, "-c", ""], capture_output=True, check=False).returncode == 0:
            return found
        root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
        for candidate in sorted(root.glob(version + ".*/bin/python")):
            return str(candidate)
    return None


def install(folder, engines, torch_index=None):
    """Makes the environments that are missing. Returns {engine: reason} of those that could not be made."""
    failed = {}
    for engine in engines:
        if engine == "symbind" or python_of(folder, engine):
            continue
        python = find_python(MXNET_PYTHONS) if engine == "mxnet" else sys.executable
        if python is None:
            failed[engine] = "needs a Python %s" % " or ".join(MXNET_PYTHONS)
            continue
        print("installing %s: %s" % (TITLES[engine], " ".join(PACKAGES[engine])), file=sys.stderr)
        target = pathlib.Path(folder) / engine
        index = ["--index-url", torch_index] if engine == "torch" and torch_index else []
        made = subprocess.run([python, "-m", "venv", str(target)], check=False).returncode == 0 and subprocess.run(
            [str(target / "bin" / "pip"), "install", "--quiet", *index, *PACKAGES[engine]], check=False).returncode == 0
        if not made:
            shutil.rmtree(target, ignore_errors=True)
            failed[engine] = "pip could not install " + " ".join(PACKAGES[engine])
    return failed
