// Symbol::bind and Symbol::simple_bind: from the user's arguments to an executor's arrays.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "base/check.h"
#include "base/nearest.h"
#include "base/settings.h"
#include "device/runtime.h"
#include "executor/bind.h"
#include "executor/executor_impl.h"
#include "passes/compute_dtype.h"
#include "passes/infer.h"

namespace symbind {
namespace {

GradReq parse_req(const std::string& text) {
  if (text == "write") return GradReq::kWrite;
  if (text == "add") return GradReq::kAdd;
  if (text == "null") return GradReq::kNull;
  fail(ErrorKind::kValue, "grad_req '{}' is not known; allowed: write, add, null", text);
}

std::vector<GradReq> resolve_req(const GradReqArg& given, const std::vector<std::string>& names) {
  std::vector<GradReq> req(names.size(), GradReq::kNull);
  if (const auto* all = std::get_if<std::string>(&given)) {
    std::ranges::fill(req, parse_req(*all));
  } else if (const auto* list = std::get_if<std::vector<std::string>>(&given)) {
    check(list->size() == names.size(), "{} grad_req entries for {} arguments ({})", list->size(),
          names.size(), fmt::join(names, ", "));
    std::ranges::transform(*list, req.begin(), parse_req);
  } else {
    std::unordered_map<std::string_view, std::size_t> place;  // index of the first of each name
    for (std::size_t i = 0; i < names.size(); ++i) place.emplace(names[i], i);
    for (const auto& [name, text] : std::get<std::map<std::string, std::string>>(given)) {
      const GradReq wanted = parse_req(text);
      if (const auto it = place.find(name); it != place.end()) req[it->second] = wanted;
    }
  }
  return req;
}

// Arrays in the order of `names`; absent ones stay undefined.
std::vector<NDArray> in_order(const ArraysArg& given, const std::vector<std::string>& names,
                              const char* what) {
  std::vector<NDArray> ordered(names.size());
  if (const auto* list = std::get_if<std::vector<NDArray>>(&given)) {
    check(list->empty() || list->size() == names.size(), "{} {} were given, {} are needed: {}",
          list->size(), what, names.size(), fmt::join(names, ", "));
    std::ranges::copy(*list, ordered.begin());
  } else {
    const NDArrayMap& map = std::get<NDArrayMap>(given);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (const auto it = map.find(names[i]); it != map.end()) ordered[i] = it->second;
    }
  }
  return ordered;
}

Context place_variable(const Node& node, Context fallback, const ContextMap& groups) {
  const auto group = node.attrs.find("__ctx_group__");
  if (group == node.attrs.end()) return fallback;
  const auto it = groups.find(group->second);
  return it == groups.end() ? fallback : it->second;
}

// Checks that the arrays of simple_bind fit in memory before anything is allocated.
void check_fits(const std::vector<ArraySlot>& slots, const std::vector<std::size_t>& copies) {
  std::vector<std::pair<double, std::string>> sizes;
  double total = 0;
  for (std::size_t i = 0; i < slots.size(); ++i) {
    double bytes = static_cast<double>(size_of(slots[i].dtype)) * static_cast<double>(copies[i]);
    for (const std::int64_t d : slots[i].shape) bytes *= static_cast<double>(d);
    total += bytes;
    sizes.emplace_back(
        bytes, fmt::format("{} {} ({:.3g} GB)", slots[i].name, slots[i].shape.str(), bytes / 1e9));
  }
  if (slots.empty()) return;
  const MemoryInfo memory = runtime(slots.front().context).memory();
  if (total <= static_cast<double>(memory.free)) return;
  std::ranges::sort(sizes, std::greater<>{});
  sizes.resize(std::min<std::size_t>(3, sizes.size()));
  std::vector<std::string> names;
  for (const auto& [bytes, name] : sizes) names.push_back(name);
  fail(ErrorKind::kMemory, "the arrays need {:.3g} GB, {:.3g} GB are free; the largest are {}",
       total / 1e9, static_cast<double>(memory.free) / 1e9, fmt::join(names, ", "));
}

Executor make_executor(Bound bound, const Executor* shared,
                       const std::vector<NDArray>& outputs_to_reuse = {}) {
  return Executor(std::make_shared<Executor::Impl>(
      std::move(bound), shared && shared->impl() ? runner_of(*shared).arenas() : nullptr,
      outputs_to_reuse));
}

// Names and devices; the arrays come later.
Bound named(const Symbol& symbol, Context context, const ContextMap& groups) {
  return Bound{.symbol = symbol,
               .context = context,
               .group2ctx = groups,
               .arg_names = symbol.list_arguments(),
               .aux_names = symbol.list_auxiliary_states(),
               .output_names = symbol.list_outputs(),
               .args = {},
               .grads = {},
               .aux = {},
               .grad_req = {}};
}

// The caller-supplied arrays of all slots that are `wanted`; undefined where there is none.
std::vector<NDArray> supplied_arrays(const std::vector<ArraySlot>& slots, const ArraySource& source,
                                     const std::vector<GradReq>* wanted = nullptr) {
  std::vector<NDArray> arrays(slots.size());
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (wanted && (*wanted)[i] == GradReq::kNull) continue;
    if (source) arrays[i] = source(slots[i]);
  }
  return arrays;
}

// Checks that the missing arrays fit in memory, then allocates them.
void allocate(Bound& bound, const ArraySlots& inferred) {
  std::vector<ArraySlot> all = inferred.args;
  all.insert(all.end(), inferred.aux.begin(), inferred.aux.end());
  std::vector<std::size_t> copies;
  for (std::size_t i = 0; i < bound.args.size(); ++i) {
    const bool grad = bound.grad_req[i] != GradReq::kNull && !bound.grads[i].defined();
    copies.push_back((bound.args[i].defined() ? 0 : 1) + (grad ? 1 : 0));
  }
  for (const NDArray& aux : bound.aux) copies.push_back(aux.defined() ? 0 : 1);
  check_fits(all, copies);
  const auto fill = [](NDArray& array, const ArraySlot& s) {
    if (!array.defined()) array = NDArray::zeros(s.shape, s.context, s.dtype);
  };
  for (std::size_t i = 0; i < bound.args.size(); ++i) {
    fill(bound.args[i], inferred.args[i]);
    if (bound.grad_req[i] != GradReq::kNull) fill(bound.grads[i], inferred.args[i]);
  }
  for (std::size_t i = 0; i < bound.aux.size(); ++i) fill(bound.aux[i], inferred.aux[i]);
}

}  // namespace

ArraySlots infer_slots(const Symbol& symbol, const ShapeMap& shapes, const DTypeMap& types,
                       Context context, const ContextMap& groups) {
  const IndexedGraph graph = index_graph(symbol.heads());
  Inferred known = start_inference(graph, shapes, types);
  infer_shape(graph, known);
  infer_dtype(graph, known);
  const std::vector<std::string> unknown = undecided(graph, known);
  check(unknown.empty(), "the shapes of these arguments cannot be decided: {}\n  fix:  give {}=…",
        fmt::join(unknown, ", "),
        unknown.empty() ? "" : unknown.front().substr(0, unknown.front().find(' ')));
  std::unordered_set<const Node*> aux;
  for (const IndexedNode& n : graph.nodes) {
    for (std::size_t i = 0; i < n.node->inputs.size(); ++i) {
      if (n.node->is_aux_input(static_cast<int>(i))) aux.insert(n.node->inputs[i].node.get());
    }
  }
  ArraySlots slots;
  for (const IndexedNode& n : graph.nodes) {
    if (!n.node->is_variable()) continue;
    const auto e = static_cast<std::size_t>(n.first_entry);
    (aux.contains(n.node.get()) ? slots.aux : slots.args)
        .push_back({n.node->name, known.shapes[e], known.dtypes[e],
                    place_variable(*n.node, context, groups)});
  }
  return slots;
}

Executor simple_bind_with(const Symbol& symbol, Context context, const ShapeMap& shapes,
                          const SimpleBindOptions& options, const ArraySources& sources) {
  ShapeMap given;
  for (const auto& [name, shape] : shapes) given.emplace(name, from_user(shape));
  try {
    runtime(context);
    Bound bound = named(symbol, context, options.group2ctx);
    bound.exact = options.exact.value_or(settings::flag("SYMBIND_EXACT"));
    bound.compute_dtype = compute_dtype_of(options.compute_dtype);
    bound.grad_req = resolve_req(options.grad_req, bound.arg_names);
    const ArraySlots inferred =
        infer_slots(symbol, given, options.types, context, options.group2ctx);
    bound.args = supplied_arrays(inferred.args, sources.argument);
    bound.grads = supplied_arrays(inferred.args, sources.gradient, &bound.grad_req);
    bound.aux = supplied_arrays(inferred.aux, sources.auxiliary);
    allocate(bound, inferred);
    return make_executor(std::move(bound), options.shared_exec, sources.outputs);
  } catch (const Error& e) {
    std::string text = "simple_bind error. Arguments:\n";
    for (const auto& [name, shape] : shapes) text += fmt::format("{}: {}\n", name, shape.str());
    throw Error(e.kind(), text + e.what());
  }
}

Executor Symbol::simple_bind(Context context, const ShapeMap& shapes,
                             const SimpleBindOptions& options) const {
  settings::refresh();
  return simple_bind_with(*this, context, shapes, options, {});
}

Executor Symbol::bind(Context context, const ArraysArg& args, const BindOptions& options) const {
  settings::refresh();
  runtime(context);
  Bound bound = named(*this, context, options.group2ctx);
  bound.exact = options.exact.value_or(settings::flag("SYMBIND_EXACT"));
  bound.compute_dtype = compute_dtype_of(options.compute_dtype);
  bound.args = in_order(args, bound.arg_names, "arguments");
  for (std::size_t i = 0; i < bound.args.size(); ++i) {
    check(bound.args[i].defined(), "argument '{}' is missing; needed in order: {}",
          bound.arg_names[i], fmt::join(bound.arg_names, ", "));
  }
  bound.grads = in_order(options.args_grad, bound.arg_names, "gradient arrays");
  bound.grad_req = resolve_req(options.grad_req, bound.arg_names);
  ShapeMap shapes;
  DTypeMap types;
  for (std::size_t i = 0; i < bound.args.size(); ++i) {
    shapes.emplace(bound.arg_names[i], bound.args[i].shape());
    types.emplace(bound.arg_names[i], bound.args[i].dtype());
    if (!bound.grads[i].defined()) bound.grad_req[i] = GradReq::kNull;
    if (bound.grad_req[i] == GradReq::kNull) bound.grads[i] = {};
    check(!bound.grads[i].defined() || bound.grads[i].shape() == bound.args[i].shape(),
          ErrorKind::kShape, "the gradient array of '{}' has shape {}, the argument has {}",
          bound.arg_names[i], bound.grads[i].shape().str(), bound.args[i].shape().str());
    check(!bound.grads[i].defined() || (bound.grads[i].dtype() == bound.args[i].dtype() &&
                                        bound.grads[i].context() == bound.args[i].context()),
          ErrorKind::kType,
          "the gradient array of '{}' is {} on {}, the argument is {} on {}\n"
          "  fix:  give it the argument's dtype and device",
          bound.arg_names[i], dtype_name(bound.grads[i].dtype()),
          bound.grads[i].defined() ? bound.grads[i].context().str() : "",
          dtype_name(bound.args[i].dtype()), bound.args[i].context().str());
  }
  bound.aux = in_order(options.aux_states, bound.aux_names, "auxiliary states");
  const bool all_aux = std::ranges::all_of(bound.aux, &NDArray::defined);
  for (std::size_t i = 0; i < bound.aux.size(); ++i) {
    if (!bound.aux[i].defined()) continue;
    shapes.emplace(bound.aux_names[i], bound.aux[i].shape());
    types.emplace(bound.aux_names[i], bound.aux[i].dtype());
  }
  const ArraySlots inferred = infer_slots(*this, shapes, types, context, options.group2ctx);
  if (!all_aux) {
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < bound.aux.size(); ++i) {
      if (!bound.aux[i].defined())
        missing.push_back(inferred.aux[i].name + " " + inferred.aux[i].shape.str());
    }
    fail(ErrorKind::kValue, "auxiliary states are missing: {}\n  fix:  give them in aux_states",
         fmt::join(missing, ", "));
  }
  return make_executor(std::move(bound), options.shared_exec);
}

std::vector<NDArray> Symbol::eval(Context context, const NDArrayMap& args) const {
  Executor executor = bind(context, args, {.grad_req = "null"});
  return executor.forward(false);
}

std::shared_ptr<Executor::Impl> Executor::Impl::reshape(const ShapeMap& shapes,
                                                        const ReshapeOptions& options) const {
  const Bound& from = bound();
  for (const auto& [name, shape] : shapes) {
    check(std::ranges::find(from.arg_names, name) != from.arg_names.end(), ErrorKind::kName,
          "there is no argument '{}'; {}", name, nearest_hint(name, from.arg_names));
  }
  DTypeMap types;
  for (std::size_t i = 0; i < from.args.size(); ++i)
    types.emplace(from.arg_names[i], from.args[i].dtype());
  ShapeMap given;
  for (const auto& [name, shape] : shapes) given.emplace(name, from_user(shape));
  const ArraySlots inferred = infer_slots(from.symbol, given, types, from.context, from.group2ctx);
  Bound bound = from;
  const auto fit = [&](NDArray& array, NDArray* grad, const ArraySlot& slot) {
    if (array.shape() == slot.shape) return;
    check(shapes.contains(slot.name) || options.partial_shaping, ErrorKind::kState,
          "the shape of '{}' would change from {} to {} although it was not named; the new "
          "executor would not share it\n"
          "  fix:  pass partial_shaping=true if that is intended",
          slot.name, array.shape().str(), slot.shape.str());
    const bool grows = slot.shape.size() > array.size();
    check(!grows || options.allow_up_sizing, ErrorKind::kState,
          "the new shape {} of '{}' is larger than {}\n  fix:  bind the largest shape first, or "
          "pass allow_up_sizing=true",
          slot.shape.str(), slot.name, array.shape().str());
    const auto resized = [&](const NDArray& old) {
      return grows ? NDArray::zeros(slot.shape, slot.context, slot.dtype)
                   : NDArray(old.storage(), slot.shape, slot.dtype, old.byte_offset());
    };
    array = resized(array);
    if (grad != nullptr && grad->defined()) *grad = resized(*grad);
  };
  for (std::size_t i = 0; i < bound.args.size(); ++i)
    fit(bound.args[i], &bound.grads[i], inferred.args[i]);
  for (std::size_t i = 0; i < bound.aux.size(); ++i) fit(bound.aux[i], nullptr, inferred.aux[i]);
  auto impl = std::make_shared<Impl>(std::move(bound), runner_.arenas(), outputs());
  if (watchers_.monitor) impl->set_monitor(watchers_.monitor, watchers_.monitor_all);
  if (watchers_.guard) impl->set_guard(watchers_.guard);
  return impl;
}

}  // namespace symbind
