"""MXNet 1.9.1: Modules, with its fused subgraphs (the default) and without them; the faster counts."""
import os

from compare_lib.engines import mxnet_like
from compare_lib.engines.mxnet_like import version  # noqa: F401

MODES = {**mxnet_like.MODES, "step": ["Module", "Module without subgraphs"]}


def build(problem, mode, threads):
    if problem["dtype"] == "bfloat16":
        raise NotImplementedError("MXNet has no such mode for a float32 network")
    plain = "without" in mode
    if plain and problem["train"]:
        raise NotImplementedError("subgraphs are for predictions only")
    os.environ["MXNET_SUBGRAPH_BACKEND"] = "NONE" if plain else "MKLDNN"
    return mxnet_like.build(problem, mode, threads)
