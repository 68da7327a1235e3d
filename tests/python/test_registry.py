"""Every operator here is called as in MXNet 1.9.1: names, inputs, parameters, order, defaults.

tests/golden/registry.json is MXNet's registry as recorded. What differs is listed below with the
reason; what is listed must differ, so that the lists do not outlive their reasons.
"""
import fnmatch
import functools
import json
import pathlib
import re
import struct

import pytest

import symbind as mx
from symbind import _core

GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "registry.json"
MXNET = json.loads(GOLDEN.read_text())

COUNTED = "MXNet wants the number of inputs told; here it is counted where it is not"
DIFFERENT = {
    **{("_foreach", what): "MXNet counts the body among the inputs"
       for what in ("count", "parameters")},
    **{("_foreach", f"type of {places}"): "every tuple of numbers goes by the one word here"
       for places in ("in_data_locs", "in_state_locs", "remain_locs")},
    ("IdentityAttachKLSparseReg", "inputs"): "MXNet declares the data alone, and has the state",
    ("_histogram", "type of range"): "MXNet has no word for a pair of numbers",
    ("_histogram", "default of range"): "MXNet has no word for a pair of numbers",
    **{("_linspace", what): "MXNet declares arange's parameters, and reads these"
       for what in ("parameters", "type of stop", "default of stop")},
    **{(name, "type of shape"): "MXNet calls a shape that may be None a shape"
       for name in ("_ravel_multi_index", "_unravel_index")},
    ("_cvcopyMakeBorder", "type of values"): "every tuple of numbers goes by the one word here",
    ("add_n", "parameters"): "MXNet reads num_args without declaring it",
    **{(name, "parameters"): "MXNet reads lower without declaring it"
       for name in ("_linalg_potrf", "_linalg_potri")},
    ("smooth_l1", "default of scalar"): "MXNet declares none, and takes 1",
    **{(name, "count"): COUNTED for name in (
        "_multi_adamw_update", "_multi_mp_adamw_update", "_multi_lamb_update",
        "_multi_mp_lamb_update", "amp_multicast", "multi_all_finite", "multi_sum_sq",
        "multi_sgd_update", "multi_sgd_mom_update", "multi_mp_sgd_update",
        "multi_mp_sgd_mom_update", "preloaded_multi_sgd_update", "preloaded_multi_sgd_mom_update",
        "preloaded_multi_mp_sgd_update", "preloaded_multi_mp_sgd_mom_update")},
}
# Names of an operator of ours that MXNet gives to another, or to none.
OTHER_NAMES = {
    "BatchNorm_v1": "a separate operator; takes the first parameters of BatchNorm's",
    "Convolution_v1": "a separate operator; takes the first parameters of Convolution's",
    "Pooling_v1": "a separate operator; takes the first parameters of Pooling's",
    "CuDNNBatchNorm": "in MXNet's builds with CUDA alone, as a name of BatchNorm",
    "_contrib_SparseEmbedding": "a separate operator; the gradient is dense here, as Embedding's",
}

# Operators of MXNet that are not here, by pattern.
ABSENT = {
    "of MXNet's imperative machinery, not of graphs users make":
        "_CachedOp* _CrossDeviceCopy _CustomFunction _NoGradient _zeros_without_dtype reset_arrays",
    "Python operators of before Custom, over C pointers": "_NDArray _Native",
    "control flow that values decide, which came after the Module era": "_cond _while_loop",
    "sampling of graphs": "_contrib_dgl_* _contrib_edge_id _contrib_getnnz",
    "files of images are decoded in Python": "_cvimdecode _cvimread _imdecode",
    "for sparse storage alone": "_scatter_*_scalar _scatter_elemwise_div _sparse_* _square_sum "
                                "cast_storage",
}
# Operators that are still to be written; a name leaves this list when it comes.
NOT_YET = """
_contrib_BatchNormWithReLU _contrib_DeformablePSROIPooling _contrib_ModulatedDeformableConvolution
_contrib_bipartite_matching _contrib_box_encode
_contrib_count_sketch _contrib_fft _contrib_gradientmultiplier _contrib_group_adagrad_update
_contrib_hawkesll _contrib_ifft _contrib_round_ste _contrib_sign_ste khatri_rao
"""


@functools.lru_cache(maxsize=None)
def ours():
    """Our operators that users call: canonical name to what the registry says and all names."""
    operators = {}
    for name in _core.list_ops():
        info = _core.op_info(name)
        if not info["name"].startswith("_backward_"):  # MXNet's registry was recorded without
            operators.setdefault(info["name"], dict(info, names=set()))["names"].add(name)
    return operators


@functools.lru_cache(maxsize=None)
def theirs():
    """MXNet's operators by every name."""
    return {name: operator for operator in MXNET.values() for name in operator["names"]}


def kind(text):
    """A type as text, without what is the same in the end.

    Whole numbers have 64 bits wherever they need them and refuse negatives by range, and which
    element types there are is decided by inference, not by a list.
    """
    text = text.replace(" (non-negative)", "").replace("long", "int").replace("real_t", "float")
    if re.search("'(float32|int32)'", text):
        return "dtype or None" if "None" in text else "dtype"
    return text


def value(text, of_kind):
    """A default as a value: MXNet writes bool as 0 and 1, float with nine digits."""
    if text is None:
        return None
    if of_kind.startswith("boolean"):
        return {"0": "False", "1": "True"}.get(text, text)
    if text != "None" and of_kind.startswith("float"):
        return struct.pack("f", float(text))
    if text != "None" and of_kind.startswith("double"):
        return float(text)
    if of_kind == "Shape(tuple)" and text in ("None", "[]", "()"):
        return "not given"
    return text.replace("[", "(").replace("]", ")").replace(" ", "").replace(",)", ")")


def differences(name):
    """How our operator differs from MXNet's, as (what, theirs, ours)."""
    here, there = ours()[name], MXNET.get(name)
    if name not in MXNET:
        return [("name", None, name)]
    params = {p[0]: (kind(re.split(", (?:required|optional)", p[1])[0]), p[3])
              for p in here["params"]}
    wanted = {p[0]: (kind(p[1]), p[2]) for p in there["params"]}
    pairs = [("count", there["key_var_num_args"], here["variadic_key"]),
             ("parameters", list(wanted), list(params))]
    if not here["takes_list"]:
        pairs.append(("inputs", there["inputs"], here["inputs"]))
    for each in sorted(set(params) & set(wanted)):
        (t_kind, t_default), (o_kind, o_default) = wanted[each], params[each]
        pairs.append((f"type of {each}", t_kind, o_kind))
        pairs.append((f"default of {each}", value(t_default, t_kind), value(o_default, t_kind)))
    return [pair for pair in pairs if pair[1] != pair[2]]


@pytest.mark.parametrize("name", sorted(ours()))
def test_it_is_called_as_in_mxnet(name):
    found = differences(name)
    listed = {what for operator, what in DIFFERENT if operator == name}
    assert {pair[0] for pair in found} == listed, found


@pytest.mark.parametrize("name", sorted(ours()))
def test_it_has_all_of_its_names(name):
    missing = set(theirs()[name]["names"]) - ours()[name]["names"]
    for alias in [m for m in missing if m.startswith("_sparse_")]:
        if re.match("_sparse__contrib_", alias) or (
                hasattr(mx.nd.sparse, alias[8:]) and hasattr(mx.sym.sparse, alias[8:])):
            missing.remove(alias)
    assert not missing
    other = {n for n in ours()[name]["names"] if theirs().get(n) is not theirs()[name]}
    assert other == {n for n in OTHER_NAMES if n in ours()[name]["names"]}


@pytest.mark.parametrize("name, given", [
    ("Activation", {"act_type": None}), ("Pooling", {"kernel": (2,), "pool_type": None}),
    ("Dropout", {"mode": None}), ("topk", {"ret_typ": None}), ("LeakyReLU", {"act_type": "None"}),
    ("SoftmaxOutput", {"normalization": "all"})])
def test_a_choice_is_one_of_those_listed(name, given):
    with pytest.raises(mx.MXNetError, match="is not a choice"):
        getattr(mx.sym, name)(mx.sym.Variable("data"), **given)


def test_some_choices_may_be_none():
    data = mx.sym.Variable("data")
    conv = mx.sym.Convolution(data, kernel=(1,), num_filter=1, cudnn_tune=None, layout=None)
    assert conv.list_attr()["layout"] == "None"


def test_a_tuple_that_is_none_was_not_given():
    ones = mx.nd.ones((2, 3))
    assert mx.nd.tile(ones, reps=None).shape == (2, 3)  # as MXNet answers
    assert mx.nd.Dropout(ones, axes=None).shape == (2, 3)
    with pytest.raises(mx.MXNetError, match="begin"):
        mx.nd.slice(ones, begin=None, end=1)


def test_what_is_absent_has_a_reason():
    patterns = " ".join([*ABSENT.values(), NOT_YET]).split()
    here = set(_core.list_ops())
    absent = sorted(name for name, operator in MXNET.items() if not here & set(operator["names"]))
    unexplained = [name for name in absent
                   if not any(fnmatch.fnmatchcase(name, p) for p in patterns)]
    idle = [p for p in patterns if not fnmatch.filter(absent, p)]
    assert (unexplained, idle) == ([], [])


@pytest.mark.parametrize("name", ["_backward_topk", "_backward_ROIPooling", "_sum_like",
                                  "_fused_BatchNorm", "_CrossDeviceCopy", "_CustomFunction"])
def test_internal_operators_cannot_be_named(name):
    assert name not in _core.list_ops()
    text = json.dumps({"nodes": [{"op": "null", "name": "x", "inputs": []},
                                 {"op": name, "name": "stranger", "inputs": [[0, 0, 0]]}],
                       "heads": [[1, 0, 0]], "attrs": {"mxnet_version": ["int", 10901]}})
    assert not hasattr(mx.nd._internal, name) and not hasattr(mx.sym._internal, name)
    for call in (lambda: _core.ArrayFunction(name), lambda: _core.SymbolFunction(name),
                 lambda: _core.invoke(name, [mx.nd.ones(1)], None, None),
                 lambda: mx.sym.load_json(text)):
        with pytest.raises(mx.MXNetError, match="internal"):
            call()


def test_what_is_listed_exists():
    assert {name for name, _ in DIFFERENT} <= set(ours())
    assert set(OTHER_NAMES) <= {name for operator in ours().values() for name in operator["names"]}
