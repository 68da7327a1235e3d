// _foreach: a loop over the slices of its data along the first axis.
//
//   s_0 given;  y_t, s_t = body(x_t, s_(t-1), others);  outputs stack(y_1 ... y_T), s_T
//
// Decided here: the operator has rules and no kernel. Binding knows T and unrolls it, so its
// gradient is that of the unrolled body and memory is planned for all iterations together. A state
// keeps its shape and dtype in all iterations. The slices of a vector have one element, (1,), as in
// MXNet.
#include <algorithm>

#include <fmt/format.h>
#include <symbind/operator.h>

#include "base/check.h"
#include "graph/core_ops.h"
#include "graph/loop.h"

namespace symbind {

void ForeachAttrs::describe(AttrVisitor& v) {
  v.field("num_outputs", num_outputs, "Number of outputs, including the last states.").required();
  v.field("num_out_data", num_out_data, "How many outputs are stacked over the iterations.")
      .required();
  v.field("in_state_locs", in_state_locs, "Indices of the states in the body's variables.")
      .required()
      .at_least(0);
  v.field("in_data_locs", in_data_locs, "Indices of the slices in the body's variables.")
      .required()
      .at_least(0);
  v.field("remain_locs", remain_locs, "Indices of the other inputs in the body's variables.")
      .required()
      .at_least(0);
}

const std::string& ForeachAttrs::variable(int input) const {
  const auto at = [&](const Tuple& places, int i) -> const std::string& {
    return variables[static_cast<std::size_t>(places[static_cast<std::size_t>(i)])];
  };
  if (input < num_data()) return at(in_data_locs, input);
  input -= num_data();
  return input < num_states() ? at(in_state_locs, input) : at(remain_locs, input - num_states());
}

namespace {

void take_body(ForeachAttrs& a, AttrDict rest) {
  const auto text = rest.find(kSubgraph);
  check(text != rest.end() && rest.size() == 1, ErrorKind::kName,
        "_foreach takes a body and no further parameters; use contrib.foreach");
  a.body = Symbol::load_json(text->second);
  a.variables = a.body.list_inputs();
  for (const NodePtr& node : post_order(a.body.heads()))
    if (is_loop(*node)) a.depth = std::max(a.depth, loop_attrs(*node).depth + 1);
  check(a.depth <= kDeepestLoop, "_foreach: loops are nested {} deep; the limit is {}", a.depth,
        kDeepestLoop);
  check(a.num_data() > 0, "_foreach: there is no data to iterate over; in_data_locs is empty");
  check(
      a.num_out_data >= 0 && a.num_outputs == a.num_out_data + a.num_states() &&
          static_cast<std::size_t>(a.num_outputs) == a.body.num_outputs(),
      "_foreach: num_outputs {} and num_out_data {} do not fit {} states and a body of {} outputs",
      a.num_outputs, a.num_out_data, a.num_states(), a.body.num_outputs());
  std::vector<std::int64_t> seen;
  for (const Tuple* places : {&a.in_data_locs, &a.in_state_locs, &a.remain_locs})
    seen.insert(seen.end(), places->begin(), places->end());
  std::ranges::sort(seen);
  bool each_once = seen.size() == a.variables.size();
  for (std::size_t i = 0; each_once && i < seen.size(); ++i)
    each_once = seen[i] == static_cast<std::int64_t>(i);
  check(each_once,
        "_foreach: the indices of the inputs do not name each of the body's {} variables once",
        a.variables.size());
}

std::vector<std::string> input_names(const ForeachAttrs& a) {
  std::vector<std::string> names;
  for (int i = 0; i < a.num_inputs(); ++i) names.push_back(fmt::format("data{}", i));
  return names;
}

std::vector<std::string> output_names(const ForeachAttrs& a) {
  if (a.num_outputs == 1) return {"output"};
  std::vector<std::string> names;
  for (int i = 0; i < a.num_outputs; ++i) names.push_back(fmt::format("output{}", i));
  return names;
}

InputRoles roles(const ForeachAttrs& a) {
  const std::vector<std::string> aux = a.body.list_auxiliary_states();
  InputRoles result;
  for (int i = 0; i < a.num_inputs(); ++i) {
    if (std::ranges::find(aux, a.variable(i)) == aux.end()) continue;
    result.aux.push_back(i);
    result.mutated.push_back(i);
  }
  return result;
}

Shape without_first(const Shape& shape) {
  if (!shape.rank_known()) return Shape::unknown();
  check(shape.rank() > 0, ErrorKind::kShape,
        "foreach iterates over the first axis, but a scalar has none");
  if (shape.rank() == 1) return {1};
  return Shape(std::span(shape.begin() + 1, shape.end()));
}

Shape with_first(std::int64_t first, const Shape& rest) {
  if (!rest.rank_known()) return Shape::unknown();
  Shape shape{first};
  for (const std::int64_t dim : rest) shape.push_back(dim);
  return shape;
}

void infer_turns(const ForeachAttrs& a, Inference& io) {
  std::int64_t iterations = kUnknownDim;
  for (int i = 0; i < a.num_data(); ++i)
    if (io.rank(Inference::in(i)) > 0 && iterations == kUnknownDim)
      iterations = io.shape(Inference::in(i))[0];
  for (int o = 0; o < a.num_out_data; ++o)
    if (io.rank(Inference::out(o)) > 0 && iterations == kUnknownDim)
      iterations = io.shape(Inference::out(o))[0];
  for (int i = 0; i < a.num_data(); ++i) {
    if (!io.shape(Inference::in(i)).rank_known()) continue;
    Shape needed = Shape::of_rank(io.rank(Inference::in(i)));
    check(needed.rank() > 0, ErrorKind::kShape,
          "foreach iterates over the first axis, but a scalar has none");
    needed[0] = iterations;
    io.set_shape(Inference::in(i), needed, "all data of a loop must have equally many slices");
  }
  ShapeMap given;
  for (int i = 0; i < a.num_inputs(); ++i) {
    const Shape& shape = io.shape(Inference::in(i));
    given.emplace(a.variable(i), to_user(i < a.num_data() ? without_first(shape) : shape));
  }
  const InferredShapes found = a.body.infer_shape_partial(given);
  ShapeMap by_name;
  const auto keep = [&](const std::vector<std::string>& names, const std::vector<Shape>& shapes) {
    for (std::size_t i = 0; i < names.size(); ++i) by_name.emplace(names[i], shapes[i]);
  };
  keep(a.body.list_arguments(), found.args);
  keep(a.body.list_auxiliary_states(), found.aux);
  for (int i = 0; i < a.num_inputs(); ++i) {
    const Shape& shape = by_name.at(a.variable(i));
    if (i >= a.num_data())
      io.set_shape(Inference::in(i), shape, "the loop's body needs it");
    else if (io.rank(Inference::in(i)) != 1 && shape.rank() != 1)  // of one element, or a vector's
      io.set_shape(Inference::in(i), with_first(iterations, shape), "the loop's body needs it");
  }
  for (int o = 0; o < a.num_outputs; ++o) {
    const Shape& shape = found.outputs[static_cast<std::size_t>(o)];
    io.set_shape(Inference::out(o), o < a.num_out_data ? with_first(iterations, shape) : shape);
  }
}

void infer_types(const ForeachAttrs& a, Inference& io) {
  DTypeMap given;
  for (int i = 0; i < a.num_inputs(); ++i) {
    if (io.dtype(Inference::in(i)) != DType::kUnknown)
      given.emplace(a.variable(i), io.dtype(Inference::in(i)));
  }
  const InferredTypes found = a.body.infer_type(given);
  DTypeMap by_name;
  const auto keep = [&](const std::vector<std::string>& names, const std::vector<DType>& types) {
    for (std::size_t i = 0; i < names.size(); ++i) by_name.emplace(names[i], types[i]);
  };
  keep(a.body.list_arguments(), found.args);
  keep(a.body.list_auxiliary_states(), found.aux);
  for (int i = 0; i < a.num_inputs(); ++i)
    io.set_dtype(Inference::in(i), by_name.at(a.variable(i)), "the loop's body needs it");
  for (int o = 0; o < a.num_outputs; ++o)
    io.set_dtype(Inference::out(o), found.outputs[static_cast<std::size_t>(o)]);
}

void infer(const ForeachAttrs& a, Inference& io) {
  for (int k = 0; k < a.num_states(); ++k) {
    io.same_shape(Inference::in(a.num_data() + k), Inference::out(a.num_out_data + k));
    io.same_dtype(Inference::in(a.num_data() + k), Inference::out(a.num_out_data + k));
  }
  infer_turns(a, io);
  infer_types(a, io);
}

}  // namespace

void register_foreach(OpRegistry& r) {
  r.add<ForeachAttrs>(core_ops::kForeach)
      .loop()
      .doc("A loop over the slices of its data along the first axis; made by contrib.foreach.")
      .ignore({"num_args"})
      .rest(take_body)
      .inputs(input_names)
      .outputs(output_names, [](const ForeachAttrs& a) { return a.num_outputs; })
      .roles(roles)
      .infer(infer);
}

}  // namespace symbind
