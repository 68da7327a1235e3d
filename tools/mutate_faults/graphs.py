"""Faults of symbol files: public operators, limits, what backward trusts."""

JSON_READER = "src/graph/json_reader.cpp"
REGISTRY = "src/graph/op_registry.cpp"
GRADIENTS = "ops:BadInputGradients."
LIMITS = "executor:BadInputLimits."
JSON = "graph:BadInputSymbolJson."

ROWS = [
    # ---- who may name an operator
    ("a file may name internal operators", JSON_READER,
     "check(node.def == nullptr || is_public(*node.def), ErrorKind::kName,",
     "check(true, ErrorKind::kName,", JSON + "internal_operators_are_refused_by_name"),
    ("a call may name internal operators", REGISTRY,
     "check(def == nullptr || is_public(*def), ErrorKind::kName,",
     "check(true, ErrorKind::kName,", JSON + "internal_operators_are_refused_by_name"),
    ("what passes make is public", "src/graph/op_info.cpp",
     "std::ranges::find(core_ops::kInternal, op.name) == std::end(core_ops::kInternal)", "true",
     JSON + "internal_operators_are_those_of_gradients_and_passes"),
    # ---- what gradients trust
    ("topk's gradient trusts its indices", "src/ops/index/topk.cpp",
     "checked_index(places[i], rows.extent)", "whole_index(places[i])",
     GRADIENTS + "overwritten_indices_of_topk_are_an_error"),
    ("sample_multinomial's gradient trusts the classes drawn", "src/ops/random/multinomial.cpp",
     "checked_index(read(a.inputs[2].data, i), s.classes)", "read(a.inputs[2].data, i)",
     GRADIENTS + "overwritten_classes_of_sample_multinomial_are_an_error"),
    ("ROIPooling's gradient trusts its places", "src/ops/vision/roi_pooling.cpp",
     "checked_index(places[i], images * channels * plane)", "places[i]",
     GRADIENTS + "kernels_check_places_they_write_to"),
    ("box_nms's gradient trusts its places", "src/ops/vision/box_nms.cpp",
     "checked_index(places[i], size / width)", "places[i]",
     GRADIENTS + "kernels_check_places_they_write_to"),
    ("the shapes of a gradient's inputs are not tied together", "src/graph/inference.cpp",
     "    rule(forward);\n", "", GRADIENTS + "shapes_of_every_input_are_tied_to_the_others"),
    ("Concat's gradient takes a head of any length", "src/ops/shape/concat.cpp",
     "  tie_to_forward(a, io, infer_concat, sides);\n", "",
     GRADIENTS + "shapes_of_every_input_are_tied_to_the_others"),
    ("SoftmaxOutput takes a vector with one label", "src/ops/loss/softmax_output.cpp",
     "x.rank() > 1 || a.preserve_shape || x[0] <= 1", "x.rank() > 0",
     GRADIENTS + "a_vector_with_one_label_has_no_classes"),
    # ---- limits
    ("twice as many inputs as the limit says", REGISTRY,
     "check_count(Limit::kNodeInputs, op.inputs_for(**count), owner);",
     "check_count(Limit::kNodeInputs, op.inputs_for(**count) / 2, owner);",
     LIMITS + "counts_of_inputs_and_outputs_are_refused_before_anything_is_made"),
    ("twice as many outputs as the limit says", REGISTRY,
     "check_count(Limit::kNodeOutputs, op.num_visible(attrs), owner);",
     "check_count(Limit::kNodeOutputs, op.num_visible(attrs) / 2, owner);",
     LIMITS + "counts_of_inputs_and_outputs_are_refused_before_anything_is_made"),
    ("keys of any length", JSON_READER, "      check_length(name, where, longest);\n", "",
     JSON + "long_names_and_keys"),
    ("nesting is not limited", JSON_READER, "if (depth > deepest)",
     "if (depth > 100 * deepest)", JSON + "deep_nesting"),
    ("ROIAlign counts points outside", "src/ops/vision/roi_align.cpp",
     "!(where >= -1 && where <= extent)", "std::isnan(where)",
     LIMITS + "roi_align_of_a_far_region_costs_its_bins"),
    ("a reflected border has the period of the other one", "src/ops/image/image_border.cpp",
     "period = 2 * (n - edge)", "period = 2 * n", LIMITS + "a_reflected_border_costs_its_pixels"),
]
