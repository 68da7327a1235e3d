// Decided here: a slice is a divisor of the batch. It is the largest one with which the tensors of
// every step fit the caches. Only networks that compute little per byte are sliced: others wait for
// multiplications, and layers over few pixels are slower with fewer samples.
//
// Which tensors have the batch as their first axis follows from the outputs, backwards, by the
// column `slices` of the operators. A node whose output is the same for all slices computes it with
// each of them. A tensor that would be both is the end of the attempt, as is an operator without
// the column.
#include "passes/slice_batch.h"

#include <algorithm>

#include "base/check.h"
#include "passes/cost.h"
#include "passes/infer.h"

namespace symbind {
namespace {

// Bytes of a step's tensors: with more they are sliced, and a slice has at least so many.
constexpr double kCaches = 32 << 20, kLeast = 4 << 20;
// Operations per byte of activations, at most: where the parameters stay in the caches, and where
// every slice reads them from memory.
constexpr double kMostFlops = 75, kMostFlopsOfLarge = 40;

/// What the steps of a plan cost.
struct Traffic {
  double flops = 0, bytes = 0, largest = 0;  ///< bytes of activations, of a step at most
};

Traffic traffic_of(const Plan& plan) {
  Traffic all;
  for (const PlanStep& step : plan.steps) {
    double bytes = 0;
    for (const auto* list : {&step.in, &step.out})
      for (const int t : *list) {
        const PlanTensor& tensor = plan.tensors[static_cast<std::size_t>(t)];
        if (tensor.in_arena() || tensor.home == Home::kOutput)
          bytes += static_cast<double>(tensor.bytes);
      }
    all.flops += std::max(0.0, cost_of(plan, step).flops);
    all.bytes += bytes;
    all.largest = std::max(all.largest, bytes);
  }
  return all;
}

enum class Part : std::uint8_t { kUnknown, kWhole, kSlice };

/// For each entry of the graph, whether a slice of the outputs needs all of it or the same slice.
/// Nothing where that cannot be said.
std::optional<std::vector<Part>> parts_of(const IndexedGraph& graph, const Inferred& known,
                                          std::int64_t batch) {
  std::vector<Part> parts(static_cast<std::size_t>(graph.num_entries()), Part::kUnknown);
  const auto require = [&](int entry, Part part) {
    const auto at = static_cast<std::size_t>(entry);
    const Shape& shape = known.shapes[at];
    if (part == Part::kSlice && (shape.rank() == 0 || shape[0] != batch)) return false;
    if (parts[at] != Part::kUnknown && parts[at] != part) return false;
    parts[at] = part;
    return true;
  };
  for (const int head : graph.heads)
    if (!require(head, Part::kSlice)) return std::nullopt;
  for (auto n = graph.nodes.rbegin(); n != graph.nodes.rend(); ++n) {
    if (n->node->is_variable()) continue;
    const auto first = static_cast<std::size_t>(n->first_entry);
    Part part = Part::kUnknown;
    for (std::size_t o = first; o < first + static_cast<std::size_t>(n->num_outputs); ++o) {
      if (parts[o] == Part::kUnknown) continue;
      if (part != Part::kUnknown && parts[o] != part) return std::nullopt;
      part = parts[o];
    }
    std::vector<bool> sliced(n->inputs.size(), false);
    if (part == Part::kSlice) {
      if (!n->node->op->slices) return std::nullopt;
      std::vector<Shape> in;
      for (const int entry : n->inputs) in.push_back(known.shapes[static_cast<std::size_t>(entry)]);
      sliced = n->node->op->slices(n->node->parsed.get(), in, known.shapes[first]);
      if (sliced.size() != n->inputs.size()) return std::nullopt;
    }
    for (std::size_t i = 0; i < n->inputs.size() && part != Part::kUnknown; ++i)
      if (!require(n->inputs[i], sliced[i] ? Part::kSlice : Part::kWhole)) return std::nullopt;
  }
  return parts;
}

Inferred infer(const IndexedGraph& graph, const BindSpec& spec) {
  ShapeMap shapes;
  DTypeMap dtypes;
  const auto add = [&](const std::vector<std::string>& names, const std::vector<TensorDesc>& all) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      shapes.insert_or_assign(names[i], all[i].shape);
      dtypes.insert_or_assign(names[i], all[i].dtype);
    }
  };
  add(spec.arg_names, spec.args);
  add(spec.aux_names, spec.aux);
  Inferred known = start_inference(graph, shapes, dtypes);
  infer_shape(graph, known);
  return known;
}

/// Whether the shapes for one slice are those of the whole, but for the batch of sliced entries:
/// an attribute may name the batch.
bool has_shapes_of_slice(const IndexedGraph& graph, const std::vector<Part>& parts,
                         const Inferred& whole, const BindSpec& slice, std::int64_t count) {
  Inferred known;
  try {
    known = infer(graph, slice);
  } catch (const Error&) {
    return false;
  }
  for (std::size_t e = 0; e < parts.size(); ++e) {
    if (parts[e] == Part::kUnknown) continue;
    Shape expected = whole.shapes[e];
    if (parts[e] == Part::kSlice) expected[0] /= count;
    if (known.shapes[e] != expected) return false;
  }
  return true;
}

}  // namespace

BindSpec bind_slice(const BindSpec& spec, const BatchSlices& slices) {
  BindSpec slice = spec;
  slice.slices = slices;
  for (std::size_t i = 0; i < slice.args.size(); ++i)
    if (slices.args[i]) slice.args[i].shape[0] /= slices.count;
  return slice;
}

BatchSlices slice_batch(const Plan& whole, const BindSpec& spec) {
  const Traffic traffic = traffic_of(whole);
  if (!whole.predicts || whole.contexts.size() != 1 ||
      whole.contexts.front().type == DeviceType::kGpu || traffic.largest <= kCaches ||
      traffic.flops > kMostFlops * traffic.bytes)
    return {};
  const Shape& output = whole.tensors[static_cast<std::size_t>(whole.outputs.front())].desc.shape;
  const std::int64_t batch = output.rank() == 0 ? 1 : output[0];
  BatchSlices slices;
  const auto of_slice = [&] { return traffic.largest / static_cast<double>(slices.count); };
  while (batch % slices.count != 0 || of_slice() > kCaches)
    if (++slices.count > batch || of_slice() < kLeast) return {};
  std::vector<std::string> names = spec.arg_names;
  names.insert(names.end(), spec.aux_names.begin(), spec.aux_names.end());
  std::ranges::sort(names);
  if (std::ranges::adjacent_find(names) != names.end()) return {};  // arrays are found by name
  const IndexedGraph graph = index_graph(whole.optimized.heads());
  const Inferred known = infer(graph, spec);
  const std::optional<std::vector<Part>> parts = parts_of(graph, known, batch);
  if (!parts) return {};
  slices.args.assign(spec.args.size(), false);
  for (const IndexedNode& n : graph.nodes) {
    const auto name = std::ranges::find(spec.arg_names, n.node->name);
    if (!n.node->is_variable() || (*parts)[static_cast<std::size_t>(n.first_entry)] != Part::kSlice)
      continue;
    if (name == spec.arg_names.end()) return {};  // an auxiliary state
    slices.args[static_cast<std::size_t>(name - spec.arg_names.begin())] = true;
  }
  double parameters = 0;
  for (std::size_t i = 0; i < spec.args.size(); ++i)
    if (!slices.args[i]) parameters += static_cast<double>(spec.args[i].bytes());
  if (parameters > kCaches && traffic.flops > kMostFlopsOfLarge * traffic.bytes) return {};
  if (!has_shapes_of_slice(graph, *parts, known, bind_slice(spec, slices), slices.count)) return {};
  return slices;
}

}  // namespace symbind
