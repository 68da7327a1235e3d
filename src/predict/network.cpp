#include "predict/network.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/check.h"
#include "base/mismatch.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "device/runtime.h"
#include "executor/bind.h"
#include "graph/node.h"
#include "passes/compute_dtype.h"

namespace symbind {
namespace {

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// The named internal outputs. A node's name alone means its only output.
Symbol select_outputs(const Symbol& symbol, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return symbol;
  const Symbol internals = symbol.get_internals();
  const std::vector<std::string> names = internals.list_outputs();
  NodeEntries heads;
  for (const std::string& name : wanted) {
    auto found = std::ranges::find(names, name);
    if (found == names.end()) found = std::ranges::find(names, name + "_output");
    if (found == names.end()) {
      fail(ErrorKind::kName,
           "{} has no internal output '{}'; {}\n  fix:  give names of get_internals()",
           symbol.str(), name, nearest_hint(name, names));
    }
    heads.push_back(internals.heads()[static_cast<std::size_t>(found - names.begin())]);
  }
  return Symbol(heads);
}

/// What reads an argument: a node, and as which of its inputs.
struct Reader {
  const Node* node;
  int input;
};

std::map<std::string, std::vector<Reader>> readers_of(const Symbol& symbol) {
  std::map<std::string, std::vector<Reader>> readers;
  for (const NodePtr& node : post_order(symbol.heads())) {
    for (std::size_t i = 0; i < node->inputs.size(); ++i) {
      const Node& source = *node->inputs[i].node;
      if (source.is_variable()) readers[source.name].push_back({node.get(), static_cast<int>(i)});
    }
  }
  for (const NodeEntry& head : symbol.heads())  // a requested output is never a label
    if (head.node->is_variable()) readers[head.node->name].push_back({nullptr, 0});
  return readers;
}

/// A loss passes its data through and reads its label in backward only. For custom operators only
/// the argument's name is known.
bool reads_as_label(const std::string& name, const Reader& reader) {
  if (reader.node == nullptr) return false;
  const OpDef& op = *reader.node->op;
  return (op.is_loss && reader.input > 0) || (op.runs_user_code && name.ends_with("label"));
}

bool reads_as_weight(const Reader& reader) {
  static constexpr std::string_view kLearned[] = {"weight", "bias", "gamma", "beta", "parameters"};
  if (reader.node == nullptr || reader.input == 0) return false;
  const std::vector<std::string> names = reader.node->input_names();
  return std::ranges::find(kLearned, names[static_cast<std::size_t>(reader.input)]) !=
         std::end(kLearned);
}

ShapeMap for_users(ShapeMap shapes) {
  for (auto& [name, shape] : shapes) shape = to_user(shape);
  return shapes;
}

/// Layers write to their inputs only in training; update operators, which have no gradient, always
/// do.
void check_writes_no_argument(const Plan& plan) {
  for (const PlanStep& step : plan.steps) {
    if (step.node == nullptr || step.node->op->gradient) continue;
    for (std::size_t i = 0; i < step.in.size(); ++i) {
      const PlanTensor& t = plan.tensors[static_cast<std::size_t>(step.in[i])];
      check(t.home != Home::kArgument ||
                !step.node->op->mutates(step.node->parsed.get(), static_cast<int>(i)),
            ErrorKind::kNotImplemented,
            "{} writes to its input '{}', which all calls of a Predictor share\n"
            "  fix:  run such a network by Symbol::bind",
            step.title, t.name);
    }
  }
}

}  // namespace

Network::Network(const Symbol& symbol, const NDArrayMap& args, const NDArrayMap& aux,
                 const PredictorOptions& options)
    : symbol_(select_outputs(symbol, options.outputs)),
      context_(options.context),
      arg_names_(symbol_.list_arguments()),
      aux_names_(symbol_.list_auxiliary_states()),
      output_names_(symbol_.list_outputs()),
      types_(options.types),
      exact_(options.exact.value_or(settings::flag("SYMBIND_EXACT"))),
      compute_dtype_(compute_dtype_of(options.compute_dtype)) {
  runtime(context_);  // throws if there is no such device
  check(!output_names_.empty(), "the symbol has no outputs");
  find_inputs(options, args);
  for (const auto& [name, type] : options.types)
    if (!contains(arg_names_, name)) fail_unknown(name);
  take_weights(symbol, args, aux, options);
}

void Network::find_inputs(const PredictorOptions& options, const NDArrayMap& args) {
  const auto readers = readers_of(symbol_);
  const auto all = [&](const std::string& name, const auto& rule) {
    const auto it = readers.find(name);
    return it != readers.end() &&
           std::ranges::all_of(it->second, [&](const Reader& r) { return rule(r); });
  };
  for (const std::string& name : options.data_names) {
    check(contains(arg_names_, name), ErrorKind::kName,
          "data_names has '{}', which is not an argument of {}; {}\n  arguments without parameters "
          "are usually the inputs",
          name, symbol_.str(), nearest_hint(name, arg_names_));
    check(std::ranges::count(options.data_names, name) == 1, ErrorKind::kName,
          "data_names has '{}' twice", name);
  }
  std::vector<Input> named(options.data_names.size()), others, labels;
  for (std::size_t i = 0; i < arg_names_.size(); ++i) {
    const std::string& name = arg_names_[i];
    const auto at = std::ranges::find(options.data_names, name);
    if (at != options.data_names.end()) {
      named[static_cast<std::size_t>(at - options.data_names.begin())] = {name, i, false};
    } else if (args.contains(name)) {
      continue;
    } else if (all(name, [&](const Reader& r) { return reads_as_label(name, r); })) {
      labels.push_back({name, i, true});
    } else if (options.data_names.empty() && !all(name, reads_as_weight)) {
      others.push_back({name, i, false});
    } else {
      missing_.push_back(name);
    }
  }
  inputs_ = std::move(named);
  inputs_.insert(inputs_.end(), others.begin(), others.end());
  inputs_.insert(inputs_.end(), labels.begin(), labels.end());
  for (const Input& input : inputs_)
    (input.is_label ? label_names_ : input_names_).push_back(input.name);
}

void Network::take_weights(const Symbol& whole, const NDArrayMap& args, const NDArrayMap& aux,
                           const PredictorOptions& options) {
  Mismatch found;
  if (!options.allow_missing) found.missing = missing_;
  for (const std::string& name : aux_names_) {
    if (aux.contains(name)) continue;
    if (!options.allow_missing) found.missing.push_back(name);
    missing_.push_back(name);
  }
  const auto note_extra = [&](const NDArrayMap& given, const std::vector<std::string>& known) {
    for (const auto& [name, array] : given)
      if (!contains(known, name)) found.extra.push_back(name);
  };
  if (!options.allow_extra) {
    note_extra(args, whole.list_arguments());
    note_extra(aux, whole.list_auxiliary_states());
  }
  if (!options.input_shapes.empty()) {
    const InferredShapes needed =
        symbol_.infer_shape_partial(for_users(known_shapes(signature(options.input_shapes))));
    const auto compare = [&](const std::vector<std::string>& names,
                             const std::vector<Shape>& shapes, const NDArrayMap& given) {
      for (std::size_t i = 0; i < names.size(); ++i) {
        const auto it = given.find(names[i]);
        const Shape wanted = from_user(shapes[i]);
        if (it == given.end() || contains(input_names_, names[i]) || !wanted.known()) continue;
        if (it->second.shape() != wanted) {
          found.wrong.push_back(fmt::format("{} given {} needed {}", names[i],
                                            it->second.shape().str(), wanted.str()));
        }
      }
    };
    compare(arg_names_, needed.args, args);
    compare(aux_names_, needed.aux, aux);
  }
  if (!found.missing.empty() || !found.wrong.empty() || !found.extra.empty()) {
    fail(ErrorKind::kValue,
         "the parameters are not those of {}{}\n  fix:  give the parameters of this network; "
         "allow_missing=True uses zeros for missing ones, allow_extra=True ignores extra ones, "
         "data_names lists the arguments that are inputs",
         whole.str(), found.lines());
  }
  const auto take = [&](const std::vector<std::string>& names, const NDArrayMap& from,
                        NDArrayMap& to) {
    for (const std::string& name : names) {
      const auto it = from.find(name);
      if (it == from.end() || contains(input_names_, name)) continue;
      check(it->second.defined(), "parameter '{}' is an empty array", name);
      it->second.wait_to_read();
      to[name] =
          it->second.context() == context_ ? it->second.copy() : it->second.as_in_context(context_);
      types_[name] = it->second.dtype();
    }
  };
  take(arg_names_, args, args_);
  take(aux_names_, aux, aux_);
  // Contradictions that do not depend on the inputs.
  symbol_.infer_shape_partial(for_users(known_shapes(Signature(inputs_.size(), Shape::unknown()))));
}

void Network::fail_unknown(const std::string& name) const {
  check(!args_.contains(name), ErrorKind::kName,
        "'{}' is a parameter; a call gives {}\n  fix:  list it in data_names to give it with each "
        "call",
        name, fmt::join(input_names_, ", "));
  std::vector<std::string> names = input_names_;
  names.insert(names.end(), label_names_.begin(), label_names_.end());
  fail(ErrorKind::kName, "there is no input '{}'; {}\n  inputs:  {}", name,
       nearest_hint(name, names), fmt::join(names, ", "));
}

Signature Network::signature(const ShapeMap& shapes) const {
  Signature signature(inputs_.size(), Shape::unknown());
  for (const auto& [name, shape] : shapes) {
    const auto it = std::ranges::find(inputs_, name, &Input::name);
    if (it == inputs_.end()) fail_unknown(name);
    check(shape.known() && std::ranges::all_of(shape, [](std::int64_t d) { return d > 0; }),
          ErrorKind::kShape, "the shape {} of input '{}' has no numbers; every axis must have one",
          shape.str(), name);
    signature[static_cast<std::size_t>(it - inputs_.begin())] = shape;
  }
  return signature;
}

void Network::check_complete(const Signature& signature) const {
  std::vector<std::string> absent;
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (!signature[i].rank_known() && !inputs_[i].is_label) absent.push_back(inputs_[i].name);
  check(absent.empty(), ErrorKind::kValue, "inputs are missing: {}\n  needed in order: {}",
        fmt::join(absent, ", "), fmt::join(input_names_, ", "));
}

ShapeMap Network::known_shapes(const Signature& signature) const {
  ShapeMap shapes;
  for (const NDArrayMap* part : {&args_, &aux_})
    for (const auto& [name, array] : *part) shapes.emplace(name, array.shape());
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    if (signature[i].rank_known()) shapes.emplace(inputs_[i].name, signature[i]);
  return shapes;
}

std::string Network::describe(const Signature& signature) const {
  std::vector<std::string> given;
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    if (signature[i].rank_known())
      given.push_back(fmt::format("{} {}", inputs_[i].name, signature[i].str()));
  }
  return fmt::format("for a prediction of {}; parameters are fixed, inputs must fit them",
                     fmt::join(given, ", "));
}

Signature Network::inferred(const Signature& signature) const {
  const ArraySlots slots = infer_slots(symbol_, known_shapes(signature), types_, context_, {});
  Signature all;
  for (const Input& input : inputs_) all.push_back(slots.args[input.argument].shape);
  return all;
}

PlannedShapes Network::plan(const Signature& signature) const {
  check_complete(signature);
  try {
    const ArraySlots slots = infer_slots(symbol_, known_shapes(signature), types_, context_, {});
    PlannedShapes made{.plan = {}, .bound = {}, .outputs = {}, .input_types = {}};
    made.bound = Bound{.symbol = symbol_,
                       .context = context_,
                       .group2ctx = {},
                       .arg_names = arg_names_,
                       .aux_names = aux_names_,
                       .output_names = output_names_,
                       .args = std::vector<NDArray>(slots.args.size()),
                       .grads = std::vector<NDArray>(slots.args.size()),
                       .aux = {},
                       .grad_req = std::vector<GradReq>(slots.args.size(), GradReq::kNull)};
    std::set<std::size_t> open;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      made.input_types.push_back(slots.args[inputs_[i].argument].dtype);
      if (signature[i].rank_known()) open.insert(inputs_[i].argument);
    }
    BindSpec spec;
    spec.context = context_;
    spec.arg_names = arg_names_;
    spec.aux_names = aux_names_;
    spec.grad_req = made.bound.grad_req;
    spec.predicts = true;
    spec.exact = exact_;
    spec.compute_dtype = compute_dtype_;
    const auto zeros = [](const ArraySlot& slot) {
      return NDArray::zeros(slot.shape, slot.context, slot.dtype);
    };
    for (std::size_t i = 0; i < slots.args.size(); ++i) {
      const ArraySlot& slot = slots.args[i];
      spec.args.push_back({.shape = slot.shape, .dtype = slot.dtype});
      spec.arg_contexts.push_back(slot.context);
      if (open.contains(i)) continue;
      const auto it = args_.find(slot.name);
      made.bound.args[i] = it != args_.end() ? it->second : zeros(slot);
    }
    for (const ArraySlot& slot : slots.aux) {
      spec.aux.push_back({.shape = slot.shape, .dtype = slot.dtype});
      spec.aux_contexts.push_back(slot.context);
      const auto it = aux_.find(slot.name);
      made.bound.aux.push_back(it != aux_.end() ? it->second : zeros(slot));
    }
    runtime(context_).make_current();
    made.plan = compile(symbol_, spec);
    check_writes_no_argument(*made.plan);
    for (std::size_t i = 0; i < made.plan->outputs.size(); ++i)
      made.outputs.push_back(made.plan->output(i));
    made.shareable = std::ranges::none_of(made.plan->steps, [](const PlanStep& step) {
      return step.node != nullptr && step.node->op->runs_user_code;
    });
    return made;
  } catch (const Error& e) {
    throw e.with_context(describe(signature));
  }
}

}  // namespace symbind
