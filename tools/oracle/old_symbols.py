"""Symbol JSON as older MXNet wrote it, made by hand after formats.md 4.2: name -> (graph, shapes).

MXNet 1.9.1 upgrades each on loading; what it then answers is recorded.
"""


def var(name, **more):
    return dict({"op": "null", "param": {}, "name": name, "inputs": [], "backward_source_id": -1},
                **more)


def op(kind, name, inputs, param, **more):
    return dict({"op": kind, "param": param, "name": name, "inputs": inputs,
                 "backward_source_id": -1}, **more)


# up to 0.8: param and attr, two-element entries, no auxiliary variables, no version
V08 = {
    "nodes": [
        var("data"),
        var("conv_weight"), var("conv_bias"),
        op("Convolution", "conv", [[0, 0], [1, 0], [2, 0]],
           {"kernel": "(3, 3)", "num_filter": "4", "num_group": "1", "pad": "(1, 1)",
            "stride": "(1,1)", "no_bias": "False", "workspace": "512", "dilate": "(1, 1)"},
           attr={"ctx_group": "stage1", "weight_lr_mult": "1.2"}),
        var("bn_gamma"), var("bn_beta", attr={"lr_mult": "0.5"}),
        op("BatchNorm", "bn", [[3, 0], [4, 0], [5, 0]],
           {"eps": "0.001", "fix_gamma": "True", "momentum": "0.9", "use_global_stats": "False"}),
        op("Activation", "relu", [[6, 0]], {"act_type": "relu"}),
        op("Pooling", "pool", [[7, 0]],
           {"global_pool": "True", "kernel": "(7, 7)", "pad": "(0,0)", "pool_type": "avg",
            "stride": "(1,1)"}),
        op("Flatten", "flat", [[8, 0]], {}),
        var("fc_weight"), var("fc_bias"),
        op("FullyConnected", "fc", [[9, 0], [10, 0], [11, 0]],
           {"num_hidden": "3", "no_bias": "False"}, attr={"wd_mult": "0.3"}),
        var("softmax_label"),
        op("SoftmaxOutput", "softmax", [[12, 0], [13, 0]],
           {"grad_scale": "1", "ignore_label": "-1", "multi_output": "False",
            "use_ignore": "False"}),
    ],
    "arg_nodes": [0, 1, 2, 4, 5, 10, 11, 13],
    "heads": [[14, 0]],
}

# 0.9 to 0.12.0: attr for everything, three-element entries, a version
V09 = {
    "nodes": [
        {"op": "null", "name": "data", "inputs": []},
        {"op": "null", "name": "bn_gamma", "inputs": []},
        {"op": "null", "name": "bn_beta", "attr": {"__lr_mult__": "2"}, "inputs": []},
        {"op": "null", "name": "bn_moving_mean", "inputs": []},
        {"op": "null", "name": "bn_moving_var", "inputs": []},
        {"op": "BatchNorm", "name": "bn", "attr": {"fix_gamma": "False", "eps": "2e-05"},
         "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 0, 1], [4, 0, 1]]},
        {"op": "_Plus", "name": "_plus0", "inputs": [[5, 0, 0], [0, 0, 0]]},
        {"op": "_MulScalar", "name": "_mulscalar0", "attr": {"scalar": "0.5"},
         "inputs": [[6, 0, 0]]},
        {"op": "ElementWiseSum", "name": "esum", "attr": {"num_args": "2"},
         "inputs": [[7, 0, 0], [5, 0, 0]]},
        {"op": "Reshape", "name": "flat", "attr": {"shape": "(0L, -1L)", "target_shape": "(0,0)",
                                                   "keep_highest": "False", "reverse": "False"},
         "inputs": [[8, 0, 0]]},
        {"op": "null", "name": "softmax_label", "inputs": []},
        {"op": "Softmax", "name": "softmax", "attr": {"grad_scale": "1"},
         "inputs": [[9, 0, 0], [10, 0, 0]]},
    ],
    "arg_nodes": [0, 1, 2, 3, 4, 10],
    "heads": [[11, 0, 0]],
    "attrs": {"mxnet_version": ["int", 903]},
}

# 0.11.0: hidden keys without underscores, an initializer as a bare name
V11 = {
    "nodes": [
        {"op": "null", "name": "data", "attr": {"shape": "(2, 0)", "ctx_group": "in"},
         "inputs": []},
        {"op": "null", "name": "fc_weight", "attr": {"__init__": "ones"}, "inputs": []},
        {"op": "FullyConnected", "name": "fc", "attr": {"num_hidden": "4", "no_bias": "True"},
         "inputs": [[0, 0, 0], [1, 0, 0]]},
    ],
    "arg_nodes": [0, 1],
    "heads": [[2, 0, 0]],
    "attrs": {"mxnet_version": ["int", 1100]},
}

# Keys that no parameter has: operators without parameters and regression outputs do not look.
STRANGE = {
    "nodes": [
        {"op": "null", "name": "data", "inputs": []},
        {"op": "Flatten", "name": "flat", "attrs": {"axis": "1"}, "inputs": [[0, 0, 0]]},
        {"op": "null", "name": "fc_weight", "inputs": []},
        {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "4", "no_bias": "True"},
         "inputs": [[1, 0, 0], [2, 0, 0]]},
        {"op": "elemwise_add", "name": "twice", "attrs": {"scalar": "left behind"},
         "inputs": [[3, 0, 0], [3, 0, 0]]},
        {"op": "null", "name": "label", "inputs": []},
        {"op": "LinearRegressionOutput", "name": "out", "attrs": {"grad_scale": "1", "out_grad": "True"},
         "inputs": [[4, 0, 0], [5, 0, 0]]},
    ],
    "arg_nodes": [0, 2, 5],
    "heads": [[6, 0, 0]],
    "attrs": {"mxnet_version": ["int", 1100]},
}

OLD = {"v0.8": (V08, {"data": (2, 3, 8, 8)}), "v0.9": (V09, {"data": (2, 3, 4)}),
       "v0.11": (V11, {"data": (2, 5)}), "strange-keys": (STRANGE, {"data": (2, 3, 2)})}
