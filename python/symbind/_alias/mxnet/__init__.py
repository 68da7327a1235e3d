"""Replaces MXNet in child processes of `python -m symbind`: becomes the package symbind."""
import symbind.as_mxnet  # replaces sys.modules["mxnet"], which the import system then returns
