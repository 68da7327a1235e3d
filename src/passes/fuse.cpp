// Fusion: the operators after a layer become its epilogue (symbind/epilogue.h) if nothing else
// reads the values between them. A layer, an operation and what a fused operator takes are columns
// of the operators; no operator is named here.
//
// Decided here: an operation that a layer's fused operator does not take ends the list. A BatchNorm
// is folded only as the first operation, only in a plan that never trains, and only if all its
// arrays and the layer's are bound arrays: the folded weight is cached with them. A fusion for
// which no kernel but the plain reference makes an offer is not made. In a plan that never trains,
// operators that only training changes (Dropout) are removed.

#include <algorithm>
#include <map>

#include "base/parallel.h"
#include "graph/select_kernel.h"
#include "kernels/element_type.h"
#include "passes/lower.h"
#include "passes/symbol_passes.h"

namespace symbind {
namespace {

using Kind = EpilogueItem::Kind;

constexpr const char* kAttribute = "epilogue";

class Uses {
 public:
  explicit Uses(const NodeEntries& heads) {
    for (const NodePtr& node : post_order(heads))
      for (const NodeEntry& e : node->inputs) ++counts_[{e.node.get(), e.index}];
    for (const NodeEntry& head : heads) ++counts_[{head.node.get(), head.index}];
  }
  int of(const Node* node, int index) const {
    const auto it = counts_.find({node, index});
    return it == counts_.end() ? 0 : it->second;
  }
  /// Only output 0 is read, `times` times.
  bool only_first(const Node& node, int times) const {
    for (int i = 1; i < node.num_outputs(); ++i)
      if (of(&node, i) > 0) return false;
    return of(&node, 0) == times;
  }

 private:
  std::map<std::pair<const Node*, int>, int> counts_;
};

std::string group_of(const Node& node) {
  const auto it = node.attrs.find("__ctx_group__");
  return it == node.attrs.end() ? std::string() : it->second;
}

bool is_fused(const Node& node) { return node.op != nullptr && node.op->takes_epilogue; }

Epilogue epilogue_of(const Node& node) {
  const auto it = node.attrs.find(kAttribute);
  return it == node.attrs.end() || !is_fused(node) ? Epilogue{} : parse_epilogue(it->second);
}

std::optional<EpilogueItem> item_of(const Node& node) {
  if (node.op == nullptr || !node.op->as_epilogue) return std::nullopt;
  return node.op->as_epilogue(node.parsed.get());
}

bool reads_channels(Kind kind) { return kind == Kind::kBatchNorm || kind == Kind::kPRelu; }

/// An operation, the input of its operator that is the layer's output, and the other inputs.
struct Operation {
  EpilogueItem item;
  std::size_t input;
  NodeEntries operands;      ///< in the new graph
  NodeEntries old_operands;  ///< in the old one, whose shapes are known
  int uses = 1;              ///< how often the operator reads the layer's output
};

class Fusion {
 public:
  Fusion(const NodeEntries& heads, const FuseSpec& spec)
      : spec_(spec), uses_(heads), graph_(index_graph(heads)), known_(infer(graph_, spec)) {}

  NodeEntries visit(const NodePtr& node, const NodeEntries& inputs) {
    if (node->is_variable()) return {};
    const OpDef& op = *node->op;
    if (spec_.predicts && op.is_identity_in_prediction &&
        op.is_identity_in_prediction(node->parsed.get()) && only_visible(*node)) {
      removed_.insert(node.get());
      return {inputs[0]};
    }
    for (const Operation& operation : operations(*node, inputs)) {
      if (NodeEntries fused = append(*node, inputs, operation); !fused.empty()) return fused;
    }
    return {};
  }

 private:
  static Inferred infer(const IndexedGraph& graph, const FuseSpec& spec) {
    Inferred known = start_inference(graph, {}, {});
    for (const IndexedNode& n : graph.nodes) {
      const auto it = spec.variables.find(n.node.get());
      if (it == spec.variables.end()) continue;
      known.shapes[static_cast<std::size_t>(n.first_entry)] = it->second.shape;
      known.dtypes[static_cast<std::size_t>(n.first_entry)] = it->second.dtype;
    }
    infer_shape(graph, known);
    infer_dtype(graph, known);
    return known;
  }

  const Shape& shape(const NodeEntry& e) const {
    return known_.shapes[static_cast<std::size_t>(graph_.entry(e))];
  }

  /// What `node` does to each of its inputs that a layer may have computed.
  std::vector<Operation> operations(const Node& node, const NodeEntries& inputs) const {
    const std::optional<EpilogueItem> item = item_of(node);
    std::vector<Operation> found;
    if (!item) return found;
    const bool symmetric = item->kind == Kind::kSum || item->kind == Kind::kProduct;
    for (std::size_t i = 0; i < (symmetric ? inputs.size() : 1); ++i) {
      Operation o{.item = *item, .input = i, .operands = {}, .old_operands = {}};
      for (std::size_t other = 0; other < inputs.size(); ++other) {
        if (other == i) continue;
        o.operands.push_back(inputs[other]);
        o.old_operands.push_back(node.inputs[other]);
      }
      if (item->kind == Kind::kProduct) {
        if (!is_gate(node.inputs[i], o.old_operands.front())) continue;
        o = {.item = {Kind::kSwish}, .input = i, .operands = {}, .old_operands = {}, .uses = 2};
      }
      found.push_back(std::move(o));
    }
    return found;
  }

  /// Whether `gate` is sigmoid(x) and nothing else reads it.
  bool is_gate(const NodeEntry& x, const NodeEntry& gate) const {
    const std::optional<EpilogueItem> item = item_of(*gate.node);
    return item && item->kind == Kind::kSigmoid && gate.node->inputs[0].node == x.node &&
           gate.node->inputs[0].index == x.index && uses_.only_first(*gate.node, 1);
  }

  NodeEntries append(const Node& consumer, const NodeEntries& inputs, const Operation& o) {
    const NodeEntry& entry = inputs[o.input];
    const Node& layer = *entry.node;
    const Node* old_layer = only_source(consumer.inputs[o.input], o.uses);
    if (layer.op == nullptr || old_layer == nullptr || entry.index != 0) return {};
    const OpDef* fused = is_fused(layer)                   ? layer.op
                         : layer.op->with_epilogue.empty() ? nullptr
                                                           : &any_operator(layer.op->with_epilogue);
    if (fused == nullptr || !only_visible(consumer) || group_of(layer) != group_of(consumer))
      return {};
    Epilogue items = epilogue_of(layer);
    if (!fits(layer, items, o, consumer)) return {};
    items.push_back(o.item);
    if (!fused->takes_epilogue(items, !spec_.predicts)) return {};
    auto attrs = layer.attrs;
    attrs[kAttribute] = epilogue_text(items);
    NodeEntries all = layer.inputs;
    all.insert(all.end(), o.operands.begin(), o.operands.end());
    NodePtr node = make_node(*fused, consumer.name, std::move(attrs), std::move(all));
    if (!is_fused(layer) && !is_offered(*node, *old_layer, o)) return {};
    return {{node, 0}};
  }

  /// No output but the first is read.
  bool only_visible(const Node& node) const { return uses_.only_first(node, uses_.of(&node, 0)); }

  /// The node of the old graph that computes `e`, before removed ones; null if something else than
  /// the `times` reads of one operator reads its output.
  const Node* only_source(NodeEntry e, int times) const {
    for (;; e = e.node->inputs[0], times = 1) {
      if (e.index != 0 || !uses_.only_first(*e.node, times)) return nullptr;
      if (!removed_.contains(e.node.get())) return e.node.get();
    }
  }

  const TensorDesc output(const Node& node, int index = 0) const {
    const IndexedNode& n = graph_.nodes[static_cast<std::size_t>(graph_.number.at(&node))];
    const auto entry = static_cast<std::size_t>(n.first_entry + index);
    return {.shape = known_.shapes[entry], .dtype = known_.dtypes[entry]};
  }

  bool fits(const Node& layer, const Epilogue& before, const Operation& o,
            const Node& consumer) const {
    const Shape y = output(consumer).shape;
    if (o.item.kind == Kind::kSum)
      return y.known() && shape(o.old_operands.front()) == y &&
             shape(consumer.inputs[o.input]) == y;
    if (!reads_channels(o.item.kind)) return true;
    if (!y.known() || y.rank() < 2 || (layer.op->channels_last && y.rank() != 2)) return false;
    for (const NodeEntry& e : o.old_operands) {
      const Shape& s = shape(e);
      const bool one = o.item.kind == Kind::kPRelu && s.size() == 1;
      if (!s.known() || !(one || (s.rank() == 1 && s[0] == y[1]))) return false;
    }
    if (o.item.kind != Kind::kBatchNorm) return true;
    const auto is_bound = [](const NodeEntry& e) { return e.node->is_variable(); };
    return spec_.predicts && !spec_.exact && before.empty() &&
           std::all_of(layer.inputs.begin() + 1, layer.inputs.end(), is_bound) &&
           std::ranges::all_of(o.operands, is_bound);
  }

  /// The type that a kernel of `op` is offered for a declared one.
  DType computed(const OpDef& op, DType declared) const {
    const bool widens = op.precision == Precision::kFloat32 && is_narrow(declared) &&
                        kernel_device(spec_.context) == DeviceType::kCpu;
    return widens ? DType::kFloat32 : declared;
  }

  /// Whether a kernel other than the last takes the layer with this operation.
  bool is_offered(const Node& node, const Node& layer, const Operation& o) const {
    KernelRequest r;
    r.context = spec_.context;
    r.device = kernel_device(spec_.context);
    r.training = !spec_.predicts;
    r.exact = spec_.exact;
    r.threads = num_threads();
    for (const NodeEntries* part : {&layer.inputs, &o.old_operands})
      for (const NodeEntry& e : *part) {
        r.in.push_back(output(*e.node, e.index));
        r.stored.push_back(r.in.back().dtype);
        r.in.back().dtype = computed(*node.op, r.in.back().dtype);
        r.constant.push_back(spec_.predicts && e.node->is_variable());
        if (!r.in.back().shape.known()) return false;
      }
    for (int i = 0; i < node.num_outputs(); ++i) {
      r.out.push_back(output(layer, std::min(i, layer.num_outputs() - 1)));
      r.out.back().dtype = computed(*node.op, r.out.back().dtype);
      r.wanted.push_back(i == 0 || !spec_.predicts);
    }
    return has_offer(*node.op, node.parsed.get(), r);
  }

  const FuseSpec& spec_;
  Uses uses_;
  IndexedGraph graph_;
  Inferred known_;
  std::unordered_set<const Node*> removed_;  ///< of the old graph
};

bool has_candidate(const NodeEntries& heads) {
  return std::ranges::any_of(post_order(heads), [](const NodePtr& node) {
    return node->op != nullptr &&
           (!node->op->with_epilogue.empty() || node->op->is_identity_in_prediction);
  });
}

}  // namespace

NodeEntries fuse(const NodeEntries& heads, const FuseSpec& spec) {
  if (!has_candidate(heads)) return heads;
  Fusion fusion(heads, spec);
  return rewrite(heads, [&](const NodePtr& node, const NodeEntries& inputs) {
    return fusion.visit(node, inputs);
  });
}

}  // namespace symbind
