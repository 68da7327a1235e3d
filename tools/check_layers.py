#!/usr/bin/env python3
"""Checks that every #include follows the layers of the project.

A folder of src/ may include itself and lower levels, but no higher level and no other folder of the
same level. Public headers include only the standard library. Vendor headers, the environment and
accelerator switches are each allowed in one place only. Graph, passes and executor refer to no
operator by its name; only the fusion patterns do. Exit status 1 if there is a breach.

    tools/check_layers.py [ROOT]      check the tree (of this file by default)
    tools/check_layers.py --self-test show that every rule can fail
"""

import pathlib
import re
import sys
import tempfile

LEVELS = {
    "base": 0,
    "device": 1,
    "net": 1,
    "ndarray": 2,
    "kernel_api": 3,
    "graph": 4,
    "kernels": 4,
    "passes": 5,
    "ops": 5,
    "executor": 6,
    "autograd": 7,
    "optimizer": 7,
    "kvstore": 7,
    "io": 7,
    "metric": 7,
    "init": 7,
    "explain": 7,
    "module": 8,
    "models": 8,
    "predict": 8,
}
# The folder whose files define what a public header declares. The umbrella and the generated
# operators belong to no folder below models.
OWNERS = {
    "base": "attr_dict error interrupt log profiler settings terminal",
    "device": "context runtime",
    "ndarray": "dtype ndarray shape detail/state_value detail/storage_type",
    "kernel_api": "epilogue kernel",
    "graph": "attributes control_flow cost custom operator rules symbol detail/op_builder"
             " detail/op_call detail/op_info",
    "kernels": "libraries",
    "executor": "executor random",
    "autograd": "autograd",
    "optimizer": "lr_scheduler optimizer detail/states",
    "kvstore": "kvstore detail/key detail/push_buckets detail/remote_updates detail/workers",
    "io": "datasets io model recordio sentences",
    "metric": "metric",
    "init": "initializer",
    "explain": "explain",
    "module": "bucketing_module callback checkpoint dist dry_run event_file log_files module monitor run"
              " sequential_module update_policy detail/executor_group detail/module_args"
              " detail/param_update detail/remote_states detail/resume detail/training_session",
    "models": "models ops symbind",
    "predict": "c_predict_api predictor",
}
OWNER = {f"symbind/{name}.h": folder for folder, names in OWNERS.items() for name in names.split()}
SUFFIXES = {".h", ".cpp", ".cu", ".cuh"}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
VENDOR = re.compile(r"^(dnnl|oneapi/dnnl|cblas|openblas|lapacke|cuda|cublas|cudnn|curand|nccl|nvml|hwy/)")
NETWORK = re.compile(r"^(grpc|google/protobuf|openssl)|\.pb\.h$")
SWITCH = re.compile(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*\b(SYMBIND_HAVE_\w+|__CUDACC__|__CUDA_ARCH__)")
OP_NAME = re.compile(r"\bop(->|\.)name\s*[=!]=|[=!]=\s*[\w>.()*-]*\bop(->|\.)name\b")
KNOWS_NO_OPERATOR = {"graph", "passes", "executor", "autograd"}
GETENV = re.compile(r"\b(getenv|secure_getenv)\s*\(")


def public_breaches(name, line, where):
    match = INCLUDE.match(line)
    if not match:
        return
    bracket, target = match.groups()
    if target.startswith("symbind/"):
        return
    if bracket == '"' or not re.fullmatch(r"[a-z_0-9]+|stdint\.h", target):
        yield f"{where}: a public header includes '{target}'; only the standard library and symbind/"


def source_breaches(path, line, where):
    """path: relative to src/."""
    folder = path.parts[0]
    is_cuda = path.suffix in {".cu", ".cuh"}
    hardware = folder == "kernels" or path.parts[:2] == ("device", "cuda") or is_cuda
    match = INCLUDE.match(line)
    if match:
        bracket, target = match.groups()
        if VENDOR.match(target) and not hardware:
            yield f"{where}: vendor header '{target}' outside src/kernels and src/device/cuda"
        elif NETWORK.search(target) and path.parts[:2] not in {("net", "grpc"), ("net", "auth")}:
            yield f"{where}: network header '{target}' outside src/net/grpc and src/net/auth"
        elif target.startswith("symbind/"):
            other = OWNER.get(target)
            if other is None:
                yield f"{where}: '{target}' has no owner in tools/check_layers.py"
            elif other != folder and LEVELS[other] == LEVELS[folder]:
                yield f"{where}: {folder}/ includes a header of its sibling {other}/ ('{target}')"
            elif LEVELS[other] > LEVELS[folder]:
                yield f"{where}: {folder}/ includes a header of {other}/, above it ('{target}')"
        elif bracket == '"':
            other = target.split("/")[0]
            if "/" not in target or other not in LEVELS:
                yield f"{where}: '{target}' is not written from src/ or symbind/"
            elif other != folder and LEVELS[other] == LEVELS[folder]:
                yield f"{where}: {folder}/ includes its sibling {other}/ ('{target}')"
            elif LEVELS[other] > LEVELS[folder]:
                yield f"{where}: {folder}/ includes {other}/, which is above it ('{target}')"
    if OP_NAME.search(line) and folder in KNOWS_NO_OPERATOR:
        yield f"{where}: an operator is known by its name; make it a column of OpDef"
    if GETENV.search(line) and path != pathlib.PurePath("base/settings.cpp"):
        yield f"{where}: the environment is read outside base/settings.cpp"
    if (
        SWITCH.match(line)
        and folder not in {"device", "kernels"}
        and not is_cuda
        and path != pathlib.PurePath("base/build.h")
    ):
        yield f"{where}: an #if on an accelerator outside device/, kernels/ and base/build.h"


def breaches(root):
    for file in sorted((root / "include" / "symbind").rglob("*.h")):
        for number, line in enumerate(file.read_text().splitlines(), 1):
            yield from public_breaches(file.name, line, f"{file.relative_to(root)}:{number}")
    src = root / "src"
    for file in sorted(p for p in src.rglob("*") if p.suffix in SUFFIXES):
        path = file.relative_to(src)
        if len(path.parts) < 2 or path.parts[0] not in LEVELS:
            yield f"{file.relative_to(root)}: its folder has no level in tools/check_layers.py"
            continue
        for number, line in enumerate(file.read_text().splitlines(), 1):
            yield from source_breaches(path, line, f"{file.relative_to(root)}:{number}")


SELF_TEST = {
    # file: (text, part of the expected breach, or None if it is allowed)
    "include/symbind/a.h": ("#include <fmt/core.h>", "public header"),
    "include/symbind/b.h": ('#include <vector>\n#include "symbind/a.h"', None),
    "include/symbind/plain_c.h": ("#include <stdint.h>", None),
    "include/symbind/c.h": ('#include "base/check.h"', "public header"),
    "src/graph/up.cpp": ('#include "passes/plan.h"', "is above"),
    "src/graph/down.cpp": ('#include "base/check.h"\n#include "graph/node.h"', None),
    "src/ops/nn/sibling.cpp": ('#include "passes/plan.h"', "sibling"),
    "src/base/above.h": ("#include <symbind/module.h>", "header of module/, above it"),
    "src/predict/beside.cpp": ("#include <symbind/module.h>", "header of its sibling"),
    "src/module/below.cpp": ("#include <symbind/symbol.h>\n#include <symbind/module.h>", None),
    "src/module/unowned.cpp": ("#include <symbind/mystery.h>", "has no owner"),
    "src/ops/nn/vendor.cpp": ("#include <dnnl.hpp>", "vendor"),
    "src/ops/math/wide.cpp": ("#include <hwy/highway.h>", "vendor"),
    "src/kvstore/wire.cpp": ("#include <grpcpp/grpcpp.h>", "network header"),
    "src/net/grpc/fine.cpp": ("#include <grpcpp/grpcpp.h>\n#include <dist.grpc.pb.h>", None),
    "src/ops/nn/fine.cu": ("#include <cuda_fp16.h>", None),
    "src/kernels/onednn/fine.cpp": ("#include <dnnl.hpp>\n#if SYMBIND_HAVE_ONEDNN", None),
    "src/ops/nn/bare.cpp": ('#include "fully_connected.h"', "not written from"),
    "src/module/env.cpp": ('auto p = std::getenv("X");', "environment"),
    "src/executor/switch.cpp": ("#if SYMBIND_HAVE_CUDA", "accelerator"),
    "src/base/build.h": ("#if SYMBIND_HAVE_CUDA", None),
    "src/passes/known.cpp": ('if (node.op->name == "Convolution") fuse();', "known by its name"),
    "src/executor/known.cpp": ('const bool is = "Cast" != op.name;', "known by its name"),
    "src/passes/said.cpp": ('fail("{} cannot", node.op->name);', None),
    "src/attic/x.cpp": ("", "no level"),
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, (text, _) in SELF_TEST.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text + "\n")
        found = list(breaches(root))
    wrong = 0
    for name, (_, expected) in SELF_TEST.items():
        mine = [b for b in found if b.startswith(name)]
        if (expected is None and mine) or (expected and not any(expected in b for b in mine)):
            print(f"self-test: {name}: expected {expected}, found {mine}")
            wrong += 1
    print(f"self-test: {len(SELF_TEST) - wrong} of {len(SELF_TEST)} as expected")
    return 1 if wrong else 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    root = pathlib.Path(arguments[0] if arguments else pathlib.Path(__file__).parent.parent)
    found = list(breaches(root))
    for breach in found:
        print(breach)
    print(f"check_layers: {len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
