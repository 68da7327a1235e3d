// Chooses kernels (graph/select_kernel.h) node by node in execution order, so that a node's kernels
// see the forms (layout and type) their producers chose. A gradient uses the kernel of its forward
// node if that one saved something only it can read.

#include <algorithm>

#include "base/parallel.h"
#include "graph/select_kernel.h"
#include "kernels/element_type.h"
#include "passes/layout.h"

namespace symbind {
namespace {

/// What a node's declared types are replaced by.
struct ComputeTypes {
  DType narrow = DType::kUnknown;  ///< float16 and bfloat16; kUnknown: not replaced
  DType float32 = DType::kFloat32;

  DType of(DType declared) const {
    if (declared == DType::kFloat32) return float32;
    return is_narrow(declared) && narrow != DType::kUnknown ? narrow : declared;
  }
};

class Chooser {
 public:
  Chooser(const Lowering& lowering, Plan& plan)
      : l_(lowering),
        plan_(plan),
        forms_(plan),
        tensor_of_(static_cast<std::size_t>(lowering.graph.num_entries()), -1) {}

  void run() {
    count_readers();
    for (std::size_t i = 0; i < l_.graph.nodes.size(); ++i) {
      if (i == l_.num_forward_nodes) end_forward();
      const IndexedNode& n = l_.graph.nodes[i];
      if (runs(n)) {
        lower(n, i);
        continue;
      }
      for (int o = 0; o < n.num_outputs; ++o)
        tensor_of_[static_cast<std::size_t>(n.first_entry + o)] = add_tensor(n, o, i);
    }
    if (l_.num_forward_nodes >= l_.graph.nodes.size()) end_forward();
    for (std::size_t i = 0; i < l_.results.size(); ++i) {
      if (l_.results[i].owner.home == Home::kGradient) deliver(i, Phase::kBackward);
    }
  }

 private:
  void end_forward() {
    for (std::size_t i = 0; i < l_.results.size(); ++i) {
      if (l_.results[i].owner.home == Home::kOutput) deliver(i, Phase::kForward);
    }
    plan_.num_forward = plan_.steps.size();
  }

  // From the end, so that the inputs of a step that does not run count as unread.
  void count_readers() {
    readers_.assign(static_cast<std::size_t>(l_.graph.num_entries()), 0);
    for (const Lowering::Result& r : l_.results) ++readers_[static_cast<std::size_t>(r.entry)];
    for (auto n = l_.graph.nodes.rbegin(); n != l_.graph.nodes.rend(); ++n) {
      if (!runs(*n)) continue;
      for (std::size_t i = 0; i < n->inputs.size(); ++i) {
        if (!only_shape(*n->node, i)) ++readers_[static_cast<std::size_t>(n->inputs[i])];
      }
    }
  }

  // Whether a node has an effect: its output is read, or it writes to its inputs.
  bool runs(const IndexedNode& n) const {
    if (n.node->is_variable()) return false;
    for (int o = 0; o < n.num_outputs; ++o) {
      if (readers_[static_cast<std::size_t>(n.first_entry + o)] > 0) return true;
    }
    return n.node->op->mutates_any(n.node->parsed.get());
  }

  // A monitor reads the numbers as well.
  bool only_shape(const Node& node, std::size_t input) const {
    return !l_.monitored && node.op->reads_only_shape(node.parsed.get(), static_cast<int>(input));
  }

  // Represents an input whose numbers are not read: no memory, no reader, plain.
  int shape_of(int tensor) {
    PlanTensor t = plan_.tensors[static_cast<std::size_t>(tensor)];
    t.desc.layout = Layout::kPlain;
    t.home = Home::kNowhere;
    t.index = -1;
    plan_.tensors.push_back(std::move(t));
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  Phase phase_of(std::size_t node) const {
    return node < l_.num_forward_nodes ? Phase::kForward : Phase::kBackward;
  }

  int add_tensor(const IndexedNode& n, int output, std::size_t node) {
    const auto entry = static_cast<std::size_t>(n.first_entry + output);
    PlanTensor t;
    t.name = n.node->output_name(output);
    t.desc = {
        .shape = l_.known.shapes[entry], .dtype = l_.known.dtypes[entry], .layout = Layout::kPlain};
    t.declared = t.desc.dtype;
    t.context = l_.context[node];
    t.home = l_.owner[entry].home;
    t.index = l_.owner[entry].index;
    if (readers_[entry] == 0 && t.home == Home::kArena) {
      const bool skipped =
          n.node->is_variable() || !runs(n) || output >= n.node->op->skips_unread_from;
      t.home = skipped ? Home::kNowhere : Home::kScratch;
    }
    plan_.tensors.push_back(std::move(t));
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  /// Which types a node computes in: narrow ones may be replaced by float32, and where every input
  /// is stored in bfloat16, float32 by that.
  ComputeTypes compute_types(const IndexedNode& n, DeviceType device) const {
    const OpDef& op = *n.node->op;
    if (device != DeviceType::kCpu || op.precision == Precision::kDeclared) return {};
    for (std::size_t i = 0; i < n.inputs.size(); ++i)
      if (is_narrow(l_.known.dtypes[static_cast<std::size_t>(n.inputs[i])]) &&
          op.mutates(n.node->parsed.get(), static_cast<int>(i)))
        return {};  // a converted copy would be written
    if (op.precision == Precision::kFloat32) return {.narrow = DType::kFloat32};
    bool changed = false, all_bfloat16 = true;
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      const auto entry = static_cast<std::size_t>(n.inputs[i]);
      const DType declared = l_.known.dtypes[entry];
      if (only_shape(*n.node, i) || (!is_narrow(declared) && declared != DType::kFloat32)) continue;
      const PlanTensor& have = plan_.tensors[static_cast<std::size_t>(tensor_of_[entry])];
      changed |= have.desc.dtype != declared;
      if (have.home == Home::kArena) all_bfloat16 &= have.desc.dtype == DType::kBFloat16;
    }
    if (!changed) return {};
    if (all_bfloat16) return {.narrow = DType::kBFloat16, .float32 = DType::kBFloat16};
    return {.narrow = DType::kFloat32};
  }

  KernelRequest request(const IndexedNode& n, std::size_t node) const {
    KernelRequest r;
    r.context = l_.context[node];
    r.device = kernel_device(r.context);
    const ComputeTypes types = compute_types(n, r.device);
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      const auto entry = static_cast<std::size_t>(n.inputs[i]);
      const TensorDesc& have = plan_.tensors[static_cast<std::size_t>(tensor_of_[entry])].desc;
      r.stored.push_back(have.dtype);
      r.in.push_back(have);
      r.in.back().dtype = types.of(l_.known.dtypes[entry]);
      if (only_shape(*n.node, i)) r.in.back().layout = Layout::kPlain;
      r.constant.push_back(l_.constant[entry]);
    }
    for (int o = 0; o < n.num_outputs; ++o) {
      const auto entry = static_cast<std::size_t>(n.first_entry + o);
      r.out.push_back({.shape = l_.known.shapes[entry],
                       .dtype = types.of(l_.known.dtypes[entry]),
                       .layout = Layout::kPlain});
      r.wanted.push_back(readers_[entry] > 0);
    }
    r.training = l_.training;
    r.exact = l_.exact;
    r.compute_dtype = l_.compute_dtype;
    r.threads = num_threads();
    return r;
  }

  // The kernel that wrote an opaque input of this node: only the kernel of the same name can read
  // it.
  std::string bound_kernel(const Node& node) const {
    for (const NodeEntry& e : node.inputs) {
      const auto it = bound_kernel_.find(e.node.get());
      if (it != bound_kernel_.end() && l_.known.opaque[static_cast<std::size_t>(l_.graph.entry(e))])
        return it->second;
    }
    return {};
  }

  void lower(const IndexedNode& n, std::size_t number) {
    const Node& node = *n.node;
    KernelRequest r = request(n, number);
    PlanStep step;
    step.node = n.node;
    step.title = node.title();
    KernelChoice choice =
        select_kernel(*node.op, node.parsed.get(), r, step.title, {.only = bound_kernel(node)});
    step.kernel = choice.kernel->name;
    step.refusals = std::move(choice.refusals);
    step.phase = phase_of(number);
    step.context = l_.context[number];
    step.inplace = choice.offer.inplace.value_or(node.op->inplace_pairs(n.num_outputs));
    step.is_random = node.op->is_random;
    step.workspace_bytes = choice.offer.workspace_bytes;
    step.values = values_of(node);
    for (std::size_t i = 0; i < n.inputs.size(); ++i) {
      const Layout wanted = choice.offer.in_layouts[i];
      if (only_shape(node, i)) {
        step.in.push_back(shape_of(tensor_of_[static_cast<std::size_t>(n.inputs[i])]));
        continue;
      }
      r.in[i].dtype = choice.offer.in_dtype(i, r.in[i].dtype);
      r.in[i].layout = wanted;
      step.in.push_back(forms_.in_form(tensor_of_[static_cast<std::size_t>(n.inputs[i])], wanted,
                                       r.in[i].dtype, step.phase));
    }
    bool saved_opaque = false;
    for (int o = 0; o < n.num_outputs; ++o) {
      const auto index = static_cast<std::size_t>(o);
      const auto entry = static_cast<std::size_t>(n.first_entry + o);
      const int id = add_tensor(n, o, number);
      PlanTensor& t = plan_.tensors[static_cast<std::size_t>(id)];
      t.desc.layout = r.out[index].layout = choice.offer.out_layouts[index];
      t.desc.dtype = r.out[index].dtype = choice.offer.out_dtype(index, r.out[index].dtype);
      t.is_opaque = l_.known.opaque[entry];
      if (t.is_opaque) {
        t.desc.shape = r.out[index].shape =
            Shape{static_cast<std::int64_t>(choice.offer.opaque_bytes[index])};
        if (t.home == Home::kScratch && choice.offer.opaque_bytes[index] == 0)
          t.home = Home::kNowhere;  // the kernel saves nothing
        saved_opaque |= choice.offer.opaque_bytes[index] > 0 && readers_[entry] > 0;
      }
      tensor_of_[entry] = id;
      step.out.push_back(id);
    }
    for (std::size_t i = 0; i < n.inputs.size(); ++i)
      if (node.op->mutates(node.parsed.get(), static_cast<int>(i)))
        forms_.forget(tensor_of_[static_cast<std::size_t>(n.inputs[i])]);
    if (saved_opaque) bound_kernel_[n.node.get()] = step.kernel;
    step.prepare = [kernel = choice.kernel, node = n.node, r = std::move(r),
                    offer = std::move(choice.offer)] {
      return kernel->prepare(node->parsed.get(), r, offer);
    };
    plan_.steps.push_back(std::move(step));
  }

  static std::vector<double> values_of(const Node& node) {
    // describe() binds to the instance; the instance is only read here.
    return per_call_values(node.op->describe(const_cast<void*>(node.parsed.get())));
  }

  // Writes a head to its owner's array: the producer writes there directly if it can.
  void deliver(std::size_t result, Phase phase) {
    const Lowering::Result& r = l_.results[result];
    const int id = tensor_of_[static_cast<std::size_t>(r.entry)];
    PlanTensor& t = plan_.tensors[static_cast<std::size_t>(id)];
    int placed = id;
    if (t.home == Home::kArena && t.desc.dtype == t.declared &&
        same_bytes(t.desc.shape, t.desc.layout, Layout::kPlain)) {
      t.home = r.owner.home;
      t.index = r.owner.index;
    } else {
      PlanTensor copy = t;
      copy.desc.layout = Layout::kPlain;
      copy.desc.dtype = t.declared;
      copy.home = r.owner.home;
      copy.index = r.owner.index;
      placed = static_cast<int>(plan_.tensors.size());
      plan_.tensors.push_back(std::move(copy));
      forms_.write_plain(id, placed, phase);
    }
    if (r.owner.home == Home::kOutput) plan_.outputs.push_back(placed);
  }

  const Lowering& l_;
  Plan& plan_;
  FormFlow forms_;
  std::vector<int> tensor_of_;  ///< by entry
  std::vector<int> readers_;
  std::unordered_map<const Node*, std::string> bound_kernel_;
};

}  // namespace

void choose_kernels(const Lowering& lowering, Plan& plan) { Chooser(lowering, plan).run(); }

}  // namespace symbind
