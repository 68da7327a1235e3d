#pragma once
// A node of a symbol's graph and the walk over it. Nodes are immutable once made and shared by all
// symbols that contain them; walks and destruction are iterative, so a chain of a million is fine.

#include <unordered_set>

#include <symbind/operator.h>
#include <symbind/symbol.h>

namespace symbind {

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
  int num_outputs() const;
  int num_visible() const;
  std::vector<std::string> input_names() const;
  /// "fc1_output"; a variable's own name.
  std::string output_name(int index) const;
  bool is_aux_input(int index) const;
  /// "FullyConnected 'fc1'".
  std::string title() const;
};

NodePtr make_variable(std::string name, AttrDict attrs = {});
/// A node with checked and parsed attributes; inputs must be complete.
NodePtr make_node(const OpDef& op, std::string name, AttrDict attrs, NodeEntries inputs);
/// Parses `attrs` for `op`; `num_inputs` settles a variadic operator's count.
std::shared_ptr<const void> parse_node_attrs(const OpDef& op, const std::string& name,
                                             const AttrDict& attrs, std::size_t num_inputs);

/// Every node reachable from the heads, inputs before users, each once.
std::vector<NodePtr> post_order(const NodeEntries& heads);

/// Rebuilds the graph bottom-up: `change(node, new_inputs)` returns the node to use instead (or
/// null to keep the node, copied only if an input changed).
NodeEntries rewrite(const NodeEntries& heads,
                    const std::function<NodeEntries(const NodePtr&, const NodeEntries&)>& change);

/// Hidden keys (lr_mult, ctx_group, …) are stored as __key__.
bool is_hidden_key(std::string_view key);
std::string stored_key(const std::string& key);

}  // namespace symbind
