#pragma once
// A node of a symbol's graph and the walk over it. Nodes are immutable once made and shared by all
// symbols that contain them; walks and destruction are iterative, so a chain of a million is fine.

#include <atomic>
#include <unordered_set>

#include <symbind/operator.h>
#include <symbind/symbol.h>

namespace symbind {

/// A list of names made at first use, by any thread. A copy starts without it.
class LazyNames {
 public:
  using Names = std::vector<std::string>;

  LazyNames() = default;
  LazyNames(const LazyNames& /*other*/) {}
  LazyNames& operator=(const LazyNames&) = delete;
  ~LazyNames() { delete made_.load(std::memory_order_acquire); }

  template <class Make>
  const Names& get(const Make& make) const {
    if (const Names* made = made_.load(std::memory_order_acquire)) return *made;
    auto fresh = std::make_unique<const Names>(make());
    const Names* other = nullptr;
    return made_.compare_exchange_strong(other, fresh.get()) ? *fresh.release() : *other;
  }

 private:
  mutable std::atomic<const Names*> made_ = nullptr;
};

struct Node {
  const OpDef* op = nullptr;  ///< null for a variable
  std::string name;
  AttrDict attrs;                      ///< as written: parameters and user attributes
  std::shared_ptr<const void> parsed;  ///< the operator's attribute struct
  NodeEntries inputs;
  NodePtr forward_node;  ///< of gradient nodes: the node they differentiate

  Node() = default;
  Node(const Node&) = default;
  Node& operator=(const Node&) = delete;
  ~Node();

  bool is_variable() const { return op == nullptr; }
  int num_outputs() const { return op == nullptr ? 1 : static_cast<int>(output_names().size()); }
  int num_visible() const;
  /// Of an operator's node. Cached: every pass calls this n times for a node of n outputs.
  const std::vector<std::string>& output_names() const;
  std::vector<std::string> input_names() const;
  /// "fc1_output"; a variable's own name.
  std::string output_name(int index) const;
  bool is_aux_input(int index) const;
  /// "FullyConnected 'fc1'".
  std::string title() const;

 private:
  LazyNames output_names_;
};

/// For gradients and passes: finds internal operators too. OpRegistry::get finds public ones only.
const OpDef& any_operator(std::string_view name);
NodePtr make_variable(std::string name, AttrDict attrs = {});
/// A node with checked and parsed attributes; inputs must be complete.
NodePtr make_node(const OpDef& op, std::string name, AttrDict attrs, NodeEntries inputs);
/// Parses `attrs` for `op`; `num_inputs` sets a variadic operator's count.
std::shared_ptr<const void> parse_node_attrs(const OpDef& op, const std::string& name,
                                             const AttrDict& attrs, std::size_t num_inputs);

/// Every node reachable from the heads, inputs before users, each once.
std::vector<NodePtr> post_order(const NodeEntries& heads);

/// Rebuilds the graph bottom-up: `change(node, new_inputs)` returns the node to use instead (or
/// null to keep the node, copied only if an input changed).
NodeEntries rewrite(const NodeEntries& heads,
                    const std::function<NodeEntries(const NodePtr&, const NodeEntries&)>& change);

/// Hidden keys are stored as __key__.
inline constexpr std::string_view kHiddenKeys[] = {"ctx_group", "lr_mult", "wd_mult",
                                                   "force_mirroring", "mirror_stage"};
bool is_hidden_key(std::string_view key);
std::string stored_key(const std::string& key);

}  // namespace symbind
